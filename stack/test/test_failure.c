/* test_failure.c - transport errors find the transaction that they belong to (RFC
 * 3261 17.1.4, 17.2.4, 18.4, RFC 6026 8.8).
 *
 * Covered: a failed send of each kind of message; ICMP errors with the quoted text of a request, an
 * ACK, a CANCEL and a response, whole or cut off at each byte; connections that close; that each is
 * counted as a transport error, once; errors for what has ended; retries from the callback. Not
 * covered: what each machine does with the error in each of its states (the tests of the machines).
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"
#include "run_suite.h"

#include <stdio.h>
#include <stdlib.h>

static void icmp(struct harness *harness, const struct vd_flow *flow, const char *quoted,
                 size_t size)
{
    char *block = malloc(size > 0 ? size : 1);
    memcpy(block, quoted, size);
    vd_stack_icmp_error(harness->stack, flow, block, size, VD_ERR_REFUSED, harness->now);
    free(block);
    harness_drain(harness);
}

static void icmp_error_fails_the_request_that_is_quoted_and_no_other(void)
{
    static const char *const methods[] = {"INVITE", "OPTIONS"};
    for (int m = 0; m < 2; m++) {
        struct harness harness;
        vd_transaction names[5];
        harness_init(&harness, NULL);
        for (int i = 0; i < 5; i++) {
            harness_send_request(&harness, methods[m], NULL, &names[i]);
        }
        harness_forget(&harness);
        const struct harness_sent *third = harness_sent(&harness, 2);
        icmp(&harness, &harness.flow, third->text, third->size);
        CU_ASSERT(harness_saw(&harness, "0.000 failure REFUSED\n0.000 end\n"));
        for (int i = 0; i < 5; i++) {
            CU_ASSERT_EQUAL(
                vd_transaction_state(harness.stack, names[i]) == VD_TRANSACTION_TERMINATED, i == 2);
        }
        struct vd_stack_counters counters = harness_counters(&harness);
        CU_ASSERT_EQUAL(counters.transport_errors, 1);
        CU_ASSERT_EQUAL(counters.timeouts, 0);

        /* A second report of the same datagram changes nothing. */
        icmp(&harness, &harness.flow, third->text, third->size);
        CU_ASSERT(harness_saw(&harness, ""));
        CU_ASSERT(harness_free(&harness));
    }
}

/* RFC 1122 3.2.2: an ICMP message may quote as little as 8 bytes behind the IP header, none of the
 * UDP payload. Once the top Via is whole the request is known; before that every request to that
 * address and port that waits for a first response has the error. */
static void quote_cut_off_anywhere_fails_the_right_ones(void)
{
    struct harness probe;
    harness_init(&probe, NULL);
    harness_send_request(&probe, "OPTIONS", NULL, NULL);
    const char *text = harness_sent(&probe, 0)->text;
    size_t via_end = (size_t)(strstr(strstr(text, "\r\n") + 2, "\r\n") - text);
    size_t whole = strlen(text);
    CU_ASSERT(harness_free(&probe));

    for (size_t size = 0; size <= whole; size++) {
        struct harness harness;
        vd_transaction first;
        vd_transaction second;
        vd_transaction answered;
        vd_transaction elsewhere;
        harness_init(&harness, NULL);
        harness_send_request(&harness, "OPTIONS", NULL, &first);
        const struct harness_sent *quoted = harness_sent(&harness, 0);
        harness_send_request(&harness, "INVITE", NULL, &second);
        harness_send_request(&harness, "MESSAGE", NULL, &answered);
        harness_receive_response(&harness, 100, "MESSAGE");
        struct vd_flow there = harness.flow;
        harness.flow.remote.port = 5062;
        harness_send_request(&harness, "OPTIONS", NULL, &elsewhere);
        icmp(&harness, &there, quoted->text, size);
        bool known = size > via_end;
        CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, first), VD_TRANSACTION_TERMINATED);
        CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, second) == VD_TRANSACTION_CALLING,
                        known);
        CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, answered), VD_TRANSACTION_PROCEEDING);
        CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, elsewhere), VD_TRANSACTION_TRYING);
        CU_ASSERT_EQUAL(harness_counters(&harness).transport_errors, known ? 1 : 2);
        CU_ASSERT_EQUAL(harness.failures, known ? 1 : 2);
        CU_ASSERT(harness_free(&harness));
    }
}

