/* test_udp_send.c - UDP sockets that take no more, and messages that the kernel refuses.
 *
 * Covered: what waits, in which order, how it goes on and what happens when too much waits; that an
 * error concerns the message that it belongs to and no other; that nothing is lost silently: each
 * message is sent or fails. The kernel's answers are made up by support/fake_udp.h, since the
 * loopback interface takes everything. Not covered: ICMP errors (test_udp_error.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/udp.h>

#include <errno.h>
#include <limits.h>

#include "exchange.h"
#include "fake_udp.h"
#include "over_selectors.h"

/* The next refusals messages are refused with refused_with. */
static unsigned refusals;
static int refused_with;

static int refuse_some(const struct vd_addr *to)
{
    (void)to;
    if (refusals == 0) {
        return 0;
    }
    refusals--;
    return refused_with;
}

/* Every message for this port is refused. */
static uint16_t bad_port;

static int refuse_port(const struct vd_addr *to)
{
    return to->port == bad_port ? refused_with : 0;
}

static void setup(struct exchange *exchange, const struct vd_udp_options *options)
{
    struct vd_addr bind = loopback_ip4();

    CU_ASSERT_FATAL(exchange_init(exchange, &bind, options));
    fake_udp_install(&exchange->client);
    fake_udp.refuse = refuse_some;
    refusals = 0;
}

/* Starts count requests with CSeq numbers from first on. */
static void start(struct exchange *exchange, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        CU_ASSERT_EQUAL(side_request(&exchange->client, &exchange->server.addr, i), 0);
    }
}

static void refuse_next(unsigned count, int system_error)
{
    refusals = count;
    refused_with = system_error;
}

static void turn_client(struct exchange *exchange)
{
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange->client.loop, 0), 0);
}

static uint64_t ready_of(const struct side *side)
{
    struct vd_loop_counters counters;

    vd_loop_get_counters(side->loop, &counters);
    return counters.ready;
}

/* ---- Waiting ---- */

static void messages_wait_in_order_until_the_socket_takes_more(void)
{
    struct exchange exchange;

    setup(&exchange, NULL);
    start(&exchange, 0, 10);
    refuse_next(1, EAGAIN);
    turn_client(&exchange);
    struct vd_udp_counters counters = side_counters(&exchange.client);
    CU_ASSERT_EQUAL(counters.would_block, 1);
    CU_ASSERT_EQUAL(counters.queued, 10);
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, 10));
    CU_ASSERT_EQUAL(vd_udp_waiting(exchange.client.loop), 0);
    CU_ASSERT_EQUAL(exchange.client.failures, 0);
    for (uint32_t i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(exchange.server.cseq[i], i);
    }
    /* Once all is sent, that the socket is writable is of no interest. */
    uint64_t before = ready_of(&exchange.client);
    turn_client(&exchange);
    CU_ASSERT_EQUAL(ready_of(&exchange.client), before);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void a_batch_that_is_taken_in_part_waits_for_the_rest(void)
{
    struct exchange exchange;

    setup(&exchange, NULL);
    start(&exchange, 0, 10);
    fake_udp.limit = 3;
    turn_client(&exchange);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).sent_datagrams, 3);
    CU_ASSERT_EQUAL(vd_udp_waiting(exchange.client.loop), 7);
    fake_udp.limit = 2;
    turn_client(&exchange);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).sent_datagrams, 5);
    CU_ASSERT_EQUAL(vd_udp_waiting(exchange.client.loop), 5);
    fake_udp.limit = UINT_MAX;
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, 10));
    for (uint32_t i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(exchange.server.cseq[i], i);
    }
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void a_new_message_goes_behind_those_that_wait(void)
{
    struct exchange exchange;

    setup(&exchange, NULL);
    start(&exchange, 0, 3);
    fake_udp.limit = 0;
    turn_client(&exchange);
    CU_ASSERT_EQUAL(vd_udp_waiting(exchange.client.loop), 3);
    start(&exchange, 3, 3);
    fake_udp.limit = UINT_MAX;
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, 6));
    for (uint32_t i = 0; i < 6; i++) {
        CU_ASSERT_EQUAL(exchange.server.cseq[i], i);
    }
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void what_does_not_fit_into_the_queue_fails(void)
{
    static const uint32_t limits[] = {0, 1, 4, 9, 10, 11};

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct exchange exchange;
        struct vd_udp_options options;
        uint32_t fit = limits[i] < 10 ? limits[i] : 10;

        vd_udp_options_init(&options);
        options.send_queue_limit = limits[i];
        setup(&exchange, &options);
        start(&exchange, 0, 10);
        fake_udp.limit = 0;
        turn_client(&exchange);
        CU_ASSERT_EQUAL(vd_udp_waiting(exchange.client.loop), fit);
        CU_ASSERT_EQUAL(exchange.client.failures, 10 - fit);
        CU_ASSERT_EQUAL(exchange.client.failures_by_error[-VD_ERR_TRANSPORT], 10 - fit);
        CU_ASSERT_EQUAL(side_counters(&exchange.client).queue_full, 10 - fit);
        CU_ASSERT(exchange.client.log_events >= 10 - fit);
        fake_udp.limit = UINT_MAX;
        CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, fit));
        CU_ASSERT_EQUAL(exchange.server.requests, fit);
        CU_ASSERT_EQUAL(exchange.client.failures, 10 - fit);
        CU_ASSERT_TRUE(exchange_free(&exchange));
    }
}

