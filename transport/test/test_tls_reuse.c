/* test_tls_reuse.c - which connection a request takes over TLS, and sessions that are resumed.
 *
 * Covered: hosts that change, connections that peers opened, aliases (RFC 5923), resumption, the
 * tables behind them. Not covered: who is let through (test_tls.c), what TLS has in common with TCP
 * (test_tcp.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "run_suite.h"
#include "tls_internal.h"
#include "tls_pair.h"

/* ---- Which connection a request takes ---- */

static void a_connection_serves_another_host_when_its_certificate_names_it_too(void)
{
    struct tls_certificate own = tls_named("URI:sip:a.example,URI:sip:b.example");
    struct tls_pair pair;

    tls_pair_init(&pair);
    tls_pair_open(&pair, &own, "a.example");
    CU_ASSERT_TRUE(tls_pair_ask(&pair, 1));
    CU_ASSERT_TRUE(tls_side_expect(&pair.client, &pair.server, "b.example"));
    CU_ASSERT_TRUE(tls_pair_ask(&pair, 2));
    CU_ASSERT_EQUAL(tcp_side_counters(&pair.client.tcp).connected, 1);
    /* What is expected now is looked for anew, and not found. */
    CU_ASSERT_TRUE(tls_side_expect(&pair.client, &pair.server, "c.example"));
    CU_ASSERT_FALSE(tls_pair_ask(&pair, 3));
    CU_ASSERT_EQUAL(tcp_side_counters(&pair.client.tcp).connections, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(pair.client.warning_data, "expected c.example"));
    tls_pair_free(&pair);
    tls_certificate_free(&own);
}

/* The name changes between the beginning of a connection and its handshake. */
static void a_connection_in_the_making_keeps_the_host_that_it_was_begun_for(void)
{
    struct tls_certificate own = tls_named("URI:sip:a.example");
    struct tls_pair pair;

    tls_pair_init(&pair);
    tls_pair_open(&pair, &own, "a.example");
    struct tcp_side *client = &pair.client.tcp;
    tcp_side_turn(client); /* it learns the time */
    CU_ASSERT_EQUAL(tcp_side_request(client, "OPTIONS", &pair.server.tcp.addr, 1, 0), 0);
    /* What a turn does at its end; it does not look at the socket yet. */
    struct vd_send message;
    CU_ASSERT_EQUAL(vd_stack_poll_send(client->stack, &message, 1), 1);
    (void)vd__streams_send(client->loop->streams, vd__loop_find_stack(client->loop, client->stack),
                           &message, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(client).connections, 1);
    CU_ASSERT_TRUE(tls_side_expect(&pair.client, &pair.server, "b.example"));
    CU_ASSERT_EQUAL(tcp_side_request(client, "OPTIONS", &pair.server.tcp.addr, 2, 0), 0);
    CU_ASSERT_TRUE(tcp_sides_until(client, &pair.server.tcp, &client->responses, 1));
    CU_ASSERT_TRUE(tcp_sides_until(client, &pair.server.tcp, &client->failures, 1));
    CU_ASSERT_EQUAL(pair.server.tcp.last_cseq, 1);
    tls_pair_free(&pair);
    tls_certificate_free(&own);
}

/* An accepted connection is used for requests of ours only when its peer has shown who it is. The
 * host is expected before the connection is there, or after. */
