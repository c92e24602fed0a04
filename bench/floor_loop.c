/* floor_loop.c - the floor's loop: level-triggered epoll, and messages queued by socket that leave
 * at the end of the turn.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "floor_loop.h"

#include "floor_tls.h"
#include "floor_uring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    CHUNK_MESSAGES = 64, /* messages allocated at a time */
    CACHE_LINE = 64,
};

/* Messages are allocated in chunks and go round a free list, so none is allocated while it runs. */
struct floor_chunk {
    struct floor_chunk *next;
    unsigned char *bytes;
    struct floor_message messages[CHUNK_MESSAGES];
};

/* ---- Making and freeing ---- */

static void link_vectors(struct floor_loop *loop)
{
    for (size_t i = 0; i < FLOOR_RECEIVE_BATCH; i++) {
        loop->receive_iov[i].iov_base = loop->receive_bytes + i * loop->room;
        loop->receive_iov[i].iov_len = loop->room;
        loop->receive[i].msg_hdr.msg_iov = &loop->receive_iov[i];
        loop->receive[i].msg_hdr.msg_iovlen = 1;
        loop->receive[i].msg_hdr.msg_name = &loop->receive_from[i].any;
    }
    for (size_t i = 0; i < FLOOR_SEND_BATCH; i++) {
        loop->send[i].msg_hdr.msg_iov = &loop->send_iov[i];
        loop->send[i].msg_hdr.msg_iovlen = 1;
    }
}

static int allocate_buffers(struct floor_loop *loop)
{
    size_t longest = 0;
    for (size_t i = 0; i < FLOOR_KIND_COUNT; i++) {
        if (loop->options->bytes[i] > longest) {
            longest = loop->options->bytes[i];
        }
    }
    /* One byte more than the longest, so that a stranger's longer datagram never looks right. */
    loop->room = (longest + CACHE_LINE) / CACHE_LINE * CACHE_LINE;
    size_t datagrams = FLOOR_RECEIVE_BATCH * loop->room;
    size_t stream = FLOOR_STREAM_ROOM + loop->room;
    loop->receive_bytes = calloc(1, datagrams > stream ? datagrams : stream);
    loop->pattern = malloc(loop->room);
    if (loop->receive_bytes == NULL || loop->pattern == NULL) {
        return floor_fail("out of memory");
    }
    for (size_t i = 0; i < loop->room; i++) {
        loop->pattern[i] = (unsigned char)('a' + i % 26);
    }
    link_vectors(loop);
    return 0;
}

struct floor_loop *floor_loop_new(const struct floor_options *options)
{
    struct floor_loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL) {
        floor_fail("out of memory");
        return NULL;
    }
    loop->options = options;
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (loop->epoll_fd < 0 || loop->stop_fd < 0 ||
        epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->stop_fd, &event) < 0) {
        floor_fail("cannot set up epoll: %s", strerror(errno));
        floor_loop_free(loop);
        return NULL;
    }
    if (allocate_buffers(loop) < 0 ||
        (options->uring && (loop->uring = floor_uring_new(loop)) == NULL) ||
        (options->tls && (loop->tls = floor_tls_new()) == NULL)) {
        floor_loop_free(loop);
        return NULL;
    }
    return loop;
}

static void close_socket(struct floor_socket *socket)
{
    floor_tls_close(socket);
    if (socket->fd >= 0) {
        close(socket->fd);
    }
    free(socket->partial);
}

void floor_loop_free(struct floor_loop *loop)
{
    if (loop == NULL) {
        return;
    }
    floor_uring_free(loop->uring);
    while (loop->accepted != NULL) {
        struct floor_socket *socket = loop->accepted;
        loop->accepted = socket->next_accepted;
        close_socket(socket);
        free(socket);
    }
    while (loop->chunks != NULL) {
        struct floor_chunk *chunk = loop->chunks;
        loop->chunks = chunk->next;
        free(chunk->bytes);
        free(chunk);
    }
    floor_tls_free(loop->tls);
    free(loop->receive_bytes);
    free(loop->pattern);
    if (loop->epoll_fd >= 0) {
        close(loop->epoll_fd);
    }
    if (loop->stop_fd >= 0) {
        close(loop->stop_fd);
    }
    free(loop);
}

