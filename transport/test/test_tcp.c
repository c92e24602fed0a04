/* test_tcp.c - which connection a message takes, and what becomes of it when there is none.
 *
 * Covered: opening endpoints, requests and responses between two stacks, reuse of connections in
 * both directions, the way back of a response (RFC 3261 18.2.2), connections that are refused,
 * reset, closed and replaced, queueing while a connection is made, IPv6, endpoints that do not
 * listen. Not covered: how streams are cut into messages (test_tcp_stream.c), limits
 * (test_tcp_limits.c), memory (test_tcp_memory.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <viaduct/udp.h>

#include "connection.h"
#include "over_selectors.h"
#include "tcp_side.h"
#include "system_error.h"

static char text[RAW_REQUEST_SIZE];

/* ---- Opening ---- */

static void an_endpoint_tells_the_address_that_the_kernel_chose(void)
{
    struct tcp_side side;
    struct vd_addr addr;

    CU_ASSERT_FATAL(tcp_side_listen(&side));
    CU_ASSERT_NOT_EQUAL(side.addr.port, 0);
    CU_ASSERT_TRUE(vd_addr_same_ip(
        &side.addr, &(struct vd_addr){.family = VD_FAMILY_IP4, .ip = {127, 0, 0, 1}}));
    CU_ASSERT_EQUAL(vd_tcp_local_addr(side.loop, side.stack, side.endpoint + 1, &addr),
                    VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_tcp_local_addr(side.loop, NULL, side.endpoint, &addr), VD_ERR_INVALID);
    CU_ASSERT_TRUE(tcp_side_free(&side));
}

static void what_cannot_be_opened_leaves_nothing_open(void)
{
    struct tcp_side side;
    struct vd_tcp_options options;
    struct vd_addr bind = raw_loopback();
    uint32_t endpoint;

    CU_ASSERT_FATAL(tcp_side_listen(&side));
    CU_ASSERT_EQUAL(vd_tcp_open(side.loop, side.stack, &side.addr, NULL, &endpoint), VD_ERR_IN_USE);
    struct vd_addr none = {.family = VD_FAMILY_NONE};
    CU_ASSERT_EQUAL(vd_tcp_open(side.loop, side.stack, &none, NULL, &endpoint), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_tcp_open(side.loop, NULL, &bind, NULL, &endpoint), VD_ERR_INVALID);
    struct vd_addr wildcard = {.family = VD_FAMILY_IP4};
    CU_ASSERT_EQUAL(vd_tcp_open(side.loop, side.stack, &wildcard, NULL, &endpoint), VD_ERR_INVALID);
    struct vd_addr foreign = {.family = VD_FAMILY_IP4, .ip = {192, 0, 2, 1}};
    CU_ASSERT_EQUAL(vd_tcp_open(side.loop, side.stack, &foreign, NULL, &endpoint), VD_ERR_SYSTEM);
    vd_tcp_options_init(&options);
    options.sent_by = VD_STR("not a host");
    CU_ASSERT_EQUAL(vd_tcp_open(side.loop, side.stack, &bind, &options, &endpoint), VD_ERR_INVALID);
    vd_tcp_options_init(&options);
    options.backlog = UINT32_MAX;
    CU_ASSERT_EQUAL(vd_tcp_open(side.loop, side.stack, &bind, &options, &endpoint), VD_ERR_INVALID);
    CU_ASSERT_TRUE(tcp_side_free(&side));
}

