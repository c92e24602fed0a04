/* viaduct/timer.h - timers of any length, for the application and for what stands on transactions.
 *
 * A timer is embedded in an object of the caller. Arming and cancelling take constant time however
 * many are pending. The timers of RFC 3261 17 are exact; these fire at the first vd_stack_expire
 * whose time is at or after the deadline rounded up to a whole millisecond, never before it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TIMER_H
#define VIADUCT_TIMER_H

#include <viaduct/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vd_stack;
struct vd_timer;

/* Called once when the timer's time has come; the timer is no longer armed and may be armed again
 * or freed. */
typedef void (*vd_timer_fn)(struct vd_timer *timer, vd_time now);

/* All but deadline belongs to the stack while the timer is armed. */
struct vd_timer {
    struct vd_timer *next;
    struct vd_timer *previous;
    vd_time deadline;
    vd_timer_fn fire;
};

/* Makes a timer that is not armed. */
static inline void vd_timer_init(struct vd_timer *timer, vd_timer_fn fire)
{
    timer->next = NULL;
    timer->previous = NULL;
    timer->deadline = VD_TIME_NEVER;
    timer->fire = fire;
}

/* True between vd_timer_arm and the moment that it fires or is cancelled. */
static inline bool vd_timer_is_armed(const struct vd_timer *timer)
{
    return timer->next != NULL;
}

/* Lets timer fire at deadline; one that is armed is armed anew. A deadline in the past fires at the
 * next vd_stack_expire. The timer must stay where it is in memory until it fires or is cancelled.
 * Allowed in callbacks. */
VD_API void vd_timer_arm(struct vd_stack *stack, struct vd_timer *timer, vd_time deadline);

/* Disarms a timer; one that is not armed stays so. Allowed in callbacks. A timer that is armed must
 * be cancelled before its memory or its stack goes. */
VD_API void vd_timer_cancel(struct vd_stack *stack, struct vd_timer *timer);

#ifdef __cplusplus
}
#endif

#endif
