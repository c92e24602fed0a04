/* test_stateless.c - what is answered or dropped without a transaction (RFC 3261 8.2, 8.1.3, 17,
 * 18).
 *
 * Covered: the answers to faulty requests with their Warning, whatever is missing in the request; a
 * To tag that is the same for each copy; other versions; requests past a limit; what is never
 * answered: ACK, responses, requests without Via, junk; keep-alives; a stream that lost its
 * framing. Not covered: which input is faulty (the tests of the parser), 503 past a limit of
 * transactions (test_server_invite.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"
#include "run_suite.h"

#include <stdio.h>
#include <stdlib.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static void faulty_request_is_answered_with_a_warning_that_names_the_rule(void)
{
    static const struct {
        struct harness_request request;
        int error;
        const char *start;
    } cases[] = {
        {{.method = "OPTIONS", .cseq = "1 INVITE"}, VD_ERR_MISMATCH, "SIP/2.0 400 "},
        {{.method = "OPTIONS", .cseq = "2147483648 OPTIONS"}, VD_ERR_RANGE, "SIP/2.0 400 "},
        {{.method = "OPTIONS", .from = "<sip:a@example.com"}, VD_ERR_SYNTAX, "SIP/2.0 400 "},
        {{.method = "OPTIONS", .to = "\"open <sip:a@example.com>"}, VD_ERR_SYNTAX, "SIP/2.0 400 "},
        {{.method = "OPTIONS", .call_id = ""}, VD_ERR_SYNTAX, "SIP/2.0 400 "},
        {{.method = "OPTIONS", .headers = "Content-Length: 4\r\n"},
         VD_ERR_DUPLICATE,
         "SIP/2.0 400 "},
        {{.method = "OPTIONS", .headers = "Max-Forwards: 1\r\n"}, VD_ERR_DUPLICATE, "SIP/2.0 400 "},
        {{.method = "OPTIONS", .headers = "Route: sip:p.example.com\r\n"},
         VD_ERR_SYNTAX,
         "SIP/2.0 400 "},
        {{.method = "OPTIONS", .headers = "no colon\r\n"}, VD_ERR_SYNTAX, "SIP/2.0 400 "},
        {{.method = "OPTIONS", .uri = "sip:bob@example.com?Route=x"},
         VD_ERR_SYNTAX,
         "SIP/2.0 400 "},
        {{.method = "FOO", .cseq = "1 BAR"}, VD_ERR_METHOD, "SIP/2.0 501 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct harness harness;
        harness_init(&harness, NULL);
        CU_ASSERT_EQUAL(harness_receive_request(&harness, &cases[i].request), cases[i].error);
        CU_ASSERT_EQUAL(harness.sent_count, 1);
        const struct harness_sent *sent = harness_sent(&harness, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(sent);
        CU_ASSERT(begins(sent->text, cases[i].start));
        CU_ASSERT(begins(harness_value(sent->text, "Warning", 0), "399 192.0.2.20:5060 \""));
        CU_ASSERT_STRING_EQUAL(harness_value(sent->text, "Retry-After", 0), "");
        CU_ASSERT(begins(harness_value(sent->text, "Via", 0),
                         "SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK-1;rport"));
        CU_ASSERT(vd_addr_equal(&sent->flow.remote, &harness.flow.remote));
        struct vd_stack_counters counters = harness_counters(&harness);
        CU_ASSERT_EQUAL(counters.received_invalid, 1);
        CU_ASSERT_EQUAL(counters.server_transactions, 0);
        CU_ASSERT(harness_free(&harness));
    }
}

/* The answer can be read by our own parser, and repeats what the request had. */
static void answer_to_a_faulty_request_is_a_good_message(void)
{
    struct harness harness;
    struct vd_header headers[32];
    struct vd_message message;
    const struct vd_nameaddr *to;
    harness_init(&harness, NULL);
    struct harness_request request = {
        .method = "INVITE",
        .headers = "Contact: *\r\nTimestamp: 3\r\nVia: SIP/2.0/UDP p.example.com\r\n"};
    harness_receive_request(&harness, &request);
    const struct harness_sent *sent = harness_sent(&harness, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sent);
    vd_message_init(&message, headers, 32);
    CU_ASSERT(vd_message_parse(&message, sent->text, sent->size, VD_FRAMING_DATAGRAM, NULL) > 0);
    CU_ASSERT_EQUAL(vd_message_check(&message), 0);
    CU_ASSERT_EQUAL(message.status, 400);
    CU_ASSERT_EQUAL(vd_message_to(&message, &to), 0);
    CU_ASSERT_EQUAL(to->tag.n, 16);
    CU_ASSERT_STRING_EQUAL(harness_value(sent->text, "Via", 1), "SIP/2.0/UDP p.example.com");
    CU_ASSERT_STRING_EQUAL(harness_value(sent->text, "From", 0), "<sip:alice@example.com>;tag=a1");
    CU_ASSERT_STRING_EQUAL(harness_value(sent->text, "Call-ID", 0), "1@example.com");
    CU_ASSERT_STRING_EQUAL(harness_value(sent->text, "CSeq", 0), "1 INVITE");
    CU_ASSERT_STRING_EQUAL(harness_value(sent->text, "Timestamp", 0), "3");
    CU_ASSERT(harness_free(&harness));
}

