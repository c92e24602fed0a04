/* test_deadline.c - deadlines of one constant length.
 *
 * Covered: order, taking away, setting anew, the empty list. Not covered: what passes when
 * (test_tcp_limits.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "deadline.h"
#include "run_suite.h"

enum { LENGTH = 100 };

static void the_next_is_the_one_that_was_set_first(void)
{
    struct vd__deadlines list;
    struct vd__deadline deadlines[3] = {{0}};

    vd__deadlines_init(&list, LENGTH);
    CU_ASSERT_EQUAL(vd__deadlines_next(&list), VD_TIME_NEVER);
    CU_ASSERT_PTR_NULL(vd__deadlines_first(&list));
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT_FALSE(vd__deadline_is_set(&deadlines[i]));
        vd__deadline_set(&list, &deadlines[i], 10 + i);
        CU_ASSERT_TRUE(vd__deadline_is_set(&deadlines[i]));
    }
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(vd__deadlines_next(&list), LENGTH + 10 + i);
        CU_ASSERT_PTR_EQUAL(vd__deadlines_first(&list), &deadlines[i]);
        vd__deadline_clear(&deadlines[i]);
    }
    CU_ASSERT_EQUAL(vd__deadlines_next(&list), VD_TIME_NEVER);
}

static void one_that_is_set_anew_goes_to_the_end(void)
{
    struct vd__deadlines list;
    struct vd__deadlines other;
    struct vd__deadline first = {0};
    struct vd__deadline second = {0};

    vd__deadlines_init(&list, LENGTH);
    vd__deadlines_init(&other, 1);
    vd__deadline_set(&list, &first, 0);
    vd__deadline_set(&list, &second, 1);
    vd__deadline_set(&list, &first, 2);
    CU_ASSERT_PTR_EQUAL(vd__deadlines_first(&list), &second);
    vd__deadline_set(&other, &second, 3);
    CU_ASSERT_PTR_EQUAL(vd__deadlines_first(&list), &first);
    CU_ASSERT_EQUAL(vd__deadlines_next(&list), LENGTH + 2);
    CU_ASSERT_EQUAL(vd__deadlines_next(&other), 4);
}

static void taking_away_what_is_not_set_does_nothing(void)
{
    struct vd__deadlines list;
    struct vd__deadline deadline = {0};

    vd__deadlines_init(&list, LENGTH);
    vd__deadline_clear(&deadline);
    vd__deadline_set(&list, &deadline, 0);
    vd__deadline_clear(&deadline);
    vd__deadline_clear(&deadline);
    CU_ASSERT_FALSE(vd__deadline_is_set(&deadline));
    CU_ASSERT_PTR_NULL(vd__deadlines_first(&list));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"the next is the one that was set first", the_next_is_the_one_that_was_set_first},
        {"one that is set anew goes to the end", one_that_is_set_anew_goes_to_the_end},
        {"taking away what is not set does nothing", taking_away_what_is_not_set_does_nothing},
        CU_TEST_INFO_NULL,
    };
    return run_suite("deadline", tests);
}
