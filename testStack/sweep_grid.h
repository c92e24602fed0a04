/* sweep_grid.h - the points of a sweep: what each of them runs, and the text that describes a grid.
 *
 * A grid is text: lines of a key and its values, separated by blanks or commas. The points are all
 * combinations of the values. A line "grid" begins another grid, whose points are added; a point
 * that is there already is not added again. # begins a comment. docs/sweep.md has the keys.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_SWEEP_GRID_H
#define TESTSTACK_SWEEP_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SWEEP_WORD = 12,  /* room for a value, with its NUL */
    SWEEP_TEXT = 160, /* room for a point as text */
};

/* Texts are the words of testStack's options. */
struct sweep_point {
    uint32_t cpus; /* how many it may use */
    char method[SWEEP_WORD];
    char transport[SWEEP_WORD];
    uint32_t ports;
    uint32_t window;
    char threads[SWEEP_WORD];
    uint32_t workers; /* a side; 1 in every mode but sharded */
    char selector[SWEEP_WORD];
    uint32_t listen; /* 0: the sender's ports are not bound */
};

struct sweep_grid {
    struct sweep_point *points;
    size_t count;
    size_t capacity;
};

/* What is run when no other grid is given. */
extern const char SWEEP_DEFAULT_SPEC[];

/* Adds the points of a text. name is what it is called in a message. cpus: values of "cpus" that
 * replace those of the text, NULL for none. machine_cpus is what "all" stands for. Returns 0, or -1
 * after saying in one line what is wrong. */
int sweep_grid_parse(struct sweep_grid *grid, const char *text, const char *name, const char *cpus,
                     uint32_t machine_cpus);

void sweep_grid_free(struct sweep_grid *grid);

bool sweep_point_equal(const struct sweep_point *a, const struct sweep_point *b);

/* A point as text for people, in one line without its end. */
const char *sweep_point_format(const struct sweep_point *point, char text[SWEEP_TEXT]);

/* Why a point makes no sense, or NULL. */
const char *sweep_point_nonsense(const struct sweep_point *point, uint32_t machine_cpus,
                                 uint32_t base_port);

#endif