/* 18.2.2 holds for it as for any response. */
static void answer_goes_where_any_response_goes(void)
{
    static const struct {
        const char *params;
        uint16_t port;
    } cases[] = {{"", 5060}, {";rport", 40000}};
    for (size_t i = 0; i < 2; i++) {
        struct harness harness;
        harness_init(&harness, NULL);
        harness.flow.remote.port = 40000;
        struct harness_request request = {
            .method = "OPTIONS", .cseq = "1 INVITE", .via = cases[i].params};
        harness_receive_request(&harness, &request);
        CU_ASSERT_EQUAL(harness_sent(&harness, 0)->flow.remote.port, cases[i].port);
        CU_ASSERT(vd_addr_same_ip(&harness_sent(&harness, 0)->flow.remote, &harness.flow.remote));
        CU_ASSERT(harness_free(&harness));
    }
}

/* 8.2.7: the same request gets the same tag each time, another request another one. */
static void to_tag_is_the_same_for_each_copy(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    struct harness_request request = {.method = "OPTIONS", .cseq = "1 INVITE"};
    harness_receive_request(&harness, &request);
    harness_until(&harness, harness_at(&harness, 100));
    harness_receive_request(&harness, &request);
    CU_ASSERT_STRING_EQUAL(harness_sent(&harness, 0)->text, harness_sent(&harness, 1)->text);
    const char *to = harness_value(harness_sent(&harness, 0)->text, "To", 0);
    CU_ASSERT(begins(to, "<sip:bob@example.com>;tag="));
    harness_fresh(&harness);
    harness_receive_request(&harness, &request);
    CU_ASSERT_STRING_NOT_EQUAL(harness_value(harness_sent(&harness, 0)->text, "To", 0), to);

    request.to = "<sip:bob@example.com>;tag=mine";
    harness_receive_request(&harness, &request);
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "To", 0), request.to);
    CU_ASSERT(harness_free(&harness));
}

/* Takes one header field away after the other: with Via there is an answer, without it there is
 * none. */
static void missing_header_field_gets_400_if_there_is_someone_to_answer(void)
{
    static const char *const lines[] = {
        "Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK-m;rport\r\n",
        "From: <sip:alice@example.com>;tag=1\r\n", "To: <sip:bob@example.com>\r\n",
        "Call-ID: m\r\n", "CSeq: 1 OPTIONS\r\n"};
    for (unsigned without = 0; without < 32; without++) {
        struct harness harness;
        char text[500] = "OPTIONS sip:bob@example.com SIP/2.0\r\n";
        for (unsigned i = 0; i < 5; i++) {
            if ((without >> i & 1) == 0) {
                strcat(text, lines[i]);
            }
        }
        strcat(text, "\r\n");
        harness_init(&harness, NULL);
        CU_ASSERT_EQUAL(harness_receive(&harness, text), without == 0 ? 0 : VD_ERR_MISSING);
        bool answered = without != 0 && (without & 1) == 0;
        CU_ASSERT_EQUAL(harness.sent_count, answered);
        if (answered) {
            const char *answer = harness_sent(&harness, 0)->text;
            CU_ASSERT(begins(answer, "SIP/2.0 400 "));
            static const char *const names[] = {"Via", "From", "To", "Call-ID", "CSeq"};
            for (unsigned i = 0; i < 5; i++) {
                CU_ASSERT_EQUAL(harness_value(answer, names[i], 0)[0] == '\0',
                                (without >> i & 1) != 0);
            }
        }
        CU_ASSERT(harness_free(&harness));
    }
}

