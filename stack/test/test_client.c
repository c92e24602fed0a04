/* test_client.c - the non-INVITE client transaction (RFC 3261 17.1.2).
 *
 * Covered: every transition of figure 6 on unreliable and reliable transports, what is absorbed in
 * each state, transport errors, what vd_request_begin, vd_request_send and vd_ack_send refuse,
 * sending from callbacks. Not covered: each timer at other values of T1, T2 and T4
 * (test_transaction_timers.c), which response belongs to the transaction (test_matching.c), a
 * CANCEL of ours (test_cancel.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"
#include "run_suite.h"

static void trying_resends_by_timer_e_until_timer_f_fails_it(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu OPTIONS\n"
                                 "0.000 out OPTIONS\n"
                                 "0.500 out OPTIONS\n"
                                 "1.500 out OPTIONS\n"
                                 "3.500 out OPTIONS\n"
                                 "7.500 out OPTIONS\n"
                                 "11.500 out OPTIONS\n"
                                 "15.500 out OPTIONS\n"
                                 "19.500 out OPTIONS\n"
                                 "23.500 out OPTIONS\n"
                                 "27.500 out OPTIONS\n"
                                 "31.500 out OPTIONS\n"
                                 "32.000 failure TIMEOUT\n"
                                 "32.000 end\n"));
}

/* 17.1.2.2: Timer E goes on after a provisional response, from its next firing on every T2. */
static void provisional_response_does_not_stop_the_resends(void)
{
    static const char *const early = "0.000 tu OPTIONS\n"
                                     "0.000 out OPTIONS\n"
                                     "0.200 in 183 OPTIONS\n"
                                     "0.200 up 183 OPTIONS\n"
                                     "0.500 out OPTIONS\n"
                                     "4.500 out OPTIONS\n"
                                     "8.500 out OPTIONS\n"
                                     "12.500 out OPTIONS\n"
                                     "16.500 out OPTIONS\n"
                                     "20.500 out OPTIONS\n"
                                     "24.500 out OPTIONS\n"
                                     "28.500 out OPTIONS\n"
                                     "32.000 failure TIMEOUT\n"
                                     "32.000 end\n";
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP, early));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu OPTIONS\n"
                                 "0.000 out OPTIONS\n"
                                 "0.500 out OPTIONS\n"
                                 "1.500 out OPTIONS\n"
                                 "2.000 in 100 OPTIONS\n"
                                 "2.000 up 100 OPTIONS\n"
                                 "3.500 out OPTIONS\n"
                                 "7.500 out OPTIONS\n"
                                 "9.000 in 100 OPTIONS\n"
                                 "9.000 up 100 OPTIONS\n"
                                 "11.500 out OPTIONS\n"
                                 "12.000 in 200 OPTIONS\n"
                                 "12.000 up 200 OPTIONS\n"
                                 "17.000 end\n"));
}

static void reliable_transport_has_timer_f_and_no_timer_e(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 tu OPTIONS\n"
                                 "0.000 out OPTIONS\n"
                                 "32.000 failure TIMEOUT\n"
                                 "32.000 end\n"));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TLS,
                                 "0.000 tu OPTIONS\n"
                                 "0.000 out OPTIONS\n"
                                 "0.200 in 100 OPTIONS\n"
                                 "0.200 up 100 OPTIONS\n"
                                 "32.000 failure TIMEOUT\n"
                                 "32.000 end\n"));
}

static void completed_absorbs_everything_until_timer_k(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    CU_ASSERT(harness_play(&harness, "0.000 tu REGISTER\n"
                                     "0.000 out REGISTER\n"
                                     "0.100 in 200 REGISTER\n"
                                     "0.100 up 200 REGISTER\n"
                                     "0.200 in 200 REGISTER\n"
                                     "0.300 in 100 REGISTER\n"
                                     "0.400 in 401 REGISTER\n"
                                     "5.099 in 200 REGISTER\n"
                                     "5.099 live 1 0\n"
                                     "5.100 end\n"
                                     "5.100 live 0 0\n"
                                     "5.101 in 200 REGISTER\n"
                                     "5.101 stray 200 REGISTER\n"));
    CU_ASSERT_EQUAL(harness_counters(&harness).response_retransmissions, 3);
    CU_ASSERT_EQUAL(harness_counters(&harness).stray_responses, 1);
    CU_ASSERT(harness_free(&harness));
}

