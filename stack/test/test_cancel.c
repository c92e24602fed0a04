/* test_cancel.c - CANCEL, ours and the peer's (RFC 3261 9).
 *
 * Covered: a CANCEL held back until a provisional response, its fields (9.1), its own transaction,
 * the end of an INVITE that gets no final response after it, races with final responses, failure to
 * send it; a CANCEL that comes: in each state of the INVITE, for nothing, again, with and without
 * on_cancel, its To tag (9.2). Not covered: how a CANCEL of an RFC 2543 peer is matched
 * (test_matching.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"
#include "run_suite.h"

#include <stdio.h>
#include <stdlib.h>

static void cancel_is_held_back_until_a_provisional_response(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.100 tu cancel\n"
                                 "0.500 out INVITE\n"
                                 "1.500 out INVITE\n"
                                 "2.000 in 100 INVITE\n"
                                 "2.000 up 100 INVITE\n"
                                 "2.000 out CANCEL\n"
                                 "2.100 in 200 CANCEL\n"
                                 "2.100 in 487 INVITE\n"
                                 "2.100 up 487 INVITE\n"
                                 "2.100 out ACK\n"
                                 "2.200 in 180 INVITE\n"
                                 "7.100 idle\n" /* Timer K of the CANCEL: nothing to tell */
                                 "34.100 end\n"));
}

static void cancel_goes_at_once_when_a_provisional_response_has_come(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.100 in 180 INVITE\n"
                                 "0.100 up 180 INVITE\n"
                                 "1.000 tu cancel\n"
                                 "1.000 out CANCEL\n"
                                 "1.100 in 487 INVITE\n"
                                 "1.100 up 487 INVITE\n"
                                 "1.100 end\n"
                                 "1.100 out ACK\n"
                                 "1.200 in 200 CANCEL\n"
                                 "1.200 live 0 0\n"));
}

static void held_cancel_ends_with_timer_b_when_nothing_comes(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.100 tu cancel\n"
                                 "32.000 failure TIMEOUT\n"
                                 "32.000 end\n"));
}

/* 9.1: a CANCEL is not sent once a final response has come, be it the first response of all. */
static void final_response_before_the_provisional_drops_the_cancel(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.100 tu cancel\n"
                                 "0.200 in 200 INVITE\n"
                                 "0.200 up 200 INVITE\n"
                                 "0.300 in 180 INVITE\n"
                                 "32.200 end\n"));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.100 tu cancel\n"
                                 "0.200 in 404 INVITE\n"
                                 "0.200 up 404 INVITE\n"
                                 "0.200 end\n"
                                 "0.200 out ACK\n"));
}

static void cancel_that_crosses_the_2xx_changes_nothing(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.100 in 180 INVITE\n"
                                 "0.100 up 180 INVITE\n"
                                 "0.200 tu cancel\n"
                                 "0.200 out CANCEL\n"
                                 "0.300 in 200 INVITE\n"
                                 "0.300 up 200 INVITE\n"
                                 "0.400 in 481 CANCEL\n"
                                 "0.500 in 200 INVITE\n"
                                 "0.500 up 200 INVITE\n"
                                 "32.300 end\n"));
}

/* 9.1: the peer answers the CANCEL and nothing more. */
static void invite_without_final_response_ends_64_t1_after_the_cancel(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.200 in 183 INVITE\n"
                                 "0.200 up 183 INVITE\n"
                                 "3.000 tu cancel\n"
                                 "3.000 out CANCEL\n"
                                 "3.100 in 200 CANCEL\n"
                                 "8.100 idle\n" /* Timer K of the CANCEL */
                                 "9.000 in 183 INVITE\n"
                                 "9.000 up 183 INVITE\n"
                                 "35.000 failure CANCELLED\n"
                                 "35.000 end\n"
                                 "35.000 live 0 0\n"
                                 "35.000 tu cancel\n"
                                 "35.000 = GONE\n"
                                 "36.000 in 487 INVITE\n"
                                 "36.000 stray 487 INVITE\n"));
}

