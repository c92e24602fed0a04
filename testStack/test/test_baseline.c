/* test_baseline.c - a sweep beside a kept one.
 *
 * Covered: what is better, worse and the same, by the ratio and not by the rate, at the edges of
 * the tolerance; what cannot be compared; the lines that are printed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "baseline.h"

#include "capture.h"
#include "run_suite.h"

#include <math.h>
#include <string.h>

static struct sweep_table old;
static struct sweep_table now;
static char printed[4096];

static void add(struct sweep_table *table, uint32_t ports, const char *status, double ratio)
{
    struct sweep_row row;
    sweep_row_init(&row);
    row.point = (struct sweep_point){.cpus = 2,
                                     .method = "register",
                                     .transport = "udp",
                                     .ports = ports,
                                     .window = 50,
                                     .threads = "event",
                                     .workers = 1,
                                     .selector = "epoll",
                                     .listen = 1};
    snprintf(row.status, sizeof row.status, "%s", status);
    row.ratio = ratio;
    row.rate = ports; /* says nothing */
    CU_ASSERT_EQUAL_FATAL(sweep_table_add(table, &row), 0);
}

static struct baseline_counts compare(double tolerance)
{
    memset(printed, 0, sizeof printed);
    FILE *file = fmemopen(printed, sizeof printed - 1, "w");
    struct baseline_counts counts = baseline_compare(file, &old, "old.csv", &now, tolerance);
    fclose(file);
    return counts;
}

static void begin(void)
{
    sweep_table_free(&old);
    sweep_table_free(&now);
}

static void change_beyond_the_tolerance_is_told(void)
{
    begin();
    add(&old, 1, SWEEP_OK, 0.5);
    add(&now, 1, SWEEP_OK, 0.4);
    add(&old, 2, SWEEP_OK, 0.5);
    add(&now, 2, SWEEP_OK, 0.6);
    add(&old, 3, SWEEP_OK, 0.5);
    add(&now, 3, SWEEP_OK, 0.5);
    struct baseline_counts counts = compare(0.1);
    CU_ASSERT_EQUAL(counts.worse, 1);
    CU_ASSERT_EQUAL(counts.better, 1);
    CU_ASSERT_EQUAL(counts.same, 1);
    CU_ASSERT_EQUAL(counts.not_compared, 0);
    CU_ASSERT_STRING_EQUAL(
        printed, "worse: register udp, 1 port, event, epoll, window 50, 2 CPUs: ratio 0.400, was "
                 "0.500 (-20.0 %)\n"
                 "better: register udp, 2 ports, event, epoll, window 50, 2 CPUs: ratio 0.600, was "
                 "0.500 (+20.0 %)\n"
                 "beside old.csv: 1 better, 1 worse, 1 the same within 10 %, 0 not compared\n");
}

static void tolerance_is_a_part_of_the_old_ratio(void)
{
    static const struct {
        double tolerance;
        double ratio;
        size_t better, worse;
    } cases[] = {
        {0.1, 0.551, 1, 0}, {0.1, 0.549, 0, 0}, {0.1, 0.451, 0, 0}, {0.1, 0.449, 0, 1},
        {0, 0.501, 1, 0},   {0, 0.499, 0, 1},   {0, 0.5, 0, 0},     {1, 0.001, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin();
        add(&old, 1, SWEEP_OK, 0.5);
        add(&now, 1, SWEEP_OK, cases[i].ratio);
        struct baseline_counts counts = compare(cases[i].tolerance);
        CU_ASSERT_EQUAL(counts.better, cases[i].better);
        CU_ASSERT_EQUAL(counts.worse, cases[i].worse);
    }
}

static void point_without_two_ratios_is_not_compared(void)
{
    begin();
    add(&old, 1, SWEEP_OK, 0.5); /* not there now */
    add(&now, 2, SWEEP_OK, 0.5); /* not there then */
    add(&old, 3, SWEEP_SKIPPED, (double)NAN);
    add(&now, 3, SWEEP_OK, 0.5);
    add(&old, 4, SWEEP_OK, 0.5);
    add(&now, 4, SWEEP_OK, (double)NAN); /* no floor */
    add(&old, 5, SWEEP_OK, 0.5);
    add(&now, 5, SWEEP_FAILED, 0.1);
    struct baseline_counts counts = compare(0.1);
    CU_ASSERT_EQUAL(counts.not_compared, 5);
    CU_ASSERT_EQUAL(counts.better + counts.worse + counts.same, 0);
    CU_ASSERT_EQUAL(capture_lines(printed), 1);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"change_beyond_the_tolerance_is_told", change_beyond_the_tolerance_is_told},
        {"tolerance_is_a_part_of_the_old_ratio", tolerance_is_a_part_of_the_old_ratio},
        {"point_without_two_ratios_is_not_compared", point_without_two_ratios_is_not_compared},
        CU_TEST_INFO_NULL,
    };
    int status = run_suite("baseline", tests);
    begin();
    return status;
}
