/* test_wheel.c - timers of any length.
 *
 * Covered: random arms, cancels and jumps of time, between rounds and within them, against a model
 * that is searched from end to end; that a timer is never early and less than a tick late; that
 * waking at vd__wheel_deadline alone is enough and seldom in vain; deadlines up to the last one
 * that a vd_time can hold. A jump of years ends at once here only if it does not step through its
 * ticks. Not covered: how fast it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wheel.h"

#include "run_suite.h"
#include "test_random.h"

#include <stdio.h>

#define COUNT 60

/* The timers of a run and what is known of each. */
struct model {
    struct vd__wheel wheel;
    struct vd_timer timers[COUNT];
    struct {
        bool armed;
        uint64_t tick;  /* when it is due; 0 when that tick was served before it was armed */
        uint64_t round; /* the first round in which it may come */
        uint64_t order; /* of arming */
    } known[COUNT];
    struct test_random random;
    vd_time now;
    vd_time scale; /* how far deadlines and jumps go */
    uint64_t round;
    uint64_t armings;
    uint64_t served; /* ticks below this one were served */
    bool good;
};

static uint64_t round_up(vd_time deadline)
{
    return deadline == 0 ? 0 : (deadline - 1) / VD_MSEC + 1;
}

static void model_init(struct model *m, uint64_t seed)
{
    *m = (struct model){.random = {seed}, .good = true};
    m->scale = (vd_time)1 << test_random_below(&m->random, 50);
    m->now = test_random_next(&m->random) >> (8 + test_random_below(&m->random, 50));
    m->served = m->now / VD_MSEC;
    vd__wheel_init(&m->wheel, m->now);
    for (size_t i = 0; i < COUNT; i++) {
        vd_timer_init(&m->timers[i], NULL);
    }
}

/* Arms a timer for a time near now, on a tick as often as not, sometimes in the past. */
static void model_arm(struct model *m, size_t i, bool within_round)
{
    vd_time deadline = m->now + test_random_below(&m->random, m->scale);
    if (test_random_below(&m->random, 8) == 0) {
        vd_time back = test_random_below(&m->random, m->scale);
        deadline = m->now > back ? m->now - back : 0;
    }
    if (test_random_below(&m->random, 2) == 0) {
        deadline -= deadline % VD_MSEC;
    }
    vd__wheel_arm(&m->wheel, &m->timers[i], deadline);
    m->good &= m->timers[i].deadline == deadline;
    bool late = round_up(deadline) < m->served;
    m->known[i].armed = true;
    m->known[i].tick = late ? 0 : round_up(deadline);
    m->known[i].round = m->round + (late && within_round ? 1 : 0);
    m->known[i].order = m->armings++;
}

static void model_cancel(struct model *m, size_t i)
{
    vd__wheel_cancel(&m->wheel, &m->timers[i]);
    m->known[i].armed = false;
}

/* The timer that must come next in this round, COUNT for none. */
static size_t model_next(const struct model *m)
{
    size_t first = COUNT;
    for (size_t i = 0; i < COUNT; i++) {
        if (!m->known[i].armed || m->known[i].tick > m->now / VD_MSEC ||
            m->known[i].round > m->round) {
            continue;
        }
        if (first == COUNT || m->known[i].tick < m->known[first].tick ||
            (m->known[i].tick == m->known[first].tick &&
             m->known[i].order < m->known[first].order)) {
            first = i;
        }
    }
    return first;
}

/* At or before the first deadline, and never only when nothing is armed. */
static void model_check_deadline(struct model *m)
{
    bool any = false;
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < COUNT; i++) {
        m->good &= vd_timer_is_armed(&m->timers[i]) == m->known[i].armed;
        if (m->known[i].armed) {
            any = true;
            first = m->known[i].tick < first ? m->known[i].tick : first;
        }
    }
    vd_time deadline = vd__wheel_deadline(&m->wheel);
    m->good &= any ? deadline <= first * VD_MSEC : deadline == VD_TIME_NEVER;
}

