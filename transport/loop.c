/* loop.c - turns: wait, receive, expire, on_turn, send.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "connection.h"
#include "udp_internal.h"
#include "system_error.h"

enum {
    READY_MAX = sizeof((struct vd_loop *)0)->ready / sizeof((struct vd_loop *)0)->ready[0],

    /* A turn receives about this many datagrams, shared among the sockets that are ready. */
    TURN_QUOTA = 4096,
    QUOTA_MIN = 16,
    QUOTA_MAX = 256,

    /* Rounds of sending in a turn. A message that fails may make the application send another one
     * that fails as well: receiving must get its turn in between. */
    SEND_ROUNDS = 64,
};

/* ---- Memory and log ---- */

void *vd__loop_allocate(struct vd_loop *loop, size_t size)
{
    const struct vd_mem *mem = loop->config.mem;
    void *p = mem->allocate(size, mem->context);

    return p != NULL ? memset(p, 0, size) : NULL;
}

void vd__loop_release(struct vd_loop *loop, void *p, size_t size)
{
    if (p != NULL) {
        loop->config.mem->release(p, size, loop->config.mem->context);
    }
}

void vd__loop_log(const struct vd_loop *loop, const struct vd_log_event *event)
{
    if (loop->config.log != NULL && event->level <= loop->config.log_level) {
        loop->config.log(event, loop->config.log_context);
    }
}

/* ---- Making and freeing ---- */

void vd_loop_config_init(struct vd_loop_config *config)
{
    *config = (struct vd_loop_config){.log_level = VD_LOG_NOTICE};
}

static void on_wake(struct vd__source *source, unsigned readiness)
{
    uint64_t count;
    ssize_t size = read(source->fd, &count, sizeof count);

    /* It only had to end the wait. */
    (void)size;
    (void)readiness;
}

static struct vd__selector *make_selector(struct vd_loop *loop)
{
    switch (loop->config.selector) {
    case VD_SELECTOR_POLL:
        return vd__selector_poll_new(loop->config.mem);
    case VD_SELECTOR_IO_URING:
        return vd__selector_uring_new(loop->config.mem, &loop->uring);
    default:
        return vd__selector_epoll_new(loop->config.mem);
    }
}

static int open_selector(struct vd_loop *loop)
{
    loop->selector = make_selector(loop);
    if (loop->selector == NULL) {
        return -1;
    }
    loop->waker.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop->waker.on_ready = on_wake;
    if (loop->waker.fd < 0) {
        return -1;
    }
    return loop->selector->ops->add(loop->selector, &loop->waker, VD__READABLE);
}

static int error_of_selector(const struct vd_loop *loop, int system_error)
{
    if (loop->config.selector == VD_SELECTOR_IO_URING && loop->selector == NULL &&
        vd__selector_uring_is_barred(system_error)) {
        return VD_ERR_UNSUPPORTED;
    }
    return system_error == ENOMEM ? VD_ERR_NOMEM : vd__error_of_open(system_error);
}

int vd_loop_new(struct vd_loop **out, const struct vd_loop_config *config)
{
    struct vd_loop_config defaults;

    *out = NULL;
    if (config == NULL) {
        vd_loop_config_init(&defaults);
        config = &defaults;
    }
    if (config->selector > VD_SELECTOR_IO_URING) {
        return VD_ERR_INVALID;
    }
    const struct vd_mem *mem = config->mem != NULL ? config->mem : vd_mem_default();
    struct vd_loop *loop = mem->allocate(sizeof *loop, mem->context);
    if (loop == NULL) {
        return VD_ERR_NOMEM;
    }
    memset(loop, 0, sizeof *loop);
    loop->config = *config;
    loop->config.mem = mem;
    loop->waker.fd = -1;
    loop->deadline = VD_TIME_NEVER;
    loop->clock = vd__clock_now;
    atomic_init(&loop->stopped, false);

    loop->udp = vd__udp_new(loop);
    loop->streams = vd__streams_new(loop);
    if (loop->udp == NULL || loop->streams == NULL) {
        vd_loop_free(loop);
        return VD_ERR_NOMEM;
    }
    if (open_selector(loop) < 0) {
        int system_error = errno;
        int error = error_of_selector(loop, system_error);
        vd__loop_log(loop, &(struct vd_log_event){.level = VD_LOG_ERROR,
                                                  .error = error,
                                                  .system_error = system_error,
                                                  .text = "cannot make a selector"});
        vd_loop_free(loop);
        return error;
    }
    *out = loop;
    return 0;
}

