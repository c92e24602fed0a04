/* tcp.c - TCP endpoints: what the application calls.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/tcp.h>

#include <limits.h>

#include "connection.h"

enum { CONNECTIONS_MAX = 1 << 24 };

/* ---- Limits ---- */

void vd_tcp_limits_init(struct vd_tcp_limits *limits)
{
    *limits = (struct vd_tcp_limits){
        .connections = 100000,
        .connections_per_source = 16384,
        .queue_bytes = 4 << 20,
        .queue_messages = 16384,
        .total_queue_bytes = 1 << 30,
        .connect_time = 8 * VD_SEC,
        .first_message_time = 20 * VD_SEC,
        .message_time = 10 * VD_SEC,
        .send_time = 32 * VD_SEC,
        .idle_time = 600 * VD_SEC,
    };
}

static bool is_time(vd_time time)
{
    return time >= VD_MSEC && time <= 24 * 3600 * VD_SEC;
}

int vd_tcp_set_limits(struct vd_loop *loop, const struct vd_tcp_limits *limits)
{
    bool times = is_time(limits->connect_time) && is_time(limits->first_message_time) &&
                 is_time(limits->message_time) && is_time(limits->send_time) &&
                 is_time(limits->idle_time);

    if (!times || limits->connections == 0 || limits->connections > CONNECTIONS_MAX ||
        limits->queue_bytes == 0 || limits->queue_bytes > INT_MAX || limits->queue_messages == 0 ||
        limits->total_queue_bytes == 0) {
        return VD_ERR_INVALID;
    }
    if (loop->streams->endpoints != NULL) {
        return VD_ERR_STATE;
    }
    vd__streams_limit(loop->streams, limits);
    return 0;
}

void vd_tcp_get_limits(const struct vd_loop *loop, struct vd_tcp_limits *out)
{
    *out = loop->streams->limits;
}

/* ---- Endpoints ---- */

void vd_tcp_options_init(struct vd_tcp_options *options)
{
    *options = (struct vd_tcp_options){.listen = true, .backlog = 4096};
}

bool vd__streams_may_open(const struct vd_addr *bind, const struct vd_tcp_options *options)
{
    bool family = bind->family == VD_FAMILY_IP4 || bind->family == VD_FAMILY_IP6;
    bool named = options->sent_by.n > 0 || !vd__addr_is_wildcard(bind);

    return family && named && options->backlog <= INT_MAX && options->receive_buffer <= INT_MAX &&
           options->send_buffer <= INT_MAX;
}

int vd_tcp_open(struct vd_loop *loop, struct vd_stack *stack, const struct vd_addr *bind,
                const struct vd_tcp_options *options, uint32_t *endpoint)
{
    struct vd_tcp_options defaults;

    if (options == NULL) {
        vd_tcp_options_init(&defaults);
        options = &defaults;
    }
    if (!vd__streams_may_open(bind, options)) {
        return VD_ERR_INVALID;
    }
    return vd__streams_open(loop, stack, VD_TRANSPORT_TCP, &vd__channel_tcp, NULL, bind, options,
                            endpoint);
}

/* ---- What the application may ask ---- */

int vd_tcp_local_addr(const struct vd_loop *loop, const struct vd_stack *stack, uint32_t endpoint,
                      struct vd_addr *out)
{
    const struct vd__served_stack *served = vd__loop_find_stack(loop, stack);
    const struct vd__stream_endpoint *found =
        served != NULL ? vd__streams_endpoint(served, endpoint) : NULL;

    if (found == NULL || found->channel != &vd__channel_tcp) {
        return VD_ERR_INVALID;
    }
    *out = found->local;
    return 0;
}

void vd_tcp_get_counters(const struct vd_loop *loop, struct vd_tcp_counters *out)
{
    *out = loop->streams->counters;
}