/* The CANCEL has a transaction of its own: it is resent by Timer E, whatever the INVITE does. */
static void unanswered_cancel_is_resent_and_its_end_is_not_reported(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.000 in 180 INVITE\n"
                                 "0.000 up 180 INVITE\n"
                                 "0.000 tu cancel\n"
                                 "0.000 out CANCEL\n"
                                 "0.500 out CANCEL\n"
                                 "1.000 in 487 INVITE\n"
                                 "1.000 up 487 INVITE\n"
                                 "1.000 out ACK\n"
                                 "1.500 out CANCEL\n"
                                 "3.500 out CANCEL\n"
                                 "7.500 out CANCEL\n"
                                 "11.500 out CANCEL\n"
                                 "15.500 out CANCEL\n"
                                 "19.500 out CANCEL\n"
                                 "23.500 out CANCEL\n"
                                 "27.500 out CANCEL\n"
                                 "31.500 out CANCEL\n"
                                 "32.000 idle\n" /* Timer F of the CANCEL */
                                 "33.000 end\n"));
}

static void cancel_is_possible_once_and_only_before_a_final_response(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.000 tu cancel\n"
                                 "0.000 tu cancel\n"
                                 "0.000 = STATE\n"
                                 "0.100 in 180 INVITE\n"
                                 "0.100 up 180 INVITE\n"
                                 "0.100 out CANCEL\n"
                                 "0.100 tu cancel\n"
                                 "0.100 = STATE\n"
                                 "0.100 in 200 CANCEL\n"
                                 "0.200 in 183 INVITE\n"
                                 "0.200 up 183 INVITE\n"
                                 "0.300 in 200 INVITE\n"
                                 "0.300 up 200 INVITE\n"
                                 "0.300 tu cancel\n"
                                 "0.300 = STATE\n"
                                 "32.300 end\n"
                                 "32.300 tu cancel\n"
                                 "32.300 = GONE\n"));
}

static void only_an_invite_of_ours_can_be_cancelled(void)
{
    struct harness harness;
    vd_transaction options;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "OPTIONS", NULL, &options);
    CU_ASSERT_EQUAL(vd_request_cancel(harness.stack, options, harness.now), VD_ERR_INVALID);
    harness_receive_method(&harness, "INVITE");
    CU_ASSERT_EQUAL(vd_request_cancel(harness.stack, harness.server, harness.now), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_request_cancel(harness.stack, 0, harness.now), VD_ERR_GONE);
    CU_ASSERT_EQUAL(vd_request_cancel(harness.stack, UINT64_MAX, harness.now), VD_ERR_GONE);
    harness_drain(&harness);
    CU_ASSERT(harness_saw(&harness, "0.000 out OPTIONS\n0.000 up INVITE\n"));
    CU_ASSERT(harness_free(&harness));
}

/* 9.1: Request-URI, Call-ID, To, CSeq number, From and Route of the INVITE, and its top Via alone.
 */
static void cancel_has_the_fields_of_9_1(void)
{
    struct harness harness;
    char expected[2048];
    harness_init(&harness, NULL);
    harness_send_request(&harness, "INVITE",
                         "Route: <sip:p1.example.com;lr>\r\nRoute: <sip:p2.example.com;lr>\r\n"
                         "Require: 100rel\r\n",
                         NULL);
    char *via = strdup(harness_value(harness_sent(&harness, 0)->text, "Via", 0));
    harness_receive_response(&harness, 180, "INVITE");
    CU_ASSERT_EQUAL(vd_request_cancel(harness.stack, harness.invite, harness.now), 0);
    harness_drain(&harness);
    snprintf(expected, sizeof expected,
             "CANCEL sip:bob@192.0.2.10 SIP/2.0\r\n"
             "Via: %s\r\n"
             "Route: <sip:p1.example.com;lr>\r\n"
             "Route: <sip:p2.example.com;lr>\r\n"
             "From: \"Carol\" <sip:carol@example.com>;tag=c1\r\n"
             "To: <sip:bob@example.com>\r\n"
             "Call-ID: ours@192.0.2.20\r\n"
             "CSeq: 1 CANCEL\r\n"
             "Max-Forwards: 70\r\n"
             "Content-Length: 0\r\n\r\n",
             via);
    CU_ASSERT_STRING_EQUAL(harness_sent(&harness, 0)->text, expected);
    CU_ASSERT(vd_addr_equal(&harness_sent(&harness, 0)->flow.remote, &harness.flow.remote));
    free(via);
    CU_ASSERT(harness_free(&harness));
}