static void limits_are_checked_and_fixed_once_there_is_an_endpoint(void)
{
    struct tcp_side side;
    struct vd_tcp_limits limits;
    struct vd_tcp_limits got;
    uint32_t endpoint;
    struct vd_addr bind = raw_loopback();

    CU_ASSERT_FATAL(tcp_side_init(&side));
    vd_tcp_limits_init(&limits);
    limits.connections = 0;
    CU_ASSERT_EQUAL(vd_tcp_set_limits(side.loop, &limits), VD_ERR_INVALID);
    vd_tcp_limits_init(&limits);
    limits.idle_time = 0;
    CU_ASSERT_EQUAL(vd_tcp_set_limits(side.loop, &limits), VD_ERR_INVALID);
    limits.idle_time = 25 * 3600 * VD_SEC;
    CU_ASSERT_EQUAL(vd_tcp_set_limits(side.loop, &limits), VD_ERR_INVALID);
    vd_tcp_limits_init(&limits);
    limits.connections = 7;
    CU_ASSERT_EQUAL(vd_tcp_set_limits(side.loop, &limits), 0);
    vd_tcp_get_limits(side.loop, &got);
    CU_ASSERT_EQUAL(got.connections, 7);
    CU_ASSERT_EQUAL_FATAL(vd_tcp_open(side.loop, side.stack, &bind, NULL, &endpoint), 0);
    CU_ASSERT_EQUAL(vd_tcp_set_limits(side.loop, &limits), VD_ERR_STATE);
    CU_ASSERT_TRUE(tcp_side_free(&side));
}

/* ---- Requests and responses ---- */

static void requests_and_responses_share_one_connection(void)
{
    struct tcp_side client;
    struct tcp_side server;

    CU_ASSERT_FATAL(tcp_side_listen(&client) && tcp_side_listen(&server));
    for (uint32_t i = 1; i <= 300; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &server.addr, i, 0), 0);
    }
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.responses, 300));
    CU_ASSERT_EQUAL(server.requests, 300);
    CU_ASSERT_EQUAL(server.cseqs_in_order, 300);
    CU_ASSERT_EQUAL(client.last_status, 200);

    struct vd_tcp_counters ours = tcp_side_counters(&client);
    struct vd_tcp_counters theirs = tcp_side_counters(&server);
    CU_ASSERT_EQUAL(ours.connected, 1);
    CU_ASSERT_EQUAL(ours.connections, 1);
    CU_ASSERT_EQUAL(theirs.accepted, 1);
    CU_ASSERT_EQUAL(theirs.connections, 1);
    CU_ASSERT_EQUAL(ours.sent_messages, 300);
    CU_ASSERT_EQUAL(ours.received_messages, 300);
    CU_ASSERT_EQUAL(ours.sent_bytes, theirs.received_bytes);
    CU_ASSERT_EQUAL(ours.waiting, 0);
    /* Written together, 256 messages at a time. */
    CU_ASSERT(ours.send_calls <= 3);
    CU_ASSERT_EQUAL(tcp_side_stack_counters(&client).live_client_transactions, 0);
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

/* RFC 3261 18: connections are reused in both directions. The client connects from a port other
 * than that of its listener, so the server asks it at the address that it saw. */
static void a_request_takes_the_connection_that_the_peer_opened(void)
{
    struct tcp_side client;
    struct tcp_side server;

    CU_ASSERT_FATAL(tcp_side_listen(&client) && tcp_side_listen(&server));
    CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &server.addr, 1, 0), 0);
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.responses, 1));
    CU_ASSERT_EQUAL(tcp_side_request(&server, "OPTIONS", &server.last_flow.remote, 2, 0), 0);
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &server.responses, 1));
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connected, 0);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).accepted, 0);
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