static void what_there_is_no_memory_for_fails(void)
{
    struct exchange exchange;

    setup(&exchange, NULL);
    start(&exchange, 0, 10);
    fake_udp.limit = 0;
    counting_mem_fail_after(&exchange.client.loop_mem, 0);
    turn_client(&exchange);
    CU_ASSERT_EQUAL(vd_udp_waiting(exchange.client.loop), 0);
    CU_ASSERT_EQUAL(exchange.client.failures_by_error[-VD_ERR_TRANSPORT], 10);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void a_loop_that_is_freed_gives_back_what_waits(void)
{
    struct exchange exchange;

    setup(&exchange, NULL);
    start(&exchange, 0, 100);
    fake_udp.limit = 0;
    turn_client(&exchange);
    CU_ASSERT_EQUAL(vd_udp_waiting(exchange.client.loop), 100);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void a_socket_that_waits_stops_no_other_one(void)
{
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();
    uint32_t second;

    setup(&exchange, NULL);
    struct side *client = &exchange.client;
    CU_ASSERT_EQUAL_FATAL(vd_udp_open(client->loop, client->stack, &bind, NULL, &second), 0);
    struct vd_addr bad = closed_port(&bind);
    bad_port = bad.port;
    refused_with = EAGAIN;
    fake_udp.refuse = refuse_port;
    for (uint32_t i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(side_request(client, &bad, 100 + i), 0);
        CU_ASSERT_EQUAL(side_request_from(client, second, &exchange.server.addr, i), 0);
    }
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &client->responses, 5));
    CU_ASSERT_EQUAL(vd_udp_waiting(client->loop), 5);
    CU_ASSERT_EQUAL(client->failures, 0);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* Nothing tells when the system has buffers again, and the socket itself is writable all the time.
 */
static void after_a_shortage_of_buffers_it_is_tried_again_by_time(void)
{
    static const int shortages[] = {ENOBUFS, ENOMEM};

    for (size_t i = 0; i < sizeof shortages / sizeof shortages[0]; i++) {
        struct exchange exchange;

        setup(&exchange, NULL);
        struct side *client = &exchange.client;
        start(&exchange, 0, 5);
        refuse_next(3, shortages[i]);
        vd_time before = vd_loop_now(client->loop);
        for (int j = 0; j < TURNS_MAX && side_counters(client).sent_datagrams < 5; j++) {
            CU_ASSERT_EQUAL(vd_loop_run_once(client->loop, VD_TIME_NEVER), 0);
        }
        CU_ASSERT_EQUAL(side_counters(client).sent_datagrams, 5);
        CU_ASSERT_EQUAL(fake_udp.refusals, 3);
        CU_ASSERT(vd_loop_now(client->loop) >= before + 3 * VD_MSEC);
        CU_ASSERT(client->turns <= 4);
        CU_ASSERT_EQUAL(client->failures, 0);
        CU_ASSERT_TRUE(exchange_turn_until(&exchange, &client->responses, 5));
        CU_ASSERT_TRUE(exchange_free(&exchange));
    }
}

/* ---- Refused ---- */

static void a_refused_message_fails_alone(void)
{
    static const struct {
        int system_error;
        int error;
    } cases[] = {
        {EMSGSIZE, VD_ERR_TRANSPORT},      {EPERM, VD_ERR_TRANSPORT},
        {EACCES, VD_ERR_TRANSPORT},        {EINVAL, VD_ERR_TRANSPORT},
        {EDESTADDRREQ, VD_ERR_TRANSPORT},  {EAFNOSUPPORT, VD_ERR_TRANSPORT},
        {ENETUNREACH, VD_ERR_UNREACHABLE}, {EHOSTUNREACH, VD_ERR_UNREACHABLE},
        {ENETDOWN, VD_ERR_UNREACHABLE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct exchange exchange;
        struct vd_addr bind = loopback_ip4();

        setup(&exchange, NULL);
        struct side *client = &exchange.client;
        struct vd_addr bad = closed_port(&bind);
        bad_port = bad.port;
        refused_with = cases[i].system_error;
        fake_udp.refuse = refuse_port;
        /* The first, two in a row, and the last. */
        for (uint32_t j = 0; j < 10; j++) {
            bool refused = j == 0 || j == 4 || j == 5 || j == 9;
            CU_ASSERT_EQUAL(side_request(client, refused ? &bad : &exchange.server.addr, j), 0);
        }
        turn_client(&exchange);
        CU_ASSERT_EQUAL(client->failures, 4);
        CU_ASSERT_EQUAL(client->failures_by_error[-cases[i].error], 4);
        CU_ASSERT_EQUAL(side_counters(client).send_failed, 4);
        CU_ASSERT_EQUAL(client->last_system_error, cases[i].system_error);
        CU_ASSERT_TRUE(exchange_turn_until(&exchange, &client->responses, 6));
        CU_ASSERT_EQUAL(exchange.server.requests, 6);
        CU_ASSERT_EQUAL(client->failures, 4);
        CU_ASSERT_TRUE(exchange_free(&exchange));
    }
}

static void what_the_real_kernel_refuses_fails_alone(void)
{
    struct exchange exchange;
    struct vd_addr other_family = loopback_ip6();
    struct vd_addr no_port = loopback_ip4();
    struct vd_addr no_family = {.family = VD_FAMILY_NONE, .port = 5060};

    setup(&exchange, NULL);
    struct side *client = &exchange.client;
    other_family.port = 5060;
    start(&exchange, 0, 1);
    CU_ASSERT_EQUAL(side_request(client, &other_family, 10), 0);
    start(&exchange, 1, 1);
    CU_ASSERT_EQUAL(side_request(client, &no_port, 11), 0);
    CU_ASSERT_EQUAL(side_request(client, &no_family, 12), 0);
    start(&exchange, 2, 1);
    turn_client(&exchange);
    CU_ASSERT_EQUAL(client->failures, 3);
    CU_ASSERT_EQUAL(client->failures_by_error[-VD_ERR_TRANSPORT], 3);
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &client->responses, 3));
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* An ICMP error for an earlier datagram comes up as the result of the next call, whatever is sent.
 */
static void a_pending_error_is_no_fault_of_the_next_message(void)
{
    static const int pending[] = {ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EMSGSIZE, EPROTO};

    for (size_t i = 0; i < sizeof pending / sizeof pending[0]; i++) {
        struct exchange exchange;

        setup(&exchange, NULL);
        start(&exchange, 0, 10);
        refuse_next(1, pending[i]);
        turn_client(&exchange);
        CU_ASSERT_EQUAL(fake_udp.refusals, 1);
        CU_ASSERT_EQUAL(side_counters(&exchange.client).sent_datagrams, 10);
        CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, 10));
        CU_ASSERT_EQUAL(exchange.client.failures, 0);
        CU_ASSERT_TRUE(exchange_free(&exchange));
    }
}

