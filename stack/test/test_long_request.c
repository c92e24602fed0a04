/* test_long_request.c - requests that are too long for UDP (RFC 3261 18.1.1).
 *
 * Covered: the switch to TCP at the byte, the Via and flow that go with it, the way back to UDP
 * when the peer refuses TCP, what happens without TCP, ACK and CANCEL. Not covered: connections,
 * which are the transport's.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run_suite.h"

#include <viaduct/stack.h>
#include <viaduct/transaction.h>

#include <stdlib.h>

/* A stack with one end for each transport, and what it told. */
struct bed {
    struct vd_stack *stack;
    uint32_t udp;
    uint32_t tcp;
    int responses;
    int failures;
    int error;
    int events; /* log events that speak of UDP */
    vd_transaction transaction;
};

static void on_response(struct vd_stack *stack, vd_transaction transaction,
                        struct vd_message *response, void *user, void *context)
{
    struct bed *bed = context;
    (void)stack;
    (void)transaction;
    (void)response;
    (void)user;
    bed->responses++;
}

static void on_failure(struct vd_stack *stack, vd_transaction transaction, int error, void *user,
                       void *context)
{
    struct bed *bed = context;
    (void)stack;
    (void)transaction;
    (void)user;
    bed->failures++;
    bed->error = error;
}

static void on_log(const struct vd_log_event *event, void *context)
{
    struct bed *bed = context;
    bed->events += strstr(event->text, "too long for UDP") != NULL;
}

static void open_bed(struct bed *bed, bool paired)
{
    struct vd_stack_config config;
    *bed = (struct bed){0};
    vd_stack_config_init(&config);
    config.callbacks.on_response = on_response;
    config.callbacks.on_failure = on_failure;
    config.context = bed;
    config.log = on_log;
    config.log_context = bed;
    CU_ASSERT_EQUAL_FATAL(vd_stack_new(&bed->stack, &config), 0);
    CU_ASSERT_EQUAL(
        vd_stack_add_endpoint(bed->stack, VD_TRANSPORT_UDP, VD_STR("192.0.2.20:5060"), &bed->udp),
        0);
    CU_ASSERT_EQUAL(vd_stack_add_endpoint(bed->stack, VD_TRANSPORT_TCP,
                                          VD_STR("host-with-a-longer-name.example.com:5070"),
                                          &bed->tcp),
                    0);
    if (paired) {
        CU_ASSERT_EQUAL(vd_stack_pair_endpoints(bed->stack, bed->udp, bed->tcp), 0);
    }
}

/* Sends a request of exactly size bytes as it would leave over UDP. */
static int send_sized(struct bed *bed, struct vd_str method, size_t size)
{
    static char filler[4096];
    struct vd_flow flow = {.endpoint = bed->udp};
    struct vd_builder builder;
    vd_addr_parse(VD_STR("192.0.2.10"), 5062, &flow.remote);
    CU_ASSERT_EQUAL_FATAL(
        vd_request_begin(bed->stack, &builder, method, VD_STR("sip:bob@example.com"), &flow), 0);
    vd_build_number(&builder, VD_HEADER_MAX_FORWARDS, 70);
    vd_build_header(&builder, VD_HEADER_FROM, VD_STR("<sip:alice@example.com>;tag=1"));
    vd_build_header(&builder, VD_HEADER_TO, VD_STR("<sip:bob@example.com>"));
    vd_build_header(&builder, VD_HEADER_CALL_ID, VD_STR("long@example.com"));
    vd_build_cseq(&builder, 1, method);
    /* "Subject: ", its line end, and "Content-Length: 0" with two more */
    size_t rest = size - builder.length - 9 - 2 - 17 - 4;
    memset(filler, 'x', sizeof filler);
    vd_build_header(&builder, VD_HEADER_SUBJECT, vd_str(filler, rest));
    bool ack = vd_str_equal(method, VD_STR("ACK"));
    return ack ? vd_ack_send(bed->stack, &builder, 0)
               : vd_request_send(bed->stack, &builder, NULL, 0, &bed->transaction);
}

static bool holds(const struct vd_send *sent, const char *text)
{
    char copy[4096];
    memcpy(copy, sent->data, sent->size);
    copy[sent->size] = '\0';
    return strstr(copy, text) != NULL;
}

static const char UDP_VIA[] = "\r\nVia: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bK";
static const char TCP_VIA[] =
    "\r\nVia: SIP/2.0/TCP host-with-a-longer-name.example.com:5070;branch=z9hG4bK";

