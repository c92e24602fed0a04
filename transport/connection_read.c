/* connection_read.c - bytes in, messages up.
 *
 * Bytes are read into a buffer that all connections share, and messages are handed up from there.
 * Only when a message has not come whole, its front is kept, in a buffer of the connection, and
 * what follows is read to behind it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connection.h"

/* How much of a connection's receiving a datagram's worth of the turn's quota pays for. */
enum { BYTES_PER_QUOTA = 1024 };

static struct vd_flow flow_of(const struct vd__connection *connection)
{
    return (struct vd_flow){
        .endpoint = connection->endpoint->number,
        .connection = connection->number,
        .remote = connection->remote,
    };
}

/* ---- Messages ---- */

static void hand_up(struct vd__connection *connection)
{
    struct vd__streams *streams = vd__streams_of(connection);
    struct vd__stream_stack *owner = connection->endpoint->owner;
    struct vd_flow flow = flow_of(connection);

    streams->counters.received_messages++;
    if (connection->awaits_first) {
        connection->awaits_first = false;
        vd__deadline_clear(&connection->phase);
        if (connection->channel->first_message != NULL) {
            connection->channel->first_message(connection, &owner->message);
        }
    }
    if (owner->message.is_request && owner->message.method_id != VD_METHOD_ACK) {
        connection->unanswered++;
    }
    /* What it makes of the message the stack counts and logs by itself. */
    (void)vd_stack_receive_message(owner->stack, &flow, &owner->message, streams->loop->now);
}

/* The stream has lost its framing: the peer gets what answer there is, and no more (RFC 3261 18.3).
 */
static void refuse(struct vd__connection *connection, int error)
{
    struct vd__streams *streams = vd__streams_of(connection);
    struct vd__stream_stack *owner = connection->endpoint->owner;
    struct vd_flow flow = flow_of(connection);

    streams->counters.framing_errors++;
    vd_stack_receive_fault(owner->stack, &flow, error, &owner->message, streams->loop->now);
    vd__connection_close_after_sending(connection);
}

/* Hands up the messages in bytes. Returns how many bytes are done with; the connection may have
 * begun to close. */
static size_t take_messages(struct vd__connection *connection, const char *bytes, size_t size)
{
    struct vd__streams *streams = vd__streams_of(connection);
    struct vd__stream_stack *owner = connection->endpoint->owner;
    size_t taken = 0;

    while (taken < size) {
        struct vd_frame frame;
        int error = vd_framer_next(&connection->framer, bytes + taken, size - taken, owner->limits,
                                   &owner->message, &frame);
        if (error != 0) {
            refuse(connection, error);
            break;
        }
        taken += frame.consumed;
        if (frame.kind == VD_FRAME_MESSAGE) {
            hand_up(connection);
        } else if (frame.kind == VD_FRAME_PING) {
            streams->counters.received_pings++;
            vd__connection_pong(connection);
        } else if (frame.kind == VD_FRAME_NONE) {
            break;
        }
    }
    return taken;
}

/* ---- Parts of messages ---- */

/* The time for a message runs from its first byte. */
static void time_message(struct vd__connection *connection, bool begun, bool is_new)
{
    struct vd__streams *streams = vd__streams_of(connection);

    if (connection->awaits_first) {
        return;
    }
    if (!begun) {
        vd__deadline_clear(&connection->phase);
    } else if (is_new || !vd__deadline_is_set(&connection->phase)) {
        vd__deadline_set(&streams->waits[VD__WAIT_MESSAGE], &connection->phase, streams->loop->now);
    }
}

static void take_bytes(struct vd__connection *connection, const char *bytes, size_t size)
{
    struct vd__streams *streams = vd__streams_of(connection);
    size_t taken = take_messages(connection, bytes, size);

    if (connection->state != VD__CONNECTION_OPEN) {
        return;
    }
    size_t left = size - taken;
    time_message(connection, left > 0, taken > 0);
    if (taken == 0 && bytes == connection->partial.bytes) {
        return; /* it is where it should be */
    }
    size_t room = connection->framer.needed > left ? connection->framer.needed : left + 1;
    if (!vd__partial_keep(&streams->partials, &connection->partial, bytes + taken, left, room)) {
        vd__connection_close(connection, VD_ERR_NOMEM, 0, "no memory for a part of a message");
    }
}

