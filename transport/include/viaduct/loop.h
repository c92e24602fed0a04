/* viaduct/loop.h - drives stacks on real sockets and real time.
 *
 * A loop belongs to one thread and drives one or several stacks. It waits until a socket is ready
 * or a timer is due, never longer and never by polling. Each turn of it
 *
 *     1. waits, at most until the earliest deadline of its stacks and of the application,
 *     2. reads the clock, once: everything in the turn happens at that time,
 *     3. receives from the sockets that are ready, a bounded amount from each,
 *     4. lets every stack fire the timers that are due,
 *     5. calls on_turn,
 *     6. sends what all of this has put into the outboxes, as few system calls as it takes.
 *
 * So what a callback or on_turn sends leaves in the same turn, together. A loop has no global
 * state: a process may have as many as it likes, each in a thread of its own.
 *
 * Unless a function says otherwise it is called from the loop's thread only, and may be called from
 * the callbacks of the stacks and from on_turn.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_LOOP_H
#define VIADUCT_LOOP_H

#include <viaduct/base.h>
#include <viaduct/error.h>
#include <viaduct/log.h>
#include <viaduct/mem.h>
#include <viaduct/stack.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vd_loop;

/* What a loop waits with. Everything else is the same, whichever it is. */
enum vd_selector {
    /* epoll: for any number of sockets, wherever Linux runs. */
    VD_SELECTOR_EPOLL,
    /* poll(2): each wait costs time in proportion to the number of sockets. To compare. */
    VD_SELECTOR_POLL,
    /* io_uring, from Linux 6.1 on: one system call a turn sends the messages of all UDP sockets and
     * waits, and datagrams are received without any. Faster than epoll with many UDP sockets; with
     * one, and with TCP, there is little between them. The buffers for datagrams are 65 MiB of
     * address space, of which what was reached by a datagram is in memory.
     *
     * The thread that makes the first turn must make all of them, and free the loop or end before
     * it is freed. Many a container bars io_uring. */
    VD_SELECTOR_IO_URING
};

/* How a loop is made. Always start with vd_loop_config_init. */
struct vd_loop_config {
    /* Called once a turn, after everything has been received and the timers have fired, before the
     * outboxes are sent: the place to start new transactions, which then leave together. It is no
     * callback of a stack, so every function of a stack may be called. NULL for none. */
    void (*on_turn)(struct vd_loop *loop, vd_time now, void *context);
    void *context;

    /* Allocator; NULL for malloc. The loop allocates when it is made, when a socket is opened and
     * when messages must wait because a socket takes no more; never for a message that goes out at
     * once. */
    const struct vd_mem *mem;

    /* Log events of the loop and of its sockets; NULL for none. log_level is the least important
     * one that is wanted: default VD_LOG_NOTICE. */
    vd_log_fn log;
    void *log_context;
    enum vd_log_level log_level;

    enum vd_selector selector; /* default VD_SELECTOR_EPOLL */
};

/* Fills in the defaults. */
VD_API void vd_loop_config_init(struct vd_loop_config *config);

/* Makes a loop. config is copied; NULL takes the defaults. Returns 0 with *out, or VD_ERR_NOMEM,
 * VD_ERR_LIMIT (no file descriptor left), VD_ERR_UNSUPPORTED (the kernel lacks or bars io_uring, or
 * the library was built without), VD_ERR_INVALID (no such selector) or VD_ERR_SYSTEM (the selector
 * cannot be made). After an error *out is NULL; the errno is in a log event. */
VD_API int vd_loop_new(struct vd_loop **out, const struct vd_loop_config *config);

/* Closes every socket of the loop and frees it. Messages that still wait for a socket are given
 * back to their stacks unsent. Free a loop before its stacks, and not from a callback or on_turn.
 * NULL is allowed. */
VD_API void vd_loop_free(struct vd_loop *loop);

/* Lets the loop drive stack from now on. The stack stays the caller's and must live until the loop
 * is freed. Returns 0, VD_ERR_INVALID (it is there already) or VD_ERR_NOMEM. */
VD_API int vd_loop_add_stack(struct vd_loop *loop, struct vd_stack *stack);

/* Turns until vd_loop_stop is called. What the stacks already hold in their outboxes, and what
 * on_turn adds, is sent in the first turn, which does not wait.
 *
 * Returns 0 when it was stopped; messages that wait for a socket then wait for the next run.
 * Returns VD_ERR_SYSTEM when the selector fails. Not from a callback or on_turn. */
VD_API int vd_loop_run(struct vd_loop *loop);

/* Sends what the outboxes hold and makes one turn. It waits for at most max_wait microseconds: 0
 * does not wait at all, VD_TIME_NEVER as long as it takes. vd_loop_stop makes it return early, and
 * then still stops a later vd_loop_run. Returns 0 or VD_ERR_SYSTEM. Not from a callback or on_turn.
 */
VD_API int vd_loop_run_once(struct vd_loop *loop, vd_time max_wait);

/* Makes vd_loop_run return at the end of the present turn; when it is not running, the next
 * vd_loop_run returns without a turn. From any thread, and from a signal handler. */
VD_API void vd_loop_stop(struct vd_loop *loop);

/* In a turn, the time of the turn. Outside of one, for example before vd_loop_run, the time now. It
 * is CLOCK_MONOTONIC in microseconds. */
VD_API vd_time vd_loop_now(const struct vd_loop *loop);

/* The loop makes a turn, and so calls on_turn, when deadline has come, if not earlier. It holds
 * once, and replaces the deadline set before it; VD_TIME_NEVER takes it away. (For anything finer,
 * use the timers of viaduct/timer.h.) */
VD_API void vd_loop_set_deadline(struct vd_loop *loop, vd_time deadline);

/* What a loop has counted since it was made. */
struct vd_loop_counters {
    uint64_t turns;
    uint64_t ready; /* sockets that a wait found ready, summed up; with io_uring those of UDP count
                     * only when they can send again */
};

/* Copies the counters as they are now. */
VD_API void vd_loop_get_counters(const struct vd_loop *loop, struct vd_loop_counters *out);

#ifdef __cplusplus
}
#endif

#endif
