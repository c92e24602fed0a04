/* test_tls_stream.c - records and messages, and peers that do not behave.
 *
 * Covered: data that comes with the handshake, messages over several records and several messages
 * in one, how what we send is put into records, long transfers that the peer takes in pieces,
 * garbage, silence, ends without close_notify, renegotiation. Not covered: who is let through
 * (test_tls.c), what streams of messages have in common (test_tcp_stream.c, test_tcp_limits.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>

#include "over_selectors.h"
#include "tls_internal.h"
#include "tls_side.h"

enum { TEXT_SIZE = 256 * 1024 };

static char text[TEXT_SIZE];
static struct tls_certificate own;
static SSL_CTX *peers; /* of TLS 1.3 */

static void server_open(struct tls_side *server)
{
    CU_ASSERT_TRUE_FATAL(tls_side_init(server));
    tls_side_trust(server, &own, &own);
    CU_ASSERT_TRUE_FATAL(tls_side_open(server));
}

/* A client that waits for the handshake of peer. */
static void client_open(struct tls_side *client, const struct vd_addr *to)
{
    CU_ASSERT_TRUE_FATAL(tls_side_init(client));
    client->config.verify = false;
    CU_ASSERT_TRUE_FATAL(tls_side_open(client));
    CU_ASSERT_EQUAL(tcp_side_request(&client->tcp, "OPTIONS", to, 1, 0), 0);
    tcp_side_turn(&client->tcp);
}

static bool say(struct tls_peer *peer, struct tls_side *side, const char *bytes, size_t size)
{
    return tls_peer_write(peer, bytes, size) && tls_peer_flush(peer, side);
}

/* ---- Nothing waits ---- */

