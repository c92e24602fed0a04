/* test_udp_error.c - ICMP errors, from the kernel to the transaction that they belong to (RFC
 * 3261 18.4).
 *
 * Covered: requests to closed ports of the loopback interface, alone and among others; every kind
 * of ICMP and ICMPv6 error, and which of them are ignored, by error queues that are made up; how
 * many are read at a time. Not covered: how the stack finds the transaction when little is quoted.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/udp.h>

#include <errno.h>
#include <time.h> /* linux/errqueue.h needs it */
#include <linux/errqueue.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>

#include "exchange.h"
#include "fake_udp.h"
#include "over_selectors.h"
#include "udp_internal.h"

static void setup(struct exchange *exchange)
{
    struct vd_addr bind = loopback_ip4();

    CU_ASSERT_FATAL(exchange_init(exchange, &bind, NULL));
}

/* ---- The real kernel ---- */

static void a_request_to_a_closed_port_is_refused(void)
{
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();

    setup(&exchange);
    struct side *client = &exchange.client;
    struct vd_addr closed = closed_port(&bind);
    CU_ASSERT_EQUAL(side_request(client, &closed, 1), 0);
    CU_ASSERT_TRUE(side_turn_until(client, &client->failures, 1));
    CU_ASSERT_EQUAL(client->last_error, VD_ERR_REFUSED);
    CU_ASSERT_EQUAL(client->terminated, 1);
    CU_ASSERT_EQUAL(client->last_log_error, VD_ERR_REFUSED);
    CU_ASSERT_EQUAL(client->last_system_error, ECONNREFUSED);
    CU_ASSERT_EQUAL(side_counters(client).icmp_errors, 1);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void refused_requests_do_no_harm_to_others_of_the_same_socket(void)
{
    enum { PAIRS = 40 };
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();

    setup(&exchange);
    struct side *client = &exchange.client;
    struct vd_addr closed = closed_port(&bind);
    for (uint32_t i = 0; i < PAIRS; i++) {
        CU_ASSERT_EQUAL(side_request(client, &closed, 2 * i), 0);
        CU_ASSERT_EQUAL(side_request(client, &exchange.server.addr, 2 * i + 1), 0);
    }
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &client->responses, PAIRS));
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &client->failures, PAIRS));
    CU_ASSERT_EQUAL(client->responses, PAIRS);
    CU_ASSERT_EQUAL(client->failures_by_error[-VD_ERR_REFUSED], PAIRS);
    CU_ASSERT_EQUAL(side_counters(client).send_failed, 0);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* Were a pending error left standing, the selector would report the socket for ever. */