static void quote_with_a_changed_branch_fails_nothing(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "OPTIONS", NULL, NULL);
    char *text = strdup(harness_sent(&harness, 0)->text);
    char *branch = strstr(text, "z9hG4bK") + 7;
    for (size_t i = 0; branch[i] != ';'; i++) {
        char right = branch[i];
        branch[i] = right == 'a' ? 'b' : 'a';
        icmp(&harness, &harness.flow, text, strlen(text));
        branch[i] = right;
    }
    CU_ASSERT_EQUAL(harness.failures, 0);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.client), VD_TRANSACTION_TRYING);
    free(text);
    CU_ASSERT(harness_free(&harness));
}

/* The CANCEL has the branch of its INVITE; its own failure ends only itself. */
static void icmp_error_for_a_cancel_is_not_one_for_its_invite(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "INVITE", NULL, NULL);
    harness_receive_response(&harness, 180, "INVITE");
    vd_request_cancel(harness.stack, harness.invite, harness.now);
    harness_drain(&harness);
    harness_forget(&harness);
    const struct harness_sent *cancel = harness_find_sent(&harness, "CANCEL ");
    CU_ASSERT_EQUAL(harness_counters(&harness).live_client_transactions, 2);
    icmp(&harness, &harness.flow, cancel->text, cancel->size);
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT_EQUAL(harness_counters(&harness).live_client_transactions, 1);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.invite), VD_TRANSACTION_PROCEEDING);
    harness_run_out(&harness);
    CU_ASSERT(harness_saw(&harness, "32.000 failure CANCELLED\n32.000 end\n"));
    CU_ASSERT(harness_free(&harness));
}

static void icmp_error_for_an_ack_ends_completed(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "INVITE", NULL, NULL);
    harness_receive_response(&harness, 486, "INVITE");
    harness_forget(&harness);
    const struct harness_sent *ack = harness_find_sent(&harness, "ACK ");
    icmp(&harness, &harness.flow, ack->text, ack->size);
    CU_ASSERT(harness_saw(&harness, "0.000 failure REFUSED\n0.000 end\n"));
    CU_ASSERT(harness_free(&harness));
}

static void icmp_error_after_the_answer_ends_nothing(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "OPTIONS", NULL, NULL);
    const struct harness_sent *request = harness_sent(&harness, 0);
    harness_receive_response(&harness, 200, "OPTIONS");
    harness_forget(&harness);
    icmp(&harness, &harness.flow, request->text, request->size);
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.client), VD_TRANSACTION_COMPLETED);
    CU_ASSERT(harness_free(&harness));
}

/* RFC 6026 7.2: the ACK for a 2xx is the TU's, so its failure is not the transaction's. */
static void icmp_error_in_accepted_ends_nothing(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "INVITE", NULL, NULL);
    harness_receive_response(&harness, 200, "INVITE");
    harness_forget(&harness);
    const struct harness_sent *invite = harness_find_sent(&harness, "INVITE ");
    icmp(&harness, &harness.flow, invite->text, invite->size);
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.invite), VD_TRANSACTION_ACCEPTED);
    CU_ASSERT(harness_free(&harness));
}

/* 17.2.4: the TU is told, and the server transaction goes on. */
static void icmp_error_for_a_response_is_reported_to_its_server_transaction(void)
{
    static const char *const methods[] = {"INVITE", "OPTIONS"};
    for (int m = 0; m < 2; m++) {
        struct harness harness;
        harness_init(&harness, NULL);
        struct harness_request request = {.method = methods[m],
                                          .headers = "Via: SIP/2.0/UDP p.example.com\r\n"};
        harness_receive_request(&harness, &request);
        vd_transaction first = harness.server;
        harness_respond(&harness, 486);
        harness_fresh(&harness);
        harness_receive_request(&harness, &request);
        harness_forget(&harness);
        const struct harness_sent *answer = harness_sent(&harness, 0);
        icmp(&harness, &harness.flow, answer->text, answer->size);
        CU_ASSERT(harness_saw(&harness, "0.000 failure REFUSED\n"));
        CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, first), VD_TRANSACTION_COMPLETED);
        CU_ASSERT_EQUAL(harness_counters(&harness).transport_errors, 1);
        CU_ASSERT(harness_free(&harness));
    }
}

