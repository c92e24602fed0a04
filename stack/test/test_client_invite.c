/* test_client_invite.c - the INVITE client transaction (RFC 3261 17.1.1, RFC 6026 7.2).
 *
 * Covered: every transition of figure 5 as RFC 6026 redraws it, on unreliable and reliable
 * transports, what is absorbed in each state, the ACK for a non-2xx response field by field
 * (17.1.1.3), transport errors, the name after the end. Not covered: each timer at other values of
 * T1, T2, T4 and D (test_transaction_timers.c), CANCEL (test_cancel.c), which response belongs to
 * the transaction (test_matching.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"
#include "run_suite.h"

#include <stdio.h>
#include <stdlib.h>

static void calling_resends_by_timer_a_until_timer_b_fails_it(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.500 out INVITE\n"
                                 "1.500 out INVITE\n"
                                 "3.500 out INVITE\n"
                                 "7.500 out INVITE\n"
                                 "15.500 out INVITE\n"
                                 "31.500 out INVITE\n"
                                 "32.000 failure TIMEOUT\n"
                                 "32.000 end\n"));
}

static void reliable_transport_has_timer_b_and_no_timer_a(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "32.000 failure TIMEOUT\n"
                                 "32.000 end\n"));
}

/* 17.1.1.2: in Proceeding nothing is sent and no timer runs, however long it takes. */
static void provisional_response_stops_timers_a_and_b(void)
{
    static const enum harness_endpoint ends[] = {HARNESS_UDP, HARNESS_TCP};
    for (int i = 0; i < 2; i++) {
        struct harness harness;
        harness_init(&harness, NULL);
        harness_use(&harness, ends[i]);
        CU_ASSERT(harness_play(&harness, "0.000 tu INVITE\n"
                                         "0.000 out INVITE\n"
                                         "0.300 in 100 INVITE\n"
                                         "0.300 up 100 INVITE\n"
                                         "40.000 in 180 INVITE\n"
                                         "40.000 up 180 INVITE\n"
                                         "3000.000 in 183 INVITE\n"
                                         "3000.000 up 183 INVITE\n"
                                         "3000.000 live 1 0\n"));
        CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.client),
                        VD_TRANSACTION_PROCEEDING);
        CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), VD_TIME_NEVER);
        CU_ASSERT(harness_free(&harness));
    }
}

static void each_2xx_goes_up_until_timer_m(void)
{
    static const char script[] = "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.100 in 200 INVITE\n"
                                 "0.100 up 200 INVITE\n"
                                 "0.600 in 200 INVITE\n"
                                 "0.600 up 200 INVITE\n"
                                 "20.000 in 202 INVITE\n"
                                 "20.000 up 202 INVITE\n"
                                 "32.099 in 299 INVITE\n"
                                 "32.099 up 299 INVITE\n"
                                 "32.099 live 1 0\n"
                                 "32.100 end\n"
                                 "32.100 live 0 0\n"
                                 "32.101 in 200 INVITE\n"
                                 "32.101 stray 200 INVITE\n";
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP, script));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP, script)); /* Timer M has one length for both */
}

static void accepted_absorbs_all_but_2xx(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.100 in 180 INVITE\n"
                                 "0.100 up 180 INVITE\n"
                                 "0.200 in 200 INVITE\n"
                                 "0.200 up 200 INVITE\n"
                                 "0.300 in 180 INVITE\n"
                                 "0.400 in 486 INVITE\n"
                                 "0.500 in 603 INVITE\n"
                                 "0.600 in 200 INVITE\n"
                                 "0.600 up 200 INVITE\n"
                                 "32.200 end\n"));
}

static void each_copy_of_a_non_2xx_gets_an_ack_until_timer_d(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.100 in 486 INVITE\n"
                                 "0.100 up 486 INVITE\n"
                                 "0.100 out ACK\n"
                                 "0.600 in 486 INVITE\n"
                                 "0.600 out ACK\n"
                                 "1.600 in 486 INVITE\n"
                                 "1.600 out ACK\n"
                                 "32.099 in 486 INVITE\n"
                                 "32.099 out ACK\n"
                                 "32.100 end\n"
                                 "32.101 in 486 INVITE\n"
                                 "32.101 stray 486 INVITE\n"));
}

