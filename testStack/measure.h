/* measure.h - measures one point of a sweep, and the floor beside it, each in a process of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_MEASURE_H
#define TESTSTACK_MEASURE_H

#include "child.h"
#include "sweep_grid.h"
#include "sweep_row.h"

/* What all points of a sweep have in common. */
struct measure_conditions {
    uint64_t runs; /* not used when duration is set */
    vd_time duration;
    vd_time warmup;
    uint32_t repeats;
    uint32_t base_port;
    const char *bind; /* NULL: as the programs have it */
    bool ipv6;
    const char *floor; /* the program, NULL: without the floor */
};

struct measure_floor {
    double rate; /* NaN when the floor could not be measured; note says why */
    double cpu_us_per_pair;
    char threads[SWEEP_WORD]; /* what it was run with */
    char selector[SWEEP_WORD];
    char note[CHILD_LINE];
};

/* The name of the program floor in the folder of this program, to be freed; NULL when there is
 * none that may be run. */
char *measure_find_floor(void);

/* The command that measures a point with this program, and with the floor. variant counts from 0:
 * the floor is asked for the same selector and thread mode first, for epoll next, and for event
 * threads and epoll last, since it does not have all of ours. False when there is no such variant.
 */
void measure_point_command(struct child_command *command, const struct sweep_point *point,
                           const struct measure_conditions *conditions);
bool measure_floor_command(struct child_command *command, const struct sweep_point *point,
                           const struct measure_conditions *conditions, unsigned variant);

/* Runs the floor, or takes what it gave less than a minute ago with the same command, unless points
 * are repeated. Returns 0, or -1 after saying why no process could be run. */
int measure_floor(const struct sweep_point *point, const struct measure_conditions *conditions,
                  struct measure_floor *floor);

/* Measures a point as often as the conditions say and fills the row with what it gave; the columns
 * of the machine and of the sweep are the caller's. Returns 0, also when the point failed or was
 * skipped and the row says why; -1 after saying why no process could be run. After child_interrupt
 * the row is of no use. */
int measure_point(const struct sweep_point *point, const struct measure_conditions *conditions,
                  struct sweep_row *row);

#endif
