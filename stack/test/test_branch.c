/* test_branch.c - the branch parameters that the stack writes.
 *
 * Covered: the exact form, that reading undoes writing, that the case of a peer's copy does not
 * matter, that every other length and every other byte is refused, the worker's number.
 * Not covered: whether a branch names a transaction that exists (that is the transaction layer's).
 *
 * SPDX-License-Identifier: MIT
 */
#include "branch.h"

#include "run_suite.h"
#include "test_random.h"

#include <viaduct/error.h>
#include <viaduct/transaction.h>

#include <ctype.h>
#include <stdio.h>

static struct vd__branch random_branch(struct test_random *random)
{
    return (struct vd__branch){
        .secret = test_random_next(random),
        .index = (uint32_t)test_random_next(random),
        .generation = (uint32_t)test_random_next(random),
        .worker = (uint8_t)test_random_next(random),
    };
}

static bool same(const struct vd__branch *a, const struct vd__branch *b)
{
    return a->secret == b->secret && a->index == b->index && a->generation == b->generation &&
           a->worker == b->worker;
}

static void branch_has_its_documented_form(void)
{
    static const char expected[] = "z9hG4bK"
                                   "0a"
                                   "0000beef"
                                   "fedcba98"
                                   "0123456789abcdef";
    struct vd__branch branch = {.secret = UINT64_C(0x0123456789abcdef),
                                .index = 0xbeef,
                                .generation = 0xfedcba98u,
                                .worker = 10};
    char text[VD__BRANCH_SIZE + 1];
    text[VD__BRANCH_SIZE] = '#';
    vd__branch_write(text, &branch);
    CU_ASSERT_EQUAL(sizeof expected - 1, VD__BRANCH_SIZE);
    CU_ASSERT_EQUAL(memcmp(text, expected, VD__BRANCH_SIZE), 0);
    CU_ASSERT_EQUAL(text[VD__BRANCH_SIZE], '#');
}

static void reading_undoes_writing_in_any_case(void)
{
    struct test_random random = {11};
    for (int run = 0; run < 2000; run++) {
        struct vd__branch written = random_branch(&random);
        struct vd__branch read;
        char text[VD__BRANCH_SIZE];
        vd__branch_write(text, &written);
        for (size_t i = 0; run % 2 == 1 && i < sizeof text; i++) {
            if (test_random_below(&random, 2) == 0) {
                text[i] = (char)toupper((unsigned char)text[i]);
            }
        }
        CU_ASSERT(vd__branch_read(vd_str(text, sizeof text), &read) && same(&read, &written));
        CU_ASSERT_EQUAL(vd_branch_worker(vd_str(text, sizeof text)), written.worker);
    }
}

static void any_other_length_is_refused(void)
{
    char text[2 * VD__BRANCH_SIZE];
    struct vd__branch branch = {.index = 1};
    memset(text, '0', sizeof text);
    vd__branch_write(text, &branch);
    for (size_t size = 0; size <= sizeof text; size++) {
        CU_ASSERT_EQUAL(vd__branch_read(vd_str(text, size), &branch), size == VD__BRANCH_SIZE);
    }
    CU_ASSERT_FALSE(vd__branch_read(vd_str(NULL, 0), &branch));
    CU_ASSERT_EQUAL(vd_branch_worker(VD_STR("z9hG4bK-other")), VD_ERR_NOT_FOUND);
    CU_ASSERT_EQUAL(vd_branch_worker(VD_STR("")), VD_ERR_NOT_FOUND);
}

static void any_byte_that_does_not_belong_is_refused(void)
{
    char good[VD__BRANCH_SIZE];
    struct vd__branch branch = {.secret = UINT64_C(0x0123456789abcdef),
                                .index = 0x31415926,
                                .generation = 0x27182818,
                                .worker = 255};
    vd__branch_write(good, &branch);
    for (size_t i = 0; i < sizeof good; i++) {
        for (int byte = 0; byte < 256; byte++) {
            char text[VD__BRANCH_SIZE];
            memcpy(text, good, sizeof text);
            text[i] = (char)byte;
            bool fits = i < VD__BRANCH_COOKIE_SIZE ? tolower(byte) == tolower(good[i])
                                                   : byte < 128 && isxdigit(byte);
            CU_ASSERT_EQUAL(vd__branch_read(vd_str(text, sizeof text), &branch), fits);
        }
    }
}

static void hex_is_sixteen_digits_highest_first(void)
{
    struct test_random random = {12};
    for (int run = 0; run < 1000; run++) {
        uint64_t value = test_random_next(&random) >> test_random_below(&random, 64);
        char text[17];
        char expected[17];
        text[16] = '#';
        vd__hex_write(text, value);
        snprintf(expected, sizeof expected, "%016llx", (unsigned long long)value);
        CU_ASSERT_EQUAL(memcmp(text, expected, 16), 0);
        CU_ASSERT_EQUAL(text[16], '#');
    }
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"branch_has_its_documented_form", branch_has_its_documented_form},
        {"reading_undoes_writing_in_any_case", reading_undoes_writing_in_any_case},
        {"any_other_length_is_refused", any_other_length_is_refused},
        {"any_byte_that_does_not_belong_is_refused", any_byte_that_does_not_belong_is_refused},
        {"hex_is_sixteen_digits_highest_first", hex_is_sixteen_digits_highest_first},
        CU_TEST_INFO_NULL,
    };
    return run_suite("branch", tests);
}
