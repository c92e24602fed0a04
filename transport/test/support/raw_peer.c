/* raw_peer.c - raw peers of a TCP side: sockets that the test reads and writes byte by byte.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tcp_side.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sockaddr.h"

struct vd_addr raw_loopback(void)
{
    return (struct vd_addr){.family = VD_FAMILY_IP4, .ip = {127, 0, 0, 1}};
}

/* ---- Making ---- */

int raw_listen(struct vd_addr *addr)
{
    struct vd_addr bind_to = raw_loopback();
    union vd__sockaddr sockaddr;
    socklen_t length = vd__sockaddr_from_addr(&sockaddr, &bind_to);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    if (fd < 0 || bind(fd, &sockaddr.any, length) < 0 || listen(fd, 64) < 0 ||
        getsockname(fd, &sockaddr.any, &length) < 0) {
        return -1;
    }
    vd__sockaddr_to_addr(addr, &sockaddr, length);
    return fd;
}

bool raw_has_connection(int listener)
{
    struct pollfd watched = {.fd = listener, .events = POLLIN};

    return poll(&watched, 1, 0) == 1;
}

bool raw_accept(struct raw_peer *peer, int listener, struct tcp_side *side)
{
    memset(peer, 0, sizeof *peer);
    peer->fd = -1;
    for (int i = 0; i < TCP_TURNS_MAX && peer->fd < 0; i++) {
        tcp_side_turn(side);
        peer->fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    }
    return peer->fd >= 0;
}

bool raw_connect(struct raw_peer *peer, const struct vd_addr *to)
{
    return raw_connect_with_buffer(peer, to, 0);
}

bool raw_connect_with_buffer(struct raw_peer *peer, const struct vd_addr *to, int size)
{
    union vd__sockaddr sockaddr;
    socklen_t length = vd__sockaddr_from_addr(&sockaddr, to);

    memset(peer, 0, sizeof *peer);
    int on = 1;
    peer->fd = socket(sockaddr.any.sa_family, SOCK_STREAM, 0);
    /* A piece of a message must not wait for the acknowledgement of the one before. */
    (void)setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (size > 0) {
        (void)setsockopt(peer->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    }
    return peer->fd >= 0 && connect(peer->fd, &sockaddr.any, length) == 0;
}

/* ---- Bytes ---- */

bool raw_write(struct raw_peer *peer, struct tcp_side *side, const char *bytes, size_t size)
{
    for (int i = 0; i < TCP_TURNS_MAX && size > 0; i++) {
        ssize_t written = send(peer->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (written < 0 && errno != EAGAIN) {
            return false;
        }
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        } else {
            tcp_side_turn(side);
        }
    }
    return size == 0;
}

bool raw_send(struct raw_peer *peer, struct tcp_side *side, const char *text)
{
    return raw_write(peer, side, text, strlen(text));
}

void raw_read(struct raw_peer *peer)
{
    while (!peer->ended) {
        if (peer->capacity - peer->size < 65536) {
            peer->capacity = peer->capacity * 2 + 131072;
            peer->bytes = realloc(peer->bytes, peer->capacity);
        }
        ssize_t count = recv(peer->fd, peer->bytes + peer->size, 65535, MSG_DONTWAIT);
        if (count < 0 && errno == EAGAIN) {
            break;
        }
        if (count <= 0) {
            peer->ended = true;
            peer->error = count < 0 ? errno : 0;
            break;
        }
        peer->size += (size_t)count;
    }
    peer->bytes[peer->size] = '\0';
}

unsigned raw_count(const struct raw_peer *peer, const char *text)
{
    size_t size = strlen(text);
    unsigned count = 0;
    const char *at = peer->bytes;

    while (at != NULL) {
        at = memmem(at, peer->size - (size_t)(at - peer->bytes), text, size);
        if (at != NULL) {
            count++;
            at += size;
        }
    }
    return count;
}

bool raw_until(struct raw_peer *peer, struct tcp_side *side, const char *text, unsigned count)
{
    for (int i = 0; i < TCP_TURNS_MAX; i++) {
        raw_read(peer);
        if (raw_count(peer, text) >= count) {
            return true;
        }
        if (peer->ended) {
            return false;
        }
        (void)vd_loop_run_once(side->loop, VD_MSEC);
    }
    return false;
}

bool raw_until_ended(struct raw_peer *peer, struct tcp_side *side)
{
    for (int i = 0; i < TCP_TURNS_MAX; i++) {
        raw_read(peer);
        if (peer->ended) {
            return true;
        }
        (void)vd_loop_run_once(side->loop, VD_MSEC);
    }
    return false;
}

bool raw_is_ended(struct raw_peer *peer)
{
    raw_read(peer);
    return peer->ended;
}

void raw_forget(struct raw_peer *peer)
{
    peer->size = 0;
}

/* ---- Ending ---- */

void raw_shut(struct raw_peer *peer)
{
    (void)shutdown(peer->fd, SHUT_WR);
}

void raw_close(struct raw_peer *peer)
{
    close(peer->fd);
    free(peer->bytes);
    memset(peer, 0, sizeof *peer);
    peer->fd = -1;
}

void raw_reset(struct raw_peer *peer)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};

    (void)setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    raw_close(peer);
}

/* ---- Requests ---- */

size_t raw_request(char *out, const char *method, const char *sent_by, unsigned number, size_t body)
{
    int size = snprintf(out, RAW_REQUEST_SIZE,
                        "%s sip:bob@example.com SIP/2.0\r\n"
                        "Via: SIP/2.0/TCP %s;branch=z9hG4bK-%u-%s\r\n"
                        "Max-Forwards: 70\r\n"
                        "From: <sip:alice@example.com>;tag=a\r\n"
                        "To: <sip:bob@example.com>\r\n"
                        "Call-ID: %u@example.com\r\n"
                        "CSeq: %u %s\r\n"
                        "Content-Length: %zu\r\n"
                        "\r\n",
                        method, sent_by, number, method, number, number, method, body);

    memset(out + size, 'x', body);
    return (size_t)size + body;
}

bool raw_is_answered(struct raw_peer *peer, struct tcp_side *side)
{
    static unsigned number;
    char text[RAW_REQUEST_SIZE];
    size_t size = raw_request(text, "OPTIONS", "192.0.2.1", ++number, 0);

    raw_read(peer);
    raw_forget(peer);
    return raw_write(peer, side, text, size) && raw_until(peer, side, "SIP/2.0 200 OK\r\n", 1);
}
