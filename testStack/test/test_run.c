/* test_run.c - runs on real sockets, in one process.
 *
 * Covered: registrations, queries and calls over UDP and TCP in each thread mode, over IPv4 and
 * IPv6, with and without polling, complete to the last pair; which figures are known in which mode;
 * the two sides in runs of their own; what impairments do not break; a port that is taken and an
 * address that is not ours end with one line. No figure that depends on the speed of the machine is
 * looked at. Not covered: several processes (test_processes.c); exit statuses, which are main.c's.
 *
 * Ports are searched from 21000 up. Without IPv6 its cases are left out, and the test says so.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run.h"

#include "capture.h"
#include "ports.h"
#include "run_suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct result result;

static struct options make_options(bool ip6)
{
    struct options options = {
        .processes = 1,
        .listen = true,
        .ports = 2,
        .window = 20,
        .runs = 300,
        .longest_wait = VD_TIME_NEVER,
    };
    ports_find(&options, ip6);
    return options;
}

static void check_result(const struct options *options)
{
    uint64_t pairs = options->runs * options_pairs(options);
    bool is_apart = options->threads == THREADS_EVENT;
    CU_ASSERT(result.complete);
    CU_ASSERT_FALSE(result.interrupted);
    CU_ASSERT_EQUAL(result.exchanges, options->runs);
    CU_ASSERT_EQUAL(result.pairs, pairs);
    CU_ASSERT_EQUAL(result.failures, 0);
    CU_ASSERT_EQUAL(result.latency.count, pairs);
    CU_ASSERT(result_elapsed(&result) > 0);
    CU_ASSERT(result.cpu > 0);
    CU_ASSERT(result.sender.known && result.receiver.known);
    CU_ASSERT(result.sender.engine_bytes > 0);
    CU_ASSERT(result.receiver.engine_bytes > 0);
    CU_ASSERT_EQUAL(result.sender.cpu >= 0, is_apart);
    CU_ASSERT_EQUAL(result.receiver.cpu >= 0, is_apart);
    CU_ASSERT_EQUAL(result.sender.rss, -1);
    CU_ASSERT_EQUAL(result.receiver.rss, -1);
    CU_ASSERT_EQUAL(result.sender.counters.stack.client_transactions, pairs);
    CU_ASSERT_EQUAL(result.receiver.counters.stack.server_transactions, pairs);
    CU_ASSERT_EQUAL(result.sender.counters.stack.received_invalid, 0);
    CU_ASSERT_EQUAL(result.receiver.counters.stack.received_invalid, 0);
}

static void every_pair_is_completed_in_every_mode(void)
{
    bool families = ports_have_ip6();
    if (!families) {
        printf("no IPv6: its cases are left out ");
    }
    for (unsigned mode = 0; mode < (families ? 48u : 24u); mode++) {
        struct options options = make_options(mode >= 24);
        options.threads = (mode & 1) != 0 ? THREADS_COMMON : THREADS_EVENT;
        options.longest_wait = (mode & 2) != 0 ? 0 : VD_TIME_NEVER;
        options.transport = (mode & 4) != 0 ? VD_TRANSPORT_TCP : VD_TRANSPORT_UDP;
        options.method = (enum method)(mode / 8 % 3);
        CU_ASSERT_EQUAL(run_make(&options, NULL, false, &result), 0);
        check_result(&options);
    }
}

static void connection_for_each_pair_of_ports_is_all_that_tcp_takes(void)
{
    for (int listen = 0; listen < 2; listen++) {
        struct options options = make_options(false);
        options.transport = VD_TRANSPORT_TCP;
        options.method = METHOD_INVITE;
        options.ports = 5;
        options.listen = listen != 0;
        ports_find(&options, false);
        CU_ASSERT_EQUAL(run_make(&options, NULL, false, &result), 0);
        check_result(&options);
        CU_ASSERT_EQUAL(result.sender.counters.tcp.connected, 5);
        CU_ASSERT_EQUAL(result.receiver.counters.tcp.accepted, 5);
        CU_ASSERT_EQUAL(result.receiver.counters.tcp.connected, 0);
        CU_ASSERT_EQUAL(result.retransmissions, 0);
    }
}

static void warm_up_counts_neither_pairs_nor_their_latencies(void)
{
    struct options options = make_options(false);
    options.warmup = 20 * VD_MSEC;
    CU_ASSERT_EQUAL(run_make(&options, NULL, false, &result), 0);
    CU_ASSERT(result.complete);
    CU_ASSERT_EQUAL(result.pairs, options.runs);
    CU_ASSERT_EQUAL(result.latency.count, options.runs);
    CU_ASSERT(result.sender.counters.stack.client_transactions > options.runs);
}

static void duration_ends_a_run(void)
{
    struct options options = make_options(false);
    options.duration = 20 * VD_MSEC;
    CU_ASSERT_EQUAL(run_make(&options, NULL, false, &result), 0);
    CU_ASSERT(result.complete);
    CU_ASSERT(result_elapsed(&result) >= 20000000);
}

static void impaired_network_costs_time_and_no_pair(void)
{
    for (unsigned mode = 0; mode < 2; mode++) {
        struct options options = make_options(false);
        options.threads = mode == 0 ? THREADS_EVENT : THREADS_COMMON;
        options.method = mode == 0 ? METHOD_REGISTER : METHOD_INVITE;
        options.runs = options.window = 200;
        options.impairment = (struct impairment){
            .loss = 0.1, .duplicate = 0.1, .reorder = 0.1, .delay = 2 * VD_MSEC, .seed = 7};
        CU_ASSERT_EQUAL(run_make(&options, NULL, false, &result), 0);
        CU_ASSERT(result.complete);
        CU_ASSERT_EQUAL(result.exchanges, 200);
        CU_ASSERT(result.retransmissions > 0);
        CU_ASSERT(result.sender.counters.lost > 0 && result.receiver.counters.lost > 0);
        CU_ASSERT(result.sender.counters.repeated > 0 && result.receiver.counters.repeated > 0);
        CU_ASSERT(result.sender.counters.overtaken > 0 && result.receiver.counters.overtaken > 0);
    }
}

/* ---- The sides apart ---- */