/* 1000 calls, each refused: INVITE, 486, ACK. Timers D and I are zero on a reliable transport. */
static void refused_calls_leave_no_transaction_at_once(void)
{
    struct tcp_side client;
    struct tcp_side server;

    CU_ASSERT_FATAL(tcp_side_listen(&client) && tcp_side_listen(&server));
    server.answer = 486;
    for (uint32_t i = 1; i <= 1000; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&client, "INVITE", &server.addr, i, 0), 0);
    }
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &server.terminated, 1000));
    CU_ASSERT_EQUAL(client.responses, 1000);
    CU_ASSERT_EQUAL(client.last_status, 486);
    CU_ASSERT_EQUAL(client.terminated, 1000);
    CU_ASSERT_EQUAL(tcp_side_stack_counters(&client).live_client_transactions, 0);
    CU_ASSERT_EQUAL(tcp_side_stack_counters(&server).live_server_transactions, 0);
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void a_sixty_kilobyte_body_passes_both_ways_in_any_mix(void)
{
    struct tcp_side client;
    struct tcp_side server;

    CU_ASSERT_FATAL(tcp_side_listen(&client) && tcp_side_listen(&server));
    for (uint32_t i = 1; i <= 40; i++) {
        size_t body = i % 3 == 0 ? 60000 : i * 100;
        CU_ASSERT_EQUAL(tcp_side_request(&client, "MESSAGE", &server.addr, i, body), 0);
    }
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.responses, 40));
    CU_ASSERT_EQUAL(server.cseqs_in_order, 40);
    CU_ASSERT_EQUAL(server.last_size, 4000);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connected, 1);
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void requests_and_responses_pass_over_ip6(void)
{
    struct tcp_side client;
    struct tcp_side server;
    struct vd_addr bind = {.family = VD_FAMILY_IP6, .ip = {[15] = 1}};
    bool opened =
        tcp_side_open(&client, &bind, NULL, NULL) && tcp_side_open(&server, &bind, NULL, NULL);

    if (!opened) {
        CU_PASS("no IPv6 here");
        return;
    }
    CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &server.addr, 1, 0), 0);
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.responses, 1));
    /* An endpoint has one family. */
    struct vd_addr ip4 = raw_loopback();
    CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &ip4, 2, 0), 0);
    CU_ASSERT_TRUE(tcp_side_until(&client, &client.failures, 1));
    CU_ASSERT_EQUAL(client.last_error, VD_ERR_TRANSPORT);
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void an_endpoint_that_does_not_listen_makes_connections(void)
{
    struct tcp_side client;
    struct tcp_side server;
    struct vd_tcp_options options;
    struct vd_addr bind = raw_loopback();

    vd_tcp_options_init(&options);
    options.listen = false;
    CU_ASSERT_FATAL(tcp_side_open(&client, &bind, NULL, &options) && tcp_side_listen(&server));
    CU_ASSERT_EQUAL(client.addr.port, 0);
    CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &server.addr, 1, 0), 0);
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.responses, 1));

    struct raw_peer peer;
    struct vd_addr addr;
    int listener = raw_listen(&addr);
    CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &addr, 2, 0), 0);
    CU_ASSERT_FATAL(raw_accept(&peer, listener, &client));
    CU_ASSERT_TRUE(raw_until(&peer, &client, "Via: SIP/2.0/TCP 127.0.0.1;branch", 1));
    raw_close(&peer);
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void small_messages_are_not_held_back(void)
{
    struct tcp_side client;
    struct tcp_side server;
    int on = 0;
    socklen_t size = sizeof on;

    CU_ASSERT_FATAL(tcp_side_listen(&client) && tcp_side_listen(&server));
    CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &server.addr, 1, 0), 0);
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.responses, 1));
    struct tcp_side *sides[] = {&client, &server};
    for (int i = 0; i < 2; i++) {
        const struct vd__connection *connection =
            vd__connection_table_find(&sides[i]->loop->streams->table, 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(connection);
        CU_ASSERT_EQUAL(getsockopt(connection->source.fd, IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
        CU_ASSERT_NOT_EQUAL(on, 0);
    }
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

/* A stack with both kinds of endpoints, whose numbers mix. */
static void endpoints_of_both_transports_serve_one_stack(void)
{
    enum { COUNT = 40 };
    struct tcp_side client;
    struct tcp_side server;
    struct vd_addr bind = raw_loopback();
    struct vd_addr udp_addr;
    uint32_t numbers[COUNT];
    uint32_t udp_server;

    CU_ASSERT_FATAL(tcp_side_init(&client) && tcp_side_listen(&server));
    CU_ASSERT_EQUAL_FATAL(vd_udp_open(server.loop, server.stack, &bind, NULL, &udp_server), 0);
    CU_ASSERT_EQUAL(vd_udp_local_addr(server.loop, server.stack, udp_server, &udp_addr), 0);
    for (unsigned i = 0; i < COUNT; i++) {
        int error = i % 3 == 0 ? vd_udp_open(client.loop, client.stack, &bind, NULL, &numbers[i])
                               : vd_tcp_open(client.loop, client.stack, &bind, NULL, &numbers[i]);
        CU_ASSERT_EQUAL_FATAL(error, 0);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        struct vd_addr none;
        client.endpoint = numbers[i];
        CU_ASSERT_EQUAL(
            tcp_side_request(&client, "OPTIONS", i % 3 == 0 ? &udp_addr : &server.addr, i + 1, 0),
            0);
        CU_ASSERT_EQUAL(vd_tcp_local_addr(client.loop, client.stack, numbers[i], &none),
                        i % 3 == 0 ? VD_ERR_INVALID : 0);
    }
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.responses, COUNT));
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connected, COUNT - (COUNT + 2) / 3);
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void an_endpoint_on_the_wildcard_address_needs_a_name_only(void)
{
    struct tcp_side client;
    struct tcp_side server;
    struct vd_tcp_options options;
    struct vd_addr bind = {.family = VD_FAMILY_IP4};

    vd_tcp_options_init(&options);
    options.sent_by = VD_STR("client.example.com");
    options.receive_buffer = 65536;
    CU_ASSERT_FATAL(tcp_side_open(&client, &bind, NULL, &options) && tcp_side_listen(&server));
    CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &server.addr, 1, 0), 0);
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.responses, 1));
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

