/* floor_loop.h - inside the floor's loop.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_FLOOR_LOOP_H
#define BENCH_FLOOR_LOOP_H

#include "floor.h"

#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/uio.h>

enum {
    FLOOR_EVENT_BATCH = 1024,  /* ready sockets a turn */
    FLOOR_RECEIVE_BATCH = 64,  /* datagrams a recvmmsg */
    FLOOR_SEND_BATCH = 256,    /* datagrams a sendmmsg, messages a writev */
    FLOOR_STREAM_ROOM = 65536, /* bytes a read */
};

/* A message that waits to be sent. */
struct floor_message {
    struct floor_message *next;
    struct floor_address to;
    size_t length;
    unsigned char *bytes;
};

enum floor_role { FLOOR_DATAGRAMS, FLOOR_LISTENER, FLOOR_STREAM, FLOOR_SECURE_STREAM };

struct floor_socket {
    int fd;
    enum floor_role role;
    bool blocked;              /* the kernel said EAGAIN: EPOLLOUT is awaited */
    bool flushing;             /* on the loop's list of sockets to flush */
    struct floor_socket *next; /* in that list */
    struct floor_message *first, *last;
    floor_on_message on_message;
    void *side;

    /* Of a stream. */
    bool was_accepted;
    size_t sent;            /* bytes of the first message that are gone */
    unsigned char *partial; /* the beginning of a message; NULL until there is one */
    size_t partial_length;
    struct floor_socket *next_accepted;
    struct ssl_st *ssl; /* with TLS */
};

struct floor_uring;
struct floor_tls;

struct floor_loop {
    const struct floor_options *options;
    struct floor_uring *uring; /* NULL with epoll */
    struct floor_tls *tls;     /* NULL without TLS */
    int epoll_fd;
    int stop_fd;
    atomic_bool stopped;
    int ready;                     /* how many of events floor_loop_wait has filled */
    size_t room;                   /* bytes of each buffer */
    unsigned char *pattern;        /* what the payloads are copied from */
    struct floor_socket *flush;    /* sockets with something to send */
    struct floor_socket *accepted; /* owned by the loop */
    struct floor_message *unused;
    struct floor_chunk *chunks;
    struct epoll_event events[FLOOR_EVENT_BATCH];
    unsigned char *receive_bytes;
    struct floor_address receive_from[FLOOR_RECEIVE_BATCH];
    struct iovec receive_iov[FLOOR_RECEIVE_BATCH];
    struct mmsghdr receive[FLOOR_RECEIVE_BATCH];
    struct iovec send_iov[FLOOR_SEND_BATCH];
    struct mmsghdr send[FLOOR_SEND_BATCH];
};

int floor_loop_watch(struct floor_loop *loop, struct floor_socket *socket);
int floor_loop_await_writable(struct floor_loop *loop, struct floor_socket *socket, bool await);

/* The first message was sent. */
void floor_loop_sent(struct floor_loop *loop, struct floor_socket *socket);

/* ---- UDP (floor_udp.c) ---- */

int floor_udp_open(struct floor_loop *loop, struct floor_socket *socket,
                   const struct floor_address *address);
int floor_udp_flush(struct floor_loop *loop, struct floor_socket *socket);
int floor_udp_drain(struct floor_loop *loop, struct floor_socket *socket);

/* ---- TCP (floor_tcp.c) ---- */

int floor_tcp_listen(struct floor_loop *loop, struct floor_socket *socket,
                     const struct floor_address *address);
int floor_tcp_connect(struct floor_loop *loop, struct floor_socket *socket,
                      const struct floor_address *peer);
int floor_tcp_accept(struct floor_loop *loop, struct floor_socket *listener);
int floor_tcp_flush(struct floor_loop *loop, struct floor_socket *socket);
int floor_tcp_drain(struct floor_loop *loop, struct floor_socket *socket);

/* What TLS has in common with it. So many bytes of the queue are gone. */
void floor_tcp_sent(struct floor_loop *loop, struct floor_socket *socket, size_t sent);

/* Puts the beginning of a message that was kept in front of the receive buffer; returns its length.
 */
size_t floor_tcp_resume(struct floor_loop *loop, const struct floor_socket *socket);

/* Hands on the whole messages among the first length bytes of that buffer, and keeps the rest. */
int floor_tcp_take(struct floor_loop *loop, struct floor_socket *socket, size_t length);

/* The peer has gone, which is how a run ends for a receiver. */
int floor_tcp_ended(struct floor_socket *socket);

#endif