static void an_error_that_was_read_wakes_the_loop_no_more(void)
{
    struct exchange exchange;
    struct vd_loop_counters before;
    struct vd_loop_counters after;
    struct vd_addr bind = loopback_ip4();

    setup(&exchange);
    struct side *client = &exchange.client;
    struct vd_addr closed = closed_port(&bind);
    CU_ASSERT_EQUAL(side_request(client, &closed, 1), 0);
    CU_ASSERT_TRUE(side_turn_until(client, &client->failures, 1));
    vd_loop_get_counters(client->loop, &before);
    for (int i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(vd_loop_run_once(client->loop, 0), 0);
    }
    vd_loop_get_counters(client->loop, &after);
    CU_ASSERT_EQUAL(after.ready, before.ready);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* It leaves an entry in the error queue but no pending error. */
static void what_the_kernel_finds_wrong_with_a_message_wakes_the_loop_once(void)
{
    if (tested_selector == VD_SELECTOR_IO_URING) {
        CU_PASS("nothing looks at the queue before the socket's own next error");
        return;
    }
    struct exchange exchange;
    struct vd_loop_counters counters;
    union vd__sockaddr to;
    static char too_long[65520];

    setup(&exchange);
    struct side *client = &exchange.client;
    socklen_t length = vd__sockaddr_from_addr(&to, &exchange.server.addr);
    CU_ASSERT_EQUAL(
        sendto(fake_udp_socket(client)->source.fd, too_long, sizeof too_long, 0, &to.any, length),
        -1);
    CU_ASSERT_EQUAL(errno, EMSGSIZE);
    for (int i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(vd_loop_run_once(client->loop, 0), 0);
    }
    vd_loop_get_counters(client->loop, &counters);
    CU_ASSERT_EQUAL(counters.ready, 1);
    CU_ASSERT_EQUAL(side_counters(client).icmp_errors, 0);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* ---- Every kind of error ---- */

static const struct {
    uint8_t origin;
    uint8_t type;
    uint8_t code;
    int system_error;
    int error; /* that the transaction fails with, 0 for none */
} kinds[] = {
    {SO_EE_ORIGIN_ICMP, ICMP_DEST_UNREACH, ICMP_NET_UNREACH, ENETUNREACH, VD_ERR_UNREACHABLE},
    {SO_EE_ORIGIN_ICMP, ICMP_DEST_UNREACH, ICMP_HOST_UNREACH, EHOSTUNREACH, VD_ERR_UNREACHABLE},
    {SO_EE_ORIGIN_ICMP, ICMP_DEST_UNREACH, ICMP_PROT_UNREACH, ENOPROTOOPT, VD_ERR_REFUSED},
    {SO_EE_ORIGIN_ICMP, ICMP_DEST_UNREACH, ICMP_PORT_UNREACH, ECONNREFUSED, VD_ERR_REFUSED},
    {SO_EE_ORIGIN_ICMP, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, EMSGSIZE, 0},
    {SO_EE_ORIGIN_ICMP, ICMP_DEST_UNREACH, ICMP_SR_FAILED, EOPNOTSUPP, VD_ERR_UNREACHABLE},
    {SO_EE_ORIGIN_ICMP, ICMP_DEST_UNREACH, ICMP_PKT_FILTERED, EHOSTUNREACH, VD_ERR_UNREACHABLE},
    {SO_EE_ORIGIN_ICMP, ICMP_PARAMETERPROB, 0, EPROTO, VD_ERR_TRANSPORT},
    {SO_EE_ORIGIN_ICMP, ICMP_SOURCE_QUENCH, 0, 0, 0},
    {SO_EE_ORIGIN_ICMP, ICMP_TIME_EXCEEDED, ICMP_EXC_TTL, EHOSTUNREACH, 0},
    {SO_EE_ORIGIN_ICMP, 99, 0, EHOSTUNREACH, 0},
    {SO_EE_ORIGIN_ICMP6, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_NOROUTE, ENETUNREACH,
     VD_ERR_UNREACHABLE},
    {SO_EE_ORIGIN_ICMP6, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_ADMIN, EACCES, VD_ERR_UNREACHABLE},
    {SO_EE_ORIGIN_ICMP6, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_ADDR, EHOSTUNREACH,
     VD_ERR_UNREACHABLE},
    {SO_EE_ORIGIN_ICMP6, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_NOPORT, ECONNREFUSED, VD_ERR_REFUSED},
    {SO_EE_ORIGIN_ICMP6, ICMP6_PACKET_TOO_BIG, 0, EMSGSIZE, 0},
    {SO_EE_ORIGIN_ICMP6, ICMP6_TIME_EXCEEDED, 0, EHOSTUNREACH, 0},
    {SO_EE_ORIGIN_ICMP6, ICMP6_PARAM_PROB, 0, EPROTO, VD_ERR_TRANSPORT},
    {SO_EE_ORIGIN_ICMP6, 77, 0, EPROTO, 0},
};

/* A client with one request on its way to a server that does not answer yet. */
static void send_one(struct exchange *exchange)
{
    setup(exchange);
    fake_udp_install(&exchange->client);
    CU_ASSERT_EQUAL(side_request(&exchange->client, &exchange->server.addr, 1), 0);
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange->client.loop, 0), 0);
    CU_ASSERT(fake_udp.sent_size > 0);
}

