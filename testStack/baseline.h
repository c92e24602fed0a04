/* baseline.h - compares a sweep with a kept one, by the ratio of each to its own floor.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_BASELINE_H
#define TESTSTACK_BASELINE_H

#include "sweep_row.h"

struct baseline_counts {
    size_t better;
    size_t worse;
    size_t same;
    size_t not_compared; /* one of the two has no such point, or no ratio for it */
};

/* Prints a line for each point whose ratio differs by more than tolerance, a part of the old ratio,
 * and a last line with the counts. name is that of the old file. */
struct baseline_counts baseline_compare(FILE *file, const struct sweep_table *old, const char *name,
                                        const struct sweep_table *now, double tolerance);

#endif