static void cancel_that_cannot_be_sent_lets_the_invite_wait_64_t1(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.000 in 180 INVITE\n"
                                 "0.000 up 180 INVITE\n"
                                 "0.000 sends fail REFUSED\n"
                                 "1.000 tu cancel\n"
                                 "1.000 out CANCEL\n"
                                 "1.000 live 1 0\n"
                                 "33.000 failure CANCELLED\n"
                                 "33.000 end\n"));
}

static void cancel_in_on_response(struct vd_stack *stack, vd_transaction transaction,
                                  struct vd_message *response, void *user, void *context)
{
    (void)user, (void)context;
    int rc = vd_request_cancel(stack, transaction, vd_stack_now(stack));
    CU_ASSERT_EQUAL(rc, response->status < 200 ? 0 : VD_ERR_STATE);
}

static void cancel_may_be_sent_from_a_callback(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_use(&harness, HARNESS_TCP);
    harness.hooks.on_response = cancel_in_on_response;
    CU_ASSERT(harness_play(&harness, "0.000 tu INVITE\n"
                                     "0.000 out INVITE\n"
                                     "0.100 in 183 INVITE\n"
                                     "0.100 up 183 INVITE\n"
                                     "0.100 out CANCEL\n"
                                     "0.200 in 200 CANCEL\n"
                                     "0.300 in 487 INVITE\n"
                                     "0.300 up 487 INVITE\n"
                                     "0.300 end\n"
                                     "0.300 out ACK\n"));
    CU_ASSERT(harness_free(&harness));
}

/* 9.2 */
static void received_cancel_is_answered_and_reported(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 tu 180\n"
                                 "0.100 out 180 INVITE\n"
                                 "1.000 in CANCEL\n"
                                 "1.000 up CANCEL\n"
                                 "1.000 out 200 CANCEL\n"
                                 "1.000 live 0 1\n"
                                 "1.100 tu 487\n"
                                 "1.100 out 487 INVITE\n"
                                 "1.200 in ACK\n"
                                 "1.200 end\n"
                                 "1.200 live 0 0\n"));
}

static void received_cancel_is_absorbed_when_it_comes_again(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 in CANCEL\n"
                                 "0.100 up CANCEL\n"
                                 "0.100 out 200 CANCEL\n"
                                 "0.150 in CANCEL\n"
                                 "0.150 out 200 CANCEL\n"
                                 "0.180 tu 487\n"
                                 "0.180 out 487 INVITE\n"
                                 "0.500 in CANCEL\n"
                                 "0.500 out 200 CANCEL\n"
                                 "0.600 in ACK\n"
                                 "5.600 end\n"
                                 "32.100 idle\n" /* Timer J of the CANCEL: nothing to tell */
                                 "32.100 live 0 0\n"));
}

/* Over TCP the first CANCEL leaves nothing behind, so a copy is a transaction of its own. */
static void received_cancel_is_reported_once(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 in CANCEL\n"
                                 "0.100 up CANCEL\n"
                                 "0.100 out 200 CANCEL\n"
                                 "0.150 in CANCEL\n"
                                 "0.150 out 200 CANCEL\n"
                                 "0.180 tu 487\n"
                                 "0.180 out 487 INVITE\n"
                                 "0.200 in ACK\n"
                                 "0.200 end\n"));
}

static void answer_to_a_cancel_that_cannot_be_sent_is_not_reported(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 sends fail REFUSED\n"
                                 "0.100 in CANCEL\n"
                                 "0.100 up CANCEL\n"
                                 "0.100 out 200 CANCEL\n"
                                 "0.100 sends work\n"
                                 "0.180 tu 200\n"
                                 "0.180 out 200 INVITE\n"
                                 "32.100 idle\n"
                                 "32.180 end\n"));
}

static void received_cancel_for_nothing_gets_481(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 in CANCEL\n"
                                 "0.000 out 481 CANCEL\n"
                                 "0.000 live 0 0\n"));
}

