/* sender.c - makes registrations, queries or calls, a window of them at a time.
 *
 * A registration is a REGISTER (RFC 3261 10.2) and its final response, a query an OPTIONS (11) and
 * its final response. A call is an INVITE with an
 * offer, its 2xx, the ACK and a BYE with its final response (RFC 3261 13.2, 15.1). ACK and BYE are
 * built from the 2xx alone, so a 2xx that comes again long after its call has ended is acknowledged
 * as well (13.2.2.4).
 *
 * An INVITE that has had a provisional response waits for its final one without end (17.1.1.2).
 * When every copy of the 2xx was lost, none comes, so it is cancelled after 64*T1 (9.1).
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "sender.h"

#include "fail.h"
#include "text.h"

#include <viaduct/timer.h>
#include <viaduct/transaction.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

enum {
    MAX_FORWARDS = 70,
    EXPIRES = 3600,
    RANDOM_NUMBERS = 512,  /* fetched from the system at a time */
    TEXT_A_PORT = 512,     /* more than the text of a pair of ports ever is */
    TEXT_FOR_ALL = 1024,   /* the same for what all ports share */
    HOPELESS_AT_LEAST = 4, /* failures in a row */
};

#define NO_SLOT UINT32_MAX

/* A pair of ports and what each request between them says. */
struct port {
    struct vd_flow flow;
    struct vd_str request_uri;
    struct vd_str from; /* ends with the tag, which is overwritten for each exchange */
    struct vd_str to;
    struct vd_str contact;
    char *tag;
};

/* An exchange that is outstanding; it is the user pointer of its transactions. */
struct slot {
    struct vd_timer
        patience; /* of an INVITE that rings; first, so that its address is the slot's */
    struct sender *sender;
    vd_transaction transaction; /* the one that takes it on; 0 when the slot is free */
    vd_time began_at;           /* that transaction */
    uint32_t next_free;
};

struct sender {
    const struct options *options;
    struct vd_stack *stack; /* set with the first exchange */
    struct port *ports;
    struct slot *slots;
    struct text_arena text;
    struct vd_str sdp;
    struct vd_str user_agent;
    struct vd_str call_id; /* ends with the number, which is overwritten for each exchange */
    char *call_number;
    uint64_t calls; /* how many Call-IDs were given out */

    uint32_t slot_count;
    uint32_t fresh_slot; /* slots from here on were never used */
    uint32_t free_slot;
    uint32_t next_port;
    uint32_t outstanding;
    uint64_t failed_in_row;
    vd_time patience;
    int error;

    bool begun;
    enum sender_phase phase;
    vd_time phase_began_at;
    struct sender_count count;

    unsigned random_left;
    uint64_t random[RANDOM_NUMBERS];
};

/* ---- Making and freeing ---- */

static void prepare_port(struct sender *sender, uint32_t index)
{
    const struct options *options = sender->options;
    struct port *port = &sender->ports[index];
    char near[VD_ADDR_TEXT_SIZE];
    char far[VD_ADDR_TEXT_SIZE];
    const char *via = text_uri_transport(options->transport);
    struct vd_addr local = options_port(&options->sender, index);
    port->flow.endpoint = index;
    port->flow.remote = options_port(&options->receiver, index);
    vd_addr_format(&local, near);
    vd_addr_format(&port->flow.remote, far);
    switch (options->method) {
    case METHOD_INVITE:
        port->request_uri = text_add(&sender->text, "sip:callee@%s%s", far, via);
        port->to = text_add(&sender->text, "<sip:callee@%s>", far);
        port->from = text_add(&sender->text, "<sip:caller@%s>;tag=%*s", near, TEXT_HEX, "");
        port->contact = text_add(&sender->text, "<sip:caller@%s%s>", near, via);
        break;
    case METHOD_OPTIONS:
        port->request_uri = text_add(&sender->text, "sip:%s%s", far, via);
        port->to = text_add(&sender->text, "<sip:%s>", far);
        port->from = text_add(&sender->text, "<sip:caller@%s>;tag=%*s", near, TEXT_HEX, "");
        port->contact = text_add(&sender->text, "<sip:caller@%s%s>", near, via);
        break;
    case METHOD_REGISTER:
        /* The Request-URI of a REGISTER names no user (RFC 3261 10.2). */
        port->request_uri = text_add(&sender->text, "sip:%s%s", far, via);
        port->to = text_add(&sender->text, "<sip:caller@%s>", far);
        port->from = text_add(&sender->text, "<sip:caller@%s>;tag=%*s", far, TEXT_HEX, "");
        port->contact = text_add(&sender->text, "<sip:caller@%s%s>;expires=%d", near, via, EXPIRES);
        break;
    }
    port->tag = sender->text.bytes + (port->from.p - sender->text.bytes) + port->from.n - TEXT_HEX;
}

