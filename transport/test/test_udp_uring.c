/* test_udp_uring.c - what io_uring does in another way than the other selectors.
 *
 * Covered: datagrams of the greatest length; a shortage of buffers; a pending error in front of
 * datagrams; that a flooded socket leaves their turn to others; one message a socket, all sent
 * together, in order with those that follow and failing alone; a loop that is made in one thread
 * and runs in another; that a freed loop leaves its ports free. Not covered: an overflow of the
 * completion queue, kernels other than the one that runs it.
 *
 * Everything else of UDP is tested over all selectors by test_udp.c, test_udp_send.c,
 * test_udp_error.c and test_udp_ip6.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exchange.h"
#include "fake_udp.h"
#include "over_selectors.h"
#include "run_suite.h"
#include "sockaddr.h"
#include "udp_internal.h"

enum { SKIPPED = 77 };

static void setup(struct exchange *exchange)
{
    struct vd_addr bind = loopback_ip4();

    CU_ASSERT_FATAL(exchange_init(exchange, &bind, NULL));
}

/* A socket of the test's own. */
static int open_stranger(void)
{
    struct vd_addr bind_to = loopback_ip4();
    union vd__sockaddr sockaddr;
    socklen_t length = vd__sockaddr_from_addr(&sockaddr, &bind_to);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    CU_ASSERT_EQUAL_FATAL(bind(fd, &sockaddr.any, length), 0);
    return fd;
}

static void send_bytes(int fd, const struct vd_addr *to, const void *bytes, size_t size)
{
    union vd__sockaddr sockaddr;
    socklen_t length = vd__sockaddr_from_addr(&sockaddr, to);

    CU_ASSERT_EQUAL(sendto(fd, bytes, size, 0, &sockaddr.any, length), (ssize_t)size);
}

/* Turns the server until it has received count datagrams. */
static bool receives(struct side *side, uint64_t count)
{
    for (int i = 0; i < TURNS_MAX && side_counters(side).received_datagrams < count; i++) {
        if (vd_loop_run_once(side->loop, VD_SEC) != 0) {
            return false;
        }
    }
    return side_counters(side).received_datagrams == count;
}

/* ---- Receiving ---- */

static void a_datagram_of_the_greatest_length_is_received_whole(void)
{
    static const size_t sizes[] = {0, 1, 1472, 4096, 65506, 65507};
    static char bytes[65507];
    struct exchange exchange;
    uint64_t total = 0;
    int stranger = open_stranger();

    setup(&exchange);
    memset(bytes, 'x', sizeof bytes);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        send_bytes(stranger, &exchange.server.addr, bytes, sizes[i]);
        total += sizes[i];
        CU_ASSERT_TRUE(receives(&exchange.server, i + 1));
        CU_ASSERT_EQUAL(side_counters(&exchange.server).received_bytes, total);
    }
    CU_ASSERT_EQUAL(side_counters(&exchange.server).truncated, 0);
    close(stranger);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* There are fewer buffers than datagrams, at first far fewer; sockets whose request ended for want
 * of one get their datagrams later. */
