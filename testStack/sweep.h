/* sweep.h - a sweep: measures every point of a grid and keeps a row for each.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_SWEEP_H
#define TESTSTACK_SWEEP_H

#include "sweep_options.h"

/* Makes the sweep that the options ask for. Returns the exit status of the program. After
 * child_interrupt the point that is being measured is given up and what was done is kept. */
int sweep_run(const struct sweep_options *options);

/* A text that is the same for sweeps whose rows may stand in one file: those with the same points,
 * conditions, machine and version. */
void sweep_fingerprint(const struct sweep_grid *grid, const struct measure_conditions *conditions,
                       char text[20]);

#endif
