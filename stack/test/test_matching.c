/* test_matching.c - which transaction a message belongs to (RFC 3261 17.1.3, 17.2.3).
 *
 * Covered: requests by branch, sent-by and method, what does not count; peers of RFC 2543 by
 * Request-URI, tags, Call-ID, CSeq and top Via, with values of any length; ACK and CANCEL of both;
 * responses by branch and CSeq method, forged and stale branches, foreign sent-by; records that are
 * used again; CSeq numbers at the end of their range; header fields that appear twice. Not covered:
 * what each machine does with what belongs to it (the tests of the machines).
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"
#include "run_suite.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* Sends a request and then a second one: is it a retransmission of the first? */
static bool absorbs(const struct harness_request *first, const struct harness_request *second)
{
    struct harness harness;
    harness_init(&harness, NULL);
    CU_ASSERT_EQUAL(harness_receive_request(&harness, first), 0);
    CU_ASSERT_EQUAL(harness_receive_request(&harness, second), 0);
    struct vd_stack_counters counters = harness_counters(&harness);
    bool absorbed = counters.request_retransmissions == 1;
    CU_ASSERT_EQUAL(counters.server_transactions, absorbed ? 1 : 2);
    CU_ASSERT(harness_free(&harness));
    return absorbed;
}

static void request_is_matched_by_branch_sent_by_and_method_alone(void)
{
    const struct harness_request first = {.method = "OPTIONS"};
    struct harness_request second = first;
    CU_ASSERT(absorbs(&first, &second));

    /* These do not count. */
    second = (struct harness_request){.method = "OPTIONS",
                                      .uri = "sip:carol@example.net",
                                      .from = "<sip:mallory@example.com>;tag=zz",
                                      .to = "<sip:other@example.com>;tag=yy",
                                      .call_id = "another",
                                      .cseq = "77 OPTIONS",
                                      .via = ";rport;x=y"};
    CU_ASSERT(absorbs(&first, &second));

    /* These do. */
    second = (struct harness_request){.method = "MESSAGE"};
    CU_ASSERT_FALSE(absorbs(&first, &second));
    second = (struct harness_request){.method = "OPTIONS", .branch = "z9hG4bK-2"};
    CU_ASSERT_FALSE(absorbs(&first, &second));
    second = (struct harness_request){.method = "OPTIONS", .sent_by = "192.0.2.11:5060"};
    CU_ASSERT_FALSE(absorbs(&first, &second));
    second = (struct harness_request){.method = "OPTIONS", .sent_by = "192.0.2.10:5061"};
    CU_ASSERT_FALSE(absorbs(&first, &second));
    second = (struct harness_request){.method = "OPTIONS", .sent_by = "192.0.2.10"};
    CU_ASSERT_FALSE(absorbs(&first, &second));
}

/* 7.3.1: tokens and hosts are compared without case, method names with. */
static void case_of_branch_and_host_does_not_count_and_that_of_the_method_does(void)
{
    const struct harness_request first = {
        .method = "OPTIONS", .branch = "z9hG4bKabcDEF", .sent_by = "Host.Example.COM:5060"};
    struct harness_request second = {
        .method = "OPTIONS", .branch = "Z9HG4BKABCdef", .sent_by = "hOST.eXAMPLE.com:5060"};
    CU_ASSERT(absorbs(&first, &second));
    second.method = "options";
    CU_ASSERT_FALSE(absorbs(&first, &second));
    const struct harness_request foo = {.method = "Foo"};
    second = (struct harness_request){.method = "FOO"};
    CU_ASSERT_FALSE(absorbs(&foo, &second));
    second.method = "Foo";
    CU_ASSERT(absorbs(&foo, &second));
}

