/* tcp_side.c - a stack with TCP endpoints on the loopback interface, and raw peers of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tcp_side.h"

#include <stdio.h>
#include <string.h>

#include "loop_internal.h"
#include "over_selectors.h"

vd_time tcp_side_time = 1000 * VD_SEC;

static vd_time still_clock(void)
{
    return tcp_side_time;
}

/* ---- What is seen ---- */

static void on_request(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context)
{
    struct tcp_side *side = context;
    const struct vd_cseq *cseq;

    side->requests++;
    side->last_flow = *flow;
    side->last_size = request->body.n;
    if (vd_message_cseq(request, &cseq) == 0) {
        side->cseqs_in_order += cseq->number == side->last_cseq + 1;
        side->last_cseq = cseq->number;
    }
    if (side->answer != 0) {
        vd_respond(stack, transaction, side->answer, vd_str(NULL, 0), vd_stack_now(stack));
    } else if (side->pending_count < TCP_PENDING_MAX) {
        side->pending[side->pending_count++] = transaction;
    }
}

static void on_ack(struct vd_stack *stack, vd_transaction transaction, struct vd_message *ack,
                   const struct vd_flow *flow, void *context)
{
    struct tcp_side *side = context;

    (void)stack;
    (void)transaction;
    (void)ack;
    (void)flow;
    side->acks++;
}

static void on_response(struct vd_stack *stack, vd_transaction transaction,
                        struct vd_message *response, void *user, void *context)
{
    struct tcp_side *side = context;

    (void)stack;
    (void)transaction;
    (void)user;
    side->last_status = response->status;
    side->responses += response->status >= 200;
}

static void on_failure(struct vd_stack *stack, vd_transaction transaction, int error, void *user,
                       void *context)
{
    struct tcp_side *side = context;

    (void)stack;
    (void)transaction;
    (void)user;
    side->failures++;
    side->last_error = error;
    if (error < 0 && error > -64) {
        side->failures_by_error[-error]++;
    }
}

static void on_terminated(struct vd_stack *stack, vd_transaction transaction, void *user,
                          void *context)
{
    struct tcp_side *side = context;

    (void)stack;
    (void)transaction;
    (void)user;
    side->terminated++;
}

static void on_log(const struct vd_log_event *event, void *context)
{
    struct tcp_side *side = context;

    side->log_events++;
    side->log_errors += event->level == VD_LOG_ERROR;
}

/* ---- Making and freeing ---- */

bool tcp_side_init(struct tcp_side *side)
{
    struct vd_loop_config loop_config;
    struct vd_stack_config stack_config;

    memset(side, 0, sizeof *side);
    counting_mem_init(&side->loop_mem);
    counting_mem_init(&side->stack_mem);
    side->answer = 200;

    vd_loop_config_init(&loop_config);
    loop_config.mem = &side->loop_mem.mem;
    loop_config.log = on_log;
    loop_config.log_context = side;

    vd_stack_config_init(&stack_config);
    stack_config.callbacks.on_request = on_request;
    stack_config.callbacks.on_ack = on_ack;
    stack_config.callbacks.on_response = on_response;
    stack_config.callbacks.on_failure = on_failure;
    stack_config.callbacks.on_terminated = on_terminated;
    stack_config.context = side;
    stack_config.mem = &side->stack_mem.mem;

    loop_config.selector = tested_selector;
    if (vd_loop_new(&side->loop, &loop_config) != 0) {
        loop_config.selector = VD_SELECTOR_EPOLL;
        if (vd_loop_new(&side->loop, &loop_config) != 0) {
            return false;
        }
        side->log_errors = 0;
    }
    if (vd_stack_new(&side->stack, &stack_config) != 0 ||
        vd_loop_add_stack(side->loop, side->stack) != 0) {
        return false;
    }
    side->loop->clock = still_clock;
    return true;
}

bool tcp_side_open(struct tcp_side *side, const struct vd_addr *bind,
                   const struct vd_tcp_limits *limits, const struct vd_tcp_options *options)
{
    return tcp_side_init(side) && (limits == NULL || vd_tcp_set_limits(side->loop, limits) == 0) &&
           vd_tcp_open(side->loop, side->stack, bind, options, &side->endpoint) == 0 &&
           vd_tcp_local_addr(side->loop, side->stack, side->endpoint, &side->addr) == 0;
}

