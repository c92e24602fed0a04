/* test_tls.c - TLS endpoints: who is let through, and what becomes of the others.
 *
 * Covered: contexts, opening endpoints, verification of servers and clients, the host that is
 * expected, key log, log events, running out of memory. Not covered: which names a certificate
 * holds (test_tls_identity.c), which connection a request takes and sessions (test_tls_reuse.c),
 * records and unruly peers (test_tls_stream.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "over_selectors.h"
#include "tls_internal.h"
#include "tls_pair.h"

/* ---- Contexts ---- */

static void a_context_that_cannot_be_made_says_why(void)
{
    struct tls_certificate own = tls_named("DNS:example.com");
    struct tls_certificate other = tls_named("DNS:example.com");
    struct vd_tls_pem pem = {NULL, vd_str_from(own.certificate_pem)};
    struct vd_tls_pem key = {NULL, vd_str_from(own.key_pem)};
    struct vd_tls_pem other_key = {NULL, vd_str_from(other.key_pem)};
    struct vd_tls_pem garbage = {NULL, VD_STR("garbage")};
    struct vd_tls_pem missing = {"/nonexistent/file", vd_str(NULL, 0)};
    struct vd_tls_pem twice = {"file", vd_str_from(own.certificate_pem)};
    const struct {
        struct vd_tls_config config;
        int error;
    } cases[] = {
        {{.certificate = pem, .key = key}, 0},
        {{.verify = true}, 0},
        {{.certificate = pem}, VD_ERR_INVALID},
        {{.key = key}, VD_ERR_INVALID},
        {{.certificate = twice, .key = key}, VD_ERR_INVALID},
        {{.certificate = pem, .key = other_key}, VD_ERR_SYNTAX},
        {{.certificate = garbage, .key = key}, VD_ERR_SYNTAX},
        {{.certificate = pem, .key = garbage}, VD_ERR_SYNTAX},
        {{.authorities = garbage}, VD_ERR_SYNTAX},
        {{.authorities = key}, VD_ERR_SYNTAX},
        {{.authorities = missing}, VD_ERR_SYSTEM},
        {{.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256"}, 0},
        {{.ciphers = "NO-SUCH-CIPHER"}, VD_ERR_INVALID},
        {{.cipher_suites = "TLS_AES_128_GCM_SHA256"}, 0},
        {{.cipher_suites = "TLS_NONE"}, VD_ERR_INVALID},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_tls_context *context;
        CU_ASSERT_EQUAL(vd_tls_context_new(&context, &cases[i].config), cases[i].error);
        CU_ASSERT_EQUAL(context != NULL, cases[i].error == 0);
        vd_tls_context_free(context);
    }
    tls_certificate_free(&own);
    tls_certificate_free(&other);
}

static void take_event(const struct vd_log_event *event, void *context)
{
    snprintf(context, 200, "%d %s: %.*s", event->system_error, event->text, (int)event->data.n,
             event->data.p);
}

static void the_log_names_the_file_that_cannot_be_read(void)
{
    char text[200] = "";
    struct vd_tls_config config;
    struct vd_tls_context *context;

    vd_tls_config_init(&config);
    config.authorities.file = "/nonexistent/authorities.pem";
    config.log = take_event;
    config.log_context = text;
    CU_ASSERT_EQUAL(vd_tls_context_new(&context, &config), VD_ERR_SYSTEM);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "/nonexistent/authorities.pem"));
    CU_ASSERT_EQUAL(atoi(text), ENOENT);
}

static void contexts_are_read_from_files_as_well(void)
{
    struct tls_certificate own = tls_named("URI:sip:example.com");
    char path[] = "tls-test-XXXXXX";
    struct tls_pair pair;

    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    FILE *file = fdopen(fd, "w");
    /* Certificate, chain and key in one file. */
    fprintf(file, "%s%s%s", own.certificate_pem, tls_authority.certificate_pem, own.key_pem);
    fclose(file);

    tls_pair_init(&pair);
    pair.server.config.certificate.file = path;
    pair.server.config.key.file = path;
    pair.server.config.authorities.file = path;
    CU_ASSERT_EQUAL(vd_tls_context_new(&pair.server.context, &pair.server.config), 0);
    remove(path);
    struct vd_addr bind = raw_loopback();
    CU_ASSERT_EQUAL_FATAL(vd_tls_open(pair.server.tcp.loop, pair.server.tcp.stack, &bind,
                                      pair.server.context, NULL, &pair.server.tcp.endpoint),
                          0);
    CU_ASSERT_EQUAL(vd_tls_local_addr(pair.server.tcp.loop, pair.server.tcp.stack,
                                      pair.server.tcp.endpoint, &pair.server.tcp.addr),
                    0);
    CU_ASSERT_TRUE_FATAL(tls_side_open(&pair.client));
    CU_ASSERT_TRUE(tls_side_expect(&pair.client, &pair.server, "example.com"));
    CU_ASSERT_TRUE(tls_pair_ask(&pair, 1));
    tls_pair_free(&pair);
    tls_certificate_free(&own);
}