static void other_version_gets_505(void)
{
    static const char *const versions[] = {"SIP/3.0", "SIP/7.0", "SIP/2.1", "SIP/1.0", "SIP/02.0"};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        struct harness harness;
        char text[500];
        snprintf(text, sizeof text,
                 "OPTIONS sip:bob@example.com %s\r\n"
                 "Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK-m\r\n"
                 "From: <sip:alice@example.com>;tag=1\r\nTo: <sip:bob@example.com>\r\n"
                 "Call-ID: m\r\nCSeq: 1 OPTIONS\r\n\r\n",
                 versions[i]);
        harness_init(&harness, NULL);
        CU_ASSERT_EQUAL(harness_receive(&harness, text), VD_ERR_VERSION);
        CU_ASSERT(harness_saw(&harness, "0.000 out 505 OPTIONS\n"));
        CU_ASSERT(harness_free(&harness));
    }
}

static void datagram_shorter_than_its_content_length_gets_400(void)
{
    static const char *const lengths[] = {"5",  "65535", "2147483648", "4294967295",
                                          "-1", "+4",    "4 4",        "0x4"};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct harness harness;
        char text[500];
        snprintf(text, sizeof text,
                 "OPTIONS sip:bob@example.com SIP/2.0\r\n"
                 "Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK-m\r\n"
                 "From: <sip:alice@example.com>;tag=1\r\nTo: <sip:bob@example.com>\r\n"
                 "Call-ID: m\r\nCSeq: 1 OPTIONS\r\nContent-Length: %s\r\n\r\nabcd",
                 lengths[i]);
        harness_init(&harness, NULL);
        CU_ASSERT(harness_receive(&harness, text) < 0);
        CU_ASSERT(harness_saw(&harness, "0.000 out 400 OPTIONS\n"));

        /* The same in a response is dropped (18.3). */
        char response[500];
        snprintf(response, sizeof response, "SIP/2.0 200 OK\r\n%s", strstr(text, "Via:"));
        CU_ASSERT(harness_receive(&harness, response) < 0);
        CU_ASSERT(harness_saw(&harness, ""));
        CU_ASSERT(harness_free(&harness));
    }
}

/* 17: an ACK is never answered, whatever is wrong with it. */
static void ack_is_never_answered(void)
{
    static const struct harness_request acks[] = {
        {.method = "ACK"},
        {.method = "ACK", .cseq = "1 INVITE"},
        {.method = "ACK", .cseq = "4294967296 ACK"},
        {.method = "ACK", .from = "<<<"},
        {.method = "ACK", .headers = "From: <sip:x@y>;tag=2\r\n"},
        {.method = "ACK", .headers = "Content-Length: 77\r\n"},
        {.method = "ACK", .branch = ""},
    };
    struct harness harness;
    harness_init(&harness, NULL);
    for (size_t i = 0; i < sizeof acks / sizeof acks[0]; i++) {
        harness_fresh(&harness);
        harness_receive_request(&harness, &acks[i]);
    }
    harness_receive(&harness, "ACK sip:bob@example.com SIP/7.0\r\n"
                              "Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK-m\r\n\r\n");
    CU_ASSERT_EQUAL(harness.sent_count, 0);
    CU_ASSERT_EQUAL(harness_counters(&harness).stray_acks, 2);
    CU_ASSERT(harness_free(&harness));
}

