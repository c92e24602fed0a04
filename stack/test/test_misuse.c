/* test_misuse.c - peers that abuse what the rules leave open, and applications that call out of
 * order.
 *
 * Covered: many requests with one branch or, from an RFC 2543 peer, one key; CANCEL when too many
 * requests are pending; what an answer to a faulty request repeats; builders used after they were
 * sent or given back, and given to the functions of the other side; messages longer than any may
 * be. Not covered: the other limits (test_limits.c), who gets an answer (test_stateless.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"
#include "run_suite.h"

#include <stdio.h>
#include <stdlib.h>

#define SHARERS 32

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* RFC 3261 8.1.1.7: a branch names one request. Each record that shares a key is one more to look
 * at for every request with that key, so they are bounded. */
static void requests_that_share_a_branch_are_bounded(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    for (unsigned i = 0; i < 2 * SHARERS; i++) {
        char method[16], cseq[32];
        snprintf(method, sizeof method, "M%u", i);
        snprintf(cseq, sizeof cseq, "1 %s", method);
        struct harness_request request = {.method = method, .cseq = cseq};
        harness_receive_request(&harness, &request);
    }
    struct vd_stack_counters counters = harness_counters(&harness);
    CU_ASSERT_EQUAL(counters.server_transactions, SHARERS);
    CU_ASSERT_EQUAL(counters.overloads, SHARERS);
    CU_ASSERT_PTR_NOT_NULL(harness_find_sent(&harness, "SIP/2.0 503 "));

    /* Retransmissions are still absorbed, other branches served. */
    struct harness_request first = {.method = "M0", .cseq = "1 M0"};
    harness_receive_request(&harness, &first);
    CU_ASSERT_EQUAL(harness_counters(&harness).request_retransmissions, 1);
    harness_fresh(&harness);
    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT_EQUAL(harness_counters(&harness).server_transactions, SHARERS + 1);
    CU_ASSERT(harness_free(&harness));
}

static void rfc_2543_requests_that_share_a_key_are_bounded(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    for (unsigned i = 0; i < 2 * SHARERS; i++) {
        char to[64];
        snprintf(to, sizeof to, "<sip:bob@example.com>;tag=%u", i);
        struct harness_request request = {.method = "INVITE", .branch = "", .to = to};
        harness_receive_request(&harness, &request);
    }
    CU_ASSERT_EQUAL(harness_counters(&harness).server_transactions, SHARERS);
    CU_ASSERT_EQUAL(harness_counters(&harness).overloads, SHARERS);
    CU_ASSERT(harness_free(&harness));
}

/* The requests that are pending are what a CANCEL ends (RFC 3261 9.2). */
static void cancel_gets_through_when_too_many_requests_are_pending(void)
{
    struct harness harness;
    struct vd_stack_config config;
    vd_stack_config_init(&config);
    config.max_pending_requests = 1;
    harness_init(&harness, &config);
    harness_receive_method(&harness, "INVITE");
    harness_receive_method(&harness, "CANCEL");
    CU_ASSERT(harness_saw(&harness, "0.000 up INVITE\n0.000 up CANCEL\n0.000 out 200 CANCEL\n"));
    harness_fresh(&harness);
    harness_receive_method(&harness, "INVITE");
    CU_ASSERT(harness_saw(&harness, "0.000 out 503 INVITE\n"));
    CU_ASSERT(harness_free(&harness));
}

/* 8.2.6.2 and 18.2.1 hold for the answer to a faulty request as well: whichever header field is at
 * fault, the others are what the peer knows the answer by. */