/* ---- The way back of a response ---- */

/* RFC 3261 18.2.2: as long as the connection is open the response takes it, whatever sent-by says.
 */
static void a_response_takes_the_connection_of_its_request(void)
{
    struct tcp_side server;
    struct raw_peer peer;
    struct vd_addr addr;
    char sent_by[VD_ADDR_TEXT_SIZE];
    int listener = raw_listen(&addr);

    CU_ASSERT_FATAL(tcp_side_listen(&server));
    vd_addr_format(&addr, sent_by);
    CU_ASSERT_FATAL(raw_connect(&peer, &server.addr));
    server.answer = 0;
    size_t size = raw_request(text, "OPTIONS", sent_by, 1, 0);
    CU_ASSERT_TRUE(raw_write(&peer, &server, text, size));
    CU_ASSERT_TRUE(tcp_side_until(&server, &server.requests, 1));
    tcp_side_answer(&server, 200);
    CU_ASSERT_TRUE(raw_until(&peer, &server, "SIP/2.0 200 OK\r\n", 1));
    CU_ASSERT_FALSE(raw_has_connection(listener));
    raw_close(&peer);
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void answer_after_the_end(void (*end)(struct raw_peer *peer))
{
    struct tcp_side server;
    struct raw_peer peer;
    struct raw_peer called;
    struct vd_addr addr;
    char sent_by[VD_ADDR_TEXT_SIZE];
    int listener = raw_listen(&addr);

    CU_ASSERT_FATAL(tcp_side_listen(&server));
    vd_addr_format(&addr, sent_by);
    CU_ASSERT_FATAL(raw_connect(&peer, &server.addr));
    server.answer = 0;
    size_t size = raw_request(text, "OPTIONS", sent_by, 1, 0);
    CU_ASSERT_TRUE(raw_write(&peer, &server, text, size));
    CU_ASSERT_TRUE(tcp_side_until(&server, &server.requests, 1));
    end(&peer);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, 0));
    tcp_side_answer(&server, 200);
    CU_ASSERT_FATAL(raw_accept(&called, listener, &server));
    CU_ASSERT_TRUE(raw_until(&called, &server, "SIP/2.0 200 OK\r\n", 1));
    CU_ASSERT_EQUAL(server.failures, 0);
    raw_close(&called);
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void when_that_is_closed_the_response_goes_to_received_and_sent_by(void)
{
    answer_after_the_end(raw_close);
}