static void timer_k_is_zero_on_reliable_transports(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 tu OPTIONS\n"
                                 "0.000 out OPTIONS\n"
                                 "0.100 in 200 OPTIONS\n"
                                 "0.100 up 200 OPTIONS\n"
                                 "0.100 end\n"
                                 "0.100 live 0 0\n"
                                 "0.200 in 200 OPTIONS\n"
                                 "0.200 stray 200 OPTIONS\n"));
}

/* Figure 6 has one path for 200 to 699. */
static void final_response_of_any_status_completes_it(void)
{
    for (int status = 200; status < 700; status += 49) {
        struct harness harness;
        harness_init(&harness, NULL);
        harness_send_request(&harness, "OPTIONS", NULL, NULL);
        harness_receive_response(&harness, status, "OPTIONS");
        CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.client),
                        VD_TRANSACTION_COMPLETED);
        harness_run_out(&harness);
        CU_ASSERT_EQUAL(harness.sent_count, 1);
        CU_ASSERT_EQUAL(harness.failures, 0);
        CU_ASSERT_EQUAL(harness.terminations, 1);
        CU_ASSERT_EQUAL(harness.now, harness_at(&harness, 5));
        CU_ASSERT(harness_free(&harness));
    }
}

static void transport_error_fails_it_at_once_and_once(void)
{
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 sends fail REFUSED\n"
                                 "0.000 tu OPTIONS\n"
                                 "0.000 out OPTIONS\n"
                                 "0.000 failure REFUSED\n"
                                 "0.000 end\n"
                                 "0.000 live 0 0\n"));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_TCP,
                                 "0.000 sends fail TRANSPORT\n"
                                 "0.000 tu OPTIONS\n"
                                 "0.000 out OPTIONS\n"
                                 "0.000 failure TRANSPORT\n"
                                 "0.000 end\n"));
    CU_ASSERT(harness_play_alone(NULL, HARNESS_UDP,
                                 "0.000 tu OPTIONS\n"
                                 "0.000 out OPTIONS\n"
                                 "0.100 in 100 OPTIONS\n"
                                 "0.100 up 100 OPTIONS\n"
                                 "0.200 sends fail UNREACHABLE\n"
                                 "0.500 out OPTIONS\n"
                                 "0.500 failure UNREACHABLE\n"
                                 "0.500 end\n"));
}

static void failed_sends_leave_nothing_behind(void)
{
    struct harness harness;
    size_t after_first = 0;
    harness_init(&harness, NULL);
    harness.send_error = VD_ERR_UNREACHABLE;
    for (int i = 0; i < 10000; i++) {
        CU_ASSERT_EQUAL_FATAL(harness_send_request(&harness, "OPTIONS", NULL, NULL), 0);
        if (i == 0) {
            after_first = harness.memory.live_bytes;
        }
    }
    struct vd_stack_counters counters = harness_counters(&harness);
    CU_ASSERT_EQUAL(counters.transport_errors, 10000);
    CU_ASSERT_EQUAL(counters.timeouts, 0);
    CU_ASSERT_EQUAL(counters.live_client_transactions, 0);
    CU_ASSERT_EQUAL(harness.failures, 10000);
    CU_ASSERT_EQUAL(harness.terminations, 10000);
    CU_ASSERT_EQUAL(harness.memory.live_bytes, after_first);
    CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), VD_TIME_NEVER);
    CU_ASSERT(harness_free(&harness));
}

/* Begins a request and writes all that is mandatory but the field without, VD_HEADER_OTHER for
 * none. */
static int begin(struct harness *harness, struct vd_builder *builder, const char *method,
                 const char *cseq_method, enum vd_header_id without)
{
    int rc = vd_request_begin(harness->stack, builder, vd_str_from(method),
                              VD_STR("sip:bob@192.0.2.10"), &harness->flow);
    static const struct {
        enum vd_header_id id;
        const char *value;
    } fields[] = {
        {VD_HEADER_FROM, "<sip:carol@example.com>;tag=c"},
        {VD_HEADER_TO, "<sip:bob@example.com>"},
        {VD_HEADER_CALL_ID, "x"},
        {VD_HEADER_MAX_FORWARDS, "70"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].id != without) {
            vd_build_header(builder, fields[i].id, vd_str_from(fields[i].value));
        }
    }
    if (without != VD_HEADER_CSEQ) {
        vd_build_cseq(builder, 1, vd_str_from(cseq_method));
    }
    return rc;
}