static int fetch_random(struct sender *sender)
{
    char *bytes = (char *)sender->random;
    size_t size = 0;
    while (size < sizeof sender->random) {
        ssize_t got = getrandom(bytes + size, sizeof sender->random - size, 0);
        if (got < 0 && errno != EINTR) {
            return VD_ERR_SYSTEM;
        }
        size += got > 0 ? (size_t)got : 0;
    }
    sender->random_left = RANDOM_NUMBERS;
    return 0;
}

static int prepare(struct sender *sender)
{
    const struct options *options = sender->options;
    size_t text_size = TEXT_FOR_ALL + (size_t)options->ports * TEXT_A_PORT;
    sender->slot_count = options->window;
    if (options->duration == 0 && options->warmup == 0 && options->runs < options->window) {
        sender->slot_count = options->runs > 0 ? (uint32_t)options->runs : 1;
    }
    sender->slots = calloc(sender->slot_count, sizeof *sender->slots);
    sender->ports = calloc(options->ports, sizeof *sender->ports);
    if (sender->slots == NULL || sender->ports == NULL ||
        text_arena_init(&sender->text, text_size) < 0) {
        return fail("out of memory");
    }
    if (fetch_random(sender) != 0) {
        return fail("the system gives no random numbers");
    }
    char prefix[TEXT_HEX];
    text_hex(prefix, sender->random[--sender->random_left]);
    sender->call_id = text_add(&sender->text, "%.*s-%*s", TEXT_HEX, prefix, TEXT_HEX, "");
    sender->call_number = sender->text.bytes + (sender->call_id.p - sender->text.bytes) +
                          sender->call_id.n - TEXT_HEX;
    sender->user_agent = text_add(&sender->text, "testStack/%s", vd_version());
    sender->sdp = text_add_sdp(&sender->text, &options->sender);
    for (uint32_t i = 0; i < options->ports; i++) {
        prepare_port(sender, i);
    }
    return 0;
}

struct sender *sender_new(const struct options *options)
{
    struct sender *sender = calloc(1, sizeof *sender);
    if (sender == NULL) {
        fail("out of memory");
        return NULL;
    }
    sender->options = options;
    sender->free_slot = NO_SLOT;
    if (prepare(sender) < 0) {
        sender_free(sender);
        return NULL;
    }
    return sender;
}

void sender_free(struct sender *sender)
{
    if (sender == NULL) {
        return;
    }
    text_arena_free(&sender->text);
    free(sender->ports);
    free(sender->slots);
    free(sender);
}

/* ---- Requests ---- */

/* What the requests that begin an exchange have in common. */
static int write_request(struct sender *sender, struct vd_stack *stack, struct vd_builder *builder,
                         struct vd_str method, const struct port *port)
{
    int rc = vd_request_begin(stack, builder, method, port->request_uri, &port->flow);
    if (rc != 0) {
        return rc;
    }
    vd_build_number(builder, VD_HEADER_MAX_FORWARDS, MAX_FORWARDS);
    vd_build_header(builder, VD_HEADER_FROM, port->from);
    vd_build_header(builder, VD_HEADER_TO, port->to);
    vd_build_header(builder, VD_HEADER_CALL_ID, sender->call_id);
    vd_build_cseq(builder, 1, method);
    vd_build_header(builder, VD_HEADER_CONTACT, port->contact);
    return 0;
}

