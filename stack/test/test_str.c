/* test_str.c - views, the version, the default allocator.
 *
 * Covered: how views are made and compared; that case counts for ASCII letters only; that the
 * allocator gives memory for any object and takes it back. Not covered: an allocator that gives
 * nothing (the tests of those who allocate).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/mem.h>

#include "run_suite.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

static void views_are_made_of_literals_strings_and_bytes(void)
{
    CU_ASSERT_EQUAL(VD_STR("abc").n, 3);
    CU_ASSERT_EQUAL(VD_STR("a\0c").n, 3);
    CU_ASSERT_EQUAL(vd_str_from("abc").n, 3);
    CU_ASSERT_EQUAL(vd_str_from("").n, 0);
    CU_ASSERT_EQUAL(vd_str_from(NULL).n, 0);
    CU_ASSERT_EQUAL(vd_str("abc", 2).n, 2);
}

static void views_are_equal_when_their_bytes_are(void)
{
    CU_ASSERT(vd_str_equal(VD_STR("abc"), vd_str("abcd", 3)));
    CU_ASSERT(vd_str_equal(VD_STR("a\0b"), VD_STR("a\0b")));
    CU_ASSERT(vd_str_equal(vd_str(NULL, 0), VD_STR("")));
    CU_ASSERT_FALSE(vd_str_equal(VD_STR("a\0b"), VD_STR("a\0c")));
    CU_ASSERT_FALSE(vd_str_equal(VD_STR("abc"), VD_STR("ab")));
    CU_ASSERT_FALSE(vd_str_equal(VD_STR("abc"), VD_STR("abC")));
}

static void case_counts_for_ascii_letters_only(void)
{
    for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            char x = (char)a;
            char y = (char)b;
            bool letters =
                (a >= 'A' && a <= 'Z' && b == a + 32) || (b >= 'A' && b <= 'Z' && a == b + 32);
            CU_ASSERT_EQUAL(vd_str_case_equal(vd_str(&x, 1), vd_str(&y, 1)), a == b || letters);
        }
    }
    CU_ASSERT(vd_str_case_equal(VD_STR("Call-ID"), VD_STR("cALL-iD")));
    CU_ASSERT(vd_str_case_equal(vd_str(NULL, 0), VD_STR("")));
    CU_ASSERT_FALSE(vd_str_case_equal(VD_STR("Call-ID"), VD_STR("Call-I")));
}

static void version_is_that_of_the_headers(void)
{
    CU_ASSERT_STRING_EQUAL(vd_version(), VD_VERSION);
}

static void default_allocator_gives_memory_for_any_object(void)
{
    const struct vd_mem *mem = vd_mem_default();
    for (size_t size = 1; size < 5000; size = size * 3 + 1) {
        unsigned char *p = mem->allocate(size, mem->context);
        CU_ASSERT_PTR_NOT_NULL_FATAL(p);
        CU_ASSERT_EQUAL((uintptr_t)p % alignof(max_align_t), 0);
        memset(p, 0xa5, size);
        mem->release(p, size, mem->context);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"views_are_made_of_literals_strings_and_bytes",
         views_are_made_of_literals_strings_and_bytes},
        {"views_are_equal_when_their_bytes_are", views_are_equal_when_their_bytes_are},
        {"case_counts_for_ascii_letters_only", case_counts_for_ascii_letters_only},
        {"version_is_that_of_the_headers", version_is_that_of_the_headers},
        {"default_allocator_gives_memory_for_any_object",
         default_allocator_gives_memory_for_any_object},
        CU_TEST_INFO_NULL,
    };
    return run_suite("str", tests);
}