/* Two stacks that answered each other's responses would never stop. */
/* A top Via that cannot be read as far as its line end is not stored. The one below it is another
 * element's: the answer is not for it. */
static void answer_never_goes_to_the_via_below_a_refused_one(void)
{
    static const char *const vias[] = {
        "Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK1\n2",
        "v : SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK1\r2",
        "VIA: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK1\001",
    };
    for (size_t i = 0; i < sizeof vias / sizeof vias[0]; i++) {
        struct harness harness;
        char text[1024];
        harness_init(&harness, NULL);
        snprintf(text, sizeof text,
                 "OPTIONS sip:bob@example.com SIP/2.0\r\n"
                 "%s\r\n"
                 "Via: SIP/2.0/UDP 192.0.2.99:5060;branch=z9hG4bK0\r\n"
                 "Max-Forwards: 70\r\n"
                 "From: <sip:alice@example.com>;tag=1\r\n"
                 "To: <sip:bob@example.com>\r\n"
                 "Call-ID: refused@example.com\r\n"
                 "CSeq: 1 OPTIONS\r\n"
                 "Content-Length: 0\r\n\r\n",
                 vias[i]);
        CU_ASSERT_EQUAL(harness_receive(&harness, text), VD_ERR_SYNTAX);
        CU_ASSERT_EQUAL(harness_counters(&harness).received_invalid, 1);
        CU_ASSERT_EQUAL(harness_counters(&harness).sent_responses, 0);
        CU_ASSERT(harness_free(&harness));
    }
}

static void response_is_never_answered(void)
{
    static const char *const responses[] = {
        "SIP/2.0 200 OK\r\n\r\n",
        "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 192.0.2.10\r\n\r\n",
        "SIP/2.0 99 Low\r\nVia: SIP/2.0/UDP 192.0.2.10\r\n\r\n",
        "SIP/2.0 700 High\r\nVia: SIP/2.0/UDP 192.0.2.10\r\n\r\n",
        "SIP/2.0 4294967296 Huge\r\nVia: SIP/2.0/UDP 192.0.2.10\r\n\r\n",
        "SIP/7.0 200 OK\r\nVia: SIP/2.0/UDP 192.0.2.10\r\n\r\n",
        "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 192.0.2.10\r\nFrom: <sip:a@b>;tag=1\r\n"
        "From: <sip:a@b>;tag=1\r\nTo: <sip:a@b>\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\n\r\n",
        "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 192.0.2.10\r\nFrom: <sip:a@b>;tag=1\r\n"
        "To: <sip:a@b>\r\nCall-ID: 1\r\nCSeq: 4294967296 INVITE\r\n\r\n",
    };
    struct harness harness;
    harness_init(&harness, NULL);
    for (size_t i = 0; i < sizeof responses / sizeof responses[0]; i++) {
        CU_ASSERT(harness_receive(&harness, responses[i]) < 0);
    }
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT_EQUAL(harness_counters(&harness).stray_responses, 0);
    CU_ASSERT(harness_free(&harness));
}

static void stray_response_goes_up_and_no_further(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    CU_ASSERT_EQUAL(harness_receive(&harness,
                                    "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 192.0.2.20:5060;"
                                    "branch=z9hG4bK-not-ours\r\n"
                                    "From: <sip:a@b>;tag=1\r\nTo: <sip:a@b>\r\nCall-ID: 1\r\n"
                                    "CSeq: 1 INVITE\r\n\r\n"),
                    0);
    CU_ASSERT(harness_saw(&harness, "0.000 stray 200 INVITE\n"));
    CU_ASSERT(harness_free(&harness));
}