static void request_past_1300_bytes_leaves_over_tcp(void)
{
    static const char *const methods[] = {"OPTIONS", "INVITE", "ACK"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        for (size_t size = 1299; size <= 1302; size++) {
            struct bed bed;
            struct vd_send sent;
            struct vd_stack_counters counters;
            bool over_tcp = size > 1300;
            open_bed(&bed, true);
            CU_ASSERT_EQUAL(send_sized(&bed, vd_str_from(methods[i]), size), 0);
            CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(bed.stack, &sent, 1), 1);
            CU_ASSERT_EQUAL(sent.flow.endpoint, over_tcp ? bed.tcp : bed.udp);
            CU_ASSERT_EQUAL(sent.flow.remote.port, 5062);
            CU_ASSERT_TRUE(holds(&sent, over_tcp ? TCP_VIA : UDP_VIA));
            CU_ASSERT_TRUE(holds(&sent, "xxx\r\nContent-Length: 0\r\n\r\n"));
            CU_ASSERT_EQUAL(sent.size, over_tcp ? size + 25 : size);
            vd_stack_send_done(bed.stack, &sent);
            vd_stack_get_counters(bed.stack, &counters);
            CU_ASSERT_EQUAL(counters.long_requests_over_tcp, over_tcp);
            CU_ASSERT_EQUAL(counters.long_requests_over_udp, 0);
            vd_stack_free(bed.stack);
        }
    }
}

/* Over TCP Timers A and E never start (17.1.1.2, 17.1.2.2). */
static void switched_request_is_not_retransmitted(void)
{
    struct bed bed;
    struct vd_send sent;
    open_bed(&bed, true);
    CU_ASSERT_EQUAL(send_sized(&bed, VD_STR("OPTIONS"), 1400), 0);
    CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(bed.stack, &sent, 1), 1);
    vd_stack_send_done(bed.stack, &sent);
    CU_ASSERT_EQUAL(vd_stack_next_deadline(bed.stack), 32 * VD_SEC);
    vd_stack_free(bed.stack);
}

/* Answers what was sent with a 200, over the end that it left by. */
static void answer(struct bed *bed, const struct vd_send *sent)
{
    char text[4096];
    const char *via = memchr(sent->data, '\n', sent->size);
    size_t rest = sent->size - (size_t)(via + 1 - sent->data);
    memcpy(text, "SIP/2.0 200 OK\r\n", 16);
    memcpy(text + 16, via + 1, rest);
    CU_ASSERT_EQUAL(vd_stack_receive(bed->stack, &sent->flow, text, 16 + rest, VD_SEC), 0);
}

static void refused_connection_brings_the_request_back_to_udp(void)
{
    static const char *const methods[] = {"OPTIONS", "INVITE"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        struct bed bed;
        struct vd_send sent;
        struct vd_stack_counters counters;
        open_bed(&bed, true);
        CU_ASSERT_EQUAL(send_sized(&bed, vd_str_from(methods[i]), 2000), 0);
        CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(bed.stack, &sent, 1), 1);
        vd_stack_send_failed(bed.stack, &sent, VD_ERR_REFUSED, 100 * VD_MSEC);
        CU_ASSERT_EQUAL(bed.failures, 0);
        CU_ASSERT_EQUAL(bed.events, 1);
        CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(bed.stack, &sent, 1), 1);
        CU_ASSERT_EQUAL(sent.flow.endpoint, bed.udp);
        CU_ASSERT_EQUAL(sent.size, 2000);
        CU_ASSERT_TRUE(holds(&sent, UDP_VIA));
        /* Timer A or E counts from the moment of the second try. */
        CU_ASSERT_EQUAL(vd_stack_next_deadline(bed.stack), 600 * VD_MSEC);
        answer(&bed, &sent);
        CU_ASSERT_EQUAL(bed.responses, 1);
        vd_stack_send_done(bed.stack, &sent);
        vd_stack_get_counters(bed.stack, &counters);
        CU_ASSERT_EQUAL(counters.long_requests_over_tcp, 1);
        CU_ASSERT_EQUAL(counters.long_requests_over_udp, 1);
        CU_ASSERT_EQUAL(counters.transport_errors, 0);
        vd_stack_free(bed.stack);
    }
}

/* The second refusal, that of UDP itself, is final. */
static void request_falls_back_once(void)
{
    struct bed bed;
    struct vd_send sent;
    open_bed(&bed, true);
    CU_ASSERT_EQUAL(send_sized(&bed, VD_STR("OPTIONS"), 2000), 0);
    CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(bed.stack, &sent, 1), 1);
    vd_stack_send_failed(bed.stack, &sent, VD_ERR_REFUSED, 1);
    CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(bed.stack, &sent, 1), 1);
    vd_stack_send_failed(bed.stack, &sent, VD_ERR_REFUSED, 2);
    CU_ASSERT_EQUAL(bed.failures, 1);
    CU_ASSERT_EQUAL(bed.error, VD_ERR_REFUSED);
    CU_ASSERT_EQUAL(vd_stack_next_deadline(bed.stack), VD_TIME_NEVER);
    vd_stack_free(bed.stack);
}