/* The parts of the key do not run into each other: what ends one value cannot begin the next. */
static void values_that_only_look_alike_when_joined_are_told_apart(void)
{
    /* Port 24930 is the two bytes "ab". */
    struct harness_request first = {
        .method = "OPTIONS", .branch = "z9hG4bKx", .sent_by = "cdexample:24930"};
    struct harness_request second = {
        .method = "OPTIONS", .branch = "z9hG4bKxab", .sent_by = "example:25444" /* "cd" */};
    CU_ASSERT_FALSE(absorbs(&first, &second));

    first = (struct harness_request){
        .method = "OPTIONS", .branch = "", .from = "<sip:a@example.com>;tag=12", .call_id = "34"};
    second = (struct harness_request){
        .method = "OPTIONS", .branch = "", .from = "<sip:a@example.com>;tag=123", .call_id = "4"};
    CU_ASSERT_FALSE(absorbs(&first, &second));
    second.from = "<sip:a@example.com>";
    second.call_id = "1234";
    CU_ASSERT_FALSE(absorbs(&first, &second));
}

/* 17.2.3, the rules for a branch that does not begin with the magic cookie, or none. */
static void rfc_2543_request_is_matched_by_all_that_17_2_3_names(void)
{
    static const char *const branches[] = {"", "1", "z9hG4b", "z9hG4bK" /* nothing after it */};
    for (size_t i = 0; i < sizeof branches / sizeof branches[0]; i++) {
        const struct harness_request first = {.method = "OPTIONS", .branch = branches[i]};
        struct harness_request second = first;
        CU_ASSERT(absorbs(&first, &second));
        second.headers = "Subject: not looked at\r\n";
        CU_ASSERT(absorbs(&first, &second));

        const struct {
            const char *uri, *from, *to, *call_id, *cseq, *via, *sent_by;
        } others[] = {
            {.uri = "sip:carol@example.com"},
            {.from = "<sip:alice@example.com>;tag=other"},
            {.from = "<sip:alice@example.com>"},
            {.to = "<sip:bob@example.com>;tag=some"},
            {.call_id = "other@example.com"},
            {.cseq = "2 OPTIONS"},
            {.via = ";rport;x=1"},
            {.sent_by = "192.0.2.10:5061"},
        };
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
            second = (struct harness_request){.method = "OPTIONS",
                                              .branch = branches[i],
                                              .uri = others[k].uri,
                                              .from = others[k].from,
                                              .to = others[k].to,
                                              .call_id = others[k].call_id,
                                              .cseq = others[k].cseq,
                                              .via = others[k].via,
                                              .sent_by = others[k].sent_by};
            CU_ASSERT_FALSE(absorbs(&first, &second));
        }
        second = (struct harness_request){.method = "MESSAGE", .branch = branches[i]};
        CU_ASSERT_FALSE(absorbs(&first, &second));
    }
}

static char *letters(size_t count, char letter)
{
    char *text = malloc(count + 1);
    memset(text, letter, count);
    text[count] = '\0';
    return text;
}

/* The key is made from values of any length; those that differ in the last letter are told apart.
 */
static void rfc_2543_request_may_have_values_of_any_length(void)
{
    static const size_t lengths[] = {1, 7, 8, 9, 63, 64, 200, 255, 256, 1000, 4000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct harness harness;
        char *call_id = letters(lengths[i], 'x');
        char *tag = letters(lengths[i] + 32, 't');
        memcpy(tag, "<sip:alice@example.com>;tag=", 28);
        harness_init(&harness, NULL);
        struct harness_request request = {.method = "OPTIONS",
                                          .branch = "",
                                          .via = "",
                                          .from = tag,
                                          .call_id = call_id,
                                          .cseq = "2147483647 OPTIONS"};
        CU_ASSERT_EQUAL(harness_receive_request(&harness, &request), 0);
        CU_ASSERT_EQUAL(harness_respond(&harness, 200), 0);
        char *answer = strdup(harness_sent(&harness, 0)->text);
        CU_ASSERT_EQUAL(harness_receive_request(&harness, &request), 0);
        CU_ASSERT(harness_saw(&harness, "0.000 up OPTIONS\n"
                                        "0.000 out 200 OPTIONS\n"
                                        "0.000 out 200 OPTIONS\n"));
        CU_ASSERT_STRING_EQUAL(harness_sent(&harness, 0)->text, answer);
        CU_ASSERT_PTR_NOT_NULL(strstr(answer, call_id));

        call_id[lengths[i] - 1] = 'y';
        CU_ASSERT_EQUAL(harness_receive_request(&harness, &request), 0);
        CU_ASSERT(harness_saw(&harness, "0.000 up OPTIONS\n"));
        free(answer);
        free(call_id);
        free(tag);
        CU_ASSERT(harness_free(&harness));
    }
}

