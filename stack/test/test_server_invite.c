/* test_server_invite.c - the INVITE server transaction (RFC 3261 17.2.1, RFC 6026 7.1).
 *
 * Covered: every transition of figure 7 as RFC 6026 redraws it, on unreliable and reliable
 * transports, the automatic 100, what a retransmitted INVITE and an ACK do in each state, 2xx
 * repeated by the TU, which responses the TU may not send, transport errors, a new call after a
 * refused one, limits. Not covered: each timer at other values of T1, T2, T4
 * (test_transaction_timers.c), CANCEL (test_cancel.c), which request belongs to the transaction
 * (test_matching.c), what a response holds (test_response.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"
#include "run_suite.h"

#include <stdio.h>
#include <stdlib.h>

static bool play_everywhere(const char *script)
{
    return harness_play_alone(NULL, HARNESS_UDP, script) &&
           harness_play_alone(NULL, HARNESS_TCP, script) &&
           harness_play_alone(NULL, HARNESS_TLS, script) &&
           harness_play_alone(NULL, HARNESS_UDP6, script);
}

static void invite_without_answer_gets_100_after_200_ms(void)
{
    CU_ASSERT(play_everywhere("0.000 in INVITE\n"
                              "0.000 up INVITE\n"
                              "0.100 in INVITE\n"
                              "0.200 out 100 INVITE\n"
                              "0.500 in INVITE\n"
                              "0.500 out 100 INVITE\n"
                              "100.000 live 0 1\n"
                              "100.000 tu 200\n"
                              "100.000 out 200 INVITE\n"
                              "132.000 end\n"));
}

static void response_within_200_ms_keeps_the_100_away(void)
{
    CU_ASSERT(play_everywhere("0.000 in INVITE\n"
                              "0.000 up INVITE\n"
                              "0.199 tu 180\n"
                              "0.199 out 180 INVITE\n"
                              "0.300 tu 200\n"
                              "0.300 out 200 INVITE\n"
                              "32.300 end\n"));
}

static void proceeding_repeats_the_latest_provisional(void)
{
    CU_ASSERT(play_everywhere("0.000 in INVITE\n"
                              "0.000 up INVITE\n"
                              "0.100 tu 100\n"
                              "0.100 out 100 INVITE\n"
                              "0.500 in INVITE\n"
                              "0.500 out 100 INVITE\n"
                              "0.600 tu 180\n"
                              "0.600 out 180 INVITE\n"
                              "1.500 in INVITE\n"
                              "1.500 out 180 INVITE\n"
                              "1.600 tu 183\n"
                              "1.600 out 183 INVITE\n"
                              "3.500 in INVITE\n"
                              "3.500 out 183 INVITE\n"
                              "4.000 tu 200\n"
                              "4.000 out 200 INVITE\n"
                              "36.000 end\n"));
}

/* RFC 6026 7.1: the TU repeats the 2xx, the transaction none; a retransmitted INVITE is absorbed.
 */
static void accepted_absorbs_the_invite_and_lets_the_tu_repeat_its_2xx(void)
{
    CU_ASSERT(play_everywhere("0.000 in INVITE\n"
                              "0.000 up INVITE\n"
                              "0.100 tu 200\n"
                              "0.100 out 200 INVITE\n"
                              "0.500 in INVITE\n"
                              "0.600 tu resend\n"
                              "0.600 out 200 INVITE\n"
                              "1.500 in INVITE\n"
                              "1.600 tu 200\n"
                              "1.600 out 200 INVITE\n"
                              "1.700 tu 202\n"
                              "1.700 out 202 INVITE\n"
                              "1.800 tu resend\n"
                              "1.800 out 202 INVITE\n"
                              "2.000 tu 180\n"
                              "2.000 = STATE\n"
                              "2.000 tu 486\n"
                              "2.000 = STATE\n"
                              "32.099 tu resend\n"
                              "32.099 out 202 INVITE\n"
                              "32.100 end\n"
                              "32.100 tu resend\n"
                              "32.100 = GONE\n"
                              "32.100 tu 200\n"
                              "32.100 = GONE\n"));
}

/* RFC 6026 7.1: an ACK in Accepted goes up. A peer of RFC 3261 gives it another branch, but some do
 * not. */
static void accepted_passes_each_ack_up(void)
{
    CU_ASSERT(play_everywhere("0.000 in INVITE\n"
                              "0.000 up INVITE\n"
                              "0.100 tu 200\n"
                              "0.100 out 200 INVITE\n"
                              "0.200 in ACK\n"
                              "0.200 up ACK\n"
                              "0.700 in ACK\n"
                              "0.700 up ACK\n"
                              "32.100 end\n"
                              "33.000 in ACK\n"
                              "33.000 up ACK of no transaction\n"));
}

