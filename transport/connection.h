/* connection.h - connections that carry streams of messages, for the files of transport/ and their
 * tests.
 *
 * What is here serves TCP and whatever runs over it; how bytes pass the socket is the channel's
 * matter (channel.h).
 *
 *     tcp.c               what the application calls
 *     stream.c            all connections of a loop: which one a message takes, the turn's steps
 *     stream_endpoint.c   local ends
 *     stream_socket.c     asks the system for sockets
 *     listener.c          accepts connections, and waits when it may not
 *     connection.c        a connection from its making to its end
 *     connection_read.c   bytes in, messages up
 *     connection_write.c  messages out: the queue of a connection
 *     connection_time.c   what takes too long
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_CONNECTION_H
#define VIADUCT_TRANSPORT_CONNECTION_H

#include <viaduct/frame.h>
#include <viaduct/tcp.h>

#include "channel.h"
#include "connection_origin.h"
#include "connection_table.h"
#include "deadline.h"
#include "loop_internal.h"
#include "partial.h"
#include "selector.h"
#include "sockaddr.h"

struct vd__outgoing;
struct vd__outgoing_chunk;

enum {
    VD__STREAM_READ = 256 * 1024, /* bytes that one read may bring */
    /* A part of a message up to this size is put before them into the common buffer, so that one
     * read completes it and takes what follows. A longer one is completed where it is, lest it be
     * copied for each few bytes of a slow peer. */
    VD__STREAM_COPIED = 4096,
    VD__STREAM_BUFFER_SIZE = VD__STREAM_READ + VD__STREAM_COPIED
};

enum vd__connection_state {
    /* The kernel, and then the channel, does what must be done before bytes can pass. */
    VD__CONNECTION_OPENING,
    VD__CONNECTION_OPEN,
    /* The peer sends no more, but it may still wait for answers. */
    VD__CONNECTION_HALF_CLOSED,
    /* The stream cannot be trusted any more: nothing is read, what the stack has to say goes out.
     */
    VD__CONNECTION_CLOSING,
    /* Our sending half is shut. What comes is thrown away until the peer closes too: to close with
     * bytes unread would reset the connection, and the peer might lose our last message. */
    VD__CONNECTION_LINGERING,
    /* The socket is closed; the object is freed at the end of the turn. */
    VD__CONNECTION_CLOSED
};

struct vd__connection {
    struct vd__source source; /* first: the selector gives it back */
    struct vd__stream_endpoint *endpoint;
    const struct vd__channel_ops *channel;
    void *channel_state; /* the channel's own */
    struct vd_addr remote;
    uint32_t number;
    uint8_t state;
    uint8_t interest;           /* as the selector knows it */
    uint8_t write_waits_for;    /* what opening, and then writing, must wait for; 0 for nothing */
    uint8_t read_waits_for;     /* VD__WRITABLE when the channel's reading waits for it, else 0 */
    bool connecting : 1;        /* the kernel has not connected the socket yet */
    bool awaits_first : 1;      /* accepted, and no whole message has come */
    bool sent_request : 1;      /* a request of ours has left on it */
    bool wrote_half_closed : 1; /* something was written since the peer's end */
    bool touched : 1;           /* on the list of connections to be flushed */
    bool tabled : 1;            /* found by address */
    int system_error;           /* of the channel's last VD__CHANNEL_BROKEN */

    struct vd__connection *next_tabled;  /* in its bucket */
    struct vd__connection *next_touched; /* in streams->touched */
    struct vd__connection *next_closed;  /* in streams->closed */
    struct vd__origin *origin;           /* of an accepted connection */
    uint32_t hash;
    uint32_t unanswered; /* requests received less final responses sent */

    struct vd_framer framer;
    struct vd__partial partial;

    struct vd__outgoing *first;
    struct vd__outgoing *last;
    uint32_t queued_messages;
    uint32_t queued_bytes;
    uint32_t sent_of_first; /* bytes of the first message that are written */

    struct vd__deadline phase; /* opening, the first message, a later message, lingering */
    struct vd__deadline send;
    struct vd__deadline idle;
};

