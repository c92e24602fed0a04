/* viaduct/tcp.h - TCP endpoints and connections of a loop (RFC 3261 18, RFC 5626 3.5.1).
 *
 * An endpoint is a local address of one stack: a listener, unless it is opened without, and all the
 * connections that it accepted or made. It lives until its loop is freed.
 *
 * Which connection a message takes. A response goes back on the connection that its request came
 * on; when that is gone, to the source address at the port of sent-by (RFC 3261 18.2.2). Every
 * other message takes a connection of its endpoint to its destination, whichever side opened it;
 * when there is none, one is made, and messages wait until it is there. A connection that has
 * failed or is being closed is no candidate, so one new connection takes its place for everything
 * that follows.
 *
 * What fails. When a connection cannot be made, each message that waits for it fails at once with
 * VD_ERR_REFUSED, VD_ERR_UNREACHABLE or VD_ERR_TRANSPORT (the time is over, or anything else). When
 * one breaks, its unsent messages fail with VD_ERR_TRANSPORT, except that responses try the way
 * that is left to them; and the transactions whose requests left on it and that still wait for a
 * final response fail as well. A message that finds the send queue of its connection full fails
 * alone.
 *
 * Streams. CRLF CRLF between messages is answered with CRLF. A stream that loses its framing gets
 * the response that its request deserves, if there is one; then the connection is closed. When the
 * peer closes its sending half, answers to what it has sent still go out to it, then the connection
 * is closed. What is sent in one turn of the loop leaves each connection together.
 *
 * Memory. A connection that holds no part of a message and no message to be sent has no buffer of
 * its own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TCP_H
#define VIADUCT_TCP_H

#include <viaduct/addr.h>
#include <viaduct/base.h>
#include <viaduct/error.h>
#include <viaduct/loop.h>
#include <viaduct/stack.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the stream connections of a loop may take, all endpoints together. Always start with
 * vd_tcp_limits_init. Times are from 1 ms to 24 h. A connection that reaches a limit in time is
 * closed; each limit has a counter, and what is closed or refused by it is a log event. */
struct vd_tcp_limits {
    /* Connections at once, those included that are being made or closed: default 100,000, at least
     * 1. At the limit, and when the process has no file descriptor left, a new connection takes the
     * place of the oldest accepted one that has not brought a whole message yet; when there is no
     * such one, it is refused, or waits in the kernel until a descriptor is free. */
    uint32_t connections;

    /* Accepted connections at once from one source: an IPv4 address, or 64 bits of an IPv6 address.
     * Default 16,384; 0 for no limit. Further ones are closed at once. */
    uint32_t connections_per_source;

    /* Bytes and messages that may wait for one connection: default 4 MiB and 16,384; at least 1. A
     * message that is longer than the limit by itself passes when the queue is empty. */
    uint32_t queue_bytes;
    uint32_t queue_messages;
    /* Bytes that may wait for all of them: default 1 GiB, at least 1. */
    uint64_t total_queue_bytes;

    /* From the start of a connection of ours until it is there: default 8 s. */
    vd_time connect_time;
    /* From accepting a connection until its first whole message: default 20 s. */
    vd_time first_message_time;
    /* From the first byte of a later message until its last: default 10 s. */
    vd_time message_time;
    /* While messages wait and the peer takes not a single byte: default 32 s. */
    vd_time send_time;
    /* While no byte moves in either direction: default 10 min. Up to a sixteenth may be added to
     * it. Choose it longer than 64*T1, lest a connection be closed on which a response is due. */
    vd_time idle_time;
};

/* Fills in the defaults. */
VD_API void vd_tcp_limits_init(struct vd_tcp_limits *limits);

/* Sets the limits. limits is copied. Returns 0, VD_ERR_INVALID (a value out of its range),
 * VD_ERR_STATE (the loop has an endpoint for connections already). */
VD_API int vd_tcp_set_limits(struct vd_loop *loop, const struct vd_tcp_limits *limits);

/* The limits in force. */
VD_API void vd_tcp_get_limits(const struct vd_loop *loop, struct vd_tcp_limits *out);

/* How an endpoint is opened. Always start with vd_tcp_options_init. */
struct vd_tcp_options {
    /* The sent-by of the Via of requests that leave this endpoint: host or host:port (RFC 3261
     * 20.42). Empty for the address and port that the endpoint is bound to. It must be given when
     * that is a wildcard address. The text is copied. */
    struct vd_str sent_by;

