/* connection_write.c - messages out: the queue of a connection.
 *
 * Messages of a turn are queued and then written together. What the peer does not take stays queued
 * until it does.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connection.h"

#include <string.h>

enum {
    CHUNK = 64,        /* messages that room is made for at a time */
    VECTORS_MAX = 256, /* messages in one system call */
    PONGS_MAX = 64     /* answers to pings that are written as one message */
};

/* A message that waits; or, with pongs, so many CRLFs. */
struct vd__outgoing {
    struct vd__outgoing *next;
    struct vd_send send;
    uint32_t pongs;
};

struct vd__outgoing_chunk {
    struct vd__outgoing_chunk *next;
    struct vd__outgoing outgoing[CHUNK];
};

static const char crlfs[2 * PONGS_MAX + 1] = "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
                                             "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
                                             "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
                                             "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
                                             "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
                                             "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
                                             "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
                                             "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n";

bool vd__is_request(const struct vd_send *message)
{
    /* No method has a slash in it. */
    return message->size < 4 || memcmp(message->data, "SIP/", 4) != 0;
}

/* "SIP/2.0 200 OK" */
static bool is_final_response(const struct vd_send *message)
{
    return !vd__is_request(message) && message->size > 8 && message->data[8] >= '2';
}

/* ---- Room ---- */

static struct vd__outgoing *take_room(struct vd__streams *streams)
{
    if (streams->unused == NULL) {
        struct vd__outgoing_chunk *chunk = vd__loop_allocate(streams->loop, sizeof *chunk);
        if (chunk == NULL) {
            return NULL;
        }
        chunk->next = streams->chunks;
        streams->chunks = chunk;
        for (size_t i = 0; i < CHUNK; i++) {
            chunk->outgoing[i].next = streams->unused;
            streams->unused = &chunk->outgoing[i];
        }
    }
    struct vd__outgoing *room = streams->unused;
    streams->unused = room->next;
    return room;
}

void vd__outgoing_free(struct vd__streams *streams)
{
    while (streams->chunks != NULL) {
        struct vd__outgoing_chunk *chunk = streams->chunks;
        streams->chunks = chunk->next;
        vd__loop_release(streams->loop, chunk, sizeof *chunk);
    }
    streams->unused = NULL;
}

/* ---- The queue ---- */

void vd__connection_touch(struct vd__connection *connection)
{
    struct vd__streams *streams = vd__streams_of(connection);

    if (!connection->touched) {
        connection->touched = true;
        connection->next_touched = streams->touched;
        streams->touched = connection;
    }
}

static void append(struct vd__connection *connection, struct vd__outgoing *outgoing)
{
    outgoing->next = NULL;
    if (connection->first == NULL) {
        connection->first = outgoing;
    } else {
        connection->last->next = outgoing;
    }
    connection->last = outgoing;
    connection->queued_messages++;
    connection->queued_bytes += (uint32_t)outgoing->send.size;
    vd__streams_of(connection)->queued_bytes += outgoing->send.size;
    vd__streams_of(connection)->counters.waiting++;
    vd__connection_touch(connection);
}

/* Takes the first one off the queue. Its room is free afterwards, but still holds it. */
static struct vd__outgoing *unlink_first(struct vd__connection *connection)
{
    struct vd__streams *streams = vd__streams_of(connection);
    struct vd__outgoing *outgoing = connection->first;

    connection->first = outgoing->next;
    connection->queued_messages--;
    connection->queued_bytes -= (uint32_t)outgoing->send.size;
    streams->queued_bytes -= outgoing->send.size;
    connection->sent_of_first = 0;
    streams->counters.waiting--;
    outgoing->next = streams->unused;
    streams->unused = outgoing;
    return outgoing;
}

bool vd__connection_dequeue(struct vd__connection *connection, struct vd_send *message)
{
    while (connection->first != NULL) {
        const struct vd__outgoing *outgoing = unlink_first(connection);
        if (outgoing->pongs == 0) {
            *message = outgoing->send;
            return true;
        }
    }
    return false;
}

static bool is_full(const struct vd__connection *connection, size_t size)
{
    const struct vd__streams *streams = vd__streams_of(connection);
    const struct vd_tcp_limits *limits = &streams->limits;

    return connection->queued_messages >= limits->queue_messages ||
           streams->queued_bytes + size > limits->total_queue_bytes ||
           (connection->queued_messages > 0 &&
            connection->queued_bytes + size > limits->queue_bytes);
}

static void refuse(struct vd__connection *connection, const struct vd_send *message,
                   const char *text)
{
    vd__streams_of(connection)->counters.queue_full++;
    vd__connection_log(connection, VD_LOG_WARNING, VD_ERR_TRANSPORT, 0, text);
    vd__streams_fail(connection->endpoint, message, VD_ERR_TRANSPORT);
}

void vd__connection_enqueue(struct vd__connection *connection, const struct vd_send *message)
{
    if (is_full(connection, message->size)) {
        /* It may be only this turn that was too much for it. */
        uint8_t state = connection->state;
        vd__connection_flush(connection);
        if (connection->state != state) {
            vd__streams_route(connection->endpoint, message);
            return;
        }
    }
    if (is_full(connection, message->size)) {
        refuse(connection, message, "the send queue of a connection is full");
        return;
    }
    struct vd__outgoing *outgoing = take_room(vd__streams_of(connection));
    if (outgoing == NULL) {
        refuse(connection, message, "no memory for the send queue of a connection");
        return;
    }
    outgoing->send = *message;
    outgoing->pongs = 0;
    append(connection, outgoing);
}

