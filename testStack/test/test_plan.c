/* test_plan.c - how many processes a side the ports need, and what each of them does.
 *
 * Covered: that one process takes all as long as its limit of descriptors lets it; the line and the
 * number of processes when not, by transport, listeners and role; a limit that no number of
 * processes meets; that shares add up to the whole and follow each other. Not covered: limits that
 * a privileged process passes.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "plan.h"

#include "capture.h"
#include "run_suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What came of a plan in a child, so that the limits of the test stay as they are. */
struct outcome {
    int rc;
    struct options options;
    rlim_t limit;
    char printed[1024];
};

static struct outcome *outcome;

static void plan_here(const struct options *options, rlim_t soft, rlim_t hard)
{
    struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
    outcome->options = *options;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0 ||
        (geteuid() == 0 && setuid(65534) < 0)) { /* root may pass any limit */
        _exit(1);
    }
    capture_begin(2);
    outcome->rc = plan_make(&outcome->options);
    snprintf(outcome->printed, sizeof outcome->printed, "%s", capture_end());
    getrlimit(RLIMIT_NOFILE, &limit);
    outcome->limit = limit.rlim_cur;
    _exit(0);
}

static void plan(const struct options *options, rlim_t soft, rlim_t hard)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        plan_here(options, soft, hard);
    }
    waitpid(child, &status, 0);
    CU_ASSERT_FATAL(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static struct options make_options(uint32_t ports)
{
    return (struct options){
        .processes = 1, .listen = true, .ports = ports, .window = 100, .runs = 1000};
}

static void one_process_takes_all_as_long_as_it_may(void)
{
    struct options options = make_options(42);
    plan(&options, 50, 100);
    CU_ASSERT_EQUAL(outcome->rc, 0);
    CU_ASSERT_STRING_EQUAL(outcome->printed, "");
    CU_ASSERT_EQUAL(outcome->limit, 100);
    CU_ASSERT_EQUAL(outcome->options.threads, THREADS_EVENT);
    CU_ASSERT_EQUAL(outcome->options.processes, 1);
}

static void limit_stays_when_it_is_enough(void)
{
    struct options options = make_options(1);
    plan(&options, 50, 100);
    CU_ASSERT_EQUAL(outcome->rc, 0);
    CU_ASSERT_EQUAL(outcome->limit, 50);
}

static void ports_beyond_the_limit_take_processes_and_a_line_says_so(void)
{
    static const struct {
        enum vd_transport transport;
        bool listen;
        enum role role;
        enum threads threads;
        uint32_t ports;
        uint32_t processes;
        const char *says;
    } cases[] = {
        /* A socket a port and side; 16 for the rest. */
        {VD_TRANSPORT_UDP, true, ROLE_BOTH, THREADS_EVENT, 43, 1,
         "43 ports a side need 102 descriptors, 100 are allowed in a process: taking 1 process a "
         "side"},
        {VD_TRANSPORT_UDP, true, ROLE_BOTH, THREADS_COMMON, 84, 1, "taking 1 process a side"},
        {VD_TRANSPORT_UDP, true, ROLE_BOTH, THREADS_EVENT, 85, 2, "taking 2 processes a side"},
        {VD_TRANSPORT_UDP, true, ROLE_BOTH, THREADS_PROCESS, 84, 1, ""},
        {VD_TRANSPORT_UDP, true, ROLE_BOTH, THREADS_PROCESS, 169, 3, "taking 3 processes a side"},
        {VD_TRANSPORT_UDP, true, ROLE_SENDER, THREADS_EVENT, 84, 0, ""},
        {VD_TRANSPORT_UDP, true, ROLE_SENDER, THREADS_EVENT, 85, 2, "need 101 descriptors"},
        {VD_TRANSPORT_UDP, true, ROLE_RECEIVER, THREADS_EVENT, 85, 2, "need 101 descriptors"},
        /* A listener and a connection. */
        {VD_TRANSPORT_TCP, true, ROLE_BOTH, THREADS_EVENT, 21, 0, ""},
        {VD_TRANSPORT_TCP, true, ROLE_BOTH, THREADS_EVENT, 22, 1, "need 104 descriptors"},
        {VD_TRANSPORT_TCP, true, ROLE_BOTH, THREADS_EVENT, 43, 2, "taking 2 processes"},
        {VD_TRANSPORT_TCP, false, ROLE_BOTH, THREADS_EVENT, 28, 0, ""},
        {VD_TRANSPORT_TCP, false, ROLE_BOTH, THREADS_EVENT, 29, 1, "need 103 descriptors"},
        {VD_TRANSPORT_TCP, false, ROLE_SENDER, THREADS_EVENT, 84, 0, ""},
        {VD_TRANSPORT_TCP, true, ROLE_SENDER, THREADS_EVENT, 84, 2, "need 184 descriptors"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options = make_options(cases[i].ports);
        options.transport = cases[i].transport;
        options.listen = cases[i].listen;
        options.role = cases[i].role;
        options.threads = cases[i].threads;
        plan(&options, 50, 100);
        bool silent = cases[i].says[0] == '\0';
        uint32_t processes = cases[i].processes > 0 ? cases[i].processes : 1;
        enum threads threads = cases[i].processes > 0 ? THREADS_PROCESS : cases[i].threads;
        CU_ASSERT_EQUAL(outcome->rc, 0);
        CU_ASSERT_EQUAL(outcome->options.processes, processes);
        CU_ASSERT_EQUAL(outcome->options.threads, threads);
        CU_ASSERT_EQUAL(capture_lines(outcome->printed), silent ? 0 : 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(outcome->printed, cases[i].says));
    }
}

static void each_process_has_a_window_of_one_at_least(void)
{
    struct options options = make_options(200);
    options.window = 2;
    plan(&options, 50, 100);
    CU_ASSERT_EQUAL(outcome->rc, 0);
    CU_ASSERT_EQUAL(outcome->options.processes, 3);
    CU_ASSERT_EQUAL(outcome->options.window, 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(outcome->printed, "the window is 3: one for each process"));
}

static void limit_that_nothing_meets_ends_with_one_line_that_has_both_numbers(void)
{
    struct options options = make_options(32767);
    plan(&options, 50, 100);
    CU_ASSERT_EQUAL(outcome->rc, -1);
    CU_ASSERT_EQUAL(capture_lines(outcome->printed), 1);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(outcome->printed, "32767 ports a side need 65550 descriptors, 100 are allowed"));
}

static void shares_follow_each_other_and_add_up(void)
{
    for (uint32_t processes = 1; processes <= 9; processes++) {
        struct options options = make_options(1000);
        uint32_t ports = 0;
        uint32_t window = 0;
        uint64_t runs = 0;
        options.processes = processes;
        options.window = 11;
        options.runs = 101;
        options.sender.port = 11000;
        options.receiver.port = 12000;
        for (uint32_t i = 0; i < processes; i++) {
            struct options share = plan_share(&options, ROLE_SENDER, i);
            CU_ASSERT_EQUAL(share.role, ROLE_SENDER);
            CU_ASSERT_EQUAL(share.sender.port, 11000 + ports);
            CU_ASSERT_EQUAL(share.receiver.port, 12000 + ports);
            CU_ASSERT(share.window > 0);
            CU_ASSERT(share.ports <= (1000 + processes - 1) / processes);
            ports += share.ports;
            window += share.window;
            runs += share.runs;
        }
        CU_ASSERT_EQUAL(ports, 1000);
        CU_ASSERT_EQUAL(window, 11);
        CU_ASSERT_EQUAL(runs, 101);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"one_process_takes_all_as_long_as_it_may", one_process_takes_all_as_long_as_it_may},
        {"limit_stays_when_it_is_enough", limit_stays_when_it_is_enough},
        {"ports_beyond_the_limit_take_processes_and_a_line_says_so",
         ports_beyond_the_limit_take_processes_and_a_line_says_so},
        {"each_process_has_a_window_of_one_at_least", each_process_has_a_window_of_one_at_least},
        {"limit_that_nothing_meets_ends_with_one_line_that_has_both_numbers",
         limit_that_nothing_meets_ends_with_one_line_that_has_both_numbers},
        {"shares_follow_each_other_and_add_up", shares_follow_each_other_and_add_up},
        CU_TEST_INFO_NULL,
    };
    outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return outcome == MAP_FAILED ? 1 : run_suite("plan", tests);
}
