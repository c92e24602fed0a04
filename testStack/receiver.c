/* receiver.c - answers registrations, queries and calls.
 *
 * REGISTER, OPTIONS and BYE get 200, INVITE gets 180 and 200. The 200 to an INVITE is sent again at
 * T1, doubling up to T2, until the ACK or the BYE comes, for 64*T1 at most (RFC 3261 13.3.1.4). A
 * call is found again by the user part of the Contact that it was answered with, which is the
 * Request-URI of its ACK and BYE.
 *
 * SPDX-License-Identifier: MIT
 */
#include "receiver.h"

#include "fail.h"
#include "text.h"

#include <viaduct/timer.h>
#include <viaduct/transaction.h>

#include <stdlib.h>

enum {
    TEXT_A_PORT = 128,   /* more than a Contact ever is */
    TEXT_FOR_ALL = 1024, /* more than a session description ever is */
    CALLS_FACTOR = 2,    /* calls that failed at the sender may linger here beside its window */
};

#define NO_CALL UINT32_MAX

/* timer repeats the 2xx until the ACK comes, and forgets the call when no BYE comes after it. */
struct call {
    struct vd_timer timer; /* first, so that its address is that of the call */
    struct receiver *receiver;
    struct vd_stack *stack;
    vd_transaction invite;
    vd_time interval; /* from one copy of the 2xx to the next */
    vd_time give_up_at;
    uint32_t generation; /* of the calls that this place has had; 0 in no name */
    uint32_t next_free;
    bool live;
};

/* The Contact of the calls of a port; the name of the call is overwritten for each. */
struct contact {
    struct vd_str value;
    char *name;
};

struct receiver {
    const struct options *options;
    struct contact *contacts;
    struct call *calls;
    struct text_arena text;
    struct vd_str sdp;
    uint32_t call_count;
    uint32_t fresh_call; /* places from here on were never used */
    uint32_t free_call;
    uint32_t live_calls;
    struct receiver_count count;
    vd_time t1;
    vd_time t2;
    int error;
};

/* ---- Making and freeing ---- */

static void prepare_contact(struct receiver *receiver, uint32_t index)
{
    static const char BEFORE_NAME[] = "<sip:";
    const struct options *options = receiver->options;
    struct contact *contact = &receiver->contacts[index];
    char near[VD_ADDR_TEXT_SIZE];
    struct vd_addr local = options_port(&options->receiver, index);
    vd_addr_format(&local, near);
    contact->value = text_add(&receiver->text, "%s%*s@%s%s>", BEFORE_NAME, TEXT_HEX, "", near,
                              text_uri_transport(options->transport));
    contact->name =
        receiver->text.bytes + (contact->value.p - receiver->text.bytes) + sizeof BEFORE_NAME - 1;
}

static int prepare(struct receiver *receiver)
{
    const struct options *options = receiver->options;
    size_t text_size = TEXT_FOR_ALL + (size_t)options->ports * TEXT_A_PORT;
    receiver->call_count = options->window * CALLS_FACTOR;
    receiver->calls = calloc(receiver->call_count, sizeof *receiver->calls);
    receiver->contacts = calloc(options->ports, sizeof *receiver->contacts);
    if (receiver->calls == NULL || receiver->contacts == NULL ||
        text_arena_init(&receiver->text, text_size) < 0) {
        return fail("out of memory");
    }
    receiver->sdp = text_add_sdp(&receiver->text, &options->receiver);
    for (uint32_t i = 0; i < options->ports; i++) {
        prepare_contact(receiver, i);
    }
    return 0;
}

struct receiver *receiver_new(const struct options *options)
{
    struct receiver *receiver = calloc(1, sizeof *receiver);
    if (receiver == NULL) {
        fail("out of memory");
        return NULL;
    }
    receiver->options = options;
    receiver->free_call = NO_CALL;
    if (prepare(receiver) < 0) {
        receiver_free(receiver);
        return NULL;
    }
    return receiver;
}

void receiver_free(struct receiver *receiver)
{
    if (receiver == NULL) {
        return;
    }
    text_arena_free(&receiver->text);
    free(receiver->contacts);
    free(receiver->calls);
    free(receiver);
}

/* ---- Calls ---- */

