/* test_transaction_table.c - the hash of server transactions.
 *
 * Covered: what is found is exactly what was inserted and not removed, for records that share a
 * digest, a low half of it, or a bucket, while the table grows to many buckets; failure of every
 * allocation. Not covered: how digests are made (test_matching.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

#include "counting_mem.h"
#include "run_suite.h"
#include "test_random.h"

#include <stdio.h>
#include <stdlib.h>

struct fixture {
    struct counting_mem counting;
    struct vd__pool records;
    struct vd__table table;
};

static void set_up(struct fixture *fixture)
{
    counting_mem_init(&fixture->counting);
    vd__pool_init(&fixture->records, &fixture->counting.mem, sizeof(struct vd__transaction));
    CU_ASSERT_EQUAL_FATAL(
        vd__table_init(&fixture->table, &fixture->records, &fixture->counting.mem), 0);
}

static void tear_down(struct fixture *fixture)
{
    vd__table_free(&fixture->table);
    vd__pool_free(&fixture->records);
    CU_ASSERT(counting_mem_is_clean(&fixture->counting));
}

static struct vd__transaction *new_record(struct fixture *fixture, uint64_t low, uint64_t high)
{
    uint32_t index = vd__pool_take(&fixture->records);
    CU_ASSERT_NOT_EQUAL_FATAL(index, VD__POOL_NONE);
    struct vd__transaction *record = vd__pool_at(&fixture->records, index);
    *record = (struct vd__transaction){.key = {low, high}, .index = index};
    return record;
}

/* How many records the table has for a key; 1000000 when it gives one twice or one with another
 * key. */
static unsigned count(const struct vd__table *table, uint64_t low, uint64_t high)
{
    const uint64_t key[2] = {low, high};
    struct vd__transaction *seen[64];
    unsigned n = 0;
    struct vd__transaction *found = vd__table_find(table, key);
    for (; found != NULL; found = vd__table_find_next(table, found)) {
        for (unsigned i = 0; i < n; i++) {
            if (seen[i] == found) {
                return 1000000;
            }
        }
        if (found->key[0] != low || found->key[1] != high || n == 64) {
            return 1000000;
        }
        seen[n++] = found;
    }
    return n;
}

static void records_that_share_part_of_a_digest_are_told_apart(void)
{
    struct fixture fixture;
    struct vd__transaction *records[40];
    set_up(&fixture);
    /* The low half word is one for all: one bucket, however large the table. */
    for (unsigned i = 0; i < 40; i++) {
        records[i] = new_record(&fixture, 0x1234 | (uint64_t)(i % 4) << 32, i % 5);
        CU_ASSERT_EQUAL(vd__table_insert(&fixture.table, records[i]), 0);
    }
    for (unsigned i = 0; i < 20; i++) {
        CU_ASSERT_EQUAL(count(&fixture.table, 0x1234 | (uint64_t)(i % 4) << 32, i % 5), 2);
    }
    CU_ASSERT_EQUAL(count(&fixture.table, 0x1234, 5), 0);
    CU_ASSERT_EQUAL(count(&fixture.table, 0x1235, 0), 0);
    CU_ASSERT_EQUAL(count(&fixture.table, 0x1234 | 4ull << 32, 0), 0);
    for (unsigned i = 0; i < 20; i++) {
        vd__table_remove(&fixture.table, records[i]);
        CU_ASSERT_EQUAL(count(&fixture.table, 0x1234 | (uint64_t)(i % 4) << 32, i % 5), 1);
    }
    CU_ASSERT_EQUAL(fixture.table.count, 20);
    tear_down(&fixture);
}