void vd_loop_free(struct vd_loop *loop)
{
    if (loop == NULL) {
        return;
    }
    vd__udp_free(loop->udp);
    vd__streams_free(loop->streams);
    while (loop->first != NULL) {
        struct vd__served_stack *served = loop->first;
        loop->first = served->next;
        vd__loop_release(loop, served->sockets, served->socket_capacity * sizeof *served->sockets);
        vd__loop_release(loop, served, sizeof *served);
    }
    if (loop->selector != NULL) {
        loop->selector->ops->free(loop->selector);
    }
    if (loop->waker.fd >= 0) {
        close(loop->waker.fd);
    }
    vd__loop_release(loop, loop, sizeof *loop);
}

/* ---- Stacks ---- */

struct vd__served_stack *vd__loop_find_stack(const struct vd_loop *loop,
                                             const struct vd_stack *stack)
{
    struct vd__served_stack *served = loop->first;

    while (served != NULL && served->stack != stack) {
        served = served->next;
    }
    return served;
}

int vd_loop_add_stack(struct vd_loop *loop, struct vd_stack *stack)
{
    if (stack == NULL || vd__loop_find_stack(loop, stack) != NULL) {
        return VD_ERR_INVALID;
    }
    struct vd__served_stack *served = vd__loop_allocate(loop, sizeof *served);
    if (served == NULL) {
        return VD_ERR_NOMEM;
    }
    served->stack = stack;
    if (loop->last == NULL) {
        loop->first = served;
    } else {
        loop->last->next = served;
    }
    loop->last = served;
    return 0;
}

/* ---- A turn ---- */

static vd_time earliest_deadline(const struct vd_loop *loop)
{
    vd_time earliest = loop->deadline;
    vd_time other = vd__udp_next_deadline(loop->udp);

    earliest = other < earliest ? other : earliest;
    other = vd__streams_next_deadline(loop->streams);
    earliest = other < earliest ? other : earliest;
    for (const struct vd__served_stack *served = loop->first; served != NULL;
         served = served->next) {
        other = vd_stack_next_deadline(served->stack);
        earliest = other < earliest ? other : earliest;
    }
    return earliest;
}

/* The time of the last turn stands for now, which saves a reading of the clock: the wait is too
 * long by what the last turn took. */
static vd_time time_to_wait(const struct vd_loop *loop, vd_time max_wait)
{
    vd_time deadline = earliest_deadline(loop);

    if (loop->again || deadline <= loop->now) {
        return 0;
    }
    vd_time wait = deadline == VD_TIME_NEVER ? VD_TIME_NEVER : deadline - loop->now;
    return wait < max_wait ? wait : max_wait;
}

static void receive(struct vd_loop *loop, size_t count)
{
    size_t quota = count > 0 ? TURN_QUOTA / count : QUOTA_MAX;

    quota = quota < QUOTA_MIN ? QUOTA_MIN : quota;
    loop->receive_quota = quota > QUOTA_MAX ? QUOTA_MAX : quota;
    loop->counters.ready += count;
    if (loop->udp->uring != NULL) {
        vd__udp_uring_complete(loop->udp->uring);
    }
    for (size_t i = 0; i < count; i++) {
        loop->ready[i].source->on_ready(loop->ready[i].source, loop->ready[i].readiness);
    }
}

static void expire(struct vd_loop *loop)
{
    vd__streams_expire(loop->streams);
    for (struct vd__served_stack *served = loop->first; served != NULL; served = served->next) {
        if (vd_stack_next_deadline(served->stack) <= loop->now) {
            vd_stack_expire(served->stack, loop->now);
        }
    }
}

