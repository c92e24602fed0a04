/* tls.c - TLS endpoints: what the application calls.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/tls.h>

#include "tls_internal.h"

/* ---- Memory ---- */

bool vd__tls_copy(struct vd_loop *loop, struct vd_str text, struct vd_str *out)
{
    *out = vd_str(NULL, 0);
    if (text.n == 0) {
        return true;
    }
    char *copy = vd__loop_allocate(loop, text.n);
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, text.p, text.n);
    *out = vd_str(copy, text.n);
    return true;
}

void vd__tls_release(struct vd_loop *loop, struct vd_str text)
{
    vd__loop_release(loop, (char *)(uintptr_t)text.p, text.n);
}

/* ---- Opening ---- */

void vd_tls_options_init(struct vd_tls_options *options)
{
    *options = (struct vd_tls_options){.sessions = 256};
    vd_tcp_options_init(&options->tcp);
}

void vd__tls_endpoint_free(struct vd_loop *loop, void *context)
{
    struct vd__tls_endpoint *endpoint = context;

    vd__tls_names_free(&endpoint->names);
    vd__tls_sessions_free(&endpoint->sessions);
    vd__tls_release(loop, endpoint->peer_name);
    vd__loop_release(loop, endpoint, sizeof *endpoint);
}

static struct vd__tls_endpoint *new_endpoint(struct vd_loop *loop, struct vd_tls_context *context,
                                             struct vd_str peer_name, uint32_t sessions)
{
    struct vd__tls_endpoint *made = vd__loop_allocate(loop, sizeof *made);

    if (made == NULL || !vd__tls_copy(loop, peer_name, &made->peer_name)) {
        vd__loop_release(loop, made, sizeof *made);
        return NULL;
    }
    made->loop = loop;
    made->context = context;
    made->names.streams = loop->streams;
    made->sessions.loop = loop;
    made->sessions.max = sessions;
    return made;
}

int vd_tls_open(struct vd_loop *loop, struct vd_stack *stack, const struct vd_addr *bind,
                struct vd_tls_context *context, const struct vd_tls_options *options,
                uint32_t *endpoint)
{
    struct vd_tls_options defaults;
    struct vd_str peer_name = vd_str(NULL, 0);

    if (options == NULL) {
        vd_tls_options_init(&defaults);
        options = &defaults;
    }
    if (context == NULL || (options->tcp.listen && !context->has_certificate) ||
        !vd__streams_may_open(bind, &options->tcp) ||
        (options->peer_name.n > 0 && !vd__tls_host(options->peer_name, &peer_name))) {
        return VD_ERR_INVALID;
    }
    struct vd__tls_endpoint *made = new_endpoint(loop, context, peer_name, options->sessions);
    if (made == NULL) {
        return VD_ERR_NOMEM;
    }
    int error = vd__streams_open(loop, stack, VD_TRANSPORT_TLS, &vd__channel_tls, made, bind,
                                 &options->tcp, endpoint);
    if (error != 0) {
        vd__tls_endpoint_free(loop, made);
    }
    return error;
}

/* ---- What the application may ask and say ---- */

/* NULL when the endpoint is none of TLS. */
static struct vd__stream_endpoint *find(const struct vd_loop *loop, const struct vd_stack *stack,
                                        uint32_t endpoint)
{
    const struct vd__served_stack *served = vd__loop_find_stack(loop, stack);
    struct vd__stream_endpoint *found =
        served != NULL ? vd__streams_endpoint(served, endpoint) : NULL;

    return found != NULL && found->channel == &vd__channel_tls ? found : NULL;
}

int vd_tls_local_addr(const struct vd_loop *loop, const struct vd_stack *stack, uint32_t endpoint,
                      struct vd_addr *out)
{
    const struct vd__stream_endpoint *found = find(loop, stack, endpoint);

    if (found == NULL) {
        return VD_ERR_INVALID;
    }
    *out = found->local;
    return 0;
}

int vd_tls_expect_name(struct vd_loop *loop, const struct vd_stack *stack, uint32_t endpoint,
                       const struct vd_addr *remote, struct vd_str name)
{
    struct vd__stream_endpoint *found = find(loop, stack, endpoint);
    struct vd__connection_table *table = &loop->streams->table;
    struct vd_str host = vd_str(NULL, 0);

    if (found == NULL || remote->family == VD_FAMILY_NONE ||
        (name.n > 0 && !vd__tls_host(name, &host))) {
        return VD_ERR_INVALID;
    }
    struct vd__tls_endpoint *tls = found->channel_context;
    struct vd__connection *connection = vd__connection_table_find_remote(table, found, remote);
    /* What is being made has messages already, which are for the host that was expected so far. */
    if (connection != NULL && vd__tls_state(connection) == NULL && !vd__tls_state_new(connection)) {
        return VD_ERR_NOMEM;
    }
    if (!vd__tls_names_set_host(&tls->names, remote, host)) {
        return VD_ERR_NOMEM;
    }
    while (connection != NULL && !vd__tls_serves(connection, remote)) {
        vd__connection_table_remove(table, connection);
        connection = vd__connection_table_find_remote(table, found, remote);
    }
    return 0;
}

bool vd_tls_peer_is(const struct vd_loop *loop, const struct vd_stack *stack,
                    const struct vd_flow *flow, struct vd_str name)
{
    const struct vd__stream_endpoint *found = find(loop, stack, flow->endpoint);
    const struct vd__connection *connection =
        vd__connection_table_find(&loop->streams->table, flow->connection);

    return found != NULL && connection != NULL && connection->endpoint == found &&
           vd__tls_peer_names(connection, name);
}

void vd_tls_get_counters(const struct vd_loop *loop, struct vd_tls_counters *out)
{
    *out = (struct vd_tls_counters){0};
    for (const struct vd__stream_endpoint *endpoint = loop->streams->endpoints; endpoint != NULL;
         endpoint = endpoint->next) {
        if (endpoint->channel == &vd__channel_tls) {
            const struct vd__tls_endpoint *tls = endpoint->channel_context;
            out->handshakes += tls->counters.handshakes;
            out->resumed += tls->counters.resumed;
            out->handshake_failed += tls->counters.handshake_failed;
            out->certificates_refused += tls->counters.certificates_refused;
            out->protocol_errors += tls->counters.protocol_errors;
        }
    }
}