/* ---- Sockets ---- */

struct floor_address floor_address_at(const struct floor_options *options, uint32_t port)
{
    struct floor_address address = options->bind;
    if (address.any.sa_family == AF_INET6) {
        address.v6.sin6_port = htons((uint16_t)port);
    } else {
        address.v4.sin_port = htons((uint16_t)port);
    }
    return address;
}

static int open_socket(struct floor_loop *loop, struct floor_socket *socket, uint32_t port,
                       const struct floor_address *peer)
{
    struct floor_address address = floor_address_at(loop->options, port);
    if (!loop->options->tcp) {
        return floor_udp_open(loop, socket, &address);
    }
    return peer != NULL ? floor_tcp_connect(loop, socket, peer)
                        : floor_tcp_listen(loop, socket, &address);
}

struct floor_socket *floor_sockets_open(struct floor_loop *loop, uint32_t first_port,
                                        const struct floor_address *peers,
                                        floor_on_message on_message, void *side)
{
    uint32_t count = loop->options->ports;
    struct floor_socket *sockets = calloc(count, sizeof *sockets);
    if (sockets == NULL) {
        floor_fail("out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        sockets[i] = (struct floor_socket){.fd = -1, .on_message = on_message, .side = side};
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct floor_address *peer = peers != NULL ? &peers[i] : NULL;
        if (open_socket(loop, &sockets[i], first_port + i, peer) < 0) {
            floor_sockets_close(sockets, count);
            return NULL;
        }
    }
    return sockets;
}

void floor_sockets_close(struct floor_socket *sockets, uint32_t count)
{
    for (uint32_t i = 0; sockets != NULL && i < count; i++) {
        close_socket(&sockets[i]);
    }
    free(sockets);
}

struct floor_socket *floor_socket_at(struct floor_socket *sockets, uint32_t index)
{
    return &sockets[index];
}

int floor_loop_watch(struct floor_loop *loop, struct floor_socket *socket)
{
    if (loop->uring != NULL) {
        return floor_uring_watch(loop->uring, socket);
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = socket};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, socket->fd, &event) < 0) {
        return floor_fail("cannot watch a socket: %s", strerror(errno));
    }
    return 0;
}

int floor_loop_await_writable(struct floor_loop *loop, struct floor_socket *socket, bool await)
{
    struct epoll_event event = {.events = await ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = socket};
    if (loop->uring != NULL) {
        return floor_uring_await_writable(socket);
    }
    socket->blocked = await;
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, socket->fd, &event) < 0) {
        return floor_fail("cannot watch a socket: %s", strerror(errno));
    }
    return 0;
}

/* ---- Sending ---- */

static int add_chunk(struct floor_loop *loop)
{
    struct floor_chunk *chunk = calloc(1, sizeof *chunk);
    if (chunk == NULL || (chunk->bytes = malloc(CHUNK_MESSAGES * loop->room)) == NULL) {
        free(chunk);
        return floor_fail("out of memory");
    }
    for (size_t i = 0; i < CHUNK_MESSAGES; i++) {
        chunk->messages[i].bytes = chunk->bytes + i * loop->room;
        chunk->messages[i].next = loop->unused;
        loop->unused = &chunk->messages[i];
    }
    chunk->next = loop->chunks;
    loop->chunks = chunk;
    return 0;
}

static void flush_later(struct floor_loop *loop, struct floor_socket *socket)
{
    if (!socket->flushing && !socket->blocked) {
        socket->flushing = true;
        socket->next = loop->flush;
        loop->flush = socket;
    }
}

