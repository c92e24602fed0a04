/* pair.c - two stacks, joined without loss or delay.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>

#define PAIR_HEADERS 32

static void note_error(struct pair *pair, int error)
{
    if (error != 0) {
        pair->error = error;
    }
    pair->out_of_memory += error == VD_ERR_NOMEM;
}

static void on_log(const struct vd_log_event *event, void *context)
{
    struct pair *pair = context;
    pair->out_of_memory += event->error == VD_ERR_NOMEM;
}

static struct vd_flow flow_of(enum pair_side to, enum pair_endpoint endpoint)
{
    struct vd_flow flow = {
        .endpoint = endpoint,
        .connection = endpoint == PAIR_TCP ? 1 : 0,
        .remote = {.family = VD_FAMILY_IP4, .port = 5060, .ip = {192, 0, 2, (uint8_t)(to + 1)}},
    };
    return flow;
}

static void write_fields(struct vd_builder *builder, unsigned serial, struct vd_str method)
{
    char call_id[32];
    int n = snprintf(call_id, sizeof call_id, "%u@192.0.2.1", serial);
    vd_build_nameaddr(builder, VD_HEADER_FROM, VD_STR("A"), VD_STR("sip:a@192.0.2.1"), VD_STR("a"));
    vd_build_nameaddr(builder, VD_HEADER_TO, vd_str(NULL, 0), VD_STR("sip:b@192.0.2.2"),
                      vd_str(NULL, 0));
    vd_build_header(builder, VD_HEADER_CALL_ID, vd_str(call_id, (size_t)n));
    vd_build_cseq(builder, serial, method);
    vd_build_number(builder, VD_HEADER_MAX_FORWARDS, 70);
    vd_build_header(builder, VD_HEADER_CONTACT, VD_STR("<sip:a@192.0.2.1>"));
}

static void on_request(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context)
{
    struct pair *pair = context;
    struct vd_str user = vd_str(request->request_uri.p + 4, request->request_uri.n - 4);
    (void)flow;
    pair->requests++;
    pair->server = transaction;
    if (user.n >= 3 && user.p[0] >= '1' && user.p[0] <= '6') {
        int status = (int)strtol(user.p, NULL, 10);
        note_error(pair, vd_respond(stack, transaction, status, vd_str(NULL, 0), pair->now));
    } else if (request->method_id == VD_METHOD_INVITE) {
        note_error(pair, vd_respond(stack, transaction, 180, vd_str(NULL, 0), pair->now));
    }
}

static void on_cancel(struct vd_stack *stack, vd_transaction invite, struct vd_message *cancel,
                      void *user, void *context)
{
    struct pair *pair = context;
    (void)cancel;
    (void)user;
    note_error(pair, vd_respond(stack, invite, 487, vd_str(NULL, 0), pair->now));
}

static void on_response(struct vd_stack *stack, vd_transaction transaction,
                        struct vd_message *response, void *user, void *context)
{
    struct pair *pair = context;
    struct vd_builder builder;
    const struct vd_cseq *cseq;
    struct vd_flow flow = flow_of(PAIR_SERVER, user != NULL ? PAIR_TCP : PAIR_UDP);
    (void)transaction;
    if (response->status < 200) {
        return;
    }
    pair->status = response->status;
    if (response->status >= 300 || vd_message_cseq(response, &cseq) != 0 ||
        cseq->method_id != VD_METHOD_INVITE) {
        return;
    }
    int rc = vd_request_begin(stack, &builder, VD_STR("ACK"), VD_STR("sip:b@192.0.2.2"), &flow);
    if (rc == 0) {
        write_fields(&builder, cseq->number, VD_STR("ACK"));
        rc = vd_ack_send(stack, &builder, pair->now);
    }
    note_error(pair, rc);
}

static void on_failure(struct vd_stack *stack, vd_transaction transaction, int error, void *user,
                       void *context)
{
    (void)stack;
    (void)transaction;
    (void)user;
    note_error(context, error);
}

static void on_terminated(struct vd_stack *stack, vd_transaction transaction, void *user,
                          void *context)
{
    struct pair *pair = context;
    (void)stack;
    (void)transaction;
    (void)user;
    pair->terminations++;
}

/* The same keys each time. */
static int fill(void *out, size_t size, void *context)
{
    (void)context;
    memset(out, 0x5c, size);
    return 0;
}

static int new_stack(struct pair *pair, enum pair_side side, const struct vd_mem *mem)
{
    struct vd_stack_config config;
    struct vd_str name = side == PAIR_CLIENT ? VD_STR("192.0.2.1") : VD_STR("192.0.2.2");
    uint32_t endpoint;
    vd_stack_config_init(&config);
    config.mem = mem;
    config.random = fill;
    config.log = on_log;
    config.log_context = pair;
    config.context = pair;
    config.server = VD_STR("pair");
    config.callbacks = (struct vd_stack_callbacks){
        .on_request = on_request,
        .on_cancel = on_cancel,
        .on_response = on_response,
        .on_failure = on_failure,
        .on_terminated = on_terminated,
    };
    int rc = vd_stack_new(&pair->stacks[side], &config);
    if (rc == 0) {
        rc = vd_stack_add_endpoint(pair->stacks[side], VD_TRANSPORT_UDP, name, &endpoint);
    }
    return rc != 0 ? rc
                   : vd_stack_add_endpoint(pair->stacks[side], VD_TRANSPORT_TCP, name, &endpoint);
}

