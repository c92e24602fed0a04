/* floor_tcp.c - the floor's TCP connections: a read takes as much as a stream holds, a writev all
 * that a connection has to send in a turn.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "floor_tls.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 4096, ACCEPT_BATCH = 64 };

static unsigned port_of(const struct floor_address *address)
{
    return ntohs(address->any.sa_family == AF_INET6 ? address->v6.sin6_port : address->v4.sin_port);
}

/* ---- Opening ---- */

int floor_tcp_listen(struct floor_loop *loop, struct floor_socket *opened,
                     const struct floor_address *address)
{
    int one = 1;
    opened->role = FLOOR_LISTENER;
    opened->fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (opened->fd < 0) {
        return floor_fail("cannot open a socket: %s", strerror(errno));
    }
    if (setsockopt(opened->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
        bind(opened->fd, &address->any, address->length) < 0 || listen(opened->fd, BACKLOG) < 0) {
        return floor_fail("cannot listen on %s port %u: %s", loop->options->bind_text,
                          port_of(address), strerror(errno));
    }
    return floor_loop_watch(loop, opened);
}

/* Messages are gathered here, so the kernel need not wait for more. */
static int watch_stream(struct floor_loop *loop, struct floor_socket *socket)
{
    int one = 1;
    socket->role = FLOOR_STREAM;
    if (setsockopt(socket->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0) {
        return floor_fail("cannot set TCP_NODELAY: %s", strerror(errno));
    }
    if (loop->options->tls && floor_tls_open(loop, socket) < 0) {
        return -1;
    }
    return floor_loop_watch(loop, socket);
}

int floor_tcp_connect(struct floor_loop *loop, struct floor_socket *opened,
                      const struct floor_address *peer)
{
    opened->fd = socket(peer->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (opened->fd < 0) {
        return floor_fail("cannot open a socket: %s", strerror(errno));
    }
    if (connect(opened->fd, &peer->any, peer->length) < 0) {
        return floor_fail("cannot connect to %s port %u: %s", loop->options->bind_text,
                          port_of(peer), strerror(errno));
    }
    return watch_stream(loop, opened);
}

static int add_accepted(struct floor_loop *loop, const struct floor_socket *listener, int fd)
{
    struct floor_socket *accepted = calloc(1, sizeof *accepted);
    if (accepted == NULL) {
        close(fd);
        return floor_fail("out of memory");
    }
    accepted->fd = fd;
    accepted->was_accepted = true;
    accepted->on_message = listener->on_message;
    accepted->side = listener->side;
    accepted->next_accepted = loop->accepted;
    loop->accepted = accepted;
    return watch_stream(loop, accepted);
}

int floor_tcp_accept(struct floor_loop *loop, struct floor_socket *listener)
{
    for (int i = 0; i < ACCEPT_BATCH; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return 0;
        }
        if (fd < 0 && errno != EINTR && errno != ECONNABORTED) {
            return floor_fail("cannot accept: %s", strerror(errno));
        }
        if (fd >= 0 && add_accepted(loop, listener, fd) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- Sending ---- */

static int fill_send_vector(struct floor_loop *loop, const struct floor_socket *socket)
{
    int count = 0;
    size_t skip = socket->sent;
    struct floor_message *message = socket->first;
    for (; message != NULL && count < FLOOR_SEND_BATCH; message = message->next) {
        loop->send_iov[count].iov_base = message->bytes + skip;
        loop->send_iov[count].iov_len = message->length - skip;
        skip = 0;
        count++;
    }
    return count;
}

void floor_tcp_sent(struct floor_loop *loop, struct floor_socket *socket, size_t sent)
{
    sent += socket->sent;
    while (socket->first != NULL && sent >= socket->first->length) {
        sent -= socket->first->length;
        floor_loop_sent(loop, socket);
    }
    socket->sent = sent;
}

int floor_tcp_flush(struct floor_loop *loop, struct floor_socket *socket)
{
    while (socket->first != NULL && socket->fd >= 0) {
        struct msghdr message = {.msg_iov = loop->send_iov,
                                 .msg_iovlen = (size_t)fill_send_vector(loop, socket)};
        ssize_t sent = sendmsg(socket->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return floor_loop_await_writable(loop, socket, true);
        }
        if (sent < 0 && errno != EINTR) {
            return floor_fail("cannot send: %s", strerror(errno));
        }
        floor_tcp_sent(loop, socket, sent > 0 ? (size_t)sent : 0);
    }
    return 0;
}

/* ---- Receiving ---- */

/* Hands on the whole messages among bytes. Returns how many bytes they have, or -1. */
static ssize_t deliver(struct floor_loop *loop, struct floor_socket *socket,
                       const unsigned char *bytes, size_t length)
{
    size_t done = 0;
    struct floor_header header;
    while (length - done >= sizeof header) {
        memcpy(&header, bytes + done, sizeof header);
        if (header.kind >= FLOOR_KIND_COUNT) {
            return floor_fail("a stream has lost its framing");
        }
        size_t size = loop->options->bytes[header.kind];
        if (length - done < size) {
            break;
        }
        socket->on_message(socket->side, socket, &header, NULL);
        done += size;
    }
    return (ssize_t)done;
}

static int keep(struct floor_loop *loop, struct floor_socket *socket, const unsigned char *bytes,
                size_t length)
{
    if (length > 0 && socket->partial == NULL) {
        socket->partial = malloc(loop->room);
        if (socket->partial == NULL) {
            return floor_fail("out of memory");
        }
    }
    if (length > 0) {
        memcpy(socket->partial, bytes, length);
    }
    socket->partial_length = length;
    return 0;
}

size_t floor_tcp_resume(struct floor_loop *loop, const struct floor_socket *socket)
{
    if (socket->partial_length > 0) {
        memcpy(loop->receive_bytes, socket->partial, socket->partial_length);
    }
    return socket->partial_length;
}

int floor_tcp_take(struct floor_loop *loop, struct floor_socket *socket, size_t length)
{
    ssize_t done = deliver(loop, socket, loop->receive_bytes, length);
    return done < 0 ? -1 : keep(loop, socket, loop->receive_bytes + done, length - (size_t)done);
}

int floor_tcp_ended(struct floor_socket *socket)
{
    if (!socket->was_accepted) {
        return floor_fail("the receiver has closed a connection");
    }
    close(socket->fd);
    socket->fd = -1;
    return 0;
}

int floor_tcp_drain(struct floor_loop *loop, struct floor_socket *socket)
{
    ssize_t count;
    do {
        size_t kept = floor_tcp_resume(loop, socket);
        count = recv(socket->fd, loop->receive_bytes + kept, FLOOR_STREAM_ROOM, MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
            return 0;
        }
        if (count == 0 || (count < 0 && errno == ECONNRESET)) {
            return floor_tcp_ended(socket);
        }
        if (count < 0) {
            return floor_fail("cannot receive: %s", strerror(errno));
        }
        if (floor_tcp_take(loop, socket, kept + (size_t)count) < 0) {
            return -1;
        }
    } while (count == FLOOR_STREAM_ROOM);
    return 0;
}