/* INVITE and CANCEL share a branch; the answer to the CANCEL is nobody's concern, that to the
 * INVITE is. */
static void icmp_error_for_a_response_beside_a_cancel_reaches_the_invite(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_receive_method(&harness, "INVITE");
    vd_transaction invite = harness.server;
    harness_receive_method(&harness, "CANCEL");
    harness_respond(&harness, 487);
    harness_forget(&harness);
    const struct harness_sent *answer = harness_find_sent(&harness, "SIP/2.0 487");
    icmp(&harness, &harness.flow, answer->text, answer->size);
    CU_ASSERT(harness_saw(&harness, "0.000 failure REFUSED\n"));
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, invite), VD_TRANSACTION_COMPLETED);
    CU_ASSERT(harness_free(&harness));
}

static void icmp_error_with_nonsense_fails_only_who_waits(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        bool tells_nothing;
    } quotes[] = {
        {"", 0, true},
        {"\0\0\0\0", 4, true},
        {"OPTIONS sip:x SIP/2.0\r\nFrom: x\r\n", 32, true},
        {"OPTIONS sip:x SIP/2.0\r\nVia: nonsense\r\n", 38, true},
        {"OPTIONS sip:x SIP/2.0\r\nVia: SIP/2.0/UDP x;branch=z9hG4bKzz\r\n", 60, false},
        {"SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP x;branch=z9hG4bKzz\r\n", 53, false},
        {"SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP x;branch=1\r\n", 46, false},
        {"\r\n\r\n", 4, true},
    };
    for (size_t i = 0; i < sizeof quotes / sizeof quotes[0]; i++) {
        struct harness harness;
        harness_init(&harness, NULL);
        harness_send_request(&harness, "OPTIONS", NULL, NULL);
        harness_receive_method(&harness, "OPTIONS");
        harness_forget(&harness);
        icmp(&harness, &harness.flow, quotes[i].bytes, quotes[i].size);
        CU_ASSERT(harness_saw(&harness,
                              quotes[i].tells_nothing ? "0.000 failure REFUSED\n0.000 end\n" : ""));
        CU_ASSERT_EQUAL(harness_counters(&harness).live_server_transactions, 1);
        CU_ASSERT(harness_free(&harness));
    }
}

static void send_again(struct vd_stack *stack, vd_transaction transaction, int error, void *user,
                       void *context)
{
    struct harness *harness = context;
    struct vd_builder builder;
    (void)transaction, (void)error, (void)user;
    CU_ASSERT_EQUAL(vd_request_begin(stack, &builder, VD_STR("OPTIONS"),
                                     VD_STR("sip:bob@192.0.2.10"), &harness->flow),
                    0);
    vd_build_header(&builder, VD_HEADER_FROM, VD_STR("<sip:carol@example.com>;tag=c1"));
    vd_build_header(&builder, VD_HEADER_TO, VD_STR("<sip:bob@example.com>"));
    vd_build_header(&builder, VD_HEADER_CALL_ID, VD_STR("again"));
    vd_build_cseq(&builder, 1, VD_STR("OPTIONS"));
    vd_build_number(&builder, VD_HEADER_MAX_FORWARDS, 70);
    CU_ASSERT_EQUAL(vd_request_send(stack, &builder, harness, harness->now, NULL), 0);
}