/* ---- Endpoints ---- */

static void what_cannot_be_opened_leaves_nothing_open(void)
{
    struct tls_side side;
    struct vd_tls_options options;
    struct vd_addr bind = raw_loopback();
    struct vd_addr addr;
    uint32_t endpoint;

    CU_ASSERT_TRUE_FATAL(tls_side_init(&side));
    struct vd_loop *loop = side.tcp.loop;
    struct vd_stack *stack = side.tcp.stack;
    CU_ASSERT_EQUAL_FATAL(vd_tls_context_new(&side.context, &side.config), 0);
    CU_ASSERT_EQUAL(vd_tls_open(loop, stack, &bind, NULL, NULL, &endpoint), VD_ERR_INVALID);
    /* It has no certificate to show. */
    CU_ASSERT_EQUAL(vd_tls_open(loop, stack, &bind, side.context, NULL, &endpoint), VD_ERR_INVALID);
    vd_tls_options_init(&options);
    options.tcp.listen = false;
    options.peer_name = VD_STR("*.example.com");
    CU_ASSERT_EQUAL(vd_tls_open(loop, stack, &bind, side.context, &options, &endpoint),
                    VD_ERR_INVALID);
    options.peer_name = VD_STR("example.com");
    options.tcp.sent_by = VD_STR("not a host");
    CU_ASSERT_EQUAL(vd_tls_open(loop, stack, &bind, side.context, &options, &endpoint),
                    VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_tls_local_addr(loop, stack, 0, &addr), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_tls_expect_name(loop, stack, 0, &bind, VD_STR("example.com")),
                    VD_ERR_INVALID);
    options.tcp.sent_by = VD_STR("example.com");
    CU_ASSERT_EQUAL(vd_tls_open(loop, stack, &bind, side.context, &options, &endpoint), 0);
    CU_ASSERT_EQUAL(vd_tls_expect_name(loop, stack, endpoint, &bind, VD_STR("a b")),
                    VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_tcp_local_addr(loop, stack, endpoint, &addr), VD_ERR_INVALID);
    CU_ASSERT_TRUE(tls_side_free(&side));
}

static void a_request_over_tls_says_so_in_its_via(void)
{
    struct tls_certificate own = tls_named("URI:sip:example.com");
    SSL_CTX *context = tls_peer_context(&own);
    struct tls_peer peer;
    struct tls_side client;
    struct vd_addr addr;
    int listener = raw_listen(&addr);

    CU_ASSERT_TRUE_FATAL(tls_side_init(&client));
    tls_side_trust(&client, NULL, &tls_authority);
    client.options.peer_name = VD_STR("example.com");
    CU_ASSERT_TRUE_FATAL(tls_side_open(&client));
    CU_ASSERT_EQUAL(tcp_side_request(&client.tcp, "OPTIONS", &addr, 1, 0), 0);
    tcp_side_turn(&client.tcp);
    CU_ASSERT_TRUE_FATAL(tls_peer_accept(&peer, context, listener, &client));
    CU_ASSERT_STRING_EQUAL(SSL_get_servername(peer.ssl, TLSEXT_NAMETYPE_host_name), "example.com");
    CU_ASSERT_TRUE(
        tls_peer_until(&peer, &client, "Via: SIP/2.0/TLS client.example.com;branch=", 1));
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tcp_side_until(&client.tcp, &client.tcp.failures, 1));
    CU_ASSERT_TRUE(tls_side_free(&client));
    close(listener);
    SSL_CTX_free(context);
    tls_certificate_free(&own);
}

/* ---- Who is let through ---- */

