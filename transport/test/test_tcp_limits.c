/* test_tcp_limits.c - peers that take too long, too much, or too many connections.
 *
 * Covered: each limit of struct vd_tcp_limits at its edge, under a clock that stands still until
 * the test moves it. In all of these a peer that behaves gets its answer. Not covered: running out
 * of file descriptors (test_tcp_descriptors.c), what a stream may hold (test_tcp_stream.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "run_suite.h"
#include "tcp_side.h"

static char text[RAW_REQUEST_SIZE + 65536];

static struct vd_tcp_limits limits_of_default(void)
{
    struct vd_tcp_limits limits;

    vd_tcp_limits_init(&limits);
    return limits;
}

static void begin(struct tcp_side *server, const struct vd_tcp_limits *limits)
{
    struct vd_addr bind = raw_loopback();

    CU_ASSERT_FATAL(tcp_side_open(server, &bind, limits, NULL));
}

static bool gets_through(struct tcp_side *server)
{
    struct raw_peer peer;
    bool answered = raw_connect(&peer, &server->addr) && raw_is_answered(&peer, server);

    raw_close(&peer);
    return answered;
}

/* ---- Time ---- */

/* Raises the limit of open files as far as it may be. Returns how many connections, with both their
 * ends, fit, at most max. */
static uint32_t pairs_of_descriptors(uint32_t max)
{
    struct rlimit limit;

    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t pairs = (limit.rlim_cur - 64) / 2;
    return pairs < max ? (uint32_t)pairs : max;
}

static void a_connection_that_says_nothing_is_closed(void)
{
    enum { COUNT_MAX = 5000 };
    static struct raw_peer silent[COUNT_MAX];
    struct raw_peer busy;
    struct tcp_side server;
    struct vd_tcp_limits limits = limits_of_default();
    uint32_t count = pairs_of_descriptors(COUNT_MAX);

    begin(&server, NULL);
    for (uint32_t i = 0; i < count; i++) {
        tcp_side_turn(&server);
        CU_ASSERT_FATAL(raw_connect(&silent[i], &server.addr));
    }
    CU_ASSERT_FATAL(raw_connect(&busy, &server.addr));
    CU_ASSERT_TRUE(raw_is_answered(&busy, &server));
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, count + 1));

    tcp_side_pass(&server, limits.first_message_time - 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, count + 1);
    tcp_side_pass(&server, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).silent_timeouts, count);
    CU_ASSERT_TRUE(raw_is_answered(&busy, &server));
    for (uint32_t i = 0; i < count; i++) {
        CU_ASSERT_TRUE(raw_is_ended(&silent[i]));
        raw_close(&silent[i]);
    }
    raw_close(&busy);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void pings_and_bytes_do_not_put_off_the_first_message(void)
{
    struct raw_peer pinging;
    struct raw_peer slow;
    struct tcp_side server;

    begin(&server, NULL);
    CU_ASSERT_FATAL(raw_connect(&pinging, &server.addr) && raw_connect(&slow, &server.addr));
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, 2));
    size_t size = raw_request(text, "OPTIONS", "192.0.2.1", 1, 0);
    for (size_t i = 0; i < 19; i++) {
        CU_ASSERT_TRUE(raw_send(&pinging, &server, "\r\n\r\n"));
        CU_ASSERT_TRUE(raw_write(&slow, &server, text + i, 1));
        tcp_side_pass(&server, VD_SEC);
    }
    CU_ASSERT(size > 20);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 2);
    tcp_side_pass(&server, VD_SEC);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 0);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).silent_timeouts, 2);
    CU_ASSERT_TRUE(gets_through(&server));
    raw_close(&pinging);
    raw_close(&slow);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

/* The time runs from the first byte of the message, not from the last one that came. */
static void a_message_that_takes_too_long_ends_its_connection(void)
{
    struct raw_peer slow;
    struct tcp_side server;

    begin(&server, NULL);
    CU_ASSERT_FATAL(raw_connect(&slow, &server.addr));
    CU_ASSERT_TRUE(raw_is_answered(&slow, &server));
    tcp_side_pass(&server, 60 * VD_SEC);
    (void)raw_request(text, "OPTIONS", "192.0.2.1", 1, 0);
    for (size_t i = 0; i < 10; i++) {
        CU_ASSERT_TRUE(raw_write(&slow, &server, text + i, 1));
        tcp_side_turn(&server);
        CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 1);
        tcp_side_pass(&server, VD_SEC);
    }
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 0);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).message_timeouts, 1);
    CU_ASSERT_TRUE(gets_through(&server));
    raw_close(&slow);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

