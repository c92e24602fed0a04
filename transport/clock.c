/* clock.c - the only place that reads a clock.
 *
 * SPDX-License-Identifier: MIT
 */
#include "clock.h"

#include <time.h>

vd_time vd__clock_now(void)
{
    struct timespec time;

    /* With a valid clock and pointer clock_gettime cannot fail. */
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (vd_time)time.tv_sec * VD_SEC + (vd_time)time.tv_nsec / 1000;
}
