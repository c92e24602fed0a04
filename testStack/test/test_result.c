/* test_result.c - how the results of several processes add up.
 *
 * Covered: every figure of two pairs of processes; a receiver whose pairs are its sender's; what is
 * not known; the time from the first beginning to the last end; what is said of a run that is not
 * complete. Not covered: latencies (test_latency.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "result.h"

#include "capture.h"
#include "run_suite.h"

#include <string.h>

static struct result sum;
static struct result part;

/* A sender's result, of which every figure is a multiple of n. */
static void make_part(int64_t n, int64_t began, int64_t ended)
{
    result_init(&part);
    part.exchanges = (uint64_t)(10 * n);
    part.pairs = (uint64_t)(20 * n);
    part.began = began;
    part.ended = ended;
    part.cpu = 30 * n;
    part.retransmissions = (uint64_t)(40 * n);
    part.timeouts = (uint64_t)(50 * n);
    part.failures = (uint64_t)(60 * n);
    part.sender.known = true;
    part.sender.cpu = 70 * n;
    part.sender.rss = 80 * n;
    part.sender.engine_bytes = (size_t)(90 * n);
    part.sender.counters.udp.sent_datagrams = (uint64_t)(100 * n);
    part.sender.counters.overtaken = (uint64_t)(110 * n);
    part.receiver.cpu = 120 * n;
    latency_add(&part.latency, (uint64_t)n);
}

static void figures_of_pairs_of_processes_add_up(void)
{
    result_init(&sum);
    for (int64_t n = 1; n <= 2; n++) {
        make_part(n, 1000, 2000);
        result_add(&sum, &part);
    }
    CU_ASSERT(sum.complete);
    CU_ASSERT_EQUAL(sum.exchanges, 30);
    CU_ASSERT_EQUAL(sum.pairs, 60);
    CU_ASSERT_EQUAL(sum.cpu, 90);
    CU_ASSERT_EQUAL(sum.retransmissions, 120);
    CU_ASSERT_EQUAL(sum.timeouts, 150);
    CU_ASSERT_EQUAL(sum.failures, 180);
    CU_ASSERT(sum.sender.known);
    CU_ASSERT_FALSE(sum.receiver.known);
    CU_ASSERT_EQUAL(sum.sender.cpu, 210);
    CU_ASSERT_EQUAL(sum.sender.rss, 240);
    CU_ASSERT_EQUAL(sum.sender.engine_bytes, 270);
    CU_ASSERT_EQUAL(sum.sender.counters.udp.sent_datagrams, 300);
    CU_ASSERT_EQUAL(sum.sender.counters.overtaken, 330);
    CU_ASSERT_EQUAL(sum.receiver.cpu, 360);
    CU_ASSERT_EQUAL(sum.latency.count, 2);
    CU_ASSERT_EQUAL(sum.latency.max, 2);
}

static void receiver_adds_what_its_sender_does_not_have(void)
{
    result_init(&sum);
    make_part(1, 1000, 2000);
    result_add(&sum, &part);
    result_init(&part);
    part.pairs = part.exchanges = 777;
    part.began = 500;
    part.ended = 9000;
    part.cpu = 888;
    part.retransmissions = 3;
    part.timeouts = 4;
    part.receiver.known = true;
    part.receiver.cpu = 999;
    part.receiver.rss = 5;
    part.receiver.engine_bytes = 6;
    part.receiver.counters.stack.received_requests = 7;
    result_add_receiver(&sum, &part);
    CU_ASSERT_EQUAL(sum.pairs, 20);
    CU_ASSERT_EQUAL(sum.exchanges, 10);
    CU_ASSERT_EQUAL(result_elapsed(&sum), 1000);
    CU_ASSERT_EQUAL(sum.cpu, 30);
    CU_ASSERT_EQUAL(sum.retransmissions, 43);
    CU_ASSERT_EQUAL(sum.timeouts, 54);
    CU_ASSERT(sum.receiver.known);
    CU_ASSERT_EQUAL(sum.receiver.cpu, 120);
    CU_ASSERT_EQUAL(sum.receiver.rss, 5);
    CU_ASSERT_EQUAL(sum.receiver.engine_bytes, 6);
    CU_ASSERT_EQUAL(sum.receiver.counters.stack.received_requests, 7);
}

static void what_no_process_knows_stays_unknown(void)
{
    result_init(&sum);
    make_part(1, 1000, 2000);
    part.receiver.cpu = -1;
    result_add(&sum, &part);
    result_add(&sum, &part);
    CU_ASSERT_EQUAL(sum.receiver.cpu, -1);
    CU_ASSERT_EQUAL(sum.receiver.rss, -1);
}

static void time_runs_from_the_first_beginning_to_the_last_end(void)
{
    static const struct {
        int64_t began;
        int64_t ended;
        int64_t elapsed; /* of all so far */
    } parts[] = {
        {0, 0, 0}, /* of one that did nothing */
        {1000, 2000, 1000}, {1500, 2500, 1500}, {900, 1100, 1600}, {0, 0, 1600}, {1200, 1300, 1600},
    };
    result_init(&sum);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        make_part(1, parts[i].began, parts[i].ended);
        result_add(&sum, &part);
        CU_ASSERT_EQUAL(result_elapsed(&sum), parts[i].elapsed);
    }
}

static void one_that_is_not_complete_makes_all_incomplete(void)
{
    result_init(&sum);
    make_part(1, 1, 2);
    result_add(&sum, &part);
    part.complete = false;
    part.interrupted = true;
    part.gave_up = true;
    result_add(&sum, &part);
    part.complete = true;
    result_add(&sum, &part);
    CU_ASSERT_FALSE(sum.complete);
    CU_ASSERT(sum.interrupted);
    CU_ASSERT(sum.gave_up);
}

static const char *explain(uint64_t failures, bool gave_up, bool interrupted)
{
    struct options options = {.method = METHOD_INVITE};
    result_init(&sum);
    sum.failures = failures;
    sum.gave_up = gave_up;
    sum.interrupted = interrupted;
    capture_begin(2);
    result_explain(&sum, &options);
    return capture_end();
}

static void reasons_are_said_in_a_line_each(void)
{
    CU_ASSERT_STRING_EQUAL(explain(0, false, false), "");
    CU_ASSERT_STRING_EQUAL(explain(3, false, false), "testStack: 3 calls failed\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(explain(3, true, false), "gave up\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(explain(0, false, true), "interrupted"));
    CU_ASSERT_EQUAL(capture_lines(explain(3, true, true)), 2);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"figures_of_pairs_of_processes_add_up", figures_of_pairs_of_processes_add_up},
        {"receiver_adds_what_its_sender_does_not_have",
         receiver_adds_what_its_sender_does_not_have},
        {"what_no_process_knows_stays_unknown", what_no_process_knows_stays_unknown},
        {"time_runs_from_the_first_beginning_to_the_last_end",
         time_runs_from_the_first_beginning_to_the_last_end},
        {"one_that_is_not_complete_makes_all_incomplete",
         one_that_is_not_complete_makes_all_incomplete},
        {"reasons_are_said_in_a_line_each", reasons_are_said_in_a_line_each},
        CU_TEST_INFO_NULL,
    };
    return run_suite("result", tests);
}