/* Refuses an INVITE; then ack arrives. Does it end the resends? */
static bool is_acked(const struct harness_request *invite, struct harness_request *ack)
{
    struct harness harness;
    harness_init(&harness, NULL);
    CU_ASSERT_EQUAL(harness_receive_request(&harness, invite), 0);
    CU_ASSERT_EQUAL(harness_respond(&harness, 486), 0);
    if (ack->to == NULL) {
        ack->to = harness_value(harness_sent(&harness, 0)->text, "To", 0);
    }
    harness_forget(&harness);
    CU_ASSERT_EQUAL(harness_receive_request(&harness, ack), 0);
    bool acked = vd_transaction_state(harness.stack, harness.server) == VD_TRANSACTION_CONFIRMED;
    /* An ACK is never answered; one for nothing goes up as such. */
    CU_ASSERT(harness_saw(&harness, acked ? "" : "0.000 up ACK of no transaction\n"));
    CU_ASSERT_EQUAL(harness_counters(&harness).stray_acks, acked ? 0 : 1);
    CU_ASSERT(harness_free(&harness));
    return acked;
}

static void ack_is_matched_by_branch_and_sent_by(void)
{
    const struct harness_request invite = {.method = "INVITE"};
    struct harness_request ack = {.method = "ACK"};
    CU_ASSERT(is_acked(&invite, &ack));
    ack = (struct harness_request){
        .method = "ACK", .to = "<sip:bob@example.com>", .cseq = "9 ACK", .call_id = "elsewhere"};
    CU_ASSERT(is_acked(&invite, &ack));
    ack = (struct harness_request){.method = "ACK", .branch = "z9hG4bK-other"};
    CU_ASSERT_FALSE(is_acked(&invite, &ack));
    ack = (struct harness_request){.method = "ACK", .sent_by = "192.0.2.10:5062"};
    CU_ASSERT_FALSE(is_acked(&invite, &ack));
    const struct harness_request options = {.method = "OPTIONS"};
    ack = (struct harness_request){.method = "ACK"};
    CU_ASSERT_FALSE(is_acked(&options, &ack));
}

/* 17.2.3: from an RFC 2543 peer the To tag is that of the response. */
static void rfc_2543_ack_must_have_the_to_tag_of_the_response(void)
{
    const struct harness_request invite = {.method = "INVITE", .branch = ""};
    struct harness_request ack = {.method = "ACK", .branch = ""};
    CU_ASSERT(is_acked(&invite, &ack));
    ack.to = "<sip:bob@example.com>";
    CU_ASSERT_FALSE(is_acked(&invite, &ack));
    ack.to = "<sip:bob@example.com>;tag=0123456789abcdef";
    CU_ASSERT_FALSE(is_acked(&invite, &ack));
    ack = (struct harness_request){.method = "ACK", .branch = "", .call_id = "other"};
    CU_ASSERT_FALSE(is_acked(&invite, &ack));
    ack = (struct harness_request){.method = "ACK", .branch = "", .cseq = "2 ACK"};
    CU_ASSERT_FALSE(is_acked(&invite, &ack));

    /* Within a dialog the tag is the request's own. */
    const struct harness_request again = {
        .method = "INVITE", .branch = "", .to = "<sip:bob@example.com>;tag=b"};
    ack = (struct harness_request){.method = "ACK", .branch = ""};
    CU_ASSERT(is_acked(&again, &ack));
}