static size_t read_errors(struct exchange *exchange, const struct fake_error *errors,
                          unsigned count)
{
    fake_udp.errors = errors;
    fake_udp.error_count = count;
    return vd__udp_read_errors(fake_udp_socket(&exchange->client));
}

static void each_kind_of_error_fails_a_transaction_or_is_ignored(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct exchange exchange;

        send_one(&exchange);
        struct side *client = &exchange.client;
        struct fake_error error = {
            .origin = kinds[i].origin,
            .type = kinds[i].type,
            .code = kinds[i].code,
            .system_error = kinds[i].system_error,
            .destination = exchange.server.addr,
            .quoted = vd_str(fake_udp.sent, fake_udp.sent_size),
        };
        CU_ASSERT_EQUAL(read_errors(&exchange, &error, 1), 1);
        CU_ASSERT_EQUAL(side_counters(client).icmp_errors, 1);
        CU_ASSERT_EQUAL(client->failures, kinds[i].error != 0);
        CU_ASSERT_EQUAL(client->last_error, kinds[i].error);
        if (kinds[i].error != 0) {
            CU_ASSERT_EQUAL(client->last_log_error, kinds[i].error);
            CU_ASSERT_EQUAL(client->last_system_error, kinds[i].system_error);
        } else {
            /* The request goes on. */
            CU_ASSERT_TRUE(exchange_turn_until(&exchange, &client->responses, 1));
        }
        CU_ASSERT_TRUE(exchange_free(&exchange));
    }
}

static void an_error_that_quotes_nothing_is_told_by_its_destination(void)
{
    struct exchange exchange;

    send_one(&exchange);
    struct fake_error error = {
        .origin = SO_EE_ORIGIN_ICMP,
        .type = ICMP_DEST_UNREACH,
        .code = ICMP_PORT_UNREACH,
        .system_error = ECONNREFUSED,
        .destination = exchange.server.addr,
    };
    CU_ASSERT_EQUAL(read_errors(&exchange, &error, 1), 1);
    CU_ASSERT_EQUAL(exchange.client.failures_by_error[-VD_ERR_REFUSED], 1);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* The call that sent the message has returned these. */
static void what_the_kernel_itself_finds_wrong_is_not_told_twice(void)
{
    static const uint8_t origins[] = {SO_EE_ORIGIN_NONE, SO_EE_ORIGIN_LOCAL,
                                      SO_EE_ORIGIN_TIMESTAMPING, SO_EE_ORIGIN_ZEROCOPY};

    for (size_t i = 0; i < sizeof origins; i++) {
        struct exchange exchange;

        send_one(&exchange);
        struct fake_error error = {
            .origin = origins[i],
            .type = ICMP_DEST_UNREACH,
            .code = ICMP_PORT_UNREACH,
            .system_error = EMSGSIZE,
            .destination = exchange.server.addr,
            .quoted = vd_str(fake_udp.sent, fake_udp.sent_size),
        };
        CU_ASSERT_EQUAL(read_errors(&exchange, &error, 1), 0);
        CU_ASSERT_EQUAL(side_counters(&exchange.client).icmp_errors, 0);
        CU_ASSERT_EQUAL(exchange.client.failures, 0);
        CU_ASSERT_TRUE(exchange_free(&exchange));
    }
}

static void a_bounded_number_of_errors_is_read_at_a_time(void)
{
    enum { COUNT = 100 };
    struct exchange exchange;
    struct fake_error errors[COUNT];

    send_one(&exchange);
    for (size_t i = 0; i < COUNT; i++) {
        errors[i] = (struct fake_error){
            .origin = SO_EE_ORIGIN_ICMP,
            .type = ICMP_TIME_EXCEEDED,
            .system_error = EHOSTUNREACH,
            .destination = exchange.server.addr,
        };
    }
    CU_ASSERT_EQUAL(read_errors(&exchange, errors, COUNT), 64);
    CU_ASSERT_EQUAL(fake_udp.error_count, COUNT - 64);
    CU_ASSERT_EQUAL(vd__udp_read_errors(fake_udp_socket(&exchange.client)), COUNT - 64);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).icmp_errors, COUNT);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* The result of a call that sends is taken for a pending error as long as the queue holds some,
 * even one that a message may have of its own. */