static void what_is_no_sip_is_dropped_and_counted(void)
{
    static const struct {
        const char *bytes;
        size_t size;
    } junk[] = {
        {"x", 1},
        {"\x16\x03\x01\x02", 4},
        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27},
        {"HTTP/1.1 200 OK\r\n\r\n", 19},
        {"\xff\xfe\xfd\0\0\0", 6},
        {"SIP", 3},
        {"hello world", 11},
        {"\r\n\r\nx", 5},
    };
    struct harness harness;
    harness_init(&harness, NULL);
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++) {
        CU_ASSERT_EQUAL(harness_receive_on(&harness, &harness.flow, junk[i].bytes, junk[i].size),
                        VD_ERR_NOT_SIP);
        CU_ASSERT_EQUAL(harness_counters(&harness).received_not_sip, i + 1);
    }
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT(harness_free(&harness));
}

static void keep_alive_is_counted_and_nothing_more(void)
{
    static const struct {
        const char *bytes;
        size_t size;
    } alive[] = {{"", 0},   {"\r\n", 2}, {"\r\n\r\n", 4}, {"\0\0\0\0", 4},
                 {"\n", 1}, {"\r", 1},   {"\0", 1},       {"\r\n\r\n\r\n\r\n", 8}};
    struct harness harness;
    harness_init(&harness, NULL);
    for (size_t i = 0; i < sizeof alive / sizeof alive[0]; i++) {
        CU_ASSERT_EQUAL(harness_receive_on(&harness, &harness.flow, alive[i].bytes, alive[i].size),
                        0);
        CU_ASSERT_EQUAL(harness_counters(&harness).received_keepalives, i + 1);
    }
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT(harness_free(&harness));
}

/* 7.5: CRLFs in front of the start line are skipped. */
static void line_ends_in_front_of_a_request_do_not_count(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    struct harness_request request = {.method = "OPTIONS"};
    char *text = harness_request_text(&harness, &request);
    char *padded = malloc(strlen(text) + 5);
    sprintf(padded, "\r\n\r\n%s", text);
    CU_ASSERT_EQUAL(harness_receive(&harness, padded), 0);
    CU_ASSERT(harness_saw(&harness, "0.000 up OPTIONS\n"));
    free(padded);
    free(text);
    CU_ASSERT(harness_free(&harness));
}

static void limits_of_the_configuration_are_kept(void)
{
    struct vd_stack_config config;
    vd_stack_config_init(&config);
    config.limits.headers = 12;
    config.limits.uri_size = 40;
    config.limits.line_size = 200;
    config.limits.header_size = 1000;
    config.limits.message_size = 2000;
    struct harness harness;
    harness_init(&harness, &config);
    char long_line[400];
    char body[2100];
    memset(body, 'b', sizeof body);
    body[sizeof body - 1] = '\0';
    memset(long_line, 'l', sizeof long_line);
    memcpy(long_line, "Subject: ", 9);
    memcpy(long_line + 390, "\r\n", 3);
    const struct {
        struct harness_request request;
        int error;
        const char *start;
    } cases[] = {
        {{.method = "OPTIONS"}, 0, NULL},
        {{.method = "OPTIONS", .uri = "sip:a-user-with-a-very-long-name@example.com"},
         VD_ERR_URI_TOO_LONG,
         "SIP/2.0 414 "},
        {{.method = "OPTIONS", .headers = "X1: 1\r\nX2: 1\r\nX3: 1\r\nX4: 1\r\nX5: 1\r\nX6: 1\r\n"},
         VD_ERR_TOO_MANY,
         "SIP/2.0 400 "},
        {{.method = "OPTIONS", .headers = long_line}, VD_ERR_TOO_LARGE, "SIP/2.0 513 "},
        {{.method = "OPTIONS", .body = body}, VD_ERR_TOO_LARGE, "SIP/2.0 513 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        harness_fresh(&harness);
        CU_ASSERT_EQUAL(harness_receive_request(&harness, &cases[i].request), cases[i].error);
        if (cases[i].start != NULL) {
            const struct harness_sent *sent = harness_sent(&harness, 0);
            CU_ASSERT(sent != NULL && begins(sent->text, cases[i].start));
        }
    }
    CU_ASSERT_EQUAL(harness.sent_count, sizeof cases / sizeof cases[0] - 1);
    CU_ASSERT(harness_free(&harness));
}

/* 18.3, 20.14: on a stream a bad Content-Length is answered; the caller closes the connection. */
static void stream_that_lost_its_framing_is_answered(void)
{
    static const char *const lengths[] = {"-1", "+5", "5 5", ""};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct harness harness;
        char text[500];
        snprintf(text, sizeof text,
                 "OPTIONS sip:bob@example.com SIP/2.0\r\n"
                 "Via: SIP/2.0/TCP 192.0.2.10:5060;branch=z9hG4bK-m\r\n"
                 "From: <sip:alice@example.com>;tag=1\r\nTo: <sip:bob@example.com>\r\n"
                 "Call-ID: m\r\nCSeq: 1 OPTIONS\r\nContent-Length: %s\r\n\r\nhello",
                 lengths[i]);
        harness_init(&harness, NULL);
        harness_use(&harness, HARNESS_TCP);
        CU_ASSERT(harness_receive(&harness, text) < 0);
        CU_ASSERT(harness_saw(&harness, "0.000 out 400 OPTIONS\n"));
        CU_ASSERT_EQUAL(harness_sent(&harness, 0)->flow.connection, harness.flow.connection);
        CU_ASSERT(harness_free(&harness));
    }
}