static void completed_resends_by_timer_g_until_timer_h_fails_it(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 tu 486\n"
                                 "0.100 out 486 INVITE\n"
                                 "0.600 out 486 INVITE\n"
                                 "1.600 out 486 INVITE\n"
                                 "3.600 out 486 INVITE\n"
                                 "7.600 out 486 INVITE\n"
                                 "11.600 out 486 INVITE\n"
                                 "15.600 out 486 INVITE\n"
                                 "19.600 out 486 INVITE\n"
                                 "23.600 out 486 INVITE\n"
                                 "27.600 out 486 INVITE\n"
                                 "31.600 out 486 INVITE\n"
                                 "32.100 failure TIMEOUT\n"
                                 "32.100 end\n"
                                 "32.100 live 0 0\n"));
}

static void reliable_transport_has_timer_h_and_no_timer_g(void)
{
    static const char script[] = "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 tu 486\n"
                                 "0.100 out 486 INVITE\n"
                                 "32.100 failure TIMEOUT\n"
                                 "32.100 end\n";
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP, script));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TLS, script));
}

static void ack_ends_the_resends_and_confirmed_absorbs_until_timer_i(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 tu 404\n"
                                 "0.100 out 404 INVITE\n"
                                 "0.500 in INVITE\n"
                                 "0.500 out 404 INVITE\n"
                                 "0.600 out 404 INVITE\n"
                                 "0.700 in ACK\n"
                                 "0.800 in INVITE\n"
                                 "0.900 in ACK\n"
                                 "5.699 in INVITE\n"
                                 "5.699 live 0 1\n"
                                 "5.700 end\n"
                                 "5.700 live 0 0\n"));
}

static void timer_i_is_zero_on_reliable_transports(void)
{
    static const char script[] = "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 tu 486\n"
                                 "0.100 out 486 INVITE\n"
                                 "0.200 in ACK\n"
                                 "0.200 end\n"
                                 "0.200 live 0 0\n";
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP, script));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TLS, script));
}

static void refuse(struct vd_stack *stack, vd_transaction transaction, struct vd_message *request,
                   const struct vd_flow *flow, void *context)
{
    (void)request, (void)flow, (void)context;
    CU_ASSERT_EQUAL(vd_respond(stack, transaction, 486, vd_str(NULL, 0), vd_stack_now(stack)), 0);
}

/* Table 4: I, J and D, K are zero, so nothing lingers after 1000 refused calls or answered
 * requests. */
static void thousand_refused_calls_over_tcp_leave_nothing_at_once(void)
{
    static const char *const methods[] = {"INVITE", "OPTIONS"};
    for (int m = 0; m < 2; m++) {
        struct harness harness;
        harness_init(&harness, NULL);
        harness_use(&harness, HARNESS_TCP);
        harness.hooks.on_request = refuse;
        for (int i = 0; i < 1000; i++) {
            harness_fresh(&harness);
            CU_ASSERT_EQUAL(harness_receive_method(&harness, methods[m]), 0);
            if (m == 0) {
                CU_ASSERT_EQUAL(harness_counters(&harness).live_server_transactions, 1);
                struct harness_request ack = {
                    .method = "ACK", .to = harness_value(harness_sent(&harness, 0)->text, "To", 0)};
                CU_ASSERT_EQUAL(harness_receive_request(&harness, &ack), 0);
            }
            CU_ASSERT_EQUAL(harness_counters(&harness).live_server_transactions, 0);
        }
        CU_ASSERT_EQUAL(harness.terminations, 1000);
        CU_ASSERT_EQUAL(harness.failures, 0);
        CU_ASSERT_EQUAL(harness.now, harness.start);
        CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), VD_TIME_NEVER);
        CU_ASSERT(harness_free(&harness));
    }
}

static void thousand_refused_calls_of_ours_over_tcp_leave_nothing_at_once(void)
{
    static const char *const methods[] = {"INVITE", "OPTIONS"};
    for (int m = 0; m < 2; m++) {
        struct harness harness;
        harness_init(&harness, NULL);
        harness_use(&harness, HARNESS_TCP);
        for (int i = 0; i < 1000; i++) {
            harness_send_request(&harness, methods[m], NULL, NULL);
            CU_ASSERT_EQUAL(harness_receive_response(&harness, 486, methods[m]), 0);
            CU_ASSERT_EQUAL(harness_counters(&harness).live_client_transactions, 0);
        }
        CU_ASSERT_EQUAL(harness.terminations, 1000);
        CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), VD_TIME_NEVER);
        CU_ASSERT(harness_free(&harness));
    }
}

