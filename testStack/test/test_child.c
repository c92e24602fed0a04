/* test_child.c - running another program.
 *
 * Covered: its exit status, a signal that ended it, all of its output, the last line of its stderr,
 * the CPUs that it may use, a program that is not there, a command that is too long, one that does
 * not end in time, and an interruption.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "child.h"

#include "capture.h"
#include "run_suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const vd_time LIMIT = 600 * VD_SEC;

static struct child_result result;

/* Runs a line of the shell. */
static int run(const char *line, uint32_t cpus, vd_time limit)
{
    struct child_command command;
    child_command_init(&command, "/bin/sh", "sh", cpus);
    child_command_add(&command, "-c");
    child_command_add(&command, "%s", line);
    return child_run(&command, limit, &result);
}

static void status_is_that_of_the_exit_or_of_the_signal(void)
{
    static const struct {
        const char *line;
        int status;
    } cases[] = {
        {"exit 0", 0},
        {"exit 2", 2},
        {"exit 77", 77},
        {"kill -KILL $$", 128 + SIGKILL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CU_ASSERT_EQUAL(run(cases[i].line, 0, LIMIT), 0);
        CU_ASSERT_EQUAL(result.status, cases[i].status);
        CU_ASSERT_FALSE(result.late);
        CU_ASSERT_FALSE(result.interrupted);
        child_result_free(&result);
    }
}

static void output_is_kept_whole(void)
{
    CU_ASSERT_EQUAL(run("printf 'one\\ntwo\\n'", 0, LIMIT), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result.output);
    CU_ASSERT_STRING_EQUAL(result.output, "one\ntwo\n");
    child_result_free(&result);
    /* More than a pipe holds, and as much to stderr. */
    CU_ASSERT_EQUAL(run("i=0; while [ $i -lt 3000 ]; do i=$((i+1)); "
                        "echo 0123456789012345678901234567890123456789; "
                        "echo 0123456789012345678901234567890123456789 >&2; done",
                        0, LIMIT),
                    0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result.output);
    CU_ASSERT_EQUAL(strlen(result.output), 3000 * 41);
    child_result_free(&result);
}

static void last_line_of_stderr_is_kept_without_the_program(void)
{
    static const struct {
        const char *line;
        const char *kept;
    } cases[] = {
        {"true", ""},
        {"printf 'first\\nprogram: cannot bind: in use\\n' >&2", "cannot bind: in use"},
        {"printf 'no end' >&2", "no end"},
        {"printf 'two words: more\\n\\n' >&2", "two words: more"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CU_ASSERT_EQUAL(run(cases[i].line, 0, LIMIT), 0);
        CU_ASSERT_STRING_EQUAL(result.line, cases[i].kept);
        child_result_free(&result);
    }
}

static void child_may_use_as_many_cpus_as_asked(void)
{
    char expected[16];
    CU_ASSERT_EQUAL(run("nproc", 1, LIMIT), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result.output);
    CU_ASSERT_STRING_EQUAL(result.output, "1\n");
    child_result_free(&result);
    snprintf(expected, sizeof expected, "%u\n", child_machine_cpus());
    CU_ASSERT_EQUAL(run("nproc", 0, LIMIT), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result.output);
    CU_ASSERT_STRING_EQUAL(result.output, expected);
    child_result_free(&result);
}

static void program_that_is_not_there_is_told(void)
{
    struct child_command command;
    child_command_init(&command, "/nonexistent/program", "program", 0);
    CU_ASSERT_EQUAL(child_run(&command, LIMIT, &result), 0);
    CU_ASSERT_EQUAL(result.status, 127);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.line, "cannot run /nonexistent/program"));
    child_result_free(&result);
}

static void too_long_command_is_not_run(void)
{
    struct child_command command;
    child_command_init(&command, "/bin/sh", "sh", 0);
    for (unsigned i = 0; i < CHILD_TEXT; i++) {
        child_command_add(&command, "word%u", i);
    }
    capture_begin(2);
    int error = child_run(&command, LIMIT, &result);
    CU_ASSERT_EQUAL(capture_lines(capture_end()), 1);
    CU_ASSERT_EQUAL(error, -1);
    child_result_free(&result);
}

static void commands_are_the_same_when_every_argument_is(void)
{
    struct child_command a;
    struct child_command b;
    child_command_init(&a, "/bin/sh", "sh", 1);
    child_command_init(&b, "/bin/sh", "sh", 1);
    child_command_add(&a, "%s", "x");
    CU_ASSERT_FALSE(child_command_equal(&a, &b));
    child_command_add(&b, "%s", "x");
    CU_ASSERT(child_command_equal(&a, &b));
    b.cpus = 2;
    CU_ASSERT_FALSE(child_command_equal(&a, &b));
}

static void child_that_does_not_end_in_time_is_ended(void)
{
    CU_ASSERT_EQUAL(run("while :; do :; done", 1, 0), 0);
    CU_ASSERT(result.late);
    CU_ASSERT_EQUAL(result.status, 128 + SIGTERM);
    child_result_free(&result);
}

/* The last test: an interruption is for good. */
static void interruption_ends_each_child(void)
{
    child_interrupt();
    CU_ASSERT(child_interrupted());
    CU_ASSERT_EQUAL(run("while :; do :; done", 1, LIMIT), 0);
    CU_ASSERT(result.interrupted);
    CU_ASSERT_FALSE(result.late);
    CU_ASSERT_EQUAL(result.status, 128 + SIGTERM);
    child_result_free(&result);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"status_is_that_of_the_exit_or_of_the_signal",
         status_is_that_of_the_exit_or_of_the_signal},
        {"output_is_kept_whole", output_is_kept_whole},
        {"last_line_of_stderr_is_kept_without_the_program",
         last_line_of_stderr_is_kept_without_the_program},
        {"child_may_use_as_many_cpus_as_asked", child_may_use_as_many_cpus_as_asked},
        {"program_that_is_not_there_is_told", program_that_is_not_there_is_told},
        {"too_long_command_is_not_run", too_long_command_is_not_run},
        {"commands_are_the_same_when_every_argument_is",
         commands_are_the_same_when_every_argument_is},
        {"child_that_does_not_end_in_time_is_ended", child_that_does_not_end_in_time_is_ended},
        {"interruption_ends_each_child", interruption_ends_each_child},
        CU_TEST_INFO_NULL,
    };
    return run_suite("child", tests);
}