static void model_round(struct model *m)
{
    m->served = m->now / VD_MSEC + 1 > m->served ? m->now / VD_MSEC + 1 : m->served;
    for (;;) {
        size_t expected = model_next(m);
        struct vd_timer *timer = vd__wheel_pop(&m->wheel, m->now);
        m->good &= timer == (expected < COUNT ? &m->timers[expected] : NULL);
        if (timer == NULL || !m->good) {
            break;
        }
        m->known[expected].armed = false;
        m->good &= !vd_timer_is_armed(timer) && timer->deadline <= m->now;
        if (test_random_below(&m->random, 2) == 0) {
            model_arm(m, expected, true);
        }
        if (test_random_below(&m->random, 4) == 0) {
            model_arm(m, (size_t)test_random_below(&m->random, COUNT), true);
        }
        if (test_random_below(&m->random, 4) == 0) {
            model_cancel(m, (size_t)test_random_below(&m->random, COUNT));
        }
    }
    m->round++;
}

static void random_use_follows_the_model(void)
{
    printf("seeds 1 to 2000 ");
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        static struct model m;
        model_init(&m, seed);
        for (int step = 0; step < 200 && m.good; step++) {
            size_t i = (size_t)test_random_below(&m.random, COUNT);
            switch (test_random_below(&m.random, 6)) {
            case 0:
                model_cancel(&m, i);
                break;
            case 1:
                m.now += test_random_below(&m.random, m.scale / 4 + 1);
                model_round(&m);
                break;
            case 2: {
                vd_time deadline = vd__wheel_deadline(&m.wheel);
                m.now = deadline > m.now && deadline != VD_TIME_NEVER ? deadline : m.now;
                model_round(&m);
                break;
            }
            default:
                model_arm(&m, i, false);
                break;
            }
            model_check_deadline(&m);
        }
        if (!m.good) {
            printf("seed %d\n", (int)seed);
        }
        CU_ASSERT(m.good);
    }
}

static void timer_comes_at_its_deadline_rounded_up_to_a_millisecond(void)
{
    static const struct {
        vd_time deadline;
        vd_time comes;
    } cases[] = {
        {500 * VD_MSEC, 500 * VD_MSEC},       {500 * VD_MSEC + 1, 501 * VD_MSEC},
        {500 * VD_MSEC + 999, 501 * VD_MSEC}, {1, 1 * VD_MSEC},
        {63 * VD_MSEC, 63 * VD_MSEC},         {63 * VD_MSEC + 1, 64 * VD_MSEC},
        {64 * VD_MSEC, 64 * VD_MSEC},         {4095 * VD_MSEC + 1, 4096 * VD_MSEC},
        {32 * VD_SEC, 32 * VD_SEC},           {86400 * VD_SEC + 7, 86400 * VD_SEC + VD_MSEC},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd__wheel wheel;
        struct vd_timer timer;
        vd__wheel_init(&wheel, 0);
        vd_timer_init(&timer, NULL);
        vd__wheel_arm(&wheel, &timer, cases[i].deadline);
        CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, cases[i].comes - 1));
        CU_ASSERT_PTR_EQUAL(vd__wheel_pop(&wheel, cases[i].comes), &timer);
        CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, cases[i].comes));
        CU_ASSERT_FALSE(vd_timer_is_armed(&timer));
    }
}

static void deadline_in_the_past_comes_in_the_next_round(void)
{
    struct vd__wheel wheel;
    struct vd_timer timer;
    vd_time now = 10 * VD_SEC;
    vd__wheel_init(&wheel, now);
    vd_timer_init(&timer, NULL);
    CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, now));
    vd__wheel_arm(&wheel, &timer, now - VD_SEC);
    CU_ASSERT(vd__wheel_deadline(&wheel) <= now);
    CU_ASSERT_PTR_EQUAL(vd__wheel_pop(&wheel, now), &timer);
    /* The round is not over: a timer that always arms itself for now must not keep it going. */
    vd__wheel_arm(&wheel, &timer, now);
    CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, now));
    CU_ASSERT_PTR_EQUAL(vd__wheel_pop(&wheel, now), &timer);
    CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, now));
    CU_ASSERT_EQUAL(vd__wheel_deadline(&wheel), VD_TIME_NEVER);
}

