/* sweep_options.h - the command line of a sweep.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_SWEEP_OPTIONS_H
#define TESTSTACK_SWEEP_OPTIONS_H

#include "measure.h"
#include "options.h"

struct sweep_options {
    struct measure_conditions conditions; /* floor is not set */
    const char *spec;                     /* file name, NULL: SWEEP_DEFAULT_SPEC */
    const char *cpus;                     /* values of "cpus", NULL: as the grid says */
    const char *csv;                      /* file name */
    const char *baseline;                 /* file name, or NULL */
    double tolerance;                     /* a part of the old ratio */
    const char *plot;                     /* folder, or NULL */
    double gate;                          /* least ratio to the floor; 0: none */
    uint32_t gate_cores;
    bool list; /* print the points and end */
};

/* Is it a sweep that the command line asks for? */
bool sweep_options_wanted(int argc, char *const *argv);

/* Fills options, which borrow strings of argv; its order and its first string are changed. */
enum options_result sweep_options_parse(struct sweep_options *options, int argc, char **argv);

#endif
