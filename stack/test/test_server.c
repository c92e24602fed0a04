/* test_server.c - the non-INVITE server transaction (RFC 3261 17.2.2, RFC 4320).
 *
 * Covered: every transition of figure 8 on unreliable and reliable transports, the 100 of RFC
 * 4320 4.1, the responses that RFC 4320 forbids, retransmissions, a TU that never answers,
 * transport errors. Not covered: each timer at other values of T1 and T2
 * (test_transaction_timers.c), which request belongs to the transaction (test_matching.c), what a
 * response holds (test_response.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"
#include "run_suite.h"

static void completed_repeats_its_response_until_timer_j(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 in OPTIONS\n"
                                 "0.000 up OPTIONS\n"
                                 "0.100 tu 200\n"
                                 "0.100 out 200 OPTIONS\n"
                                 "0.500 in OPTIONS\n"
                                 "0.500 out 200 OPTIONS\n"
                                 "1.500 in OPTIONS\n"
                                 "1.500 out 200 OPTIONS\n"
                                 "32.099 in OPTIONS\n"
                                 "32.099 out 200 OPTIONS\n"
                                 "32.100 end\n"
                                 "32.100 live 0 0\n"));
}

static void timer_j_is_zero_on_reliable_transports(void)
{
    static const char script[] = "0.000 in OPTIONS\n"
                                 "0.000 up OPTIONS\n"
                                 "0.100 tu 200\n"
                                 "0.100 out 200 OPTIONS\n"
                                 "0.100 end\n";
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP, script));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TLS, script));
}

static void trying_absorbs_retransmissions(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    CU_ASSERT(harness_play(&harness, "0.000 in MESSAGE\n"
                                     "0.000 up MESSAGE\n"
                                     "0.500 in MESSAGE\n"
                                     "1.500 in MESSAGE\n"
                                     "2.000 tu 202\n"
                                     "2.000 out 202 MESSAGE\n"
                                     "34.000 end\n"));
    CU_ASSERT_EQUAL(harness_counters(&harness).request_retransmissions, 2);
    CU_ASSERT_EQUAL(harness_counters(&harness).resent_responses, 0);
    CU_ASSERT(harness_free(&harness));
}

/* RFC 4320 4.1: when the client's Timer E reaches T2, 3.5 s by default, and on every transport. */
static void unanswered_request_gets_100_when_timer_e_reaches_t2(void)
{
    static const char script[] = "0.000 in OPTIONS\n"
                                 "0.000 up OPTIONS\n"
                                 "3.499 in OPTIONS\n"
                                 "3.500 out 100 OPTIONS\n"
                                 "3.501 in OPTIONS\n"
                                 "3.501 out 100 OPTIONS\n"
                                 "9.000 in OPTIONS\n"
                                 "9.000 out 100 OPTIONS\n"
                                 "10.000 tu 200\n"
                                 "10.000 out 200 OPTIONS\n";
    char udp[600];
    char tcp[600];
    strcpy(udp, script);
    strcpy(tcp, script);
    strcat(udp, "42.000 end\n");
    strcat(tcp, "10.000 end\n");
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP, udp));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP6, udp));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP, tcp));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TLS, tcp));
}

/* RFC 4320 4.1: never a provisional response but 100; over UDP not even that before its time. */
static void provisional_responses_are_those_that_rfc_4320_allows(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 in OPTIONS\n"
                                 "0.000 up OPTIONS\n"
                                 "0.000 tu 100\n"
                                 "0.000 = STATE\n"
                                 "0.100 tu 180\n"
                                 "0.100 = STATE\n"
                                 "3.499 tu 100\n"
                                 "3.499 = STATE\n"
                                 "3.500 out 100 OPTIONS\n"
                                 "3.600 tu 183\n"
                                 "3.600 = STATE\n"
                                 "4.000 tu 100\n"
                                 "4.000 out 100 OPTIONS\n"
                                 "5.000 tu 200\n"
                                 "5.000 out 200 OPTIONS\n"
                                 "37.000 end\n"));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 in OPTIONS\n"
                                 "0.000 up OPTIONS\n"
                                 "0.100 tu 183\n"
                                 "0.100 = STATE\n"
                                 "0.200 tu 100\n"
                                 "0.200 out 100 OPTIONS\n"
                                 "5.000 tu 200\n"
                                 "5.000 out 200 OPTIONS\n"
                                 "5.000 end\n"));
}

