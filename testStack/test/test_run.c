/* test_run.c - runs on real sockets.
 *
 * Covered: registrations and calls in each thread mode, over IPv4 and IPv6, with and without
 * polling, complete to the last pair; which figures are known in which mode; a port that is taken,
 * an address that is not ours, and more ports than descriptors end with one line. No figure that
 * depends on the speed of the machine is looked at. Not covered: signals and exit statuses, which
 * are main.c's.
 *
 * Ports are searched from 21000 up. Without IPv6 its cases are left out, and the test says so.
 */
#include "limits.h"
#include "run.h"

#include "capture.h"
#include "run_suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct result result;

static struct options make_options(bool ip6)
{
    struct options options = {
        .ports = 2,
        .window = 20,
        .runs = 300,
        .longest_wait = VD_TIME_NEVER,
    };
    vd_addr_parse(ip6 ? VD_STR("::1") : VD_STR("127.0.0.1"), 0, &options.bind);
    return options;
}

/* A socket on a port of the loopback address, or -1. */
static int bind_port(bool ip6, uint16_t port)
{
    struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in v4 = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(ip6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);
    int rc = ip6 ? bind(fd, (struct sockaddr *)&v6, sizeof v6)
                 : bind(fd, (struct sockaddr *)&v4, sizeof v4);
    if (fd >= 0 && rc < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The first of count free ports in a row; 0 when there are none. */
static uint16_t find_ports(bool ip6, unsigned count)
{
    unsigned found = 0;
    for (uint16_t port = 21000; port < 31000; port++) {
        int fd = bind_port(ip6, port);
        found = fd >= 0 ? found + 1 : 0;
        if (fd >= 0) {
            close(fd);
        }
        if (found == count) {
            return (uint16_t)(port - count + 1);
        }
    }
    return 0;
}

static bool have_ip6(void)
{
    int fd = bind_port(true, 0);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

static void check_result(const struct options *options)
{
    uint64_t pairs = options->runs * (options->invite ? 2 : 1);
    CU_ASSERT(result.complete);
    CU_ASSERT_FALSE(result.interrupted);
    CU_ASSERT_EQUAL(result.exchanges, options->runs);
    CU_ASSERT_EQUAL(result.pairs, pairs);
    CU_ASSERT_EQUAL(result.failures, 0);
    CU_ASSERT_EQUAL(result.latency.count, pairs);
    CU_ASSERT(result.elapsed > 0);
    CU_ASSERT(result.cpu > 0);
    CU_ASSERT(result.sender.engine_bytes > 0);
    CU_ASSERT(result.receiver.engine_bytes > 0);
    CU_ASSERT_EQUAL(result.sender.cpu >= 0, !options->common);
    CU_ASSERT_EQUAL(result.receiver.cpu >= 0, !options->common);
    CU_ASSERT_EQUAL(result.sender.counters.stack.client_transactions, pairs);
    CU_ASSERT_EQUAL(result.receiver.counters.stack.server_transactions, pairs);
    CU_ASSERT_EQUAL(result.sender.counters.stack.received_invalid, 0);
    CU_ASSERT_EQUAL(result.receiver.counters.stack.received_invalid, 0);
}

static void every_pair_is_completed_in_every_mode(void)
{
    bool families = have_ip6();
    if (!families) {
        printf("no IPv6: its cases are left out ");
    }
    for (unsigned mode = 0; mode < (families ? 16 : 8); mode++) {
        struct options options = make_options((mode & 8) != 0);
        options.invite = (mode & 1) != 0;
        options.common = (mode & 2) != 0;
        options.longest_wait = (mode & 4) != 0 ? 0 : VD_TIME_NEVER;
        options.base_port = find_ports((mode & 8) != 0, 2 * options.ports);
        CU_ASSERT_NOT_EQUAL_FATAL(options.base_port, 0);
        CU_ASSERT_EQUAL(run_make(&options, false, &result), 0);
        check_result(&options);
    }
}

static void warm_up_counts_neither_pairs_nor_their_latencies(void)
{
    struct options options = make_options(false);
    options.warmup = 20 * VD_MSEC;
    options.base_port = find_ports(false, 2 * options.ports);
    CU_ASSERT_EQUAL(run_make(&options, false, &result), 0);
    CU_ASSERT(result.complete);
    CU_ASSERT_EQUAL(result.pairs, options.runs);
    CU_ASSERT_EQUAL(result.latency.count, options.runs);
    CU_ASSERT(result.sender.counters.stack.client_transactions > options.runs);
}

static void duration_ends_a_run(void)
{
    struct options options = make_options(false);
    options.duration = 20 * VD_MSEC;
    options.base_port = find_ports(false, 2 * options.ports);
    CU_ASSERT_EQUAL(run_make(&options, false, &result), 0);
    CU_ASSERT(result.complete);
    CU_ASSERT(result.elapsed >= 20000000);
}

static void port_in_use_ends_with_one_line(void)
{
    struct options options = make_options(false);
    char port[16];
    options.base_port = find_ports(false, 2 * options.ports);
    for (uint32_t i = 0; i < 2 * options.ports; i++) {
        int fd = bind_port(false, (uint16_t)(options.base_port + i));
        CU_ASSERT_FATAL(fd >= 0);
        capture_begin(2);
        int rc = run_make(&options, false, &result);
        const char *printed = capture_end();
        snprintf(port, sizeof port, ":%u: ", options.base_port + i);
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
    options.base_port = find_ports(false, 2 * options.ports);
    vd_addr_parse(VD_STR("192.0.2.1"), 0, &options.bind); /* for documentation only, RFC 5737 */
    capture_begin(2);
    int rc = run_make(&options, false, &result);
    const char *printed = capture_end();
    CU_ASSERT_EQUAL(rc, -1);
    CU_ASSERT_EQUAL(capture_lines(printed), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(printed, "192.0.2.1"));
}

/* In a child, so that the limits of the test stay as they are. */
static bool child_is_refused(uint32_t ports, const char *says)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {.rlim_cur = 50, .rlim_max = 100};
        struct options options = {.ports = ports};
        bool ready = setrlimit(RLIMIT_NOFILE, &limit) == 0 &&
                     (geteuid() != 0 || setuid(65534) == 0); /* root may pass any limit */
        capture_begin(2);
        bool refused = limits_raise(&options) < 0;
        const char *printed = capture_end();
        bool said = capture_lines(printed) == (refused ? 1u : 0u) && strstr(printed, says) != NULL;
        _exit(ready && refused && said ? 0 : ready && !refused && said ? 1 : 2);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void more_ports_than_descriptors_end_with_one_line_that_has_both(void)
{
    CU_ASSERT_FALSE(child_is_refused(1, ""));
    CU_ASSERT_FALSE(child_is_refused(44, ""));
    CU_ASSERT(child_is_refused(45, "45 ports a side need 102 descriptors, 100 are allowed"));
    CU_ASSERT(child_is_refused(32767, "need 65546 descriptors, 100 are allowed"));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"every_pair_is_completed_in_every_mode", every_pair_is_completed_in_every_mode},
        {"warm_up_counts_neither_pairs_nor_their_latencies",
         warm_up_counts_neither_pairs_nor_their_latencies},
        {"duration_ends_a_run", duration_ends_a_run},
        {"port_in_use_ends_with_one_line", port_in_use_ends_with_one_line},
        {"address_that_is_not_ours_ends_with_one_line",
         address_that_is_not_ours_ends_with_one_line},
        {"more_ports_than_descriptors_end_with_one_line_that_has_both",
         more_ports_than_descriptors_end_with_one_line_that_has_both},
        CU_TEST_INFO_NULL,
    };
    return run_suite("run", tests);
}