static int send_register(struct sender *sender, struct vd_stack *stack, struct slot *slot,
                         const struct port *port, vd_time now)
{
    struct vd_builder builder;
    int rc = write_request(sender, stack, &builder, VD_STR("REGISTER"), port);
    if (rc != 0) {
        return rc;
    }
    vd_build_number(&builder, VD_HEADER_EXPIRES, EXPIRES);
    vd_build_header(&builder, VD_HEADER_USER_AGENT, sender->user_agent);
    return vd_request_send(stack, &builder, slot, now, &slot->transaction);
}

static int send_options(struct sender *sender, struct vd_stack *stack, struct slot *slot,
                        const struct port *port, vd_time now)
{
    struct vd_builder builder;
    int rc = write_request(sender, stack, &builder, VD_STR("OPTIONS"), port);
    if (rc != 0) {
        return rc;
    }
    vd_build_header(&builder, VD_HEADER_ACCEPT, VD_STR("application/sdp"));
    vd_build_header(&builder, VD_HEADER_USER_AGENT, sender->user_agent);
    return vd_request_send(stack, &builder, slot, now, &slot->transaction);
}

static int send_invite(struct sender *sender, struct vd_stack *stack, struct slot *slot,
                       const struct port *port, vd_time now)
{
    struct vd_builder builder;
    int rc = write_request(sender, stack, &builder, VD_STR("INVITE"), port);
    if (rc != 0) {
        return rc;
    }
    vd_build_header(&builder, VD_HEADER_ALLOW, VD_STR("INVITE, ACK, BYE, CANCEL"));
    vd_build_header(&builder, VD_HEADER_USER_AGENT, sender->user_agent);
    vd_build_end(&builder, VD_STR("application/sdp"), sender->sdp);
    return vd_request_send(stack, &builder, slot, now, &slot->transaction);
}

/* Where a request in the dialog of a 2xx goes: it leaves by the port that the INVITE left by, which
 * the Via that came back tells, for the address in the remote target. */
static int dialog_flow(const struct sender *sender, struct vd_message *response,
                       const struct vd_uri *target, struct vd_flow *flow)
{
    const struct vd_via *via;
    int rc = vd_message_top_via(response, &via);
    if (rc != 0) {
        return rc;
    }
    uint32_t endpoint = (uint32_t)via->port - sender->options->sender.port;
    if (endpoint >= sender->options->ports) {
        return VD_ERR_MISMATCH;
    }
    flow->endpoint = endpoint;
    flow->connection = 0;
    uint16_t port = sender->options->transport == VD_TRANSPORT_TLS ? 5061 : 5060;
    return vd_addr_parse(target->host, target->port != 0 ? target->port : port, &flow->remote);
}

/* A request in the dialog that a 2xx has set up (RFC 3261 12.2.1.1): the remote target is the
 * Contact of the 2xx, the tags are those that it has. */
static int write_in_dialog(const struct sender *sender, struct vd_stack *stack,
                           struct vd_builder *builder, struct vd_message *response,
                           struct vd_str method, uint32_t sequence)
{
    const struct vd_nameaddr *contact;
    struct vd_flow flow;
    int rc = vd_message_contact(response, &contact);
    if (rc == 0) {
        rc = dialog_flow(sender, response, &contact->uri, &flow);
    }
    if (rc == 0) {
        rc = vd_request_begin(stack, builder, method, contact->uri.raw, &flow);
    }
    if (rc != 0) {
        return rc;
    }
    vd_build_number(builder, VD_HEADER_MAX_FORWARDS, MAX_FORWARDS);
    vd_build_header(builder, VD_HEADER_FROM, vd_message_header(response, VD_HEADER_FROM)->value);
    vd_build_header(builder, VD_HEADER_TO, vd_message_header(response, VD_HEADER_TO)->value);
    vd_build_header(builder, VD_HEADER_CALL_ID,
                    vd_message_header(response, VD_HEADER_CALL_ID)->value);
    vd_build_cseq(builder, sequence, method);
    return 0;
}

static int send_ack(const struct sender *sender, struct vd_stack *stack,
                    struct vd_message *response, vd_time now)
{
    struct vd_builder builder;
    int rc = write_in_dialog(sender, stack, &builder, response, VD_STR("ACK"), 1);
    return rc == 0 ? vd_ack_send(stack, &builder, now) : rc;
}