static void cancel_is_matched_with_its_invite_by_both_rules(void)
{
    static const char *const branches[] = {"z9hG4bK-c", "", "old"};
    for (size_t i = 0; i < sizeof branches / sizeof branches[0]; i++) {
        struct harness harness;
        harness_init(&harness, NULL);
        struct harness_request invite = {.method = "INVITE", .branch = branches[i]};
        struct harness_request cancel = {.method = "CANCEL", .branch = branches[i]};
        struct harness_request other = {
            .method = "CANCEL", .branch = branches[i], .sent_by = "192.0.2.10:5099"};
        harness_receive_request(&harness, &invite);
        harness_receive_request(&harness, &other);
        harness_receive_request(&harness, &cancel);
        CU_ASSERT(harness_saw(&harness, "0.000 up INVITE\n"
                                        "0.000 out 481 CANCEL\n"
                                        "0.000 up CANCEL\n"
                                        "0.000 out 200 CANCEL\n"));
        CU_ASSERT(harness_free(&harness));
    }
}

/* One branch, many methods: each is a transaction of its own. */
static void methods_of_one_branch_do_not_disturb_each_other(void)
{
    struct harness harness;
    static const char *const methods[] = {"INVITE", "OPTIONS", "MESSAGE", "FOO", "BAR"};
    vd_transaction names[5];
    harness_init(&harness, NULL);
    for (int i = 0; i < 5; i++) {
        harness_receive_method(&harness, methods[i]);
        names[i] = harness.server;
    }
    for (int i = 0; i < 5; i++) {
        harness.server = names[i];
        CU_ASSERT_EQUAL(harness_respond(&harness, 480 + i), 0);
    }
    harness_forget(&harness);
    for (int i = 4; i >= 0; i--) {
        char start[40];
        harness_receive_method(&harness, methods[i]);
        snprintf(start, sizeof start, "SIP/2.0 %d", 480 + i);
        CU_ASSERT_EQUAL(strncmp(harness_sent(&harness, 0)->text, start, strlen(start)), 0);
    }
    CU_ASSERT_EQUAL(harness_counters(&harness).server_transactions, 5);
    CU_ASSERT(harness_free(&harness));
}

/* Replaces the first old in text; both have the same length or the result is made to fit. To be
 * freed. */
static char *replaced(const char *text, const char *old, const char *with)
{
    const char *at = strstr(text, old);
    char *out = malloc(strlen(text) + strlen(with) + 1);
    if (at == NULL) {
        strcpy(out, text);
        CU_FAIL("nothing to replace");
    } else {
        sprintf(out, "%.*s%s%s", (int)(at - text), text, with, at + strlen(old));
    }
    return out;
}

static void response_is_a_stray(struct harness *harness, const char *good, const char *old,
                                const char *with)
{
    bool ours = strstr(old, "192.0.2.20") == NULL;
    char *bad = replaced(good, old, with);
    uint64_t before = harness_counters(harness).stray_responses;
    harness_forget(harness);
    CU_ASSERT_EQUAL(harness_receive(harness, bad), 0);
    CU_ASSERT_EQUAL(harness_counters(harness).stray_responses, before + 1);
    /* One with a foreign sent-by is discarded and nobody hears of it (18.1.2). */
    bool heard = harness->transcript != NULL && strstr(harness->transcript, "stray") != NULL;
    CU_ASSERT_EQUAL(heard, ours);
    CU_ASSERT_EQUAL(vd_transaction_state(harness->stack, harness->client), VD_TRANSACTION_TRYING);
    free(bad);
}