static void completed_absorbs_provisional_and_2xx(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.100 in 180 INVITE\n"
                                 "0.100 up 180 INVITE\n"
                                 "0.200 in 302 INVITE\n"
                                 "0.200 up 302 INVITE\n"
                                 "0.200 out ACK\n"
                                 "0.300 in 180 INVITE\n"
                                 "0.400 in 200 INVITE\n"
                                 "32.200 end\n"));
}

static void timer_d_is_zero_on_reliable_transports(void)
{
    static const char script[] = "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.100 in 100 INVITE\n"
                                 "0.100 up 100 INVITE\n"
                                 "0.200 in 486 INVITE\n"
                                 "0.200 up 486 INVITE\n"
                                 "0.200 end\n"
                                 "0.200 out ACK\n"
                                 "0.200 live 0 0\n"
                                 "0.700 in 486 INVITE\n"
                                 "0.700 stray 486 INVITE\n";
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP, script));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TLS, script));
}

/* Every class of final response, from Calling and from Proceeding. */
static void final_response_of_any_status_goes_up_once(void)
{
    for (int status = 200; status < 700; status += 33) {
        for (int provisional = 0; provisional < 2; provisional++) {
            struct harness harness;
            char expected[200];
            harness_init(&harness, NULL);
            harness_send_request(&harness, "INVITE", NULL, NULL);
            if (provisional) {
                harness_receive_response(&harness, 180, "INVITE");
            }
            harness_forget(&harness);
            harness_receive_response(&harness, status, "INVITE");
            harness_run_out(&harness);
            snprintf(expected, sizeof expected, "0.000 up %d INVITE\n%s32.000 end\n", status,
                     status < 300 ? "" : "0.000 out ACK\n");
            CU_ASSERT(harness_saw(&harness, expected));
            CU_ASSERT(harness_free(&harness));
        }
    }
}

/* 17.1.1.3: Request-URI, Call-ID, From, CSeq number, top Via and Route of the INVITE, To of the
 * response, nothing else of the INVITE's, no body. */
static void ack_for_a_non_2xx_has_the_fields_of_17_1_1_3(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    CU_ASSERT_EQUAL(
        harness_send_request(&harness, "INVITE",
                             "Route: <sip:p1.example.com;lr>, <sip:p2.example.com;lr>\r\n"
                             "Route: <sip:p3.example.com;lr>\r\n"
                             "Subject: lunch\r\n",
                             NULL),
        0);
    char *invite = strdup(harness_sent(&harness, 0)->text);
    harness_receive_response(&harness, 486, "INVITE");
    const struct harness_sent *ack = harness_sent(&harness, 0);
    char expected[2048];
    snprintf(expected, sizeof expected,
             "ACK sip:bob@192.0.2.10 SIP/2.0\r\n"
             "Via: %s\r\n"
             "Route: <sip:p1.example.com;lr>, <sip:p2.example.com;lr>\r\n"
             "Route: <sip:p3.example.com;lr>\r\n"
             "From: \"Carol\" <sip:carol@example.com>;tag=c1\r\n"
             "To: <sip:bob@example.com>;tag=b\r\n"
             "Call-ID: ours@192.0.2.20\r\n"
             "CSeq: 1 ACK\r\n"
             "Max-Forwards: 70\r\n"
             "Content-Length: 0\r\n\r\n",
             harness_value(invite, "Via", 0));
    CU_ASSERT_STRING_EQUAL(ack->text, expected);
    CU_ASSERT(vd_addr_equal(&ack->flow.remote, &harness.flow.remote));

    /* A copy of the response gets the same ACK, byte for byte, though its own To differs. */
    char *again = harness_response_text(invite, 486, "other", NULL);
    harness_receive(&harness, again);
    CU_ASSERT_STRING_EQUAL(harness_sent(&harness, 0)->text, expected);
    free(again);
    free(invite);
    CU_ASSERT(harness_free(&harness));
}

