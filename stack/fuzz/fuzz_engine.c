/* fuzz_engine.c - two engines that talk to each other, while the input says what happens.
 *
 * The input is a program: each byte is an operation, the bytes behind it are its operands, and what
 * the applications do in their callbacks. Messages are mostly made from templates or are those that
 * the engines themselves have sent, with bytes changed here and there, so that they get far.
 *
 * Checked, besides what the sanitizers see: that memory stays below a bound, that everything ends
 * once the applications have answered and cancelled, that no timer is left, that all memory comes
 * back.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

#include <viaduct/frame.h>

#include <stdio.h>
#include <stdlib.h>

#define SIDES        2
#define ENDPOINTS    2 /* UDP, TCP */
#define HANDLES      128
#define TRANSACTIONS 24 /* at once, of each side of an engine */
#define KEPT         8
#define MESSAGE_SIZE 4096
#define MEMORY_BOUND ((size_t)8 << 20)

struct side {
    struct vd_stack *stack;
    struct fuzz *fuzz;
    vd_transaction handles[HANDLES]; /* of both kinds; those that have ended make room */
    char kept[KEPT][MESSAGE_SIZE];   /* what it sent */
    size_t kept_sizes[KEPT];
    unsigned sent;
    unsigned delivered;
    struct vd_framer framer;
    char stream[MESSAGE_SIZE];
    size_t stream_size;
    struct vd_timer timer;
};

struct fuzz {
    const uint8_t *data;
    size_t size;
    vd_time now;
    size_t memory;
    int send_error;
    struct side sides[SIDES];
};

