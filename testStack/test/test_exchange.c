/* test_exchange.c - the sender and the receiver against each other, under a virtual clock.
 *
 * Covered: registrations, queries and calls, message by message; the window, the round of the port
 * pairs, the phases and what is counted in each; latencies; the loss of each single message; random
 * loss with a printed seed; the 2xx that is repeated until its ACK comes and each copy's ACK (RFC
 * 3261 13.3.1.4, 13.2.2.4); calls that end without ACK or BYE; failures, and when the sender gives
 * up; requests that the receiver does not expect. Not covered: sockets and threads (test_run.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "lab.h"

#include "run_suite.h"
#include "test_random.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static struct lab lab;

static void begin(const struct options *options)
{
    lab_init(&lab, options);
}

static void begin_calls(uint64_t runs, uint32_t window)
{
    struct options options = lab_options(runs, window);
    options.method = METHOD_INVITE;
    lab_init(&lab, &options);
}

static uint64_t resent(void)
{
    uint64_t sum = 0;
    for (unsigned side = 0; side < LAB_SIDES; side++) {
        struct vd_stack_counters counters;
        vd_stack_get_counters(lab.stacks[side], &counters);
        sum += counters.resent_requests + counters.resent_responses;
    }
    return sum;
}

/* Drops the first context messages that are called dropped_name. */
static const char *dropped_name;

static bool drop_named(struct lab *where, struct lab_message *message)
{
    if (where->context > 0 && strcmp(message->what, dropped_name) == 0) {
        where->context--;
        return false;
    }
    return true;
}

static void drop(const char *name, uint64_t count)
{
    lab.passes = drop_named;
    lab.context = count;
    dropped_name = name;
}

/* ---- Registrations ---- */

static void registration_is_a_register_and_its_200(void)
{
    struct options options = lab_options(1, 1);
    begin(&options);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    CU_ASSERT_EQUAL_FATAL(lab.count, 2);
    const struct lab_message *request = &lab.messages[0];
    const struct lab_message *response = &lab.messages[1];
    CU_ASSERT_STRING_EQUAL(request->what, "REGISTER");
    CU_ASSERT_STRING_EQUAL(response->what, "200 REGISTER");
    CU_ASSERT_EQUAL(strncmp(request->bytes, "REGISTER sip:127.0.0.1:11001 SIP/2.0\r\n", 38), 0);
    CU_ASSERT_STRING_EQUAL(lab_header(request, "Max-Forwards"), "70");
    CU_ASSERT_STRING_EQUAL(lab_header(request, "To"), "<sip:caller@127.0.0.1:11001>");
    CU_ASSERT_STRING_EQUAL(lab_header(request, "CSeq"), "1 REGISTER");
    CU_ASSERT_STRING_EQUAL(lab_header(request, "Expires"), "3600");
    CU_ASSERT_STRING_EQUAL(lab_header(request, "Content-Length"), "0");
    /* RFC 3261 10.3: the 200 lists the bindings. */
    CU_ASSERT_STRING_EQUAL(lab_header(request, "Contact"),
                           "<sip:caller@127.0.0.1:11000>;expires=3600");
    CU_ASSERT_STRING_EQUAL(lab_header(response, "Contact"),
                           "<sip:caller@127.0.0.1:11000>;expires=3600");
    lab_free(&lab);
}

static void each_registration_has_a_call_id_and_a_tag_of_its_own(void)
{
    struct options options = lab_options(200, 10);
    begin(&options);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    for (unsigned i = 0; i < 200; i++) {
        const struct lab_message *a = lab_find(&lab, "REGISTER", i);
        for (unsigned j = 0; j < i; j++) {
            const struct lab_message *b = lab_find(&lab, "REGISTER", j);
            if (strcmp(lab_header(a, "Call-ID"), lab_header(b, "Call-ID")) == 0 ||
                strcmp(lab_header(a, "From"), lab_header(b, "From")) == 0) {
                CU_FAIL("Call-ID or From tag used twice");
            }
        }
    }
    lab_free(&lab);
}