/* 17.1.3, 18.1.2 */
static void response_must_have_our_branch_our_sent_by_and_the_method(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "OPTIONS", NULL, NULL);
    char *good = harness_response_text(harness_sent(&harness, 0)->text, 200, "b", NULL);
    response_is_a_stray(&harness, good, "CSeq: 1 OPTIONS", "CSeq: 1 INVITE");
    response_is_a_stray(&harness, good, "CSeq: 1 OPTIONS", "CSeq: 1 CANCEL");
    response_is_a_stray(&harness, good, "CSeq: 1 OPTIONS", "CSeq: 1 options");
    response_is_a_stray(&harness, good, "192.0.2.20:5060", "192.0.2.21:5060");
    response_is_a_stray(&harness, good, "192.0.2.20:5060", "192.0.2.20");
    response_is_a_stray(&harness, good, "192.0.2.20:5060", "192.0.2.20:5062");
    response_is_a_stray(&harness, good, "branch=z9hG4bK", "branch=z9hG4bK0");
    response_is_a_stray(&harness, good, "branch=z9hG4bK", "branch=");
    response_is_a_stray(&harness, good, "branch=z9hG4bK", "x=z9hG4bK");
    CU_ASSERT_EQUAL(harness.terminations + harness.failures, 0);
    harness_forget(&harness);

    /* CSeq number and the rest of the top Via do not count; the case of branch and host neither. */
    char *other = replaced(good, "CSeq: 1 ", "CSeq: 99 ");
    for (char *c = strstr(other, "branch=") + 7; *c != ';'; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
    CU_ASSERT_EQUAL(harness_receive(&harness, other), 0);
    CU_ASSERT(harness_saw(&harness, "0.000 up 200 OPTIONS\n"));
    free(good);
    free(other);
    CU_ASSERT(harness_free(&harness));
}

/* A branch with any one digit changed names no transaction, or not this one: nobody can guess one.
 */
static void forged_branch_matches_nothing(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    for (int i = 0; i < 5; i++) {
        harness_send_request(&harness, "OPTIONS", NULL, NULL);
    }
    char *text = harness_response_text(harness_sent(&harness, 2)->text, 200, "b", NULL);
    char *branch = strstr(text, "branch=z9hG4bK") + 14;
    size_t size = strcspn(branch, ";");
    for (size_t i = 0; i < size; i++) {
        char right = branch[i];
        for (const char *digit = "0123456789abcdef"; *digit != '\0'; digit++) {
            branch[i] = *digit;
            if (*digit != right) {
                CU_ASSERT_EQUAL(harness_receive(&harness, text), 0);
            }
        }
        branch[i] = right;
    }
    struct vd_stack_counters counters = harness_counters(&harness);
    CU_ASSERT_EQUAL(counters.stray_responses, size * 15);
    CU_ASSERT_EQUAL(counters.received_responses, size * 15);
    for (unsigned i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness_sent(&harness, i)->transaction),
                        VD_TRANSACTION_TRYING);
    }
    free(text);
    CU_ASSERT(harness_free(&harness));
}

/* 17.1.3 tells the response to a CANCEL from that to its INVITE by the CSeq method. */
static void response_to_a_cancel_is_told_from_that_to_its_invite(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "INVITE", NULL, NULL);
    harness_receive_response(&harness, 180, "INVITE");
    vd_request_cancel(harness.stack, harness.invite, harness.now);
    harness_drain(&harness);
    harness_forget(&harness);
    harness_receive_response(&harness, 487, "CANCEL");
    CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, harness.invite), VD_TRANSACTION_PROCEEDING);
    CU_ASSERT(harness_saw(&harness, ""));
    CU_ASSERT_EQUAL(harness_counters(&harness).stray_responses, 0);

    /* Its branch may come back in another case, as that of any request. */
    char *again =
        harness_response_text(harness_find_sent(&harness, "CANCEL ")->text, 487, "b", NULL);
    for (char *c = strstr(again, "branch=") + 7; *c != ';'; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
    CU_ASSERT_EQUAL(harness_receive(&harness, again), 0);
    CU_ASSERT_EQUAL(harness_counters(&harness).stray_responses, 0);
    free(again);
    harness_receive_response(&harness, 487, "INVITE");
    CU_ASSERT(harness_saw(&harness, "0.000 up 487 INVITE\n0.000 out ACK\n"));
    CU_ASSERT(harness_free(&harness));
}

