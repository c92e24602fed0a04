/* test_lane.c - timers of one constant length.
 *
 * Covered: order, exact deadlines, cancelling at every place, arming anew in the same and in
 * another lane, an empty lane, and random use against an array that is searched from end to end.
 * Not covered: who fires the timers (that is the stack's loop).
 *
 * SPDX-License-Identifier: MIT
 */
#include "lane.h"

#include "run_suite.h"
#include "test_random.h"

#include <stdio.h>

#define COUNT 40

/* What the stack does: takes the first timer off when its time has come. */
static struct vd__lane_timer *pop(struct vd__lane *lane, vd_time now)
{
    struct vd__lane_timer *timer = lane->head.next;
    if (timer->deadline > now) {
        return NULL;
    }
    vd__lane_cancel(timer);
    return timer;
}

static void empty_lane_never_comes_due(void)
{
    struct vd__lane lane;
    vd__lane_init(&lane, 5);
    CU_ASSERT_EQUAL(vd__lane_deadline(&lane), VD_TIME_NEVER);
    CU_ASSERT_PTR_NULL(pop(&lane, VD_TIME_NEVER - 1));

    struct vd__lane_timer timer = {0};
    vd__lane_arm(&lane, &timer, 1);
    vd__lane_cancel(&timer);
    CU_ASSERT_EQUAL(vd__lane_deadline(&lane), VD_TIME_NEVER);
}

static void timer_comes_due_at_its_length_to_the_microsecond(void)
{
    static const vd_time lengths[] = {0, 1, 999, 500 * VD_MSEC, 32 * VD_SEC, 86400 * VD_SEC};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct vd__lane lane;
        struct vd__lane_timer timer = {0};
        vd__lane_init(&lane, lengths[i]);
        vd__lane_arm(&lane, &timer, 1000003);
        CU_ASSERT_EQUAL(vd__lane_deadline(&lane), 1000003 + lengths[i]);
        CU_ASSERT_PTR_NULL(pop(&lane, 1000003 + lengths[i] - 1));
        CU_ASSERT_PTR_EQUAL(pop(&lane, 1000003 + lengths[i]), &timer);
        CU_ASSERT_PTR_NULL(timer.next);
    }
}

static void timers_come_due_in_the_order_of_arming(void)
{
    struct vd__lane lane;
    struct vd__lane_timer timers[COUNT] = {0};
    vd__lane_init(&lane, 100);
    for (size_t i = 0; i < COUNT; i++) {
        vd__lane_arm(&lane, &timers[i], i / 3); /* three share each instant */
    }
    for (size_t i = 0; i < COUNT; i++) {
        CU_ASSERT_EQUAL(vd__lane_deadline(&lane), 100 + i / 3);
        CU_ASSERT_PTR_EQUAL(pop(&lane, 100 + COUNT), &timers[i]);
    }
    CU_ASSERT_EQUAL(vd__lane_deadline(&lane), VD_TIME_NEVER);
}

static void cancelling_any_one_leaves_the_others_in_order(void)
{
    for (size_t gone = 0; gone < COUNT; gone++) {
        struct vd__lane lane;
        struct vd__lane_timer timers[COUNT] = {0};
        vd__lane_init(&lane, 7);
        for (size_t i = 0; i < COUNT; i++) {
            vd__lane_arm(&lane, &timers[i], i);
        }
        vd__lane_cancel(&timers[gone]);
        CU_ASSERT_PTR_NULL(timers[gone].next);
        vd__lane_cancel(&timers[gone]);
        for (size_t i = 0; i < COUNT; i++) {
            if (i != gone) {
                CU_ASSERT_PTR_EQUAL(pop(&lane, 7 + COUNT), &timers[i]);
            }
        }
        CU_ASSERT_PTR_NULL(pop(&lane, VD_TIME_NEVER - 1));
    }
}

static void arming_anew_moves_a_timer_to_the_end_of_the_new_lane(void)
{
    struct vd__lane a;
    struct vd__lane b;
    struct vd__lane_timer timers[2] = {0};
    vd__lane_init(&a, 10);
    vd__lane_init(&b, 20);
    vd__lane_arm(&a, &timers[0], 0);
    vd__lane_arm(&a, &timers[1], 1);
    vd__lane_arm(&a, &timers[0], 2);
    CU_ASSERT_EQUAL(vd__lane_deadline(&a), 11);
    vd__lane_arm(&b, &timers[1], 3);
    CU_ASSERT_EQUAL(vd__lane_deadline(&a), 12);
    CU_ASSERT_EQUAL(vd__lane_deadline(&b), 23);
    CU_ASSERT_PTR_EQUAL(pop(&a, 12), &timers[0]);
    CU_ASSERT_EQUAL(vd__lane_deadline(&a), VD_TIME_NEVER);
    CU_ASSERT_PTR_EQUAL(pop(&b, 23), &timers[1]);
}

/* The first of the armed timers of the model, by deadline and then by order of arming; COUNT when
 * none is armed. */
static size_t model_first(const vd_time *deadlines, const uint64_t *order)
{
    size_t first = COUNT;
    for (size_t i = 0; i < COUNT; i++) {
        if (deadlines[i] == VD_TIME_NEVER) {
            continue;
        }
        if (first == COUNT || deadlines[i] < deadlines[first] ||
            (deadlines[i] == deadlines[first] && order[i] < order[first])) {
            first = i;
        }
    }
    return first;
}

static void random_use_follows_the_model(void)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct test_random random = {seed};
        struct vd__lane lane;
        struct vd__lane_timer timers[COUNT] = {0};
        vd_time deadlines[COUNT];
        uint64_t order[COUNT] = {0};
        memset(deadlines, 0xff, sizeof deadlines); /* VD_TIME_NEVER */
        vd_time length = test_random_below(&random, 50);
        vd_time now = 0;
        bool good = true;
        vd__lane_init(&lane, length);
        for (uint64_t step = 0; step < 1000; step++) {
            size_t i = (size_t)test_random_below(&random, COUNT);
            switch (test_random_below(&random, 4)) {
            case 0:
                vd__lane_cancel(&timers[i]);
                deadlines[i] = VD_TIME_NEVER;
                break;
            case 1:
                now += test_random_below(&random, 10);
                break;
            default:
                vd__lane_arm(&lane, &timers[i], now);
                deadlines[i] = now + length;
                order[i] = step;
                break;
            }
            size_t first = model_first(deadlines, order);
            good &= vd__lane_deadline(&lane) == (first < COUNT ? deadlines[first] : VD_TIME_NEVER);
            while (first < COUNT && deadlines[first] <= now) {
                good &= pop(&lane, now) == &timers[first];
                deadlines[first] = VD_TIME_NEVER;
                first = model_first(deadlines, order);
            }
            good &= pop(&lane, now) == NULL;
        }
        if (!good) {
            printf("seed %d\n", (int)seed);
        }
        CU_ASSERT(good);
    }
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"empty_lane_never_comes_due", empty_lane_never_comes_due},
        {"timer_comes_due_at_its_length_to_the_microsecond",
         timer_comes_due_at_its_length_to_the_microsecond},
        {"timers_come_due_in_the_order_of_arming", timers_come_due_in_the_order_of_arming},
        {"cancelling_any_one_leaves_the_others_in_order",
         cancelling_any_one_leaves_the_others_in_order},
        {"arming_anew_moves_a_timer_to_the_end_of_the_new_lane",
         arming_anew_moves_a_timer_to_the_end_of_the_new_lane},
        {"random_use_follows_the_model", random_use_follows_the_model},
        CU_TEST_INFO_NULL,
    };
    return run_suite("lane", tests);
}