/* Each message has its own time, even when one read ends the one and begins the next. */
static void the_time_of_a_message_begins_anew_with_each(void)
{
    struct raw_peer peer;
    struct tcp_side server;
    size_t ends[10];
    size_t size = 0;
    size_t at = 0;

    begin(&server, NULL);
    for (unsigned i = 0; i < 10; i++) {
        size += raw_request(text + size, "OPTIONS", "192.0.2.1", i, 0);
        ends[i] = size;
    }
    CU_ASSERT_FATAL(raw_connect(&peer, &server.addr));
    for (unsigned i = 0; i < 10; i++) {
        size_t to = i < 9 ? ends[i] + 9 : size;
        CU_ASSERT_TRUE(raw_write(&peer, &server, text + at, to - at));
        at = to;
        CU_ASSERT_TRUE(tcp_side_until(&server, &server.requests, i + 1));
        tcp_side_pass(&server, 9 * VD_SEC);
    }
    CU_ASSERT_TRUE(raw_until(&peer, &server, "SIP/2.0 200 OK\r\n", 10));
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 1);
    raw_close(&peer);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void an_idle_connection_is_closed(void)
{
    struct raw_peer idle;
    struct raw_peer pinging;
    struct tcp_side server;
    struct vd_tcp_limits limits = limits_of_default();

    begin(&server, NULL);
    CU_ASSERT_FATAL(raw_connect(&idle, &server.addr) && raw_connect(&pinging, &server.addr));
    CU_ASSERT_TRUE(raw_is_answered(&idle, &server) && raw_is_answered(&pinging, &server));
    for (int i = 0; i < 10; i++) {
        tcp_side_pass(&server, limits.idle_time / 10 - 1);
        CU_ASSERT_TRUE(raw_send(&pinging, &server, "\r\n\r\n"));
        tcp_side_turn(&server);
    }
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 2);
    tcp_side_pass(&server, limits.idle_time / 16 + 20);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).idle_timeouts, 1);
    CU_ASSERT_TRUE(raw_is_ended(&idle));
    CU_ASSERT_EQUAL(idle.error, 0);
    CU_ASSERT_TRUE(raw_is_answered(&pinging, &server));
    raw_close(&idle);
    raw_close(&pinging);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

/* A listener whose queue is full drops what comes: a connection to it is neither made nor refused.
 */
static int overfull_listener(struct vd_addr *addr, struct raw_peer *filler, unsigned count)
{
    int listener = raw_listen(addr);

    (void)listen(listener, 0);
    for (unsigned i = 0; i < count; i++) {
        memset(&filler[i], 0, sizeof filler[i]);
        filler[i].fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        union vd__sockaddr sockaddr;
        socklen_t length = vd__sockaddr_from_addr(&sockaddr, addr);
        (void)connect(filler[i].fd, &sockaddr.any, length);
    }
    return listener;
}

static void a_connection_that_cannot_be_made_in_time_fails_its_messages(void)
{
    struct tcp_side client;
    struct raw_peer filler[4];
    struct vd_addr addr;
    struct vd_tcp_limits limits = limits_of_default();
    int listener = overfull_listener(&addr, filler, 4);

    CU_ASSERT_FATAL(tcp_side_listen(&client));
    for (uint32_t i = 1; i <= 3; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &addr, i, 0), 0);
    }
    tcp_side_turn(&client);
    tcp_side_pass(&client, limits.connect_time - 1);
    CU_ASSERT_EQUAL(client.failures, 0);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).waiting, 3);
    tcp_side_pass(&client, 1);
    CU_ASSERT_EQUAL(client.failures_by_error[-VD_ERR_TRANSPORT], 3);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connect_timeouts, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connect_failed, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connections, 0);
    for (int i = 0; i < 4; i++) {
        raw_close(&filler[i]);
    }
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&client));
}

/* ---- Queues ---- */

/* Requests from a peer that reads none of the answers, until so many wait and none of them moves
 * any more. */