/* A record is used again for the next transaction; the old name and the old branch stay dead. */
static void name_and_branch_of_an_ended_transaction_stay_dead(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_use(&harness, HARNESS_TCP);
    char *old_response = NULL;
    vd_transaction old = 0;
    for (int i = 0; i < 200; i++) {
        vd_transaction name;
        struct vd_str tag;
        CU_ASSERT_EQUAL(harness_send_request(&harness, "OPTIONS", NULL, &name), 0);
        CU_ASSERT_NOT_EQUAL(name, 0);
        CU_ASSERT_NOT_EQUAL(name, old);
        if (old != 0) {
            harness_forget(&harness);
            CU_ASSERT_EQUAL(harness_receive(&harness, old_response), 0);
            CU_ASSERT(harness_saw(&harness, "0.000 stray 200 OPTIONS\n"));
            CU_ASSERT_EQUAL(vd_request_cancel(harness.stack, old, harness.now), VD_ERR_GONE);
            CU_ASSERT_EQUAL(vd_respond(harness.stack, old, 200, vd_str(NULL, 0), harness.now),
                            VD_ERR_GONE);
            CU_ASSERT_EQUAL(vd_response_resend(harness.stack, old, harness.now), VD_ERR_GONE);
            CU_ASSERT_EQUAL(vd_transaction_set_user(harness.stack, old, &harness), VD_ERR_GONE);
            CU_ASSERT_EQUAL(vd_transaction_local_tag(harness.stack, old, &tag), VD_ERR_GONE);
            CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, old), VD_TRANSACTION_TERMINATED);
            CU_ASSERT_EQUAL(vd_transaction_state(harness.stack, name), VD_TRANSACTION_TRYING);
        }
        free(old_response);
        old_response = harness_response_text(harness_sent(&harness, 0)->text, 200, "b", NULL);
        CU_ASSERT_EQUAL(harness_receive(&harness, old_response), 0);
        old = name;
    }
    free(old_response);
    CU_ASSERT(harness_free(&harness));
}

/* 8.1.1.5: below 2^31, looked at before it is stored. */
static void cseq_number_is_below_2_to_the_31(void)
{
    static const struct {
        const char *cseq;
        bool good;
    } cases[] = {
        {"0 OPTIONS", true},
        {"1 OPTIONS", true},
        {"2147483647 OPTIONS", true},
        {"0000000000002147483647 OPTIONS", true},
        {"2147483648 OPTIONS", false},
        {"4294967295 OPTIONS", false},
        {"4294967296 OPTIONS", false},
        {"4294967297 OPTIONS", false},
        {"9223372036854775808 OPTIONS", false},
        {"18446744073709551615 OPTIONS", false},
        {"18446744073709551617 OPTIONS", false},
        {"36893488147419103233 OPTIONS", false},
        {"-1 OPTIONS", false},
        {"+1 OPTIONS", false},
        {"0x10 OPTIONS", false},
        {"1.0 OPTIONS", false},
        {"1e3 OPTIONS", false},
        {"OPTIONS", false},
        {"1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct harness harness;
        harness_init(&harness, NULL);
        struct harness_request request = {.method = "OPTIONS", .cseq = cases[i].cseq};
        int rc = harness_receive_request(&harness, &request);
        CU_ASSERT_EQUAL(rc == 0, cases[i].good);
        CU_ASSERT_EQUAL(harness_counters(&harness).server_transactions, cases[i].good ? 1 : 0);
        if (cases[i].good) {
            CU_ASSERT_EQUAL(harness_respond(&harness, 200), 0);
            CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "CSeq", 0),
                                   cases[i].cseq);
        } else {
            CU_ASSERT_EQUAL(strncmp(harness_sent(&harness, 0)->text, "SIP/2.0 400 ", 12), 0);
        }
        CU_ASSERT(harness_free(&harness));
    }
}