/* NULL when all are taken. */
static struct call *take_call(struct receiver *receiver)
{
    struct call *call;
    if (receiver->free_call != NO_CALL) {
        call = &receiver->calls[receiver->free_call];
        receiver->free_call = call->next_free;
    } else if (receiver->fresh_call < receiver->call_count) {
        call = &receiver->calls[receiver->fresh_call++];
    } else {
        return NULL;
    }
    call->generation++;
    call->live = true;
    receiver->live_calls++;
    return call;
}

static void end_call(struct call *call)
{
    struct receiver *receiver = call->receiver;
    vd_timer_cancel(call->stack, &call->timer);
    call->live = false;
    call->next_free = receiver->free_call;
    receiver->free_call = (uint32_t)(call - receiver->calls);
    receiver->live_calls--;
}

/* The call whose name is the user part of the Request-URI; NULL when there is none. */
static struct call *find_call(struct receiver *receiver, struct vd_message *request)
{
    const struct vd_uri *uri;
    uint64_t name;
    if (vd_message_request_uri(request, &uri) != 0 || !text_parse_hex(uri->user, &name)) {
        return NULL;
    }
    uint32_t index = (uint32_t)name;
    if (index >= receiver->fresh_call) {
        return NULL;
    }
    struct call *call = &receiver->calls[index];
    return call->live && call->generation == (uint32_t)(name >> 32) ? call : NULL;
}

static uint64_t call_name(const struct receiver *receiver, const struct call *call)
{
    return (uint64_t)call->generation << 32 | (uint64_t)(call - receiver->calls);
}

static void arm(struct call *call, vd_time now)
{
    vd_time next = now + call->interval;
    vd_timer_arm(call->stack, &call->timer, next < call->give_up_at ? next : call->give_up_at);
}

/* The 2xx of a call was not acknowledged so far (RFC 3261 13.3.1.4). */
static void on_repeat(struct vd_timer *timer, vd_time now)
{
    struct call *call = (struct call *)(void *)timer;
    const struct receiver *receiver = call->receiver;
    if (now >= call->give_up_at || vd_response_resend(call->stack, call->invite, now) != 0) {
        call->receiver->count.timeouts++;
        end_call(call);
        return;
    }
    call->interval = 2 * call->interval < receiver->t2 ? 2 * call->interval : receiver->t2;
    arm(call, now);
}

/* Acknowledged, but no BYE: its sender has given up. */
static void on_silence(struct vd_timer *timer, vd_time now)
{
    (void)now;
    end_call((struct call *)(void *)timer);
}

/* ---- Responses ---- */

static int respond_to_register(struct vd_stack *stack, vd_transaction transaction,
                               const struct vd_message *request, vd_time now)
{
    struct vd_builder builder;
    int rc = vd_response_begin(stack, &builder, transaction, 200, vd_str(NULL, 0));
    if (rc != 0) {
        return rc;
    }
    /* The bindings as they are now (RFC 3261 10.3): none is kept, so those of the request are all.
     */
    const struct vd_header *contact = vd_message_header(request, VD_HEADER_CONTACT);
    for (; contact != NULL; contact = vd_message_header_next(request, contact)) {
        vd_build_header(&builder, VD_HEADER_CONTACT, contact->value);
    }
    return vd_response_send(stack, &builder, now);
}

/* One of the two responses that set up a dialog: both have a Contact (RFC 3261 12.1.1). */
static int respond_to_invite(const struct receiver *receiver, struct vd_stack *stack,
                             vd_transaction transaction, int status, struct vd_str contact,
                             vd_time now)
{
    struct vd_builder builder;
    int rc = vd_response_begin(stack, &builder, transaction, status, vd_str(NULL, 0));
    if (rc != 0) {
        return rc;
    }
    vd_build_header(&builder, VD_HEADER_CONTACT, contact);
    if (status == 200) {
        vd_build_header(&builder, VD_HEADER_ALLOW, VD_STR("INVITE, ACK, BYE, CANCEL"));
        vd_build_end(&builder, VD_STR("application/sdp"), receiver->sdp);
    }
    return vd_response_send(stack, &builder, now);
}

