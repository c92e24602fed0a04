/* test_response.c - what a response of ours holds and where it goes (RFC
 * 3261 8.2.6.2, 18.2.1, 18.2.2, RFC 3581 4).
 *
 * Covered: received, rport and maddr, in the response and in its destination; Via, From, Call-ID,
 * CSeq and Timestamp copied whole, folded or not; the To tag, the same in each response; responses
 * made in the callback and after it, and again in Accepted, are alike; header fields and a body of
 * the application's; begun and aborted, out of order. Not covered: which status is allowed when
 * (test_server.c, test_server_invite.c), responses without a transaction (test_stateless.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"
#include "run_suite.h"

#include <stdio.h>
#include <stdlib.h>

/* Answers at once in the callback, so that one table serves both ways. */
static void answer_200(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context)
{
    (void)request, (void)flow, (void)context;
    CU_ASSERT_EQUAL(vd_respond(stack, transaction, 200, vd_str(NULL, 0), vd_stack_now(stack)), 0);
}

/* The 200 to a request, from within the callback or later; to be freed. */
static char *answer_to(struct harness *harness, const struct harness_request *request, bool at_once)
{
    harness_fresh(harness);
    harness->hooks.on_request = at_once ? answer_200 : NULL;
    unsigned before = harness->sent_count;
    CU_ASSERT_EQUAL(harness_receive_request(harness, request), 0);
    if (!at_once) {
        CU_ASSERT_EQUAL(harness_respond(harness, 200), 0);
    }
    CU_ASSERT_EQUAL_FATAL(harness->sent_count, before + 1);
    return strdup(harness_sent(harness, 0)->text);
}