static void requests_and_responses_share_one_connection(void)
{
    struct tls_certificate own = tls_named("URI:sip:example.com");
    struct tls_pair pair;

    tls_pair_init(&pair);
    tls_pair_open(&pair, &own, "example.com");
    for (uint32_t i = 1; i <= 300; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&pair.client.tcp, "OPTIONS", &pair.server.tcp.addr, i, 0),
                        0);
    }
    CU_ASSERT_TRUE(
        tcp_sides_until(&pair.client.tcp, &pair.server.tcp, &pair.client.tcp.responses, 300));
    CU_ASSERT_EQUAL(pair.server.tcp.cseqs_in_order, 300);
    CU_ASSERT_EQUAL(tcp_side_counters(&pair.client.tcp).connected, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&pair.server.tcp).accepted, 1);
    CU_ASSERT_EQUAL(tls_side_counters(&pair.client).handshakes, 1);
    CU_ASSERT_EQUAL(tls_side_counters(&pair.server).handshakes, 1);
    CU_ASSERT_EQUAL(pair.client.warnings + pair.server.warnings, 0);
    tls_pair_free(&pair);
    tls_certificate_free(&own);
}

struct verify_case {
    const char *rule;
    struct tls_certificate_plan plan;
    bool trusted; /* signed by authority */
    const char *host;
    bool verify;
    const char *reason; /* in the log; NULL when it passes */
};

static const struct verify_case verify_cases[] = {
    {"a sip: URI", {.alternative = "URI:sip:example.com"}, true, "example.com", true, NULL},
    {"a DNS name", {.alternative = "DNS:example.com"}, true, "Example.Com", true, NULL},
    {"a common name alone", {.common_name = "example.com"}, true, "example.com", true, NULL},
    {"an address", {.alternative = "URI:sip:127.0.0.1"}, true, NULL, true, NULL},
    {"another name",
     {.common_name = "gw", .alternative = "DNS:example.net"},
     true,
     "example.com",
     true,
     "no DNS name in its subjectAltName is the expected host (RFC 5922 7.1, 7.2); subject CN=gw, "
     "subjectAltName DNS:example.net, expected example.com"},
    {"a wildcard",
     {.alternative = "DNS:*.example.com"},
     true,
     "sip.example.com",
     true,
     "subjectAltName DNS:*.example.com, expected sip.example.com"},
    {"a common name beside a subjectAltName",
     {.common_name = "example.com", .alternative = "DNS:example.net"},
     true,
     "example.com",
     true,
     "RFC 5922"},
    {"the name when the address was expected",
     {.alternative = "DNS:example.com"},
     true,
     NULL,
     true,
     "expected 127.0.0.1"},
    {"an expired one",
     {.alternative = "DNS:example.com", .expired = true},
     true,
     "example.com",
     true,
     "certificate has expired"},
    {"one that signed itself",
     {.alternative = "DNS:example.com"},
     false,
     "example.com",
     true,
     "self-signed certificate"},
    {"an expired one, not verified",
     {.alternative = "DNS:example.com", .expired = true},
     true,
     "example.com",
     false,
     NULL},
    {"one that signed itself, not verified",
     {.alternative = "DNS:example.net"},
     false,
     "example.com",
     false,
     NULL},
};

static void check_verification(const struct verify_case *it, uint16_t version)
{
    struct tls_certificate own;
    struct tls_certificate_plan plan = it->plan;
    struct tls_pair pair;

    plan.issuer = it->trusted ? &tls_authority : NULL;
    CU_ASSERT_TRUE_FATAL(tls_certificate_make(&own, &plan));
    tls_pair_init(&pair);
    pair.client.config.verify = it->verify;
    tls_pair_open(&pair, &own, it->host);
    SSL_CTX_set_max_proto_version(pair.client.context->ssl, version);
    bool answered = tls_pair_ask(&pair, 1);
    if (answered != (it->reason == NULL)) {
        fprintf(stderr, "%s: %s\n", it->rule, pair.client.warning_data);
    }
    CU_ASSERT_EQUAL(answered, it->reason == NULL);
    if (it->reason != NULL) {
        CU_ASSERT_EQUAL(pair.client.tcp.last_error, VD_ERR_TRANSPORT);
        CU_ASSERT_STRING_EQUAL(pair.client.warning, "the certificate of a peer was refused");
        CU_ASSERT_PTR_NOT_NULL(strstr(pair.client.warning_data, it->reason));
        CU_ASSERT_EQUAL(pair.client.warnings, 1);
        CU_ASSERT_EQUAL(tls_side_counters(&pair.client).certificates_refused, 1);
        CU_ASSERT_EQUAL(tls_side_counters(&pair.client).handshake_failed, 1);
        CU_ASSERT_EQUAL(pair.server.tcp.requests, 0);
        CU_ASSERT_TRUE(tcp_side_until_connections(&pair.server.tcp, 0));
    }
    tls_pair_free(&pair);
    tls_certificate_free(&own);
}

