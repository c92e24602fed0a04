/* udp_internal.h - the UDP sockets of a loop, for the files of transport/ and their tests.
 *
 * udp.c opens sockets and keeps them; udp_socket.c asks the system for one; udp_receive.c,
 * udp_send.c and udp_error.c move datagrams, messages and ICMP errors.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_UDP_INTERNAL_H
#define VIADUCT_TRANSPORT_UDP_INTERNAL_H

#include <viaduct/udp.h>

#include "loop_internal.h"
#include "selector.h"
#include "sockaddr.h"

struct mmsghdr;
struct msghdr;
struct vd__udp_receiver;
struct vd__udp_sender;
struct vd__udp_uring;
struct vd__udp_waiting;
struct vd__udp_waiting_chunk;

/* The system calls of the message path: a test puts others in their place. */
struct vd__udp_ops {
    int (*sendmmsg)(int fd, struct mmsghdr *messages, unsigned count, int flags);
    int (*recvmmsg)(int fd, struct mmsghdr *messages, unsigned count, int flags);
    ssize_t (*recvmsg)(int fd, struct msghdr *message, int flags);
    /* vd__udp_uring_queue */
    int (*queue)(struct vd__udp_socket *socket, const struct vd_send *message);
};

/* Whether a socket takes messages. Unless it is OPEN, new ones wait behind those that wait already.
 */
enum vd__udp_state {
    VD__UDP_OPEN,
    VD__UDP_FULL,    /* its send buffer is full: the selector tells when it takes more */
    VD__UDP_RETRY,   /* the system is short of memory: it is tried again at retry_at */
    VD__UDP_RESUMING /* on the list of sockets to be tried again in this turn */
};

struct vd__udp_socket {
    struct vd__source source; /* first: the selector gives it back */
    enum vd__udp_state state;
    bool watching_writable;
    struct vd__udp *udp;
    struct vd_stack *stack;
    uint32_t endpoint;

    /* Its messages of the batch that is being sent, as indices into the batch; -1 for none. */
    int16_t batch_first;
    int16_t batch_last;
    struct vd__udp_socket *next_touched; /* sockets with messages in the batch */

    struct vd__udp_waiting *waiting_first;
    struct vd__udp_waiting *waiting_last;
    uint32_t waiting_count;
    uint32_t waiting_limit;
    struct vd__udp_socket *next_stalled; /* in udp->retry or udp->resume */

    /* With io_uring. */
    struct vd__udp_socket *next_receive; /* sockets that have no request to receive */
    int receive_error;                   /* why it ended */
    bool sending;                        /* a message is in the submission queue */

    uint32_t kernel_dropped; /* as the kernel last told */
    bool (*filter)(const struct vd_flow *flow, struct vd_str bytes, void *context);
    void *filter_context;
    struct vd_addr local;
    struct vd__udp_socket *next;
};

struct vd__udp {
    struct vd_loop *loop;
    const struct vd__udp_ops *ops;
    struct vd_udp_counters counters;
    struct vd__udp_socket *sockets;

    struct vd__udp_receiver *receiver;
    struct vd__udp_sender *sender;
    struct vd__udp_uring *uring; /* once a socket was opened, if the loop waits on io_uring */

    /* Sockets in state RETRY, and when to try them again; sockets in state RESUMING. */
    struct vd__udp_socket *retry;
    vd_time retry_at;
    struct vd__udp_socket *resume;

    /* Room for messages that wait. */
    struct vd__udp_waiting *unused;
    struct vd__udp_waiting_chunk *chunks;
    uint64_t waiting_count;
};

/* ---- udp.c ---- */

/* NULL when there is no memory. The loop must outlive it. */
struct vd__udp *vd__udp_new(struct vd_loop *loop);

/* Closes all sockets. */
void vd__udp_free(struct vd__udp *udp);

/* ---- udp_socket.c ---- */

/* Opens a socket, sets its options and binds it. Returns 0 with *fd and *local, or an error of
 * vd_udp_open, which was logged. */
int vd__udp_socket_open(const struct vd_loop *loop, const struct vd_addr *bind,
                        const struct vd_udp_options *options, int *fd, struct vd_addr *local);

/* ---- udp_receive.c ---- */

struct vd__udp_receiver *vd__udp_receiver_new(struct vd_loop *loop);
void vd__udp_receiver_free(struct vd_loop *loop, struct vd__udp_receiver *receiver);

/* Receives at most quota datagrams and gives them to the stack. */
void vd__udp_receive(struct vd__udp_socket *socket, size_t quota);

/* Gives the stack a datagram that came with header. */
void vd__udp_deliver(struct vd__udp_socket *socket, struct msghdr *header, struct vd_str data);

/* ---- udp_send.c ---- */

struct vd__udp_sender *vd__udp_sender_new(struct vd_loop *loop);
void vd__udp_sender_free(struct vd_loop *loop, struct vd__udp_sender *sender);

/* Sends messages pulled from a stack's outbox, at most VD__SEND_BATCH. Each is given back now, or
 * waits and is given back later. */
void vd__udp_send(struct vd__udp *udp, const struct vd__served_stack *served,
                  const struct vd_send *sends, size_t count);

/* Handles a message that the kernel refused, with an errno, as if it were sent now: it is tried
 * again, waits, or fails. No other message of the socket may be on its way. */
void vd__udp_send_refused(struct vd__udp_socket *socket, const struct vd_send *message,
                          int system_error);

/* The selector says that the socket takes messages again. */
void vd__udp_writable(struct vd__udp_socket *socket);

/* Sends what waits for the sockets that are writable again or whose time has come. */
void vd__udp_resume(struct vd__udp *udp);

/* When vd__udp_resume must be called next; VD_TIME_NEVER when it need not. */
vd_time vd__udp_next_deadline(const struct vd__udp *udp);

/* Gives back everything that waits for the socket, unsent. */
void vd__udp_drop_waiting(struct vd__udp_socket *socket);

/* Frees the room for messages that wait; none may wait. */
void vd__udp_free_waiting(struct vd__udp *udp);

/* ---- udp_error.c ---- */

/* Reads the socket's error queue, a bounded number of errors of it, and tells the stack. Returns
 * how many came from the network. */
size_t vd__udp_read_errors(struct vd__udp_socket *socket);

/* ---- udp_uring.c ---- */

/* The sockets' share in the ring of a loop that waits on io_uring. NULL without memory. */
struct vd__udp_uring *vd__udp_uring_new(struct vd__udp *udp, struct vd__uring *ring);

/* Ends all requests. Messages that could not be submitted are given back unsent. */
void vd__udp_uring_free(struct vd__udp_uring *uring);

/* From the next wait on, the socket receives. */
void vd__udp_uring_watch(struct vd__udp_socket *socket);

/* Queues a message of a socket that is not sending yet; it leaves with the next wait or flush.
 * Returns 0, or an errno with which it has failed at once. */
int vd__udp_uring_queue(struct vd__udp_socket *socket, const struct vd_send *message);

/* Sends what is queued. */
void vd__udp_uring_flush(struct vd__udp_uring *uring);

/* Before a wait: queues what must be asked of the kernel. */
void vd__udp_uring_prepare(struct vd__udp_uring *uring);

/* After a wait: gives back what has left, and the stacks what was received. */
void vd__udp_uring_complete(struct vd__udp_uring *uring);

/* True when there is something to complete, so that the next turn must not wait. */
bool vd__udp_uring_is_pending(const struct vd__udp_uring *uring);

#endif
