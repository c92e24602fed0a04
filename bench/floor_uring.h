/* floor_uring.h - the floor's UDP sockets on io_uring in the place of epoll.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_FLOOR_URING_H
#define BENCH_FLOOR_URING_H

#include "floor_loop.h"

struct floor_uring;

/* Whether the kernel lets a ring be made; if not, says so on stderr. */
bool floor_uring_is_available(void);

struct floor_uring *floor_uring_new(struct floor_loop *loop);
void floor_uring_free(struct floor_uring *uring);

/* From the next wait on, the socket receives. */
int floor_uring_watch(struct floor_uring *uring, struct floor_socket *socket);

/* Queues the only message of a socket; it leaves with the next wait. */
int floor_uring_queue(struct floor_uring *uring, struct floor_socket *socket);

/* Waits until the socket takes more: it seldom comes to that. */
int floor_uring_await_writable(struct floor_socket *socket);

/* As floor_loop_wait and floor_loop_receive. */
int floor_uring_wait(struct floor_uring *uring, int timeout);
int floor_uring_receive(struct floor_uring *uring);

#endif