static void other_errors_of_tcp_end_the_transaction(void)
{
    static const int errors[] = {VD_ERR_TRANSPORT, VD_ERR_UNREACHABLE};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        struct bed bed;
        struct vd_send sent;
        open_bed(&bed, true);
        CU_ASSERT_EQUAL(send_sized(&bed, VD_STR("OPTIONS"), 2000), 0);
        CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(bed.stack, &sent, 1), 1);
        vd_stack_send_failed(bed.stack, &sent, errors[i], 1);
        CU_ASSERT_EQUAL(bed.failures, 1);
        CU_ASSERT_EQUAL(bed.error, errors[i]);
        vd_stack_free(bed.stack);
    }
}

static void without_tcp_a_long_request_goes_over_udp_and_is_counted(void)
{
    struct bed bed;
    struct vd_send sent;
    struct vd_stack_counters counters;
    open_bed(&bed, false);
    CU_ASSERT_EQUAL(send_sized(&bed, VD_STR("OPTIONS"), 1301), 0);
    CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(bed.stack, &sent, 1), 1);
    CU_ASSERT_EQUAL(sent.flow.endpoint, bed.udp);
    vd_stack_get_counters(bed.stack, &counters);
    CU_ASSERT_EQUAL(counters.long_requests_over_udp, 1);
    CU_ASSERT_EQUAL(bed.events, 1);
    vd_stack_send_done(bed.stack, &sent);
    vd_stack_free(bed.stack);
}

/* 9.1: the CANCEL goes where the INVITE went, with its branch. */
static void cancel_follows_its_invite_over_tcp(void)
{
    struct bed bed;
    struct vd_send invite;
    struct vd_send cancel;
    char text[4096];
    open_bed(&bed, true);
    CU_ASSERT_EQUAL(send_sized(&bed, VD_STR("INVITE"), 1500), 0);
    CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(bed.stack, &invite, 1), 1);
    const char *via = memchr(invite.data, '\n', invite.size);
    size_t rest = invite.size - (size_t)(via + 1 - invite.data);
    memcpy(text, "SIP/2.0 180 Ringing\r\n", 21);
    memcpy(text + 21, via + 1, rest);
    CU_ASSERT_EQUAL(vd_stack_receive(bed.stack, &invite.flow, text, 21 + rest, 1), 0);
    CU_ASSERT_EQUAL(vd_request_cancel(bed.stack, bed.transaction, 2), 0);
    CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(bed.stack, &cancel, 1), 1);
    CU_ASSERT_EQUAL(cancel.flow.endpoint, bed.tcp);
    CU_ASSERT_TRUE(holds(&cancel, TCP_VIA));
    vd_stack_send_done(bed.stack, &invite);
    vd_stack_send_done(bed.stack, &cancel);
    vd_stack_free(bed.stack);
}

static void only_udp_is_paired_with_a_reliable_end(void)
{
    struct bed bed;
    open_bed(&bed, false);
    CU_ASSERT_EQUAL(vd_stack_pair_endpoints(bed.stack, bed.tcp, bed.udp), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_stack_pair_endpoints(bed.stack, bed.udp, bed.udp), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_stack_pair_endpoints(bed.stack, bed.tcp, bed.tcp), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_stack_pair_endpoints(bed.stack, bed.udp, 2), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_stack_pair_endpoints(bed.stack, 2, bed.tcp), VD_ERR_INVALID);
    vd_stack_free(bed.stack);
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"request_past_1300_bytes_leaves_over_tcp", request_past_1300_bytes_leaves_over_tcp},
        {"switched_request_is_not_retransmitted", switched_request_is_not_retransmitted},
        {"refused_connection_brings_the_request_back_to_udp",
         refused_connection_brings_the_request_back_to_udp},
        {"request_falls_back_once", request_falls_back_once},
        {"other_errors_of_tcp_end_the_transaction", other_errors_of_tcp_end_the_transaction},
        {"without_tcp_a_long_request_goes_over_udp_and_is_counted",
         without_tcp_a_long_request_goes_over_udp_and_is_counted},
        {"cancel_follows_its_invite_over_tcp", cancel_follows_its_invite_over_tcp},
        {"only_udp_is_paired_with_a_reliable_end", only_udp_is_paired_with_a_reliable_end},
        CU_TEST_INFO_NULL,
    };
    return run_suite("long request", tests);
}
