/* sweep_row.h - what a point of a sweep gave, as a row of a CSV file (RFC 4180).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_SWEEP_ROW_H
#define TESTSTACK_SWEEP_ROW_H

#include "sweep_grid.h"

#include <stdio.h>

/* What became of a point. */
#define SWEEP_OK      "ok"
#define SWEEP_SKIPPED "skipped"
#define SWEEP_FAILED  "failed"

/* Numbers that are not known are NaN and an empty field. docs/sweep.md has the columns. */
struct sweep_row {
    char grid[20]; /* of the sweep that the row belongs to */
    char date[24]; /* UTC, when the point ended */
    char version[16];
    char platform[48];
    char kernel[64];
    uint32_t cores;
    struct sweep_point point;
    double duration_s;
    double warmup_s;
    uint32_t repeats;
    char status[12];
    char note[240]; /* why it was skipped or failed */
    double pairs;
    double rate; /* pairs a second: the median of the repeats, and its extremes */
    double rate_min;
    double rate_max;
    double latency_p50; /* microseconds; these and what follows are of the median repeat */
    double latency_p90;
    double latency_p99;
    double latency_p999;
    double latency_max;
    double retransmissions;
    double timeouts;
    double failures;
    double cpu_us_per_pair;
    double sender_cpu_s;
    double receiver_cpu_s;
    double max_rss_kib; /* of the process, at its most */
    double sender_rss_kib;
    double receiver_rss_kib;
    double sender_engine_bytes;
    double receiver_engine_bytes;
    char floor_threads[SWEEP_WORD]; /* what the floor was run with */
    char floor_selector[SWEEP_WORD];
    double floor_rate; /* the median of the repeats, and its extremes */
    double floor_rate_min;
    double floor_rate_max;
    double floor_cpu_us_per_pair;
    double ratio; /* of rate to that of the floor beside it, likewise */
    double ratio_min;
    double ratio_max;
};

struct sweep_table {
    struct sweep_row *rows;
    size_t count;
    size_t capacity;
};

/* A row in which no number is known. */
void sweep_row_init(struct sweep_row *row);

void sweep_row_write_header(FILE *file);
void sweep_row_write(FILE *file, const struct sweep_row *row);

/* Adds the rows of CSV text; name is what it is called in a message. Columns are known by their
 * names, so they may stand in any order and others are ignored. A last line that has no end is no
 * row: its writer was stopped. whole is set to the size of the text without it. Returns 0, or -1
 * after saying in one line what is wrong. */
int sweep_table_parse(struct sweep_table *table, const char *text, const char *name, size_t *whole);

/* The same of a file. -1 also when it cannot be read. */
int sweep_table_read(struct sweep_table *table, const char *name, size_t *whole);

int sweep_table_add(struct sweep_table *table, const struct sweep_row *row);
void sweep_table_free(struct sweep_table *table);

/* The row of a point, NULL when there is none. */
const struct sweep_row *sweep_table_find(const struct sweep_table *table,
                                         const struct sweep_point *point);

/* The text of a file with a NUL, to be freed; NULL after saying why it cannot be read. */
char *sweep_read_file(const char *name);

#endif