static void top_via_and_destination_are_those_of_18_2_and_rfc_3581(void)
{
    /* The source is 192.0.2.10:40000; the branch is z9hG4bK-v. */
    static const struct {
        const char *sent_by;
        const char *params; /* in the request */
        const char *answer; /* the whole top Via of the response */
        const char *to;     /* where it goes */
    } cases[] = {
        /* rport: both are added, received even if it equals sent-by (RFC 3581 4). */
        {"192.0.2.10:5060", ";rport",
         "192.0.2.10:5060;branch=z9hG4bK-v;rport=40000;received=192.0.2.10", "192.0.2.10:40000"},
        {"host.example.com", ";rport;x=y",
         "host.example.com;branch=z9hG4bK-v;rport=40000;x=y;received=192.0.2.10",
         "192.0.2.10:40000"},
        {"10.0.0.1:5070", ";RPORT",
         "10.0.0.1:5070;branch=z9hG4bK-v;RPORT=40000;received=192.0.2.10", "192.0.2.10:40000"},
        /* No rport: received only when sent-by is another address or a name; the port is that of
           sent-by. */
        {"192.0.2.10:5070", "", "192.0.2.10:5070;branch=z9hG4bK-v", "192.0.2.10:5070"},
        {"192.0.2.10", "", "192.0.2.10;branch=z9hG4bK-v", "192.0.2.10:5060"},
        {"10.0.0.1:5070", "", "10.0.0.1:5070;branch=z9hG4bK-v;received=192.0.2.10",
         "192.0.2.10:5070"},
        {"host.example.com", "", "host.example.com;branch=z9hG4bK-v;received=192.0.2.10",
         "192.0.2.10:5060"},
        {"[2001:db8::1]:5080", "", "[2001:db8::1]:5080;branch=z9hG4bK-v;received=192.0.2.10",
         "192.0.2.10:5080"},
        /* maddr (18.2.2) comes before received and rport. */
        {"192.0.2.10:5070", ";maddr=198.51.100.7",
         "192.0.2.10:5070;branch=z9hG4bK-v;maddr=198.51.100.7", "198.51.100.7:5070"},
        {"192.0.2.10", ";maddr=198.51.100.7;rport",
         "192.0.2.10;branch=z9hG4bK-v;maddr=198.51.100.7;rport=40000;received=192.0.2.10",
         "198.51.100.7:5060"},
        /* maddr as a name: to be resolved by nobody here, so the source has to do. */
        {"192.0.2.10:5070", ";maddr=group.example.com;rport",
         "192.0.2.10:5070;branch=z9hG4bK-v;maddr=group.example.com;rport=40000;"
         "received=192.0.2.10",
         "192.0.2.10:40000"},
        /* maddr of another family cannot be reached from this end. */
        {"192.0.2.10:5070", ";maddr=[2001:db8::7]",
         "192.0.2.10:5070;branch=z9hG4bK-v;maddr=[2001:db8::7]", "192.0.2.10:5070"},
        /* What a peer says of its own source does not count. */
        {"192.0.2.10:5070", ";received=203.0.113.9", "192.0.2.10:5070;branch=z9hG4bK-v",
         "192.0.2.10:5070"},
        {"10.0.0.1:5070", ";received=203.0.113.9;rport",
         "10.0.0.1:5070;branch=z9hG4bK-v;rport=40000;received=192.0.2.10", "192.0.2.10:40000"},
        /* Other parameters stay, quoted ones and those without a value too. */
        {"192.0.2.10", ";ttl=3;hidden;q=\"a;rport,b\"",
         "192.0.2.10;branch=z9hG4bK-v;ttl=3;hidden;q=\"a;rport,b\"", "192.0.2.10:5060"},
        {"192.0.2.10", ";q=\"a;rport;b\";rport",
         "192.0.2.10;branch=z9hG4bK-v;q=\"a;rport;b\";rport=40000;received=192.0.2.10",
         "192.0.2.10:40000"},
        {"192.0.2.10", ";rports;rport ; x = y",
         "192.0.2.10;branch=z9hG4bK-v;rports;rport=40000;x=y;received=192.0.2.10",
         "192.0.2.10:40000"},
    };
    struct harness harness;
    harness_init(&harness, NULL);
    harness.flow.remote.port = 40000;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int at_once = 0; at_once < 2; at_once++) {
            struct harness_request request = {.method = at_once ? "OPTIONS" : "MESSAGE",
                                              .branch = "z9hG4bK-v",
                                              .sent_by = cases[i].sent_by,
                                              .via = cases[i].params};
            char expected[300];
            char destination[VD_ADDR_TEXT_SIZE];
            /* Another method each time would run out, so the branch is let go. */
            harness_run_out(&harness);
            char *answer = answer_to(&harness, &request, at_once);
            snprintf(expected, sizeof expected, "SIP/2.0/UDP %s", cases[i].answer);
            CU_ASSERT_STRING_EQUAL(harness_value(answer, "Via", 0), expected);
            vd_addr_format(&harness_sent(&harness, 0)->flow.remote, destination);
            CU_ASSERT_STRING_EQUAL(destination, cases[i].to);
            free(answer);
        }
    }
    CU_ASSERT(harness_free(&harness));
}

static void ipv6_source_stands_in_received_and_gets_the_response(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_use(&harness, HARNESS_UDP6);
    harness.flow.remote.port = 40000;
    struct harness_request request = {.method = "OPTIONS", .branch = "z9hG4bK-6"};
    char *answer = answer_to(&harness, &request, true);
    CU_ASSERT_STRING_EQUAL(harness_value(answer, "Via", 0),
                           "SIP/2.0/UDP [2001:db8::10]:5060;branch=z9hG4bK-6;rport=40000;"
                           "received=2001:db8::10");
    CU_ASSERT(vd_addr_equal(&harness_sent(&harness, 0)->flow.remote, &harness.flow.remote));
    free(answer);

    /* Another spelling of the source address is still the source address. */
    request.sent_by = "[2001:DB8:0:0::10]:5070";
    request.branch = "z9hG4bK-7";
    request.via = "";
    answer = answer_to(&harness, &request, false);
    CU_ASSERT_STRING_EQUAL(harness_value(answer, "Via", 0),
                           "SIP/2.0/UDP [2001:DB8:0:0::10]:5070;branch=z9hG4bK-7");
    CU_ASSERT_EQUAL(harness_sent(&harness, 0)->flow.remote.port, 5070);
    free(answer);
    CU_ASSERT(harness_free(&harness));
}

