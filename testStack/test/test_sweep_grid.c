/* test_sweep_grid.c - the text of a grid and the points that it stands for.
 *
 * Covered: all combinations in their order; defaults; several grids in one text; CPUs from the
 * command line; workers; comments and separators; what is wrong, with the line that it is in; the
 * built-in grid; which points make no sense; points as text.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sweep_grid.h"

#include "capture.h"
#include "run_suite.h"

#include <stdio.h>
#include <string.h>

enum { MACHINE_CPUS = 4, BASE_PORT = 11000 };

static struct sweep_grid grid;

static bool parse(const char *text, const char *cpus)
{
    sweep_grid_free(&grid);
    return sweep_grid_parse(&grid, text, "grid.txt", cpus, MACHINE_CPUS) == 0;
}

static bool point_is(size_t index, const char *expected)
{
    char text[SWEEP_TEXT];
    return index < grid.count &&
           strcmp(sweep_point_format(&grid.points[index], text), expected) == 0;
}

static void points_are_all_combinations_and_the_last_key_changes_first(void)
{
    CU_ASSERT_FATAL(parse("selector epoll poll\nports 1 100\ntransport tcp udp\n", NULL));
    CU_ASSERT_EQUAL(grid.count, 8);
    CU_ASSERT(point_is(0, "register tcp, 1 port, event, epoll, window 100, 4 CPUs"));
    CU_ASSERT(point_is(1, "register tcp, 1 port, event, poll, window 100, 4 CPUs"));
    CU_ASSERT(point_is(2, "register tcp, 100 ports, event, epoll, window 100, 4 CPUs"));
    CU_ASSERT(point_is(4, "register udp, 1 port, event, epoll, window 100, 4 CPUs"));
    CU_ASSERT(point_is(7, "register udp, 100 ports, event, poll, window 100, 4 CPUs"));
}

static void key_that_is_not_given_has_its_default(void)
{
    CU_ASSERT_FATAL(parse("window 7", NULL));
    CU_ASSERT_EQUAL_FATAL(grid.count, 1);
    CU_ASSERT_EQUAL(grid.points[0].cpus, MACHINE_CPUS);
    CU_ASSERT_EQUAL(grid.points[0].workers, 1);
    CU_ASSERT_EQUAL(grid.points[0].listen, 1);
    CU_ASSERT(point_is(0, "register udp, 1 port, event, epoll, window 7, 4 CPUs"));
}

static void values_are_separated_by_blanks_or_commas(void)
{
    CU_ASSERT_FATAL(parse("# of nothing\n\n  window 1,2, 3 ,4 5 # and no more 6\r\n", NULL));
    CU_ASSERT_EQUAL(grid.count, 5);
    CU_ASSERT(point_is(4, "register udp, 1 port, event, epoll, window 5, 4 CPUs"));
}

static void grids_of_a_text_are_added_without_points_that_are_there(void)
{
    CU_ASSERT_FATAL(
        parse("ports 1 10\nwindow 50\ngrid\n\ngrid\nwindow 10 50\ngrid\nmethod invite\n", NULL));
    CU_ASSERT_EQUAL(grid.count, 4);
    CU_ASSERT(point_is(0, "register udp, 1 port, event, epoll, window 50, 4 CPUs"));
    CU_ASSERT(point_is(1, "register udp, 10 ports, event, epoll, window 50, 4 CPUs"));
    CU_ASSERT(point_is(2, "register udp, 1 port, event, epoll, window 10, 4 CPUs"));
    CU_ASSERT(point_is(3, "invite udp, 1 port, event, epoll, window 100, 4 CPUs"));
}

static void cpus_of_the_command_line_replace_those_of_the_text(void)
{
    CU_ASSERT_FATAL(parse("cpus 3\ngrid\nwindow 1\n", "1,all"));
    CU_ASSERT_EQUAL(grid.count, 4);
    CU_ASSERT(point_is(0, "register udp, 1 port, event, epoll, window 100, 1 CPU"));
    CU_ASSERT(point_is(1, "register udp, 1 port, event, epoll, window 100, 4 CPUs"));
    CU_ASSERT(point_is(2, "register udp, 1 port, event, epoll, window 1, 1 CPU"));
}

static void workers_are_for_sharded_alone(void)
{
    CU_ASSERT_FATAL(parse("threads common sharded\nworkers 2 3\n", NULL));
    CU_ASSERT_EQUAL(grid.count, 3);
    CU_ASSERT(point_is(0, "register udp, 1 port, common, epoll, window 100, 4 CPUs"));
    CU_ASSERT(point_is(1, "register udp, 1 port, sharded by 2, epoll, window 100, 4 CPUs"));
    CU_ASSERT(point_is(2, "register udp, 1 port, sharded by 3, epoll, window 100, 4 CPUs"));
}

static void what_is_wrong_is_told_in_one_line_with_its_number(void)
{
    static const struct {
        const char *text;
        const char *told;
    } cases[] = {
        {"ports 1\nprots 2\n", "grid.txt, line 2: 'prots' is no key"},
        {"ports 1 x\n", "grid.txt, line 1: ports: 'x' is not a number from 1 to 32767"},
        {"ports 0\n", "'0' is not a number"},
        {"ports 32768\n", "'32768' is not a number"},
        {"ports -1\n", "'-1' is not a number"},
        {"listen 2\n", "listen: '2' is not a number from 0 to 1"},
        {"window\n", "'window' has no value"},
        {"transport sctp\n", "'sctp' is no value of transport"},
        {"cpus none\n", "cpus: 'none' is not a number from 1 to 1024"},
        {"ports 1\nports 2\n", "line 2: 'ports' is there twice"},
        {"", "grid.txt has no points"},
        {"# nothing\ngrid\n", "grid.txt has no points"},
        {"window 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 "
         "31 32 33",
         "'window' has too many values"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        capture_begin(2);
        bool parsed = parse(cases[i].text, NULL);
        const char *told = capture_end();
        CU_ASSERT_FALSE(parsed);
        CU_ASSERT_EQUAL(capture_lines(told), 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(told, cases[i].told));
    }
}

static void too_long_line_is_refused(void)
{
    char text[1000];
    memset(text, ' ', sizeof text);
    memcpy(text, "ports 1", 7);
    text[sizeof text - 1] = '\0';
    capture_begin(2);
    bool parsed = parse(text, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(capture_end(), "line 1: it is too long"));
    CU_ASSERT_FALSE(parsed);
}

static void built_in_grid_has_every_transport_selector_and_mode(void)
{
    CU_ASSERT_FATAL(parse(SWEEP_DEFAULT_SPEC, NULL));
    CU_ASSERT_EQUAL(grid.count, 3 * 3 * 3 * 2 * 5 * 4);
    CU_ASSERT(point_is(0, "register udp, 1 port, common, epoll, window 1, 4 CPUs"));
    CU_ASSERT(point_is(grid.count - 1, "register tls, 10000 ports not bound, process, io_uring, "
                                       "window 200, 4 CPUs"));
}

static void points_that_make_no_sense_are_told_from_others(void)
{
    static const struct {
        const char *text;
        const char *why; /* NULL: it does */
    } cases[] = {
        {"transport udp\nlisten 1", NULL},
        {"transport udp\nlisten 0", "bound"},
        {"transport tcp\nlisten 0", NULL},
        {"cpus 4", NULL},
        {"cpus 5", "fewer CPUs"},
        {"ports 27269", "past 65535"},
        {"ports 27268", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CU_ASSERT_FATAL(parse(cases[i].text, NULL));
        const char *why = sweep_point_nonsense(&grid.points[0], MACHINE_CPUS, BASE_PORT);
        CU_ASSERT_EQUAL(why == NULL, cases[i].why == NULL);
        CU_ASSERT(why == NULL || (cases[i].why != NULL && strstr(why, cases[i].why) != NULL));
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"points_are_all_combinations_and_the_last_key_changes_first",
         points_are_all_combinations_and_the_last_key_changes_first},
        {"key_that_is_not_given_has_its_default", key_that_is_not_given_has_its_default},
        {"values_are_separated_by_blanks_or_commas", values_are_separated_by_blanks_or_commas},
        {"grids_of_a_text_are_added_without_points_that_are_there",
         grids_of_a_text_are_added_without_points_that_are_there},
        {"cpus_of_the_command_line_replace_those_of_the_text",
         cpus_of_the_command_line_replace_those_of_the_text},
        {"workers_are_for_sharded_alone", workers_are_for_sharded_alone},
        {"what_is_wrong_is_told_in_one_line_with_its_number",
         what_is_wrong_is_told_in_one_line_with_its_number},
        {"too_long_line_is_refused", too_long_line_is_refused},
        {"built_in_grid_has_every_transport_selector_and_mode",
         built_in_grid_has_every_transport_selector_and_mode},
        {"points_that_make_no_sense_are_told_from_others",
         points_that_make_no_sense_are_told_from_others},
        CU_TEST_INFO_NULL,
    };
    int status = run_suite("sweep_grid", tests);
    sweep_grid_free(&grid);
    return status;
}