static void check_inbound_reuse(enum vd_tls_client_certificate wanted, bool early, bool reused)
{
    struct tls_certificate own = tls_named("URI:sip:example.com");
    struct tls_certificate clients = tls_named("URI:sip:client.example.com");
    struct tls_pair pair;
    struct tcp_side *server = &pair.server.tcp;

    tls_pair_init(&pair);
    tls_side_trust(&pair.client, &clients, NULL);
    pair.server.config.client_certificate = wanted;
    if (early) {
        pair.server.options.peer_name = VD_STR("client.example.com");
    }
    tls_pair_open(&pair, &own, "example.com");
    CU_ASSERT_TRUE(tls_pair_ask(&pair, 1));
    struct vd_addr remote = server->last_flow.remote;
    if (!early) {
        CU_ASSERT_EQUAL(vd_tls_expect_name(server->loop, server->stack, server->endpoint, &remote,
                                           VD_STR("client.example.com")),
                        0);
    }
    CU_ASSERT_EQUAL(tcp_side_request(server, "OPTIONS", &remote, 2, 0), 0);
    for (int i = 0; i < TCP_TURNS_MAX && server->responses + server->failures == 0; i++) {
        tcp_side_turn(server);
        tcp_side_turn(&pair.client.tcp);
    }
    CU_ASSERT_EQUAL(server->responses, reused);
    CU_ASSERT_EQUAL(pair.client.tcp.requests, reused);
    tls_pair_free(&pair);
    tls_certificate_free(&own);
    tls_certificate_free(&clients);
}

static void an_accepted_connection_is_reused_when_its_peer_is_known(void)
{
    check_inbound_reuse(VD_TLS_CLIENT_REQUIRE, true, true);
    check_inbound_reuse(VD_TLS_CLIENT_REQUIRE, false, true);
    check_inbound_reuse(VD_TLS_CLIENT_NONE, true, false);
    check_inbound_reuse(VD_TLS_CLIENT_NONE, false, false);
}

/* RFC 5923: the peer says in its Via that its listening port may be reached by this connection. */
static void check_alias(const char *alias, enum vd_tls_client_certificate wanted, const char *host,
                        bool reused)
{
    struct tls_certificate own = tls_named("URI:sip:example.com");
    struct tls_certificate clients = tls_named("URI:sip:client.example.com");
    SSL_CTX *context = tls_peer_context(&clients);
    struct tls_side server;
    struct tls_peer peer;
    char text[RAW_REQUEST_SIZE];

    CU_ASSERT_TRUE_FATAL(tls_side_init(&server));
    tls_side_trust(&server, &own, &tls_authority);
    server.config.client_certificate = wanted;
    CU_ASSERT_TRUE_FATAL(tls_side_open(&server));
    CU_ASSERT_TRUE_FATAL(tls_peer_connect(&peer, context, &server));
    char sent_by[64];
    snprintf(sent_by, sizeof sent_by, "client.example.com:1%s", alias);
    size_t size = raw_request(text, "OPTIONS", sent_by, 1, 0);
    CU_ASSERT_TRUE(tls_peer_write(&peer, text, size) && tls_peer_flush(&peer, &server));
    CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "SIP/2.0 200", 1));

    struct vd_addr listens = raw_loopback();
    listens.port = 1; /* nobody listens there */
    CU_ASSERT_EQUAL(vd_tls_expect_name(server.tcp.loop, server.tcp.stack, server.tcp.endpoint,
                                       &listens, vd_str_from(host)),
                    0);
    CU_ASSERT_EQUAL(tcp_side_request(&server.tcp, "MESSAGE", &listens, 2, 0), 0);
    if (reused) {
        CU_ASSERT_TRUE(tls_peer_until(&peer, &server, "MESSAGE sip:", 1));
    } else {
        CU_ASSERT_TRUE(tcp_side_until(&server.tcp, &server.tcp.failures, 1));
        CU_ASSERT_EQUAL(server.tcp.last_error, VD_ERR_REFUSED);
    }
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server.tcp, 0));
    /* With the connection its alias is gone: only the host that is expected is left. */
    const struct vd__tls_endpoint *endpoint = server.tcp.loop->streams->endpoints->channel_context;
    CU_ASSERT_EQUAL(endpoint->names.count, 1);
    CU_ASSERT_EQUAL(vd__tls_names_alias(&endpoint->names, &listens), 0);
    unsigned failures = server.tcp.failures;
    CU_ASSERT_EQUAL(tcp_side_request(&server.tcp, "MESSAGE", &listens, 3, 0), 0);
    CU_ASSERT_TRUE(tcp_side_until(&server.tcp, &server.tcp.failures, failures + 1));
    CU_ASSERT_TRUE(tls_side_free(&server));
    SSL_CTX_free(context);
    tls_certificate_free(&own);
    tls_certificate_free(&clients);
}

