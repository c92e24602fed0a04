/*
 * The floor's loop and its UDP sockets: level-triggered epoll, recvmmsg into reused buffers, sends
 * queued by socket and flushed with sendmmsg at the end of the turn.
 */
#define _GNU_SOURCE
#include "floor.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    EVENT_BATCH = 1024,   /* ready sockets a turn */
    RECEIVE_BATCH = 64,   /* datagrams a recvmmsg */
    SEND_BATCH = 256,     /* datagrams a sendmmsg */
    CHUNK_DATAGRAMS = 64, /* datagrams allocated at a time */
    CACHE_LINE = 64,
};

/*
 * Room for a whole window on one socket. The kernel cuts it to net.core.rmem_max and takes no
 * memory before there are datagrams.
 */
static const int RECEIVE_BUFFER = 4 << 20;

/* Datagrams are allocated in chunks and go round a free list, so none is allocated while it runs.
 */
struct chunk {
    struct chunk *next;
    unsigned char *bytes;
    struct floor_datagram datagrams[CHUNK_DATAGRAMS];
};

struct floor_loop {
    const struct floor_options *options;
    int epoll_fd;
    int stop_fd;
    atomic_bool stopped;
    int ready;                  /* how many of events floor_loop_wait has filled */
    size_t room;                /* bytes of each buffer */
    unsigned char *pattern;     /* what the payloads are copied from */
    struct floor_socket *flush; /* sockets with something to send */
    struct floor_datagram *unused;
    struct chunk *chunks;
    struct epoll_event events[EVENT_BATCH];
    unsigned char *receive_bytes;
    struct floor_address receive_from[RECEIVE_BATCH];
    struct iovec receive_iov[RECEIVE_BATCH];
    struct mmsghdr receive[RECEIVE_BATCH];
    struct iovec send_iov[SEND_BATCH];
    struct mmsghdr send[SEND_BATCH];
};

static void link_vectors(struct floor_loop *loop)
{
    for (size_t i = 0; i < RECEIVE_BATCH; i++) {
        loop->receive_iov[i].iov_base = loop->receive_bytes + i * loop->room;
        loop->receive_iov[i].iov_len = loop->room;
        loop->receive[i].msg_hdr.msg_iov = &loop->receive_iov[i];
        loop->receive[i].msg_hdr.msg_iovlen = 1;
        loop->receive[i].msg_hdr.msg_name = &loop->receive_from[i].any;
    }
    for (size_t i = 0; i < SEND_BATCH; i++) {
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
    loop->receive_bytes = calloc(RECEIVE_BATCH, loop->room);
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
    if (allocate_buffers(loop) < 0) {
        floor_loop_free(loop);
        return NULL;
    }
    return loop;
}

void floor_loop_free(struct floor_loop *loop)
{
    if (loop == NULL) {
        return;
    }
    while (loop->chunks != NULL) {
        struct chunk *chunk = loop->chunks;
        loop->chunks = chunk->next;
        free(chunk->bytes);
        free(chunk);
    }
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

static int open_socket(struct floor_loop *loop, struct floor_socket *opened, uint32_t port)
{
    struct floor_address address = floor_address_at(loop->options, port);
    int type = SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    opened->fd = socket(address.any.sa_family, type, 0);
    if (opened->fd < 0) {
        return floor_fail("cannot open a socket: %s", strerror(errno));
    }
    if (setsockopt(opened->fd, SOL_SOCKET, SO_RCVBUF, &RECEIVE_BUFFER, sizeof RECEIVE_BUFFER) < 0) {
        return floor_fail("cannot set SO_RCVBUF: %s", strerror(errno));
    }
    if (bind(opened->fd, &address.any, address.length) < 0) {
        return floor_fail("cannot bind %s port %u: %s", loop->options->bind_text, port,
                          strerror(errno));
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = opened};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, opened->fd, &event) < 0) {
        return floor_fail("cannot watch a socket: %s", strerror(errno));
    }
    return 0;
}