static void every_registration_is_counted_once(void)
{
    struct options options = lab_options(1000, 7);
    begin(&options);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    const struct sender_count *count = sender_count(lab.sender);
    CU_ASSERT_EQUAL(count->exchanges, 1000);
    CU_ASSERT_EQUAL(count->failures, 0);
    CU_ASSERT_EQUAL(count->latency.count, 1000);
    CU_ASSERT_EQUAL(lab_count(&lab, "REGISTER"), 1000);
    CU_ASSERT_EQUAL(lab_count(&lab, "200 REGISTER"), 1000);
    CU_ASSERT_EQUAL(resent(), 0);
    lab_free(&lab);
}

static void latency_is_the_time_from_request_to_final_response(void)
{
    struct options options = lab_options(3, 1);
    begin(&options);
    drop("REGISTER", 1);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    const struct latency *latency = &sender_count(lab.sender)->latency;
    /* One of them was sent again after T1. */
    CU_ASSERT_EQUAL(latency->max, 500 * VD_MSEC + 2 * LAB_DELAY);
    CU_ASSERT_EQUAL(latency->buckets[latency_bucket(2 * LAB_DELAY)], 2);
    lab_free(&lab);
}

static void window_is_filled_and_never_exceeded(void)
{
    struct options options = lab_options(100, 8);
    begin(&options);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    int outstanding = 0;
    int most = 0;
    for (size_t i = 0; i < lab.count; i++) {
        outstanding += lab.messages[i].from == LAB_SENDER ? 1 : -1;
        most = outstanding > most ? outstanding : most;
    }
    CU_ASSERT_EQUAL(most, 8);
    lab_free(&lab);
}

static void registrations_go_round_the_port_pairs(void)
{
    struct options options = lab_options(12, 5);
    options.ports = 3;
    begin(&options);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    for (unsigned i = 0; i < 12; i++) {
        const struct lab_message *request = lab_find(&lab, "REGISTER", i);
        const struct lab_message *response = lab_find(&lab, "200 REGISTER", i);
        CU_ASSERT_EQUAL(request->from_port, 11000 + i % 3);
        CU_ASSERT_EQUAL(request->to_port, 11003 + i % 3);
        CU_ASSERT_EQUAL(response->from_port, request->to_port);
        CU_ASSERT_EQUAL(response->to_port, request->from_port);
    }
    lab_free(&lab);
}

/* ---- Queries ---- */

static void query_is_an_options_and_its_200_with_what_is_allowed(void)
{
    struct options options = lab_options(1, 1);
    options.method = METHOD_OPTIONS;
    begin(&options);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    CU_ASSERT_EQUAL_FATAL(lab.count, 2);
    const struct lab_message *request = &lab.messages[0];
    const struct lab_message *response = &lab.messages[1];
    CU_ASSERT_STRING_EQUAL(request->what, "OPTIONS");
    CU_ASSERT_EQUAL(strncmp(request->bytes, "OPTIONS sip:127.0.0.1:11001 SIP/2.0\r\n", 37), 0);
    CU_ASSERT_STRING_EQUAL(lab_header(request, "To"), "<sip:127.0.0.1:11001>");
    CU_ASSERT_STRING_EQUAL(lab_header(request, "Accept"), "application/sdp");
    CU_ASSERT_STRING_EQUAL(response->what, "200 OPTIONS");
    /* RFC 3261 11.2 */
    CU_ASSERT_STRING_EQUAL(lab_header(response, "Allow"),
                           "REGISTER, OPTIONS, INVITE, ACK, BYE, CANCEL");
    CU_ASSERT_STRING_EQUAL(lab_header(response, "Accept"), "application/sdp");
    lab_free(&lab);
}

/* ---- TCP ---- */

