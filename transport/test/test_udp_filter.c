/* test_udp_filter.c - the filter of a UDP socket.
 *
 * Covered: what it is told; that the stack gets what passes and not what does not; a datagram that
 * was kept and is given to the stack later; that a socket without a filter is none of it. Not
 * covered: everything else about UDP (test_udp.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/udp.h>

#include <string.h>

#include "exchange.h"
#include "over_selectors.h"

/* What the filter was told last, and what it answers. */
struct record {
    bool lets_pass;
    unsigned count;
    struct vd_flow flow;
    char bytes[1024];
    size_t size;
};

static bool filter(const struct vd_flow *flow, struct vd_str bytes, void *context)
{
    struct record *record = context;

    record->count++;
    record->flow = *flow;
    record->size = bytes.n < sizeof record->bytes ? bytes.n : sizeof record->bytes;
    memcpy(record->bytes, bytes.p, record->size);
    return record->lets_pass;
}

/* A second socket of the server, with a filter. */
static void open_filtered(struct exchange *exchange, struct record *record, struct vd_addr *addr)
{
    struct vd_addr bind = loopback_ip4();
    struct vd_udp_options options;
    uint32_t endpoint;

    CU_ASSERT_FATAL(exchange_init(exchange, &bind, NULL));
    vd_udp_options_init(&options);
    CU_ASSERT_PTR_NULL(options.filter);
    options.filter = filter;
    options.filter_context = record;
    CU_ASSERT_EQUAL_FATAL(
        vd_udp_open(exchange->server.loop, exchange->server.stack, &bind, &options, &endpoint), 0);
    CU_ASSERT_EQUAL(endpoint, 1);
    CU_ASSERT_EQUAL(
        vd_udp_local_addr(exchange->server.loop, exchange->server.stack, endpoint, addr), 0);
}

static void datagram_reaches_the_stack_as_the_filter_says(void)
{
    struct exchange exchange;
    struct record record = {.lets_pass = false};
    struct vd_addr filtered;

    open_filtered(&exchange, &record, &filtered);
    CU_ASSERT_EQUAL(side_request(&exchange.client, &filtered, 1), 0);
    CU_ASSERT(exchange_turn_until(&exchange, &record.count, 1));
    CU_ASSERT_EQUAL(exchange.server.requests, 0);
    CU_ASSERT_EQUAL(record.flow.endpoint, 1);
    CU_ASSERT_TRUE(vd_addr_equal(&record.flow.remote, &exchange.client.addr));
    CU_ASSERT_EQUAL(strncmp(record.bytes, "OPTIONS ", 8), 0);
    /* It was received all the same. */
    CU_ASSERT_EQUAL(side_counters(&exchange.server).received_datagrams, 1);

    record.lets_pass = true;
    CU_ASSERT_EQUAL(side_request(&exchange.client, &filtered, 2), 0);
    CU_ASSERT(exchange_turn_until(&exchange, &exchange.server.requests, 1));
    CU_ASSERT_EQUAL(exchange.server.cseq[0], 2);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void datagram_that_was_kept_may_be_given_to_the_stack_later(void)
{
    struct exchange exchange;
    struct record record = {.lets_pass = false};
    struct vd_addr filtered;

    open_filtered(&exchange, &record, &filtered);
    CU_ASSERT_EQUAL(side_request(&exchange.client, &filtered, 7), 0);
    CU_ASSERT(exchange_turn_until(&exchange, &record.count, 1));
    CU_ASSERT_EQUAL(vd_stack_receive(exchange.server.stack, &record.flow, record.bytes, record.size,
                                     vd_loop_now(exchange.server.loop)),
                    0);
    CU_ASSERT_EQUAL(exchange.server.requests, 1);
    CU_ASSERT_EQUAL(exchange.server.cseq[0], 7);
    record.lets_pass = true;
    CU_ASSERT(exchange_turn_until(&exchange, &exchange.client.responses, 1));
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void socket_without_a_filter_has_none(void)
{
    struct exchange exchange;
    struct record record = {.lets_pass = false};
    struct vd_addr filtered;

    open_filtered(&exchange, &record, &filtered);
    CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, 1), 0);
    CU_ASSERT(exchange_turn_until(&exchange, &exchange.client.responses, 1));
    CU_ASSERT_EQUAL(record.count, 0);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"datagram_reaches_the_stack_as_the_filter_says",
         datagram_reaches_the_stack_as_the_filter_says},
        {"datagram_that_was_kept_may_be_given_to_the_stack_later",
         datagram_that_was_kept_may_be_given_to_the_stack_later},
        {"socket_without_a_filter_has_none", socket_without_a_filter_has_none},
        CU_TEST_INFO_NULL,
    };
    return run_over_selectors("udp_filter", tests);
}
