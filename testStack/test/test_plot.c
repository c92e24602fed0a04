/* test_plot.c - the commands that draw a sweep.
 *
 * Covered: the whole text of a chart of lines and of one of bars; where all but the chart's own
 * dimension is held; what is left out; charts with too little to show. Not covered: gnuplot itself.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plot.h"

#include "run_suite.h"

#include <string.h>

static struct sweep_table table;
static char printed[8192];

static struct sweep_row *add(const char *transport, uint32_t ports, uint32_t window, double rate,
                             double floor)
{
    struct sweep_row row;
    sweep_row_init(&row);
    row.point = (struct sweep_point){.cpus = 2,
                                     .method = "register",
                                     .ports = ports,
                                     .window = window,
                                     .threads = "event",
                                     .workers = 1,
                                     .selector = "epoll",
                                     .listen = 1};
    snprintf(row.point.transport, SWEEP_WORD, "%s", transport);
    snprintf(row.status, sizeof row.status, "%s", SWEEP_OK);
    row.repeats = 1;
    row.rate = rate;
    row.rate_min = rate - 1;
    row.rate_max = rate + 1;
    if (floor > 0) {
        row.floor_rate = floor;
    }
    CU_ASSERT_EQUAL_FATAL(sweep_table_add(&table, &row), 0);
    return &table.rows[table.count - 1];
}

static bool write(enum plot_chart chart)
{
    memset(printed, 0, sizeof printed);
    FILE *file = fmemopen(printed, sizeof printed - 1, "w");
    bool any = plot_write(file, &table, chart);
    fclose(file);
    return any;
}

static bool has(const char *text)
{
    return strstr(printed, text) != NULL;
}

static void lines_have_rate_and_floor_of_each_transport(void)
{
    sweep_table_free(&table);
    add("udp", 100, 50, 900, 1800);
    add("udp", 1, 50, 1000, 2000);
    add("tcp", 1, 50, 3000, 0);
    CU_ASSERT_FATAL(write(PLOT_PORTS));
    CU_ASSERT(has("set terminal svg"));
    CU_ASSERT(has("set output \"ports.svg\"\n"));
    CU_ASSERT(has("by number of ports (register, event, epoll, window 50, 2 CPUs)\"\n"));
    CU_ASSERT(has("set logscale xy\n"));
    CU_ASSERT(has("$rates << END\n"
                  "1 1000 999 1001 2000 3000 2999 3001 NaN NaN NaN NaN NaN\n"
                  "100 900 899 901 1800 NaN NaN NaN NaN NaN NaN NaN NaN\n"
                  "END\n"));
    CU_ASSERT(has("using 1:2 with linespoints linetype 1 title \"udp\""));
    CU_ASSERT(has("using 1:5 with linespoints linetype 1 dashtype 2 title \"udp floor\""));
    CU_ASSERT(has("using 1:6 with linespoints linetype 2 title \"tcp\""));
    CU_ASSERT_FALSE(has("tcp floor"));
    CU_ASSERT_FALSE(has("tls"));
}

static void repeats_are_drawn_from_minimum_to_maximum(void)
{
    sweep_table_free(&table);
    add("udp", 1, 10, 900, 0)->repeats = 3;
    add("udp", 1, 50, 1000, 0)->repeats = 3;
    CU_ASSERT_FATAL(write(PLOT_WINDOW));
    CU_ASSERT(has("set output \"window.svg\"\n"));
    CU_ASSERT(has("using 1:2:3:4 with yerrorlines"));
}

static void bars_have_a_place_for_each_transport(void)
{
    sweep_table_free(&table);
    add("udp", 1, 50, 1000, 2000);
    add("tcp", 1, 50, 3000, 6000);
    CU_ASSERT_FATAL(write(PLOT_TRANSPORT));
    CU_ASSERT(has("set style data histograms\n"));
    CU_ASSERT(has("\"udp\" 1000 999 1001 2000 NaN"));
    CU_ASSERT(has("\"tcp\" 3000 2999 3001 6000 NaN"));
    CU_ASSERT(has("using 2:xtic(1) title \"Viaduct\""));
    CU_ASSERT(has("using 5 title \"Viaduct floor\""));
}

static void modes_with_workers_are_told_apart(void)
{
    sweep_table_free(&table);
    add("udp", 1, 50, 1000, 0);
    struct sweep_row *row = add("udp", 1, 50, 1500, 0);
    snprintf(row->point.threads, SWEEP_WORD, "sharded");
    row->point.workers = 2;
    row = add("udp", 1, 50, 1600, 0);
    snprintf(row->point.threads, SWEEP_WORD, "sharded");
    row->point.workers = 3;
    CU_ASSERT_FATAL(write(PLOT_THREADS));
    CU_ASSERT(has("\"event\" 1000 "));
    CU_ASSERT(has("\"sharded 2\" 1500 "));
    CU_ASSERT(has("\"sharded 3\" 1600 "));
}

/* Each row differs from the first two in one thing and must not be in their picture. */
static void all_but_the_own_dimension_is_held(void)
{
    sweep_table_free(&table);
    add("udp", 1, 50, 1001, 0);
    add("udp", 100, 50, 1002, 0);
    add("udp", 10, 200, 6001, 0);
    snprintf(add("udp", 10, 50, 6002, 0)->point.selector, SWEEP_WORD, "poll");
    snprintf(add("udp", 10, 50, 6003, 0)->point.threads, SWEEP_WORD, "common");
    snprintf(add("udp", 10, 50, 6004, 0)->point.method, SWEEP_WORD, "invite");
    snprintf(add("udp", 10, 50, 6005, 0)->status, 12, "%s", SWEEP_FAILED);
    add("udp", 10, 50, 6006, 0)->point.cpus = 1;
    add("udp", 10, 50, 6007, 0)->point.listen = 0;
    CU_ASSERT_FATAL(write(PLOT_PORTS));
    CU_ASSERT(has("\n1 1001 "));
    CU_ASSERT(has("\n100 1002 "));
    CU_ASSERT_FALSE(has("\n10 "));
    CU_ASSERT_FALSE(has(" 600"));
}

