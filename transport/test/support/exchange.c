/* exchange.c - a client and a server, real stacks on real sockets of the loopback interface.
 *
 * SPDX-License-Identifier: MIT
 */
#include "exchange.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "over_selectors.h"
#include "sockaddr.h"

/* So long that only a test that has failed waits for it. */
static const vd_time PATIENCE = 10 * VD_SEC;

/* ---- What is seen ---- */

static void on_request(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context)
{
    struct side *side = context;
    const struct vd_cseq *cseq;
    const struct vd_via *via;

    (void)flow;
    if (side->requests < sizeof side->cseq / sizeof side->cseq[0] &&
        vd_message_cseq(request, &cseq) == 0) {
        side->cseq[side->requests] = cseq->number;
    }
    if (vd_message_top_via(request, &via) == 0) {
        snprintf(side->sent_by, sizeof side->sent_by, "%.*s", (int)via->sent_by.n, via->sent_by.p);
    }
    side->requests++;
    vd_respond(stack, transaction, 200, vd_str(NULL, 0), vd_stack_now(stack));
}

static void on_response(struct vd_stack *stack, vd_transaction transaction,
                        struct vd_message *response, void *user, void *context)
{
    struct side *side = context;

    (void)stack;
    (void)transaction;
    (void)response;
    (void)user;
    side->responses++;
}

static void on_failure(struct vd_stack *stack, vd_transaction transaction, int error, void *user,
                       void *context)
{
    struct side *side = context;

    (void)stack;
    (void)transaction;
    (void)user;
    side->failures++;
    side->last_error = error;
    if (error < 0 && error > -64) {
        side->failures_by_error[-error]++;
    }
    if (side->on_failure != NULL) {
        side->on_failure(side);
    }
}

static void on_terminated(struct vd_stack *stack, vd_transaction transaction, void *user,
                          void *context)
{
    struct side *side = context;

    (void)stack;
    (void)transaction;
    (void)user;
    side->terminated++;
}

static void on_log(const struct vd_log_event *event, void *context)
{
    struct side *side = context;

    side->log_events++;
    side->last_log_error = event->error;
    side->last_system_error = event->system_error;
}

static void on_turn(struct vd_loop *loop, vd_time now, void *context)
{
    struct side *side = context;

    (void)loop;
    side->now = now;
    side->turns++;
    if (side->on_turn != NULL) {
        side->on_turn(side);
    }
}

/* ---- Making and freeing ---- */

bool side_init(struct side *side)
{
    struct vd_loop_config loop_config;
    struct vd_stack_config stack_config;

    memset(side, 0, sizeof *side);
    counting_mem_init(&side->loop_mem);
    counting_mem_init(&side->stack_mem);

    vd_loop_config_init(&loop_config);
    loop_config.selector = tested_selector;
    loop_config.on_turn = on_turn;
    loop_config.context = side;
    loop_config.mem = &side->loop_mem.mem;
    loop_config.log = on_log;
    loop_config.log_context = side;

    vd_stack_config_init(&stack_config);
    stack_config.callbacks.on_request = on_request;
    stack_config.callbacks.on_response = on_response;
    stack_config.callbacks.on_failure = on_failure;
    stack_config.callbacks.on_terminated = on_terminated;
    stack_config.context = side;
    stack_config.mem = &side->stack_mem.mem;
    /* Nothing is sent again, however slow the machine. */
    stack_config.t1 = 3600 * VD_SEC;
    stack_config.t2 = 3600 * VD_SEC;

    return vd_loop_new(&side->loop, &loop_config) == 0 &&
           vd_stack_new(&side->stack, &stack_config) == 0 &&
           vd_loop_add_stack(side->loop, side->stack) == 0;
}

bool side_free(struct side *side)
{
    vd_loop_free(side->loop);
    vd_stack_free(side->stack);
    return counting_mem_is_clean(&side->loop_mem) && counting_mem_is_clean(&side->stack_mem);
}

static bool side_open(struct side *side, const struct vd_addr *bind,
                      const struct vd_udp_options *options)
{
    return side_init(side) &&
           vd_udp_open(side->loop, side->stack, bind, options, &side->endpoint) == 0 &&
           vd_udp_local_addr(side->loop, side->stack, side->endpoint, &side->addr) == 0;
}