void vd__connection_pong(struct vd__connection *connection)
{
    struct vd__outgoing *last = connection->first != NULL ? connection->last : NULL;

    if (last != NULL && last->pongs > 0 && last->pongs < PONGS_MAX) {
        last->pongs++;
        last->send.size += 2;
        connection->queued_bytes += 2;
        vd__streams_of(connection)->queued_bytes += 2;
        return;
    }
    struct vd__outgoing *outgoing =
        is_full(connection, 2) ? NULL : take_room(vd__streams_of(connection));
    if (outgoing == NULL) {
        return;
    }
    outgoing->send = (struct vd_send){.data = crlfs, .size = 2};
    outgoing->pongs = 1;
    append(connection, outgoing);
}

/* ---- Writing ---- */

static int gather(const struct vd__connection *connection, struct iovec *vectors)
{
    size_t skip = connection->sent_of_first;
    int count = 0;

    for (const struct vd__outgoing *outgoing = connection->first;
         outgoing != NULL && count < VECTORS_MAX; outgoing = outgoing->next) {
        /* What writes only reads it. */
        char *data = (char *)(uintptr_t)outgoing->send.data;
        vectors[count++] = (struct iovec){data + skip, outgoing->send.size - skip};
        skip = 0;
    }
    return count;
}

/* A message is in the kernel's hands, whole. */
static void finish(struct vd__connection *connection, struct vd_send *message)
{
    if (vd__is_request(message)) {
        connection->sent_request = true;
    } else if (is_final_response(message) && connection->unanswered > 0) {
        connection->unanswered--;
    }
    vd__streams_of(connection)->counters.sent_messages++;
    message->flow.connection = connection->number;
    vd_stack_send_done(connection->endpoint->owner->stack, message);
}

static void consume(struct vd__connection *connection, size_t written)
{
    written += connection->sent_of_first;
    while (connection->first != NULL && written >= connection->first->send.size) {
        struct vd__outgoing *outgoing = unlink_first(connection);
        written -= outgoing->send.size;
        if (outgoing->pongs == 0) {
            finish(connection, &outgoing->send);
        }
    }
    connection->sent_of_first = (uint32_t)written;
}

static void write_stalled(struct vd__connection *connection, ssize_t result)
{
    vd__streams_of(connection)->counters.would_block++;
    connection->write_waits_for = result == VD__CHANNEL_WANT_READ ? VD__READABLE : VD__WRITABLE;
}

/* Writes until the queue is empty or the peer takes no more. False when the connection broke, and
 * is closed. */
static bool write_queue(struct vd__connection *connection)
{
    struct vd__streams *streams = vd__streams_of(connection);
    struct iovec vectors[VECTORS_MAX];

    while (connection->first != NULL && connection->write_waits_for == 0) {
        int count = gather(connection, vectors);
        ssize_t written = connection->channel->write(connection, vectors, count);
        streams->counters.send_calls++;
        if (written == VD__CHANNEL_BROKEN) {
            streams->counters.broken++;
            vd__connection_close(connection, VD_ERR_TRANSPORT, connection->system_error,
                                 "a connection broke");
            return false;
        }
        if (written <= 0) {
            write_stalled(connection, written);
            break;
        }
        streams->counters.sent_bytes += (uint64_t)written;
        connection->wrote_half_closed = connection->state == VD__CONNECTION_HALF_CLOSED;
        vd__deadline_clear(&connection->send);
        vd__connection_active(connection);
        consume(connection, (size_t)written);
    }
    return true;
}

/* All is written. */
static void finish_closing(struct vd__connection *connection)
{
    if (connection->state == VD__CONNECTION_CLOSING) {
        vd__connection_linger(connection);
    } else if (connection->state == VD__CONNECTION_HALF_CLOSED && connection->unanswered == 0) {
        vd__connection_close(connection, 0, 0, NULL);
    }
}

void vd__connection_flush(struct vd__connection *connection)
{
    struct vd__streams *streams = vd__streams_of(connection);
    uint8_t state = connection->state;

    if (state == VD__CONNECTION_OPENING || state == VD__CONNECTION_LINGERING ||
        state == VD__CONNECTION_CLOSED) {
        return;
    }
    if (state == VD__CONNECTION_HALF_CLOSED && connection->first == NULL &&
        connection->unanswered > 0 && !connection->wrote_half_closed) {
        /* Has the peer only shut its sending half, or is it gone? Whoever is gone answers a CRLF,
         * which everybody else ignores (RFC 3261 7.5), with a reset. So answers that are made later
         * take the way that is left to them (18.2.2) rather than get lost here. */
        vd__connection_pong(connection);
    }
    if (!write_queue(connection)) {
        return;
    }
    if (connection->first == NULL) {
        finish_closing(connection);
    } else if (!vd__deadline_is_set(&connection->send)) {
        vd__deadline_set(&streams->waits[VD__WAIT_SEND], &connection->send, streams->loop->now);
    }
    vd__connection_watch(connection);
}
