/* test_tcp_stream.c - streams: cut into messages, kept alive, half closed, broken.
 *
 * Covered: messages cut anywhere and stuck together in any number, pings and pongs (RFC 5626
 * 3.5.1), streams that lose their framing (RFC 3261 18.3), peers that close their sending half,
 * that reset in the middle of a message, that are gone before they are answered. Not covered: what
 * the framer thinks of bytes (stack/test/test_frame.c), limits (test_tcp_limits.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "connection.h"
#include "over_selectors.h"
#include "tcp_side.h"
#include "test_random.h"

static char text[1 << 20];

static struct tcp_side server;
static struct raw_peer peer;

static void begin(void)
{
    CU_ASSERT_FATAL(tcp_side_listen(&server));
    CU_ASSERT_FATAL(raw_connect(&peer, &server.addr));
}

static void end(void)
{
    raw_close(&peer);
    CU_ASSERT_EQUAL(server.log_errors, 0);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

/* count requests, one after the other, with bodies of different sizes. */
static size_t requests(unsigned count, size_t body)
{
    size_t size = 0;

    for (unsigned i = 1; i <= count; i++) {
        size += raw_request(text + size, "OPTIONS", "192.0.2.1", i, i % 2 == 0 ? body : 0);
    }
    return size;
}

/* ---- Cutting ---- */

static void fifty_requests_in_one_write_are_answered_in_order(void)
{
    begin();
    size_t size = requests(50, 100);
    CU_ASSERT_TRUE(raw_write(&peer, &server, text, size));
    CU_ASSERT_TRUE(raw_until(&peer, &server, "SIP/2.0 200 OK\r\n", 50));
    CU_ASSERT_EQUAL(server.requests, 50);
    CU_ASSERT_EQUAL(server.cseqs_in_order, 50);
    /* All that came in one turn was answered with one write. */
    CU_ASSERT(tcp_side_counters(&server).send_calls <= 2);
    end();
}

static void two_messages_may_be_cut_at_any_byte(void)
{
    begin();
    size_t size = requests(2, 40);
    for (size_t cut = 1; cut < size; cut++) {
        server.last_cseq = 0;
        CU_ASSERT_TRUE(raw_write(&peer, &server, text, cut));
        tcp_side_turn(&server);
        CU_ASSERT_TRUE(raw_write(&peer, &server, text + cut, size - cut));
        CU_ASSERT_TRUE_FATAL(tcp_side_until(&server, &server.requests, (unsigned)cut * 2));
        /* The next two have other branches. */
        for (size_t i = 0; i + 9 < size; i++) {
            if (memcmp(text + i, "z9hG4bK-", 8) == 0) {
                text[i + 8] = (char)('a' + cut % 26);
                text[i + 9] = (char)('a' + cut / 26 % 26);
            }
        }
    }
    CU_ASSERT_EQUAL(server.cseqs_in_order, 2 * (size - 1));
    end();
}

static void a_message_may_come_byte_by_byte(void)
{
    begin();
    size_t size = requests(2, 6000);
    for (size_t i = 0; i < size; i++) {
        CU_ASSERT_TRUE_FATAL(raw_write(&peer, &server, text + i, 1));
        tcp_side_turn(&server);
    }
    CU_ASSERT_TRUE(raw_until(&peer, &server, "SIP/2.0 200 OK\r\n", 2));
    CU_ASSERT_EQUAL(server.cseqs_in_order, 2);
    CU_ASSERT_EQUAL(server.last_size, 6000);
    const struct vd__connection *connection =
        vd__connection_table_find(&server.loop->streams->table, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(connection);
    CU_ASSERT_PTR_NULL(connection->partial.bytes);
    end();
}

/* Messages of all sizes up to the limit, in pieces of all sizes. */
static void any_messages_in_any_pieces_come_whole_and_in_order(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct test_random random = {seed};
        size_t size = 0;
        unsigned count = 0;

        begin();
        while (size < sizeof text - 70000 && count < 60) {
            bool large = test_random_below(&random, 5) == 0;
            size_t body = (size_t)test_random_below(&random, large ? 60000 : 900);
            size += raw_request(text + size, "OPTIONS", "192.0.2.1", ++count, body);
        }
        for (size_t at = 0; at < size;) {
            bool large = test_random_below(&random, 3) == 0;
            size_t piece = 1 + (size_t)test_random_below(&random, large ? 40000 : 700);
            piece = piece < size - at ? piece : size - at;
            CU_ASSERT_TRUE_FATAL(raw_write(&peer, &server, text + at, piece));
            if (test_random_below(&random, 2) == 0) {
                tcp_side_turn(&server);
            }
            at += piece;
        }
        CU_ASSERT_TRUE(tcp_side_until(&server, &server.requests, count));
        CU_ASSERT_EQUAL(server.cseqs_in_order, count);
        CU_ASSERT_TRUE(raw_until(&peer, &server, "SIP/2.0 200 OK\r\n", count));
        end();
    }
}