/* 7.3.1: what may appear once and appears twice is refused, whichever spelling the second has. */
static void second_copy_of_a_single_header_field_gets_400(void)
{
    static const char *const fields[] = {
        "From: <sip:mallory@example.com>;tag=other\r\n",
        "f: <sip:mallory@example.com>;tag=other\r\n",
        "FROM: <sip:alice@example.com>;tag=a1\r\n",
        "To: <sip:mallory@example.com>\r\n",
        "t: <sip:bob@example.com>\r\n",
        "Call-ID: second\r\n",
        "i: second\r\n",
        "i: 1@example.com\r\n",
        "CSeq: 1 OPTIONS\r\n",
        "CSeq: 2 OPTIONS\r\n",
        "Content-Length: 0\r\n",
        "l: 0\r\n",
        "Max-Forwards: 70\r\n",
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        struct harness harness;
        harness_init(&harness, NULL);
        struct harness_request request = {.method = "OPTIONS", .headers = fields[i]};
        CU_ASSERT_EQUAL(harness_receive_request(&harness, &request), VD_ERR_DUPLICATE);
        CU_ASSERT_EQUAL(harness.sent_count, 1);
        CU_ASSERT_EQUAL(strncmp(harness_sent(&harness, 0)->text, "SIP/2.0 400 ", 12), 0);
        CU_ASSERT_EQUAL(harness_counters(&harness).server_transactions, 0);
        CU_ASSERT(harness_free(&harness));
    }
}

/* 8.1.1.8, 10.2.2 */
static void star_contact_in_an_invite_gets_400(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    struct harness_request request = {.method = "INVITE", .headers = "Contact: *\r\n"};
    for (int copy = 0; copy < 2; copy++) {
        CU_ASSERT_EQUAL(harness_receive_request(&harness, &request), VD_ERR_SYNTAX);
    }
    CU_ASSERT(harness_saw(&harness, "0.000 out 400 INVITE\n0.000 out 400 INVITE\n"));
    CU_ASSERT(harness_free(&harness));
}

/* A retransmission from another source address (the NAT gave a new port) is still a retransmission.
 */
static void source_address_does_not_count(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_receive_method(&harness, "OPTIONS");
    harness_respond(&harness, 200);
    harness.flow.remote.port = 40000;
    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT(harness_saw(&harness, "0.000 up OPTIONS\n"
                                    "0.000 out 200 OPTIONS\n"
                                    "0.000 out 200 OPTIONS\n"));
    CU_ASSERT_EQUAL(harness_sent(&harness, 0)->flow.remote.port, 5060);
    CU_ASSERT(harness_free(&harness));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"request_is_matched_by_branch_sent_by_and_method_alone",
         request_is_matched_by_branch_sent_by_and_method_alone},
        {"case_of_branch_and_host_does_not_count_and_that_of_the_method_does",
         case_of_branch_and_host_does_not_count_and_that_of_the_method_does},
        {"values_that_only_look_alike_when_joined_are_told_apart",
         values_that_only_look_alike_when_joined_are_told_apart},
        {"rfc_2543_request_is_matched_by_all_that_17_2_3_names",
         rfc_2543_request_is_matched_by_all_that_17_2_3_names},
        {"rfc_2543_request_may_have_values_of_any_length",
         rfc_2543_request_may_have_values_of_any_length},
        {"ack_is_matched_by_branch_and_sent_by", ack_is_matched_by_branch_and_sent_by},
        {"rfc_2543_ack_must_have_the_to_tag_of_the_response",
         rfc_2543_ack_must_have_the_to_tag_of_the_response},
        {"cancel_is_matched_with_its_invite_by_both_rules",
         cancel_is_matched_with_its_invite_by_both_rules},
        {"methods_of_one_branch_do_not_disturb_each_other",
         methods_of_one_branch_do_not_disturb_each_other},
        {"response_must_have_our_branch_our_sent_by_and_the_method",
         response_must_have_our_branch_our_sent_by_and_the_method},
        {"forged_branch_matches_nothing", forged_branch_matches_nothing},
        {"response_to_a_cancel_is_told_from_that_to_its_invite",
         response_to_a_cancel_is_told_from_that_to_its_invite},
        {"name_and_branch_of_an_ended_transaction_stay_dead",
         name_and_branch_of_an_ended_transaction_stay_dead},
        {"cseq_number_is_below_2_to_the_31", cseq_number_is_below_2_to_the_31},
        {"second_copy_of_a_single_header_field_gets_400",
         second_copy_of_a_single_header_field_gets_400},
        {"star_contact_in_an_invite_gets_400", star_contact_in_an_invite_gets_400},
        {"source_address_does_not_count", source_address_does_not_count},
        CU_TEST_INFO_NULL,
    };
    return run_suite("matching", tests);
}
