/* plan.h - how many processes a side the ports need, and what each of them does.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_PLAN_H
#define TESTSTACK_PLAN_H

#include "options.h"

/* Raises the limit of file descriptors as far as the ports need it and the system lets it. When one
 * process may not have enough for all that runs here, options are changed to THREADS_PROCESS with
 * as many processes a side as it takes, and a line on stderr says so. Returns 0, or -1 after saying
 * how many are needed and how many allowed. */
int plan_make(struct options *options);

/* The part of options for process index of its side, which is role: ports that follow those of the
 * process before, and a share of the window and the runs. */
struct options plan_share(const struct options *options, enum role role, uint32_t index);

#endif
