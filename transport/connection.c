/* connection.c - a connection from its making to its end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connection.h"
#include "system_error.h"

#include <errno.h>
#include <unistd.h>

static struct vd_flow flow_of(const struct vd__connection *connection)
{
    return (struct vd_flow){
        .endpoint = connection->endpoint->number,
        .connection = connection->number,
        .remote = connection->remote,
    };
}

void vd__connection_log(const struct vd__connection *connection, enum vd_log_level level, int error,
                        int system_error, const char *text)
{
    struct vd_flow flow = flow_of(connection);

    vd__loop_log(vd__streams_of(connection)->loop, &(struct vd_log_event){
                                                       .level = level,
                                                       .error = error,
                                                       .system_error = system_error,
                                                       .text = text,
                                                       .flow = &flow,
                                                   });
}

/* ---- What the selector is asked for ---- */

static unsigned interest_of(const struct vd__connection *connection)
{
    switch ((enum vd__connection_state)connection->state) {
    case VD__CONNECTION_OPEN:
        return VD__READABLE | connection->read_waits_for | connection->write_waits_for;
    case VD__CONNECTION_LINGERING:
        return VD__READABLE;
    default:
        return connection->write_waits_for;
    }
}

void vd__connection_watch(struct vd__connection *connection)
{
    struct vd__selector *selector = vd__streams_of(connection)->loop->selector;
    unsigned interest = interest_of(connection);

    if (connection->state == VD__CONNECTION_CLOSED || connection->interest == interest) {
        return;
    }
    if (selector->ops->modify(selector, &connection->source, interest) < 0) {
        vd__connection_close(connection, VD_ERR_TRANSPORT, errno, "cannot watch a connection");
        return;
    }
    connection->interest = (uint8_t)interest;
}

/* ---- Making ---- */

static void on_ready(struct vd__source *source, unsigned readiness)
{
    struct vd__connection *connection = (struct vd__connection *)source;

    if (connection->state == VD__CONNECTION_OPENING) {
        vd__connection_progress(connection);
        return;
    }
    if ((readiness & connection->write_waits_for) != 0) {
        connection->write_waits_for = 0;
        vd__connection_touch(connection);
    }
    switch ((enum vd__connection_state)connection->state) {
    case VD__CONNECTION_OPEN:
        if ((readiness & (VD__READABLE | VD__FAULTY | connection->read_waits_for)) != 0) {
            vd__connection_receive(connection);
        }
        break;
    case VD__CONNECTION_LINGERING:
        vd__connection_discard(connection);
        break;
    case VD__CONNECTION_HALF_CLOSED:
    case VD__CONNECTION_CLOSING:
        if ((readiness & VD__FAULTY) != 0) {
            int system_error = vd__stream_take_error(connection->source.fd);
            vd__streams_of(connection)->counters.broken++;
            vd__connection_close(connection, VD_ERR_TRANSPORT, system_error,
                                 "a connection broke while it was being closed");
        }
        break;
    default:
        /* Closed earlier in this turn. */
        break;
    }
}

struct vd__connection *vd__connection_new(struct vd__stream_endpoint *endpoint, int fd,
                                          const struct vd_addr *remote, bool connecting)
{
    struct vd__streams *streams = endpoint->streams;
    struct vd__selector *selector = streams->loop->selector;
    struct vd__connection *made = vd__connection_table_reserve(&streams->table)
                                      ? vd__loop_allocate(streams->loop, sizeof *made)
                                      : NULL;

    if (made == NULL) {
        close(fd);
        return NULL;
    }
    made->source = (struct vd__source){fd, on_ready};
    made->endpoint = endpoint;
    made->channel = endpoint->channel;
    made->remote = *remote;
    made->state = VD__CONNECTION_OPENING;
    made->connecting = connecting;
    made->interest = connecting ? VD__WRITABLE : VD__READABLE;
    made->write_waits_for = made->interest;
    vd_framer_init(&made->framer);
    if (selector->ops->add(selector, &made->source, made->interest) < 0) {
        vd__connection_log(made, VD_LOG_ERROR, VD_ERR_SYSTEM, errno, "cannot watch a connection");
        vd__loop_release(streams->loop, made, sizeof *made);
        close(fd);
        return NULL;
    }
    vd__connection_table_number(&streams->table, made);
    streams->counters.connections++;
    vd__deadline_set(&streams->waits[VD__WAIT_IDLE], &made->idle, streams->loop->now);
    return made;
}