/* At that instant the TU may be first; then the stack has nothing to add. */
static void tu_may_send_the_100_at_the_instant_itself(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_receive_method(&harness, "OPTIONS");
    harness.now = harness_at(&harness, 3.5);
    CU_ASSERT_EQUAL(harness_respond(&harness, 100), 0);
    harness_until(&harness, harness_at(&harness, 31));
    CU_ASSERT(harness_saw(&harness, "0.000 up OPTIONS\n3.500 out 100 OPTIONS\n"));
    CU_ASSERT(harness_free(&harness));
}

/* RFC 4320 4.2 */
static void four_hundred_eight_is_never_sent(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT_EQUAL(harness_respond(&harness, 408), VD_ERR_STATE);
    harness_until(&harness, harness_at(&harness, 10));
    CU_ASSERT_EQUAL(harness_respond(&harness, 408), VD_ERR_STATE);
    CU_ASSERT_EQUAL(harness_respond(&harness, 407), 0);
    CU_ASSERT(harness_saw(&harness, "0.000 up OPTIONS\n"
                                    "3.500 out 100 OPTIONS\n"
                                    "10.000 out 407 OPTIONS\n"));
    CU_ASSERT(harness_free(&harness));
}

static void second_final_response_is_refused(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 in BYE\n"
                                 "0.000 up BYE\n"
                                 "0.100 tu 481\n"
                                 "0.100 out 481 BYE\n"
                                 "0.200 tu 200\n"
                                 "0.200 = STATE\n"
                                 "0.200 tu 100\n"
                                 "0.200 = STATE\n"
                                 "0.200 tu resend\n"
                                 "0.200 = STATE\n"
                                 "0.300 in BYE\n"
                                 "0.300 out 481 BYE\n"
                                 "32.100 end\n"
                                 "32.100 tu 200\n"
                                 "32.100 = GONE\n"));
}

/* The client has given up after 64*T1 (Timer F), so an answer would be a stray. */
static void tu_that_never_answers_loses_the_request_after_timer_f(void)
{
    static const char script[] = "0.000 in OPTIONS\n"
                                 "0.000 up OPTIONS\n"
                                 "3.500 out 100 OPTIONS\n"
                                 "32.000 failure TIMEOUT\n"
                                 "32.000 end\n"
                                 "32.000 tu 200\n"
                                 "32.000 = GONE\n"
                                 "32.000 live 0 0\n";
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP, script));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP, script));
}

/* 17.2.4: the TU is told. The response is there for the next retransmission. */
static void transport_error_is_reported_and_the_transaction_goes_on(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 in OPTIONS\n"
                                 "0.000 up OPTIONS\n"
                                 "0.100 sends fail UNREACHABLE\n"
                                 "0.100 tu 200\n"
                                 "0.100 out 200 OPTIONS\n"
                                 "0.100 failure UNREACHABLE\n"
                                 "0.200 sends work\n"
                                 "0.500 in OPTIONS\n"
                                 "0.500 out 200 OPTIONS\n"
                                 "32.100 end\n"));
}

static void every_method_is_handed_up_known_or_not(void)
{
    static const char *const methods[] = {"REGISTER",  "BYE",     "INFO",   "PRACK",
                                          "SUBSCRIBE", "NOTIFY",  "REFER",  "UPDATE",
                                          "PUBLISH",   "MESSAGE", "invite", "FOO.1"};
    struct harness harness;
    harness_init(&harness, NULL);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        harness_fresh(&harness);
        vd_transaction before = harness.server;
        CU_ASSERT_EQUAL(harness_receive_method(&harness, methods[i]), 0);
        CU_ASSERT_NOT_EQUAL(harness.server, before);
        CU_ASSERT_EQUAL(harness_receive_method(&harness, methods[i]), 0);
        CU_ASSERT_EQUAL(harness_respond(&harness, 200), 0);
    }
    struct vd_stack_counters counters = harness_counters(&harness);
    CU_ASSERT_EQUAL(counters.server_transactions, 12);
    CU_ASSERT_EQUAL(counters.request_retransmissions, 12);
    CU_ASSERT_EQUAL(counters.sent_responses, 12);
    CU_ASSERT(harness_free(&harness));
}

