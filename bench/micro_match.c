/* micro_match.c - parsing and matching: a message goes into vd_stack_receive and finds the
 * transaction that it belongs to, one of 100.
 *
 * The time includes the checks of the message, what the state machine does with it and, for a
 * request that comes again, the response that goes out again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "micro.h"

#include <viaduct/message.h>
#include <viaduct/stack.h>
#include <viaduct/transaction.h>

#include <stdlib.h>

enum { TRANSACTIONS = 100, HEADERS = 64, LARGEST = 2048 };

/* Nothing here depends on time, and none passes. */
#define NOW VD_SEC

struct match {
    struct vd_stack *stack;
    struct vd_flow flow;
    uint64_t responses; /* that reached the application */
    size_t next;
    size_t sizes[TRANSACTIONS];
    char messages[TRANSACTIONS][LARGEST]; /* to be received */
};

/* Gives back what the stack wants to send. Returns how many messages that were. */
static size_t drain(struct vd_stack *stack)
{
    struct vd_send sends[16];
    size_t total = 0;
    size_t n;
    while ((n = vd_stack_poll_send(stack, sends, sizeof sends / sizeof *sends)) > 0) {
        for (size_t i = 0; i < n; i++) {
            vd_stack_send_done(stack, &sends[i]);
        }
        total += n;
    }
    return total;
}

static int start(void **context, const struct vd_stack_callbacks *callbacks)
{
    struct match *match = calloc(1, sizeof *match);
    *context = match;
    if (match == NULL) {
        return micro_fail("out of memory");
    }
    struct vd_stack_config config;
    vd_stack_config_init(&config);
    config.callbacks = *callbacks;
    config.context = match;
    int error = vd_stack_new(&match->stack, &config);
    if (error == 0) {
        error = vd_stack_add_endpoint(match->stack, VD_TRANSPORT_UDP, VD_STR("192.0.2.101:5060"),
                                      &match->flow.endpoint);
    }
    if (error == 0) {
        error = vd_addr_parse(VD_STR("192.0.2.104"), 5060, &match->flow.remote);
    }
    return error == 0 ? 0 : micro_fail("cannot make a stack: %s", vd_strerror(error));
}

static void end(void *context)
{
    struct match *match = context;
    if (match != NULL) {
        vd_stack_free(match->stack);
        free(match);
    }
}

static int receive_next(struct match *match)
{
    size_t i = match->next;
    match->next = i + 1 < TRANSACTIONS ? i + 1 : 0;
    return vd_stack_receive(match->stack, &match->flow, match->messages[i], match->sizes[i], NOW);
}

/* ---- Responses to INVITEs of ours: 180 may come any number of times ---- */

static void on_response(struct vd_stack *stack, vd_transaction transaction,
                        struct vd_message *response, void *user, void *context)
{
    (void)stack;
    (void)transaction;
    (void)user;
    struct match *match = context;
    match->responses += response->status == 180;
}

static int send_invite(struct match *match)
{
    struct vd_builder builder;
    int error = vd_request_begin(match->stack, &builder, VD_STR("INVITE"),
                                 VD_STR("sip:bob@biloxi.example.com"), &match->flow);
    if (error != 0) {
        return error;
    }
    vd_build_number(&builder, VD_HEADER_MAX_FORWARDS, 70);
    vd_build_nameaddr(&builder, VD_HEADER_FROM, VD_STR("Alice Liddell"),
                      VD_STR("sip:alice@atlanta.example.com"), VD_STR("9fxced76sl"));
    vd_build_nameaddr(&builder, VD_HEADER_TO, VD_STR("Bob"), VD_STR("sip:bob@biloxi.example.com"),
                      VD_STR(""));
    vd_build_header(&builder, VD_HEADER_CALL_ID, VD_STR("3848276298220188511@atlanta.example.com"));
    vd_build_cseq(&builder, 1, VD_STR("INVITE"));
    vd_build_nameaddr(&builder, VD_HEADER_CONTACT, VD_STR(""), VD_STR("sip:alice@192.0.2.101:5060"),
                      VD_STR(""));
    return vd_request_send(match->stack, &builder, NULL, NOW, NULL);
}

/* Writes the 180 that a peer would send to the request. Returns its size, 0 when that went wrong.
 */