/* A request made in on_failure did not wait when the error came, so the error is not its own. */
static void retry_from_the_callback_does_not_fail_with_the_first(void)
{
    for (int closed = 0; closed < 2; closed++) {
        struct harness harness;
        harness_init(&harness, NULL);
        harness_use(&harness, closed ? HARNESS_TCP : HARNESS_UDP);
        harness.hooks.on_failure = send_again;
        for (int i = 0; i < 4; i++) {
            harness_send_request(&harness, "OPTIONS", NULL, NULL);
        }
        /* Holes in the array of those in progress: the retries fill them. */
        harness_receive_response(&harness, 200, "OPTIONS");
        harness_forget(&harness);
        if (closed) {
            vd_stack_flow_closed(harness.stack, &harness.flow, VD_ERR_TRANSPORT, harness.now);
            harness_drain(&harness);
        } else {
            icmp(&harness, &harness.flow, "", 0);
        }
        CU_ASSERT_EQUAL(harness.failures, 3);
        CU_ASSERT_EQUAL(harness_counters(&harness).transport_errors, 3);
        CU_ASSERT_EQUAL(harness_counters(&harness).client_transactions, 7);
        harness.hooks.on_failure = NULL;
        CU_ASSERT(harness_free(&harness));
    }
}

static void closed_connection_fails_the_requests_on_it_and_no_others(void)
{
    struct harness harness;
    vd_transaction here;
    vd_transaction proceeding;
    vd_transaction other_connection;
    vd_transaction other_end;
    vd_transaction udp;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "OPTIONS", NULL, &udp);
    harness_use(&harness, HARNESS_TCP);
    harness_send_request(&harness, "OPTIONS", NULL, &here);
    harness_send_request(&harness, "INVITE", NULL, &proceeding);
    harness_receive_response(&harness, 180, "INVITE");
    harness_receive_method(&harness, "OPTIONS"); /* its answer can go another way */
    struct vd_flow closed = harness.flow;
    harness.flow.connection = 99;
    harness_send_request(&harness, "OPTIONS", NULL, &other_connection);
    harness_use(&harness, HARNESS_TLS);
    harness.flow.connection = closed.connection; /* numbers are an end's own */
    harness_send_request(&harness, "OPTIONS", NULL, &other_end);
    harness_forget(&harness);
    vd_stack_flow_closed(harness.stack, &closed, VD_ERR_TRANSPORT, harness.now);
    harness_drain(&harness);
    CU_ASSERT(harness_saw(&harness, "0.000 failure TRANSPORT\n0.000 end\n"
                                    "0.000 failure TRANSPORT\n0.000 end\n"));
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, here), VD_TRANSACTION_TERMINATED);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, proceeding), VD_TRANSACTION_TERMINATED);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, udp), VD_TRANSACTION_TRYING);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, other_connection), VD_TRANSACTION_TRYING);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, other_end), VD_TRANSACTION_TRYING);
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.server), VD_TRANSACTION_TRYING);
    CU_ASSERT_EQUAL(harness_counters(&harness).transport_errors, 2);
    CU_ASSERT_EQUAL(harness_counters(&harness).timeouts, 0);

    /* Once more: nothing is left to fail. */
    vd_stack_flow_closed(harness.stack, &closed, VD_ERR_TRANSPORT, harness.now);
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT(harness_free(&harness));
}

/* The loop may report late: the transaction has ended, its record serves another one. */
static void failed_send_of_an_ended_transaction_is_only_counted(void)
{
    struct harness harness;
    struct vd_send late;
    harness_init(&harness, NULL);
    harness_use(&harness, HARNESS_TCP);
    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT_EQUAL(vd_respond(harness.stack, harness.server, 200, vd_str(NULL, 0), harness.now),
                    0);
    CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(harness.stack, &late, 1), 1);
    harness_until(&harness, harness.now);
    CU_ASSERT(harness_saw(&harness, "0.000 up OPTIONS\n0.000 end\n"));
    harness_fresh(&harness);
    harness_receive_method(&harness, "MESSAGE");
    harness_forget(&harness);
    vd_stack_send_failed(harness.stack, &late, VD_ERR_TRANSPORT, harness.now);
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT_EQUAL(harness_counters(&harness).transport_errors, 1);
    CU_ASSERT(harness_free(&harness));
}