struct floor_socket *floor_sockets_open(struct floor_loop *loop, uint32_t first_port,
                                        floor_on_datagram on_datagram, void *side)
{
    uint32_t count = loop->options->ports;
    struct floor_socket *sockets = calloc(count, sizeof *sockets);
    if (sockets == NULL) {
        floor_fail("out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        sockets[i] = (struct floor_socket){.fd = -1, .on_datagram = on_datagram, .side = side};
    }
    for (uint32_t i = 0; i < count; i++) {
        if (open_socket(loop, &sockets[i], first_port + i) < 0) {
            floor_sockets_close(sockets, count);
            return NULL;
        }
    }
    return sockets;
}

void floor_sockets_close(struct floor_socket *sockets, uint32_t count)
{
    for (uint32_t i = 0; sockets != NULL && i < count; i++) {
        if (sockets[i].fd >= 0) {
            close(sockets[i].fd);
        }
    }
    free(sockets);
}

static int add_chunk(struct floor_loop *loop)
{
    struct chunk *chunk = calloc(1, sizeof *chunk);
    if (chunk == NULL || (chunk->bytes = malloc(CHUNK_DATAGRAMS * loop->room)) == NULL) {
        free(chunk);
        return floor_fail("out of memory");
    }
    for (size_t i = 0; i < CHUNK_DATAGRAMS; i++) {
        chunk->datagrams[i].bytes = chunk->bytes + i * loop->room;
        chunk->datagrams[i].next = loop->unused;
        loop->unused = &chunk->datagrams[i];
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
    struct floor_datagram *datagram = loop->unused;
    loop->unused = datagram->next;
    datagram->next = NULL;
    datagram->to = *to;
    datagram->length = loop->options->bytes[header->kind];
    memcpy(datagram->bytes, loop->pattern, datagram->length);
    memcpy(datagram->bytes, header, sizeof *header);
    if (socket->first == NULL) {
        socket->first = datagram;
    } else {
        socket->last->next = datagram;
    }
    socket->last = datagram;
    flush_later(loop, socket);
    return 0;
}

static int await_writable(struct floor_loop *loop, struct floor_socket *socket, bool await)
{
    struct epoll_event event = {.events = await ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = socket};
    socket->blocked = await;
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, socket->fd, &event) < 0) {
        return floor_fail("cannot watch a socket: %s", strerror(errno));
    }
    return 0;
}

static unsigned fill_send_vector(struct floor_loop *loop, const struct floor_socket *socket)
{
    unsigned count = 0;
    for (struct floor_datagram *d = socket->first; d != NULL && count < SEND_BATCH; d = d->next) {
        loop->send[count].msg_hdr.msg_name = &d->to.any;
        loop->send[count].msg_hdr.msg_namelen = d->to.length;
        loop->send_iov[count].iov_base = d->bytes;
        loop->send_iov[count].iov_len = d->length;
        count++;
    }
    return count;
}

static int flush_socket(struct floor_loop *loop, struct floor_socket *socket)
{
    while (socket->first != NULL) {
        unsigned count = fill_send_vector(loop, socket);
        int sent = sendmmsg(socket->fd, loop->send, count, 0);
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return await_writable(loop, socket, true);
        }
        if (sent < 0 && errno != EINTR) {
            return floor_fail("cannot send: %s", strerror(errno));
        }
        for (int i = 0; i < sent; i++) {
            struct floor_datagram *done = socket->first;
            socket->first = done->next;
            done->next = loop->unused;
            loop->unused = done;
        }
    }
    return 0;
}

int floor_loop_flush(struct floor_loop *loop)
{
    while (loop->flush != NULL) {
        struct floor_socket *socket = loop->flush;
        loop->flush = socket->next;
        socket->flushing = false;
        if (flush_socket(loop, socket) < 0) {
            return -1;
        }
    }
    return 0;
}

int floor_loop_wait(struct floor_loop *loop, int timeout)
{
    loop->ready = epoll_wait(loop->epoll_fd, loop->events, EVENT_BATCH, timeout);
    if (loop->ready < 0) {
        loop->ready = 0;
        if (errno != EINTR) {
            return floor_fail("cannot wait: %s", strerror(errno));
        }
    }
    return 0;
}

static void deliver(struct floor_loop *loop, struct floor_socket *socket, size_t i)
{
    struct floor_header header;
    size_t length = loop->receive[i].msg_len;
    if (length < sizeof header) {
        return;
    }
    memcpy(&header, loop->receive_iov[i].iov_base, sizeof header);
    if (header.kind < FLOOR_KIND_COUNT && length == loop->options->bytes[header.kind]) {
        loop->receive_from[i].length = loop->receive[i].msg_hdr.msg_namelen;
        socket->on_datagram(socket->side, socket, &header, &loop->receive_from[i]);
    }
}

static int drain_socket(struct floor_loop *loop, struct floor_socket *socket)
{
    int count;
    do {
        for (size_t i = 0; i < RECEIVE_BATCH; i++) {
            loop->receive[i].msg_hdr.msg_namelen = sizeof(struct sockaddr_in6);
        }
        count = recvmmsg(socket->fd, loop->receive, RECEIVE_BATCH, 0, NULL);
        if (count < 0) {
            if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
                return 0;
            }
            return floor_fail("cannot receive: %s", strerror(errno));
        }
        for (int i = 0; i < count; i++) {
            deliver(loop, socket, (size_t)i);
        }
    } while (count == RECEIVE_BATCH);
    return 0;
}

int floor_loop_receive(struct floor_loop *loop)
{
    for (int i = 0; i < loop->ready; i++) {
        struct floor_socket *socket = loop->events[i].data.ptr;
        uint32_t events = loop->events[i].events;
        if (socket == NULL) {
            continue; /* stop_fd: floor_loop_stopped tells */
        }
        if ((events & EPOLLOUT) != 0) {
            if (await_writable(loop, socket, false) < 0) {
                return -1;
            }
            flush_later(loop, socket);
        }
        if ((events & ~(uint32_t)EPOLLOUT) != 0 && drain_socket(loop, socket) < 0) {
            return -1;
        }
    }
    return 0;
}

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
