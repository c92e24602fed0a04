/* sweep_file.h - the CSV file of a sweep, which a later start of the same sweep goes on with.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_SWEEP_FILE_H
#define TESTSTACK_SWEEP_FILE_H

#include "sweep_row.h"

struct sweep_file {
    const char *name;
    FILE *file;
    struct sweep_table table; /* what is in it */
};

/* Opens or makes the file. A last line that was not written to its end is cut off. grid is what
 * sweep_fingerprint gave; a file with rows of another sweep is refused. Returns 0, or -1 after
 * saying why not. To be closed in either case. */
int sweep_file_open(struct sweep_file *file, const char *name, const char *grid);

/* Adds a row; it is in the file when this returns 0. */
int sweep_file_add(struct sweep_file *file, const struct sweep_row *row);

void sweep_file_close(struct sweep_file *file);

#endif
