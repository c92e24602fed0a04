/* floor_udp.c - the floor's UDP sockets: recvmmsg into reused buffers, sendmmsg for what a socket
 * has to send in a turn.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "floor_loop.h"

#include "floor_uring.h"

#include <errno.h>
#include <string.h>

/* Room for a whole window on one socket. The kernel cuts it to net.core.rmem_max and takes no
 * memory before there are datagrams. */
static const int RECEIVE_BUFFER = 4 << 20;

static unsigned port_of(const struct floor_address *address)
{
    return ntohs(address->any.sa_family == AF_INET6 ? address->v6.sin6_port : address->v4.sin_port);
}

int floor_udp_open(struct floor_loop *loop, struct floor_socket *opened,
                   const struct floor_address *address)
{
    int type = SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    opened->role = FLOOR_DATAGRAMS;
    opened->fd = socket(address->any.sa_family, type, 0);
    if (opened->fd < 0) {
        return floor_fail("cannot open a socket: %s", strerror(errno));
    }
    if (setsockopt(opened->fd, SOL_SOCKET, SO_RCVBUF, &RECEIVE_BUFFER, sizeof RECEIVE_BUFFER) < 0) {
        return floor_fail("cannot set SO_RCVBUF: %s", strerror(errno));
    }
    if (bind(opened->fd, &address->any, address->length) < 0) {
        return floor_fail("cannot bind %s port %u: %s", loop->options->bind_text, port_of(address),
                          strerror(errno));
    }
    return floor_loop_watch(loop, opened);
}

static unsigned fill_send_vector(struct floor_loop *loop, const struct floor_socket *socket)
{
    unsigned count = 0;
    struct floor_message *message = socket->first;
    for (; message != NULL && count < FLOOR_SEND_BATCH; message = message->next) {
        loop->send[count].msg_hdr.msg_name = &message->to.any;
        loop->send[count].msg_hdr.msg_namelen = message->to.length;
        loop->send_iov[count].iov_base = message->bytes;
        loop->send_iov[count].iov_len = message->length;
        count++;
    }
    return count;
}

int floor_udp_flush(struct floor_loop *loop, struct floor_socket *socket)
{
    if (loop->uring != NULL && socket->first->next == NULL) {
        return floor_uring_queue(loop->uring, socket);
    }
    while (socket->first != NULL) {
        unsigned count = fill_send_vector(loop, socket);
        int sent = sendmmsg(socket->fd, loop->send, count, 0);
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (floor_loop_await_writable(loop, socket, true) < 0) {
                return -1;
            }
            if (socket->blocked) {
                return 0;
            }
            continue;
        }
        if (sent < 0 && errno != EINTR) {
            return floor_fail("cannot send: %s", strerror(errno));
        }
        for (int i = 0; i < sent; i++) {
            floor_loop_sent(loop, socket);
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
        socket->on_message(socket->side, socket, &header, &loop->receive_from[i]);
    }
}

int floor_udp_drain(struct floor_loop *loop, struct floor_socket *socket)
{
    int count;
    do {
        for (size_t i = 0; i < FLOOR_RECEIVE_BATCH; i++) {
            loop->receive[i].msg_hdr.msg_namelen = sizeof(struct sockaddr_in6);
        }
        count = recvmmsg(socket->fd, loop->receive, FLOOR_RECEIVE_BATCH, 0, NULL);
        if (count < 0) {
            if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
                return 0;
            }
            return floor_fail("cannot receive: %s", strerror(errno));
        }
        for (int i = 0; i < count; i++) {
            deliver(loop, socket, (size_t)i);
        }
    } while (count == FLOOR_RECEIVE_BATCH);
    return 0;
}
