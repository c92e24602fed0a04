/* side.c - one side of the test: a loop, an engine, and the sockets that join them.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "side.h"

#include "fail.h"

#include <stdio.h>
#include <string.h>

enum {
    VERBOSE_NOTICES = 2,
    VERBOSE_DEBUG = 3,
    QUEUE_AT_LEAST = 4096,
    QUEUE_A_SLOT = 4, /* messages of an exchange that may wait for a socket at a time */
};

/* Room for a whole window on one socket. The kernel cuts it to net.core.rmem_max and takes no
 * memory before there are datagrams. */
static const uint32_t RECEIVE_BUFFER = 4u << 20;

/* 64*T1, when every transaction that waits for it has failed. */
static const vd_time LONGEST_HANDSHAKE = 32 * VD_SEC;

/* ---- The log ---- */

/* Of what an event concerns, a line that describes it is printed, and no message. */
static bool is_line(struct vd_str data)
{
    return data.n > 0 && memchr(data.p, '\n', data.n) == NULL;
}

static void print_event(const struct side *side, const struct vd_log_event *event)
{
    char peer[VD_ADDR_TEXT_SIZE] = "";
    if (event->flow != NULL) {
        vd_addr_format(&event->flow->remote, peer);
    }
    struct vd_str line = is_line(event->data) ? event->data : vd_str("", 0);
    fail("%s: %s%s%s%s%s%s%s%s%.*s", side->name, event->text, event->error != 0 ? ": " : "",
         event->error != 0 ? vd_strerror(event->error) : "", event->system_error != 0 ? ": " : "",
         event->system_error != 0 ? strerror(event->system_error) : "",
         event->flow != NULL ? ", peer " : "", peer, line.n > 0 ? ": " : "", (int)line.n, line.p);
}

static void on_log(const struct vd_log_event *event, void *context)
{
    struct side *side = context;
    if (event->level == VD_LOG_ERROR && event->system_error != 0) {
        side->system_error = event->system_error;
    }
    if (side->options->verbose >= VERBOSE_NOTICES) {
        print_event(side, event);
    }
}

static enum vd_log_level log_level(const struct options *options)
{
    return options->verbose >= VERBOSE_DEBUG ? VD_LOG_DEBUG : VD_LOG_NOTICE;
}

/* What an error of a loop or a socket means; the system's own words say more where there are any.
 */
static const char *explain(const struct side *side, int error)
{
    return error == VD_ERR_SYSTEM && side->system_error != 0 ? strerror(side->system_error)
                                                             : vd_strerror(error);
}

/* ---- Opening and closing ---- */

/* The room that messages get which wait for one socket or connection. */
static uint32_t queue_limit(const struct options *options)
{
    return options->window * QUEUE_A_SLOT + QUEUE_AT_LEAST;
}

/* All connections of a loop may come from one source, and each may hold a whole window. When many
 * ports begin at once, handshakes take long; transactions have a limit of their own. */
static int set_tcp_limits(struct side *side)
{
    struct vd_tcp_limits limits;
    vd_tcp_limits_init(&limits);
    limits.connections_per_source = 0;
    limits.queue_messages = queue_limit(side->options);
    limits.queue_bytes = INT32_MAX;
    if (side->options->transport == VD_TRANSPORT_TLS) {
        limits.connect_time = LONGEST_HANDSHAKE;
        limits.first_message_time = LONGEST_HANDSHAKE;
    }
    int rc = vd_tcp_set_limits(side->loop, &limits);
    return rc != 0 ? fail("cannot set limits: %s", vd_strerror(rc)) : 0;
}

int side_open_loop(struct side *side, const char *name, const struct options *options,
                   side_turn_fn on_turn, void *context)
{
    struct vd_loop_config config;
    side->name = name;
    side->options = options;
    side->owns_loop = true;
    vd_loop_config_init(&config);
    config.on_turn = on_turn;
    config.context = context;
    config.log = on_log;
    config.log_context = side;
    config.log_level = log_level(options);
    config.selector = options->selector;
    int rc = vd_loop_new(&side->loop, &config);
    if (rc != 0) {
        return fail("cannot make a loop: %s", explain(side, rc));
    }
    return options->transport != VD_TRANSPORT_UDP ? set_tcp_limits(side) : 0;
}

void side_share_loop(struct side *side, const char *name, const struct side *other)
{
    side->name = name;
    side->options = other->options;
    side->loop = other->loop;
}

static bool filter(const struct vd_flow *flow, struct vd_str bytes, void *context)
{
    struct side *side = context;
    return impair_passes(&side->impair, flow, bytes, vd_loop_now(side->loop));
}