static void when_that_is_reset_the_response_goes_to_received_and_sent_by(void)
{
    answer_after_the_end(raw_reset);
}

/* The peer never reads, so the response waits in the queue of the connection when that breaks. */
static void a_response_that_waits_when_its_connection_breaks_takes_another(void)
{
    struct tcp_side server;
    struct raw_peer peer;
    struct raw_peer called;
    struct vd_addr addr;
    struct vd_tcp_options options;
    struct vd_addr bind = raw_loopback();
    char sent_by[VD_ADDR_TEXT_SIZE];
    int listener = raw_listen(&addr);
    unsigned sent = 0;

    vd_tcp_options_init(&options);
    options.send_buffer = 4096;
    CU_ASSERT_FATAL(tcp_side_open(&server, &bind, NULL, &options));
    vd_addr_format(&addr, sent_by);
    CU_ASSERT_FATAL(raw_connect_with_buffer(&peer, &server.addr, 4096));
    while (tcp_side_counters(&server).waiting < 300 && sent < 100000) {
        size_t size = raw_request(text, "OPTIONS", sent_by, ++sent, 0);
        CU_ASSERT_TRUE_FATAL(raw_write(&peer, &server, text, size));
        tcp_side_turn(&server);
    }
    CU_ASSERT_TRUE(tcp_side_until(&server, &server.requests, sent));
    unsigned waiting = tcp_side_counters(&server).waiting;
    CU_ASSERT_TRUE(waiting > 0);
    raw_reset(&peer);
    CU_ASSERT_FATAL(raw_accept(&called, listener, &server));
    CU_ASSERT_TRUE(raw_until(&called, &server, "SIP/2.0 200 OK\r\n", waiting));
    CU_ASSERT_EQUAL(server.failures, 0);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connected, 1);
    raw_close(&called);
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

/* ---- Failures ---- */

static struct vd_addr closed_port(void)
{
    struct vd_addr addr;

    close(raw_listen(&addr));
    return addr;
}

static void a_refused_connection_is_told_to_each_waiting_transaction_at_once(void)
{
    struct tcp_side client;
    struct vd_addr nobody = closed_port();

    CU_ASSERT_FATAL(tcp_side_listen(&client));
    for (uint32_t i = 1; i <= 20; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &nobody, i, 0), 0);
    }
    /* The clock stands still: no timer has part in this. */
    CU_ASSERT_TRUE(tcp_side_until(&client, &client.failures, 20));
    CU_ASSERT_EQUAL(client.failures_by_error[-VD_ERR_REFUSED], 20);
    CU_ASSERT_EQUAL(client.terminated, 20);
    CU_ASSERT_EQUAL(tcp_side_stack_counters(&client).live_client_transactions, 0);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connect_failed, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connections, 0);
    CU_ASSERT_TRUE(tcp_side_free(&client));
}

static void what_the_system_says_tells_a_transaction_why(void)
{
    static const int cases[][2] = {
        {ECONNREFUSED, VD_ERR_REFUSED},     {ENETUNREACH, VD_ERR_UNREACHABLE},
        {EHOSTUNREACH, VD_ERR_UNREACHABLE}, {ENETDOWN, VD_ERR_UNREACHABLE},
        {EHOSTDOWN, VD_ERR_UNREACHABLE},    {ETIMEDOUT, VD_ERR_TRANSPORT},
        {ECONNRESET, VD_ERR_TRANSPORT},     {EADDRNOTAVAIL, VD_ERR_TRANSPORT},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CU_ASSERT_EQUAL(vd__error_of_send(cases[i][0]), cases[i][1]);
    }
}

/* RFC 3261 17.1.4, 18.4: report, then free once. An IPv6 address without a route, or one that the
 * socket cannot reach, fails inside of connect. */
