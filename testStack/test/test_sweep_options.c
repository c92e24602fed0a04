/* test_sweep_options.c - the command line of a sweep, and what makes two sweeps the same.
 *
 * Covered: defaults; each option; what is refused, in one line; when a sweep is asked for at all;
 * what changes the fingerprint of a sweep.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sweep.h"
#include "sweep_options.h"

#include "capture.h"
#include "run_suite.h"

#include <stdio.h>
#include <string.h>

static struct sweep_options options;

/* Splits a line at its spaces, parses it and keeps what was printed to fd. */
static const char *parse(const char *line, int fd, enum options_result *result)
{
    static char words[512];
    char *argv[20] = {"testStack", "--sweep"};
    int argc = 2;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL && argc < 19; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    capture_begin(fd);
    *result = sweep_options_parse(&options, argc, argv);
    return capture_end();
}

static bool accepts(const char *line)
{
    enum options_result result;
    const char *told = parse(line, 2, &result);
    return result == OPTIONS_RUN && told[0] == '\0';
}

static void defaults_are_those_that_the_help_states(void)
{
    CU_ASSERT_FATAL(accepts(""));
    CU_ASSERT_EQUAL(options.conditions.duration, 5 * VD_SEC);
    CU_ASSERT_EQUAL(options.conditions.warmup, VD_SEC);
    CU_ASSERT_EQUAL(options.conditions.repeats, 1);
    CU_ASSERT_EQUAL(options.conditions.base_port, 11000);
    CU_ASSERT_PTR_NULL(options.conditions.bind);
    CU_ASSERT_PTR_NULL(options.spec);
    CU_ASSERT_PTR_NULL(options.cpus);
    CU_ASSERT_STRING_EQUAL(options.csv, "sweep.csv");
    CU_ASSERT_DOUBLE_EQUAL(options.tolerance, 0.1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(options.gate, 0, 0);
    CU_ASSERT_EQUAL(options.gate_cores, 2);
    CU_ASSERT_FALSE(options.list);
}

static void option_sets_what_it_names(void)
{
    CU_ASSERT(accepts("--sweep-spec a --cpus 1,2 --csv b --baseline c --plot d --sweep-list"));
    CU_ASSERT_STRING_EQUAL(options.spec, "a");
    CU_ASSERT_STRING_EQUAL(options.cpus, "1,2");
    CU_ASSERT_STRING_EQUAL(options.csv, "b");
    CU_ASSERT_STRING_EQUAL(options.baseline, "c");
    CU_ASSERT_STRING_EQUAL(options.plot, "d");
    CU_ASSERT(options.list);
    CU_ASSERT(accepts("--sweep-duration 0.2 --sweep-warmup 0 --repeat 3 --tolerance 5"));
    CU_ASSERT_EQUAL(options.conditions.duration, 200 * VD_MSEC);
    CU_ASSERT_EQUAL(options.conditions.warmup, 0);
    CU_ASSERT_EQUAL(options.conditions.repeats, 3);
    CU_ASSERT_DOUBLE_EQUAL(options.tolerance, 0.05, 1e-9);
    CU_ASSERT(accepts("--gate 0.55 --gate-cores 8 --bind 127.0.0.2 --base-port 20000 --ipv6"));
    CU_ASSERT_DOUBLE_EQUAL(options.gate, 0.55, 1e-9);
    CU_ASSERT_EQUAL(options.gate_cores, 8);
    CU_ASSERT_STRING_EQUAL(options.conditions.bind, "127.0.0.2");
    CU_ASSERT_EQUAL(options.conditions.base_port, 20000);
    CU_ASSERT(options.conditions.ipv6);
}

static void what_is_wrong_is_refused_in_one_line(void)
{
    static const char *const lines[] = {
        "--sweep-duration 0",
        "--sweep-warmup x",
        "--repeat 0",
        "--repeat 101",
        "--tolerance 101",
        "--gate 1.1",
        "--gate-cores 0",
        "--base-port 65536",
        "--csv -",
        "--udp",
        "--ports 3",
        "more",
        "--sweep-spec",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        enum options_result result;
        const char *told = parse(lines[i], 2, &result);
        CU_ASSERT_EQUAL(result, OPTIONS_USAGE);
        CU_ASSERT_EQUAL(capture_lines(told), 1);
        CU_ASSERT_EQUAL(strncmp(told, "testStack: ", 11), 0);
    }
}

static void help_and_version_are_answered(void)
{
    enum options_result result;
    CU_ASSERT_PTR_NOT_NULL(strstr(parse("--help", 1, &result), "Usage: testStack --sweep"));
    CU_ASSERT_EQUAL(result, OPTIONS_QUIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(parse("--version", 1, &result), vd_version()));
    CU_ASSERT_EQUAL(result, OPTIONS_QUIT);
}

static void sweep_is_asked_for_by_its_option_alone(void)
{
    char *with[] = {"testStack", "--csv", "a", "--sweep"};
    char *without[] = {"testStack", "--csv", "a", "--sweeping"};
    CU_ASSERT(sweep_options_wanted(4, with));
    CU_ASSERT_FALSE(sweep_options_wanted(4, without));
    CU_ASSERT_FALSE(sweep_options_wanted(3, with));
}

/* ---- The fingerprint ---- */

static void fingerprint(const char *spec, char text[20])
{
    struct sweep_grid grid = {0};
    CU_ASSERT_EQUAL_FATAL(sweep_grid_parse(&grid, spec, "spec", NULL, 2), 0);
    sweep_fingerprint(&grid, &options.conditions, text);
    sweep_grid_free(&grid);
}

static void sweep_is_the_same_when_points_and_conditions_are(void)
{
    static const char SPEC[] = "window 1 2\n";
    static const char *const lines[] = {
        "--sweep-duration 4", "--sweep-warmup 2", "--repeat 2",
        "--base-port 12000",  "--ipv6",           "--bind 127.0.0.2"};
    char base[20];
    char other[20];
    CU_ASSERT_FATAL(accepts(""));
    fingerprint(SPEC, base);
    CU_ASSERT_EQUAL(strlen(base), 16);
    fingerprint("# the same\nwindow 1,2", other);
    CU_ASSERT_STRING_EQUAL(other, base);
    fingerprint("window 2 1", other);
    CU_ASSERT_STRING_NOT_EQUAL(other, base);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        CU_ASSERT_FATAL(accepts(lines[i]));
        fingerprint(SPEC, other);
        CU_ASSERT_STRING_NOT_EQUAL(other, base);
    }
    CU_ASSERT_FATAL(accepts("--gate 0.5 --plot p --csv other.csv"));
    fingerprint(SPEC, other);
    CU_ASSERT_STRING_EQUAL(other, base);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"defaults_are_those_that_the_help_states", defaults_are_those_that_the_help_states},
        {"option_sets_what_it_names", option_sets_what_it_names},
        {"what_is_wrong_is_refused_in_one_line", what_is_wrong_is_refused_in_one_line},
        {"help_and_version_are_answered", help_and_version_are_answered},
        {"sweep_is_asked_for_by_its_option_alone", sweep_is_asked_for_by_its_option_alone},
        {"sweep_is_the_same_when_points_and_conditions_are",
         sweep_is_the_same_when_points_and_conditions_are},
        CU_TEST_INFO_NULL,
    };
    return run_suite("sweep_options", tests);
}