static void request_that_is_not_whole_is_not_sent(void)
{
    static const enum vd_header_id mandatory[] = {VD_HEADER_FROM, VD_HEADER_TO, VD_HEADER_CALL_ID,
                                                  VD_HEADER_CSEQ, VD_HEADER_MAX_FORWARDS};
    struct harness harness;
    struct vd_builder builder;
    vd_transaction out = 77;
    harness_init(&harness, NULL);
    for (size_t i = 0; i < sizeof mandatory / sizeof mandatory[0]; i++) {
        CU_ASSERT_EQUAL(begin(&harness, &builder, "OPTIONS", "OPTIONS", mandatory[i]), 0);
        CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builder, NULL, harness.now, &out),
                        VD_ERR_MISSING);
        CU_ASSERT_EQUAL(begin(&harness, &builder, "ACK", "ACK", mandatory[i]), 0);
        CU_ASSERT_EQUAL(vd_ack_send(harness.stack, &builder, harness.now), VD_ERR_MISSING);
    }
    CU_ASSERT_EQUAL(begin(&harness, &builder, "OPTIONS", "INVITE", VD_HEADER_OTHER), 0);
    CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builder, NULL, harness.now, &out),
                    VD_ERR_MISMATCH);
    CU_ASSERT_EQUAL(begin(&harness, &builder, "FOO", "BAR", VD_HEADER_OTHER), 0);
    CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builder, NULL, harness.now, &out),
                    VD_ERR_MISMATCH);
    CU_ASSERT_EQUAL(begin(&harness, &builder, "ACK", "INVITE", VD_HEADER_OTHER), 0);
    CU_ASSERT_EQUAL(vd_ack_send(harness.stack, &builder, harness.now), VD_ERR_MISMATCH);
    harness_drain(&harness);
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT_EQUAL(harness_counters(&harness).live_client_transactions, 0);
    CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), VD_TIME_NEVER);
    CU_ASSERT(harness_free(&harness));
}

static void each_method_has_its_own_way_out(void)
{
    struct harness harness;
    struct vd_builder builder;
    harness_init(&harness, NULL);
    static const char *const refused[] = {"ACK", "CANCEL"};
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(begin(&harness, &builder, refused[i], refused[i], VD_HEADER_OTHER), 0);
        CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builder, NULL, harness.now, NULL),
                        VD_ERR_INVALID);
    }
    CU_ASSERT_EQUAL(begin(&harness, &builder, "OPTIONS", "OPTIONS", VD_HEADER_OTHER), 0);
    CU_ASSERT_EQUAL(vd_ack_send(harness.stack, &builder, harness.now), VD_ERR_INVALID);
    harness_drain(&harness);
    CU_ASSERT(harness_saw(&harness, ""));

    /* Methods are compared with case (RFC 3261 7.1), so these are requests like any other. */
    CU_ASSERT_EQUAL(harness_send_request(&harness, "ack", NULL, NULL), 0);
    CU_ASSERT_EQUAL(harness_send_request(&harness, "invite", NULL, NULL), 0);
    CU_ASSERT(harness_saw(&harness, "0.000 out ack\n0.000 out invite\n"));
    CU_ASSERT(harness_free(&harness));
}

static void values_that_would_break_the_message_are_refused(void)
{
    struct harness harness;
    struct vd_builder builder;
    struct vd_flow nowhere;
    harness_init(&harness, NULL);
    nowhere = harness.flow;
    nowhere.endpoint = HARNESS_ENDPOINTS;
    CU_ASSERT_EQUAL(
        vd_request_begin(harness.stack, &builder, VD_STR("OPTIONS"), VD_STR("sip:a@b"), &nowhere),
        VD_ERR_INVALID);
    static const struct {
        struct vd_str method;
        struct vd_str uri;
    } bad[] = {
        {VD_STR("OPT IONS"), VD_STR("sip:a@b")},
        {VD_STR(""), VD_STR("sip:a@b")},
        {VD_STR("OPTIONS\r\nX: y"), VD_STR("sip:a@b")},
        {VD_STR("OPTIONS"), VD_STR("")},
        {VD_STR("OPTIONS"), VD_STR("sip:a@b c")},
        {VD_STR("OPTIONS"), VD_STR("sip:a@b\r\nX: y")},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CU_ASSERT_EQUAL(
            vd_request_begin(harness.stack, &builder, bad[i].method, bad[i].uri, &harness.flow),
            VD_ERR_INVALID);
    }
    CU_ASSERT_EQUAL(begin(&harness, &builder, "OPTIONS", "OPTIONS", VD_HEADER_OTHER), 0);
    vd_build_header(&builder, VD_HEADER_SUBJECT, VD_STR("x\r\nEvil: yes"));
    CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builder, NULL, harness.now, NULL),
                    VD_ERR_INVALID);
    harness_drain(&harness);
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT_EQUAL(harness_counters(&harness).live_client_transactions, 0);
    CU_ASSERT(harness_free(&harness));
}