static void failures_inside_connect_leave_nothing(void)
{
    struct tcp_side client;
    /* From 127.0.0.1 there is no way to an address of another host. */
    struct vd_addr elsewhere = {.family = VD_FAMILY_IP4, .port = 5060, .ip = {198, 51, 100, 1}};
    size_t before = 0;

    CU_ASSERT_FATAL(tcp_side_listen(&client));
    for (uint32_t i = 1; i <= 5000; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &elsewhere, i, 0), 0);
        if (i % 100 == 0) {
            CU_ASSERT_TRUE(tcp_side_until(&client, &client.failures, i));
            before = before == 0 ? client.loop_mem.live_bytes : before;
        }
    }
    CU_ASSERT_EQUAL(client.terminated, 5000);
    CU_ASSERT_EQUAL(tcp_side_stack_counters(&client).live_client_transactions, 0);
    CU_ASSERT_EQUAL(client.loop_mem.live_bytes, before);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connections, 0);
    CU_ASSERT_TRUE(tcp_side_free(&client));
}

/* RFC 3261 17.1.4. */
static void a_reset_fails_the_transactions_whose_requests_left_on_the_connection(void)
{
    struct tcp_side client;
    struct raw_peer peer;
    struct vd_addr addr;
    int listener = raw_listen(&addr);

    CU_ASSERT_FATAL(tcp_side_listen(&client));
    for (uint32_t i = 1; i <= 5; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &addr, i, 0), 0);
    }
    CU_ASSERT_FATAL(raw_accept(&peer, listener, &client));
    CU_ASSERT_TRUE(raw_until(&peer, &client, "OPTIONS sip:", 5));
    raw_reset(&peer);
    CU_ASSERT_TRUE(tcp_side_until(&client, &client.failures, 5));
    CU_ASSERT_EQUAL(client.failures_by_error[-VD_ERR_TRANSPORT], 5);
    CU_ASSERT_EQUAL(tcp_side_stack_counters(&client).live_client_transactions, 0);
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&client));
}

/* A server that closes its half can answer nothing that it has not answered yet. */
static void an_end_of_stream_fails_the_transactions_that_wait_on_it(void)
{
    struct tcp_side client;
    struct raw_peer peer;
    struct vd_addr addr;
    int listener = raw_listen(&addr);

    CU_ASSERT_FATAL(tcp_side_listen(&client));
    CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &addr, 1, 0), 0);
    CU_ASSERT_FATAL(raw_accept(&peer, listener, &client));
    CU_ASSERT_TRUE(raw_until(&peer, &client, "OPTIONS sip:", 1));
    raw_close(&peer);
    CU_ASSERT_TRUE(tcp_side_until(&client, &client.failures, 1));
    CU_ASSERT_EQUAL(client.last_error, VD_ERR_TRANSPORT);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connections, 0);
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&client));
}

/* RFC 3261 18: a connection that failed is no candidate; the first one after it is, for all. */
static void after_a_reset_all_requests_share_one_new_connection(void)
{
    struct tcp_side client;
    struct raw_peer first;
    struct raw_peer second;
    struct vd_addr addr;
    int listener = raw_listen(&addr);

    CU_ASSERT_FATAL(tcp_side_listen(&client));
    for (uint32_t i = 1; i <= 3; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &addr, i, 0), 0);
    }
    CU_ASSERT_FATAL(raw_accept(&first, listener, &client));
    CU_ASSERT_TRUE(raw_until(&first, &client, "OPTIONS sip:", 3));
    raw_reset(&first);
    CU_ASSERT_TRUE(tcp_side_until(&client, &client.failures, 3));
    for (uint32_t i = 4; i <= 6; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &addr, i, 0), 0);
    }
    CU_ASSERT_FATAL(raw_accept(&second, listener, &client));
    for (uint32_t i = 7; i <= 30; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &addr, i, 0), 0);
        tcp_side_turn(&client);
    }
    CU_ASSERT_TRUE(raw_until(&second, &client, "OPTIONS sip:", 27));
    CU_ASSERT_FALSE(raw_has_connection(listener));
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connected, 2);
    CU_ASSERT_EQUAL(client.failures, 3);
    raw_close(&second);
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&client));
}