static void ack_before_a_final_response_is_absorbed(void)
{
    CU_ASSERT(play_everywhere("0.000 in INVITE\n"
                              "0.000 up INVITE\n"
                              "0.050 in ACK\n"
                              "0.100 tu 180\n"
                              "0.100 out 180 INVITE\n"
                              "0.200 in ACK\n"
                              "0.300 tu 200\n"
                              "0.300 out 200 INVITE\n"
                              "32.300 end\n"));
}

static void second_final_response_is_refused(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 tu 486\n"
                                 "0.100 out 486 INVITE\n"
                                 "0.100 tu 200\n"
                                 "0.100 = STATE\n"
                                 "0.100 tu 486\n"
                                 "0.100 = STATE\n"
                                 "0.100 tu 100\n"
                                 "0.100 = STATE\n"
                                 "0.100 tu resend\n"
                                 "0.100 = STATE\n"
                                 "0.200 in ACK\n"
                                 "0.300 tu 200\n"
                                 "0.300 = STATE\n"
                                 "5.200 end\n"
                                 "5.200 tu 486\n"
                                 "5.200 = GONE\n"));
}

static void status_out_of_range_is_refused(void)
{
    static const int bad[] = {-1, 0, 1, 99, 700, 1000};
    struct harness harness;
    harness_init(&harness, NULL);
    harness_receive_method(&harness, "INVITE");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CU_ASSERT_EQUAL(harness_respond(&harness, bad[i]), VD_ERR_INVALID);
    }
    CU_ASSERT_EQUAL(harness_respond(&harness, 699), 0);
    CU_ASSERT(harness_free(&harness));
}

/* RFC 6026 7.1 and 8.4: the TU is told, and the transaction stays in its state. */
static void transport_error_is_reported_and_the_transaction_goes_on(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 sends fail UNREACHABLE\n"
                                 "0.100 tu 180\n"
                                 "0.100 out 180 INVITE\n"
                                 "0.100 failure UNREACHABLE\n"
                                 "0.200 sends work\n"
                                 "0.500 in INVITE\n"
                                 "0.500 out 180 INVITE\n"
                                 "0.600 sends fail REFUSED\n"
                                 "0.600 tu 486\n"
                                 "0.600 out 486 INVITE\n"
                                 "0.600 failure REFUSED\n"
                                 "0.700 sends work\n"
                                 "1.100 out 486 INVITE\n"
                                 "1.200 in ACK\n"
                                 "6.200 end\n"));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 in INVITE\n"
                                 "0.000 up INVITE\n"
                                 "0.100 sends fail TRANSPORT\n"
                                 "0.100 tu 200\n"
                                 "0.100 out 200 INVITE\n"
                                 "0.100 failure TRANSPORT\n"
                                 "0.200 sends work\n"
                                 "0.300 tu resend\n"
                                 "0.300 out 200 INVITE\n"
                                 "32.100 end\n"));
}

/* RFC 3261 8.2.2.2: the same Call-ID and From tag with the next CSeq is a new attempt, not a merged
 * request, also while the refused one lingers. */
static void next_attempt_after_a_refusal_is_a_new_call(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness.hooks.on_request = refuse;
    struct harness_request again = {
        .method = "INVITE", .branch = "z9hG4bK-next", .cseq = "2 INVITE"};
    harness_receive_method(&harness, "INVITE");
    vd_transaction first = harness.server;
    struct harness_request ack = {.method = "ACK",
                                  .to = harness_value(harness_sent(&harness, 0)->text, "To", 0)};
    harness_receive_request(&harness, &ack);
    harness_receive_request(&harness, &again);
    CU_ASSERT_NOT_EQUAL(harness.server, first);
    CU_ASSERT(harness_saw(&harness, "0.000 up INVITE\n"
                                    "0.000 out 486 INVITE\n"
                                    "0.000 up INVITE\n"
                                    "0.000 out 486 INVITE\n"));
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "CSeq", 0), "2 INVITE");
    CU_ASSERT(harness_free(&harness));
}

