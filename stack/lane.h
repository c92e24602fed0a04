/* lane.h - timers of one constant length: a FIFO.
 *
 * Every timer of RFC 3261 17 has one of a dozen constant lengths (T1 doubled up to the cap, T2, T4,
 * 64*T1, Timer D, the 200 ms of 17.2.1). Timers of one length end in the order in which they were
 * armed, so each length is a list: arming appends, cancelling unlinks, the head is the next to
 * fire. All of it is O(1) and exact, with nothing to round.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_LANE_H
#define VIADUCT_STACK_LANE_H

#include <viaduct/base.h>

/* Embedded in what waits. next is NULL when it is not armed. */
struct vd__lane_timer {
    struct vd__lane_timer *next;
    struct vd__lane_timer *previous;
    vd_time deadline;
};

/* head.next is the first timer to fire; head is the list's own end and never comes due. */
struct vd__lane {
    struct vd__lane_timer head;
    vd_time length;
};

static inline void vd__lane_init(struct vd__lane *lane, vd_time length)
{
    lane->head.next = &lane->head;
    lane->head.previous = &lane->head;
    lane->head.deadline = VD_TIME_NEVER;
    lane->length = length;
}

static inline void vd__lane_cancel(struct vd__lane_timer *timer)
{
    if (timer->next != NULL) {
        timer->next->previous = timer->previous;
        timer->previous->next = timer->next;
        timer->next = NULL;
    }
}

/* Arms timer, anew if it is armed in any lane. now must not run backwards. */
static inline void vd__lane_arm(struct vd__lane *lane, struct vd__lane_timer *timer, vd_time now)
{
    vd__lane_cancel(timer);
    timer->deadline = now + lane->length;
    timer->next = &lane->head;
    timer->previous = lane->head.previous;
    lane->head.previous->next = timer;
    lane->head.previous = timer;
}

/* When the lane's first timer fires; VD_TIME_NEVER when the lane is empty: the head's own deadline.
 */
static inline vd_time vd__lane_deadline(const struct vd__lane *lane)
{
    return lane->head.next->deadline;
}

#endif