static void an_alias_is_taken_from_a_peer_that_has_shown_who_it_is(void)
{
    check_alias(";alias", VD_TLS_CLIENT_REQUIRE, "client.example.com", true);
    check_alias("", VD_TLS_CLIENT_REQUIRE, "client.example.com", false);
    check_alias(";alias", VD_TLS_CLIENT_NONE, "client.example.com", false);
    check_alias(";alias", VD_TLS_CLIENT_REQUIRE, "other.example.com", false);
}

/* ---- Sessions ---- */

/* Ends the connections of both sides as idle. */
static void let_idle(struct tls_pair *pair)
{
    tcp_side_pass(&pair->client.tcp, 700 * VD_SEC);
    tcp_side_pass(&pair->server.tcp, 0);
    CU_ASSERT_TRUE(tcp_side_until_connections(&pair->client.tcp, 0));
    CU_ASSERT_TRUE(tcp_side_until_connections(&pair->server.tcp, 0));
}

static void check_resumption(uint16_t version, uint32_t sessions, uint64_t resumed)
{
    struct tls_certificate own = tls_named("URI:sip:a.example,URI:sip:b.example");
    struct tls_pair pair;

    tls_pair_init(&pair);
    pair.client.options.sessions = sessions;
    tls_pair_open(&pair, &own, "a.example");
    SSL_CTX_set_max_proto_version(pair.client.context->ssl, version);
    CU_ASSERT_TRUE(tls_pair_ask(&pair, 1));
    let_idle(&pair);
    CU_ASSERT_TRUE(tls_pair_ask(&pair, 2));
    CU_ASSERT_EQUAL(tls_side_counters(&pair.client).resumed, resumed);
    CU_ASSERT_EQUAL(tls_side_counters(&pair.server).resumed, resumed);
    let_idle(&pair);
    /* A session belongs to the host that it was made with. */
    CU_ASSERT_TRUE(tls_side_expect(&pair.client, &pair.server, "b.example"));
    CU_ASSERT_TRUE(tls_pair_ask(&pair, 3));
    CU_ASSERT_EQUAL(tls_side_counters(&pair.client).resumed, resumed);
    CU_ASSERT_EQUAL(tls_side_counters(&pair.client).handshakes, 3);
    tls_pair_free(&pair);
    tls_certificate_free(&own);
}

static void a_second_connection_to_a_host_resumes_the_session(void)
{
    check_resumption(TLS1_3_VERSION, 256, 1);
    check_resumption(TLS1_2_VERSION, 256, 1);
    check_resumption(TLS1_3_VERSION, 0, 0);
}

static void a_resumed_session_still_tells_who_the_peer_is(void)
{
    struct tls_certificate own = tls_named("URI:sip:example.com");
    struct tls_certificate clients = tls_named("URI:sip:client.example.com");
    struct tls_pair pair;

    tls_pair_init(&pair);
    tls_side_trust(&pair.client, &clients, NULL);
    pair.server.config.client_certificate = VD_TLS_CLIENT_REQUIRE;
    tls_pair_open(&pair, &own, "example.com");
    CU_ASSERT_TRUE(tls_pair_ask(&pair, 1));
    let_idle(&pair);
    CU_ASSERT_TRUE(tls_pair_ask(&pair, 2));
    CU_ASSERT_EQUAL(tls_side_counters(&pair.server).resumed, 1);
    CU_ASSERT_TRUE(vd_tls_peer_is(pair.server.tcp.loop, pair.server.tcp.stack,
                                  &pair.server.tcp.last_flow, VD_STR("client.example.com")));
    tls_pair_free(&pair);
    tls_certificate_free(&own);
    tls_certificate_free(&clients);
}