bool tcp_side_listen(struct tcp_side *side)
{
    struct vd_addr bind = raw_loopback();

    return tcp_side_open(side, &bind, NULL, NULL);
}

bool tcp_side_free(struct tcp_side *side)
{
    vd_loop_free(side->loop);
    vd_stack_free(side->stack);
    return counting_mem_is_clean(&side->loop_mem) && counting_mem_is_clean(&side->stack_mem);
}

/* ---- Counters ---- */

struct vd_tcp_counters tcp_side_counters(const struct tcp_side *side)
{
    struct vd_tcp_counters counters;

    vd_tcp_get_counters(side->loop, &counters);
    return counters;
}

struct vd_stack_counters tcp_side_stack_counters(const struct tcp_side *side)
{
    struct vd_stack_counters counters;

    vd_stack_get_counters(side->stack, &counters);
    return counters;
}

/* ---- Sending ---- */

int tcp_side_request(struct tcp_side *side, const char *method, const struct vd_addr *to,
                     uint32_t cseq, size_t body)
{
    static const char filler[60000];
    struct vd_builder builder;
    struct vd_flow flow = {.endpoint = side->endpoint, .remote = *to};
    struct vd_str uri = VD_STR("sip:bob@example.com");
    char call_id[40];
    int size = snprintf(call_id, sizeof call_id, "%lu@example.com", (unsigned long)cseq);

    int error = vd_request_begin(side->stack, &builder, vd_str_from(method), uri, &flow);
    if (error != 0) {
        return error;
    }
    vd_build_nameaddr(&builder, VD_HEADER_FROM, vd_str(NULL, 0), VD_STR("sip:alice@example.com"),
                      VD_STR("a"));
    vd_build_nameaddr(&builder, VD_HEADER_TO, vd_str(NULL, 0), uri, vd_str(NULL, 0));
    vd_build_header(&builder, VD_HEADER_CALL_ID, vd_str(call_id, (size_t)size));
    vd_build_cseq(&builder, cseq, vd_str_from(method));
    vd_build_number(&builder, VD_HEADER_MAX_FORWARDS, 70);
    if (body > 0) {
        vd_build_end(&builder, VD_STR("application/octet-stream"), vd_str(filler, body));
    }
    return vd_request_send(side->stack, &builder, NULL, tcp_side_time, NULL);
}

void tcp_side_answer(struct tcp_side *side, int status)
{
    for (unsigned i = 0; i < side->pending_count; i++) {
        vd_respond(side->stack, side->pending[i], status, vd_str(NULL, 0), tcp_side_time);
    }
    side->pending_count = 0;
}

/* ---- Turning ---- */

void tcp_side_turn(struct tcp_side *side)
{
    (void)vd_loop_run_once(side->loop, 0);
}

bool tcp_side_until(struct tcp_side *side, const unsigned *counter, unsigned target)
{
    for (int i = 0; i < TCP_TURNS_MAX && *counter < target; i++) {
        (void)vd_loop_run_once(side->loop, VD_MSEC);
    }
    return *counter >= target;
}

bool tcp_sides_until(struct tcp_side *one, struct tcp_side *other, const unsigned *counter,
                     unsigned target)
{
    for (int i = 0; i < TCP_TURNS_MAX && *counter < target; i++) {
        (void)vd_loop_run_once(one->loop, 0);
        (void)vd_loop_run_once(other->loop, 0);
    }
    return *counter >= target;
}

bool tcp_side_until_connections(struct tcp_side *side, uint32_t connections)
{
    for (int i = 0; i < TCP_TURNS_MAX; i++) {
        if (tcp_side_counters(side).connections == connections) {
            return true;
        }
        (void)vd_loop_run_once(side->loop, VD_MSEC);
    }
    return false;
}

void tcp_side_pass(struct tcp_side *side, vd_time time)
{
    tcp_side_time += time;
    tcp_side_turn(side);
}