/* 18.2.2: over a reliable transport the response goes back on the request's own connection; should
 * that be gone, to the source address at the port of sent-by. */
static void stream_response_goes_back_on_the_connection(void)
{
    static const struct {
        enum harness_endpoint endpoint;
        const char *sent_by;
        const char *params;
        uint16_t port;
    } cases[] = {
        {HARNESS_TCP, "10.0.0.1:5070", "", 5070},
        {HARNESS_TCP, "10.0.0.1:5070", ";rport", 5070},
        {HARNESS_TCP, "10.0.0.1", ";maddr=198.51.100.7", 5060},
        {HARNESS_TLS, "host.example.com", ";rport", 5061},
        {HARNESS_TLS, "host.example.com:5070", "", 5070},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct harness harness;
        harness_init(&harness, NULL);
        harness_use(&harness, cases[i].endpoint);
        harness.flow.remote.port = 40000;
        harness.flow.connection = 4711;
        struct harness_request request = {
            .method = "OPTIONS", .sent_by = cases[i].sent_by, .via = cases[i].params};
        for (int at_once = 0; at_once < 2; at_once++) {
            free(answer_to(&harness, &request, at_once));
            const struct harness_sent *sent = harness_sent(&harness, 0);
            CU_ASSERT_EQUAL(sent->flow.endpoint, cases[i].endpoint);
            CU_ASSERT_EQUAL(sent->flow.connection, 4711);
            CU_ASSERT(vd_addr_same_ip(&sent->flow.remote, &harness.flow.remote));
            CU_ASSERT_EQUAL(sent->flow.remote.port, cases[i].port);
            CU_ASSERT_PTR_NOT_NULL(
                strstr(harness_value(sent->text, "Via", 0), ";received=192.0.2.10"));
        }
        CU_ASSERT(harness_free(&harness));
    }
}