static void resent_invite_is_the_same_message(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "INVITE", NULL, NULL);
    char *first = strdup(harness_sent(&harness, 0)->text);
    harness_until(&harness, harness_at(&harness, 31.9));
    CU_ASSERT_EQUAL(harness.sent_count, 7);
    for (unsigned i = 0; i < 7; i++) {
        CU_ASSERT_STRING_EQUAL(harness_sent(&harness, i)->text, first);
    }
    CU_ASSERT_EQUAL(harness_counters(&harness).sent_requests, 1);
    CU_ASSERT_EQUAL(harness_counters(&harness).resent_requests, 6);
    free(first);
    CU_ASSERT(harness_free(&harness));
}

static void transport_error_in_calling_fails_it_at_once(void)
{
    static const enum harness_endpoint ends[] = {HARNESS_UDP, HARNESS_TCP};
    for (int i = 0; i < 2; i++) {
        CU_ASSERT(harness_play_alone(NULL, ends[i],
                                     "0.000 sends fail REFUSED\n"
                                     "0.000 tu INVITE\n"
                                     "0.000 out INVITE\n"
                                     "0.000 failure REFUSED\n"
                                     "0.000 end\n"
                                     "0.000 live 0 0\n"
                                     "0.100 in 200 INVITE\n"
                                     "0.100 stray 200 INVITE\n"));
    }
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.400 sends fail UNREACHABLE\n"
                                 "0.500 out INVITE\n"
                                 "0.500 failure UNREACHABLE\n"
                                 "0.500 end\n"));
}

/* Figure 5: an ACK that cannot be sent ends Completed. */
static void transport_error_in_completed_ends_it(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu INVITE\n"
                                 "0.000 out INVITE\n"
                                 "0.100 sends fail TRANSPORT\n"
                                 "0.100 in 503 INVITE\n"
                                 "0.100 up 503 INVITE\n"
                                 "0.100 out ACK\n"
                                 "0.100 failure TRANSPORT\n"
                                 "0.100 end\n"));
}

static int respond_to_each_2xx_with_ack(struct harness *harness)
{
    struct vd_builder ack;
    int rc = vd_request_begin(harness->stack, &ack, VD_STR("ACK"),
                              VD_STR("sip:bob@192.0.2.10:5060"), &harness->flow);
    vd_build_header(&ack, VD_HEADER_FROM, VD_STR("<sip:carol@example.com>;tag=c1"));
    vd_build_header(&ack, VD_HEADER_TO, VD_STR("<sip:bob@example.com>;tag=b"));
    vd_build_header(&ack, VD_HEADER_CALL_ID, VD_STR("ours@192.0.2.20"));
    vd_build_cseq(&ack, 1, VD_STR("ACK"));
    vd_build_number(&ack, VD_HEADER_MAX_FORWARDS, 70);
    return rc == 0 ? vd_ack_send(harness->stack, &ack, harness->now) : rc;
}

static void ack_from_on_response(struct vd_stack *stack, vd_transaction transaction,
                                 struct vd_message *response, void *user, void *context)
{
    struct harness *harness = context;
    CU_ASSERT_PTR_EQUAL(user, harness);
    CU_ASSERT_EQUAL(transaction, harness->client);
    CU_ASSERT_EQUAL(response->status, 200);
    CU_ASSERT_EQUAL(vd_stack_now(stack), harness->now);
    CU_ASSERT_EQUAL(respond_to_each_2xx_with_ack(harness), 0);
}

static void ack_for_a_2xx_is_sent_from_the_callback_with_a_branch_of_its_own(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness.hooks.on_response = ack_from_on_response;
    CU_ASSERT(harness_play(&harness, "0.000 tu INVITE\n"
                                     "0.000 out INVITE\n"
                                     "0.100 in 200 INVITE\n"
                                     "0.100 up 200 INVITE\n"
                                     "0.100 out ACK\n"
                                     "0.600 in 200 INVITE\n"
                                     "0.600 up 200 INVITE\n"
                                     "0.600 out ACK\n"
                                     "32.100 end\n"));
    CU_ASSERT_EQUAL(harness_counters(&harness).sent_requests, 3);
    const char *invite = harness_find_sent(&harness, "INVITE ")->text;
    const char *first = harness_sent(&harness, 1)->text;
    const char *second = harness_sent(&harness, 0)->text;
    CU_ASSERT_STRING_NOT_EQUAL(harness_value(first, "Via", 0), harness_value(invite, "Via", 0));
    CU_ASSERT_STRING_NOT_EQUAL(harness_value(first, "Via", 0), harness_value(second, "Via", 0));
    CU_ASSERT(harness_free(&harness));
}

