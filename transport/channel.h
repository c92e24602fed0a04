/* channel.h - how the bytes of a connection pass its socket: as they are, or through a filter.
 *
 * A connection (connection.h) frames, queues and keeps time in the same way whatever its channel
 * does to the bytes. Everything here is non-blocking.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_CHANNEL_H
#define VIADUCT_TRANSPORT_CHANNEL_H

#include <sys/types.h>
#include <sys/uio.h>

#include <viaduct/addr.h>
#include <viaduct/base.h>

struct vd__connection;
struct vd__stream_endpoint;
struct vd_loop;
struct vd_message;

/* What a function of a channel returns when it is no count of bytes. */
enum vd__channel_result {
    VD__CHANNEL_END = 0,         /* read: the peer sends no more; progress: the channel is open */
    VD__CHANNEL_WANT_READ = -1,  /* it can go on when the socket is readable */
    VD__CHANNEL_WANT_WRITE = -2, /* ... is writable */
    VD__CHANNEL_BROKEN = -3      /* connection->system_error has the errno, 0 for none */
};

struct vd__channel_ops {
    /* Goes on with what must be done before bytes can pass, once the socket is connected: returns
     * VD__CHANNEL_END when it is done. NULL when nothing is. */
    int (*progress)(struct vd__connection *connection);

    /* Reads at most size bytes. Returns how many, or a vd__channel_result. */
    ssize_t (*read)(struct vd__connection *connection, char *bytes, size_t size);

    /* Writes what is in count vectors, or the front of it. Returns how many bytes were taken, at
     * least 1, or a vd__channel_result other than VD__CHANNEL_END. What was not taken is offered
     * again from the same addresses. */
    ssize_t (*write)(struct vd__connection *connection, const struct iovec *vectors, int count);

    /* Bytes that the channel holds: read would give them without the socket. NULL for none ever. */
    size_t (*pending)(const struct vd__connection *connection);

    /* Tells the peer that nothing more is sent. */
    void (*shut)(struct vd__connection *connection);

    /* Frees connection->channel_state; the socket is closed by the caller. NULL when there is none.
     */
    void (*free)(struct vd__connection *connection);

    /* Whether a connection that has become open may be found by its address. NULL when it always
     * may. */
    bool (*reusable)(struct vd__connection *connection);

    /* Takes note of the first message of an accepted connection. NULL when it does not matter. */
    void (*first_message)(struct vd__connection *connection, struct vd_message *message);

    /* Another connection of the endpoint that leads to remote; NULL for none. NULL when there never
     * is one. */
    struct vd__connection *(*find_alias)(const struct vd__stream_endpoint *endpoint,
                                         const struct vd_addr *remote);

    /* Frees endpoint->channel_context, which is then the endpoint's. NULL when there is none. */
    void (*free_context)(struct vd_loop *loop, void *context);
};

/* The channel of TCP: bytes as they are. */
extern const struct vd__channel_ops vd__channel_tcp;

#endif