static int remaining;

static int refuse_while_errors_remain(const struct vd_addr *to)
{
    static struct fake_error error = {.origin = SO_EE_ORIGIN_ICMP, .type = ICMP_TIME_EXCEEDED};

    if (remaining == 0) {
        return 0;
    }
    remaining--;
    error.destination = *to;
    fake_udp.errors = &error;
    fake_udp.error_count = 1;
    return EHOSTUNREACH;
}

static void pending_errors_that_keep_coming_are_no_fault_of_the_next_message(void)
{
    struct exchange exchange;

    setup(&exchange);
    fake_udp_install(&exchange.client);
    fake_udp.refuse = refuse_while_errors_remain;
    remaining = 5;
    CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, 1), 0);
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, 1));
    CU_ASSERT_EQUAL(remaining, 0);
    CU_ASSERT_EQUAL(exchange.client.failures, 0);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).icmp_errors, 5);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static struct vd_addr failed_server;
static struct vd_addr next_server;
static bool failing;

static int refuse_once_for_another(const struct vd_addr *to)
{
    static struct fake_error error = {
        .origin = SO_EE_ORIGIN_ICMP,
        .type = ICMP_DEST_UNREACH,
        .code = ICMP_PORT_UNREACH,
        .system_error = ECONNREFUSED,
    };

    if (!failing || !vd_addr_equal(to, &next_server)) {
        return 0;
    }
    failing = false;
    error.destination = failed_server;
    fake_udp.errors = &error;
    fake_udp.error_count = 1;
    return ECONNREFUSED;
}

static void send_to_both(struct side *side)
{
    if (side->turns == 1) {
        CU_ASSERT_EQUAL(side_request(side, &next_server, 2), 0);
        CU_ASSERT_EQUAL(side_request(side, &failed_server, 1), 0);
        return;
    }
    CU_ASSERT_EQUAL(side->failures, 1);
    vd_loop_stop(side->loop);
}

/* Nothing else would end the wait of the second turn. */
static void an_error_found_while_sending_makes_another_turn_at_once(void)
{
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();

    setup(&exchange);
    struct side *client = &exchange.client;
    failed_server = closed_port(&bind);
    next_server = exchange.server.addr;
    fake_udp_install(client);
    fake_udp.swallow = true;
    fake_udp.refuse = refuse_once_for_another;
    failing = true;
    client->on_turn = send_to_both;
    CU_ASSERT_EQUAL(vd_loop_run(client->loop), 0);
    CU_ASSERT_EQUAL(client->failures_by_error[-VD_ERR_REFUSED], 1);
    CU_ASSERT_EQUAL(side_counters(client).sent_datagrams, 2);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a request to a closed port is refused", a_request_to_a_closed_port_is_refused},
        {"refused requests do no harm to others of the same socket",
         refused_requests_do_no_harm_to_others_of_the_same_socket},
        {"an error that was read wakes the loop no more",
         an_error_that_was_read_wakes_the_loop_no_more},
        {"what the kernel finds wrong with a message wakes the loop once",
         what_the_kernel_finds_wrong_with_a_message_wakes_the_loop_once},
        {"each kind of error fails a transaction or is ignored",
         each_kind_of_error_fails_a_transaction_or_is_ignored},
        {"an error that quotes nothing is told by its destination",
         an_error_that_quotes_nothing_is_told_by_its_destination},
        {"what the kernel itself finds wrong is not told twice",
         what_the_kernel_itself_finds_wrong_is_not_told_twice},
        {"a bounded number of errors is read at a time",
         a_bounded_number_of_errors_is_read_at_a_time},
        {"pending errors that keep coming are no fault of the next message",
         pending_errors_that_keep_coming_are_no_fault_of_the_next_message},
        {"an error found while sending makes another turn at once",
         an_error_found_while_sending_makes_another_turn_at_once},
        CU_TEST_INFO_NULL,
    };
    return run_over_selectors("udp_error", tests);
}