/* Several copies under way when the first fails: one report, one end. */
static void each_failed_copy_is_counted_and_the_first_ends_the_transaction(void)
{
    struct harness harness;
    struct vd_send sends[4];
    harness_init(&harness, NULL);
    struct vd_builder builder;
    CU_ASSERT_EQUAL(vd_request_begin(harness.stack, &builder, VD_STR("OPTIONS"),
                                     VD_STR("sip:bob@192.0.2.10"), &harness.flow),
                    0);
    vd_build_header(&builder, VD_HEADER_FROM, VD_STR("<sip:carol@example.com>;tag=c1"));
    vd_build_header(&builder, VD_HEADER_TO, VD_STR("<sip:bob@example.com>"));
    vd_build_header(&builder, VD_HEADER_CALL_ID, VD_STR("x"));
    vd_build_cseq(&builder, 1, VD_STR("OPTIONS"));
    vd_build_number(&builder, VD_HEADER_MAX_FORWARDS, 70);
    CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builder, NULL, harness.now, NULL), 0);
    vd_stack_expire(harness.stack, harness_at(&harness, 0.5));
    vd_stack_expire(harness.stack, harness_at(&harness, 1.5));
    CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(harness.stack, sends, 4), 3);
    for (int i = 0; i < 3; i++) {
        vd_stack_send_failed(harness.stack, &sends[i], VD_ERR_UNREACHABLE,
                             harness_at(&harness, 1.5));
    }
    CU_ASSERT_EQUAL(harness.failures, 1);
    CU_ASSERT_EQUAL(harness.terminations, 1);
    CU_ASSERT_EQUAL(harness_counters(&harness).transport_errors, 3);
    CU_ASSERT_EQUAL(harness_counters(&harness).timeouts, 0);
    CU_ASSERT(harness_free(&harness));
}

/* An answer without a transaction and an ACK for a 2xx belong to nobody. */
static void failed_send_of_what_has_no_transaction_is_only_counted(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness.send_error = VD_ERR_TRANSPORT;
    struct harness_request bad = {.method = "OPTIONS", .cseq = "1 INVITE"};
    harness_receive_request(&harness, &bad);
    CU_ASSERT(harness_saw(&harness, "0.000 out 400 INVITE\n"));
    CU_ASSERT_EQUAL(harness_counters(&harness).transport_errors, 1);
    CU_ASSERT(harness_free(&harness));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"icmp_error_fails_the_request_that_is_quoted_and_no_other",
         icmp_error_fails_the_request_that_is_quoted_and_no_other},
        {"quote_cut_off_anywhere_fails_the_right_ones",
         quote_cut_off_anywhere_fails_the_right_ones},
        {"quote_with_a_changed_branch_fails_nothing", quote_with_a_changed_branch_fails_nothing},
        {"icmp_error_for_a_cancel_is_not_one_for_its_invite",
         icmp_error_for_a_cancel_is_not_one_for_its_invite},
        {"icmp_error_for_an_ack_ends_completed", icmp_error_for_an_ack_ends_completed},
        {"icmp_error_after_the_answer_ends_nothing", icmp_error_after_the_answer_ends_nothing},
        {"icmp_error_in_accepted_ends_nothing", icmp_error_in_accepted_ends_nothing},
        {"icmp_error_for_a_response_is_reported_to_its_server_transaction",
         icmp_error_for_a_response_is_reported_to_its_server_transaction},
        {"icmp_error_for_a_response_beside_a_cancel_reaches_the_invite",
         icmp_error_for_a_response_beside_a_cancel_reaches_the_invite},
        {"icmp_error_with_nonsense_fails_only_who_waits",
         icmp_error_with_nonsense_fails_only_who_waits},
        {"retry_from_the_callback_does_not_fail_with_the_first",
         retry_from_the_callback_does_not_fail_with_the_first},
        {"closed_connection_fails_the_requests_on_it_and_no_others",
         closed_connection_fails_the_requests_on_it_and_no_others},
        {"failed_send_of_an_ended_transaction_is_only_counted",
         failed_send_of_an_ended_transaction_is_only_counted},
        {"each_failed_copy_is_counted_and_the_first_ends_the_transaction",
         each_failed_copy_is_counted_and_the_first_ends_the_transaction},
        {"failed_send_of_what_has_no_transaction_is_only_counted",
         failed_send_of_what_has_no_transaction_is_only_counted},
        CU_TEST_INFO_NULL,
    };
    return run_suite("failure", tests);
}