static void a_server_passes_when_its_certificate_is_good_and_names_the_host(void)
{
    for (size_t i = 0; i < sizeof verify_cases / sizeof verify_cases[0]; i++) {
        check_verification(&verify_cases[i], TLS1_3_VERSION);
        check_verification(&verify_cases[i], TLS1_2_VERSION);
    }
}

struct client_case {
    enum vd_tls_client_certificate wanted;
    int shown; /* 0 none, 1 a good one, 2 a stranger's */
    bool passes;
    bool known; /* vd_tls_peer_is */
};

static const struct client_case client_cases[] = {
    {VD_TLS_CLIENT_NONE, 0, true, false},     {VD_TLS_CLIENT_NONE, 1, true, false},
    {VD_TLS_CLIENT_NONE, 2, true, false},     {VD_TLS_CLIENT_REQUEST, 0, true, false},
    {VD_TLS_CLIENT_REQUEST, 1, true, true},   {VD_TLS_CLIENT_REQUEST, 2, false, false},
    {VD_TLS_CLIENT_REQUIRE, 0, false, false}, {VD_TLS_CLIENT_REQUIRE, 1, true, true},
    {VD_TLS_CLIENT_REQUIRE, 2, false, false},
};

static void check_client(const struct client_case *it, uint16_t version)
{
    struct tls_certificate own = tls_named("URI:sip:example.com");
    struct tls_certificate good = tls_named("URI:sip:client.example.com");
    struct tls_certificate bad;
    struct tls_pair pair;

    CU_ASSERT_TRUE_FATAL(tls_certificate_make(
        &bad, &(struct tls_certificate_plan){.alternative = "URI:sip:client.example.com",
                                             .issuer = &tls_stranger}));
    tls_pair_init(&pair);
    if (it->shown > 0) {
        tls_side_trust(&pair.client, it->shown == 1 ? &good : &bad, NULL);
    }
    pair.server.config.client_certificate = it->wanted;
    tls_pair_open(&pair, &own, "example.com");
    SSL_CTX_set_max_proto_version(pair.client.context->ssl, version);
    CU_ASSERT_EQUAL(tls_pair_ask(&pair, 1), it->passes);
    CU_ASSERT_EQUAL(pair.server.tcp.requests, it->passes);
    if (!it->passes) {
        CU_ASSERT_EQUAL(pair.client.tcp.last_error, VD_ERR_TRANSPORT);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(pair.server.warning_data,
                   it->shown == 0 ? "did not return" : "unable to get local issuer"));
    }
    const struct vd_flow *flow = &pair.server.tcp.last_flow;
    CU_ASSERT_EQUAL(vd_tls_peer_is(pair.server.tcp.loop, pair.server.tcp.stack, flow,
                                   VD_STR("Client.example.com")),
                    it->known);
    CU_ASSERT_FALSE(
        vd_tls_peer_is(pair.server.tcp.loop, pair.server.tcp.stack, flow, VD_STR("example.com")));
    tls_pair_free(&pair);
    tls_certificate_free(&own);
    tls_certificate_free(&good);
    tls_certificate_free(&bad);
}

static void a_client_shows_a_certificate_when_the_server_wants_one(void)
{
    for (size_t i = 0; i < sizeof client_cases / sizeof client_cases[0]; i++) {
        check_client(&client_cases[i], TLS1_3_VERSION);
        check_client(&client_cases[i], TLS1_2_VERSION);
    }
}