/* 9.2: after the final response it changes nothing, but is answered. */
static void received_cancel_after_the_final_response_changes_nothing(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 tu 200\n"
                                 "0.100 out 200 INVITE\n"
                                 "0.200 in CANCEL\n"
                                 "0.200 out 200 CANCEL\n"
                                 "0.300 tu resend\n"
                                 "0.300 out 200 INVITE\n"
                                 "32.100 end\n"
                                 "32.200 in CANCEL\n"
                                 "32.200 out 481 CANCEL\n"));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 tu 404\n"
                                 "0.100 out 404 INVITE\n"
                                 "0.200 in CANCEL\n"
                                 "0.200 out 200 CANCEL\n"
                                 "0.300 in ACK\n"
                                 "0.300 end\n"));
}

/* 9.2: CANCEL has no effect on a request other than INVITE. */
static void received_cancel_of_another_method_changes_nothing(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 in OPTIONS\n"
                                 "0.000 up OPTIONS\n"
                                 "0.100 in CANCEL\n"
                                 "0.100 out 200 CANCEL\n"
                                 "0.200 tu 100\n"
                                 "0.200 out 100 OPTIONS\n"
                                 "0.300 in CANCEL\n"
                                 "0.300 out 200 CANCEL\n"
                                 "0.400 tu 200\n"
                                 "0.400 out 200 OPTIONS\n"
                                 "0.400 end\n"));
}

static void count_failure(struct vd_stack *stack, vd_transaction transaction, int error, void *user,
                          void *context)
{
    (void)stack, (void)transaction, (void)error, (void)user;
    ++*(int *)context;
}

static void count_end(struct vd_stack *stack, vd_transaction transaction, void *user, void *context)
{
    (void)stack, (void)transaction, (void)user;
    ++*(int *)context;
}

/* An application that takes no requests hears of none, not of their ends either. */
static void without_on_request_the_stack_answers_501(void)
{
    struct vd_stack_config config;
    struct vd_stack *stack;
    struct vd_flow flow = {.endpoint = 0};
    struct vd_send sends[8];
    uint32_t endpoint;
    int calls = 0;
    static const char format[] = "%s sip:bob@example.com SIP/2.0\r\n"
                                 "Via: SIP/2.0/TCP 192.0.2.10;branch=z9hG4bK-1\r\n"
                                 "From: <sip:a@example.com>;tag=1\r\n"
                                 "To: <sip:bob@example.com>\r\n"
                                 "Call-ID: 1\r\n"
                                 "CSeq: 1 %s\r\n"
                                 "Content-Length: 0\r\n\r\n";
    static const char *const methods[] = {"INVITE", "CANCEL", "OPTIONS"};
    static const char *const answers[] = {"SIP/2.0 501", "SIP/2.0 200", "SIP/2.0 501"};
    vd_stack_config_init(&config);
    config.context = &calls;
    config.callbacks.on_failure = count_failure;
    config.callbacks.on_terminated = count_end;
    CU_ASSERT_EQUAL_FATAL(vd_stack_new(&stack, &config), 0);
    CU_ASSERT_EQUAL(vd_stack_add_endpoint(stack, VD_TRANSPORT_TCP, VD_STR("192.0.2.20"), &endpoint),
                    0);
    CU_ASSERT_EQUAL(vd_addr_parse(VD_STR("192.0.2.10"), 5060, &flow.remote), 0);
    for (int i = 0; i < 3; i++) {
        char text[512];
        int size = snprintf(text, sizeof text, format, methods[i], methods[i]);
        CU_ASSERT_EQUAL(vd_stack_receive(stack, &flow, text, (size_t)size, 0), 0);
        CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(stack, sends, 8), 1);
        CU_ASSERT_EQUAL(strncmp(sends[0].data, answers[i], 11), 0);
        vd_stack_send_failed(stack, &sends[0], VD_ERR_TRANSPORT, 0);
    }
    vd_stack_expire(stack, 100 * VD_SEC);
    CU_ASSERT_EQUAL(vd_stack_next_deadline(stack), VD_TIME_NEVER);
    CU_ASSERT_EQUAL(calls, 0);
    vd_stack_free(stack);
}

static void leave_pending(struct vd_stack *stack, vd_transaction transaction,
                          struct vd_message *request, const struct vd_flow *flow, void *context)
{
    (void)stack, (void)request, (void)flow;
    *(vd_transaction *)context = transaction;
}

