/* stream.c - all connections of a loop: which one a message takes, and the steps of a turn.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connection.h"

/* ---- Making and freeing ---- */

struct vd__streams *vd__streams_new(struct vd_loop *loop)
{
    struct vd__streams *streams = vd__loop_allocate(loop, sizeof *streams);
    struct vd_tcp_limits limits;

    if (streams == NULL) {
        return NULL;
    }
    streams->loop = loop;
    streams->partials.loop = loop;
    streams->resume_at = VD_TIME_NEVER;
    vd_tcp_limits_init(&limits);
    vd__streams_limit(streams, &limits);
    vd__origins_init(&streams->origins, loop->config.mem, &streams->table);
    if (vd__connection_table_init(&streams->table, loop->config.mem) != 0) {
        vd__loop_release(loop, streams, sizeof *streams);
        return NULL;
    }
    return streams;
}

static void drop_connection(struct vd__connection *connection)
{
    struct vd__streams *streams = vd__streams_of(connection);
    struct vd_send message;

    while (vd__connection_dequeue(connection, &message)) {
        message.flow.connection = 0;
        vd_stack_send_done(connection->endpoint->owner->stack, &message);
    }
    connection->sent_request = false;
    vd__connection_close(connection, 0, 0, NULL);
    vd__connections_purge(streams);
}

void vd__streams_free(struct vd__streams *streams)
{
    if (streams == NULL) {
        return;
    }
    struct vd_loop *loop = streams->loop;
    for (uint32_t i = 0; i < streams->table.number_capacity; i++) {
        if (streams->table.by_number[i] != NULL) {
            drop_connection(streams->table.by_number[i]);
        }
    }
    vd__stream_endpoints_free(streams);
    vd__connections_purge(streams);
    vd__connection_table_free(&streams->table);
    vd__origins_free(&streams->origins);
    vd__partial_pool_free(&streams->partials);
    vd__outgoing_free(streams);
    if (streams->buffer != NULL) {
        loop->config.mem->release(streams->buffer, VD__STREAM_BUFFER_SIZE,
                                  loop->config.mem->context);
    }
    vd__loop_release(loop, streams, sizeof *streams);
}

/* ---- Routing messages ---- */

void vd__streams_fail(struct vd__stream_endpoint *endpoint, const struct vd_send *message,
                      int error)
{
    struct vd_loop *loop = endpoint->streams->loop;

    loop->again = true;
    vd_stack_send_failed(endpoint->owner->stack, message, error, loop->now);
}

/* Whether the message may still take the connection that it names. The peer of a connection that is
 * half closed can be told something, but not asked. */
static bool takes(const struct vd__connection *connection, const struct vd_send *message)
{
    switch ((enum vd__connection_state)connection->state) {
    case VD__CONNECTION_OPENING:
    case VD__CONNECTION_OPEN:
        return true;
    case VD__CONNECTION_HALF_CLOSED:
    case VD__CONNECTION_CLOSING:
        return !vd__is_request(message);
    default:
        return false;
    }
}

void vd__streams_route(struct vd__stream_endpoint *endpoint, const struct vd_send *message)
{
    struct vd__streams *streams = endpoint->streams;
    struct vd__connection *found = NULL;
    int error = VD_ERR_TRANSPORT;

    if (message->flow.connection != 0) {
        found = vd__connection_table_find(&streams->table, message->flow.connection);
        if (found != NULL && (found->endpoint != endpoint || !takes(found, message))) {
            found = NULL;
        }
    }
    if (found == NULL) {
        found = vd__connection_table_find_remote(&streams->table, endpoint, &message->flow.remote);
    }
    if (found == NULL && endpoint->channel->find_alias != NULL) {
        found = endpoint->channel->find_alias(endpoint, &message->flow.remote);
    }
    if (found == NULL) {
        found = vd__connection_make(endpoint, &message->flow.remote, &error);
    }
    if (found == NULL || found->state == VD__CONNECTION_CLOSED) {
        streams->counters.send_failed++;
        vd__streams_fail(endpoint, message, error);
        return;
    }
    vd__connection_enqueue(found, message);
}

size_t vd__streams_send(struct vd__streams *streams, const struct vd__served_stack *served,
                        struct vd_send *sends, size_t count)
{
    size_t left = 0;

    (void)streams;
    if (served->streams == NULL) {
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        struct vd__stream_endpoint *endpoint = vd__streams_endpoint(served, sends[i].flow.endpoint);
        if (endpoint != NULL) {
            vd__streams_route(endpoint, &sends[i]);
        } else {
            sends[left++] = sends[i];
        }
    }
    return left;
}

/* ---- Steps of a turn ---- */

void vd__streams_flush(struct vd__streams *streams)
{
    while (streams->touched != NULL) {
        struct vd__connection *connection = streams->touched;
        streams->touched = connection->next_touched;
        connection->touched = false;
        vd__connection_flush(connection);
    }
}

void vd__streams_end_turn(struct vd__streams *streams)
{
    vd__connections_purge(streams);
    vd__listeners_resume(streams);
}