static void timer_due_in_this_round_can_still_be_cancelled_or_moved(void)
{
    struct vd__wheel wheel;
    struct vd_timer timers[3];
    vd__wheel_init(&wheel, 0);
    for (size_t i = 0; i < 3; i++) {
        vd_timer_init(&timers[i], NULL);
        vd__wheel_arm(&wheel, &timers[i], VD_SEC);
    }
    CU_ASSERT_PTR_EQUAL(vd__wheel_pop(&wheel, VD_SEC), &timers[0]);
    vd__wheel_cancel(&wheel, &timers[1]);
    vd__wheel_arm(&wheel, &timers[2], 2 * VD_SEC);
    CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, VD_SEC));
    CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, 2 * VD_SEC - 1));
    CU_ASSERT_PTR_EQUAL(vd__wheel_pop(&wheel, 2 * VD_SEC), &timers[2]);
    CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, 2 * VD_SEC));
}

static void timers_of_one_tick_come_in_the_order_of_arming(void)
{
    struct vd__wheel wheel;
    struct vd_timer timers[8];
    vd__wheel_init(&wheel, 0);
    /* Armed from ever nearer, so each is put into another level first. */
    static const vd_time arming[8] = {0,
                                      3000 * VD_SEC,
                                      3500 * VD_SEC,
                                      3595 * VD_SEC,
                                      3599 * VD_SEC,
                                      3599940 * VD_MSEC,
                                      3599990 * VD_MSEC,
                                      3599999 * VD_MSEC};
    for (size_t i = 0; i < 8; i++) {
        vd_timer_init(&timers[i], NULL);
        CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, arming[i]));
        vd__wheel_arm(&wheel, &timers[i], 3600 * VD_SEC);
    }
    for (size_t i = 0; i < 8; i++) {
        CU_ASSERT_PTR_EQUAL(vd__wheel_pop(&wheel, 3600 * VD_SEC), &timers[i]);
    }
    CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, 3600 * VD_SEC));
}

static void waking_at_the_wheels_deadlines_is_enough(void)
{
    printf("seeds 1 to 300 ");
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct test_random random = {seed};
        struct vd__wheel wheel;
        struct vd_timer timers[COUNT];
        vd_time now = test_random_next(&random) >> 20;
        unsigned wakings = 0;
        unsigned fired = 0;
        bool good = true;
        vd__wheel_init(&wheel, now);
        for (size_t i = 0; i < COUNT; i++) {
            vd_timer_init(&timers[i], NULL);
            vd_time distance = test_random_next(&random) >> (20 + test_random_below(&random, 40));
            vd__wheel_arm(&wheel, &timers[i], now + distance);
        }
        while (vd__wheel_deadline(&wheel) != VD_TIME_NEVER && wakings <= COUNT * VD__WHEEL_LEVELS) {
            vd_time deadline = vd__wheel_deadline(&wheel);
            now = deadline > now ? deadline : now;
            wakings++;
            for (struct vd_timer *timer; (timer = vd__wheel_pop(&wheel, now)) != NULL; fired++) {
                good &= timer->deadline <= now && now - timer->deadline < VD_MSEC;
            }
        }
        good &= fired == COUNT && wakings <= COUNT * VD__WHEEL_LEVELS;
        if (!good) {
            printf("seed %d\n", (int)seed);
        }
        CU_ASSERT(good);
    }
}

