/* baseline.c - compares a sweep with a kept one, by the ratio of each to its own floor.
 *
 * The ratio, not the rate: a busier or slower machine slows the floor as well.
 *
 * SPDX-License-Identifier: MIT
 */
#include "baseline.h"

#include <math.h>
#include <string.h>

static bool has_ratio(const struct sweep_row *row)
{
    return row != NULL && strcmp(row->status, SWEEP_OK) == 0 && !isnan(row->ratio) &&
           row->ratio > 0;
}

static void print_change(FILE *file, const char *what, const struct sweep_row *old,
                         const struct sweep_row *now)
{
    char text[SWEEP_TEXT];
    fprintf(file, "%s: %s: ratio %.3f, was %.3f (%+.1f %%)\n", what,
            sweep_point_format(&now->point, text), now->ratio, old->ratio,
            (now->ratio / old->ratio - 1) * 100);
}

static size_t count_absent(const struct sweep_table *old, const struct sweep_table *now)
{
    size_t absent = 0;
    for (size_t i = 0; i < old->count; i++) {
        absent += sweep_table_find(now, &old->rows[i].point) == NULL;
    }
    return absent;
}

struct baseline_counts baseline_compare(FILE *file, const struct sweep_table *old, const char *name,
                                        const struct sweep_table *now, double tolerance)
{
    struct baseline_counts counts = {.not_compared = count_absent(old, now)};
    for (size_t i = 0; i < now->count; i++) {
        const struct sweep_row *row = &now->rows[i];
        const struct sweep_row *before = sweep_table_find(old, &row->point);
        if (!has_ratio(row) || !has_ratio(before)) {
            counts.not_compared++;
        } else if (row->ratio > before->ratio * (1 + tolerance)) {
            print_change(file, "better", before, row);
            counts.better++;
        } else if (row->ratio < before->ratio * (1 - tolerance)) {
            print_change(file, "worse", before, row);
            counts.worse++;
        } else {
            counts.same++;
        }
    }
    fprintf(file, "beside %s: %zu better, %zu worse, %zu the same within %g %%, %zu not compared\n",
            name, counts.better, counts.worse, counts.same, tolerance * 100, counts.not_compared);
    return counts;
}