static void every_uri_of_a_run_over_tcp_says_so(void)
{
    static const char TRANSPORT[] = ";transport=tcp";
    for (unsigned method = METHOD_REGISTER; method <= METHOD_INVITE; method++) {
        struct options options = lab_options(2, 1);
        options.transport = VD_TRANSPORT_TCP;
        options.method = (enum method)method;
        begin(&options);
        CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
        CU_ASSERT_EQUAL(sender_count(lab.sender)->exchanges, 2);
        for (size_t i = 0; i < lab.count; i++) {
            const struct lab_message *message = &lab.messages[i];
            const char *contact = lab_header(message, "Contact");
            if (message->from == LAB_SENDER) {
                const char *uri = strstr(message->bytes, TRANSPORT);
                CU_ASSERT(uri != NULL && uri < strstr(message->bytes, " SIP/2.0\r\n"));
            }
            CU_ASSERT(contact[0] == '\0' || strstr(contact, TRANSPORT) != NULL);
            CU_ASSERT_PTR_NOT_NULL(strstr(lab_header(message, "Via"), "SIP/2.0/TCP"));
        }
        lab_free(&lab);
    }
}

/* ---- Calls ---- */

static void call_has_six_messages(void)
{
    static const char *const flow[] = {"INVITE", "180 INVITE", "200 INVITE",
                                       "ACK",    "BYE",        "200 BYE"};
    begin_calls(1, 1);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    CU_ASSERT_EQUAL_FATAL(lab.count, 6);
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_STRING_EQUAL(lab.messages[i].what, flow[i]);
    }
    CU_ASSERT_EQUAL(sender_count(lab.sender)->exchanges, 1);
    CU_ASSERT_EQUAL(sender_count(lab.sender)->latency.count, 2);
    CU_ASSERT_EQUAL(receiver_calls(lab.receiver), 0);
    lab_free(&lab);
}

/* True when the Request-URI of a message is what stands in the angle brackets. */
static bool is_sent_to(const struct lab_message *message, const char *bracketed)
{
    size_t size = strcspn(bracketed + 1, ">");
    const char *uri = strchr(message->bytes, ' ') + 1;
    return strncmp(uri, bracketed + 1, size) == 0 && uri[size] == ' ';
}

static void ack_and_bye_belong_to_the_dialog_of_the_2xx(void)
{
    begin_calls(1, 1);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    const struct lab_message *answer = lab_find(&lab, "200 INVITE", 0);
    const struct lab_message *ack = lab_find(&lab, "ACK", 0);
    const struct lab_message *bye = lab_find(&lab, "BYE", 0);
    CU_ASSERT(is_sent_to(ack, lab_header(answer, "Contact")));
    CU_ASSERT(is_sent_to(bye, lab_header(answer, "Contact")));
    CU_ASSERT_STRING_EQUAL(lab_header(ack, "To"), lab_header(answer, "To"));
    CU_ASSERT_STRING_EQUAL(lab_header(bye, "To"), lab_header(answer, "To"));
    CU_ASSERT_PTR_NOT_NULL(strstr(lab_header(bye, "To"), ";tag="));
    CU_ASSERT_STRING_EQUAL(lab_header(bye, "From"), lab_header(answer, "From"));
    CU_ASSERT_STRING_EQUAL(lab_header(bye, "Call-ID"), lab_header(answer, "Call-ID"));
    CU_ASSERT_STRING_EQUAL(lab_header(ack, "CSeq"), "1 ACK");
    CU_ASSERT_STRING_EQUAL(lab_header(bye, "CSeq"), "2 BYE");
    /* RFC 3261 13.2.2.4: the ACK for a 2xx is a transaction of its own. */
    CU_ASSERT_STRING_NOT_EQUAL(lab_header(ack, "Via"),
                               lab_header(lab_find(&lab, "INVITE", 0), "Via"));
    lab_free(&lab);
}

