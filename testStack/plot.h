/* plot.h - draws the rates of a sweep with gnuplot.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_PLOT_H
#define TESTSTACK_PLOT_H

#include "sweep_row.h"

enum plot_chart {
    PLOT_PORTS,
    PLOT_TRANSPORT,
    PLOT_THREADS,
    PLOT_WINDOW,
    PLOT_CHARTS,
};

/* Returns 0, or -1 after saying that gnuplot is not there and which package has it. */
int plot_check(void);

/* Writes gnuplot's commands for a chart, data included. All but what the chart is about is held at
 * one value: register, listening ports, 1 port, event threads, window 50 and epoll where the table
 * has them, else what its first row has; and the most CPUs. False, with nothing written, when fewer
 * than two values are left to draw. */
bool plot_write(FILE *file, const struct sweep_table *table, enum plot_chart chart);

/* Draws every chart that has something to show into the folder, which is made when it is not there:
 * NAME.gp with the commands, NAME.svg with the picture. Returns 0, or -1 after saying why not. */
int plot_draw(const struct sweep_table *table, const char *folder);

#endif