static int send_bye(const struct sender *sender, struct vd_stack *stack, struct slot *slot,
                    struct vd_message *response, vd_time now)
{
    struct vd_builder builder;
    int rc = write_in_dialog(sender, stack, &builder, response, VD_STR("BYE"), 2);
    return rc == 0 ? vd_request_send(stack, &builder, slot, now, &slot->transaction) : rc;
}

/* ---- Exchanges ---- */

/* The INVITE then fails after another 64*T1 without a final response. */
static void on_impatience(struct vd_timer *timer, vd_time now)
{
    const struct slot *slot = (const struct slot *)(void *)timer;
    int rc = vd_request_cancel(slot->sender->stack, slot->transaction, now);
    if (rc != 0) {
        slot->sender->error = rc;
    }
}

static struct slot *take_slot(struct sender *sender)
{
    struct slot *slot;
    if (sender->free_slot != NO_SLOT) {
        slot = &sender->slots[sender->free_slot];
        sender->free_slot = slot->next_free;
    } else {
        slot = &sender->slots[sender->fresh_slot++];
        slot->sender = sender;
        vd_timer_init(&slot->patience, on_impatience);
    }
    sender->outstanding++;
    return slot;
}

static void free_slot(struct sender *sender, struct slot *slot)
{
    vd_timer_cancel(sender->stack, &slot->patience);
    slot->transaction = 0;
    slot->next_free = sender->free_slot;
    sender->free_slot = (uint32_t)(slot - sender->slots);
    sender->outstanding--;
}

static void complete(struct sender *sender, struct slot *slot)
{
    sender->count.exchanges++;
    sender->failed_in_row = 0;
    free_slot(sender, slot);
}

static void give_up(struct sender *sender, struct slot *slot, bool timeout)
{
    sender->count.failures++;
    sender->count.timeouts += timeout;
    sender->failed_in_row++;
    free_slot(sender, slot);
}

static int send_first(struct sender *sender, struct vd_stack *stack, struct slot *slot,
                      const struct port *port, vd_time now)
{
    switch (sender->options->method) {
    case METHOD_INVITE:
        return send_invite(sender, stack, slot, port, now);
    case METHOD_OPTIONS:
        return send_options(sender, stack, slot, port, now);
    default:
        return send_register(sender, stack, slot, port, now);
    }
}

static int begin_exchange(struct sender *sender, struct vd_stack *stack, vd_time now)
{
    struct port *port = &sender->ports[sender->next_port];
    if (sender->random_left == 0 && fetch_random(sender) != 0) {
        return VD_ERR_SYSTEM;
    }
    text_hex(port->tag, sender->random[--sender->random_left]);
    text_hex(sender->call_number, ++sender->calls);
    if (++sender->next_port == sender->options->ports) {
        sender->next_port = 0;
    }
    struct slot *slot = take_slot(sender);
    slot->began_at = now;
    int rc = send_first(sender, stack, slot, port, now);
    if (rc != 0) {
        free_slot(sender, slot);
    }
    return rc;
}

static void on_ringing(struct sender *sender, struct vd_stack *stack, struct slot *slot,
                       vd_time now)
{
    if (!vd_timer_is_armed(&slot->patience)) {
        vd_timer_arm(stack, &slot->patience, now + sender->patience);
    }
}

static void on_answer(struct sender *sender, struct vd_stack *stack, struct slot *slot,
                      struct vd_message *response, vd_time now)
{
    vd_timer_cancel(stack, &slot->patience);
    int rc = send_ack(sender, stack, response, now);
    if (rc == 0) {
        slot->began_at = now;
        rc = send_bye(sender, stack, slot, response, now);
    }
    if (rc == VD_ERR_NOMEM || rc == VD_ERR_OVERLOAD) {
        sender->error = rc;
    }
    if (rc != 0) {
        give_up(sender, slot, false);
    }
}

