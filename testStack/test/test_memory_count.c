/* test_memory_count.c - the allocator that counts.
 *
 * Covered: what is allocated and given back. Not covered: an allocation that fails, which the
 * sanitizers do not let a test provoke.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory_count.h"

#include "run_suite.h"

static void peak_is_the_most_that_was_allocated_at_once(void)
{
    struct memory_count memory;
    memory_count_init(&memory);
    void *a = memory.mem.allocate(100, memory.mem.context);
    void *b = memory.mem.allocate(50, memory.mem.context);
    CU_ASSERT_PTR_NOT_NULL(a);
    CU_ASSERT_PTR_NOT_NULL(b);
    CU_ASSERT_EQUAL(memory.used, 150);
    memory.mem.release(a, 100, memory.mem.context);
    CU_ASSERT_EQUAL(memory.used, 50);
    a = memory.mem.allocate(60, memory.mem.context);
    CU_ASSERT_EQUAL(memory.peak, 150);
    memory.mem.release(a, 60, memory.mem.context);
    memory.mem.release(b, 50, memory.mem.context);
    CU_ASSERT_EQUAL(memory.used, 0);
    CU_ASSERT_EQUAL(memory.peak, 150);
}

static void releasing_nothing_does_nothing(void)
{
    struct memory_count memory;
    memory_count_init(&memory);
    memory.mem.release(NULL, 10, memory.mem.context);
    CU_ASSERT_EQUAL(memory.used, 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"peak_is_the_most_that_was_allocated_at_once",
         peak_is_the_most_that_was_allocated_at_once},
        {"releasing_nothing_does_nothing", releasing_nothing_does_nothing},
        CU_TEST_INFO_NULL,
    };
    return run_suite("memory_count", tests);
}