static void aborted_request_leaves_no_trace(void)
{
    struct harness harness;
    struct vd_builder builder;
    harness_init(&harness, NULL);
    for (int i = 0; i < 3000; i++) {
        CU_ASSERT_EQUAL_FATAL(begin(&harness, &builder, i % 2 == 0 ? "INVITE" : "ACK",
                                    i % 2 == 0 ? "INVITE" : "ACK", VD_HEADER_OTHER),
                              0);
        vd_request_abort(harness.stack, &builder);
    }
    harness_drain(&harness);
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT_EQUAL(harness_counters(&harness).client_transactions, 0);
    CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), VD_TIME_NEVER);
    CU_ASSERT(harness_free(&harness));
}

/* viaduct/transaction.h: a builder is done with once it was sent, so a caller that aborts it does
 * no harm. */
static void abort_after_send_does_no_harm(void)
{
    struct harness harness;
    struct vd_builder builder;
    vd_transaction out;
    harness_init(&harness, NULL);
    CU_ASSERT_EQUAL(begin(&harness, &builder, "OPTIONS", "OPTIONS", VD_HEADER_OTHER), 0);
    CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builder, NULL, harness.now, &out), 0);
    vd_request_abort(harness.stack, &builder);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, out), VD_TRANSACTION_TRYING);
    CU_ASSERT_EQUAL(begin(&harness, &builder, "OPTIONS", "INVITE", VD_HEADER_OTHER), 0);
    CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builder, NULL, harness.now, NULL),
                    VD_ERR_MISMATCH);
    vd_request_abort(harness.stack, &builder);
    CU_ASSERT_EQUAL(vd_request_begin(harness.stack, &builder, VD_STR("bad method"), VD_STR("sip:x"),
                                     &harness.flow),
                    VD_ERR_INVALID);
    vd_request_abort(harness.stack, &builder);
    harness_drain(&harness);
    CU_ASSERT_EQUAL(harness_counters(&harness).live_client_transactions, 1);
    CU_ASSERT_EQUAL(harness.sent_count, 1);
    CU_ASSERT(harness_free(&harness));
}

static void limit_of_client_transactions_refuses_one_more(void)
{
    struct vd_stack_config config;
    struct harness harness;
    vd_stack_config_init(&config);
    config.max_client_transactions = 3;
    harness_init(&harness, &config);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(harness_send_request(&harness, "OPTIONS", NULL, NULL), 0);
    }
    CU_ASSERT_EQUAL(harness_send_request(&harness, "OPTIONS", NULL, NULL), VD_ERR_OVERLOAD);
    CU_ASSERT_EQUAL(harness_counters(&harness).overloads, 1);
    harness_run_out(&harness);
    CU_ASSERT_EQUAL(harness_send_request(&harness, "OPTIONS", NULL, NULL), 0);
    CU_ASSERT(harness_free(&harness));
}

/* Each final response, failure and end starts the next request, up to a number. */
static void send_next(struct harness *harness)
{
    int *left = harness->test;
    if ((*left)-- > 0) {
        struct vd_builder builder;
        CU_ASSERT_EQUAL(begin(harness, &builder, "OPTIONS", "OPTIONS", VD_HEADER_OTHER), 0);
        CU_ASSERT_EQUAL(
            vd_request_send(harness->stack, &builder, harness, harness->now, &harness->client), 0);
    }
}

static void next_on_response(struct vd_stack *stack, vd_transaction transaction,
                             struct vd_message *response, void *user, void *context)
{
    (void)stack, (void)transaction, (void)response, (void)user;
    send_next(context);
}

static void next_on_failure(struct vd_stack *stack, vd_transaction transaction, int error,
                            void *user, void *context)
{
    (void)stack, (void)transaction, (void)error, (void)user;
    send_next(context);
}