    /* Accepts connections: default true. When false nothing is bound: bind->port is only what
     * stands in the Via, if it is not 0, and a response comes on the connection that its request
     * made or not at all. */
    bool listen;

    /* Connections that the kernel may hold for the listener until they are accepted: default 4096.
     * The kernel cuts it down to net.core.somaxconn. */
    uint32_t backlog;

    /* Bytes that the kernel may hold for each connection in each direction, SO_RCVBUF and
     * SO_SNDBUF: default 0, which leaves it to the system. */
    uint32_t receive_buffer;
    uint32_t send_buffer;
};

/* Fills in the defaults. */
VD_API void vd_tcp_options_init(struct vd_tcp_options *options);

/* Opens a TCP endpoint on bind, IPv4 or IPv6 (an IPv6 endpoint takes no IPv4), and makes it one of
 * stack, which must be one of the loop's. bind->port 0 lets the kernel choose; vd_tcp_local_addr
 * tells. Connections that the endpoint makes leave from the address of bind, at a port of the
 * kernel's choice. options is copied; NULL takes the defaults.
 *
 * Returns 0 with *endpoint, the number for vd_flow.endpoint; or
 * - VD_ERR_INVALID: no such stack, no family, a buffer size or backlog beyond INT_MAX, a sent_by
 *   that is none, or none at all with a wildcard address;
 * - VD_ERR_IN_USE: the address and port are taken;
 * - VD_ERR_LIMIT: no file descriptor left;
 * - VD_ERR_SYSTEM: the system refused otherwise (no such address, no right to the port, ...);
 * - VD_ERR_NOMEM.
 *
 * The errno is in a log event. After an error nothing is left open. */
VD_API int vd_tcp_open(struct vd_loop *loop, struct vd_stack *stack, const struct vd_addr *bind,
                       const struct vd_tcp_options *options, uint32_t *endpoint);

/* The address and port that an endpoint listens on; without a listener, those that were given.
 * Returns 0 with *out, or VD_ERR_INVALID when the endpoint is none of TCP of the loop. */
VD_API int vd_tcp_local_addr(const struct vd_loop *loop, const struct vd_stack *stack,
                             uint32_t endpoint, struct vd_addr *out);

/* What the stream connections of a loop have counted, all together, since it was made. */
struct vd_tcp_counters {
    uint64_t accepted;
    uint64_t connected;      /* connections of ours that came about */
    uint64_t closed;         /* of these two, for whatever reason */
    uint64_t broken;         /* of these, by a reset or another error */
    uint64_t connect_failed; /* refused, unreachable, out of time, ... */

    /* Limits reached. */
    uint64_t refused_total;      /* closed as soon as accepted, or not even begun: connections */
    uint64_t refused_per_source; /* closed as soon as accepted: connections_per_source */
    uint64_t evicted;            /* closed without a message yet, to make room for others */
    uint64_t accept_paused;      /* times that a listener had to wait for a file descriptor */
    uint64_t connect_timeouts;   /* connect_time */
    uint64_t silent_timeouts;    /* first_message_time */
    uint64_t message_timeouts;   /* message_time */
    uint64_t send_timeouts;      /* send_time */
    uint64_t idle_timeouts;      /* idle_time */
    uint64_t queue_full;         /* messages that failed because a queue, or the memory, was full */

    uint64_t received_messages; /* given to the stacks */
    uint64_t received_bytes;
    uint64_t receive_calls; /* system calls */
    uint64_t received_pings;
    uint64_t framing_errors; /* streams that lost their framing */
    uint64_t sent_messages;
    uint64_t sent_bytes;
    uint64_t send_calls;  /* system calls */
    uint64_t would_block; /* of these, how many ended because the kernel took no more */
    uint64_t send_failed; /* messages that failed with their connection, or for want of one */

    uint32_t connections; /* now, of all kinds */
    uint32_t waiting;     /* messages that wait for connections now */
};

/* Copies the counters as they are now. */
VD_API void vd_tcp_get_counters(const struct vd_loop *loop, struct vd_tcp_counters *out);

#ifdef __cplusplus
}
#endif

#endif