static void without_on_cancel_the_stack_answers_487(void)
{
    struct vd_stack_config config;
    struct vd_stack *stack;
    struct vd_flow flow = {.endpoint = 0};
    struct vd_send sends[8];
    uint32_t endpoint;
    vd_transaction invite = 0;
    static const char format[] = "%s sip:bob@example.com SIP/2.0\r\n"
                                 "Via: SIP/2.0/UDP 192.0.2.10;branch=z9hG4bK-1\r\n"
                                 "From: <sip:a@example.com>;tag=1\r\n"
                                 "To: <sip:bob@example.com>\r\n"
                                 "Call-ID: 1\r\n"
                                 "CSeq: 1 %s\r\n\r\n";
    char text[512];
    vd_stack_config_init(&config);
    config.context = &invite;
    config.callbacks.on_request = leave_pending;
    CU_ASSERT_EQUAL_FATAL(vd_stack_new(&stack, &config), 0);
    CU_ASSERT_EQUAL(vd_stack_add_endpoint(stack, VD_TRANSPORT_UDP, VD_STR("192.0.2.20"), &endpoint),
                    0);
    CU_ASSERT_EQUAL(vd_addr_parse(VD_STR("192.0.2.10"), 5060, &flow.remote), 0);
    int size = snprintf(text, sizeof text, format, "INVITE", "INVITE");
    vd_stack_receive(stack, &flow, text, (size_t)size, 0);
    CU_ASSERT_EQUAL(vd_stack_poll_send(stack, sends, 8), 0);
    size = snprintf(text, sizeof text, format, "CANCEL", "CANCEL");
    vd_stack_receive(stack, &flow, text, (size_t)size, 1);
    CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(stack, sends, 8), 2);
    CU_ASSERT_EQUAL(strncmp(sends[0].data, "SIP/2.0 200", 11), 0);
    CU_ASSERT_EQUAL(strncmp(sends[1].data, "SIP/2.0 487", 11), 0);
    CU_ASSERT_EQUAL(vd_transaction_state(stack, invite), VD_TRANSACTION_COMPLETED);
    vd_stack_send_done(stack, &sends[0]);
    vd_stack_send_done(stack, &sends[1]);
    vd_stack_free(stack);
}

static void answer_487(struct vd_stack *stack, vd_transaction invite, struct vd_message *cancel,
                       void *user, void *context)
{
    (void)context;
    CU_ASSERT_EQUAL(cancel->method_id, VD_METHOD_CANCEL);
    CU_ASSERT_STRING_EQUAL(user, "mine");
    CU_ASSERT_EQUAL(vd_respond(stack, invite, 487, vd_str(NULL, 0), vd_stack_now(stack)), 0);
}