static void via_from_call_id_cseq_and_timestamp_are_copied_whole(void)
{
    static const char text[] =
        "OPTIONS sip:bob@example.com SIP/2.0\r\n"
        "v: SIP / 2.0 / UDP\r\n 192.0.2.10:5060 ;branch=z9hG4bK-w;rport , SIP/2.0/TCP "
        "p2.example.com;branch=z9hG4bKp2;received=198.51.100.2\r\n"
        "Via: SIP/2.0/UDP p1.example.com;branch=z9hG4bKp1,SIP/2.0/TLS [2001:db8::9]:5061\r\n"
        "Max-Forwards: 68\r\n"
        "f: \"Doe, Jane; QA <2nd>\" <sip:jane@example.com;x=y>;tag=t02;z=1\r\n"
        "To: \"B\r\n\tOB\" <sip:bob@example.com>;p=q\r\n"
        "i: a.b-c!%*_+`'~()<>:\\\"/[]?{}@example.com\r\n"
        "CSeq: 0004711\r\n   OPTIONS\r\n"
        "TIMESTAMP: 54.5 0.2\r\n"
        "Subject: not copied\r\n"
        "Record-Route: <sip:p1.example.com;lr>\r\n"
        "l: 0\r\n\r\n";
    for (int at_once = 0; at_once < 2; at_once++) {
        struct harness harness;
        harness_init(&harness, NULL);
        harness.hooks.on_request = at_once ? answer_200 : NULL;
        CU_ASSERT_EQUAL(harness_receive(&harness, text), 0);
        if (!at_once) {
            CU_ASSERT_EQUAL(harness_respond(&harness, 200), 0);
        }
        const struct harness_sent *sent = harness_sent(&harness, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(sent);
        const char *answer = sent->text;
        CU_ASSERT_EQUAL(strncmp(answer, "SIP/2.0 200 OK\r\n", 16), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(harness_value(answer, "Via", 0),
                                      ";branch=z9hG4bK-w;rport=5060;received=192.0.2.10"));
        CU_ASSERT_PTR_NOT_NULL(strstr(harness_value(answer, "Via", 0),
                                      "SIP/2.0/TCP p2.example.com;branch=z9hG4bKp2;received="
                                      "198.51.100.2"));
        CU_ASSERT_STRING_EQUAL(
            harness_value(answer, "Via", 1),
            "SIP/2.0/UDP p1.example.com;branch=z9hG4bKp1,SIP/2.0/TLS [2001:db8::9]:5061");
        CU_ASSERT_STRING_EQUAL(harness_value(answer, "Via", 2), "");
        CU_ASSERT_STRING_EQUAL(harness_value(answer, "From", 0),
                               "\"Doe, Jane; QA <2nd>\" <sip:jane@example.com;x=y>;tag=t02;z=1");
        CU_ASSERT_EQUAL(
            strncmp(harness_value(answer, "To", 0), "\"B OB\" <sip:bob@example.com>;p=q;tag=", 37),
            0);
        CU_ASSERT_STRING_EQUAL(harness_value(answer, "Call-ID", 0),
                               "a.b-c!%*_+`'~()<>:\\\"/[]?{}@example.com");
        CU_ASSERT_EQUAL(strncmp(harness_value(answer, "CSeq", 0), "0004711 ", 8), 0);
        CU_ASSERT_STRING_EQUAL(harness_value(answer, "Timestamp", 0), "54.5 0.2");
        CU_ASSERT_STRING_EQUAL(harness_value(answer, "Subject", 0), "");
        CU_ASSERT_STRING_EQUAL(harness_value(answer, "Record-Route", 0), "");
        CU_ASSERT_STRING_EQUAL(harness_value(answer, "Content-Length", 0), "0");
        CU_ASSERT(harness_free(&harness));
    }
}

/* 8.2.6.2: a To without a tag gets one, the same in each response to the request; one with a tag
 * stays. A 100 adds none (17.2.1). */
static void to_tag_is_the_same_in_each_response(void)
{
    struct harness harness;
    char to[3][300];
    struct vd_str tag;
    harness_init(&harness, NULL);
    harness_receive_method(&harness, "INVITE");
    CU_ASSERT_EQUAL(vd_transaction_local_tag(harness.stack, harness.server, &tag), 0);
    char expected[100];
    snprintf(expected, sizeof expected, "<sip:bob@example.com>;tag=%.*s", (int)tag.n, tag.p);
    harness_respond(&harness, 100);
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "To", 0),
                           "<sip:bob@example.com>");
    static const int statuses[] = {180, 183, 200};
    for (int i = 0; i < 3; i++) {
        harness_respond(&harness, statuses[i]);
        snprintf(to[i], sizeof to[i], "%s",
                 harness_value(harness_sent(&harness, 0)->text, "To", 0));
        CU_ASSERT_STRING_EQUAL(to[i], expected);
    }
    CU_ASSERT_EQUAL(vd_transaction_local_tag(harness.stack, harness.server, &tag), VD_ERR_STATE);
    harness_respond(&harness, 200);
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "To", 0), expected);

    /* Another request gets another tag. */
    harness_fresh(&harness);
    harness_receive_method(&harness, "INVITE");
    harness_respond(&harness, 200);
    CU_ASSERT_STRING_NOT_EQUAL(harness_value(harness_sent(&harness, 0)->text, "To", 0), expected);

    /* The tag is told until there is a final response, of whatever class. */
    harness_fresh(&harness);
    harness_receive_method(&harness, "INVITE");
    CU_ASSERT_EQUAL(vd_transaction_local_tag(harness.stack, harness.server, &tag), 0);
    harness_respond(&harness, 486);
    CU_ASSERT_EQUAL(vd_transaction_local_tag(harness.stack, harness.server, &tag), VD_ERR_STATE);

    /* And one within a dialog keeps its own. */
    harness_fresh(&harness);
    struct harness_request within = {.method = "BYE", .to = "<sip:bob@example.com>;tag=mine"};
    harness_receive_request(&harness, &within);
    CU_ASSERT_EQUAL(vd_transaction_local_tag(harness.stack, harness.server, &tag),
                    VD_ERR_NOT_FOUND);
    harness_respond(&harness, 200);
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "To", 0),
                           "<sip:bob@example.com>;tag=mine");

    vd_transaction ours;
    harness_send_request(&harness, "OPTIONS", NULL, &ours);
    CU_ASSERT_EQUAL(vd_transaction_local_tag(harness.stack, ours, &tag), VD_ERR_INVALID);
    CU_ASSERT(harness_free(&harness));
}