static void answer_to_a_faulty_request_repeats_what_there_is(void)
{
    static const struct harness_request cases[] = {
        {.method = "OPTIONS", .cseq = "2147483648 OPTIONS"},
        {.method = "OPTIONS", .cseq = "-1 OPTIONS"},
        {.method = "OPTIONS", .from = "<sip:a@example.com"},
        {.method = "OPTIONS", .call_id = "a b"},
        {.method = "OPTIONS", .headers = "Via: SIP/2.0/UDP ;;\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct harness harness;
        harness_init(&harness, NULL);
        CU_ASSERT(harness_receive_request(&harness, &cases[i]) < 0);
        CU_ASSERT_EQUAL(harness.sent_count, 1);
        const char *text = harness_sent(&harness, 0)->text;
        char *request = harness_request_text(&harness, &cases[i]);
        CU_ASSERT(begins(text, "SIP/2.0 400 "));
        CU_ASSERT_STRING_EQUAL(
            harness_value(text, "Via", 0),
            "SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK-1;rport=5060;received=192.0.2.10");
        CU_ASSERT(begins(harness_value(text, "To", 0), "<sip:bob@example.com>;tag="));
        static const char *const same[] = {"From", "Call-ID", "CSeq"};
        for (size_t k = 0; k < 3; k++) {
            CU_ASSERT_STRING_EQUAL(harness_value(text, same[k], 0),
                                   harness_value(request, same[k], 0));
        }
        free(request);
        CU_ASSERT(harness_free(&harness));
    }
}

/* A top Via that cannot be read is repeated as it is; what does not hang on it is as ever. */
static void answer_to_a_faulty_via_has_a_to_tag(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    struct harness_request request = {.method = "OPTIONS", .via = ";ttl=x"};
    CU_ASSERT(harness_receive_request(&harness, &request) < 0);
    CU_ASSERT_EQUAL(harness.sent_count, 1);
    const char *text = harness_sent(&harness, 0)->text;
    CU_ASSERT_STRING_EQUAL(harness_value(text, "Via", 0),
                           "SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK-1;ttl=x");
    CU_ASSERT(begins(harness_value(text, "To", 0), "<sip:bob@example.com>;tag="));
    CU_ASSERT(harness_free(&harness));

    harness_init(&harness, NULL);
    request.to = "<sip:bob@example.com>;tag=mine";
    harness_receive_request(&harness, &request);
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "To", 0), request.to);
    CU_ASSERT(harness_free(&harness));
}

/* ---- Builders ---- */

static int begin_request(struct harness *harness, struct vd_builder *builder, const char *method)
{
    struct vd_str name = vd_str_from(method);
    struct vd_str uri = VD_STR("sip:bob@example.com");
    int rc = vd_request_begin(harness->stack, builder, name, uri, &harness->flow);
    vd_build_nameaddr(builder, VD_HEADER_FROM, vd_str(NULL, 0), uri, VD_STR("a"));
    vd_build_nameaddr(builder, VD_HEADER_TO, vd_str(NULL, 0), uri, vd_str(NULL, 0));
    vd_build_header(builder, VD_HEADER_CALL_ID, VD_STR("c"));
    vd_build_cseq(builder, 1, name);
    vd_build_number(builder, VD_HEADER_MAX_FORWARDS, 70);
    return rc;
}

static void builder_that_was_given_back_writes_nothing_and_sends_nothing(void)
{
    struct harness harness;
    struct vd_builder builder;
    harness_init(&harness, NULL);
    CU_ASSERT_EQUAL(begin_request(&harness, &builder, "OPTIONS"), 0);
    vd_request_abort(harness.stack, &builder);
    CU_ASSERT_EQUAL(vd_build_header(&builder, VD_HEADER_SUBJECT, VD_STR("x")), VD_ERR_STATE);
    CU_ASSERT_EQUAL(vd_build_end(&builder, vd_str(NULL, 0), vd_str(NULL, 0)), VD_ERR_STATE);
    CU_ASSERT(vd_request_send(harness.stack, &builder, NULL, harness.now, NULL) < 0);
    vd_request_abort(harness.stack, &builder);

    CU_ASSERT_EQUAL(begin_request(&harness, &builder, "ACK"), 0);
    vd_request_abort(harness.stack, &builder);
    CU_ASSERT_EQUAL(vd_ack_send(harness.stack, &builder, harness.now), VD_ERR_STATE);

    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT_EQUAL(
        vd_response_begin(harness.stack, &builder, harness.server, 200, vd_str(NULL, 0)), 0);
    vd_response_abort(harness.stack, &builder);
    CU_ASSERT_EQUAL(vd_response_send(harness.stack, &builder, harness.now), VD_ERR_STATE);
    CU_ASSERT_EQUAL(harness.sent_count, 0);
    CU_ASSERT_EQUAL(harness_respond(&harness, 200), 0);
    CU_ASSERT(harness_free(&harness));
}