static int open_udp(struct side *side, const struct vd_addr *address, uint32_t *endpoint)
{
    struct vd_udp_options udp;
    vd_udp_options_init(&udp);
    udp.receive_buffer = RECEIVE_BUFFER;
    udp.send_queue_limit = queue_limit(side->options);
    if (options_are_impaired(side->options)) {
        udp.filter = filter;
        udp.filter_context = side;
    }
    return vd_udp_open(side->loop, side->stack, address, &udp, endpoint);
}

static int open_tcp(struct side *side, const struct vd_addr *address, bool listen,
                    uint32_t *endpoint)
{
    struct vd_tcp_options tcp;
    vd_tcp_options_init(&tcp);
    tcp.listen = listen;
    return vd_tcp_open(side->loop, side->stack, address, &tcp, endpoint);
}

static int open_tls(struct side *side, const struct vd_addr *address, bool listen,
                    uint32_t *endpoint)
{
    struct vd_tls_options tls;
    vd_tls_options_init(&tls);
    tls.tcp.listen = listen;
    tls.peer_name = side->options->peer_host;
    return vd_tls_open(side->loop, side->stack, address, side->options->tls, &tls, endpoint);
}

static int open_socket(struct side *side, const struct vd_addr *address, bool listen,
                       uint32_t *endpoint)
{
    switch (side->options->transport) {
    case VD_TRANSPORT_TCP:
        return open_tcp(side, address, listen, endpoint);
    case VD_TRANSPORT_TLS:
        return open_tls(side, address, listen, endpoint);
    default:
        return open_udp(side, address, endpoint);
    }
}

static int open_endpoint(struct side *side, const struct vd_addr *address, bool listen)
{
    char text[VD_ADDR_TEXT_SIZE];
    uint32_t endpoint;
    int rc = open_socket(side, address, listen, &endpoint);
    if (rc != 0) {
        vd_addr_format(address, text);
        return fail("cannot bind %s: %s", text, explain(side, rc));
    }
    return 0;
}

int side_open_stack(struct side *side, struct vd_stack_config *config, const struct vd_addr *first,
                    bool listen)
{
    memory_count_init(&side->memory);
    config->mem = &side->memory.mem;
    config->log = on_log;
    config->log_context = side;
    config->log_level = log_level(side->options);
    impair_init(&side->impair, &side->options->impairment, first->port);
    int rc = vd_stack_new(&side->stack, config);
    if (rc == 0) {
        rc = vd_loop_add_stack(side->loop, side->stack);
    }
    if (rc != 0) {
        return fail("cannot make a stack: %s", vd_strerror(rc));
    }
    for (uint32_t i = 0; i < side->options->ports; i++) {
        struct vd_addr address = options_port(first, i);
        if (open_endpoint(side, &address, listen) < 0) {
            return -1;
        }
    }
    return 0;
}

void side_close_loop(struct side *side)
{
    if (side->owns_loop) {
        vd_loop_free(side->loop);
    }
    side->loop = NULL;
}

void side_close_stack(struct side *side)
{
    vd_stack_free(side->stack);
    side->stack = NULL;
    impair_free(&side->impair);
}

/* ---- Running ---- */

void side_turn(struct side *side, vd_time now)
{
    impair_deliver(&side->impair, side->stack, now);
}

vd_time side_deadline(const struct side *side)
{
    return impair_deadline(&side->impair);
}

int side_run(struct side *side)
{
    vd_time wait = side->options->longest_wait;
    int rc = 0;
    if (wait == VD_TIME_NEVER) {
        rc = vd_loop_run(side->loop);
    }
    while (wait != VD_TIME_NEVER && rc == 0 && !atomic_load(&side->stopped)) {
        rc = vd_loop_run_once(side->loop, wait);
    }
    return rc != 0 ? fail("%s: %s", side->name, explain(side, rc)) : 0;
}

void side_stop(struct side *side)
{
    atomic_store(&side->stopped, true);
    vd_loop_stop(side->loop);
}

void side_get_counters(const struct side *side, struct side_counters *out)
{
    vd_stack_get_counters(side->stack, &out->stack);
    vd_loop_get_counters(side->loop, &out->loop);
    vd_udp_get_counters(side->loop, &out->udp);
    vd_tcp_get_counters(side->loop, &out->tcp);
    vd_tls_get_counters(side->loop, &out->tls);
    out->lost = side->impair.lost;
    out->repeated = side->impair.repeated;
    out->overtaken = side->impair.overtaken;
}