static void check(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void *allocate(size_t size, void *context)
{
    struct fuzz *fuzz = context;
    fuzz->memory += size;
    check(fuzz->memory < MEMORY_BOUND);
    return malloc(size);
}

static void release(void *p, size_t size, void *context)
{
    struct fuzz *fuzz = context;
    fuzz->memory -= size;
    free(p);
}

/* Operands. When the input is over they are 0. */

static unsigned take(struct fuzz *fuzz)
{
    if (fuzz->size == 0) {
        return 0;
    }
    fuzz->size--;
    return *fuzz->data++;
}

static struct vd_str take_text(struct fuzz *fuzz)
{
    size_t n = take(fuzz);
    n = n < fuzz->size ? n : fuzz->size;
    struct vd_str text = vd_str((const char *)fuzz->data, n);
    fuzz->data += n;
    fuzz->size -= n;
    return text;
}

static struct side *take_side(struct fuzz *fuzz)
{
    return &fuzz->sides[take(fuzz) % SIDES];
}

static vd_transaction take_handle(struct fuzz *fuzz, const struct side *side)
{
    return side->handles[take(fuzz) % HANDLES];
}

static struct vd_flow flow_to(const struct side *from, uint32_t endpoint)
{
    uint8_t number = from == &from->fuzz->sides[0] ? 2 : 1;
    return (struct vd_flow){
        .endpoint = endpoint,
        .connection = endpoint,
        .remote = {.family = VD_FAMILY_IP4, .port = 5060, .ip = {192, 0, 2, number}},
    };
}

static void remember(struct side *side, vd_transaction transaction)
{
    for (unsigned i = 0; i < HANDLES; i++) {
        if (vd_transaction_state(side->stack, side->handles[i]) == VD_TRANSACTION_TERMINATED) {
            side->handles[i] = transaction;
            return;
        }
    }
    check(false);
}

/* The applications. */

static void send_request(struct side *side)
{
    static const char *const methods[] = {"INVITE", "OPTIONS", "BYE", "ACK", "CANCEL", "NEW"};
    struct fuzz *fuzz = side->fuzz;
    struct vd_builder builder;
    unsigned what = take(fuzz);
    struct vd_str method = vd_str_from(methods[what % 6]);
    struct vd_flow flow = flow_to(side, (what >> 3) % ENDPOINTS);
    struct vd_str uri = VD_STR("sip:b@192.0.2.2");
    if ((what & 0x40) != 0) {
        uri = take_text(fuzz);
    }
    vd_request_begin(side->stack, &builder, method, uri, &flow);
    vd_build_header(&builder, VD_HEADER_FROM, VD_STR("<sip:a@192.0.2.1>;tag=a"));
    vd_build_header(&builder, VD_HEADER_TO, VD_STR("<sip:b@192.0.2.2>"));
    vd_build_header(&builder, VD_HEADER_CALL_ID, VD_STR("fuzz"));
    vd_build_cseq(&builder, what, method);
    vd_build_number(&builder, VD_HEADER_MAX_FORWARDS, 70);
    if ((what & 0x80) != 0) {
        vd_build_header(&builder, VD_HEADER_ROUTE, take_text(fuzz));
        vd_build_end(&builder, VD_STR("text/plain"), take_text(fuzz));
    }
    if (what % 6 == 3) {
        vd_ack_send(side->stack, &builder, fuzz->now);
    } else if (what == 0xfe) {
        vd_request_abort(side->stack, &builder);
    } else {
        vd_transaction name = 0;
        if (vd_request_send(side->stack, &builder, side, fuzz->now, &name) == 0) {
            remember(side, name);
        }
    }
}

static void respond(struct side *side, vd_transaction transaction)
{
    static const int statuses[] = {100, 180, 199, 200, 299, 302, 408, 486, 503, 699};
    struct fuzz *fuzz = side->fuzz;
    struct vd_builder builder;
    unsigned what = take(fuzz);
    int status = statuses[what % 10];
    if (what < 128) {
        vd_respond(side->stack, transaction, status, vd_str(NULL, 0), fuzz->now);
        return;
    }
    struct vd_str reason = take_text(fuzz);
    int rc = vd_response_begin(side->stack, &builder, transaction, status, reason);
    vd_build_header_named(&builder, take_text(fuzz), take_text(fuzz));
    if (what > 250 && rc == 0) {
        vd_response_abort(side->stack, &builder);
    } else {
        vd_response_send(side->stack, &builder, fuzz->now);
    }
}

/* What an application does in a callback. */
static void act(struct side *side, vd_transaction transaction)
{
    switch (take(side->fuzz) % 8) {
    case 0:
    case 1:
        respond(side, transaction);
        break;
    case 2:
        respond(side, transaction);
        respond(side, transaction);
        break;
    case 3:
        vd_request_cancel(side->stack, transaction, side->fuzz->now);
        break;
    case 4:
        send_request(side);
        break;
    case 5:
        vd_timer_arm(side->stack, &side->timer, side->fuzz->now + take(side->fuzz) * VD_SEC / 8);
        break;
    default:
        break;
    }
}

static void on_timer(struct vd_timer *timer, vd_time now)
{
    struct side *side = (struct side *)(void *)((char *)timer - offsetof(struct side, timer));
    (void)now;
    act(side, take_handle(side->fuzz, side));
}

static void on_request(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context)
{
    const struct vd_uri *uri;
    const struct vd_nameaddr *contact;
    (void)stack;
    (void)flow;
    vd_message_request_uri(request, &uri);
    vd_message_contact(request, &contact);
    remember(context, transaction);
    act(context, transaction);
}

static void on_ack(struct vd_stack *stack, vd_transaction transaction, struct vd_message *ack,
                   const struct vd_flow *flow, void *context)
{
    (void)stack;
    (void)ack;
    (void)flow;
    act(context, transaction);
}

static void on_message(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *message, void *user, void *context)
{
    (void)stack;
    (void)user;
    check(message->header_count > 0);
    act(context, transaction);
}

static void on_failure(struct vd_stack *stack, vd_transaction transaction, int error, void *user,
                       void *context)
{
    (void)stack;
    (void)user;
    check(error < 0);
    act(context, transaction);
}

static void on_terminated(struct vd_stack *stack, vd_transaction transaction, void *user,
                          void *context)
{
    (void)user;
    check(vd_transaction_state(stack, transaction) == VD_TRANSACTION_TERMINATED);
    act(context, transaction);
}

/* What arrives. */

/* Each copy is a block of its own, so that reading past its end is seen. */
static void receive(struct side *side, uint32_t endpoint, const char *bytes, size_t size)
{
    struct vd_flow flow = flow_to(side, endpoint);
    char *copy = malloc(size > 0 ? size : 1);
    check(copy != NULL);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    if (endpoint == 0) {
        vd_stack_receive(side->stack, &flow, copy, size, side->fuzz->now);
    } else {
        struct vd_header headers[16];
        struct vd_message message;
        vd_message_init(&message, headers, 16);
        int rc = vd_message_parse(&message, copy, size, VD_FRAMING_STREAM, NULL);
        if (rc > 0) {
            vd_stack_receive_message(side->stack, &flow, &message, side->fuzz->now);
        } else {
            vd_stack_receive_fault(side->stack, &flow, rc, &message, side->fuzz->now);
        }
    }
    free(copy);
}

/* Changes up to three bytes, or none. */
static void mutate(struct fuzz *fuzz, char *text, size_t size)
{
    for (unsigned n = take(fuzz) % 4; n > 0 && size > 0; n--) {
        size_t position = take(fuzz);
        position = (position << 8 | take(fuzz)) % size;
        text[position] = (char)take(fuzz);
    }
}

static void receive_template(struct fuzz *fuzz)
{
    static const char *const methods[] = {"INVITE", "ACK", "CANCEL", "OPTIONS", "NEW"};
    struct side *side = take_side(fuzz);
    unsigned what = take(fuzz);
    unsigned number = take(fuzz);
    const char *method = methods[what % 5];
    char text[512];
    int n = snprintf(text, sizeof text,
                     "%s sip:b@192.0.2.2 SIP/2.0\r\n"
                     "Via: SIP/2.0/UDP 192.0.2.1%s;branch=%s%u%s\r\n"
                     "From: <sip:a@192.0.2.1>%s\r\nTo: <sip:b@192.0.2.2>\r\n"
                     "Call-ID: %u\r\nCSeq: 1 %s\r\n\r\n",
                     method, (what & 0x10) != 0 ? ":5070" : "", (what & 0x20) != 0 ? "" : "z9hG4bK",
                     number % 8, (what & 0x40) != 0 ? ";rport" : "",
                     (what & 0x80) != 0 ? "" : ";tag=x", number % 8, method);
    mutate(fuzz, text, (size_t)n);
    receive(side, (what >> 3) % ENDPOINTS, text, (size_t)n);
}

/* A response to the latest request that a side sent: its header fields after a status line. */
static void receive_response(struct fuzz *fuzz)
{
    struct side *side = take_side(fuzz);
    const char *request = side->kept[(side->sent - 1) % KEPT];
    const char *line = side->sent > 0 ? strstr(request, "\r\n") : NULL;
    char text[MESSAGE_SIZE + 32];
    if (line == NULL || strncmp(request, "SIP/", 4) == 0) {
        return;
    }
    unsigned what = take(fuzz);
    int n = snprintf(text, sizeof text, "SIP/2.0 %u x%s", 100 + (what & 0x7f) * 5, line);
    mutate(fuzz, text, (size_t)n);
    receive(side, what >> 7, text, (size_t)n);
}

/* A message of the other side arrives: the next one in order, or any of the last few again. */
static void receive_kept(struct fuzz *fuzz)
{
    struct side *side = take_side(fuzz);
    struct side *from = &fuzz->sides[side == &fuzz->sides[0]];
    unsigned what = take(fuzz);
    unsigned number = from->delivered;
    if ((what & 1) == 0) {
        number = what >> 4;
    } else if (from->delivered < from->sent) {
        from->delivered++;
    }
    char text[MESSAGE_SIZE];
    size_t size = from->kept_sizes[number % KEPT];
    memcpy(text, from->kept[number % KEPT], size);
    if ((what & 2) != 0) {
        mutate(fuzz, text, size);
    }
    receive(side, (what >> 2) % ENDPOINTS, text, size);
}

static void receive_stream(struct fuzz *fuzz)
{
    struct side *side = take_side(fuzz);
    struct vd_str bytes = take_text(fuzz);
    struct vd_flow flow = flow_to(side, 1);
    struct vd_frame frame = {VD_FRAME_NONE, 0};
    struct vd_header headers[16];
    struct vd_message message;
    int rc = 0;
    if (bytes.n > sizeof side->stream - side->stream_size) {
        side->stream_size = 0;
        vd_framer_init(&side->framer);
    }
    if (bytes.n > 0) {
        memcpy(side->stream + side->stream_size, bytes.p, bytes.n);
        side->stream_size += bytes.n;
    }
    vd_message_init(&message, headers, 16);
    do {
        rc = vd_framer_next(&side->framer, side->stream, side->stream_size, NULL, &message, &frame);
        check(frame.consumed <= side->stream_size && (rc == 0 || frame.consumed == 0));
        if (frame.kind == VD_FRAME_MESSAGE) {
            vd_stack_receive_message(side->stack, &flow, &message, fuzz->now);
        }
        side->stream_size -= frame.consumed;
        memmove(side->stream, side->stream + frame.consumed, side->stream_size);
    } while (rc == 0 && frame.kind != VD_FRAME_NONE);
    if (rc != 0) {
        vd_stack_receive_fault(side->stack, &flow, rc, &message, fuzz->now);
        vd_stack_flow_closed(side->stack, &flow, VD_ERR_TRANSPORT, fuzz->now);
        side->stream_size = 0;
        vd_framer_init(&side->framer);
    }
}

static void receive_error(struct fuzz *fuzz)
{
    struct side *side = take_side(fuzz);
    unsigned what = take(fuzz);
    struct vd_flow flow = flow_to(side, what % ENDPOINTS);
    char text[MESSAGE_SIZE];
    unsigned number = (what >> 1) % KEPT;
    size_t size = side->kept_sizes[number];
    memcpy(text, side->kept[number], size);
    size = (what & 0x40) != 0 && size > 0 ? take(fuzz) * 2 % size : size;
    mutate(fuzz, text, size);
    if ((what & 0x80) != 0) {
        vd_stack_flow_closed(side->stack, &flow, VD_ERR_TRANSPORT, fuzz->now);
    } else {
        vd_stack_icmp_error(side->stack, &flow, text, size, VD_ERR_REFUSED, fuzz->now);
    }
}

/* Pulls what the engines send, keeps it for later, or lets it fail. */
static void pump(struct fuzz *fuzz)
{
    struct vd_send send;
    for (unsigned i = 0; i < SIDES; i++) {
        struct side *side = &fuzz->sides[i];
        while (vd_stack_poll_send(side->stack, &send, 1) == 1) {
            unsigned slot = side->sent++ % KEPT;
            size_t size = send.size < MESSAGE_SIZE - 1 ? send.size : MESSAGE_SIZE - 1;
            memcpy(side->kept[slot], send.data, size);
            side->kept[slot][size] = '\0';
            side->kept_sizes[slot] = size;
            if (fuzz->send_error != 0) {
                vd_stack_send_failed(side->stack, &send, fuzz->send_error, fuzz->now);
                fuzz->send_error = 0;
            } else {
                vd_stack_send_done(side->stack, &send);
            }
        }
    }
}

static void expire(struct fuzz *fuzz)
{
    for (unsigned i = 0; i < SIDES; i++) {
        vd_stack_expire(fuzz->sides[i].stack, fuzz->now);
    }
}

static void step(struct fuzz *fuzz)
{
    struct side *side;
    unsigned operation = take(fuzz);
    switch (operation % 12) {
    case 0:
        fuzz->now += (vd_time)take(fuzz) * 50 * VD_MSEC << (operation >= 128 ? 4 : 0);
        expire(fuzz);
        break;
    case 1:
        send_request(take_side(fuzz));
        break;
    case 2:
        receive_template(fuzz);
        break;
    case 3:
        receive_kept(fuzz);
        break;
    case 4:
        receive_response(fuzz);
        break;
    case 5:
        side = take_side(fuzz);
        respond(side, take_handle(fuzz, side));
        break;
    case 6:
        side = take_side(fuzz);
        vd_request_cancel(side->stack, take_handle(fuzz, side), fuzz->now);
        break;
    case 7:
        receive_error(fuzz);
        break;
    case 8:
        receive_stream(fuzz);
        break;
    case 9:
        fuzz->send_error = VD_ERR_UNREACHABLE;
        break;
    case 10:
        side = take_side(fuzz);
        vd_response_resend(side->stack, take_handle(fuzz, side), fuzz->now);
        break;
    default: {
        side = take_side(fuzz);
        struct vd_str bytes = take_text(fuzz);
        receive(side, 0, bytes.p, bytes.n);
        break;
    }
    }
    pump(fuzz);
}

static int fill(void *out, size_t size, void *context)
{
    (void)context;
    memset(out, 7, size);
    return 0;
}

static void start(struct fuzz *fuzz, unsigned number, const struct vd_mem *mem)
{
    struct side *side = &fuzz->sides[number];
    struct vd_stack_config config;
    struct vd_str sent_by = number == 0 ? VD_STR("192.0.2.1") : VD_STR("192.0.2.2");
    uint32_t endpoint;
    vd_stack_config_init(&config);
    config.mem = mem;
    config.random = fill;
    config.context = side;
    config.max_client_transactions = TRANSACTIONS;
    config.max_server_transactions = TRANSACTIONS;
    config.max_pending_requests = TRANSACTIONS - 4;
    config.worker = (uint8_t)number;
    config.callbacks = (struct vd_stack_callbacks){
        .on_request = on_request,
        .on_ack = on_ack,
        .on_cancel = on_message,
        .on_response = on_message,
        .on_failure = on_failure,
        .on_terminated = on_terminated,
    };
    side->fuzz = fuzz;
    vd_timer_init(&side->timer, on_timer);
    check(vd_stack_new(&side->stack, &config) == 0);
    check(vd_stack_add_endpoint(side->stack, VD_TRANSPORT_UDP, sent_by, &endpoint) == 0);
    check(vd_stack_add_endpoint(side->stack, VD_TRANSPORT_TCP, sent_by, &endpoint) == 0);
}

/* The applications answer and cancel all that there is. */
static void close_all(struct fuzz *fuzz)
{
    for (unsigned i = 0; i < SIDES; i++) {
        struct side *side = &fuzz->sides[i];
        for (unsigned n = 0; n < HANDLES; n++) {
            vd_respond(side->stack, side->handles[n], 500, vd_str(NULL, 0), fuzz->now);
            vd_request_cancel(side->stack, side->handles[n], fuzz->now);
        }
        vd_timer_cancel(side->stack, &side->timer);
    }
    pump(fuzz);
}

/* Time passes until no timer is left. */
static void run_out(struct fuzz *fuzz)
{
    for (unsigned steps = 0;; steps++) {
        vd_time first = vd_stack_next_deadline(fuzz->sides[0].stack);
        vd_time second = vd_stack_next_deadline(fuzz->sides[1].stack);
        vd_time next = first < second ? first : second;
        if (next == VD_TIME_NEVER) {
            return;
        }
        check(steps < 10000);
        fuzz->now = next > fuzz->now ? next : fuzz->now;
        expire(fuzz);
        pump(fuzz);
    }
}

static void finish(struct fuzz *fuzz)
{
    /* Twice: the first time there may be too many transactions for a CANCEL. */
    close_all(fuzz);
    run_out(fuzz);
    close_all(fuzz);
    run_out(fuzz);
    for (unsigned i = 0; i < SIDES; i++) {
        struct vd_stack *stack = fuzz->sides[i].stack;
        check(stack->transactions.used == 0 && stack->actives.used == 0);
        check(stack->table.count == 0 && stack->pending_requests == 0);
        vd_stack_free(stack);
    }
    check(fuzz->memory == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz fuzz;
    memset(&fuzz, 0, sizeof fuzz);
    fuzz.data = data;
    fuzz.size = size;
    fuzz.now = VD_SEC;
    const struct vd_mem mem = {.allocate = allocate, .release = release, .context = &fuzz};
    start(&fuzz, 0, &mem);
    start(&fuzz, 1, &mem);
    while (fuzz.size > 0) {
        step(&fuzz);
    }
    finish(&fuzz);
    return 0;
}