static void a_shortage_of_buffers_loses_nothing(void)
{
    enum { SOCKETS = 40, EACH = 60 };
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();
    struct vd_addr to[SOCKETS];
    int stranger = open_stranger();

    setup(&exchange);
    struct side *server = &exchange.server;
    for (size_t i = 0; i < SOCKETS; i++) {
        uint32_t endpoint;
        CU_ASSERT_EQUAL_FATAL(vd_udp_open(server->loop, server->stack, &bind, NULL, &endpoint), 0);
        CU_ASSERT_EQUAL(vd_udp_local_addr(server->loop, server->stack, endpoint, &to[i]), 0);
    }
    CU_ASSERT_EQUAL(vd_loop_run_once(server->loop, 0), 0);
    for (uint64_t flood = 1; flood <= 3; flood++) {
        for (size_t i = 0; i < (size_t)SOCKETS * EACH; i++) {
            send_bytes(stranger, &to[i % SOCKETS], "\r\n\r\n", 4);
        }
        CU_ASSERT_TRUE(receives(server, flood * SOCKETS * EACH));
    }
    CU_ASSERT_EQUAL(side_counters(server).kernel_dropped, 0);
    close(stranger);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void a_flooded_socket_leaves_their_turn_to_others(void)
{
    enum { FLOOD = 400 };
    struct exchange exchange;
    int stranger = open_stranger();

    setup(&exchange);
    struct side *server = &exchange.server;
    CU_ASSERT_EQUAL(vd_loop_run_once(server->loop, 0), 0);
    for (int i = 0; i < FLOOD; i++) {
        send_bytes(stranger, &server->addr, "\r\n\r\n", 4);
    }
    unsigned turns = server->turns;
    CU_ASSERT_TRUE(receives(server, FLOOD));
    /* A turn receives no more than there are buffers. */
    CU_ASSERT(server->turns - turns >= 2);
    close(stranger);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* The error ends the request of a socket that has datagrams waiting. */
static void a_pending_error_keeps_no_datagram_waiting(void)
{
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();

    setup(&exchange);
    struct side *client = &exchange.client;
    struct vd_addr closed = closed_port(&bind);
    int stranger = open_stranger();
    CU_ASSERT_EQUAL(vd_loop_run_once(client->loop, 0), 0);
    for (uint32_t i = 0; i < 5; i++) {
        send_bytes(stranger, &client->addr, "\r\n\r\n", 4);
        CU_ASSERT_EQUAL(side_request(client, &closed, i), 0);
        CU_ASSERT_EQUAL(vd_loop_run_once(client->loop, 0), 0);
        send_bytes(stranger, &client->addr, "\r\n\r\n", 4);
    }
    CU_ASSERT_TRUE(side_turn_until(client, &client->failures, 5));
    CU_ASSERT_TRUE(receives(client, 10));
    CU_ASSERT_EQUAL(client->failures_by_error[-VD_ERR_REFUSED], 5);
    close(stranger);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* ---- Sending ---- */

enum { SOCKETS = 8 };

static void open_more(struct side *side, uint32_t endpoints[SOCKETS])
{
    struct vd_addr bind = loopback_ip4();

    for (size_t i = 0; i < SOCKETS; i++) {
        CU_ASSERT_EQUAL_FATAL(vd_udp_open(side->loop, side->stack, &bind, NULL, &endpoints[i]), 0);
    }
}

static void what_many_sockets_send_leaves_by_one_call(void)
{
    struct exchange exchange;
    uint32_t endpoints[SOCKETS];

    setup(&exchange);
    struct side *client = &exchange.client;
    open_more(client, endpoints);
    for (uint32_t i = 0; i < SOCKETS; i++) {
        CU_ASSERT_EQUAL(side_request_from(client, endpoints[i], &exchange.server.addr, i), 0);
    }
    CU_ASSERT_EQUAL(vd_loop_run_once(client->loop, 0), 0);
    CU_ASSERT_EQUAL(side_counters(client).sent_datagrams, SOCKETS);
    CU_ASSERT_EQUAL(side_counters(client).send_calls, 1);
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &client->responses, SOCKETS));
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* More messages than the submission queue holds, and sockets that have one, then more. */
static void messages_of_a_socket_keep_their_order(void)
{
    enum { ROUNDS = 100 };
    struct exchange exchange;
    uint32_t endpoints[SOCKETS];
    uint32_t next[SOCKETS] = {0};
    uint32_t cseq = 0;

    setup(&exchange);
    struct side *client = &exchange.client;
    open_more(client, endpoints);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < SOCKETS; i++) {
            CU_ASSERT_EQUAL(side_request_from(client, endpoints[i], &exchange.server.addr, cseq++),
                            0);
        }
        if (round % 3 == 0) {
            CU_ASSERT_EQUAL(vd_loop_run_once(client->loop, 0), 0);
        }
    }
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &client->responses, SOCKETS * ROUNDS));
    for (size_t i = 0; i < (size_t)SOCKETS * ROUNDS; i++) {
        uint32_t number = exchange.server.cseq[i];
        CU_ASSERT_EQUAL(number / SOCKETS, next[number % SOCKETS]);
        next[number % SOCKETS]++;
    }
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* The real kernel refuses: no port, another family, too long for any datagram. */
static void a_refused_message_fails_alone(void)
{
    struct exchange exchange;
    uint32_t endpoints[SOCKETS];
    struct vd_addr no_port = loopback_ip4();
    struct vd_addr other_family = loopback_ip6();

    setup(&exchange);
    struct side *client = &exchange.client;
    open_more(client, endpoints);
    other_family.port = 5060;
    for (uint32_t i = 0; i < SOCKETS; i++) {
        const struct vd_addr *to = i == 2   ? &no_port
                                   : i == 5 ? &other_family
                                            : &exchange.server.addr;
        CU_ASSERT_EQUAL(side_request_from(client, endpoints[i], to, i), 0);
    }
    CU_ASSERT_EQUAL(vd_loop_run_once(client->loop, 0), 0);
    CU_ASSERT_EQUAL(client->failures, 2);
    CU_ASSERT_EQUAL(client->failures_by_error[-VD_ERR_TRANSPORT], 2);
    CU_ASSERT_EQUAL(side_counters(client).send_failed, 2);
    CU_ASSERT_EQUAL(side_counters(client).sent_datagrams, SOCKETS - 2);
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &client->responses, SOCKETS - 2));
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void send_one(struct side *side)
{
    if (side->turns == 1) {
        CU_ASSERT_EQUAL(side_request(side, &side->addr, 1), 0);
    }
    vd_loop_stop(side->loop);
}