static void answer_at_once(struct vd_stack *stack, vd_transaction transaction,
                           struct vd_message *request, const struct vd_flow *flow, void *context)
{
    struct harness *harness = context;
    (void)request, (void)flow;
    /* The request that came before is answered from here too. */
    if (harness->test != NULL) {
        CU_ASSERT_EQUAL(vd_respond(stack, *(vd_transaction *)harness->test, 200, vd_str(NULL, 0),
                                   vd_stack_now(stack)),
                        0);
    }
    CU_ASSERT_EQUAL(vd_respond(stack, transaction, 202, vd_str(NULL, 0), vd_stack_now(stack)), 0);
    CU_ASSERT_EQUAL(vd_respond(stack, transaction, 200, vd_str(NULL, 0), vd_stack_now(stack)),
                    VD_ERR_STATE);
}

static void callbacks_may_answer_this_request_and_others(void)
{
    static const enum harness_endpoint ends[] = {HARNESS_UDP, HARNESS_TCP};
    for (int i = 0; i < 2; i++) {
        struct harness harness;
        harness_init(&harness, NULL);
        harness_use(&harness, ends[i]);
        harness_receive_method(&harness, "OPTIONS");
        vd_transaction first = harness.server;
        harness.test = &first;
        harness.hooks.on_request = answer_at_once;
        harness_fresh(&harness);
        harness_receive_method(&harness, "MESSAGE");
        const char *ended = ends[i] == HARNESS_TCP ? "0.000 end\n0.000 end\n" : "";
        char expected[300] = "0.000 up OPTIONS\n0.000 up MESSAGE\n";
        strcat(expected, ended);
        strcat(expected, "0.000 out 200 OPTIONS\n0.000 out 202 MESSAGE\n");
        CU_ASSERT(harness_saw(&harness, expected));
        CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 1)->text, "Call-ID", 0),
                               "1@example.com");
        CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "Call-ID", 0),
                               "2@example.com");
        CU_ASSERT(harness_free(&harness));
    }
}

static void states_are_those_of_figure_8(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.server), VD_TRANSACTION_TRYING);
    harness_until(&harness, harness_at(&harness, 3.5));
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.server), VD_TRANSACTION_PROCEEDING);
    harness_respond(&harness, 500);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.server), VD_TRANSACTION_COMPLETED);
    harness_run_out(&harness);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.server), VD_TRANSACTION_TERMINATED);
    CU_ASSERT(harness_free(&harness));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"completed_repeats_its_response_until_timer_j",
         completed_repeats_its_response_until_timer_j},
        {"timer_j_is_zero_on_reliable_transports", timer_j_is_zero_on_reliable_transports},
        {"trying_absorbs_retransmissions", trying_absorbs_retransmissions},
        {"unanswered_request_gets_100_when_timer_e_reaches_t2",
         unanswered_request_gets_100_when_timer_e_reaches_t2},
        {"provisional_responses_are_those_that_rfc_4320_allows",
         provisional_responses_are_those_that_rfc_4320_allows},
        {"tu_may_send_the_100_at_the_instant_itself", tu_may_send_the_100_at_the_instant_itself},
        {"four_hundred_eight_is_never_sent", four_hundred_eight_is_never_sent},
        {"second_final_response_is_refused", second_final_response_is_refused},
        {"tu_that_never_answers_loses_the_request_after_timer_f",
         tu_that_never_answers_loses_the_request_after_timer_f},
        {"transport_error_is_reported_and_the_transaction_goes_on",
         transport_error_is_reported_and_the_transaction_goes_on},
        {"every_method_is_handed_up_known_or_not", every_method_is_handed_up_known_or_not},
        {"callbacks_may_answer_this_request_and_others",
         callbacks_may_answer_this_request_and_others},
        {"states_are_those_of_figure_8", states_are_those_of_figure_8},
        CU_TEST_INFO_NULL,
    };
    return run_suite("server", tests);
}
