/* test_processes.c - runs with each side in processes of its own.
 *
 * Covered: one and several processes a side, over UDP and TCP, complete to the last pair; what adds
 * up; CPU time and memory of each side; a side alone; a port that is taken and an interruption,
 * after which no process is left. Not covered: how many processes are taken (test_plan.c).
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "processes.h"

#include "run.h"

#include "capture.h"
#include "ports.h"
#include "run_suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static struct result result;

static struct options make_options(uint32_t processes, uint32_t ports)
{
    struct options options = {
        .threads = THREADS_PROCESS,
        .processes = processes,
        .listen = true,
        .ports = ports,
        .window = 20,
        .runs = 301,
        .longest_wait = VD_TIME_NEVER,
    };
    ports_find(&options, false);
    return options;
}

static bool no_child_is_left(void)
{
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static void check_result(const struct options *options)
{
    uint64_t pairs = options->runs * options_pairs(options);
    CU_ASSERT(result.complete);
    CU_ASSERT_FALSE(result.interrupted);
    CU_ASSERT_EQUAL(result.exchanges, options->runs);
    CU_ASSERT_EQUAL(result.pairs, pairs);
    CU_ASSERT_EQUAL(result.failures, 0);
    CU_ASSERT_EQUAL(result.latency.count, pairs);
    CU_ASSERT(result_elapsed(&result) > 0);
    CU_ASSERT_EQUAL(result.cpu, result.sender.cpu + result.receiver.cpu);
    CU_ASSERT(result.sender.cpu > 0);
    CU_ASSERT(result.receiver.cpu > 0);
    CU_ASSERT(result.sender.rss > 0);
    CU_ASSERT(result.receiver.rss > 0);
    CU_ASSERT(result.sender.engine_bytes > 0);
    CU_ASSERT(result.receiver.engine_bytes > 0);
    CU_ASSERT_EQUAL(result.sender.counters.stack.client_transactions, pairs);
    CU_ASSERT_EQUAL(result.receiver.counters.stack.server_transactions, pairs);
    CU_ASSERT(no_child_is_left());
}

static void every_pair_is_completed_whatever_the_number_of_processes(void)
{
    for (unsigned mode = 0; mode < 12; mode++) {
        struct options options = make_options(1 + mode % 3, 7);
        options.transport = (mode & 1) != 0 ? VD_TRANSPORT_TCP : VD_TRANSPORT_UDP;
        options.method = mode < 6 ? METHOD_REGISTER : METHOD_INVITE;
        CU_ASSERT_EQUAL(processes_run(&options, false, &result), 0);
        check_result(&options);
    }
}

static void warm_up_is_not_counted(void)
{
    struct options options = make_options(2, 2);
    options.warmup = 20 * VD_MSEC;
    CU_ASSERT_EQUAL(processes_run(&options, false, &result), 0);
    CU_ASSERT(result.complete);
    CU_ASSERT_EQUAL(result.pairs, options.runs);
    CU_ASSERT_EQUAL(result.latency.count, options.runs);
    CU_ASSERT(result.sender.counters.stack.client_transactions > options.runs);
}

static void fewer_runs_than_processes_are_enough(void)
{
    struct options options = make_options(3, 3);
    options.runs = 1;
    CU_ASSERT_EQUAL(processes_run(&options, false, &result), 0);
    CU_ASSERT(result.complete);
    CU_ASSERT_EQUAL(result.pairs, 1);
}

static void port_in_use_ends_with_one_line_and_no_process_is_left(void)
{
    struct options options = make_options(2, 2);
    for (uint32_t i = 0; i < 2 * options.ports; i++) {
        struct vd_addr address = options_port(&options.sender, i);
        int fd = ports_bind(&address, options.transport);
        CU_ASSERT_FATAL(fd >= 0);
        capture_begin(2);
        int rc = processes_run(&options, false, &result);
        const char *printed = capture_end();
        CU_ASSERT_EQUAL(rc, -1);
        CU_ASSERT_EQUAL(capture_lines(printed), 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(printed, "taken"));
        CU_ASSERT(no_child_is_left());
        close(fd);
    }
}

static void on_alarm(int number)
{
    (void)number;
    run_interrupt();
}

/* In a child, since an interruption is for good. The alarm comes again and again, lest it come too
 * early. */
static bool child_reports_interruption(enum role role, bool complete)
{
    int status = -1;
    struct options options = make_options(2, 4);
    options.role = role;
    options.duration = 1000 * VD_SEC;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct itimerval timer = {.it_interval.tv_usec = 100000, .it_value.tv_usec = 100000};
        struct sigaction action = {.sa_handler = on_alarm};
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &timer, NULL);
        int rc = processes_run(&options, false, &result);
        bool good = rc == 0 && result.interrupted == !complete && result.complete == complete &&
                    result.failures == 0 && no_child_is_left();
        _exit(good ? 0 : 1);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void interruption_ends_all_processes_and_is_reported(void)
{
    CU_ASSERT(child_reports_interruption(ROLE_BOTH, false));
}

static void receiver_alone_runs_until_it_is_stopped(void)
{
    CU_ASSERT(child_reports_interruption(ROLE_RECEIVER, true));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"every_pair_is_completed_whatever_the_number_of_processes",
         every_pair_is_completed_whatever_the_number_of_processes},
        {"warm_up_is_not_counted", warm_up_is_not_counted},
        {"fewer_runs_than_processes_are_enough", fewer_runs_than_processes_are_enough},
        {"port_in_use_ends_with_one_line_and_no_process_is_left",
         port_in_use_ends_with_one_line_and_no_process_is_left},
        {"interruption_ends_all_processes_and_is_reported",
         interruption_ends_all_processes_and_is_reported},
        {"receiver_alone_runs_until_it_is_stopped", receiver_alone_runs_until_it_is_stopped},
        CU_TEST_INFO_NULL,
    };
    return run_suite("processes", tests);
}