static void a_loop_that_is_stopped_leaves_nothing_unsent(void)
{
    struct exchange exchange;

    setup(&exchange);
    exchange.client.on_turn = send_one;
    CU_ASSERT_EQUAL(vd_loop_run(exchange.client.loop), 0);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).sent_datagrams, 1);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* ---- Threads and ends ---- */

static void *run_server(void *loop)
{
    return vd_loop_run(loop) == 0 ? loop : NULL;
}

static void a_loop_may_run_in_another_thread_than_that_which_made_it(void)
{
    struct exchange exchange;
    pthread_t thread;
    void *result = NULL;

    setup(&exchange);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, run_server, exchange.server.loop), 0);
    CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, 1), 0);
    CU_ASSERT_TRUE(side_turn_until(&exchange.client, &exchange.client.responses, 1));
    vd_loop_stop(exchange.server.loop);
    pthread_join(thread, &result);
    CU_ASSERT_PTR_NOT_NULL(result);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void a_freed_loop_leaves_its_ports_free(void)
{
    struct vd_addr port = loopback_ip4();

    for (int i = 0; i < 20; i++) {
        struct exchange exchange;
        uint32_t endpoint;
        setup(&exchange);
        CU_ASSERT_EQUAL(vd_loop_run_once(exchange.client.loop, 0), 0);
        if (i > 0) {
            CU_ASSERT_EQUAL(
                vd_udp_open(exchange.server.loop, exchange.server.stack, &port, NULL, &endpoint),
                0);
        }
        port = exchange.client.addr;
        CU_ASSERT_TRUE(exchange_free(&exchange));
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a datagram of the greatest length is received whole",
         a_datagram_of_the_greatest_length_is_received_whole},
        {"a shortage of buffers loses nothing", a_shortage_of_buffers_loses_nothing},
        {"a flooded socket leaves their turn to others",
         a_flooded_socket_leaves_their_turn_to_others},
        {"a pending error keeps no datagram waiting", a_pending_error_keeps_no_datagram_waiting},
        {"what many sockets send leaves by one call", what_many_sockets_send_leaves_by_one_call},
        {"messages of a socket keep their order", messages_of_a_socket_keep_their_order},
        {"a refused message fails alone", a_refused_message_fails_alone},
        {"a loop that is stopped leaves nothing unsent",
         a_loop_that_is_stopped_leaves_nothing_unsent},
        {"a loop may run in another thread than that which made it",
         a_loop_may_run_in_another_thread_than_that_which_made_it},
        {"a freed loop leaves its ports free", a_freed_loop_leaves_its_ports_free},
        CU_TEST_INFO_NULL,
    };
    if (!has_uring()) {
        puts("skipped: the system has or allows no io_uring");
        return SKIPPED;
    }
    tested_selector = VD_SELECTOR_IO_URING;
    return run_suite("udp_uring", tests);
}