static void configured_server_name_stands_in_answers_of_the_stack(void)
{
    struct vd_stack_config config;
    struct harness harness;
    char name[] = "Viaduct test";
    vd_stack_config_init(&config);
    config.server = vd_str_from(name);
    harness_init(&harness, &config);
    memset(name, 'x', sizeof name - 1); /* the text was copied */
    struct harness_request bad = {.method = "OPTIONS", .cseq = "1 INVITE"};
    harness_receive_request(&harness, &bad);
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "Server", 0),
                           "Viaduct test");
    harness_receive_method(&harness, "CANCEL");
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "Server", 0),
                           "Viaduct test");
    harness_fresh(&harness);
    harness_receive_method(&harness, "INVITE");
    harness_until(&harness, harness_at(&harness, 1));
    CU_ASSERT(begins(harness_sent(&harness, 0)->text, "SIP/2.0 100 "));
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "Server", 0),
                           "Viaduct test");
    /* Those of the application are its own. */
    harness_respond(&harness, 200);
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "Server", 0), "");
    CU_ASSERT(harness_free(&harness));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"faulty_request_is_answered_with_a_warning_that_names_the_rule",
         faulty_request_is_answered_with_a_warning_that_names_the_rule},
        {"answer_to_a_faulty_request_is_a_good_message",
         answer_to_a_faulty_request_is_a_good_message},
        {"answer_goes_where_any_response_goes", answer_goes_where_any_response_goes},
        {"to_tag_is_the_same_for_each_copy", to_tag_is_the_same_for_each_copy},
        {"missing_header_field_gets_400_if_there_is_someone_to_answer",
         missing_header_field_gets_400_if_there_is_someone_to_answer},
        {"other_version_gets_505", other_version_gets_505},
        {"datagram_shorter_than_its_content_length_gets_400",
         datagram_shorter_than_its_content_length_gets_400},
        {"ack_is_never_answered", ack_is_never_answered},
        {"answer_never_goes_to_the_via_below_a_refused_one",
         answer_never_goes_to_the_via_below_a_refused_one},
        {"response_is_never_answered", response_is_never_answered},
        {"stray_response_goes_up_and_no_further", stray_response_goes_up_and_no_further},
        {"what_is_no_sip_is_dropped_and_counted", what_is_no_sip_is_dropped_and_counted},
        {"keep_alive_is_counted_and_nothing_more", keep_alive_is_counted_and_nothing_more},
        {"line_ends_in_front_of_a_request_do_not_count",
         line_ends_in_front_of_a_request_do_not_count},
        {"limits_of_the_configuration_are_kept", limits_of_the_configuration_are_kept},
        {"stream_that_lost_its_framing_is_answered", stream_that_lost_its_framing_is_answered},
        {"configured_server_name_stands_in_answers_of_the_stack",
         configured_server_name_stands_in_answers_of_the_stack},
        CU_TEST_INFO_NULL,
    };
    return run_suite("stateless", tests);
}