/* ---- Keep-alive ---- */

static void a_ping_is_answered_however_it_is_cut(void)
{
    static const char *const pieces[] = {"\r", "\n\r\n"};

    begin();
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT_TRUE(raw_send(&peer, &server, pieces[i]));
        tcp_side_turn(&server);
    }
    CU_ASSERT_TRUE(raw_until(&peer, &server, "\r\n", 1));
    CU_ASSERT_EQUAL(peer.size, 2);
    raw_forget(&peer);

    /* And then a request with two CRLFs stuck in front of it, which are a ping as well. */
    strcpy(text, "\r\n\r\n");
    size_t size = raw_request(text + 4, "OPTIONS", "192.0.2.1", 1, 0);
    CU_ASSERT_TRUE(raw_write(&peer, &server, text, size + 4));
    CU_ASSERT_TRUE(raw_until(&peer, &server, "SIP/2.0 200 OK\r\n", 1));
    CU_ASSERT_EQUAL(strncmp(peer.bytes, "\r\nSIP/2.0", 9), 0);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).received_pings, 2);
    end();
}

static void a_lone_crlf_is_ignored(void)
{
    begin();
    CU_ASSERT_TRUE(raw_send(&peer, &server, "\r\n"));
    tcp_side_turn(&server);
    size_t size = raw_request(text, "OPTIONS", "192.0.2.1", 1, 0);
    CU_ASSERT_TRUE(raw_write(&peer, &server, text, size));
    CU_ASSERT_TRUE(raw_until(&peer, &server, "SIP/2.0 200 OK\r\n", 1));
    CU_ASSERT_EQUAL(strncmp(peer.bytes, "SIP/2.0", 7), 0);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).received_pings, 0);
    end();
}

static void each_of_many_pings_has_its_pong(void)
{
    begin();
    for (unsigned i = 0; i < 300; i++) {
        memcpy(text + 4 * i, "\r\n\r\n", 4);
    }
    CU_ASSERT_TRUE(raw_write(&peer, &server, text, 4 * 300));
    CU_ASSERT_TRUE(raw_until(&peer, &server, "\r\n", 300));
    CU_ASSERT_EQUAL(peer.size, 600);
    end();
}

/* ---- Faults ---- */

/* A stream that is out of step: the answer's beginning, "" for none, and then the end. */
static void refused_with(const char *stream, const char *answer)
{
    begin();
    CU_ASSERT_TRUE(raw_send(&peer, &server, stream));
    CU_ASSERT_TRUE(raw_until_ended(&peer, &server));
    CU_ASSERT_EQUAL(peer.error, 0);
    CU_ASSERT_EQUAL(raw_count(&peer, "SIP/2.0 "), *answer != '\0');
    CU_ASSERT_EQUAL(strncmp(peer.bytes, answer, strlen(answer)), 0);
    CU_ASSERT_EQUAL(server.requests, 0);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).framing_errors, 1);

    /* Only its own connection is lost. */
    struct raw_peer other;
    CU_ASSERT_FATAL(raw_connect(&other, &server.addr));
    size_t size = raw_request(text, "OPTIONS", "192.0.2.1", 1, 0);
    CU_ASSERT_TRUE(raw_write(&other, &server, text, size));
    CU_ASSERT_TRUE(raw_until(&other, &server, "SIP/2.0 200 OK\r\n", 1));
    raw_close(&other);
    end();
}

