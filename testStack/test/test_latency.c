/* test_latency.c - the histogram of latencies.
 *
 * Covered: every value falls into a bucket that is as narrow as promised; buckets follow one
 * another without a gap up to the largest number; percentiles against a sorted list of random
 * values, with a printed seed; the empty histogram; the largest value; counts that do not fit when
 * multiplied.
 *
 * SPDX-License-Identifier: MIT
 */
#include "latency.h"

#include "run_suite.h"

#include <string.h>
#include "test_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct latency latency;

static void buckets_follow_one_another_up_to_the_largest_number(void)
{
    uint64_t value = 0;
    for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
        uint64_t top = latency_bucket_top(i);
        CU_ASSERT_EQUAL(latency_bucket(value), i);
        CU_ASSERT_EQUAL(latency_bucket(top), i);
        CU_ASSERT(top >= value);
        value = top + 1;
    }
    CU_ASSERT_EQUAL(latency_bucket_top(LATENCY_BUCKETS - 1), UINT64_MAX);
}

static void small_values_are_exact_and_others_within_a_128th(void)
{
    struct test_random random = {42};
    for (uint64_t value = 0; value < LATENCY_EXACT; value++) {
        CU_ASSERT_EQUAL(latency_bucket_top(latency_bucket(value)), value);
    }
    for (int i = 0; i < 100000; i++) {
        uint64_t value = test_random_next(&random) >> (test_random_next(&random) % 64);
        uint64_t top = latency_bucket_top(latency_bucket(value));
        if (top < value || top - value > value / 128) {
            CU_FAIL("a bucket is too wide");
        }
    }
}

static void nothing_added_gives_zero(void)
{
    latency_reset(&latency);
    CU_ASSERT_EQUAL(latency_percentile(&latency, 1, 1000), 0);
    CU_ASSERT_EQUAL(latency_percentile(&latency, 1000, 1000), 0);
    CU_ASSERT_EQUAL(latency.max, 0);
}

static void reset_forgets_what_was_added(void)
{
    latency_add(&latency, 5);
    latency_add(&latency, 1000000);
    latency_reset(&latency);
    latency_add(&latency, 7);
    CU_ASSERT_EQUAL(latency.count, 1);
    CU_ASSERT_EQUAL(latency.max, 7);
    CU_ASSERT_EQUAL(latency_percentile(&latency, 1, 1000), 7);
}

static void percentile_is_the_smallest_value_that_enough_values_do_not_exceed(void)
{
    static const struct {
        uint32_t part;
        uint64_t value;
    } cases[] = {{1, 1},    {10, 1},   {11, 2},    {500, 50},  {505, 51},
                 {900, 90}, {990, 99}, {999, 100}, {1000, 100}};
    latency_reset(&latency);
    for (uint64_t value = 100; value > 0; value--) {
        latency_add(&latency, value);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CU_ASSERT_EQUAL(latency_percentile(&latency, cases[i].part, 1000), cases[i].value);
    }
}

static void largest_value_is_exact(void)
{
    static const uint64_t values[] = {0, 255, 256, 1000001, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        latency_reset(&latency);
        latency_add(&latency, 0);
        latency_add(&latency, values[i]);
        CU_ASSERT_EQUAL(latency.max, values[i]);
        CU_ASSERT_EQUAL(latency_percentile(&latency, 1000, 1000), values[i]);
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void check_against_sorted(struct test_random *random)
{
    static uint64_t values[5000];
    size_t count = (size_t)test_random_below(random, 5000) + 1;
    latency_reset(&latency);
    for (size_t i = 0; i < count; i++) {
        values[i] = test_random_next(random) >> (24 + test_random_next(random) % 40);
        latency_add(&latency, values[i]);
    }
    qsort(values, count, sizeof values[0], compare);
    for (uint32_t part = 1; part <= 1000; part += (uint32_t)test_random_below(random, 30) + 1) {
        size_t rank = (count * part + 999) / 1000;
        uint64_t exact = values[rank - 1];
        uint64_t got = latency_percentile(&latency, part, 1000);
        if (got < exact || got - exact > exact / 128) {
            CU_FAIL("a percentile is too far off");
        }
    }
    CU_ASSERT_EQUAL(latency.max, values[count - 1]);
    CU_ASSERT_EQUAL(latency.count, count);
}

static void percentiles_of_random_values_are_within_a_128th(void)
{
    struct test_random random = {(uint64_t)time(NULL)};
    printf("seed %llu ", (unsigned long long)random.state);
    for (int round = 0; round < 200; round++) {
        check_against_sorted(&random);
    }
}

static void counts_past_what_multiplies_are_handled(void)
{
    latency_reset(&latency);
    latency.count = UINT64_MAX;
    latency.max = 9;
    latency.buckets[3] = UINT64_MAX / 2 + 1;
    latency.buckets[9] = UINT64_MAX / 2;
    CU_ASSERT_EQUAL(latency_percentile(&latency, 500, 1000), 3);
    CU_ASSERT_EQUAL(latency_percentile(&latency, 501, 1000), 9);
    CU_ASSERT_EQUAL(latency_percentile(&latency, 1000, 1000), 9);
}

static void merged_histograms_are_as_one_that_has_counted_all(void)
{
    static struct latency parts[2];
    static struct latency whole;
    for (unsigned i = 0; i < 2; i++) {
        latency_reset(&parts[i]);
    }
    latency_reset(&whole);
    for (uint64_t value = 1; value < 5000; value += 7) {
        latency_add(&parts[value % 2], value);
        latency_add(&whole, value);
    }
    latency_merge(&parts[0], &parts[1]);
    CU_ASSERT_EQUAL(memcmp(&parts[0], &whole, sizeof whole), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"buckets_follow_one_another_up_to_the_largest_number",
         buckets_follow_one_another_up_to_the_largest_number},
        {"small_values_are_exact_and_others_within_a_128th",
         small_values_are_exact_and_others_within_a_128th},
        {"nothing_added_gives_zero", nothing_added_gives_zero},
        {"reset_forgets_what_was_added", reset_forgets_what_was_added},
        {"percentile_is_the_smallest_value_that_enough_values_do_not_exceed",
         percentile_is_the_smallest_value_that_enough_values_do_not_exceed},
        {"largest_value_is_exact", largest_value_is_exact},
        {"percentiles_of_random_values_are_within_a_128th",
         percentiles_of_random_values_are_within_a_128th},
        {"counts_past_what_multiplies_are_handled", counts_past_what_multiplies_are_handled},
        {"merged_histograms_are_as_one_that_has_counted_all",
         merged_histograms_are_as_one_that_has_counted_all},
        CU_TEST_INFO_NULL,
    };
    return run_suite("latency", tests);
}