static void flood(struct raw_peer *peer, struct tcp_side *server, unsigned waiting)
{
    unsigned quiet = 0;

    for (unsigned i = 0; i < 200000 && quiet < 20;) {
        if (tcp_side_counters(server).waiting < waiting) {
            size_t size = raw_request(text, "OPTIONS", "192.0.2.1", ++i, 0);
            CU_ASSERT_TRUE_FATAL(raw_write(peer, server, text, size));
            CU_ASSERT_TRUE_FATAL(tcp_side_until(server, &server->requests, i));
            quiet = 0;
        } else {
            (void)vd_loop_run_once(server->loop, VD_MSEC);
            quiet++;
        }
    }
    CU_ASSERT_EQUAL(tcp_side_counters(server).waiting, waiting);
}

static void begin_unread(struct tcp_side *server, struct raw_peer *peer,
                         const struct vd_tcp_limits *limits)
{
    struct vd_tcp_options options;
    struct vd_addr bind = raw_loopback();

    vd_tcp_options_init(&options);
    options.send_buffer = 4096;
    CU_ASSERT_FATAL(tcp_side_open(server, &bind, limits, &options));
    CU_ASSERT_FATAL(raw_connect_with_buffer(peer, &server->addr, 4096));
}

static void a_peer_that_never_reads_loses_its_connection(void)
{
    struct raw_peer peer;
    struct tcp_side server;
    struct vd_tcp_limits limits = limits_of_default();

    begin_unread(&server, &peer, NULL);
    flood(&peer, &server, 20);
    tcp_side_pass(&server, limits.send_time - 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 1);
    CU_ASSERT_TRUE(gets_through(&server));
    tcp_side_pass(&server, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).send_timeouts, 1);
    tcp_side_turn(&server);
    raw_close(&peer);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void a_full_queue_fails_what_is_too_much_and_nothing_else(void)
{
    struct raw_peer peer;
    struct tcp_side server;
    struct vd_tcp_limits limits = limits_of_default();

    limits.queue_messages = 16;
    begin_unread(&server, &peer, &limits);
    flood(&peer, &server, 16);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).queue_full, 0);
    unsigned before = server.requests;
    for (unsigned i = 0; i < 5; i++) {
        size_t size = raw_request(text, "OPTIONS", "192.0.2.1", 900000 + i, 0);
        CU_ASSERT_TRUE_FATAL(raw_write(&peer, &server, text, size));
    }
    CU_ASSERT_TRUE(tcp_side_until(&server, &server.requests, before + 5));
    CU_ASSERT_EQUAL(tcp_side_counters(&server).queue_full, 5);
    CU_ASSERT_EQUAL(tcp_side_stack_counters(&server).transport_errors, 5);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).waiting, 16);
    CU_ASSERT_TRUE(gets_through(&server));

    /* Then it reads after all. */
    CU_ASSERT_TRUE(raw_until(&peer, &server, "SIP/2.0 200 OK\r\n", before));
    CU_ASSERT_EQUAL(tcp_side_counters(&server).waiting, 0);
    CU_ASSERT_EQUAL(raw_count(&peer, "SIP/2.0 200 OK\r\n"), before);
    raw_close(&peer);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void a_queue_is_limited_in_bytes_too(void)
{
    struct tcp_side client;
    struct raw_peer peer;
    struct vd_addr addr;
    struct vd_addr bind = raw_loopback();
    struct vd_tcp_limits limits = limits_of_default();
    int listener = raw_listen(&addr);

    limits.queue_bytes = 50000;
    CU_ASSERT_FATAL(tcp_side_open(&client, &bind, &limits, NULL));
    /* Before the connection is there, all must wait. The first may be longer than the limit. */
    CU_ASSERT_EQUAL(tcp_side_request(&client, "MESSAGE", &addr, 1, 55000), 0);
    CU_ASSERT_EQUAL(tcp_side_request(&client, "MESSAGE", &addr, 2, 10), 0);
    tcp_side_turn(&client);
    CU_ASSERT_EQUAL(client.failures_by_error[-VD_ERR_TRANSPORT], 1);
    CU_ASSERT_FATAL(raw_accept(&peer, listener, &client));
    CU_ASSERT_TRUE(raw_until(&peer, &client, "MESSAGE sip:", 1));
    CU_ASSERT_EQUAL(tcp_side_counters(&client).queue_full, 1);
    raw_close(&peer);
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&client));
}