/* ---- Reading ---- */

/* Where bytes are read to: room.iov_base, behind size bytes that are there already. */
struct target {
    char *bytes;
    size_t size;
    size_t room;
};

/* False without memory. */
static bool find_target(struct vd__connection *connection, size_t budget, struct target *target)
{
    struct vd__streams *streams = vd__streams_of(connection);
    struct vd__partial *partial = &connection->partial;

    if (partial->size <= VD__STREAM_COPIED) {
        *target = (struct target){streams->buffer, partial->size, budget};
        if (partial->size > 0) {
            memcpy(streams->buffer, partial->bytes, partial->size);
        }
        return true;
    }
    size_t needed = connection->framer.needed;
    if (needed <= partial->size) {
        needed = (size_t)partial->size + 1;
    }
    if (!vd__partial_reserve(&streams->partials, partial, needed)) {
        return false;
    }
    *target = (struct target){partial->bytes, partial->size, partial->capacity - partial->size};
    return true;
}

static void read_failed(struct vd__connection *connection, ssize_t result)
{
    switch (result) {
    case VD__CHANNEL_END:
        vd__connection_half_close(connection);
        break;
    case VD__CHANNEL_BROKEN:
        vd__streams_of(connection)->counters.broken++;
        vd__connection_close(connection, VD_ERR_TRANSPORT, connection->system_error,
                             "a connection broke");
        break;
    default:
        connection->read_waits_for = result == VD__CHANNEL_WANT_WRITE ? VD__WRITABLE : 0;
        vd__connection_watch(connection);
        break;
    }
}

/* Reads once, at most about *budget bytes, which it diminishes. Returns true when there may be more
 * that the selector does not tell of, or when a long message was completed and budget is left. */
static bool read_some(struct vd__connection *connection, size_t *budget)
{
    struct vd__streams *streams = vd__streams_of(connection);
    const struct vd__channel_ops *channel = connection->channel;
    struct target target;

    if (!find_target(connection, *budget, &target)) {
        vd__connection_close(connection, VD_ERR_NOMEM, 0, "no memory for a part of a message");
        return false;
    }
    ssize_t count = channel->read(connection, target.bytes + target.size, target.room);
    streams->counters.receive_calls++;
    if (count <= 0) {
        read_failed(connection, count);
        return false;
    }
    streams->counters.received_bytes += (uint64_t)count;
    *budget -= (size_t)count < *budget ? (size_t)count : *budget;
    vd__connection_active(connection);
    bool filled = target.bytes != streams->buffer && (size_t)count == target.room;
    if (target.bytes != streams->buffer) {
        connection->partial.size += (uint32_t)count;
    }
    take_bytes(connection, target.bytes, target.size + (size_t)count);
    if (connection->state != VD__CONNECTION_OPEN) {
        return false;
    }
    if (channel->pending != NULL && channel->pending(connection) > 0) {
        *budget = *budget > 0 ? *budget : BYTES_PER_QUOTA;
        return true;
    }
    return filled && *budget > 0;
}

void vd__connection_receive(struct vd__connection *connection)
{
    size_t budget = vd__streams_of(connection)->loop->receive_quota * BYTES_PER_QUOTA;

    budget = budget > BYTES_PER_QUOTA ? budget : BYTES_PER_QUOTA;
    budget = budget < VD__STREAM_READ ? budget : VD__STREAM_READ;
    connection->read_waits_for = 0;
    while (read_some(connection, &budget)) {
        /* Bounded by budget, and by what the channel holds. */
    }
}

void vd__connection_discard(struct vd__connection *connection)
{
    struct vd__streams *streams = vd__streams_of(connection);
    ssize_t count = connection->channel->read(connection, streams->buffer, VD__STREAM_READ);

    streams->counters.receive_calls++;
    if (count == VD__CHANNEL_END || count == VD__CHANNEL_BROKEN) {
        vd__connection_close(connection, 0, 0, NULL);
    }
}
