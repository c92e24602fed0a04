/* limits.c - may the process open as many sockets as it needs?
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "limits.h"

#include "fail.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

/* Standard streams, report files, and for each loop a selector and what wakes it. */
static const rlim_t OTHERS = 12;

int limits_raise(const struct options *options)
{
    rlim_t needed = 2 * (rlim_t)options->ports + OTHERS;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
        return fail("cannot read the limit of descriptors: %s", strerror(errno));
    }
    if (limit.rlim_cur >= needed) {
        return 0;
    }
    /* Past the hard limit only a privileged process gets. */
    rlim_t hard = limit.rlim_max > needed ? limit.rlim_max : needed;
    struct rlimit raised = {.rlim_cur = needed, .rlim_max = hard};
    if (setrlimit(RLIMIT_NOFILE, &raised) < 0) {
        return fail("%u ports a side need %" PRIuMAX " descriptors, %" PRIuMAX " are allowed",
                    options->ports, (uintmax_t)needed, (uintmax_t)limit.rlim_max);
    }
    return 0;
}