static int connect_failed(struct vd__stream_endpoint *endpoint, int system_error)
{
    endpoint->streams->counters.connect_failed++;
    return vd__error_of_send(system_error);
}

static void refuse(struct vd__stream_endpoint *endpoint, const struct vd_addr *remote)
{
    struct vd_flow flow = {.endpoint = endpoint->number, .remote = *remote};

    endpoint->streams->counters.refused_total++;
    vd__loop_log(endpoint->streams->loop, &(struct vd_log_event){
                                              .level = VD_LOG_NOTICE,
                                              .error = VD_ERR_OVERLOAD,
                                              .text = "too many connections",
                                              .flow = &flow,
                                          });
}

struct vd__connection *vd__connection_make(struct vd__stream_endpoint *endpoint,
                                           const struct vd_addr *remote, int *error)
{
    struct vd__streams *streams = endpoint->streams;
    bool connecting = false;

    *error = VD_ERR_TRANSPORT;
    if (streams->counters.connections >= streams->limits.connections &&
        !vd__connection_evict(streams)) {
        refuse(endpoint, remote);
        return NULL;
    }
    int fd = vd__stream_connect(endpoint, remote, &connecting);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE) && vd__connection_evict(streams)) {
        fd = vd__stream_connect(endpoint, remote, &connecting);
    }
    if (fd < 0) {
        *error = connect_failed(endpoint, errno);
        return NULL;
    }
    struct vd__connection *made = vd__connection_new(endpoint, fd, remote, connecting);
    if (made == NULL) {
        streams->counters.connect_failed++;
        return NULL;
    }
    vd__connection_table_insert(&streams->table, made);
    vd__deadline_set(&streams->waits[VD__WAIT_CONNECT], &made->phase, streams->loop->now);
    if (!connecting) {
        vd__connection_progress(made);
    }
    return made;
}

/* ---- Opening ---- */

static void become_open(struct vd__connection *connection)
{
    struct vd__streams *streams = vd__streams_of(connection);

    connection->state = VD__CONNECTION_OPEN;
    connection->write_waits_for = 0;
    if (!connection->awaits_first) {
        streams->counters.connected++;
        vd__deadline_clear(&connection->phase);
    }
    if (!connection->tabled &&
        (connection->channel->reusable == NULL || connection->channel->reusable(connection))) {
        vd__connection_table_insert(&streams->table, connection);
    }
    vd__connection_active(connection);
    if (connection->first != NULL) {
        vd__connection_touch(connection);
    }
    vd__connection_watch(connection);
    if (connection->channel->progress != NULL && connection->state == VD__CONNECTION_OPEN) {
        /* What came along with the last of the channel's own bytes is in the channel already. */
        vd__connection_receive(connection);
    }
}

void vd__connection_progress(struct vd__connection *connection)
{
    if (connection->connecting) {
        int system_error = vd__stream_take_error(connection->source.fd);
        if (system_error != 0) {
            vd__connection_close(connection, vd__error_of_send(system_error), system_error,
                                 "a connection could not be made");
            return;
        }
        connection->connecting = false;
    }
    int result = VD__CHANNEL_END;
    if (connection->channel->progress != NULL) {
        result = connection->channel->progress(connection);
    }
    switch (result) {
    case VD__CHANNEL_END:
        become_open(connection);
        break;
    case VD__CHANNEL_BROKEN:
        vd__connection_close(connection, VD_ERR_TRANSPORT, connection->system_error,
                             "a connection could not be made");
        break;
    default:
        connection->write_waits_for = result == VD__CHANNEL_WANT_READ ? VD__READABLE : VD__WRITABLE;
        vd__connection_watch(connection);
        break;
    }
}

/* ---- Closing ---- */

/* Nothing more will come on the connection: requests of ours that left on it get no response. */
static void tell_requests(struct vd__connection *connection, int error)
{
    if (connection->sent_request) {
        struct vd_flow flow = flow_of(connection);
        connection->sent_request = false;
        vd__streams_of(connection)->loop->again = true;
        vd_stack_flow_closed(connection->endpoint->owner->stack, &flow, error,
                             vd__streams_of(connection)->loop->now);
    }
}