static void next_on_terminated(struct vd_stack *stack, vd_transaction transaction, void *user,
                               void *context)
{
    CU_ASSERT_EQUAL(vd_transaction_state(stack, transaction), VD_TRANSACTION_TERMINATED);
    CU_ASSERT_EQUAL(vd_transaction_set_user(stack, transaction, NULL), VD_ERR_GONE);
    CU_ASSERT_PTR_EQUAL(user, context);
    send_next(context);
}

static void callbacks_may_send(void)
{
    struct harness harness;
    int left = 3;
    harness_init(&harness, NULL);
    harness.test = &left;
    harness.hooks.on_response = next_on_response;
    harness.hooks.on_failure = next_on_failure;
    harness.hooks.on_terminated = next_on_terminated;
    CU_ASSERT(harness_play(&harness, "0.000 tu OPTIONS\n"
                                     "0.000 out OPTIONS\n"
                                     "0.100 in 200 OPTIONS\n"
                                     "0.100 up 200 OPTIONS\n"
                                     "0.100 out OPTIONS\n"
                                     "0.300 sends fail REFUSED\n"
                                     "0.600 out OPTIONS\n"
                                     "0.600 failure REFUSED\n"
                                     "0.600 end\n"
                                     "0.600 out OPTIONS\n"
                                     "0.600 failure REFUSED\n"
                                     "0.600 end\n"
                                     "0.600 out OPTIONS\n"
                                     "0.600 failure REFUSED\n"
                                     "0.600 end\n"
                                     "5.100 end\n"));
    CU_ASSERT_EQUAL(harness_counters(&harness).client_transactions, 4);
    CU_ASSERT(harness_free(&harness));
}

static void each_request_has_a_branch_of_its_own_and_asks_for_rport(void)
{
    struct harness harness;
    char last[200] = "";
    harness_init(&harness, NULL);
    for (int i = 0; i < 50; i++) {
        harness_send_request(&harness, "OPTIONS", NULL, NULL);
        const char *via = harness_value(harness_sent(&harness, 0)->text, "Via", 0);
        CU_ASSERT_EQUAL(strncmp(via, "SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bK", 42), 0);
        CU_ASSERT_STRING_EQUAL(via + strlen(via) - 6, ";rport");
        CU_ASSERT_STRING_NOT_EQUAL(via, last);
        memcpy(last, via, strlen(via) + 1);
    }
    harness_use(&harness, HARNESS_TLS);
    harness_send_request(&harness, "OPTIONS", NULL, NULL);
    const char *via = harness_value(harness_sent(&harness, 0)->text, "Via", 0);
    CU_ASSERT_EQUAL(strncmp(via, "SIP/2.0/TLS 192.0.2.20:5061;branch=z9hG4bK", 42), 0);
    CU_ASSERT(harness_free(&harness));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"trying_resends_by_timer_e_until_timer_f_fails_it",
         trying_resends_by_timer_e_until_timer_f_fails_it},
        {"provisional_response_does_not_stop_the_resends",
         provisional_response_does_not_stop_the_resends},
        {"reliable_transport_has_timer_f_and_no_timer_e",
         reliable_transport_has_timer_f_and_no_timer_e},
        {"completed_absorbs_everything_until_timer_k", completed_absorbs_everything_until_timer_k},
        {"timer_k_is_zero_on_reliable_transports", timer_k_is_zero_on_reliable_transports},
        {"final_response_of_any_status_completes_it", final_response_of_any_status_completes_it},
        {"transport_error_fails_it_at_once_and_once", transport_error_fails_it_at_once_and_once},
        {"failed_sends_leave_nothing_behind", failed_sends_leave_nothing_behind},
        {"request_that_is_not_whole_is_not_sent", request_that_is_not_whole_is_not_sent},
        {"each_method_has_its_own_way_out", each_method_has_its_own_way_out},
        {"values_that_would_break_the_message_are_refused",
         values_that_would_break_the_message_are_refused},
        {"aborted_request_leaves_no_trace", aborted_request_leaves_no_trace},
        {"abort_after_send_does_no_harm", abort_after_send_does_no_harm},
        {"limit_of_client_transactions_refuses_one_more",
         limit_of_client_transactions_refuses_one_more},
        {"callbacks_may_send", callbacks_may_send},
        {"each_request_has_a_branch_of_its_own_and_asks_for_rport",
         each_request_has_a_branch_of_its_own_and_asks_for_rport},
        CU_TEST_INFO_NULL,
    };
    return run_suite("client", tests);
}
