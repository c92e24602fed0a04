/* test_gate.c - the judgement of a run by the floor.
 *
 * Covered: the options of the gate and what they may not be joined with; that too few CPUs are
 * refused in one line; that nothing is judged when it was not asked; that a floor which is not
 * there fails the run. Not covered: the floor itself, which test/sweep_smoke.sh runs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "gate.h"

#include "capture.h"
#include "run_suite.h"

#include <stdio.h>
#include <string.h>

static struct options options;
static struct result result;

/* Splits a line at its spaces and parses it; what stderr was told is in told. */
static enum options_result parse(const char *line, const char **told)
{
    static char words[256];
    char *argv[12] = {"testStack"};
    int argc = 1;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL && argc < 11; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    capture_begin(2);
    enum options_result parsed = options_parse(&options, argc, argv);
    *told = capture_end();
    return parsed;
}

static void gate_is_off_and_wants_two_cpus_unless_told(void)
{
    const char *told;
    CU_ASSERT_EQUAL(parse("", &told), OPTIONS_RUN);
    CU_ASSERT_DOUBLE_EQUAL(options.gate, 0, 0);
    CU_ASSERT_EQUAL(options.gate_cores, 2);
    CU_ASSERT_EQUAL(parse("--gate 0.55 --gate-cores 8", &told), OPTIONS_RUN);
    CU_ASSERT_DOUBLE_EQUAL(options.gate, 0.55, 1e-9);
    CU_ASSERT_EQUAL(options.gate_cores, 8);
}

static void wrong_gate_is_refused_in_one_line(void)
{
    static const char *const lines[] = {"--gate x", "--gate 1.5", "--gate-cores 0",
                                        "--role receiver --gate 0.5",
                                        "--role sender --peer 127.0.0.1:5060 --gate 0.5"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *told;
        CU_ASSERT_EQUAL(parse(lines[i], &told), OPTIONS_USAGE);
        CU_ASSERT_EQUAL(capture_lines(told), 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(told, "--gate"));
    }
}

static void fewer_cpus_than_the_gate_needs_do_not_judge(void)
{
    const char *told;
    CU_ASSERT_EQUAL(parse("--gate 0.5 --gate-cores 1024", &told), OPTIONS_RUN);
    capture_begin(2);
    bool may = gate_can_judge(&options);
    told = capture_end();
    CU_ASSERT_FALSE(may);
    CU_ASSERT_EQUAL(capture_lines(told), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(told, "needs 1024 CPUs"));
    CU_ASSERT_EQUAL(parse("--gate 0.5 --gate-cores 1", &told), OPTIONS_RUN);
    CU_ASSERT(gate_can_judge(&options));
    CU_ASSERT_EQUAL(parse("--gate-cores 1024", &told), OPTIONS_RUN);
    CU_ASSERT(gate_can_judge(&options));
}

static void run_without_a_gate_passes(void)
{
    const char *told;
    CU_ASSERT_EQUAL(parse("", &told), OPTIONS_RUN);
    CU_ASSERT_EQUAL(gate_judge(&options, &result), 0);
}

/* No program floor lies beside this test. */
static void floor_that_is_not_there_fails_the_run(void)
{
    const char *told;
    CU_ASSERT_EQUAL(parse("--gate 0.5", &told), OPTIONS_RUN);
    capture_begin(2);
    int error = gate_judge(&options, &result);
    told = capture_end();
    CU_ASSERT_EQUAL(error, -1);
    CU_ASSERT_EQUAL(capture_lines(told), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(told, "the floor could not be measured"));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"gate_is_off_and_wants_two_cpus_unless_told", gate_is_off_and_wants_two_cpus_unless_told},
        {"wrong_gate_is_refused_in_one_line", wrong_gate_is_refused_in_one_line},
        {"fewer_cpus_than_the_gate_needs_do_not_judge",
         fewer_cpus_than_the_gate_needs_do_not_judge},
        {"run_without_a_gate_passes", run_without_a_gate_passes},
        {"floor_that_is_not_there_fails_the_run", floor_that_is_not_there_fails_the_run},
        CU_TEST_INFO_NULL,
    };
    return run_suite("gate", tests);
}
