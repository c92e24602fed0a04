/* floor.c - the rate at which the bytes of SIP exchanges go through sockets when there is no SIP:
 * runs the sender and the receiver, and reports.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "floor_uring.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, EXIT_SKIP = 77 };

/* Set by SIGINT and SIGTERM; the sender's wait has an end, so it is seen soon. */
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* A second signal ends the program as if there were no handler. OpenSSL writes to sockets as to any
 * file, so a peer that has gone raises SIGPIPE. */
static int catch_signals(void)
{
    signal(SIGPIPE, SIG_IGN);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    if (sigaction(SIGINT, &action, NULL) < 0 || sigaction(SIGTERM, &action, NULL) < 0) {
        return floor_fail("cannot catch signals: %s", strerror(errno));
    }
    return 0;
}

/* ---- The report ---- */

static double rate(uint64_t count, const struct floor_result *result)
{
    int64_t elapsed = result->ended - result->began;
    return elapsed > 0 ? (double)count * 1e9 / (double)elapsed : 0;
}

static void print_json(FILE *file, const struct floor_options *options,
                       const struct floor_result *result)
{
    static const char *const THREADS[] = {
        [FLOOR_EVENT] = "event", [FLOOR_COMMON] = "common", [FLOOR_PROCESS] = "process"};
    double cpu = result->pairs > 0 ? (double)result->cpu / 1e3 / (double)result->pairs : 0;
    fprintf(file,
            "{\"transport\": \"%s\", \"selector\": \"%s\", \"ports\": %u, \"threads\": \"%s\", "
            "\"workers\": %u, "
            "\"window\": %u, "
            "\"method\": \"%s\", \"pairs\": %" PRIu64 ", \"elapsed_ms\": %.3f, "
            "\"pairs_per_s\": %.0f, \"resends\": %" PRIu64 ", \"cpu_us_per_pair\": %.3f}\n",
            options->tls   ? "tls"
            : options->tcp ? "tcp"
                           : "udp",
            options->uring ? "io_uring" : "epoll", options->ports, THREADS[options->threads],
            options->processes, options->window, options->invite ? "INVITE" : "REGISTER",
            result->pairs, (double)(result->ended - result->began) / 1e6,
            rate(result->pairs, result), result->resends, cpu);
}

static void print_summary(const struct floor_options *options, const struct floor_result *result)
{
    double cpu = result->pairs > 0 ? (double)result->cpu / 1e3 / (double)result->pairs : 0;
    printf("resends %" PRIu64 ", CPU %.3f us a pair\n", result->resends, cpu);
    printf("%" PRIu64 " %s performed in %.0f ms, a rate of %.0f %s per second.\n",
           result->exchanges, options->invite ? "calls" : "exchanges",
           (double)(result->ended - result->began) / 1e6, rate(result->exchanges, result),
           options->invite ? "calls" : "pairs");
}

/* Opened before the run, so that a wrong name costs no time. */
static FILE *open_json(const char *name)
{
    FILE *file = strcmp(name, "-") == 0 ? stdout : fopen(name, "we");
    if (file == NULL) {
        floor_fail("cannot write %s: %s", name, strerror(errno));
    }
    return file;
}

/* Flushes, so that a full disk is not taken for a report. */
static int finish_output(FILE *file, const char *name)
{
    if (fflush(file) != 0 || ferror(file) != 0) {
        return floor_fail("cannot write %s: %s", name, strerror(errno));
    }
    return 0;
}

static int report(const struct floor_options *options, const struct floor_result *result,
                  FILE *json)
{
    int error = 0;
    if (json != NULL) {
        print_json(json, options, result);
        error |= finish_output(json, options->json);
    }
    print_summary(options, result);
    error |= finish_output(stdout, "the report");
    return error;
}

static int run_and_report(struct floor_options *options)
{
    struct floor_result result = {0};
    FILE *json = NULL;
    if (floor_processes_plan(options) < 0 || catch_signals() < 0) {
        return -1;
    }
    if (options->json != NULL && (json = open_json(options->json)) == NULL) {
        return -1;
    }
    int error = options->threads == FLOOR_PROCESS
                    ? floor_processes_run(options, &interrupted, &result)
                    : floor_run(options, &interrupted, &result);
    if (error == 0) {
        error = report(options, &result, json);
    }
    if (json != NULL && json != stdout) {
        fclose(json);
    }
    return result.complete ? error : -1;
}

int main(int argc, char **argv)
{
    struct floor_options options;
    switch (floor_options_parse(&options, argc, argv)) {
    case FLOOR_USAGE:
        return EXIT_USAGE;
    case FLOOR_QUIT:
        return finish_output(stdout, "to stdout") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    default:
        if (options.uring && !floor_uring_is_available()) {
            return EXIT_SKIP;
        }
        return run_and_report(&options) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    }
}
