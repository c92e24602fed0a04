/* micro_timers.c - arming and cancelling timers: a lane, which the transactions' timers use, and
 * the wheel.
 *
 * Both are internal to the library, and this file alone of the programs includes internal headers:
 * through the public functions the cost of the structures could not be told from that of what is
 * round them.
 *
 * "Fresh" timers are those of transactions that end soon: of 100 outstanding the oldest is
 * cancelled and armed anew. "Random" ones are picked out of all that are pending.
 *
 * SPDX-License-Identifier: MIT
 */
#include "micro.h"

#include "lane.h"
#include "wheel.h"

#include <stdlib.h>

enum { OUTSTANDING = 100, PENDING = 5000000 };

#define T1 (500 * VD_MSEC)

/* What a stack of 64*T1 timers spans when it is in balance. */
#define SPAN (64 * T1)

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* ---- Lanes ---- */

struct lanes {
    struct vd__lane retransmit; /* T1 */
    struct vd__lane end;        /* 64*T1 */
    struct vd__lane_timer fresh[OUTSTANDING];
    struct vd__lane_timer *pending;
    size_t count;
    size_t oldest; /* of fresh */
    uint64_t random;
    vd_time now;
};

static struct vd__lane *lane_of(struct lanes *lanes, size_t fresh)
{
    return fresh % 2 == 0 ? &lanes->retransmit : &lanes->end;
}

static int start_lanes(void **context, size_t count)
{
    struct lanes *lanes = calloc(1, sizeof *lanes);
    *context = lanes;
    if (lanes == NULL || (lanes->pending = calloc(count + 1, sizeof *lanes->pending)) == NULL) {
        return micro_fail("no memory for %zu timers", count);
    }
    lanes->count = count;
    vd__lane_init(&lanes->retransmit, T1);
    vd__lane_init(&lanes->end, SPAN);
    for (size_t i = 0; i < count; i++) {
        lanes->now = SPAN * i / count;
        vd__lane_arm(&lanes->end, &lanes->pending[i], lanes->now);
    }
    for (size_t i = 0; i < OUTSTANDING; i++) {
        vd__lane_arm(lane_of(lanes, i), &lanes->fresh[i], lanes->now);
    }
    return 0;
}

static int start_lanes_empty(void **context)
{
    return start_lanes(context, 0);
}

static int start_lanes_full(void **context)
{
    return start_lanes(context, PENDING);
}

static void end_lanes(void *context)
{
    struct lanes *lanes = context;
    if (lanes != NULL) {
        free(lanes->pending);
        free(lanes);
    }
}

static uint64_t run_lanes_fresh(void *context, enum micro_message message, uint64_t count)
{
    (void)message;
    struct lanes *lanes = context;
    uint64_t right = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct vd__lane_timer *timer = &lanes->fresh[lanes->oldest];
        vd__lane_cancel(timer);
        vd__lane_arm(lane_of(lanes, lanes->oldest), timer, ++lanes->now);
        right += timer->next != NULL;
        lanes->oldest = lanes->oldest + 1 < OUTSTANDING ? lanes->oldest + 1 : 0;
    }
    return right;
}

static uint64_t run_lanes_random(void *context, enum micro_message message, uint64_t count)
{
    (void)message;
    struct lanes *lanes = context;
    uint64_t right = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct vd__lane_timer *timer = &lanes->pending[next_random(&lanes->random) % lanes->count];
        vd__lane_cancel(timer);
        vd__lane_arm(&lanes->end, timer, ++lanes->now);
        right += timer->next != NULL;
    }
    return right;
}

static const struct micro_work LANES_EMPTY[] = {
    {"lanes_0", "lane timer: arm and cancel", run_lanes_fresh, MICRO_INVITE},
};

static const struct micro_work LANES_FULL[] = {
    {"lanes_5000000", "lane timer, 5,000,000 pending: a fresh one", run_lanes_fresh, MICRO_INVITE},
    {"lanes_5000000_random", "lane timer, 5,000,000 pending: a random one", run_lanes_random,
     MICRO_INVITE},
};