int pair_init(struct pair *pair, const struct vd_mem *mem)
{
    *pair = (struct pair){.now = 5000 * VD_SEC};
    int rc = new_stack(pair, PAIR_CLIENT, mem);
    if (rc == 0) {
        rc = new_stack(pair, PAIR_SERVER, mem);
    }
    if (rc != 0) {
        pair_free(pair);
    }
    return rc;
}

void pair_free(struct pair *pair)
{
    for (unsigned i = 0; i < PAIR_SIDES; i++) {
        vd_stack_free(pair->stacks[i]);
        pair->stacks[i] = NULL;
    }
}

int pair_send(struct pair *pair, enum pair_endpoint endpoint, const char *method, const char *user,
              size_t body_size, vd_transaction *out)
{
    static char body[65536];
    struct vd_stack *stack = pair->stacks[PAIR_CLIENT];
    struct vd_flow flow = flow_of(PAIR_SERVER, endpoint);
    struct vd_builder builder;
    char uri[32];
    int n = snprintf(uri, sizeof uri, "sip:%s@192.0.2.2", user);
    pair->status = 0;
    int rc = vd_request_begin(stack, &builder, vd_str_from(method), vd_str(uri, (size_t)n), &flow);
    if (rc == 0) {
        write_fields(&builder, ++pair->serial, vd_str_from(method));
        if (body_size > 0) {
            memset(body, 'x', sizeof body);
            vd_build_end(&builder, VD_STR("text/plain"), vd_str(body, body_size));
        }
        /* The user pointer tells on_response by which endpoint its ACK goes. */
        rc = vd_request_send(stack, &builder, endpoint == PAIR_TCP ? pair : NULL, pair->now, out);
    }
    note_error(pair, rc);
    return rc;
}

int pair_request(struct pair *pair, enum pair_endpoint endpoint, const char *method,
                 const char *user, size_t body_size, vd_transaction *out)
{
    int rc = pair_send(pair, endpoint, method, user, body_size, out);
    pair_exchange(pair);
    return rc;
}

int pair_answer(struct pair *pair, int status)
{
    int rc =
        vd_respond(pair->stacks[PAIR_SERVER], pair->server, status, vd_str(NULL, 0), pair->now);
    note_error(pair, rc);
    pair_exchange(pair);
    return rc;
}

int pair_cancel(struct pair *pair, vd_transaction transaction)
{
    int rc = vd_request_cancel(pair->stacks[PAIR_CLIENT], transaction, pair->now);
    note_error(pair, rc);
    pair_exchange(pair);
    return rc;
}

static void deliver(struct pair *pair, enum pair_side from, const struct vd_send *send)
{
    struct vd_stack *stack = pair->stacks[1 - from];
    struct vd_flow flow = flow_of(from, (enum pair_endpoint)send->flow.endpoint);
    if (send->flow.endpoint == PAIR_UDP) {
        vd_stack_receive(stack, &flow, send->data, send->size, pair->now);
        return;
    }
    struct vd_header headers[PAIR_HEADERS];
    struct vd_message message;
    vd_message_init(&message, headers, PAIR_HEADERS);
    int rc = vd_message_parse(&message, send->data, send->size, VD_FRAMING_STREAM, NULL);
    if (rc == (int)send->size) {
        vd_stack_receive_message(stack, &flow, &message, pair->now);
    } else {
        note_error(pair, rc < 0 ? rc : VD_ERR_SYNTAX);
    }
}

void pair_exchange(struct pair *pair)
{
    struct vd_send sends[16];
    size_t moved;
    do {
        moved = 0;
        for (unsigned side = 0; side < PAIR_SIDES; side++) {
            size_t n = vd_stack_poll_send(pair->stacks[side], sends, 16);
            for (size_t i = 0; i < n; i++) {
                deliver(pair, (enum pair_side)side, &sends[i]);
                vd_stack_send_done(pair->stacks[side], &sends[i]);
            }
            moved += n;
        }
    } while (moved > 0);
}

void pair_until(struct pair *pair, vd_time at)
{
    for (;;) {
        vd_time client = vd_stack_next_deadline(pair->stacks[PAIR_CLIENT]);
        vd_time server = vd_stack_next_deadline(pair->stacks[PAIR_SERVER]);
        vd_time next = client < server ? client : server;
        if (next == VD_TIME_NEVER || next > at) {
            break;
        }
        pair->now = next > pair->now ? next : pair->now;
        vd_stack_expire(pair->stacks[PAIR_CLIENT], pair->now);
        vd_stack_expire(pair->stacks[PAIR_SERVER], pair->now);
        pair_exchange(pair);
    }
    if (at > pair->now && at != VD_TIME_NEVER) {
        pair->now = at;
    }
}

unsigned pair_live(const struct pair *pair)
{
    unsigned live = 0;
    for (unsigned i = 0; i < PAIR_SIDES; i++) {
        struct vd_stack_counters counters;
        vd_stack_get_counters(pair->stacks[i], &counters);
        live += counters.live_client_transactions + counters.live_server_transactions;
    }
    return live;
}