/* A server transaction outlives what was begun for it, whoever is handed the builder. */
static void response_given_to_a_function_for_requests_leaves_its_transaction_alone(void)
{
    for (int way = 0; way < 3; way++) {
        struct harness harness;
        struct vd_builder builder;
        harness_init(&harness, NULL);
        harness_receive_method(&harness, "INVITE");
        harness_forget(&harness);
        vd_response_begin(harness.stack, &builder, harness.server, 200, vd_str(NULL, 0));
        if (way == 0) {
            vd_request_abort(harness.stack, &builder);
        } else if (way == 1) {
            CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builder, NULL, harness.now, NULL),
                            VD_ERR_INVALID);
        } else {
            CU_ASSERT_EQUAL(vd_ack_send(harness.stack, &builder, harness.now), VD_ERR_INVALID);
        }
        CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.server),
                        VD_TRANSACTION_PROCEEDING);
        harness_respond(&harness, 200);
        harness_run_out(&harness);
        CU_ASSERT(harness_saw(&harness, "0.000 out 200 INVITE\n32.000 end\n"));
        CU_ASSERT(harness_free(&harness));
    }
}

/* No datagram holds more than 65535 bytes. A message that is refused for that leaves the next ones
 * as they were. */
static void message_longer_than_any_datagram_is_refused_and_the_next_is_not(void)
{
    static char text[65536];
    memset(text, 'x', sizeof text);
    struct harness harness;
    struct vd_builder builder;
    harness_init(&harness, NULL);
    for (size_t over = 0; over < 2; over++) {
        /* In two steps: the buffer that the first one makes has room for more than a message. */
        CU_ASSERT_EQUAL(begin_request(&harness, &builder, "MESSAGE"), 0);
        vd_build_header(&builder, VD_HEADER_SUBJECT, vd_str(text, 40000));
        const char *end = "Content-Type: text/plain\r\nContent-Length: 25000\r\n\r\n";
        size_t rest = 65535 - builder.length - strlen(end) + over;
        int rc = vd_build_end(&builder, VD_STR("text/plain"), vd_str(text, rest));
        CU_ASSERT_EQUAL(rc, over ? VD_ERR_SPACE : 0);
        CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builder, NULL, harness.now, NULL), rc);
        harness_drain(&harness);
        if (!over) {
            CU_ASSERT_PTR_NOT_NULL_FATAL(harness_sent(&harness, 0));
            CU_ASSERT_EQUAL(harness_sent(&harness, 0)->size, 65535);
        }
        CU_ASSERT_EQUAL(harness_send_request(&harness, "OPTIONS", NULL, NULL), 0);
        harness_receive_method(&harness, "OPTIONS");
        CU_ASSERT_EQUAL(harness_respond(&harness, 200), 0);
        harness_fresh(&harness);
    }
    CU_ASSERT(harness_free(&harness));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"requests_that_share_a_branch_are_bounded", requests_that_share_a_branch_are_bounded},
        {"rfc_2543_requests_that_share_a_key_are_bounded",
         rfc_2543_requests_that_share_a_key_are_bounded},
        {"cancel_gets_through_when_too_many_requests_are_pending",
         cancel_gets_through_when_too_many_requests_are_pending},
        {"answer_to_a_faulty_request_repeats_what_there_is",
         answer_to_a_faulty_request_repeats_what_there_is},
        {"answer_to_a_faulty_via_has_a_to_tag", answer_to_a_faulty_via_has_a_to_tag},
        {"builder_that_was_given_back_writes_nothing_and_sends_nothing",
         builder_that_was_given_back_writes_nothing_and_sends_nothing},
        {"response_given_to_a_function_for_requests_leaves_its_transaction_alone",
         response_given_to_a_function_for_requests_leaves_its_transaction_alone},
        {"message_longer_than_any_datagram_is_refused_and_the_next_is_not",
         message_longer_than_any_datagram_is_refused_and_the_next_is_not},
        CU_TEST_INFO_NULL,
    };
    return run_suite("misuse", tests);
}
