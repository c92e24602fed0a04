/* test_pool.c - slabs of equal objects.
 *
 * Covered: numbers and addresses, zeroed and kept bytes, reuse, growth past the first directory,
 * allocation failure at every allocation, no allocation when warm, no memory left.
 * Not covered: the last number, which needs 4,294,966,272 objects.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pool.h"

#include "counting_mem.h"
#include "run_suite.h"
#include "test_random.h"

#include <stdio.h>
#include <stdlib.h>

#define SIZE 24

/* More than one directory of chunks: that holds 16 at first. */
#define MANY (18 * VD__POOL_CHUNK)

static bool all_bytes_are(const char *object, char value, size_t from)
{
    for (size_t i = from; i < SIZE; i++) {
        if (object[i] != value) {
            return false;
        }
    }
    return true;
}

static void fresh_objects_are_zero_and_used_ones_keep_all_but_four_bytes(void)
{
    struct counting_mem counting;
    struct vd__pool pool;
    counting_mem_init(&counting);
    vd__pool_init(&pool, &counting.mem, SIZE);
    uint32_t first = vd__pool_take(&pool);
    CU_ASSERT(all_bytes_are(vd__pool_at(&pool, first), 0, 0));
    memset(vd__pool_at(&pool, first), 'x', SIZE);
    uint32_t second = vd__pool_take(&pool);
    CU_ASSERT_NOT_EQUAL(first, second);
    CU_ASSERT(all_bytes_are(vd__pool_at(&pool, second), 0, 0));

    vd__pool_give(&pool, first);
    CU_ASSERT_EQUAL(vd__pool_take(&pool), first);
    CU_ASSERT(all_bytes_are(vd__pool_at(&pool, first), 'x', 4));
    vd__pool_free(&pool);
    CU_ASSERT(counting_mem_is_clean(&counting));
}

static void objects_do_not_move_and_do_not_overlap_when_the_pool_grows(void)
{
    struct counting_mem counting;
    struct vd__pool pool;
    char **objects = malloc(MANY * sizeof *objects);
    bool good = objects != NULL;
    counting_mem_init(&counting);
    vd__pool_init(&pool, &counting.mem, SIZE);
    for (uint32_t i = 0; good && i < MANY; i++) {
        good &= vd__pool_take(&pool) == i; /* numbers come in order */
        objects[i] = vd__pool_at(&pool, i);
        good &= (uintptr_t)objects[i] % 8 == 0;
        memset(objects[i], (char)(i % 127), SIZE);
    }
    for (uint32_t i = 0; good && i < MANY; i++) {
        good &= objects[i] == vd__pool_at(&pool, i);
        good &= all_bytes_are(objects[i], (char)(i % 127), 0);
    }
    CU_ASSERT(good);
    CU_ASSERT_EQUAL(pool.used, MANY);
    vd__pool_free(&pool);
    CU_ASSERT(counting_mem_is_clean(&counting));
    free(objects);
}

/* Takes and gives count times, up to MANY at once; each object is marked while it is out. */
static bool churn(struct vd__pool *pool, struct test_random *random, uint32_t *out, uint32_t *n,
                  uint32_t limit, int count)
{
    bool good = true;
    for (int step = 0; step < count; step++) {
        if (*n < limit && test_random_below(random, 2) == 0) {
            uint32_t before = pool->fresh;
            uint32_t index = vd__pool_take(pool);
            if (index == VD__POOL_NONE) {
                return false;
            }
            char *object = vd__pool_at(pool, index);
            good &= all_bytes_are(object, pool->fresh > before ? 0 : 'f', 4);
            memset(object, 'u', SIZE);
            out[(*n)++] = index;
        } else if (*n > 0) {
            uint32_t i = (uint32_t)test_random_below(random, *n);
            char *object = vd__pool_at(pool, out[i]);
            good &= all_bytes_are(object, 'u', 0);
            memset(object, 'f', SIZE);
            vd__pool_give(pool, out[i]);
            out[i] = out[--*n];
        }
        good &= pool->used == *n;
    }
    return good;
}

static void pool_allocates_nothing_once_it_is_warm(void)
{
    static uint32_t out[3000];
    struct test_random random = {7};
    struct counting_mem counting;
    struct vd__pool pool;
    uint32_t n = 0;
    counting_mem_init(&counting);
    vd__pool_init(&pool, &counting.mem, SIZE);
    for (uint32_t i = 0; i < 3000; i++) {
        out[n++] = vd__pool_take(&pool);
        memset(vd__pool_at(&pool, out[i]), 'u', SIZE);
    }
    uint64_t allocations = counting.allocations;
    CU_ASSERT(churn(&pool, &random, out, &n, 3000, 200000));
    CU_ASSERT_EQUAL(counting.allocations, allocations);
    vd__pool_free(&pool);
    CU_ASSERT(counting_mem_is_clean(&counting));
}

static void failed_allocation_leaves_the_pool_as_it_was(void)
{
    /* Two allocations for the first object, one for each chunk, one more when the directory grows.
     */
    for (uint64_t fail = 0; fail < 21; fail++) {
        struct counting_mem counting;
        struct vd__pool pool;
        counting_mem_init(&counting);
        vd__pool_init(&pool, &counting.mem, SIZE);
        counting_mem_fail_after(&counting, fail);
        uint32_t n = 0;
        bool good = true;
        for (uint32_t index; n < MANY; n++) {
            index = vd__pool_take(&pool);
            if (index == VD__POOL_NONE) {
                break;
            }
            memset(vd__pool_at(&pool, index), (char)(index % 127), SIZE);
        }
        good &= pool.used == n && (fail >= 20 ? n == MANY : counting.failures == 1);
        /* What came back can be had again, and more once there is memory. */
        if (n > 0 && n < MANY) {
            vd__pool_give(&pool, n / 2);
            good &= vd__pool_take(&pool) == n / 2;
            memset(vd__pool_at(&pool, n / 2), (char)(n / 2 % 127), SIZE);
        }
        counting_mem_fail_after(&counting, COUNTING_MEM_NEVER);
        good &= vd__pool_take(&pool) == n;
        for (uint32_t i = 0; i < n; i++) {
            good &= all_bytes_are(vd__pool_at(&pool, i), (char)(i % 127), 0);
        }
        CU_ASSERT(good);
        vd__pool_free(&pool);
        CU_ASSERT(counting_mem_is_clean(&counting));
    }
}

static void unused_pool_holds_no_memory(void)
{
    struct counting_mem counting;
    struct vd__pool pool;
    counting_mem_init(&counting);
    vd__pool_init(&pool, &counting.mem, SIZE);
    CU_ASSERT_EQUAL(counting.allocations, 0);
    vd__pool_free(&pool);
    vd__pool_free(&pool);
    CU_ASSERT(counting_mem_is_clean(&counting));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"fresh_objects_are_zero_and_used_ones_keep_all_but_four_bytes",
         fresh_objects_are_zero_and_used_ones_keep_all_but_four_bytes},
        {"objects_do_not_move_and_do_not_overlap_when_the_pool_grows",
         objects_do_not_move_and_do_not_overlap_when_the_pool_grows},
        {"pool_allocates_nothing_once_it_is_warm", pool_allocates_nothing_once_it_is_warm},
        {"failed_allocation_leaves_the_pool_as_it_was",
         failed_allocation_leaves_the_pool_as_it_was},
        {"unused_pool_holds_no_memory", unused_pool_holds_no_memory},
        CU_TEST_INFO_NULL,
    };
    return run_suite("pool", tests);
}