static void all_queues_together_are_limited(void)
{
    struct tcp_side client;
    struct raw_peer peers[2];
    struct vd_addr addrs[2];
    struct vd_addr bind = raw_loopback();
    struct vd_tcp_limits limits = limits_of_default();
    int listeners[2] = {raw_listen(&addrs[0]), raw_listen(&addrs[1])};

    limits.total_queue_bytes = 60000;
    CU_ASSERT_FATAL(tcp_side_open(&client, &bind, &limits, NULL));
    CU_ASSERT_EQUAL(tcp_side_request(&client, "MESSAGE", &addrs[0], 1, 40000), 0);
    CU_ASSERT_EQUAL(tcp_side_request(&client, "MESSAGE", &addrs[1], 2, 40000), 0);
    CU_ASSERT_EQUAL(tcp_side_request(&client, "MESSAGE", &addrs[1], 3, 10000), 0);
    tcp_side_turn(&client);
    CU_ASSERT_EQUAL(client.failures_by_error[-VD_ERR_TRANSPORT], 1);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_FATAL(raw_accept(&peers[i], listeners[i], &client));
        CU_ASSERT_TRUE(raw_until(&peers[i], &client, "MESSAGE sip:", 1));
    }
    CU_ASSERT_EQUAL(tcp_side_counters(&client).waiting, 0);
    CU_ASSERT_EQUAL(tcp_side_request(&client, "MESSAGE", &addrs[1], 4, 50000), 0);
    CU_ASSERT_TRUE(raw_until(&peers[1], &client, "MESSAGE sip:", 2));
    CU_ASSERT_EQUAL(client.failures, 1);
    for (int i = 0; i < 2; i++) {
        raw_close(&peers[i]);
        close(listeners[i]);
    }
    CU_ASSERT_TRUE(tcp_side_free(&client));
}

/* What is queued in one turn may be more than the limit as long as the peer takes it. */
static void a_queue_that_can_be_written_is_not_full(void)
{
    struct tcp_side client;
    struct tcp_side server;
    struct vd_addr bind = raw_loopback();
    struct vd_tcp_limits limits = limits_of_default();

    limits.queue_messages = 4;
    CU_ASSERT_FATAL(tcp_side_open(&client, &bind, &limits, NULL) && tcp_side_listen(&server));
    CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &server.addr, 1, 0), 0);
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.responses, 1));
    for (uint32_t i = 2; i <= 100; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &server.addr, i, 0), 0);
    }
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.responses, 100));
    CU_ASSERT_EQUAL(client.failures, 0);
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

/* ---- Numbers of connections ---- */