static void a_request_in_the_segment_of_the_finished_is_answered(void)
{
    struct tls_side server;
    struct tls_peer peer;

    server_open(&server);
    /* Finished is made, and not sent. */
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    CU_ASSERT_EQUAL(tls_side_counters(&server).handshakes, 0);
    CU_ASSERT_TRUE(say(&peer, &server, text, raw_request(text, "OPTIONS", "192.0.2.1", 1, 0)));
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", 1));
    CU_ASSERT_EQUAL(tls_side_counters(&server).handshakes, 1);
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

/* Each is written at once, and the server is asked once more only when all of it is there: what
 * lies in OpenSSL then is what the socket does not tell of. */
static void a_request_of_20_kb_in_two_records_is_answered_at_once(void)
{
    struct tls_side server;
    struct tls_peer peer;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    size_t size = raw_request(text, "OPTIONS", "192.0.2.1", 1, 20000);
    CU_ASSERT_TRUE(say(&peer, &server, text, size));
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", 1));
    CU_ASSERT_EQUAL(server.tcp.last_size, 20000);
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

static void fifty_requests_in_one_record_are_answered_at_once(void)
{
    struct tls_side server;
    struct tls_peer peer;
    size_t size = 0;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    for (unsigned i = 1; i <= 50; i++) {
        size += raw_request(text + size, "OPTIONS", "192.0.2.1", i, 0);
    }
    CU_ASSERT_FATAL(size <= SSL3_RT_MAX_PLAIN_LENGTH);
    CU_ASSERT_TRUE(say(&peer, &server, text, size));
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", 50));
    CU_ASSERT_EQUAL(server.tcp.cseqs_in_order, 50);
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

static void a_request_in_a_record_for_each_byte_is_answered(void)
{
    struct tls_side server;
    struct tls_peer peer;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    size_t size = raw_request(text, "OPTIONS", "192.0.2.1", 1, 0);
    for (size_t i = 0; i < size; i++) {
        CU_ASSERT_TRUE(tls_peer_write(&peer, text + i, 1));
    }
    CU_ASSERT_TRUE(tls_peer_flush(&peer, &server));
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", 1));
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

/* With many connections ready, each may read only a little in a turn. The socket does not tell of
 * what a record has left in OpenSSL then. */
static void what_a_small_share_of_the_turn_leaves_behind_is_read_nevertheless(void)
{
    struct tls_side server;
    struct tls_peer peer;
    size_t size = 0;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    CU_ASSERT_TRUE(say(&peer, &server, "\r\n", 2));
    for (int i = 0; i < TCP_TURNS_MAX && tcp_side_counters(&server.tcp).received_bytes == 0; i++) {
        tcp_side_turn(&server.tcp);
    }
    for (unsigned i = 1; i <= 50; i++) {
        size += raw_request(text + size, "OPTIONS", "192.0.2.1", i, 0);
    }
    CU_ASSERT_TRUE(say(&peer, &server, text, size));
    struct vd__streams *streams = server.tcp.loop->streams;
    struct vd__connection *connection = vd__connection_table_find(&streams->table, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(connection);
    server.tcp.loop->receive_quota = 1;
    vd__connection_receive(connection);
    CU_ASSERT_EQUAL(server.tcp.requests, 50);
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", 50));
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

/* The bytes of the handshake and of a request come one by one. */
static void bytes_may_come_one_at_a_time(void)
{
    struct tls_side server;
    struct tls_peer peer;
    char *bytes;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    size_t size = raw_request(text, "OPTIONS", "192.0.2.1", 1, 0);
    CU_ASSERT_TRUE(tls_peer_write(&peer, text, size));
    long encrypted = BIO_get_mem_data(peer.out, &bytes);
    for (long i = 0; i < encrypted; i++) {
        CU_ASSERT_TRUE(raw_write(&peer.raw, &server.tcp, bytes + i, 1));
        tcp_side_turn(&server.tcp);
    }
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", 1));
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

/* ---- What we send ---- */

/* A record's header has its type and its length; the last ones are those of application data. */
static unsigned count_records(const struct raw_peer *raw)
{
    unsigned count = 0;
    size_t at = 0;

    while (at + 5 <= raw->size) {
        count += raw->bytes[at] == SSL3_RT_APPLICATION_DATA;
        at += 5 + ((size_t)(unsigned char)raw->bytes[at + 3] << 8) +
              (unsigned char)raw->bytes[at + 4];
    }
    return count;
}

static void what_is_sent_in_a_turn_shares_records(void)
{
    struct tls_side server;
    struct tls_peer peer;
    size_t size = 0;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    CU_ASSERT_TRUE(tls_peer_flush(&peer, &server));
    /* The session ticket comes first. */
    for (int i = 0; i < 10 || tls_side_counters(&server).handshakes == 0; i++) {
        tcp_side_turn(&server.tcp);
    }
    tls_peer_read(&peer);
    for (unsigned i = 1; i <= 50; i++) {
        size += raw_request(text + size, "OPTIONS", "192.0.2.1", i, 0);
    }
    uint64_t calls = tcp_side_counters(&server.tcp).send_calls;
    CU_ASSERT_TRUE(say(&peer, &server, text, size));
    CU_ASSERT_TRUE(tcp_side_until(&server.tcp, &server.tcp.requests, 50));
    CU_ASSERT_EQUAL(tcp_side_counters(&server.tcp).send_calls, calls + 1);
    size = (size_t)tcp_side_counters(&server.tcp).sent_bytes;
    raw_read(&peer.raw);
    CU_ASSERT_EQUAL(count_records(&peer.raw),
                    (size + SSL3_RT_MAX_PLAIN_LENGTH - 1) / SSL3_RT_MAX_PLAIN_LENGTH);
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", 50));
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

/* The peer's kernel takes little at a time, so records are written in pieces, and are offered again
 * while more is queued behind them. */
static void long_transfers_pass_in_pieces(void)
{
    enum { COUNT = 150 };
    static const size_t sizes[] = {0, 1, 50000, 200, 16384, 16000, 300, 33000};
    struct tls_side client;
    struct tls_side server;
    uint32_t size_count = sizeof sizes / sizeof sizes[0];

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_side_init(&client));
    client.config.verify = false;
    client.options.tcp.send_buffer = 65536;
    CU_ASSERT_TRUE_FATAL(tls_side_open(&client));
    for (uint32_t i = 1; i <= COUNT; i++) {
        CU_ASSERT_EQUAL(
            tcp_side_request(&client.tcp, "OPTIONS", &server.tcp.addr, i, sizes[i % size_count]),
            0);
        tcp_side_turn(&client.tcp);
        if (i % 16 == 0) {
            tcp_side_turn(&server.tcp);
        }
    }
    CU_ASSERT_TRUE(tcp_sides_until(&client.tcp, &server.tcp, &client.tcp.responses, COUNT));
    CU_ASSERT_EQUAL(server.tcp.cseqs_in_order, COUNT);
    CU_ASSERT_EQUAL(server.tcp.last_size, sizes[COUNT % size_count]);
    CU_ASSERT(tcp_side_counters(&client.tcp).would_block > 0);
    CU_ASSERT_EQUAL(tcp_side_counters(&client.tcp).sent_bytes,
                    tcp_side_counters(&server.tcp).received_bytes);
    CU_ASSERT_EQUAL(tcp_side_counters(&client.tcp).connected, 1);
    CU_ASSERT_TRUE(tls_side_free(&client));
    CU_ASSERT_TRUE(tls_side_free(&server));
}

/* ---- Keys and renegotiation ---- */

static void keys_may_be_changed_on_the_way(void)
{
    struct tls_side server;
    struct tls_peer peer;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    for (unsigned i = 1; i <= 5; i++) {
        CU_ASSERT_TRUE(say(&peer, &server, text, raw_request(text, "OPTIONS", "192.0.2.1", i, 0)));
        CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", i));
        CU_ASSERT_EQUAL(SSL_key_update(peer.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
    }
    CU_ASSERT_EQUAL(server.warnings, 0);
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

static void renegotiation_is_refused(void)
{
    SSL_CTX *context = tls_peer_context(NULL);
    struct tls_side server;
    struct tls_peer peer;

    server_open(&server);
    SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, context, &server));
    CU_ASSERT_EQUAL(SSL_renegotiate(peer.ssl), 1);
    (void)SSL_do_handshake(peer.ssl);
    CU_ASSERT_TRUE(tls_peer_flush(&peer, &server));
    /* The peer is told no_renegotiation, which ends its side; ours makes no second handshake. */
    CU_ASSERT_TRUE(tls_peer_until_ended(&peer, &server));
    CU_ASSERT_EQUAL(ERR_GET_REASON(ERR_peek_last_error()), SSL_R_NO_RENEGOTIATION);
    CU_ASSERT_EQUAL(tls_side_counters(&server).handshakes, 1);
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server.tcp, 0));
    CU_ASSERT_TRUE(tls_side_free(&server));
    SSL_CTX_free(context);
}

/* ---- Peers that do not behave ---- */

/* Sends bytes instead of a handshake, beside a peer that behaves. */
static void check_garbage(const char *bytes, size_t size, const char *reason)
{
    struct tls_side server;
    struct tls_peer peer;
    struct raw_peer bad;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    CU_ASSERT_TRUE(say(&peer, &server, text, raw_request(text, "OPTIONS", "192.0.2.1", 1, 0)));
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", 1));

    CU_ASSERT_TRUE_FATAL(raw_connect(&bad, &server.tcp.addr));
    CU_ASSERT_TRUE(raw_write(&bad, &server.tcp, bytes, size));
    CU_ASSERT_TRUE(raw_until_ended(&bad, &server.tcp));
    raw_close(&bad);
    CU_ASSERT_EQUAL(tls_side_counters(&server).handshake_failed, 1);
    CU_ASSERT_EQUAL(server.warnings, 1);
    CU_ASSERT_STRING_EQUAL(server.warning, "a TLS handshake failed");
    CU_ASSERT_PTR_NOT_NULL(strstr(server.warning_data, reason));

    CU_ASSERT_TRUE(say(&peer, &server, text, raw_request(text, "OPTIONS", "192.0.2.1", 2, 0)));
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", 2));
    CU_ASSERT_EQUAL(tcp_side_counters(&server.tcp).connections, 1);
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

static void garbage_instead_of_a_handshake_loses_its_own_connection_only(void)
{
    size_t size = raw_request(text, "OPTIONS", "192.0.2.1", 1, 0);
    char request[RAW_REQUEST_SIZE];

    memcpy(request, text, size);
    check_garbage(request, size, "wrong version number");
    static const char http[] = "GET / HTTP/1.1\r\n\r\n";
    check_garbage(http, sizeof http - 1, "http request");
    /* A record that says that it is longer than records are. */
    static const char longer[] = "\x16\x03\x01\xff\xff"
                                 "and more";
    check_garbage(longer, sizeof longer - 1, "packet length too long");
    /* A ClientHello that ends in its middle, in a record that is whole. */
    static const char broken[] = "\x16\x03\x01\x00\x08\x01\x00\x00\x04\x03\x03\x00\x00";
    check_garbage(broken, sizeof broken - 1, "length");
}

static void garbage_after_the_handshake_loses_its_own_connection_only(void)
{
    struct tls_side server;
    struct tls_peer peer;
    char *bytes;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    CU_ASSERT_TRUE(tls_peer_flush(&peer, &server));
    CU_ASSERT_TRUE(tls_peer_write(&peer, text, raw_request(text, "OPTIONS", "192.0.2.1", 1, 0)));
    (void)BIO_get_mem_data(peer.out, &bytes);
    bytes[20] ^= 1;
    CU_ASSERT_TRUE(tls_peer_flush(&peer, &server));
    CU_ASSERT_TRUE(tls_peer_until_ended(&peer, &server));
    CU_ASSERT_EQUAL(server.tcp.requests, 0);
    CU_ASSERT_EQUAL(tls_side_counters(&server).protocol_errors, 1);
    CU_ASSERT_STRING_EQUAL(server.warning, "a connection broke a rule of TLS");
    CU_ASSERT_PTR_NOT_NULL(strstr(server.warning_data, "bad record mac"));
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

/* A request behind which a broken record came is answered nevertheless. */
static void what_came_before_garbage_is_handed_up(void)
{
    struct tls_side server;
    struct tls_peer peer;
    char *bytes;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    size_t size = raw_request(text, "OPTIONS", "192.0.2.1", 1, 0);
    CU_ASSERT_TRUE(tls_peer_write(&peer, text, size) && tls_peer_write(&peer, text, size));
    long encrypted = BIO_get_mem_data(peer.out, &bytes);
    bytes[encrypted - 1] ^= 1;
    CU_ASSERT_TRUE(tls_peer_flush(&peer, &server));
    CU_ASSERT_TRUE(tcp_side_until(&server.tcp, &server.tcp.requests, 1));
    CU_ASSERT_TRUE(tcp_side_until_connections(&server.tcp, 0));
    CU_ASSERT_EQUAL(tls_side_counters(&server).protocol_errors, 1);
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

static void a_peer_that_never_ends_its_handshake_is_let_go(void)
{
    struct tls_side server;
    struct raw_peer silent;
    struct vd_tcp_limits limits;

    server_open(&server);
    vd_tcp_get_limits(server.tcp.loop, &limits);
    CU_ASSERT_TRUE_FATAL(raw_connect(&silent, &server.tcp.addr));
    CU_ASSERT_TRUE(raw_write(&silent, &server.tcp, "\x16\x03\x01", 3));
    CU_ASSERT_TRUE(tcp_side_until_connections(&server.tcp, 1));
    tcp_side_pass(&server.tcp, limits.first_message_time - 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&server.tcp).connections, 1);
    tcp_side_pass(&server.tcp, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&server.tcp).connections, 0);
    CU_ASSERT_EQUAL(tcp_side_counters(&server.tcp).silent_timeouts, 1);
    raw_close(&silent);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

static void a_silent_peer_costs_no_memory_of_openssl(void)
{
    struct tls_side server;
    struct raw_peer silent;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(raw_connect(&silent, &server.tcp.addr));
    CU_ASSERT_TRUE(tcp_side_until_connections(&server.tcp, 1));
    for (int i = 0; i < 5; i++) {
        tcp_side_turn(&server.tcp);
    }
    const struct vd__connection *connection =
        vd__connection_table_find(&server.tcp.loop->streams->table, 1);
    CU_ASSERT_PTR_NULL(vd__tls_state(connection));
    CU_ASSERT_TRUE(raw_write(&silent, &server.tcp, "\x16", 1));
    for (int i = 0; i < TCP_TURNS_MAX && vd__tls_state(connection) == NULL; i++) {
        tcp_side_turn(&server.tcp);
    }
    CU_ASSERT_PTR_NOT_NULL(vd__tls_state(connection));
    raw_close(&silent);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server.tcp, 0));
    CU_ASSERT_TRUE(tls_side_free(&server));
}

static void a_server_that_never_answers_the_handshake_fails_the_request(void)
{
    struct tls_side client;
    struct vd_tcp_limits limits;
    struct vd_addr addr;
    int listener = raw_listen(&addr);

    client_open(&client, &addr);
    vd_tcp_get_limits(client.tcp.loop, &limits);
    for (int i = 0; i < 10; i++) {
        tcp_side_turn(&client.tcp);
    }
    CU_ASSERT_EQUAL(client.tcp.failures, 0);
    tcp_side_pass(&client.tcp, limits.connect_time);
    CU_ASSERT_TRUE(tcp_side_until(&client.tcp, &client.tcp.failures, 1));
    CU_ASSERT_EQUAL(client.tcp.last_error, VD_ERR_TRANSPORT);
    CU_ASSERT_EQUAL(tcp_side_counters(&client.tcp).connect_timeouts, 1);
    CU_ASSERT_TRUE(tls_side_free(&client));
    close(listener);
}

static void a_server_that_speaks_no_tls_fails_the_request_and_the_log_says_why(void)
{
    struct tls_side client;
    struct raw_peer peer;
    struct vd_addr addr;
    int listener = raw_listen(&addr);

    client_open(&client, &addr);
    CU_ASSERT_TRUE_FATAL(raw_accept(&peer, listener, &client.tcp));
    CU_ASSERT_TRUE(raw_send(&peer, &client.tcp, "SIP/2.0 400 Bad Request\r\n\r\n"));
    CU_ASSERT_TRUE(tcp_side_until(&client.tcp, &client.tcp.failures, 1));
    CU_ASSERT_EQUAL(client.tcp.last_error, VD_ERR_TRANSPORT);
    CU_ASSERT_STRING_EQUAL(client.warning, "a TLS handshake failed");
    CU_ASSERT_PTR_NOT_NULL(strstr(client.warning_data, "wrong version number"));
    raw_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&client));
    close(listener);
}

static void a_server_that_ends_in_the_handshake_fails_the_request(void)
{
    struct tls_side client;
    struct raw_peer peer;
    struct vd_addr addr;
    int listener = raw_listen(&addr);

    client_open(&client, &addr);
    CU_ASSERT_TRUE_FATAL(raw_accept(&peer, listener, &client.tcp));
    raw_shut(&peer);
    CU_ASSERT_TRUE(tcp_side_until(&client.tcp, &client.tcp.failures, 1));
    CU_ASSERT_EQUAL(client.tcp.last_error, VD_ERR_TRANSPORT);
    raw_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&client));
    close(listener);
}

/* ---- Ends ---- */

/* A peer that has closed its sending half still gets its answer, whether it said so or not. */
static void check_end(bool close_notify)
{
    struct tls_side server;
    struct tls_peer peer;

    server_open(&server);
    server.tcp.answer = 0;
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    CU_ASSERT_TRUE(say(&peer, &server, text, raw_request(text, "OPTIONS", "192.0.2.1", 1, 0)));
    CU_ASSERT_TRUE(tcp_side_until(&server.tcp, &server.tcp.requests, 1));
    if (close_notify) {
        CU_ASSERT(SSL_shutdown(peer.ssl) >= 0);
        CU_ASSERT_TRUE(tls_peer_flush(&peer, &server));
    }
    raw_shut(&peer.raw);
    for (int i = 0; i < 10; i++) {
        tcp_side_turn(&server.tcp);
    }
    CU_ASSERT_EQUAL(tcp_side_counters(&server.tcp).connections, 1);
    tcp_side_answer(&server.tcp, 200);
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", 1));
    CU_ASSERT_TRUE(tls_peer_until_ended(&peer, &server));
    CU_ASSERT_EQUAL(SSL_get_shutdown(peer.ssl) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
    CU_ASSERT_EQUAL(server.warnings, 0);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server.tcp, 0));
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

static void an_end_without_close_notify_is_an_end_like_another(void)
{
    check_end(true);
    check_end(false);
}

/* Everything in one segment: the end must not hide what came before it. */
static void a_request_and_close_notify_in_one_segment_get_an_answer(void)
{
    struct tls_side server;
    struct tls_peer peer;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    CU_ASSERT_TRUE(tls_peer_write(&peer, text, raw_request(text, "OPTIONS", "192.0.2.1", 1, 0)));
    CU_ASSERT(SSL_shutdown(peer.ssl) >= 0);
    CU_ASSERT_TRUE(tls_peer_flush(&peer, &server));
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", 1));
    CU_ASSERT_TRUE(tcp_side_until_connections(&server.tcp, 0));
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

static void a_reset_fails_the_request_that_waits(void)
{
    struct tls_side client;
    struct tls_peer peer;
    struct vd_addr addr;
    int listener = raw_listen(&addr);
    SSL_CTX *context = tls_peer_context(&own);

    client_open(&client, &addr);
    CU_ASSERT_TRUE_FATAL(tls_peer_accept(&peer, context, listener, &client));
    CU_ASSERT_TRUE(tls_peer_until(&peer, &client, "OPTIONS sip:", 1));
    SSL_free(peer.ssl);
    free(peer.plain);
    raw_reset(&peer.raw);
    CU_ASSERT_TRUE(tcp_side_until(&client.tcp, &client.tcp.failures, 1));
    CU_ASSERT_EQUAL(client.tcp.last_error, VD_ERR_TRANSPORT);
    CU_ASSERT_EQUAL(tls_side_counters(&client).protocol_errors, 0);
    CU_ASSERT_TRUE(tls_side_free(&client));
    SSL_CTX_free(context);
    close(listener);
}

static void a_ping_is_answered(void)
{
    struct tls_side server;
    struct tls_peer peer;

    server_open(&server);
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, peers, &server));
    CU_ASSERT_TRUE(say(&peer, &server, "\r\n\r\n", 4));
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "\r\n", 1));
    CU_ASSERT_EQUAL(peer.size, 2);
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"a request in the segment of the finished is answered",
         a_request_in_the_segment_of_the_finished_is_answered},
        {"a request of 20 kb in two records is answered at once",
         a_request_of_20_kb_in_two_records_is_answered_at_once},
        {"fifty requests in one record are answered at once",
         fifty_requests_in_one_record_are_answered_at_once},
        {"a request in a record for each byte is answered",
         a_request_in_a_record_for_each_byte_is_answered},
        {"what a small share of the turn leaves behind is read nevertheless",
         what_a_small_share_of_the_turn_leaves_behind_is_read_nevertheless},
        {"bytes may come one at a time", bytes_may_come_one_at_a_time},
        {"what is sent in a turn shares records", what_is_sent_in_a_turn_shares_records},
        {"long transfers pass in pieces", long_transfers_pass_in_pieces},
        {"keys may be changed on the way", keys_may_be_changed_on_the_way},
        {"renegotiation is refused", renegotiation_is_refused},
        {"garbage instead of a handshake loses its own connection only",
         garbage_instead_of_a_handshake_loses_its_own_connection_only},
        {"garbage after the handshake loses its own connection only",
         garbage_after_the_handshake_loses_its_own_connection_only},
        {"what came before garbage is handed up", what_came_before_garbage_is_handed_up},
        {"a peer that never ends its handshake is let go",
         a_peer_that_never_ends_its_handshake_is_let_go},
        {"a silent peer costs no memory of openssl", a_silent_peer_costs_no_memory_of_openssl},
        {"a server that never answers the handshake fails the request",
         a_server_that_never_answers_the_handshake_fails_the_request},
        {"a server that speaks no tls fails the request and the log says why",
         a_server_that_speaks_no_tls_fails_the_request_and_the_log_says_why},
        {"a server that ends in the handshake fails the request",
         a_server_that_ends_in_the_handshake_fails_the_request},
        {"an end without close notify is an end like another",
         an_end_without_close_notify_is_an_end_like_another},
        {"a request and close notify in one segment get an answer",
         a_request_and_close_notify_in_one_segment_get_an_answer},
        {"a reset fails the request that waits", a_reset_fails_the_request_that_waits},
        {"a ping is answered", a_ping_is_answered},
        CU_TEST_INFO_NULL,
    };

    peers = tls_peer_context(NULL);
    if (peers == NULL || !tls_certificate_make(&own, &(struct tls_certificate_plan){
                                                         .alternative = "URI:sip:example.com"})) {
        return 1;
    }
    int status = run_over_selectors("tls stream", tests);
    tls_certificate_free(&own);
    SSL_CTX_free(peers);
    return status;
}