/* RFC 3261 8.1.1.8, 8.1.3: a response that no UAS may send is ignored, and so is each copy of it.
 */
static void two_hundred_with_star_contact_is_ignored_each_time(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "INVITE", NULL, NULL);
    char *bad = harness_response_text(harness_sent(&harness, 0)->text, 200, "b", "Contact: *\r\n");
    CU_ASSERT(harness_saw(&harness, "0.000 out INVITE\n"));
    for (int copy = 0; copy < 3; copy++) {
        harness_until(&harness, harness_at(&harness, 0.1 * (copy + 1)));
        CU_ASSERT_EQUAL(harness_receive(&harness, bad), VD_ERR_SYNTAX);
    }
    free(bad);
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.client), VD_TRANSACTION_CALLING);
    CU_ASSERT_EQUAL(harness_counters(&harness).received_invalid, 3);

    /* A good one still counts. */
    harness_receive_response(&harness, 200, "INVITE");
    harness_run_out(&harness);
    CU_ASSERT(harness_saw(&harness, "0.300 up 200 INVITE\n32.300 end\n"));
    CU_ASSERT(harness_free(&harness));
}

static void states_are_those_of_figure_5(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    vd_transaction first;
    vd_transaction second;
    harness_send_request(&harness, "INVITE", NULL, &first);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, first), VD_TRANSACTION_CALLING);
    harness_receive_response(&harness, 183, "INVITE");
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, first), VD_TRANSACTION_PROCEEDING);
    harness_receive_response(&harness, 200, "INVITE");
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, first), VD_TRANSACTION_ACCEPTED);
    harness_send_request(&harness, "INVITE", NULL, &second);
    harness_receive_response(&harness, 404, "INVITE");
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, second), VD_TRANSACTION_COMPLETED);
    CU_ASSERT_NOT_EQUAL(first, second);
    harness_run_out(&harness);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, first), VD_TRANSACTION_TERMINATED);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, second), VD_TRANSACTION_TERMINATED);
    CU_ASSERT_EQUAL(harness.terminations, 2);
    CU_ASSERT(harness_free(&harness));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"calling_resends_by_timer_a_until_timer_b_fails_it",
         calling_resends_by_timer_a_until_timer_b_fails_it},
        {"reliable_transport_has_timer_b_and_no_timer_a",
         reliable_transport_has_timer_b_and_no_timer_a},
        {"provisional_response_stops_timers_a_and_b", provisional_response_stops_timers_a_and_b},
        {"each_2xx_goes_up_until_timer_m", each_2xx_goes_up_until_timer_m},
        {"accepted_absorbs_all_but_2xx", accepted_absorbs_all_but_2xx},
        {"each_copy_of_a_non_2xx_gets_an_ack_until_timer_d",
         each_copy_of_a_non_2xx_gets_an_ack_until_timer_d},
        {"completed_absorbs_provisional_and_2xx", completed_absorbs_provisional_and_2xx},
        {"timer_d_is_zero_on_reliable_transports", timer_d_is_zero_on_reliable_transports},
        {"final_response_of_any_status_goes_up_once", final_response_of_any_status_goes_up_once},
        {"ack_for_a_non_2xx_has_the_fields_of_17_1_1_3",
         ack_for_a_non_2xx_has_the_fields_of_17_1_1_3},
        {"resent_invite_is_the_same_message", resent_invite_is_the_same_message},
        {"transport_error_in_calling_fails_it_at_once",
         transport_error_in_calling_fails_it_at_once},
        {"transport_error_in_completed_ends_it", transport_error_in_completed_ends_it},
        {"ack_for_a_2xx_is_sent_from_the_callback_with_a_branch_of_its_own",
         ack_for_a_2xx_is_sent_from_the_callback_with_a_branch_of_its_own},
        {"two_hundred_with_star_contact_is_ignored_each_time",
         two_hundred_with_star_contact_is_ignored_each_time},
        {"states_are_those_of_figure_5", states_are_those_of_figure_5},
        CU_TEST_INFO_NULL,
    };
    return run_suite("client_invite", tests);
}
