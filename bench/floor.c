/*
 * floor: the rate at which the bytes of SIP exchanges go through UDP sockets when there is no SIP.
 * Runs the sender and the receiver, in a thread each or in one, and reports.
 */
#define _GNU_SOURCE
#include "floor.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { EXIT_USAGE = 2 };

/* Set by SIGINT and SIGTERM; the sender's wait has an end, so it is seen soon. */
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* A second signal ends the program as if there were no handler. */
static int catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    if (sigaction(SIGINT, &action, NULL) < 0 || sigaction(SIGTERM, &action, NULL) < 0) {
        return floor_fail("cannot catch signals: %s", strerror(errno));
    }
    return 0;
}

/* Raises the soft limit of descriptors as far as needed and allowed. */
static int check_descriptors(const struct floor_options *options)
{
    static const rlim_t OTHERS = 10; /* standard streams, JSON file, epoll and event descriptors */
    rlim_t needed = 2 * (rlim_t)options->ports + OTHERS;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
        return floor_fail("cannot read the limit of descriptors: %s", strerror(errno));
    }
    if (limit.rlim_max < needed) {
        return floor_fail("%u ports a side need %" PRIuMAX " descriptors, the limit is %" PRIuMAX,
                          options->ports, (uintmax_t)needed, (uintmax_t)limit.rlim_max);
    }
    if (limit.rlim_cur < needed) {
        limit.rlim_cur = needed;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0) {
            return floor_fail("cannot raise the limit of descriptors: %s", strerror(errno));
        }
    }
    return 0;
}

/* ---- The run ---- */

struct run {
    const struct floor_options *options;
    struct floor_loop *sender_loop;
    struct floor_loop *receiver_loop; /* the same when both sides are in one loop */
    struct floor_sender *sender;
    struct floor_receiver *receiver;
};

static int open_run(struct run *run)
{
    run->sender_loop = floor_loop_new(run->options);
    if (run->sender_loop == NULL) {
        return -1;
    }
    run->receiver_loop = run->options->common ? run->sender_loop : floor_loop_new(run->options);
    if (run->receiver_loop == NULL) {
        return -1;
    }
    run->receiver = floor_receiver_new(run->options, run->receiver_loop);
    if (run->receiver == NULL) {
        return -1;
    }
    run->sender = floor_sender_new(run->options, run->sender_loop);
    return run->sender == NULL ? -1 : 0;
}

static void close_run(struct run *run)
{
    floor_sender_free(run->sender);
    floor_receiver_free(run->receiver);
    if (run->receiver_loop != run->sender_loop) {
        floor_loop_free(run->receiver_loop);
    }
    floor_loop_free(run->sender_loop);
}

static void *receiver_thread(void *argument)
{
    struct run *run = argument;
    while (!floor_loop_stopped(run->receiver_loop)) {
        if (floor_loop_flush(run->receiver_loop) < 0 ||
            floor_loop_wait(run->receiver_loop, -1) < 0 ||
            floor_loop_receive(run->receiver_loop) < 0) {
            break;
        }
    }
    /* When it was not the sender that asked for the end, the sender must know of it. */
    floor_loop_stop(run->sender_loop);
    return NULL;
}

static int run_threads(struct run *run)
{
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    /* Signals are for the sender's thread, which looks at the flag. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, receiver_thread, run);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        return floor_fail("cannot start a thread: %s", strerror(error));
    }
    error = floor_sender_run(run->sender, &interrupted);
    floor_loop_stop(run->receiver_loop);
    pthread_join(thread, NULL);
    return error;
}

static int make_run(const struct floor_options *options, struct floor_result *result,
                    bool *complete)
{
    struct run run = {.options = options};
    int error = open_run(&run);
    if (error == 0) {
        error = options->common ? floor_sender_run(run.sender, &interrupted) : run_threads(&run);
        *complete = floor_sender_result(run.sender, result) && error == 0;
    }
    close_run(&run);
    return error;
}

/* ---- The report ---- */

static double rate(uint64_t count, const struct floor_result *result)
{
    return result->elapsed > 0 ? (double)count * 1e9 / (double)result->elapsed : 0;
}

static void print_json(FILE *file, const struct floor_options *options,
                       const struct floor_result *result)
{
    double cpu = result->pairs > 0 ? (double)result->cpu / 1e3 / (double)result->pairs : 0;
    fprintf(file,
            "{\"transport\": \"udp\", \"ports\": %u, \"threads\": \"%s\", \"window\": %u, "
            "\"method\": \"%s\", \"pairs\": %" PRIu64 ", \"elapsed_ms\": %.3f, "
            "\"pairs_per_s\": %.0f, \"resends\": %" PRIu64 ", \"cpu_us_per_pair\": %.3f}\n",
            options->ports, options->common ? "common" : "event", options->window,
            options->invite ? "INVITE" : "REGISTER", result->pairs, (double)result->elapsed / 1e6,
            rate(result->pairs, result), result->resends, cpu);
}

static void print_summary(const struct floor_options *options, const struct floor_result *result)
{
    double cpu = result->pairs > 0 ? (double)result->cpu / 1e3 / (double)result->pairs : 0;
    printf("resends %" PRIu64 ", CPU %.3f us a pair\n", result->resends, cpu);
    printf("%" PRIu64 " %s performed in %.0f ms, a rate of %.0f %s per second.\n",
           result->exchanges, options->invite ? "calls" : "exchanges",
           (double)result->elapsed / 1e6, rate(result->exchanges, result),
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

static int run_and_report(const struct floor_options *options)
{
    struct floor_result result = {0};
    bool complete = false;
    FILE *json = NULL;
    if (check_descriptors(options) < 0 || catch_signals() < 0) {
        return -1;
    }
    if (options->json != NULL && (json = open_json(options->json)) == NULL) {
        return -1;
    }
    int error = make_run(options, &result, &complete);
    if (error == 0) {
        error = report(options, &result, json);
    }
    if (json != NULL && json != stdout) {
        fclose(json);
    }
    return complete ? error : -1;
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
        return run_and_report(&options) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    }
}