/* A local end. The listener's part is unused when it does not listen. */
struct vd__stream_endpoint {
    struct vd__source source; /* first: the listener; fd is -1 when there is none */
    struct vd__streams *streams;
    struct vd__stream_stack *owner;
    const struct vd__channel_ops *channel; /* of its connections */
    void *channel_context;                 /* what they share, the channel's own */
    struct vd_addr local;
    uint32_t number; /* the stack's */
    uint32_t id;     /* different for each endpoint of a loop */
    uint32_t receive_buffer;
    uint32_t send_buffer;
    bool paused;
    struct vd__stream_endpoint *next_paused;
    struct vd__stream_endpoint *next;
};

/* What a stack needs for streams: its endpoints by number, and a message to parse into. */
struct vd__stream_stack {
    struct vd_stack *stack;
    struct vd__stream_endpoint **endpoints;
    size_t capacity;
    const struct vd_limits *limits;
    struct vd_message message;
    struct vd_header *headers;
};

enum vd__stream_deadlines {
    VD__WAIT_CONNECT,
    VD__WAIT_FIRST_MESSAGE,
    VD__WAIT_MESSAGE,
    VD__WAIT_LINGER,
    VD__WAIT_SEND,
    VD__WAIT_IDLE,
    VD__WAITS
};

/* The connections of a loop. */
struct vd__streams {
    struct vd_loop *loop;
    struct vd_tcp_limits limits;
    struct vd_tcp_counters counters;
    struct vd__stream_endpoint *endpoints;
    uint32_t last_id;

    struct vd__connection_table table;
    struct vd__origins origins;
    struct vd__deadlines waits[VD__WAITS];

    /* What is read lands here, behind the part of its message that has come before. It is made with
     * the first endpoint. */
    char *buffer;
    struct vd__partial_pool partials;

    struct vd__connection *touched; /* to be flushed in this turn */
    struct vd__connection *closed;  /* to be freed at its end */

    /* Listeners that wait for a file descriptor, first come first, and when to try again. */
    struct vd__stream_endpoint *paused_first;
    struct vd__stream_endpoint *paused_last;
    vd_time resume_at;
    uint32_t freed_descriptors; /* in this turn */

    uint64_t queued_bytes;       /* of all connections */
    struct vd__outgoing *unused; /* room for messages that wait */
    struct vd__outgoing_chunk *chunks;
};

/* ---- stream.c ---- */

/* NULL when there is no memory, or no random bytes. The loop must outlive it. */
struct vd__streams *vd__streams_new(struct vd_loop *loop);

/* Closes everything. Messages that wait are given back unsent. */
void vd__streams_free(struct vd__streams *streams);

/* Takes those of count messages that leave by streams. The others are moved to the front, in their
 * order; returns how many. */
size_t vd__streams_send(struct vd__streams *streams, const struct vd__served_stack *served,
                        struct vd_send *sends, size_t count);

/* Finds a connection for the message, or makes one, and queues it; or gives it back, failed. */
void vd__streams_route(struct vd__stream_endpoint *endpoint, const struct vd_send *message);

/* Gives a message back to its stack, failed. */
void vd__streams_fail(struct vd__stream_endpoint *endpoint, const struct vd_send *message,
                      int error);

/* Writes what has been queued in this turn. */
void vd__streams_flush(struct vd__streams *streams);

/* The last step of a turn. */
void vd__streams_end_turn(struct vd__streams *streams);

/* ---- stream_endpoint.c ---- */

/* Whether an endpoint may be opened with these. */
bool vd__streams_may_open(const struct vd_addr *bind, const struct vd_tcp_options *options);

/* Opens an endpoint whose connections have the channel, and makes it known to the stack under the
 * transport. When it succeeds channel_context, which may be NULL, is the endpoint's. Errors as of
 * vd_tcp_open. */
int vd__streams_open(struct vd_loop *loop, struct vd_stack *stack, enum vd_transport transport,
                     const struct vd__channel_ops *channel, void *channel_context,
                     const struct vd_addr *bind, const struct vd_tcp_options *options,
                     uint32_t *endpoint);

/* The endpoint of a stack; NULL when it is none of streams. */
struct vd__stream_endpoint *vd__streams_endpoint(const struct vd__served_stack *served,
                                                 uint32_t endpoint);

/* Closes the listeners and frees all endpoints. No connection may be left. */
void vd__stream_endpoints_free(struct vd__streams *streams);

/* ---- stream_socket.c ---- */

