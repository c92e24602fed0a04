/* wheel.h - timers of any length: a hierarchical timing wheel with a tick of one millisecond.
 *
 * Arming and cancelling are O(1); a timer moves to a finer level at most once a level. A timer
 * fires at the first round of vd__wheel_pop whose now is at or after its deadline rounded up to a
 * tick.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_WHEEL_H
#define VIADUCT_STACK_WHEEL_H

#include <viaduct/base.h>
#include <viaduct/timer.h>

#define VD__WHEEL_BITS  6
#define VD__WHEEL_SLOTS 64
/* 64^10 milliseconds are more than a vd_time can hold. */
#define VD__WHEEL_LEVELS 10

/* A timer whose tick differs from the wheel's in the digit (base 64) of a level, and in none above
 * it, waits in that level, in the slot of its own digit. So all timers of a level come before all
 * of the levels above it, and within a level in the order of the slots. */
struct vd__wheel {
    uint64_t tick;                       /* every tick before this one was served */
    uint64_t occupied[VD__WHEEL_LEVELS]; /* a bit for each slot that holds a timer */
    struct vd_timer slots[VD__WHEEL_LEVELS][VD__WHEEL_SLOTS]; /* heads of circular lists */
    struct vd_timer due;  /* timers whose tick has come: by tick, then in order of arming */
    struct vd_timer late; /* timers that were armed for a tick before tick */
    bool popping;         /* a round of vd__wheel_pop is under way */
};

void vd__wheel_init(struct vd__wheel *wheel, vd_time now);

/* Arms timer, anew if it is armed. */
void vd__wheel_arm(struct vd__wheel *wheel, struct vd_timer *timer, vd_time deadline);
void vd__wheel_cancel(struct vd__wheel *wheel, struct vd_timer *timer);

/* When vd__wheel_pop may have something next: at or before the first deadline rounded up, and for
 * any timer not more than once a level too early. VD_TIME_NEVER when no timer is armed. */
vd_time vd__wheel_deadline(const struct vd__wheel *wheel);

/* Takes one timer off whose time has come; NULL when there is none. Call with one now until NULL:
 * that is a round. A timer armed within a round for a time that has passed waits for the next one,
 * so a timer that arms itself anew each time does not keep a round from ending. */
struct vd_timer *vd__wheel_pop(struct vd__wheel *wheel, vd_time now);

#endif
