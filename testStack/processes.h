/* processes.h - makes a run with each side in one or more processes of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_PROCESSES_H
#define TESTSTACK_PROCESSES_H

#include "result.h"

/* Makes a run of the sides that options->role names, in options->processes processes each, and adds
 * their results up. The process must have one thread only. Otherwise as run_make. */
int processes_run(const struct options *options, bool progress, struct result *result);

#endif