static void call_application(struct vd_loop *loop)
{
    if (loop->deadline <= loop->now) {
        loop->deadline = VD_TIME_NEVER;
    }
    /* What fails from here on happens behind on_turn's back: it gets another turn for it. */
    loop->again = false;
    if (loop->config.on_turn != NULL) {
        loop->config.on_turn(loop, loop->now, loop->config.context);
    }
}

/* Empties the outboxes. One stack's failure may let the application send by another stack, so it
 * ends only when all of them are empty. */
static void send_all(struct vd_loop *loop)
{
    bool more = true;

    vd__udp_resume(loop->udp);
    for (int round = 0; more && round < SEND_ROUNDS; round++) {
        more = false;
        for (struct vd__served_stack *served = loop->first; served != NULL; served = served->next) {
            size_t count = vd_stack_poll_send(served->stack, loop->sends, VD__SEND_BATCH);
            if (count > 0) {
                more = true;
                count = vd__streams_send(loop->streams, served, loop->sends, count);
                vd__udp_send(loop->udp, served, loop->sends, count);
            }
        }
    }
    if (more) {
        loop->again = true;
    }
    vd__streams_flush(loop->streams);
}

static int turn(struct vd_loop *loop, vd_time max_wait)
{
    if (loop->udp->uring != NULL) {
        vd__udp_uring_prepare(loop->udp->uring);
    }
    int count = loop->selector->ops->wait(loop->selector, loop->ready, READY_MAX,
                                          time_to_wait(loop, max_wait));
    if (count < 0) {
        vd__loop_log(loop, &(struct vd_log_event){.level = VD_LOG_ERROR,
                                                  .error = VD_ERR_SYSTEM,
                                                  .system_error = errno,
                                                  .text = "cannot wait for sockets"});
        return VD_ERR_SYSTEM;
    }
    loop->now = loop->clock();
    loop->in_turn = true;
    loop->counters.turns++;
    receive(loop, (size_t)count);
    expire(loop);
    call_application(loop);
    send_all(loop);
    vd__streams_end_turn(loop->streams);
    loop->in_turn = false;
    return 0;
}

/* ---- Running ---- */

/* What the next wait would submit leaves now: there may be none. */
static void end_turns(struct vd_loop *loop)
{
    if (loop->udp->uring != NULL) {
        loop->in_turn = true;
        vd__udp_uring_flush(loop->udp->uring);
        loop->in_turn = false;
    }
}

int vd_loop_run(struct vd_loop *loop)
{
    int error = 0;

    /* The first turn does not wait, so that what was queued before it leaves. */
    for (vd_time wait = 0; error == 0 && !atomic_load(&loop->stopped); wait = VD_TIME_NEVER) {
        error = turn(loop, wait);
    }
    if (error == 0) {
        atomic_store(&loop->stopped, false);
    }
    end_turns(loop);
    return error;
}

int vd_loop_run_once(struct vd_loop *loop, vd_time max_wait)
{
    loop->now = loop->clock();
    loop->in_turn = true;
    send_all(loop);
    loop->in_turn = false;
    int error = turn(loop, max_wait);
    end_turns(loop);
    return error;
}

void vd_loop_stop(struct vd_loop *loop)
{
    /* It may interrupt code that looks at errno. */
    int error = errno;
    uint64_t one = 1;

    atomic_store(&loop->stopped, true);
    ssize_t written = write(loop->waker.fd, &one, sizeof one);
    (void)written; /* it fails only when the counter is full, and that ends the wait as well */
    errno = error;
}

vd_time vd_loop_now(const struct vd_loop *loop)
{
    return loop->in_turn ? loop->now : loop->clock();
}

void vd_loop_set_deadline(struct vd_loop *loop, vd_time deadline)
{
    loop->deadline = deadline;
}

void vd_loop_get_counters(const struct vd_loop *loop, struct vd_loop_counters *out)
{
    *out = loop->counters;
}