static size_t write_ringing(char *out, const char *request, size_t size)
{
    static const enum vd_header_id copied[] = {VD_HEADER_VIA, VD_HEADER_FROM, VD_HEADER_CALL_ID,
                                               VD_HEADER_CSEQ};
    struct vd_header headers[HEADERS];
    struct vd_message message;
    struct vd_builder builder;
    vd_message_init(&message, headers, HEADERS);
    if (vd_message_parse(&message, request, size, VD_FRAMING_DATAGRAM, NULL) < 0) {
        return 0;
    }
    vd_builder_init(&builder, out, LARGEST);
    vd_build_status_line(&builder, 180, VD_STR(""));
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        const struct vd_header *header = vd_message_header(&message, copied[i]);
        if (header == NULL) {
            return 0;
        }
        vd_build_header(&builder, copied[i], header->value);
    }
    vd_build_nameaddr(&builder, VD_HEADER_TO, VD_STR("Bob"), VD_STR("sip:bob@biloxi.example.com"),
                      VD_STR("2493k59kd"));
    vd_build_nameaddr(&builder, VD_HEADER_CONTACT, VD_STR(""), VD_STR("sip:bob@192.0.2.104:5060"),
                      VD_STR(""));
    return vd_build_end(&builder, VD_STR(""), VD_STR("")) == 0 ? builder.length : 0;
}

static int start_client(void **context)
{
    static const struct vd_stack_callbacks callbacks = {.on_response = on_response};
    if (start(context, &callbacks) < 0) {
        return -1;
    }
    struct match *match = *context;
    for (size_t i = 0; i < TRANSACTIONS; i++) {
        struct vd_send send;
        int error = send_invite(match);
        if (error != 0 || vd_stack_poll_send(match->stack, &send, 1) != 1) {
            return micro_fail("cannot send an INVITE: %s", vd_strerror(error));
        }
        match->sizes[i] = write_ringing(match->messages[i], send.data, send.size);
        vd_stack_send_done(match->stack, &send);
        if (match->sizes[i] == 0) {
            return micro_fail("cannot make a response");
        }
    }
    return 0;
}

static uint64_t run_response(void *context, enum micro_message message, uint64_t count)
{
    (void)message;
    struct match *match = context;
    uint64_t before = match->responses;
    for (uint64_t i = 0; i < count; i++) {
        receive_next(match);
    }
    return match->responses - before;
}

static const struct micro_work CLIENT[] = {
    {"match_response", "parse and match a response (180 to an INVITE)", run_response, MICRO_OK},
};

const struct micro_group micro_match_client_group = {
    .works = CLIENT, .work_count = 1, .start = start_client, .end = end};

/* ---- Requests that come again, each after it was answered ---- */

static void on_request(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context)
{
    (void)request;
    (void)flow;
    (void)context;
    /* An answer that was not sent is found missing by start_server. */
    (void)vd_respond(stack, transaction, 200, VD_STR(""), NOW);
}

static int start_server(void **context)
{
    static const struct vd_stack_callbacks callbacks = {.on_request = on_request};
    if (start(context, &callbacks) < 0) {
        return -1;
    }
    struct match *match = *context;
    for (size_t i = 0; i < TRANSACTIONS; i++) {
        int size = snprintf(match->messages[i], LARGEST,
                            "REGISTER sip:registrar.biloxi.example.com SIP/2.0\r\n"
                            "Via: SIP/2.0/UDP 192.0.2.104:5060;branch=z9hG4bKnashds7%zu;rport\r\n"
                            "Max-Forwards: 70\r\n"
                            "From: \"Bob\" <sip:bob@biloxi.example.com>;tag=456248\r\n"
                            "To: \"Bob\" <sip:bob@biloxi.example.com>\r\n"
                            "Call-ID: 843817637684230@998sdasdh09\r\n"
                            "CSeq: %zu REGISTER\r\n"
                            "Contact: <sip:bob@192.0.2.104:5060>;expires=7200\r\n"
                            "User-Agent: Bench/1.0\r\n"
                            "Content-Length: 0\r\n"
                            "\r\n",
                            i, i + 1);
        match->sizes[i] = (size_t)size;
        int error = receive_next(match);
        if (error != 0 || drain(match->stack) != 1) {
            return micro_fail("a REGISTER was not answered: %s", vd_strerror(error));
        }
    }
    return 0;
}

static uint64_t run_retransmission(void *context, enum micro_message message, uint64_t count)
{
    (void)message;
    struct match *match = context;
    uint64_t right = 0;
    for (uint64_t i = 0; i < count; i++) {
        receive_next(match);
        right += drain(match->stack);
    }
    return right;
}

static const struct micro_work SERVER[] = {
    {"match_retransmission", "parse and match a REGISTER that comes again", run_retransmission,
     MICRO_REGISTER},
};

const struct micro_group micro_match_server_group = {
    .works = SERVER, .work_count = 1, .start = start_server, .end = end};