const struct micro_group micro_lanes_empty_group = {
    .works = LANES_EMPTY, .work_count = 1, .start = start_lanes_empty, .end = end_lanes};

const struct micro_group micro_lanes_full_group = {
    .works = LANES_FULL, .work_count = 2, .start = start_lanes_full, .end = end_lanes};

/* ---- The wheel ---- */

struct wheel {
    struct vd__wheel wheel;
    struct vd_timer fresh[OUTSTANDING];
    struct vd_timer *pending;
    size_t count;
    size_t oldest;
    uint64_t random;
    vd_time now;
};

/* Time stands still once all are armed, so that none comes due. */
static int start_wheel(void **context, size_t count)
{
    struct wheel *wheel = calloc(1, sizeof *wheel);
    *context = wheel;
    if (wheel == NULL || (wheel->pending = calloc(count + 1, sizeof *wheel->pending)) == NULL) {
        return micro_fail("no memory for %zu timers", count);
    }
    wheel->count = count;
    vd__wheel_init(&wheel->wheel, 0);
    for (size_t i = 0; i < count; i++) {
        wheel->now = SPAN * i / count;
        if (vd__wheel_pop(&wheel->wheel, wheel->now) != NULL) {
            return micro_fail("a timer came due too early");
        }
        vd_timer_init(&wheel->pending[i], NULL);
        vd__wheel_arm(&wheel->wheel, &wheel->pending[i], wheel->now + SPAN);
    }
    for (size_t i = 0; i < OUTSTANDING; i++) {
        vd_timer_init(&wheel->fresh[i], NULL);
    }
    return 0;
}

static int start_wheel_empty(void **context)
{
    return start_wheel(context, 0);
}

static int start_wheel_full(void **context)
{
    return start_wheel(context, PENDING);
}

static void end_wheel(void *context)
{
    struct wheel *wheel = context;
    if (wheel != NULL) {
        free(wheel->pending);
        free(wheel);
    }
}

static uint64_t run_wheel_fresh(void *context, enum micro_message message, uint64_t count)
{
    (void)message;
    struct wheel *wheel = context;
    uint64_t right = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct vd_timer *timer = &wheel->fresh[wheel->oldest];
        vd__wheel_cancel(&wheel->wheel, timer);
        vd__wheel_arm(&wheel->wheel, timer,
                      wheel->now + (wheel->oldest % 2 == 0 ? T1 : SPAN) + (i & 0xffff));
        right += vd_timer_is_armed(timer);
        wheel->oldest = wheel->oldest + 1 < OUTSTANDING ? wheel->oldest + 1 : 0;
    }
    return right;
}

static uint64_t run_wheel_random(void *context, enum micro_message message, uint64_t count)
{
    (void)message;
    struct wheel *wheel = context;
    uint64_t right = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct vd_timer *timer = &wheel->pending[next_random(&wheel->random) % wheel->count];
        vd__wheel_cancel(&wheel->wheel, timer);
        vd__wheel_arm(&wheel->wheel, timer, wheel->now + next_random(&wheel->random) % SPAN);
        right += vd_timer_is_armed(timer);
    }
    return right;
}

static const struct micro_work WHEEL_EMPTY[] = {
    {"wheel_0", "wheel timer: arm and cancel", run_wheel_fresh, MICRO_INVITE},
};

static const struct micro_work WHEEL_FULL[] = {
    {"wheel_5000000", "wheel timer, 5,000,000 pending: a fresh one", run_wheel_fresh, MICRO_INVITE},
    {"wheel_5000000_random", "wheel timer, 5,000,000 pending: a random one", run_wheel_random,
     MICRO_INVITE},
};

const struct micro_group micro_wheel_empty_group = {
    .works = WHEEL_EMPTY, .work_count = 1, .start = start_wheel_empty, .end = end_wheel};

const struct micro_group micro_wheel_full_group = {
    .works = WHEEL_FULL, .work_count = 2, .start = start_wheel_full, .end = end_wheel};
