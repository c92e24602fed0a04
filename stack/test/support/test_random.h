/* test_random.h - numbers that look random and follow from a seed (splitmix64).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <stdint.h>

struct test_random {
    uint64_t state;
};

/* A sequence that is another one in each run. Its seed is printed; VIADUCT_SEED=number in the
 * environment repeats a run. */
struct test_random test_random_start(void);

static inline uint64_t test_random_next(struct test_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = random->state;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* 0 to limit - 1; limit must not be 0. */
static inline uint64_t test_random_below(struct test_random *random, uint64_t limit)
{
    return test_random_next(random) % limit;
}

#endif
