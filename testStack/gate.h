/* gate.h - judges a run by the floor, which is measured right after it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_GATE_H
#define TESTSTACK_GATE_H

#include "options.h"
#include "result.h"

/* False, after saying so, when options ask for a judgement and there are fewer CPUs than it needs:
 * the floor's sides and ours would take turns, and the ratio would mean something else. */
bool gate_can_judge(const struct options *options);

/* Runs the floor with the options of the run and compares; nothing when options ask for no
 * judgement. The outcome is said in a line on stderr. Returns 0 when the run passes, else -1. */
int gate_judge(const struct options *options, const struct result *result);

#endif