/* Status line and header fields up to Content-Length, byte for byte, however late it is made. */
static void response_made_later_is_the_one_made_at_once(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    struct harness_request request = {.method = "INVITE",
                                      .branch = "z9hG4bK-late",
                                      .via = ";x;rport",
                                      .to = "<sip:bob@example.com>;tag=t",
                                      .headers = "Via: SIP/2.0/UDP p.example.com\r\n"
                                                 "Timestamp: 7\r\n"};
    char *at_once = answer_to(&harness, &request, true);
    harness_run_out(&harness);
    /* answer_to counts the Call-ID and the From tag on. */
    harness.serial--;
    char *later = answer_to(&harness, &request, false);
    CU_ASSERT_STRING_NOT_EQUAL(at_once, "");
    harness_run_out(&harness);
    harness.serial--;
    harness.hooks.on_request = NULL;
    harness_fresh(&harness);
    harness.serial--;
    CU_ASSERT_STRING_EQUAL(at_once, later);

    /* In Accepted the next 2xx is made from the last one. */
    harness_receive_request(&harness, &request);
    harness_respond(&harness, 180);
    harness_until(&harness, harness.now + 3 * VD_SEC);
    harness_respond(&harness, 200);
    harness_respond(&harness, 200);
    CU_ASSERT_STRING_EQUAL(harness_sent(&harness, 0)->text, harness_sent(&harness, 1)->text);
    free(at_once);
    free(later);
    CU_ASSERT(harness_free(&harness));
}

static void application_adds_header_fields_and_a_body(void)
{
    struct harness harness;
    struct vd_builder builder;
    char body[3000];
    memset(body, 'v', sizeof body);
    harness_init(&harness, NULL);
    harness_receive_method(&harness, "INVITE");
    CU_ASSERT_EQUAL(
        vd_response_begin(harness.stack, &builder, harness.server, 200, VD_STR("Fine by me")), 0);
    vd_build_nameaddr(&builder, VD_HEADER_CONTACT, VD_STR(""), VD_STR("sip:bob@192.0.2.20"),
                      VD_STR(""));
    vd_build_header_named(&builder, VD_STR("X-Long"), vd_str(body, 2000));
    vd_build_end(&builder, VD_STR("application/sdp"), vd_str(body, sizeof body));
    CU_ASSERT_EQUAL(vd_response_send(harness.stack, &builder, harness.now), 0);
    harness_drain(&harness);
    const struct harness_sent *sent = harness_sent(&harness, 0);
    CU_ASSERT_EQUAL(strncmp(sent->text, "SIP/2.0 200 Fine by me\r\n", 24), 0);
    CU_ASSERT_STRING_EQUAL(harness_value(sent->text, "Contact", 0), "<sip:bob@192.0.2.20>");
    CU_ASSERT_STRING_EQUAL(harness_value(sent->text, "Content-Length", 0), "3000");
    CU_ASSERT_STRING_EQUAL(harness_value(sent->text, "Content-Type", 0), "application/sdp");
    const char *end = strstr(sent->text, "\r\n\r\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    CU_ASSERT_EQUAL(strlen(end + 4), sizeof body);
    char *first = strdup(sent->text);
    CU_ASSERT_EQUAL(vd_response_resend(harness.stack, harness.server, harness.now), 0);
    harness_drain(&harness);
    CU_ASSERT_STRING_EQUAL(harness_sent(&harness, 0)->text, first);
    CU_ASSERT_EQUAL(harness_counters(&harness).sent_responses, 1);
    CU_ASSERT_EQUAL(harness_counters(&harness).resent_responses, 1);
    free(first);
    CU_ASSERT(harness_free(&harness));
}

static void response_that_holds_a_line_end_is_not_sent(void)
{
    struct harness harness;
    struct vd_builder builder;
    harness_init(&harness, NULL);
    harness_receive_method(&harness, "OPTIONS");
    harness_forget(&harness);
    CU_ASSERT_EQUAL(
        vd_respond(harness.stack, harness.server, 200, VD_STR("OK\r\nEvil: yes"), harness.now),
        VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_response_begin(harness.stack, &builder, harness.server, 200, VD_STR("OK")),
                    0);
    vd_build_header(&builder, VD_HEADER_SUBJECT, VD_STR("a\nb"));
    CU_ASSERT_EQUAL(vd_response_send(harness.stack, &builder, harness.now), VD_ERR_INVALID);
    harness_drain(&harness);
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.server), VD_TRANSACTION_TRYING);
    CU_ASSERT_EQUAL(harness_respond(&harness, 200), 0);
    CU_ASSERT(harness_free(&harness));
}