static void however_many_errors_are_pending_the_message_is_sent(void)
{
    struct exchange exchange;

    setup(&exchange, NULL);
    start(&exchange, 0, 10);
    refuse_next(50, ECONNREFUSED);
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, 10));
    CU_ASSERT_EQUAL(fake_udp.refusals, 50);
    CU_ASSERT_EQUAL(exchange.client.failures, 0);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static struct vd_addr nowhere;

static void send_again_in_vain(struct side *side)
{
    CU_ASSERT_EQUAL(side_request(side, &nowhere, 1), 0);
}

static void an_application_that_sends_in_vain_for_ever_still_receives(void)
{
    struct exchange exchange;

    setup(&exchange, NULL);
    nowhere = loopback_ip6();
    nowhere.port = 5060;
    exchange.client.on_failure = send_again_in_vain;
    CU_ASSERT_EQUAL(side_request(&exchange.client, &nowhere, 1), 0);
    start(&exchange, 0, 10);
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, 10));
    CU_ASSERT(exchange.client.failures > 0);
    exchange.client.on_failure = NULL;
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* ---- Batches ---- */

static void each_socket_sends_its_own_with_one_call_in_order(void)
{
    enum { SOCKETS = 4, EACH = 10 };
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();
    uint32_t endpoints[SOCKETS];
    uint32_t next[SOCKETS] = {0};

    setup(&exchange, NULL);
    struct side *client = &exchange.client;
    for (uint32_t i = 0; i < SOCKETS; i++) {
        CU_ASSERT_EQUAL_FATAL(vd_udp_open(client->loop, client->stack, &bind, NULL, &endpoints[i]),
                              0);
    }
    for (uint32_t i = 0; i < SOCKETS * EACH; i++) {
        CU_ASSERT_EQUAL(side_request_from(client, endpoints[i % SOCKETS], &exchange.server.addr, i),
                        0);
    }
    turn_client(&exchange);
    CU_ASSERT_EQUAL(side_counters(client).sent_datagrams, SOCKETS * EACH);
    CU_ASSERT_EQUAL(side_counters(client).send_calls, SOCKETS);
    CU_ASSERT_TRUE(side_turn_until(&exchange.server, &exchange.server.requests, SOCKETS * EACH));
    for (size_t i = 0; i < SOCKETS * EACH; i++) {
        uint32_t cseq = exchange.server.cseq[i];
        CU_ASSERT_EQUAL(cseq / SOCKETS, next[cseq % SOCKETS]);
        next[cseq % SOCKETS]++;
    }
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void more_than_a_batch_leaves_in_one_turn(void)
{
    struct exchange exchange;

    setup(&exchange, NULL);
    start(&exchange, 0, 600);
    turn_client(&exchange);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).sent_datagrams, 600);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).send_calls, 3);
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, 600));
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void queue_more_than_a_turn_sends(struct side *side)
{
    if (side->turns == 1) {
        for (uint32_t i = 0; i < 17000; i++) {
            CU_ASSERT_EQUAL(side_request(side, &side->addr, i), 0);
        }
        return;
    }
    vd_loop_stop(side->loop);
}