/* 9.2: the answer to the CANCEL has the To tag that the answer to the INVITE has. */
static void to_tag_of_both_answers_is_the_same(void)
{
    struct harness harness;
    struct vd_str tag;
    char user[] = "mine";
    harness_init(&harness, NULL);
    harness.hooks.on_cancel = answer_487;
    harness_receive_method(&harness, "INVITE");
    CU_ASSERT_EQUAL(vd_transaction_set_user(harness.stack, harness.server, user), 0);
    CU_ASSERT_EQUAL(vd_transaction_local_tag(harness.stack, harness.server, &tag), 0);
    char to[100];
    snprintf(to, sizeof to, "<sip:bob@example.com>;tag=%.*s", (int)tag.n, tag.p);
    harness_receive_method(&harness, "CANCEL");
    CU_ASSERT(harness_saw(&harness, "0.000 up INVITE\n"
                                    "0.000 up CANCEL\n"
                                    "0.000 out 200 CANCEL\n"
                                    "0.000 out 487 INVITE\n"));
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 1)->text, "To", 0), to);
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "To", 0), to);
    CU_ASSERT_EQUAL(
        strncmp(harness_value(harness_sent(&harness, 0)->text, "CSeq", 0), "1 INVITE", 8), 0);

    /* A CANCEL that lacks the To tag of its INVITE gets one all the same. */
    harness.hooks.on_cancel = NULL;
    harness_fresh(&harness);
    struct harness_request within = {.method = "INVITE", .to = "<sip:bob@example.com>;tag=d"};
    harness_receive_request(&harness, &within);
    harness_receive_method(&harness, "CANCEL");
    const struct harness_sent *ok = harness_find_sent(&harness, "SIP/2.0 200");
    CU_ASSERT_EQUAL(strlen(ok->text), ok->size);
    CU_ASSERT_EQUAL(strlen(harness_value(ok->text, "To", 0)),
                    strlen("<sip:bob@example.com>;tag=") + 16);

    /* Also after the final response, whatever it was. */
    static const struct {
        const char *method;
        int status;
        const char *to;
    } cases[] = {{"INVITE", 200, NULL},
                 {"INVITE", 404, NULL},
                 {"OPTIONS", 200, NULL},
                 {"INVITE", 200, "<sip:bob@example.com>;tag=of-the-dialog"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        harness_fresh(&harness);
        struct harness_request request = {.method = cases[i].method, .to = cases[i].to};
        struct harness_request cancel = {.method = "CANCEL", .to = cases[i].to};
        harness_receive_request(&harness, &request);
        harness_respond(&harness, cases[i].status);
        harness_receive_request(&harness, &cancel);
        CU_ASSERT_EQUAL(strncmp(harness_sent(&harness, 0)->text, "SIP/2.0 200", 11), 0);
        CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "CSeq", 0),
                               "1 CANCEL");
        CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "To", 0),
                               harness_value(harness_sent(&harness, 1)->text, "To", 0));
    }
    CU_ASSERT(harness_free(&harness));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"cancel_is_held_back_until_a_provisional_response",
         cancel_is_held_back_until_a_provisional_response},
        {"cancel_goes_at_once_when_a_provisional_response_has_come",
         cancel_goes_at_once_when_a_provisional_response_has_come},
        {"held_cancel_ends_with_timer_b_when_nothing_comes",
         held_cancel_ends_with_timer_b_when_nothing_comes},
        {"final_response_before_the_provisional_drops_the_cancel",
         final_response_before_the_provisional_drops_the_cancel},
        {"cancel_that_crosses_the_2xx_changes_nothing",
         cancel_that_crosses_the_2xx_changes_nothing},
        {"invite_without_final_response_ends_64_t1_after_the_cancel",
         invite_without_final_response_ends_64_t1_after_the_cancel},
        {"unanswered_cancel_is_resent_and_its_end_is_not_reported",
         unanswered_cancel_is_resent_and_its_end_is_not_reported},
        {"cancel_is_possible_once_and_only_before_a_final_response",
         cancel_is_possible_once_and_only_before_a_final_response},
        {"only_an_invite_of_ours_can_be_cancelled", only_an_invite_of_ours_can_be_cancelled},
        {"cancel_has_the_fields_of_9_1", cancel_has_the_fields_of_9_1},
        {"cancel_that_cannot_be_sent_lets_the_invite_wait_64_t1",
         cancel_that_cannot_be_sent_lets_the_invite_wait_64_t1},
        {"cancel_may_be_sent_from_a_callback", cancel_may_be_sent_from_a_callback},
        {"received_cancel_is_answered_and_reported", received_cancel_is_answered_and_reported},
        {"received_cancel_is_absorbed_when_it_comes_again",
         received_cancel_is_absorbed_when_it_comes_again},
        {"received_cancel_is_reported_once", received_cancel_is_reported_once},
        {"answer_to_a_cancel_that_cannot_be_sent_is_not_reported",
         answer_to_a_cancel_that_cannot_be_sent_is_not_reported},
        {"received_cancel_for_nothing_gets_481", received_cancel_for_nothing_gets_481},
        {"received_cancel_after_the_final_response_changes_nothing",
         received_cancel_after_the_final_response_changes_nothing},
        {"received_cancel_of_another_method_changes_nothing",
         received_cancel_of_another_method_changes_nothing},
        {"without_on_request_the_stack_answers_501", without_on_request_the_stack_answers_501},
        {"without_on_cancel_the_stack_answers_487", without_on_cancel_the_stack_answers_487},
        {"to_tag_of_both_answers_is_the_same", to_tag_of_both_answers_is_the_same},
        CU_TEST_INFO_NULL,
    };
    return run_suite("cancel", tests);
}
