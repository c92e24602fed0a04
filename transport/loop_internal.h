/* loop_internal.h - what a loop consists of, for the files of transport/.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_LOOP_INTERNAL_H
#define VIADUCT_TRANSPORT_LOOP_INTERNAL_H

#include <stdatomic.h>

#include <viaduct/loop.h>

#include "selector.h"

struct vd__stream_stack;
struct vd__streams;
struct vd__udp;
struct vd__udp_socket;
struct vd__uring;

/* Messages pulled from an outbox at a time: the most that one system call sends. */
enum { VD__SEND_BATCH = 256 };

/* A stack that the loop drives, and its sockets by endpoint number. An endpoint that the stack has
 * but that was not opened here has no socket. It stays where it is in memory until the loop is
 * freed. */
struct vd__served_stack {
    struct vd__served_stack *next;
    struct vd_stack *stack;
    struct vd__udp_socket **sockets;
    size_t socket_capacity;
    size_t next_endpoint;             /* one more than the last that was opened here */
    struct vd__stream_stack *streams; /* its stream endpoints; NULL when it has none */
};

struct vd_loop {
    struct vd_loop_config config; /* with an allocator */
    struct vd__selector *selector;
    struct vd__uring *uring; /* of the selector, when it is on io_uring; NULL otherwise */
    struct vd__source waker; /* an eventfd */
    atomic_bool stopped;

    bool in_turn;
    /* Something was left for the next turn, which must not wait. */
    bool again;
    vd_time now;
    vd_time deadline; /* the application's */
    /* How many datagrams each socket may receive in this turn. */
    size_t receive_quota;

    struct vd__served_stack *first;
    struct vd__served_stack *last;
    struct vd__udp *udp;
    struct vd__streams *streams;
    vd_time (*clock)(void); /* a test puts another one in its place */
    struct vd_loop_counters counters;

    struct vd__ready ready[512];
    struct vd_send sends[VD__SEND_BATCH];
};

/* Memory of the loop; NULL when there is none, otherwise zeroed. */
void *vd__loop_allocate(struct vd_loop *loop, size_t size);
void vd__loop_release(struct vd_loop *loop, void *p, size_t size);

/* The entry of a stack; NULL when the loop does not drive it. */
struct vd__served_stack *vd__loop_find_stack(const struct vd_loop *loop,
                                             const struct vd_stack *stack);

/* Raises a log event if it is wanted. event->text is static, the rest is valid for the call. */
void vd__loop_log(const struct vd_loop *loop, const struct vd_log_event *event);

#endif