static void limits_are_answered_with_503_and_retry_after(void)
{
    struct vd_stack_config config;
    vd_stack_config_init(&config);
    config.max_server_transactions = 3;
    config.max_pending_requests = 2;
    config.retry_after = 17;
    struct harness harness;
    harness_init(&harness, &config);
    for (int i = 0; i < 2; i++) {
        harness_fresh(&harness);
        harness_receive_method(&harness, "INVITE");
    }
    harness_forget(&harness);

    /* Two wait for their final response: the limit of those. A copy of one that waits is no new
     * one. */
    CU_ASSERT_EQUAL(harness_receive_method(&harness, "INVITE"), 0);
    CU_ASSERT(harness_saw(&harness, ""));
    harness_fresh(&harness);
    harness_receive_method(&harness, "INVITE");
    CU_ASSERT(harness_saw(&harness, "0.000 out 503 INVITE\n"));
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "Retry-After", 0), "17");

    /* A refused call that waits for its ACK does not wait for the application. */
    harness_respond(&harness, 486);
    harness_fresh(&harness);
    harness_receive_method(&harness, "INVITE");
    CU_ASSERT(harness_saw(&harness, "0.000 out 486 INVITE\n0.000 up INVITE\n"));

    /* Three are alive: the limit of all. */
    harness_respond(&harness, 200);
    harness_fresh(&harness);
    harness_receive_method(&harness, "INVITE");
    CU_ASSERT(harness_saw(&harness, "0.000 out 200 INVITE\n0.000 out 503 INVITE\n"));
    CU_ASSERT_EQUAL(harness_counters(&harness).overloads, 2);
    CU_ASSERT_EQUAL(harness_counters(&harness).live_server_transactions, 3);
    CU_ASSERT(harness_free(&harness));
}

static void states_are_those_of_figure_7(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_receive_method(&harness, "INVITE");
    vd_transaction first = harness.server;
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, first), VD_TRANSACTION_PROCEEDING);
    harness_respond(&harness, 603);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, first), VD_TRANSACTION_COMPLETED);
    harness_receive_method(&harness, "ACK");
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, first), VD_TRANSACTION_CONFIRMED);
    harness_fresh(&harness);
    harness_receive_method(&harness, "INVITE");
    harness_respond(&harness, 200);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.server), VD_TRANSACTION_ACCEPTED);
    harness_run_out(&harness);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.server), VD_TRANSACTION_TERMINATED);
    CU_ASSERT(harness_free(&harness));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"invite_without_answer_gets_100_after_200_ms",
         invite_without_answer_gets_100_after_200_ms},
        {"response_within_200_ms_keeps_the_100_away", response_within_200_ms_keeps_the_100_away},
        {"proceeding_repeats_the_latest_provisional", proceeding_repeats_the_latest_provisional},
        {"accepted_absorbs_the_invite_and_lets_the_tu_repeat_its_2xx",
         accepted_absorbs_the_invite_and_lets_the_tu_repeat_its_2xx},
        {"accepted_passes_each_ack_up", accepted_passes_each_ack_up},
        {"completed_resends_by_timer_g_until_timer_h_fails_it",
         completed_resends_by_timer_g_until_timer_h_fails_it},
        {"reliable_transport_has_timer_h_and_no_timer_g",
         reliable_transport_has_timer_h_and_no_timer_g},
        {"ack_ends_the_resends_and_confirmed_absorbs_until_timer_i",
         ack_ends_the_resends_and_confirmed_absorbs_until_timer_i},
        {"timer_i_is_zero_on_reliable_transports", timer_i_is_zero_on_reliable_transports},
        {"thousand_refused_calls_over_tcp_leave_nothing_at_once",
         thousand_refused_calls_over_tcp_leave_nothing_at_once},
        {"thousand_refused_calls_of_ours_over_tcp_leave_nothing_at_once",
         thousand_refused_calls_of_ours_over_tcp_leave_nothing_at_once},
        {"ack_before_a_final_response_is_absorbed", ack_before_a_final_response_is_absorbed},
        {"second_final_response_is_refused", second_final_response_is_refused},
        {"status_out_of_range_is_refused", status_out_of_range_is_refused},
        {"transport_error_is_reported_and_the_transaction_goes_on",
         transport_error_is_reported_and_the_transaction_goes_on},
        {"next_attempt_after_a_refusal_is_a_new_call", next_attempt_after_a_refusal_is_a_new_call},
        {"limits_are_answered_with_503_and_retry_after",
         limits_are_answered_with_503_and_retry_after},
        {"states_are_those_of_figure_7", states_are_those_of_figure_7},
        CU_TEST_INFO_NULL,
    };
    return run_suite("server_invite", tests);
}
