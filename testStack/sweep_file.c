/* sweep_file.c - the CSV file of a sweep, which a later start of the same sweep goes on with.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "sweep_file.h"

#include "fail.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int check_grid(const struct sweep_file *file, const char *grid)
{
    for (size_t i = 0; i < file->table.count; i++) {
        if (strcmp(file->table.rows[i].grid, grid) != 0) {
            return fail("%s holds another sweep, or one of another machine or version; move it "
                        "away or give another --csv",
                        file->name);
        }
    }
    return 0;
}

static int flush(const struct sweep_file *file)
{
    if (fflush(file->file) != 0 || ferror(file->file) != 0) {
        return fail("cannot write %s: %s", file->name, strerror(errno));
    }
    return 0;
}

int sweep_file_open(struct sweep_file *file, const char *name, const char *grid)
{
    size_t whole = 0;
    *file = (struct sweep_file){.name = name};
    if (access(name, F_OK) == 0 &&
        (sweep_table_read(&file->table, name, &whole) < 0 || check_grid(file, grid) < 0)) {
        return -1;
    }
    file->file = fopen(name, "ae");
    if (file->file == NULL || (whole > 0 && ftruncate(fileno(file->file), (off_t)whole) < 0)) {
        return fail("cannot write %s: %s", name, strerror(errno));
    }
    if (whole == 0) {
        if (ftruncate(fileno(file->file), 0) < 0) {
            return fail("cannot write %s: %s", name, strerror(errno));
        }
        sweep_row_write_header(file->file);
    }
    return flush(file);
}

int sweep_file_add(struct sweep_file *file, const struct sweep_row *row)
{
    sweep_row_write(file->file, row);
    return flush(file) < 0 ? -1 : sweep_table_add(&file->table, row);
}

void sweep_file_close(struct sweep_file *file)
{
    if (file->file != NULL) {
        fclose(file->file);
    }
    sweep_table_free(&file->table);
}