bool exchange_init(struct exchange *exchange, const struct vd_addr *bind,
                   const struct vd_udp_options *options)
{
    memset(exchange, 0, sizeof *exchange);
    return side_open(&exchange->client, bind, options) &&
           side_open(&exchange->server, bind, options);
}

bool exchange_free(struct exchange *exchange)
{
    bool client = side_free(&exchange->client);
    bool server = side_free(&exchange->server);

    return client && server;
}

/* ---- Sending and turning ---- */

int side_request_from(struct side *side, uint32_t endpoint, const struct vd_addr *to, uint32_t cseq)
{
    struct vd_builder builder;
    struct vd_flow flow = {.endpoint = endpoint, .remote = *to};
    struct vd_str uri = VD_STR("sip:bob@example.com");
    char call_id[32];
    int size = snprintf(call_id, sizeof call_id, "%lu@example.com", (unsigned long)cseq);

    int error = vd_request_begin(side->stack, &builder, VD_STR("OPTIONS"), uri, &flow);
    if (error != 0) {
        return error;
    }
    vd_build_nameaddr(&builder, VD_HEADER_FROM, vd_str(NULL, 0), VD_STR("sip:alice@example.com"),
                      VD_STR("a"));
    vd_build_nameaddr(&builder, VD_HEADER_TO, vd_str(NULL, 0), uri, vd_str(NULL, 0));
    vd_build_header(&builder, VD_HEADER_CALL_ID, vd_str(call_id, (size_t)size));
    vd_build_cseq(&builder, cseq, VD_STR("OPTIONS"));
    vd_build_number(&builder, VD_HEADER_MAX_FORWARDS, 70);
    return vd_request_send(side->stack, &builder, NULL, vd_loop_now(side->loop), NULL);
}

int side_request(struct side *side, const struct vd_addr *to, uint32_t cseq)
{
    return side_request_from(side, side->endpoint, to, cseq);
}

bool side_turn_until(struct side *side, const unsigned *counter, unsigned target)
{
    for (int i = 0; i < TURNS_MAX && *counter < target; i++) {
        if (vd_loop_run_once(side->loop, PATIENCE) != 0) {
            return false;
        }
    }
    return *counter >= target;
}

struct vd_udp_counters side_counters(const struct side *side)
{
    struct vd_udp_counters counters;

    vd_udp_get_counters(side->loop, &counters);
    return counters;
}

static uint64_t moved(const struct exchange *exchange)
{
    struct vd_udp_counters client = side_counters(&exchange->client);
    struct vd_udp_counters server = side_counters(&exchange->server);

    return client.received_datagrams + server.received_datagrams + client.sent_datagrams +
           server.sent_datagrams;
}

bool exchange_turn_until(struct exchange *exchange, const unsigned *counter, unsigned target)
{
    vd_time wait = 0;

    for (int i = 0; i < TURNS_MAX && *counter < target; i++) {
        uint64_t before = moved(exchange);
        if (vd_loop_run_once(exchange->client.loop, wait) != 0 ||
            vd_loop_run_once(exchange->server.loop, wait) != 0) {
            return false;
        }
        /* As long as one side has something to do the other does not wait for it. */
        wait = moved(exchange) == before ? VD_MSEC : 0;
    }
    return *counter >= target;
}

/* ---- Addresses ---- */

struct vd_addr loopback_ip4(void)
{
    return (struct vd_addr){.family = VD_FAMILY_IP4, .ip = {127, 0, 0, 1}};
}

struct vd_addr loopback_ip6(void)
{
    return (struct vd_addr){.family = VD_FAMILY_IP6, .ip = {[15] = 1}};
}

struct vd_addr closed_port(const struct vd_addr *bind_to)
{
    union vd__sockaddr sockaddr;
    socklen_t length = vd__sockaddr_from_addr(&sockaddr, bind_to);
    struct vd_addr addr = {.family = VD_FAMILY_NONE};
    int fd = socket(sockaddr.any.sa_family, SOCK_DGRAM, 0);

    if (fd >= 0 && bind(fd, &sockaddr.any, length) == 0 &&
        getsockname(fd, &sockaddr.any, &length) == 0) {
        vd__sockaddr_to_addr(&addr, &sockaddr, length);
    }
    if (fd >= 0) {
        close(fd);
    }
    return addr;
}