static void on_signal(int number)
{
    (void)number;
    run_interrupt();
}

static int tell_open(void *context)
{
    int *fd = context;
    return write(*fd, "o", 1) == 1 ? 0 : -1;
}

/* A receiver in a process of its own; it ends with status 0 when it is as expected after a SIGTERM.
 */
static pid_t start_receiver(const struct options *both, uint64_t requests)
{
    int ends[2];
    char byte;
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct run_shared shared = {0};
        struct run_link link = {.shared = &shared, .on_open = tell_open, .context = &ends[1]};
        struct options options = *both;
        struct sigaction action = {.sa_handler = on_signal};
        sigaction(SIGTERM, &action, NULL);
        options.role = ROLE_RECEIVER;
        options.window = 1000000;
        int error = run_make(&options, &link, false, &result);
        bool good = error == 0 && result.complete && result.pairs == requests &&
                    result.receiver.known && !result.sender.known && result.receiver.cpu > 0 &&
                    result.receiver.rss > 0 && result_elapsed(&result) > 0;
        _exit(good ? 0 : 1);
    }
    close(ends[1]);
    CU_ASSERT_EQUAL(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child;
}

static void sides_run_apart(void)
{
    for (unsigned mode = 0; mode < 4; mode++) {
        struct options options = make_options(false);
        int status = -1;
        options.transport = (mode & 1) != 0 ? VD_TRANSPORT_TCP : VD_TRANSPORT_UDP;
        options.method = (mode & 2) != 0 ? METHOD_INVITE : METHOD_REGISTER;
        pid_t receiver = start_receiver(&options, options.runs * options_pairs(&options));
        options.role = ROLE_SENDER;
        CU_ASSERT_EQUAL(run_make(&options, NULL, false, &result), 0);
        CU_ASSERT(result.complete);
        CU_ASSERT_EQUAL(result.exchanges, options.runs);
        CU_ASSERT(result.sender.known);
        CU_ASSERT(result.sender.cpu >= 0);
        CU_ASSERT(result.sender.rss > 0);
        CU_ASSERT_FALSE(result.receiver.known);
        CU_ASSERT_EQUAL(result.receiver.cpu, -1);
        kill(receiver, SIGTERM);
        waitpid(receiver, &status, 0);
        CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* ---- What cannot be made ---- */

static void port_in_use_ends_with_one_line(void)
{
    struct options options = make_options(false);
    char port[16];
    for (uint32_t i = 0; i < 2 * options.ports; i++) {
        struct vd_addr address = options_port(&options.sender, i);
        int fd = ports_bind(&address, options.transport);
        CU_ASSERT_FATAL(fd >= 0);
        capture_begin(2);
        int rc = run_make(&options, NULL, false, &result);
        const char *printed = capture_end();
        snprintf(port, sizeof port, ":%u: ", address.port);
        CU_ASSERT_EQUAL(rc, -1);
        CU_ASSERT_FALSE(result.complete);
        CU_ASSERT_EQUAL(capture_lines(printed), 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(printed, port));
        CU_ASSERT_PTR_NOT_NULL(strstr(printed, "taken"));
        close(fd);
    }
}

static void address_that_is_not_ours_ends_with_one_line(void)
{
    struct options options = make_options(false);
    /* For documentation only, RFC 5737. */
    vd_addr_parse(VD_STR("192.0.2.1"), options.sender.port, &options.sender);
    options.receiver = options_port(&options.sender, options.ports);
    capture_begin(2);
    int rc = run_make(&options, NULL, false, &result);
    const char *printed = capture_end();
    CU_ASSERT_EQUAL(rc, -1);
    CU_ASSERT_EQUAL(capture_lines(printed), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(printed, "192.0.2.1"));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"every_pair_is_completed_in_every_mode", every_pair_is_completed_in_every_mode},
        {"connection_for_each_pair_of_ports_is_all_that_tcp_takes",
         connection_for_each_pair_of_ports_is_all_that_tcp_takes},
        {"warm_up_counts_neither_pairs_nor_their_latencies",
         warm_up_counts_neither_pairs_nor_their_latencies},
        {"duration_ends_a_run", duration_ends_a_run},
        {"impaired_network_costs_time_and_no_pair", impaired_network_costs_time_and_no_pair},
        {"sides_run_apart", sides_run_apart},
        {"port_in_use_ends_with_one_line", port_in_use_ends_with_one_line},
        {"address_that_is_not_ours_ends_with_one_line",
         address_that_is_not_ours_ends_with_one_line},
        CU_TEST_INFO_NULL,
    };
    return run_suite("run", tests);
}