static void versions_before_1_2_are_not_spoken(void)
{
    struct tls_certificate own = tls_named("URI:sip:example.com");
    SSL_CTX *context = tls_peer_context(&own);
    struct tls_side server;
    struct tls_peer peer;

    CU_ASSERT_TRUE_FATAL(tls_side_init(&server));
    tls_side_trust(&server, &own, &tls_authority);
    CU_ASSERT_TRUE_FATAL(tls_side_open(&server));
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0");
    CU_ASSERT_EQUAL_FATAL(SSL_CTX_set_min_proto_version(context, TLS1_VERSION), 1);
    CU_ASSERT_EQUAL_FATAL(SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION), 1);
    CU_ASSERT_FALSE(tls_peer_connect(&peer, context, &server));
    CU_ASSERT_EQUAL(tls_side_counters(&server).handshake_failed, 1);
    CU_ASSERT_STRING_EQUAL(server.warning, "a TLS handshake failed");
    CU_ASSERT_PTR_NOT_NULL(strstr(server.warning_data, "unsupported protocol"));
    tls_peer_close(&peer);
    CU_ASSERT_TRUE(tls_side_free(&server));
    SSL_CTX_free(context);
    tls_certificate_free(&own);
}

/* ---- Key log ---- */

static void take_key_log(const char *line, void *context)
{
    struct tls_side *side = context;

    side->key_log_lines++;
    snprintf(side->key_log_line, sizeof side->key_log_line, "%s", line);
}

static void the_application_gets_the_secrets_when_it_asks(void)
{
    struct tls_certificate own = tls_named("URI:sip:example.com");
    struct tls_pair pair;

    tls_pair_init(&pair);
    pair.client.config.on_key_log = take_key_log;
    pair.client.config.context = &pair.client;
    tls_pair_open(&pair, &own, "example.com");
    CU_ASSERT_TRUE(tls_pair_ask(&pair, 1));
    /* Two for the handshake, two for what follows, and the exporter's. */
    CU_ASSERT(pair.client.key_log_lines >= 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(pair.client.key_log_line, "_SECRET"));
    CU_ASSERT_PTR_NULL(strchr(pair.client.key_log_line, '\n'));
    tls_pair_free(&pair);
    tls_certificate_free(&own);
}

/* ---- Memory ---- */

static void every_allocation_may_fail(void)
{
    struct tls_certificate own = tls_named("URI:sip:example.com");

    for (uint64_t count = 0; count < 60; count++) {
        struct tls_pair pair;
        tls_pair_init(&pair);
        tls_pair_open(&pair, &own, NULL);
        counting_mem_fail_after(&pair.client.tcp.loop_mem, count);
        if (tls_side_expect(&pair.client, &pair.server, "example.com") &&
            tcp_side_request(&pair.client.tcp, "OPTIONS", &pair.server.tcp.addr, 1, 0) == 0) {
            struct tcp_side *client = &pair.client.tcp;
            for (int i = 0; i < TCP_TURNS_MAX && client->responses + client->failures == 0; i++) {
                tcp_side_turn(client);
                tcp_side_turn(&pair.server.tcp);
            }
            CU_ASSERT_EQUAL(client->responses + client->failures, 1);
        }
        uint64_t failures = pair.client.tcp.loop_mem.failures;
        counting_mem_fail_after(&pair.client.tcp.loop_mem, COUNTING_MEM_NEVER);
        tls_pair_free(&pair);
        if (failures == 0) {
            CU_ASSERT(count > 3);
            break;
        }
        CU_ASSERT(count < 59);
    }
    tls_certificate_free(&own);
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"a context that cannot be made says why", a_context_that_cannot_be_made_says_why},
        {"the log names the file that cannot be read", the_log_names_the_file_that_cannot_be_read},
        {"contexts are read from files as well", contexts_are_read_from_files_as_well},
        {"what cannot be opened leaves nothing open", what_cannot_be_opened_leaves_nothing_open},
        {"a request over tls says so in its via", a_request_over_tls_says_so_in_its_via},
        {"requests and responses share one connection",
         requests_and_responses_share_one_connection},
        {"a server passes when its certificate is good and names the host",
         a_server_passes_when_its_certificate_is_good_and_names_the_host},
        {"a client shows a certificate when the server wants one",
         a_client_shows_a_certificate_when_the_server_wants_one},
        {"versions before 1 2 are not spoken", versions_before_1_2_are_not_spoken},
        {"the application gets the secrets when it asks",
         the_application_gets_the_secrets_when_it_asks},
        {"every allocation may fail", every_allocation_may_fail},
        CU_TEST_INFO_NULL,
    };

    if (!tls_authorities_make()) {
        return 1;
    }
    int status = run_over_selectors("tls", tests);
    tls_authorities_free();
    return status;
}