static void the_session_that_was_used_longest_ago_goes_first(void)
{
    struct tls_side side;
    struct vd__tls_sessions sessions = {.max = 2};

    CU_ASSERT_TRUE_FATAL(tls_side_init(&side));
    sessions.loop = side.tcp.loop;
    CU_ASSERT_TRUE(vd__tls_sessions_put(&sessions, VD_STR("a.example"), SSL_SESSION_new()));
    CU_ASSERT_TRUE(vd__tls_sessions_put(&sessions, VD_STR("b.example"), SSL_SESSION_new()));
    CU_ASSERT_TRUE(vd__tls_sessions_put(&sessions, VD_STR("A.example"), SSL_SESSION_new()));
    CU_ASSERT_EQUAL(sessions.count, 2);
    CU_ASSERT_TRUE(vd__tls_sessions_put(&sessions, VD_STR("c.example"), SSL_SESSION_new()));
    CU_ASSERT_EQUAL(sessions.count, 2);
    /* Those that cannot be resumed are thrown away when they are asked for. */
    CU_ASSERT_PTR_NULL(vd__tls_sessions_take(&sessions, VD_STR("b.example")));
    CU_ASSERT_EQUAL(sessions.count, 2);
    CU_ASSERT_PTR_NULL(vd__tls_sessions_take(&sessions, VD_STR("a.example")));
    CU_ASSERT_EQUAL(sessions.count, 1);
    vd__tls_sessions_free(&sessions);
    CU_ASSERT_EQUAL(sessions.count, 0);
    CU_ASSERT_TRUE(tls_side_free(&side));
}

/* ---- Names by address ---- */

static void hosts_are_found_by_address_however_many_there_are(void)
{
    struct tls_side side;
    struct vd__tls_names names = {0};
    struct vd_addr addr = raw_loopback();
    char host[32];

    CU_ASSERT_TRUE_FATAL(tls_side_init(&side));
    names.streams = side.tcp.loop->streams;
    CU_ASSERT_EQUAL(vd__tls_names_host(&names, &addr).n, 0);
    CU_ASSERT_EQUAL(vd__tls_names_alias(&names, &addr), 0);
    for (uint16_t port = 1; port <= 1000; port++) {
        addr.port = port;
        snprintf(host, sizeof host, "h%u.example", port);
        CU_ASSERT_TRUE(vd__tls_names_set_host(&names, &addr, vd_str_from(host)));
        CU_ASSERT_TRUE(vd__tls_names_set_alias(&names, &addr, port));
    }
    for (uint16_t port = 1; port <= 1000; port++) {
        addr.port = port;
        snprintf(host, sizeof host, "h%u.example", port);
        CU_ASSERT_TRUE(vd_str_equal(vd__tls_names_host(&names, &addr), vd_str_from(host)));
        CU_ASSERT_EQUAL(vd__tls_names_alias(&names, &addr), port);
        CU_ASSERT_TRUE(vd__tls_names_set_host(&names, &addr, vd_str(NULL, 0)));
        CU_ASSERT_EQUAL(vd__tls_names_alias(&names, &addr), port);
        CU_ASSERT_TRUE(vd__tls_names_set_alias(&names, &addr, 0));
    }
    CU_ASSERT_EQUAL(names.count, 0);
    vd__tls_names_free(&names);
    CU_ASSERT_TRUE(tls_side_free(&side));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"a connection serves another host when its certificate names it too",
         a_connection_serves_another_host_when_its_certificate_names_it_too},
        {"a connection in the making keeps the host that it was begun for",
         a_connection_in_the_making_keeps_the_host_that_it_was_begun_for},
        {"an accepted connection is reused when its peer is known",
         an_accepted_connection_is_reused_when_its_peer_is_known},
        {"an alias is taken from a peer that has shown who it is",
         an_alias_is_taken_from_a_peer_that_has_shown_who_it_is},
        {"a second connection to a host resumes the session",
         a_second_connection_to_a_host_resumes_the_session},
        {"a resumed session still tells who the peer is",
         a_resumed_session_still_tells_who_the_peer_is},
        {"the session that was used longest ago goes first",
         the_session_that_was_used_longest_ago_goes_first},
        {"hosts are found by address however many there are",
         hosts_are_found_by_address_however_many_there_are},
        CU_TEST_INFO_NULL,
    };

    if (!tls_authorities_make()) {
        return 1;
    }
    int status = run_suite("tls reuse", tests);
    tls_authorities_free();
    return status;
}