static void on_response(struct vd_stack *stack, vd_transaction transaction,
                        struct vd_message *response, void *user, void *context)
{
    struct sender *sender = context;
    struct slot *slot = user;
    vd_time now = vd_stack_now(stack);
    const struct vd_cseq *cseq;
    if (vd_message_cseq(response, &cseq) != 0) {
        return;
    }
    bool is_invite = cseq->method_id == VD_METHOD_INVITE;
    bool is_answer = is_invite && response->status >= 200 && response->status < 300;
    if (slot->transaction != transaction) {
        /* The INVITE lingers for its retransmitted 2xx; the slot is another transaction's by now.
         */
        if (is_answer) {
            send_ack(sender, stack, response, now);
        }
        return;
    }
    if (response->status < 200) {
        if (is_invite) {
            on_ringing(sender, stack, slot, now);
        }
        return;
    }
    latency_add(&sender->count.latency, now - slot->began_at);
    if (is_answer) {
        on_answer(sender, stack, slot, response, now);
    } else if (response->status < 300) {
        complete(sender, slot);
    } else {
        give_up(sender, slot, false);
    }
}

static void on_failure(struct vd_stack *stack, vd_transaction transaction, int error, void *user,
                       void *context)
{
    struct slot *slot = user;
    (void)stack;
    if (slot != NULL && slot->transaction == transaction) {
        give_up(context, slot, error == VD_ERR_TIMEOUT || error == VD_ERR_CANCELLED);
    }
}

void sender_configure(struct sender *sender, struct vd_stack_config *config)
{
    sender->patience = 64 * config->t1;
    config->callbacks.on_response = on_response;
    config->callbacks.on_failure = on_failure;
    config->context = sender;
}

void sender_stop(struct sender *sender)
{
    for (uint32_t i = 0; i < sender->fresh_slot; i++) {
        vd_timer_cancel(sender->stack, &sender->slots[i].patience);
    }
}

/* ---- Phases ---- */

static void enter(struct sender *sender, enum sender_phase phase, vd_time now)
{
    sender->phase = phase;
    sender->phase_began_at = now;
    if (phase == SENDER_COUNTING) {
        sender->count.exchanges = 0;
        sender->count.failures = 0;
        sender->count.timeouts = 0;
        latency_reset(&sender->count.latency);
    }
}

static uint64_t ended(const struct sender *sender)
{
    return sender->count.exchanges + sender->count.failures;
}

static bool count_is_over(const struct sender *sender, vd_time now)
{
    const struct options *options = sender->options;
    return options->duration > 0 ? now - sender->phase_began_at >= options->duration
                                 : ended(sender) >= options->runs;
}

enum sender_phase sender_advance(struct sender *sender, vd_time now)
{
    if (!sender->begun) {
        sender->begun = true;
        enter(sender, SENDER_WARMING_UP, now);
    }
    if (sender->phase == SENDER_WARMING_UP &&
        now - sender->phase_began_at >= sender->options->warmup) {
        enter(sender, SENDER_COUNTING, now);
    }
    if (sender->phase == SENDER_COUNTING && count_is_over(sender, now)) {
        enter(sender, SENDER_DRAINING, now);
    }
    if (sender->phase == SENDER_DRAINING && sender->outstanding == 0) {
        enter(sender, SENDER_DONE, now);
    }
    return sender->phase;
}

static bool may_begin(const struct sender *sender)
{
    if (sender->outstanding >= sender->slot_count || sender->error != 0) {
        return false;
    }
    if (sender->phase != SENDER_COUNTING) {
        return sender->phase == SENDER_WARMING_UP;
    }
    return sender->options->duration > 0 ||
           ended(sender) + sender->outstanding < sender->options->runs;
}

void sender_fill(struct sender *sender, struct vd_stack *stack, vd_time now)
{
    sender->stack = stack;
    while (may_begin(sender)) {
        sender->error = begin_exchange(sender, stack, now);
    }
}

vd_time sender_deadline(const struct sender *sender)
{
    if (sender->phase == SENDER_WARMING_UP) {
        return sender->phase_began_at + sender->options->warmup;
    }
    if (sender->phase == SENDER_COUNTING && sender->options->duration > 0) {
        return sender->phase_began_at + sender->options->duration;
    }
    return VD_TIME_NEVER;
}

int sender_error(const struct sender *sender)
{
    return sender->error;
}

bool sender_is_hopeless(const struct sender *sender)
{
    uint64_t limit =
        sender->slot_count > HOPELESS_AT_LEAST ? sender->slot_count : HOPELESS_AT_LEAST;
    return sender->failed_in_row >= limit;
}

const struct sender_count *sender_count(const struct sender *sender)
{
    return &sender->count;
}