#define REQUEST_WITH_LENGTH(length)                                                                \
    "OPTIONS sip:bob@example.com SIP/2.0\r\n"                                                      \
    "Via: SIP/2.0/TCP 192.0.2.1;branch=z9hG4bK-1\r\n"                                              \
    "Max-Forwards: 70\r\n"                                                                         \
    "From: <sip:alice@example.com>;tag=a\r\n"                                                      \
    "To: <sip:bob@example.com>\r\n"                                                                \
    "Call-ID: 1@example.com\r\n"                                                                   \
    "CSeq: 1 OPTIONS\r\n"                                                                          \
    "Content-Length: " length "\r\n\r\n"

static void a_stream_that_loses_its_framing_is_answered_and_closed(void)
{
    static const char *const cases[][2] = {
        {REQUEST_WITH_LENGTH("4294967296"), "SIP/2.0 513"},
        {REQUEST_WITH_LENGTH("-1"), "SIP/2.0 400"},
        {REQUEST_WITH_LENGTH("4294967295") "and some of the body", "SIP/2.0 513"},
        {REQUEST_WITH_LENGTH("65536"), "SIP/2.0 513"},
        {REQUEST_WITH_LENGTH("1, 2"), "SIP/2.0 400"},
        {"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", ""},
        {"\x16\x03\x01\x02", ""},
        {"\rOPTIONS", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refused_with(cases[i][0], cases[i][1]);
    }
}

/* The peer has sent more than was read when it is refused. Closing at once would reset the
 * connection, and the peer could lose the answer. */
static void an_answer_to_a_fault_survives_what_the_peer_still_sends(void)
{
    begin();
    CU_ASSERT_TRUE(raw_send(&peer, &server, REQUEST_WITH_LENGTH("4294967295")));
    memset(text, 'x', sizeof text);
    for (int i = 0; i < 8; i++) {
        CU_ASSERT_TRUE_FATAL(raw_write(&peer, &server, text, sizeof text));
    }
    CU_ASSERT_TRUE(raw_until_ended(&peer, &server));
    CU_ASSERT_EQUAL(peer.error, 0);
    CU_ASSERT_EQUAL(raw_count(&peer, "SIP/2.0 513"), 1);
    /* The peer does not close: that is waited for, but not for ever. */
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 1);
    tcp_side_pass(&server, 3 * VD_SEC);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 0);
    end();
}

static void requests_before_a_fault_are_answered(void)
{
    begin();
    size_t size = requests(3, 0);
    strcpy(text + size, REQUEST_WITH_LENGTH("-1"));
    CU_ASSERT_TRUE(raw_send(&peer, &server, text));
    CU_ASSERT_TRUE(raw_until_ended(&peer, &server));
    CU_ASSERT_EQUAL(raw_count(&peer, "SIP/2.0 200 OK\r\n"), 3);
    CU_ASSERT_EQUAL(raw_count(&peer, "SIP/2.0 400"), 1);
    end();
}

static void a_reset_in_the_middle_of_a_message_loses_that_connection_only(void)
{
    struct raw_peer other;

    begin();
    CU_ASSERT_FATAL(raw_connect(&other, &server.addr));
    size_t size = requests(1, 0);
    CU_ASSERT_TRUE(raw_write(&other, &server, text, size / 2));
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, 2));
    tcp_side_turn(&server);
    raw_reset(&other);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, 1));
    CU_ASSERT_EQUAL(tcp_side_counters(&server).broken, 1);
    CU_ASSERT_TRUE(raw_write(&peer, &server, text, size));
    CU_ASSERT_TRUE(raw_until(&peer, &server, "SIP/2.0 200 OK\r\n", 1));
    end();
}

/* ---- Half-closed peers ---- */