static void offer_and_answer_are_session_descriptions(void)
{
    begin_calls(1, 1);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    const struct lab_message *messages[] = {lab_find(&lab, "INVITE", 0),
                                            lab_find(&lab, "200 INVITE", 0)};
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT_STRING_EQUAL(lab_header(messages[i], "Content-Type"), "application/sdp");
        CU_ASSERT_PTR_NOT_NULL(strstr(messages[i]->bytes, "\r\n\r\nv=0\r\no=- "));
        CU_ASSERT_PTR_NOT_NULL(strstr(messages[i]->bytes, "c=IN IP4 127.0.0.1\r\n"));
    }
    lab_free(&lab);
}

static void provisional_and_final_response_have_one_contact_and_tag(void)
{
    begin_calls(1, 1);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    const struct lab_message *ringing = lab_find(&lab, "180 INVITE", 0);
    const struct lab_message *answer = lab_find(&lab, "200 INVITE", 0);
    CU_ASSERT_STRING_EQUAL(lab_header(ringing, "Contact"), lab_header(answer, "Contact"));
    CU_ASSERT_STRING_EQUAL(lab_header(ringing, "To"), lab_header(answer, "To"));
    lab_free(&lab);
}

static void ip6_addresses_are_references_in_uris_and_plain_in_sdp(void)
{
    struct options options = lab_options(2, 1);
    options.method = METHOD_INVITE;
    vd_addr_parse(VD_STR("::1"), 11000, &options.sender);
    begin(&options);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    CU_ASSERT_EQUAL(sender_count(lab.sender)->exchanges, 2);
    const struct lab_message *invite = lab_find(&lab, "INVITE", 0);
    CU_ASSERT_STRING_EQUAL(lab_header(invite, "To"), "<sip:callee@[::1]:11001>");
    CU_ASSERT_PTR_NOT_NULL(strstr(invite->bytes, "c=IN IP6 ::1\r\n"));
    lab_free(&lab);
}

/* ---- Loss ---- */

static bool drop_by_number(struct lab *where, struct lab_message *message)
{
    (void)message;
    return where->count != where->context;
}

static void call_survives_the_loss_of_any_one_message(void)
{
    /* By the message that is lost. The 180 is not repeated, since the 200 comes anyway; nor is the
     * ACK, since the BYE says as much. For the 200 to the BYE, both messages go again. */
    static const uint64_t copies[] = {1, 0, 1, 0, 1, 2};
    for (uint64_t lost = 0; lost < 6; lost++) {
        begin_calls(3, 1);
        lab.passes = drop_by_number;
        lab.context = lost;
        CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
        CU_ASSERT_EQUAL(sender_count(lab.sender)->exchanges, 3);
        CU_ASSERT_EQUAL(sender_count(lab.sender)->failures, 0);
        CU_ASSERT_EQUAL(receiver_calls(lab.receiver), 0);
        CU_ASSERT_EQUAL(resent(), copies[lost]);
        lab_free(&lab);
    }
}

static struct test_random chance;

static bool drop_at_random(struct lab *where, struct lab_message *message)
{
    (void)message;
    return test_random_below(&chance, 100) >= where->context;
}

static void no_exchange_is_stuck_whatever_is_lost(void)
{
    chance.state = (uint64_t)time(NULL);
    printf("seed %llu ", (unsigned long long)chance.state);
    for (unsigned round = 0; round < 60; round++) {
        struct options options = lab_options(30, 1 + round % 9);
        options.method = (enum method)(round % 3);
        options.ports = 1 + round % 3;
        begin(&options);
        lab.passes = drop_at_random;
        lab.context = test_random_below(&chance, 100);
        CU_ASSERT(lab_run(&lab, 10000 * VD_SEC));
        const struct sender_count *count = sender_count(lab.sender);
        CU_ASSERT(count->exchanges + count->failures == 30 || sender_is_hopeless(lab.sender));
        CU_ASSERT(count->timeouts <= count->failures);
        lab.passes = NULL;
        lab_wait(&lab, 200 * VD_SEC);
        CU_ASSERT_EQUAL(receiver_calls(lab.receiver), 0);
        lab_free(&lab);
    }
}