int floor_loop_send(struct floor_loop *loop, struct floor_socket *socket,
                    const struct floor_address *to, const struct floor_header *header)
{
    if (loop->unused == NULL && add_chunk(loop) < 0) {
        return -1;
    }
    struct floor_message *message = loop->unused;
    loop->unused = message->next;
    message->next = NULL;
    if (to != NULL) {
        message->to = *to;
    }
    message->length = loop->options->bytes[header->kind];
    memcpy(message->bytes, loop->pattern, message->length);
    memcpy(message->bytes, header, sizeof *header);
    if (socket->first == NULL) {
        socket->first = message;
    } else {
        socket->last->next = message;
    }
    socket->last = message;
    flush_later(loop, socket);
    return 0;
}

void floor_loop_sent(struct floor_loop *loop, struct floor_socket *socket)
{
    struct floor_message *done = socket->first;
    socket->first = done->next;
    done->next = loop->unused;
    loop->unused = done;
}

static int flush(struct floor_loop *loop, struct floor_socket *socket)
{
    switch (socket->role) {
    case FLOOR_DATAGRAMS:
        return floor_udp_flush(loop, socket);
    case FLOOR_SECURE_STREAM:
        return floor_tls_flush(loop, socket);
    default:
        return floor_tcp_flush(loop, socket);
    }
}

int floor_loop_flush(struct floor_loop *loop)
{
    while (loop->flush != NULL) {
        struct floor_socket *socket = loop->flush;
        loop->flush = socket->next;
        socket->flushing = false;
        if (flush(loop, socket) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- Receiving ---- */

int floor_loop_wait(struct floor_loop *loop, int timeout)
{
    if (loop->uring != NULL) {
        return floor_uring_wait(loop->uring, timeout);
    }
    loop->ready = epoll_wait(loop->epoll_fd, loop->events, FLOOR_EVENT_BATCH, timeout);
    if (loop->ready < 0) {
        loop->ready = 0;
        if (errno != EINTR) {
            return floor_fail("cannot wait: %s", strerror(errno));
        }
    }
    return 0;
}

/* What was queued during the handshake may have waited for what has come now. */
static int receive_secure(struct floor_loop *loop, struct floor_socket *socket)
{
    int error = floor_tls_drain(loop, socket);
    if (socket->first != NULL) {
        flush_later(loop, socket);
    }
    return error;
}

static int receive(struct floor_loop *loop, struct floor_socket *socket)
{
    switch (socket->role) {
    case FLOOR_DATAGRAMS:
        return floor_udp_drain(loop, socket);
    case FLOOR_LISTENER:
        return floor_tcp_accept(loop, socket);
    case FLOOR_SECURE_STREAM:
        return receive_secure(loop, socket);
    default:
        return floor_tcp_drain(loop, socket);
    }
}

int floor_loop_receive(struct floor_loop *loop)
{
    if (loop->uring != NULL) {
        return floor_uring_receive(loop->uring);
    }
    for (int i = 0; i < loop->ready; i++) {
        struct floor_socket *socket = loop->events[i].data.ptr;
        uint32_t events = loop->events[i].events;
        if (socket == NULL) {
            continue; /* stop_fd: floor_loop_stopped tells */
        }
        if ((events & EPOLLOUT) != 0) {
            if (floor_loop_await_writable(loop, socket, false) < 0) {
                return -1;
            }
            flush_later(loop, socket);
        }
        if ((events & ~(uint32_t)EPOLLOUT) != 0 && receive(loop, socket) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- Stopping ---- */

void floor_loop_stop(struct floor_loop *loop)
{
    uint64_t one = 1;
    atomic_store(&loop->stopped, true);
    ssize_t written = write(loop->stop_fd, &one, sizeof one);
    (void)written; /* a full counter wakes the loop as well */
}

bool floor_loop_stopped(const struct floor_loop *loop)
{
    return atomic_load(&loop->stopped);
}