/* Opens a listener. Returns 0 with *fd and *local, or an error of vd_tcp_open, which was logged. */
int vd__stream_listen(const struct vd_loop *loop, const struct vd_addr *bind,
                      const struct vd_tcp_options *options, int *fd, struct vd_addr *local);

/* Begins to connect from the endpoint's address. Returns the socket with *connecting, or -1 with
 * errno. */
int vd__stream_connect(const struct vd__stream_endpoint *endpoint, const struct vd_addr *remote,
                       bool *connecting);

/* Takes and returns the error that waits at a socket, 0 for none. */
int vd__stream_take_error(int fd);

/* ---- listener.c ---- */

/* Waiting connections are to be accepted. */
void vd__listener_ready(struct vd__source *source, unsigned readiness);

/* Lets listeners that wait for a descriptor try again, as many as descriptors were freed; all of
 * them when their time has come. */
void vd__listeners_resume(struct vd__streams *streams);

/* ---- connection.c ---- */

/* Makes an object for a socket and watches it. The socket is the connection's from here on, and
 * after a failure closed. NULL without memory, or when the selector refuses. */
struct vd__connection *vd__connection_new(struct vd__stream_endpoint *endpoint, int fd,
                                          const struct vd_addr *remote, bool connecting);

/* A connection of the endpoint's to a remote address. NULL with *error, which a transaction can be
 * told. */
struct vd__connection *vd__connection_make(struct vd__stream_endpoint *endpoint,
                                           const struct vd_addr *remote, int *error);

/* The socket was connected, or accepted: goes on until the connection is open. */
void vd__connection_progress(struct vd__connection *connection);

/* The peer sends no more. */
void vd__connection_half_close(struct vd__connection *connection);

/* Nothing more is read; what is queued in this turn goes out, then it is closed. */
void vd__connection_close_after_sending(struct vd__connection *connection);

/* Shuts the sending half. */
void vd__connection_linger(struct vd__connection *connection);

/* Closes the socket. Transactions that wait for something on it, and unsent messages, get error;
 * responses try another way. text, a static one, is logged unless it is NULL. */
void vd__connection_close(struct vd__connection *connection, int error, int system_error,
                          const char *text);

/* Closes the oldest connection that was accepted and has brought no message yet. False when there
 * is none. */
bool vd__connection_evict(struct vd__streams *streams);

/* Tells the selector what the connection waits for. */
void vd__connection_watch(struct vd__connection *connection);

/* Frees what is closed. */
void vd__connections_purge(struct vd__streams *streams);

/* Raises a log event about the connection. */
void vd__connection_log(const struct vd__connection *connection, enum vd_log_level level, int error,
                        int system_error, const char *text);

static inline struct vd__streams *vd__streams_of(const struct vd__connection *connection)
{
    return connection->endpoint->streams;
}

/* ---- connection_read.c ---- */

/* Reads a bounded number of bytes and hands up the messages in them. */
void vd__connection_receive(struct vd__connection *connection);

/* Reads and throws away. */
void vd__connection_discard(struct vd__connection *connection);

/* ---- connection_write.c ---- */

/* Queues a message that stays the stack's. Without room for it it is given back, failed. */
void vd__connection_enqueue(struct vd__connection *connection, const struct vd_send *message);

/* Queues a CRLF, which answers a ping. Without room for it the ping has no answer. */
void vd__connection_pong(struct vd__connection *connection);

/* Lets the connection be flushed in this turn. */
void vd__connection_touch(struct vd__connection *connection);

/* Writes what is queued, as far as the peer takes it. */
void vd__connection_flush(struct vd__connection *connection);

/* Takes the first message off the queue, CRLFs before it too. False when there is none. */
bool vd__connection_dequeue(struct vd__connection *connection, struct vd_send *message);

/* True for a request, false for a response. */
bool vd__is_request(const struct vd_send *message);

/* Frees the room for messages that wait; none may wait. */
void vd__outgoing_free(struct vd__streams *streams);

/* ---- connection_time.c ---- */

/* Puts the limits in force. */
void vd__streams_limit(struct vd__streams *streams, const struct vd_tcp_limits *limits);

/* Closes what has taken too long. */
void vd__streams_expire(struct vd__streams *streams);

/* When vd__streams_expire must be called next. */
vd_time vd__streams_next_deadline(const struct vd__streams *streams);

/* A byte has moved. */
void vd__connection_active(struct vd__connection *connection);

#endif