static void what_the_sweep_does_not_have_is_held_at_its_first_row(void)
{
    sweep_table_free(&table);
    add("tcp", 7, 10, 1000, 0);
    add("tcp", 7, 20, 2000, 0);
    add("tcp", 8, 20, 3000, 0);
    CU_ASSERT_FATAL(write(PLOT_WINDOW));
    CU_ASSERT(has("(register, 7 ports, event, epoll, 2 CPUs)"));
    CU_ASSERT_FALSE(has(" 3000 "));
}

static void chart_with_one_value_is_left_out(void)
{
    sweep_table_free(&table);
    CU_ASSERT_FALSE(write(PLOT_PORTS));
    add("udp", 1, 50, 1000, 2000);
    add("udp", 1, 200, 1000, 2000);
    CU_ASSERT_FALSE(write(PLOT_PORTS));
    CU_ASSERT_STRING_EQUAL(printed, "");
    CU_ASSERT_FALSE(write(PLOT_TRANSPORT));
    CU_ASSERT_FALSE(write(PLOT_THREADS));
    CU_ASSERT(write(PLOT_WINDOW));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"lines_have_rate_and_floor_of_each_transport",
         lines_have_rate_and_floor_of_each_transport},
        {"repeats_are_drawn_from_minimum_to_maximum", repeats_are_drawn_from_minimum_to_maximum},
        {"bars_have_a_place_for_each_transport", bars_have_a_place_for_each_transport},
        {"modes_with_workers_are_told_apart", modes_with_workers_are_told_apart},
        {"all_but_the_own_dimension_is_held", all_but_the_own_dimension_is_held},
        {"what_the_sweep_does_not_have_is_held_at_its_first_row",
         what_the_sweep_does_not_have_is_held_at_its_first_row},
        {"chart_with_one_value_is_left_out", chart_with_one_value_is_left_out},
        CU_TEST_INFO_NULL,
    };
    int status = run_suite("plot", tests);
    sweep_table_free(&table);
    return status;
}