/* What is begun is bound to nothing: another response may overtake it, and the transaction may end.
 */
static void response_begun_is_checked_again_when_it_is_sent(void)
{
    struct harness harness;
    struct vd_builder first;
    struct vd_builder second;
    harness_init(&harness, NULL);
    harness_use(&harness, HARNESS_TCP);
    harness_receive_method(&harness, "INVITE");
    vd_response_begin(harness.stack, &first, harness.server, 486, VD_STR(""));
    vd_response_begin(harness.stack, &second, harness.server, 180, VD_STR(""));
    CU_ASSERT_EQUAL(vd_response_send(harness.stack, &first, harness.now), 0);
    CU_ASSERT_EQUAL(vd_response_send(harness.stack, &second, harness.now), VD_ERR_STATE);

    harness_fresh(&harness);
    harness_receive_method(&harness, "OPTIONS");
    vd_response_begin(harness.stack, &first, harness.server, 200, VD_STR(""));
    vd_response_begin(harness.stack, &second, harness.server, 200, VD_STR(""));
    harness_until(&harness, harness_at(&harness, 40));
    CU_ASSERT_EQUAL(vd_response_send(harness.stack, &first, harness.now), VD_ERR_GONE);
    vd_response_abort(harness.stack, &second);
    vd_response_abort(harness.stack, &second);
    CU_ASSERT_EQUAL(vd_response_begin(harness.stack, &first, harness.server, 200, VD_STR("")),
                    VD_ERR_GONE);
    CU_ASSERT(harness_free(&harness));
}

static void response_to_a_request_of_ours_is_refused(void)
{
    struct harness harness;
    struct vd_builder builder;
    vd_transaction ours;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "INVITE", NULL, &ours);
    CU_ASSERT_EQUAL(vd_response_begin(harness.stack, &builder, ours, 200, VD_STR("")),
                    VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_respond(harness.stack, ours, 200, VD_STR(""), harness.now), VD_ERR_INVALID);
    CU_ASSERT(harness_free(&harness));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"top_via_and_destination_are_those_of_18_2_and_rfc_3581",
         top_via_and_destination_are_those_of_18_2_and_rfc_3581},
        {"ipv6_source_stands_in_received_and_gets_the_response",
         ipv6_source_stands_in_received_and_gets_the_response},
        {"stream_response_goes_back_on_the_connection",
         stream_response_goes_back_on_the_connection},
        {"via_from_call_id_cseq_and_timestamp_are_copied_whole",
         via_from_call_id_cseq_and_timestamp_are_copied_whole},
        {"to_tag_is_the_same_in_each_response", to_tag_is_the_same_in_each_response},
        {"response_made_later_is_the_one_made_at_once",
         response_made_later_is_the_one_made_at_once},
        {"application_adds_header_fields_and_a_body", application_adds_header_fields_and_a_body},
        {"response_that_holds_a_line_end_is_not_sent", response_that_holds_a_line_end_is_not_sent},
        {"response_begun_is_checked_again_when_it_is_sent",
         response_begun_is_checked_again_when_it_is_sent},
        {"response_to_a_request_of_ours_is_refused", response_to_a_request_of_ours_is_refused},
        CU_TEST_INFO_NULL,
    };
    return run_suite("response", tests);
}
