/* main.c - the sender/receiver benchmark: how many transaction pairs per second two SIP stacks
 * exchange over real sockets.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "child.h"
#include "fail.h"
#include "gate.h"
#include "options.h"
#include "plan.h"
#include "processes.h"
#include "report.h"
#include "run.h"
#include "selector.h"
#include "sweep.h"
#include "tls.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_SKIP = 77 };

/* A signal may come to a process and to its group at once, so only one that comes later counts as
 * the second; that ends the program as if there were no handler. */
static void on_signal(int number)
{
    static const int64_t LATER = 500; /* milliseconds */
    static volatile sig_atomic_t signalled;
    static volatile int64_t first;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t now = (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
    if (signalled && now - first >= LATER) {
        signal(number, SIG_DFL);
        raise(number);
    } else if (!signalled) {
        signalled = 1;
        first = now;
        run_interrupt();
        child_interrupt();
    }
}

static int catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    if (sigaction(SIGINT, &action, NULL) < 0 || sigaction(SIGTERM, &action, NULL) < 0) {
        return fail("cannot catch signals: %s", strerror(errno));
    }
    return 0;
}

/* ---- Output ---- */

/* A report that goes to a file of its own or to stdout. */
struct output {
    const char *name; /* NULL when it is not wanted */
    FILE *file;
};

/* Opened before the run, so that a wrong name costs no time. */
static int open_output(struct output *output, const char *name)
{
    output->name = name;
    if (name == NULL) {
        return 0;
    }
    output->file = strcmp(name, "-") == 0 ? stdout : fopen(name, "we");
    return output->file == NULL ? fail("cannot write %s: %s", name, strerror(errno)) : 0;
}

/* Flushes, so that a full disk is not taken for a report. */
static int finish_output(FILE *file, const char *name)
{
    if (fflush(file) != 0 || ferror(file) != 0) {
        return fail("cannot write %s: %s", name, strerror(errno));
    }
    return 0;
}

static void close_output(struct output *output)
{
    if (output->file != NULL && output->file != stdout) {
        fclose(output->file);
    }
}

static int report(const struct options *options, const struct result *result,
                  const struct output *json, const struct output *csv)
{
    int error = 0;
    if (json->file != NULL) {
        report_json(json->file, options, result);
        error |= finish_output(json->file, json->name);
    }
    if (csv->file != NULL) {
        report_csv(csv->file, options, result);
        error |= finish_output(csv->file, csv->name);
    }
    report_summary(stdout, options, result);
    return error | finish_output(stdout, "the report");
}

/* ---- The run ---- */

static int run_as_planned(const struct options *options, struct result *result)
{
    bool progress = isatty(STDERR_FILENO) == 1;
    int error = options->threads == THREADS_PROCESS ? processes_run(options, progress, result)
                                                    : run_make(options, NULL, progress, result);
    if (error == 0) {
        result_explain(result, options);
    }
    return error;
}

static int run_and_report(struct options *options)
{
    static struct result result;
    struct output json = {0};
    struct output csv = {0};
    struct tls *tls = NULL;
    if (plan_make(options) < 0 || catch_signals() < 0 || tls_new(&tls, options) < 0) {
        return -1;
    }
    int error = open_output(&json, options->json);
    if (error == 0) {
        error = open_output(&csv, options->csv);
    }
    if (error == 0) {
        error = run_as_planned(options, &result);
    }
    if (error == 0) {
        error = report(options, &result, &json, &csv);
    }
    tls_free(tls);
    close_output(&json);
    close_output(&csv);
    if (error == 0 && result.complete) {
        error = gate_judge(options, &result);
    }
    return result.complete ? error : -1;
}

static int sweep(int argc, char **argv)
{
    struct sweep_options options;
    switch (sweep_options_parse(&options, argc, argv)) {
    case OPTIONS_USAGE:
        return EXIT_USAGE;
    case OPTIONS_QUIT:
        return finish_output(stdout, "to stdout") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    default:
        return catch_signals() < 0 ? EXIT_FAILURE : sweep_run(&options);
    }
}

int main(int argc, char **argv)
{
    struct options options;
    if (sweep_options_wanted(argc, argv)) {
        return sweep(argc, argv);
    }
    switch (options_parse(&options, argc, argv)) {
    case OPTIONS_USAGE:
        return EXIT_USAGE;
    case OPTIONS_QUIT:
        return finish_output(stdout, "to stdout") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    default:
        if (!selector_is_available(options.selector) || !gate_can_judge(&options)) {
            return EXIT_SKIP;
        }
        return run_and_report(&options) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    }
}