static int answer_invite(struct receiver *receiver, struct vd_stack *stack,
                         vd_transaction transaction, uint32_t endpoint, vd_time now)
{
    struct contact *contact = &receiver->contacts[endpoint];
    struct call *call = take_call(receiver);
    if (call == NULL) {
        return vd_respond(stack, transaction, 503, vd_str(NULL, 0), now);
    }
    vd_timer_init(&call->timer, on_repeat);
    call->receiver = receiver;
    call->stack = stack;
    call->invite = transaction;
    call->interval = receiver->t1;
    call->give_up_at = now + 64 * receiver->t1;
    text_hex(contact->name, call_name(receiver, call));
    int rc = respond_to_invite(receiver, stack, transaction, 180, contact->value, now);
    if (rc == 0) {
        rc = respond_to_invite(receiver, stack, transaction, 200, contact->value, now);
    }
    if (rc != 0) {
        end_call(call);
        return rc;
    }
    arm(call, now);
    return 0;
}

static int answer_bye(struct receiver *receiver, struct vd_stack *stack, vd_transaction transaction,
                      struct vd_message *request, vd_time now)
{
    struct call *call = find_call(receiver, request);
    if (call == NULL) {
        return vd_respond(stack, transaction, 481, vd_str(NULL, 0), now);
    }
    end_call(call);
    return vd_respond(stack, transaction, 200, vd_str(NULL, 0), now);
}

/* The 200 to an OPTIONS (RFC 3261 11.2), and the 405 to what is not allowed (21.4.6). */
static int tell_methods(struct vd_stack *stack, vd_transaction transaction, int status, vd_time now)
{
    struct vd_builder builder;
    int rc = vd_response_begin(stack, &builder, transaction, status, vd_str(NULL, 0));
    if (rc != 0) {
        return rc;
    }
    vd_build_header(&builder, VD_HEADER_ALLOW,
                    VD_STR("REGISTER, OPTIONS, INVITE, ACK, BYE, CANCEL"));
    if (status == 200) {
        vd_build_header(&builder, VD_HEADER_ACCEPT, VD_STR("application/sdp"));
    }
    return vd_response_send(stack, &builder, now);
}

static void count_request(struct receiver_count *count, enum vd_method method, vd_time now)
{
    if (count->requests == 0) {
        count->first_at = now;
    }
    count->last_at = now;
    count->requests++;
    count->calls += method == VD_METHOD_INVITE;
}

static void on_request(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context)
{
    struct receiver *receiver = context;
    vd_time now = vd_stack_now(stack);
    int rc;
    switch (request->method_id) {
    case VD_METHOD_REGISTER:
        rc = respond_to_register(stack, transaction, request, now);
        break;
    case VD_METHOD_INVITE:
        rc = answer_invite(receiver, stack, transaction, flow->endpoint, now);
        break;
    case VD_METHOD_BYE:
        rc = answer_bye(receiver, stack, transaction, request, now);
        break;
    case VD_METHOD_OPTIONS:
        rc = tell_methods(stack, transaction, 200, now);
        break;
    default:
        rc = tell_methods(stack, transaction, 405, now);
        break;
    }
    count_request(&receiver->count, request->method_id, now);
    if (rc != 0) {
        receiver->error = rc;
    }
}

static void on_ack(struct vd_stack *stack, vd_transaction transaction, struct vd_message *ack,
                   const struct vd_flow *flow, void *context)
{
    struct receiver *receiver = context;
    struct call *call = find_call(receiver, ack);
    (void)transaction;
    (void)flow;
    if (call == NULL || call->timer.fire == on_silence) {
        return;
    }
    vd_timer_cancel(stack, &call->timer);
    vd_timer_init(&call->timer, on_silence);
    vd_timer_arm(stack, &call->timer, vd_stack_now(stack) + 64 * receiver->t1);
}

void receiver_configure(struct receiver *receiver, struct vd_stack_config *config)
{
    receiver->t1 = config->t1;
    receiver->t2 = config->t2;
    config->callbacks.on_request = on_request;
    config->callbacks.on_ack = on_ack;
    config->context = receiver;
}

void receiver_stop(struct receiver *receiver)
{
    for (uint32_t i = 0; i < receiver->fresh_call; i++) {
        if (receiver->calls[i].live) {
            end_call(&receiver->calls[i]);
        }
    }
}

uint32_t receiver_calls(const struct receiver *receiver)
{
    return receiver->live_calls;
}

const struct receiver_count *receiver_count(const struct receiver *receiver)
{
    return &receiver->count;
}

int receiver_error(const struct receiver *receiver)
{
    return receiver->error;
}