static bool drop_ack_and_bye(struct lab *where, struct lab_message *message)
{
    (void)where;
    return strcmp(message->what, "ACK") != 0 && strcmp(message->what, "BYE") != 0;
}

static void answer_is_repeated_until_64_t1_when_no_ack_comes(void)
{
    /* RFC 3261 13.3.1.4: T1, then doubling, at most T2. */
    static const vd_time milliseconds[] = {0,     500,   1500,  3500,  7500, 11500,
                                           15500, 19500, 23500, 27500, 31500};
    enum { COPIES = sizeof milliseconds / sizeof milliseconds[0] };
    begin_calls(1, 1);
    lab.passes = drop_ack_and_bye;
    lab_run(&lab, 100 * VD_SEC);
    const struct lab_message *first = lab_find(&lab, "200 INVITE", 0);
    for (unsigned i = 0; i < COPIES; i++) {
        const struct lab_message *copy = lab_find(&lab, "200 INVITE", i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        vd_time late = copy->at - first->at - milliseconds[i] * VD_MSEC;
        /* A timer of the application fires at a whole millisecond. */
        CU_ASSERT(late <= i * VD_MSEC);
        CU_ASSERT_STRING_EQUAL(copy->bytes, first->bytes);
    }
    CU_ASSERT_PTR_NULL(lab_find(&lab, "200 INVITE", COPIES));
    CU_ASSERT_EQUAL(receiver_count(lab.receiver)->timeouts, 1);
    CU_ASSERT_EQUAL(receiver_calls(lab.receiver), 0);
    lab_free(&lab);
}

static void call_whose_every_answer_is_lost_is_cancelled_and_fails(void)
{
    begin_calls(1, 1);
    drop("200 INVITE", UINT64_MAX);
    CU_ASSERT(lab_run(&lab, 100 * VD_SEC));
    const struct lab_message *cancel = lab_find(&lab, "CANCEL", 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(cancel);
    CU_ASSERT_EQUAL(lab_count(&lab, "CANCEL"), 1);
    CU_ASSERT(cancel->at >= 32 * VD_SEC && cancel->at < 33 * VD_SEC);
    CU_ASSERT_EQUAL(lab_count(&lab, "ACK"), 0);
    CU_ASSERT_EQUAL(sender_count(lab.sender)->failures, 1);
    CU_ASSERT_EQUAL(sender_count(lab.sender)->timeouts, 1);
    CU_ASSERT_EQUAL(receiver_count(lab.receiver)->timeouts, 1);
    lab_free(&lab);
}

static void each_copy_of_the_answer_is_acknowledged(void)
{
    begin_calls(1, 1);
    lab.passes = drop_ack_and_bye;
    lab_run(&lab, 100 * VD_SEC);
    CU_ASSERT_EQUAL(lab_count(&lab, "ACK"), lab_count(&lab, "200 INVITE"));
    lab_free(&lab);
}

static void copy_that_comes_after_the_call_is_acknowledged(void)
{
    begin_calls(5, 1);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    CU_ASSERT_EQUAL(lab_count(&lab, "ACK"), 5);
    const struct lab_message *answer = lab_find(&lab, "200 INVITE", 0);
    lab_inject(&lab, LAB_SENDER, answer->bytes, answer->size);
    CU_ASSERT_EQUAL_FATAL(lab_count(&lab, "ACK"), 6);
    const struct lab_message *ack = lab_find(&lab, "ACK", 5);
    answer = lab_find(&lab, "200 INVITE", 0);
    CU_ASSERT_STRING_EQUAL(lab_header(ack, "Call-ID"), lab_header(answer, "Call-ID"));
    CU_ASSERT(is_sent_to(ack, lab_header(answer, "Contact")));
    CU_ASSERT_EQUAL(sender_count(lab.sender)->exchanges, 5);
    lab_free(&lab);
}

static void acknowledged_call_without_a_bye_is_forgotten_after_64_t1(void)
{
    begin_calls(1, 1);
    drop("BYE", UINT64_MAX);
    lab_run(&lab, 20 * VD_SEC);
    CU_ASSERT_EQUAL(lab_count(&lab, "200 INVITE"), 1);
    CU_ASSERT_EQUAL(receiver_calls(lab.receiver), 1);
    lab_wait(&lab, 20 * VD_SEC);
    CU_ASSERT_EQUAL(receiver_calls(lab.receiver), 0);
    CU_ASSERT_EQUAL(receiver_count(lab.receiver)->timeouts, 0);
    CU_ASSERT_EQUAL(sender_count(lab.sender)->failures, 1);
    CU_ASSERT_EQUAL(sender_count(lab.sender)->timeouts, 1);
    lab_free(&lab);
}

/* ---- Phases ---- */

static void warm_up_is_not_counted(void)
{
    struct options options = lab_options(50, 4);
    options.warmup = 100 * VD_MSEC;
    begin(&options);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    CU_ASSERT_EQUAL(sender_count(lab.sender)->exchanges, 50);
    CU_ASSERT_EQUAL(sender_count(lab.sender)->latency.count, 50);
    /* Four every two milliseconds, for 100 of them, and those that count. */
    CU_ASSERT_EQUAL(lab_count(&lab, "REGISTER"), 4 * 50 + 50);
    lab_free(&lab);
}

static void duration_ends_the_count_and_what_is_outstanding_ends_after_it(void)
{
    struct options options = lab_options(0, 3);
    options.duration = 101 * VD_MSEC;
    begin(&options);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    CU_ASSERT_EQUAL(lab_count(&lab, "REGISTER"), lab_count(&lab, "200 REGISTER"));
    CU_ASSERT_EQUAL(sender_count(lab.sender)->failures, 0);
    CU_ASSERT_EQUAL(lab.now - lab.began_at, 102 * VD_MSEC);
    lab_free(&lab);
}

/* ---- Failures ---- */

static bool turn_200_into_500(struct lab *where, struct lab_message *message)
{
    if (where->context > 0 && strncmp(message->bytes, "SIP/2.0 200", 11) == 0) {
        where->context--;
        message->bytes[8] = '5';
    }
    return true;
}

static void final_response_other_than_2xx_is_a_failure(void)
{
    for (int invite = 0; invite < 2; invite++) {
        struct options options = lab_options(10, 2);
        options.method = invite != 0 ? METHOD_INVITE : METHOD_REGISTER;
        begin(&options);
        lab.passes = turn_200_into_500;
        lab.context = 1;
        CU_ASSERT(lab_run(&lab, 100 * VD_SEC));
        CU_ASSERT_EQUAL(sender_count(lab.sender)->exchanges, 9);
        CU_ASSERT_EQUAL(sender_count(lab.sender)->failures, 1);
        CU_ASSERT_EQUAL(sender_count(lab.sender)->timeouts, 0);
        lab_free(&lab);
    }
}

static bool drop_all(struct lab *where, struct lab_message *message)
{
    (void)where;
    (void)message;
    return false;
}

static void sender_gives_up_when_a_whole_window_fails_in_a_row(void)
{
    struct options options = lab_options(100, 10);
    begin(&options);
    lab.passes = drop_all;
    CU_ASSERT(lab_run(&lab, 100 * VD_SEC));
    CU_ASSERT(sender_is_hopeless(lab.sender));
    CU_ASSERT_EQUAL(sender_count(lab.sender)->exchanges, 0);
    CU_ASSERT_EQUAL(sender_count(lab.sender)->failures, 10);
    CU_ASSERT_EQUAL(sender_count(lab.sender)->timeouts, 10);
    lab_free(&lab);
}

static void sender_goes_on_after_failures_that_are_not_all(void)
{
    struct options options = lab_options(20, 1);
    begin(&options);
    lab.passes = turn_200_into_500;
    lab.context = 3;
    CU_ASSERT(lab_run(&lab, 100 * VD_SEC));
    CU_ASSERT_FALSE(sender_is_hopeless(lab.sender));
    CU_ASSERT_EQUAL(sender_count(lab.sender)->exchanges, 17);
    CU_ASSERT_EQUAL(sender_count(lab.sender)->failures, 3);
    lab_free(&lab);
}

static void receiver_counts_requests_and_the_time_from_the_first_to_the_last(void)
{
    begin_calls(3, 1);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    const struct receiver_count *count = receiver_count(lab.receiver);
    CU_ASSERT_EQUAL(count->requests, 6);
    CU_ASSERT_EQUAL(count->calls, 3);
    CU_ASSERT_EQUAL(count->first_at, lab.began_at + lab_find(&lab, "INVITE", 0)->at + LAB_DELAY);
    CU_ASSERT_EQUAL(count->last_at, lab.began_at + lab_find(&lab, "BYE", 2)->at + LAB_DELAY);
    lab_free(&lab);
}

/* ---- Requests that the receiver does not expect ---- */

/* The response to a request of the given method for a user of the receiver. */
static const char *answer_to(const char *method, const char *user)
{
    static char text[512];
    int size = snprintf(text, sizeof text,
                        "%s sip:%s@127.0.0.1:11001 SIP/2.0\r\n"
                        "Via: SIP/2.0/UDP 127.0.0.1:11000;branch=z9hG4bK-%s-%s;rport\r\n"
                        "Max-Forwards: 70\r\n"
                        "From: <sip:stranger@127.0.0.1>;tag=1\r\n"
                        "To: <sip:callee@127.0.0.1>;tag=2\r\n"
                        "Call-ID: stranger\r\n"
                        "CSeq: 7 %s\r\n"
                        "Content-Length: 0\r\n\r\n",
                        method, user, method, user, method);
    size_t before = lab.count;
    lab_inject(&lab, LAB_RECEIVER, text, (size_t)size);
    return lab.count > before ? lab.messages[before].what : "";
}

static void bye_for_no_call_gets_481(void)
{
    begin_calls(1, 1);
    CU_ASSERT(lab_run(&lab, 10 * VD_SEC));
    CU_ASSERT_STRING_EQUAL(answer_to("BYE", "callee"), "481 BYE");
    CU_ASSERT_STRING_EQUAL(answer_to("BYE", "ffffffffffffffff"), "481 BYE");
    CU_ASSERT_STRING_EQUAL(answer_to("BYE", "0000000100000000"), "481 BYE");
    CU_ASSERT_STRING_EQUAL(answer_to("BYE", "00000001000000001"), "481 BYE");
    CU_ASSERT_STRING_EQUAL(answer_to("ACK", "0000000100000000"), "");
    lab_free(&lab);
}

static void other_methods_get_405_with_those_that_are_allowed(void)
{
    begin_calls(1, 1);
    CU_ASSERT_STRING_EQUAL(answer_to("SUBSCRIBE", "callee"), "405 SUBSCRIBE");
    CU_ASSERT_STRING_EQUAL(lab_header(&lab.messages[0], "Allow"),
                           "REGISTER, OPTIONS, INVITE, ACK, BYE, CANCEL");
    lab_free(&lab);
}

static void more_calls_than_there_is_room_for_get_503(void)
{
    char user[8];
    begin_calls(1, 2);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(user, sizeof user, "u%u", i);
        CU_ASSERT_STRING_EQUAL(answer_to("INVITE", user), "180 INVITE");
    }
    CU_ASSERT_EQUAL(receiver_calls(lab.receiver), 4);
    CU_ASSERT_STRING_EQUAL(answer_to("INVITE", "u4"), "503 INVITE");
    CU_ASSERT_EQUAL(receiver_error(lab.receiver), 0);
    lab_free(&lab);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"registration_is_a_register_and_its_200", registration_is_a_register_and_its_200},
        {"each_registration_has_a_call_id_and_a_tag_of_its_own",
         each_registration_has_a_call_id_and_a_tag_of_its_own},
        {"every_registration_is_counted_once", every_registration_is_counted_once},
        {"latency_is_the_time_from_request_to_final_response",
         latency_is_the_time_from_request_to_final_response},
        {"window_is_filled_and_never_exceeded", window_is_filled_and_never_exceeded},
        {"registrations_go_round_the_port_pairs", registrations_go_round_the_port_pairs},
        {"query_is_an_options_and_its_200_with_what_is_allowed",
         query_is_an_options_and_its_200_with_what_is_allowed},
        {"every_uri_of_a_run_over_tcp_says_so", every_uri_of_a_run_over_tcp_says_so},
        {"call_has_six_messages", call_has_six_messages},
        {"ack_and_bye_belong_to_the_dialog_of_the_2xx",
         ack_and_bye_belong_to_the_dialog_of_the_2xx},
        {"offer_and_answer_are_session_descriptions", offer_and_answer_are_session_descriptions},
        {"provisional_and_final_response_have_one_contact_and_tag",
         provisional_and_final_response_have_one_contact_and_tag},
        {"ip6_addresses_are_references_in_uris_and_plain_in_sdp",
         ip6_addresses_are_references_in_uris_and_plain_in_sdp},
        {"call_survives_the_loss_of_any_one_message", call_survives_the_loss_of_any_one_message},
        {"no_exchange_is_stuck_whatever_is_lost", no_exchange_is_stuck_whatever_is_lost},
        {"answer_is_repeated_until_64_t1_when_no_ack_comes",
         answer_is_repeated_until_64_t1_when_no_ack_comes},
        {"call_whose_every_answer_is_lost_is_cancelled_and_fails",
         call_whose_every_answer_is_lost_is_cancelled_and_fails},
        {"each_copy_of_the_answer_is_acknowledged", each_copy_of_the_answer_is_acknowledged},
        {"copy_that_comes_after_the_call_is_acknowledged",
         copy_that_comes_after_the_call_is_acknowledged},
        {"acknowledged_call_without_a_bye_is_forgotten_after_64_t1",
         acknowledged_call_without_a_bye_is_forgotten_after_64_t1},
        {"warm_up_is_not_counted", warm_up_is_not_counted},
        {"duration_ends_the_count_and_what_is_outstanding_ends_after_it",
         duration_ends_the_count_and_what_is_outstanding_ends_after_it},
        {"final_response_other_than_2xx_is_a_failure", final_response_other_than_2xx_is_a_failure},
        {"sender_gives_up_when_a_whole_window_fails_in_a_row",
         sender_gives_up_when_a_whole_window_fails_in_a_row},
        {"sender_goes_on_after_failures_that_are_not_all",
         sender_goes_on_after_failures_that_are_not_all},
        {"receiver_counts_requests_and_the_time_from_the_first_to_the_last",
         receiver_counts_requests_and_the_time_from_the_first_to_the_last},
        {"bye_for_no_call_gets_481", bye_for_no_call_gets_481},
        {"other_methods_get_405_with_those_that_are_allowed",
         other_methods_get_405_with_those_that_are_allowed},
        {"more_calls_than_there_is_room_for_get_503", more_calls_than_there_is_room_for_get_503},
        CU_TEST_INFO_NULL,
    };
    return run_suite("exchange", tests);
}