/* It is no candidate for new requests, and nothing is read any more (RFC 3261 18). */
static void stop_reading(struct vd__connection *connection, enum vd__connection_state state)
{
    struct vd__streams *streams = vd__streams_of(connection);

    connection->state = (uint8_t)state;
    connection->awaits_first = false;
    vd__deadline_clear(&connection->phase);
    vd__connection_table_remove(&streams->table, connection);
    vd__partial_drop(&streams->partials, &connection->partial);
    vd__connection_touch(connection);
    vd__connection_watch(connection);
    tell_requests(connection, VD_ERR_TRANSPORT);
}

void vd__connection_half_close(struct vd__connection *connection)
{
    if (connection->partial.size > 0) {
        vd__connection_log(connection, VD_LOG_NOTICE, VD_ERR_INCOMPLETE, 0,
                           "a connection ended in the middle of a message");
    }
    stop_reading(connection, VD__CONNECTION_HALF_CLOSED);
}

void vd__connection_close_after_sending(struct vd__connection *connection)
{
    stop_reading(connection, VD__CONNECTION_CLOSING);
}

void vd__connection_linger(struct vd__connection *connection)
{
    struct vd__streams *streams = vd__streams_of(connection);

    connection->channel->shut(connection);
    connection->state = VD__CONNECTION_LINGERING;
    vd__deadline_set(&streams->waits[VD__WAIT_LINGER], &connection->phase, streams->loop->now);
    vd__connection_watch(connection);
}

/* Gives all that waits back. A response that was meant for this connection tries the way that is
 * left to it (RFC 3261 18.2.2); unlike a request it can have no second effect. */
static void give_back(struct vd__connection *connection, int error)
{
    struct vd_send message;

    while (vd__connection_dequeue(connection, &message)) {
        if (message.flow.connection == connection->number && !vd__is_request(&message)) {
            message.flow.connection = 0;
            vd__streams_route(connection->endpoint, &message);
        } else {
            vd__streams_of(connection)->counters.send_failed++;
            vd__streams_fail(connection->endpoint, &message, error);
        }
    }
}

static void close_socket(struct vd__connection *connection)
{
    struct vd__streams *streams = vd__streams_of(connection);
    struct vd__selector *selector = streams->loop->selector;

    if (connection->channel->free != NULL) {
        connection->channel->free(connection);
    }
    (void)selector->ops->remove(selector, &connection->source);
    close(connection->source.fd);
    connection->source.fd = -1;
    streams->freed_descriptors++;
}

void vd__connection_close(struct vd__connection *connection, int error, int system_error,
                          const char *text)
{
    struct vd__streams *streams = vd__streams_of(connection);

    if (connection->state == VD__CONNECTION_CLOSED) {
        return;
    }
    if (text != NULL) {
        vd__connection_log(connection, VD_LOG_NOTICE, error, system_error, text);
    }
    if (connection->state == VD__CONNECTION_OPENING && !connection->awaits_first) {
        streams->counters.connect_failed++;
    } else {
        streams->counters.closed++;
    }
    connection->state = VD__CONNECTION_CLOSED;
    vd__connection_table_remove(&streams->table, connection);
    vd__connection_table_forget(&streams->table, connection);
    vd__deadline_clear(&connection->phase);
    vd__deadline_clear(&connection->send);
    vd__deadline_clear(&connection->idle);
    vd__origin_leave(&streams->origins, connection->origin);
    connection->origin = NULL;
    vd__partial_drop(&streams->partials, &connection->partial);
    close_socket(connection);
    streams->counters.connections--;
    connection->next_closed = streams->closed;
    streams->closed = connection;

    error = error != 0 ? error : VD_ERR_TRANSPORT;
    tell_requests(connection, error);
    give_back(connection, error);
}

bool vd__connection_evict(struct vd__streams *streams)
{
    struct vd__deadline *oldest = vd__deadlines_first(&streams->waits[VD__WAIT_FIRST_MESSAGE]);

    if (oldest == NULL) {
        return false;
    }
    struct vd__connection *connection =
        (struct vd__connection *)((char *)oldest - offsetof(struct vd__connection, phase));
    streams->counters.evicted++;
    vd__connection_close(connection, VD_ERR_OVERLOAD, 0,
                         "a connection without a message was closed to make room");
    return true;
}

void vd__connections_purge(struct vd__streams *streams)
{
    while (streams->closed != NULL) {
        struct vd__connection *connection = streams->closed;
        streams->closed = connection->next_closed;
        vd__loop_release(streams->loop, connection, sizeof *connection);
    }
}