static void one_source_gets_no_more_connections_than_its_share(void)
{
    struct raw_peer peers[3];
    struct raw_peer further;
    struct tcp_side server;
    struct vd_tcp_limits limits = limits_of_default();

    limits.connections_per_source = 3;
    begin(&server, &limits);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_FATAL(raw_connect(&peers[i], &server.addr));
        CU_ASSERT_TRUE(raw_is_answered(&peers[i], &server));
    }
    CU_ASSERT_FATAL(raw_connect(&further, &server.addr));
    CU_ASSERT_TRUE(raw_until_ended(&further, &server));
    CU_ASSERT_EQUAL(tcp_side_counters(&server).refused_per_source, 1);
    raw_close(&further);
    raw_close(&peers[0]);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, 2));
    CU_ASSERT_TRUE(gets_through(&server));
    CU_ASSERT_TRUE(raw_is_answered(&peers[1], &server));
    CU_ASSERT_EQUAL(tcp_side_counters(&server).refused_per_source, 1);
    raw_close(&peers[1]);
    raw_close(&peers[2]);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void the_oldest_silent_connection_makes_room_for_a_new_one(void)
{
    struct raw_peer peers[4];
    struct tcp_side server;
    struct vd_tcp_limits limits = limits_of_default();

    limits.connections = 4;
    begin(&server, &limits);
    for (uint32_t i = 0; i < 4; i++) {
        CU_ASSERT_FATAL(raw_connect(&peers[i], &server.addr));
        CU_ASSERT_TRUE(tcp_side_until_connections(&server, i + 1));
    }
    CU_ASSERT_TRUE(raw_is_answered(&peers[0], &server));
    CU_ASSERT_TRUE(gets_through(&server));
    CU_ASSERT_EQUAL(tcp_side_counters(&server).evicted, 1);
    CU_ASSERT_TRUE(raw_is_ended(&peers[1]));
    CU_ASSERT_FALSE(raw_is_ended(&peers[2]));
    CU_ASSERT_TRUE(raw_is_answered(&peers[0], &server));
    for (int i = 0; i < 4; i++) {
        raw_close(&peers[i]);
    }
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void when_all_are_in_use_a_new_one_is_refused(void)
{
    struct raw_peer peers[2];
    struct raw_peer further;
    struct vd_addr addr;
    struct tcp_side server;
    struct vd_tcp_limits limits = limits_of_default();
    int listener = raw_listen(&addr);

    limits.connections = 2;
    begin(&server, &limits);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_FATAL(raw_connect(&peers[i], &server.addr));
        CU_ASSERT_TRUE(raw_is_answered(&peers[i], &server));
    }
    CU_ASSERT_FATAL(raw_connect(&further, &server.addr));
    CU_ASSERT_TRUE(raw_until_ended(&further, &server));
    CU_ASSERT_EQUAL(tcp_side_counters(&server).refused_total, 1);
    /* Ours count as well. */
    CU_ASSERT_EQUAL(tcp_side_request(&server, "OPTIONS", &addr, 1, 0), 0);
    CU_ASSERT_TRUE(tcp_side_until(&server, &server.failures, 1));
    CU_ASSERT_EQUAL(server.last_error, VD_ERR_TRANSPORT);
    CU_ASSERT_TRUE(raw_is_answered(&peers[0], &server) && raw_is_answered(&peers[1], &server));
    raw_close(&further);
    raw_close(&peers[0]);
    raw_close(&peers[1]);
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

/* Many silent connections, more than are allowed at once, and one that behaves among them. */
static void a_crowd_of_silent_connections_keeps_nobody_out(void)
{
    enum { COUNT = 400 };
    static struct raw_peer peers[COUNT];
    struct tcp_side server;
    struct vd_tcp_limits limits = limits_of_default();

    limits.connections = 100;
    begin(&server, &limits);
    for (int i = 0; i < COUNT; i++) {
        CU_ASSERT_FATAL(raw_connect(&peers[i], &server.addr));
        if (i % 100 == 50) {
            CU_ASSERT_TRUE(gets_through(&server));
        }
    }
    CU_ASSERT_TRUE(gets_through(&server));
    CU_ASSERT(tcp_side_counters(&server).connections <= 100);
    CU_ASSERT(tcp_side_counters(&server).evicted >= COUNT - 100);
    for (int i = 0; i < COUNT; i++) {
        raw_close(&peers[i]);
    }
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void a_turn_accepts_a_bounded_number(void)
{
    enum { COUNT = 200 };
    static struct raw_peer peers[COUNT];
    struct tcp_side server;

    begin(&server, NULL);
    for (int i = 0; i < COUNT; i++) {
        CU_ASSERT_FATAL(raw_connect(&peers[i], &server.addr));
    }
    tcp_side_turn(&server);
    uint32_t first = tcp_side_counters(&server).connections;
    CU_ASSERT(first > 0 && first < COUNT);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, COUNT));
    for (int i = 0; i < COUNT; i++) {
        raw_close(&peers[i]);
    }
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a connection that says nothing is closed", a_connection_that_says_nothing_is_closed},
        {"pings and bytes do not put off the first message",
         pings_and_bytes_do_not_put_off_the_first_message},
        {"a message that takes too long ends its connection",
         a_message_that_takes_too_long_ends_its_connection},
        {"the time of a message begins anew with each",
         the_time_of_a_message_begins_anew_with_each},
        {"an idle connection is closed", an_idle_connection_is_closed},
        {"a connection that cannot be made in time fails its messages",
         a_connection_that_cannot_be_made_in_time_fails_its_messages},
        {"a peer that never reads loses its connection",
         a_peer_that_never_reads_loses_its_connection},
        {"a full queue fails what is too much and nothing else",
         a_full_queue_fails_what_is_too_much_and_nothing_else},
        {"a queue is limited in bytes too", a_queue_is_limited_in_bytes_too},
        {"all queues together are limited", all_queues_together_are_limited},
        {"a queue that can be written is not full", a_queue_that_can_be_written_is_not_full},
        {"one source gets no more connections than its share",
         one_source_gets_no_more_connections_than_its_share},
        {"the oldest silent connection makes room for a new one",
         the_oldest_silent_connection_makes_room_for_a_new_one},
        {"when all are in use a new one is refused", when_all_are_in_use_a_new_one_is_refused},
        {"a crowd of silent connections keeps nobody out",
         a_crowd_of_silent_connections_keeps_nobody_out},
        {"a turn accepts a bounded number", a_turn_accepts_a_bounded_number},
        CU_TEST_INFO_NULL,
    };
    return run_suite("tcp_limits", tests);
}
