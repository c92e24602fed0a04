/* test_random.c - the seed of a run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "test_random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct test_random test_random_start(void)
{
    const char *seed = getenv("VIADUCT_SEED");
    struct test_random random = {seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL)};
    printf(" seed %" PRIu64 " ", random.state);
    return random;
}