/* Against a plain array: 512 digests of few bits, each carried by up to some records. */
static void table_agrees_with_a_plain_array_while_it_grows_and_shrinks(void)
{
    static struct vd__transaction *alive[20000];
    static unsigned expected[512];
    struct test_random random = {3};
    struct fixture fixture;
    unsigned n = 0;
    bool good = true;
    set_up(&fixture);
    memset(expected, 0, sizeof expected);
    for (unsigned step = 0; step < 200000; step++) {
        bool grow = step % 40000 < 25000;
        if (n == 0 || (n < 15000 && test_random_below(&random, 10) < (grow ? 7 : 3))) {
            /* Most are alone with their digest; one in 50 shares one of 512. */
            unsigned shared = (unsigned)test_random_below(&random, 512);
            bool is_shared = test_random_below(&random, 50) == 0 && expected[shared] < 60;
            struct vd__transaction *record =
                is_shared ? new_record(&fixture, shared, 1)
                          : new_record(&fixture, test_random_next(&random), 2);
            good &= vd__table_insert(&fixture.table, record) == 0;
            expected[shared] += is_shared;
            alive[n++] = record;
        } else {
            unsigned i = (unsigned)test_random_below(&random, n);
            struct vd__transaction *record = alive[i];
            vd__table_remove(&fixture.table, record);
            if (record->key[1] == 1) {
                expected[record->key[0]]--;
            } else {
                good &= count(&fixture.table, record->key[0], 2) == 0;
            }
            vd__pool_give(&fixture.records, record->index);
            alive[i] = alive[--n];
        }
        if (n > 0) {
            const struct vd__transaction *some = alive[test_random_below(&random, n)];
            unsigned wanted = some->key[1] == 1 ? expected[some->key[0]] : 1;
            good &= count(&fixture.table, some->key[0], some->key[1]) == wanted;
        }
    }
    CU_ASSERT(good);
    CU_ASSERT_EQUAL(fixture.table.count, n);
    CU_ASSERT(fixture.table.bucket_count > 1000);
    for (unsigned i = 0; i < 512; i++) {
        good &= count(&fixture.table, i, 1) == expected[i];
    }
    while (n > 0) {
        good &= count(&fixture.table, alive[n - 1]->key[0], alive[n - 1]->key[1]) > 0;
        vd__table_remove(&fixture.table, alive[--n]);
    }
    CU_ASSERT(good);
    CU_ASSERT_EQUAL(fixture.table.count, 0);
    tear_down(&fixture);
}

static void record_that_finds_no_room_changes_nothing(void)
{
    static struct vd__transaction *records[12000];
    for (uint64_t allowed = 0; allowed < 12; allowed++) {
        struct test_random random = {allowed};
        struct fixture fixture;
        unsigned inserted = 0;
        bool good = true;
        set_up(&fixture);
        for (unsigned i = 0; i < 12000; i++) {
            records[i] = new_record(&fixture, test_random_next(&random) & 0xffff, i);
        }
        counting_mem_fail_after(&fixture.counting, allowed);
        for (unsigned i = 0; i < 12000; i++) {
            if (vd__table_insert(&fixture.table, records[i]) == 0) {
                records[inserted++] = records[i];
            } else {
                good &= count(&fixture.table, records[i]->key[0], records[i]->key[1]) == 0;
            }
        }
        CU_ASSERT_EQUAL(fixture.table.count, inserted);
        CU_ASSERT(inserted > 0);
        for (unsigned i = 0; i < inserted; i++) {
            good &= count(&fixture.table, records[i]->key[0], records[i]->key[1]) == 1;
        }
        CU_ASSERT(good);
        counting_mem_fail_after(&fixture.counting, COUNTING_MEM_NEVER);
        tear_down(&fixture);
    }
}

static void table_without_memory_is_not_made(void)
{
    struct counting_mem counting;
    struct vd__pool records;
    for (uint64_t allowed = 0; allowed < 3; allowed++) {
        struct vd__table table;
        counting_mem_init(&counting);
        vd__pool_init(&records, &counting.mem, sizeof(struct vd__transaction));
        counting_mem_fail_after(&counting, allowed);
        int rc = vd__table_init(&table, &records, &counting.mem);
        CU_ASSERT_EQUAL(rc, counting.failures > 0 ? VD_ERR_NOMEM : 0);
        vd__table_free(&table);
        vd__pool_free(&records);
        CU_ASSERT(counting_mem_is_clean(&counting));
    }
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"records_that_share_part_of_a_digest_are_told_apart",
         records_that_share_part_of_a_digest_are_told_apart},
        {"table_agrees_with_a_plain_array_while_it_grows_and_shrinks",
         table_agrees_with_a_plain_array_while_it_grows_and_shrinks},
        {"record_that_finds_no_room_changes_nothing", record_that_finds_no_room_changes_nothing},
        {"table_without_memory_is_not_made", table_without_memory_is_not_made},
        CU_TEST_INFO_NULL,
    };
    return run_suite("transaction_table", tests);
}