static void a_peer_that_closed_its_half_gets_the_answers_that_are_due(void)
{
    begin();
    size_t size = requests(20, 3000);
    CU_ASSERT_TRUE(raw_write(&peer, &server, text, size));
    raw_shut(&peer);
    CU_ASSERT_TRUE(raw_until_ended(&peer, &server));
    CU_ASSERT_EQUAL(peer.error, 0);
    CU_ASSERT_EQUAL(raw_count(&peer, "SIP/2.0 200 OK\r\n"), 20);
    CU_ASSERT_EQUAL(strncmp(peer.bytes, "SIP/2.0", 7), 0);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, 0));
    end();
}

static void a_peer_that_closed_its_half_gets_a_late_answer_too(void)
{
    begin();
    server.answer = 0;
    size_t size = requests(2, 0);
    CU_ASSERT_TRUE(raw_write(&peer, &server, text, size));
    raw_shut(&peer);
    CU_ASSERT_TRUE(tcp_side_until(&server, &server.requests, 2));
    for (int i = 0; i < 20; i++) {
        tcp_side_turn(&server);
    }
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 1);
    tcp_side_answer(&server, 200);
    CU_ASSERT_TRUE(raw_until_ended(&peer, &server));
    CU_ASSERT_EQUAL(peer.error, 0);
    CU_ASSERT_EQUAL(raw_count(&peer, "SIP/2.0 200 OK\r\n"), 2);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, 0));
    end();
}

/* It cannot answer any more: a new request makes a connection of its own. */
static void a_peer_that_closed_its_half_is_asked_on_another_connection(void)
{
    begin();
    server.answer = 0;
    size_t size = requests(1, 0);
    CU_ASSERT_TRUE(raw_write(&peer, &server, text, size));
    raw_shut(&peer);
    CU_ASSERT_TRUE(tcp_side_until(&server, &server.requests, 1));
    tcp_side_turn(&server);
    struct vd_addr to = server.last_flow.remote;
    CU_ASSERT_EQUAL(tcp_side_request(&server, "OPTIONS", &to, 1, 0), 0);
    CU_ASSERT_TRUE(tcp_side_until(&server, &server.failures, 1));
    CU_ASSERT_EQUAL(server.last_error, VD_ERR_REFUSED); /* nobody listens at that port */
    end();
}

static void a_stream_that_ends_within_a_message_is_closed(void)
{
    begin();
    size_t size = requests(1, 0);
    CU_ASSERT_TRUE(raw_write(&peer, &server, text, size - 5));
    raw_shut(&peer);
    CU_ASSERT_TRUE(raw_until_ended(&peer, &server));
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, 0));
    CU_ASSERT_EQUAL(server.requests, 0);
    CU_ASSERT(server.log_events > 0);
    end();
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"fifty requests in one write are answered in order",
         fifty_requests_in_one_write_are_answered_in_order},
        {"two messages may be cut at any byte", two_messages_may_be_cut_at_any_byte},
        {"a message may come byte by byte", a_message_may_come_byte_by_byte},
        {"any messages in any pieces come whole and in order",
         any_messages_in_any_pieces_come_whole_and_in_order},
        {"a ping is answered however it is cut", a_ping_is_answered_however_it_is_cut},
        {"a lone CRLF is ignored", a_lone_crlf_is_ignored},
        {"each of many pings has its pong", each_of_many_pings_has_its_pong},
        {"a stream that loses its framing is answered and closed",
         a_stream_that_loses_its_framing_is_answered_and_closed},
        {"an answer to a fault survives what the peer still sends",
         an_answer_to_a_fault_survives_what_the_peer_still_sends},
        {"requests before a fault are answered", requests_before_a_fault_are_answered},
        {"a reset in the middle of a message loses that connection only",
         a_reset_in_the_middle_of_a_message_loses_that_connection_only},
        {"a peer that closed its half gets the answers that are due",
         a_peer_that_closed_its_half_gets_the_answers_that_are_due},
        {"a peer that closed its half gets a late answer too",
         a_peer_that_closed_its_half_gets_a_late_answer_too},
        {"a peer that closed its half is asked on another connection",
         a_peer_that_closed_its_half_is_asked_on_another_connection},
        {"a stream that ends within a message is closed",
         a_stream_that_ends_within_a_message_is_closed},
        CU_TEST_INFO_NULL,
    };
    return run_over_selectors("tcp_stream", tests);
}