/* Nothing else would end the wait of the second turn. */
static void what_one_turn_does_not_send_the_next_one_sends_at_once(void)
{
    struct exchange exchange;

    setup(&exchange, NULL);
    fake_udp.swallow = true;
    exchange.client.on_turn = queue_more_than_a_turn_sends;
    CU_ASSERT_EQUAL(vd_loop_run(exchange.client.loop), 0);
    CU_ASSERT_EQUAL(exchange.client.turns, 2);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).sent_datagrams, 17000);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"messages wait in order until the socket takes more",
         messages_wait_in_order_until_the_socket_takes_more},
        {"a batch that is taken in part waits for the rest",
         a_batch_that_is_taken_in_part_waits_for_the_rest},
        {"a new message goes behind those that wait", a_new_message_goes_behind_those_that_wait},
        {"what does not fit into the queue fails", what_does_not_fit_into_the_queue_fails},
        {"what there is no memory for fails", what_there_is_no_memory_for_fails},
        {"a loop that is freed gives back what waits", a_loop_that_is_freed_gives_back_what_waits},
        {"a socket that waits stops no other one", a_socket_that_waits_stops_no_other_one},
        {"after a shortage of buffers it is tried again by time",
         after_a_shortage_of_buffers_it_is_tried_again_by_time},
        {"a refused message fails alone", a_refused_message_fails_alone},
        {"what the real kernel refuses fails alone", what_the_real_kernel_refuses_fails_alone},
        {"a pending error is no fault of the next message",
         a_pending_error_is_no_fault_of_the_next_message},
        {"however many errors are pending, the message is sent",
         however_many_errors_are_pending_the_message_is_sent},
        {"an application that sends in vain for ever still receives",
         an_application_that_sends_in_vain_for_ever_still_receives},
        {"each socket sends its own with one call, in order",
         each_socket_sends_its_own_with_one_call_in_order},
        {"more than a batch leaves in one turn", more_than_a_batch_leaves_in_one_turn},
        {"what one turn does not send the next one sends at once",
         what_one_turn_does_not_send_the_next_one_sends_at_once},
        CU_TEST_INFO_NULL,
    };
    return run_over_selectors("udp_send", tests);
}