static void a_number_is_not_given_again_soon(void)
{
    struct tcp_side client;
    struct vd_addr addr;
    int listener = raw_listen(&addr);
    uint32_t previous = 0;

    CU_ASSERT_FATAL(tcp_side_listen(&client));
    for (uint32_t i = 1; i <= 200; i++) {
        struct raw_peer peer;
        CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &addr, i, 0), 0);
        CU_ASSERT_FATAL(raw_accept(&peer, listener, &client));
        uint32_t number = client.loop->streams->table.last_number;
        CU_ASSERT_TRUE(number > previous);
        previous = number;
        raw_reset(&peer);
        CU_ASSERT_TRUE(tcp_side_until(&client, &client.failures, i));
    }
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&client));
}

static void a_loop_freed_with_messages_waiting_gives_them_back(void)
{
    struct tcp_side client;
    struct raw_peer peer;
    struct vd_addr addr;
    int listener = raw_listen(&addr);

    CU_ASSERT_FATAL(tcp_side_listen(&client));
    for (uint32_t i = 1; i <= 200; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&client, "MESSAGE", &addr, i, 60000), 0);
    }
    CU_ASSERT_FATAL(raw_accept(&peer, listener, &client));
    tcp_side_turn(&client);
    CU_ASSERT(tcp_side_counters(&client).waiting > 0);
    CU_ASSERT_TRUE(tcp_side_free(&client));
    raw_close(&peer);
    close(listener);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"an endpoint tells the address that the kernel chose",
         an_endpoint_tells_the_address_that_the_kernel_chose},
        {"what cannot be opened leaves nothing open", what_cannot_be_opened_leaves_nothing_open},
        {"limits are checked, and fixed once there is an endpoint",
         limits_are_checked_and_fixed_once_there_is_an_endpoint},
        {"requests and responses share one connection",
         requests_and_responses_share_one_connection},
        {"a request takes the connection that the peer opened",
         a_request_takes_the_connection_that_the_peer_opened},
        {"refused calls leave no transaction at once", refused_calls_leave_no_transaction_at_once},
        {"a body of 60 kB passes both ways in any mix",
         a_sixty_kilobyte_body_passes_both_ways_in_any_mix},
        {"requests and responses pass over IPv6", requests_and_responses_pass_over_ip6},
        {"an endpoint that does not listen makes connections",
         an_endpoint_that_does_not_listen_makes_connections},
        {"small messages are not held back", small_messages_are_not_held_back},
        {"endpoints of both transports serve one stack",
         endpoints_of_both_transports_serve_one_stack},
        {"an endpoint on the wildcard address needs a name only",
         an_endpoint_on_the_wildcard_address_needs_a_name_only},
        {"a response takes the connection of its request",
         a_response_takes_the_connection_of_its_request},
        {"when that is closed the response goes to received and sent-by",
         when_that_is_closed_the_response_goes_to_received_and_sent_by},
        {"when that is reset the response goes to received and sent-by",
         when_that_is_reset_the_response_goes_to_received_and_sent_by},
        {"a response that waits when its connection breaks takes another",
         a_response_that_waits_when_its_connection_breaks_takes_another},
        {"a refused connection is told to each waiting transaction at once",
         a_refused_connection_is_told_to_each_waiting_transaction_at_once},
        {"what the system says tells a transaction why",
         what_the_system_says_tells_a_transaction_why},
        {"failures inside connect leave nothing", failures_inside_connect_leave_nothing},
        {"a reset fails the transactions whose requests left on the connection",
         a_reset_fails_the_transactions_whose_requests_left_on_the_connection},
        {"an end of stream fails the transactions that wait on it",
         an_end_of_stream_fails_the_transactions_that_wait_on_it},
        {"after a reset all requests share one new connection",
         after_a_reset_all_requests_share_one_new_connection},
        {"a number is not given again soon", a_number_is_not_given_again_soon},
        {"a loop freed with messages waiting gives them back",
         a_loop_freed_with_messages_waiting_gives_them_back},
        CU_TEST_INFO_NULL,
    };
    return run_over_selectors("tcp", tests);
}