static void cancelled_timers_cause_no_waking(void)
{
    struct vd__wheel wheel;
    struct vd_timer timers[COUNT];
    vd__wheel_init(&wheel, 0);
    for (size_t i = 0; i < COUNT; i++) {
        vd_timer_init(&timers[i], NULL);
        vd__wheel_arm(&wheel, &timers[i], (vd_time)1 << i);
    }
    for (size_t i = 0; i < COUNT; i++) {
        vd__wheel_cancel(&wheel, &timers[i]);
        vd__wheel_cancel(&wheel, &timers[i]);
        CU_ASSERT_FALSE(vd_timer_is_armed(&timers[i]));
    }
    CU_ASSERT_EQUAL(vd__wheel_deadline(&wheel), VD_TIME_NEVER);
}

static void every_deadline_of_a_vd_time_is_kept(void)
{
    /* The nearer ones are powers of two and what lies beside them; all come after one jump. */
    static const vd_time last = VD_TIME_NEVER - VD_TIME_NEVER % VD_MSEC; /* the last whole tick */
    struct vd__wheel wheel;
    struct vd_timer timers[64];
    vd__wheel_init(&wheel, 0);
    for (unsigned i = 0; i < 64; i++) {
        vd_timer_init(&timers[i], NULL);
        vd_time deadline = ((vd_time)1 << i) + i % 3 - 1;
        vd__wheel_arm(&wheel, &timers[i], deadline < last ? deadline : last);
    }
    struct vd_timer never;
    vd_timer_init(&never, NULL);
    vd__wheel_arm(&wheel, &never, VD_TIME_NEVER);

    unsigned fired = 0;
    vd_time before = 0;
    for (struct vd_timer *timer; (timer = vd__wheel_pop(&wheel, last)) != NULL; fired++) {
        CU_ASSERT(round_up(timer->deadline) >= round_up(before));
        before = timer->deadline;
    }
    CU_ASSERT_EQUAL(fired, 64);
    CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, VD_TIME_NEVER));
    CU_ASSERT_EQUAL(vd__wheel_deadline(&wheel), VD_TIME_NEVER);
    CU_ASSERT(vd_timer_is_armed(&never));
    vd__wheel_cancel(&wheel, &never);
}

static void time_that_runs_backwards_serves_nothing(void)
{
    struct vd__wheel wheel;
    struct vd_timer timer;
    vd__wheel_init(&wheel, 0);
    vd_timer_init(&timer, NULL);
    CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, 10 * VD_SEC));
    vd__wheel_arm(&wheel, &timer, 11 * VD_SEC);
    CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, 5 * VD_SEC));
    CU_ASSERT_PTR_NULL(vd__wheel_pop(&wheel, 11 * VD_SEC - 1));
    CU_ASSERT_PTR_EQUAL(vd__wheel_pop(&wheel, 11 * VD_SEC), &timer);
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"random_use_follows_the_model", random_use_follows_the_model},
        {"timer_comes_at_its_deadline_rounded_up_to_a_millisecond",
         timer_comes_at_its_deadline_rounded_up_to_a_millisecond},
        {"deadline_in_the_past_comes_in_the_next_round",
         deadline_in_the_past_comes_in_the_next_round},
        {"timer_due_in_this_round_can_still_be_cancelled_or_moved",
         timer_due_in_this_round_can_still_be_cancelled_or_moved},
        {"timers_of_one_tick_come_in_the_order_of_arming",
         timers_of_one_tick_come_in_the_order_of_arming},
        {"waking_at_the_wheels_deadlines_is_enough", waking_at_the_wheels_deadlines_is_enough},
        {"cancelled_timers_cause_no_waking", cancelled_timers_cause_no_waking},
        {"every_deadline_of_a_vd_time_is_kept", every_deadline_of_a_vd_time_is_kept},
        {"time_that_runs_backwards_serves_nothing", time_that_runs_backwards_serves_nothing},
        CU_TEST_INFO_NULL,
    };
    return run_suite("wheel", tests);
}
