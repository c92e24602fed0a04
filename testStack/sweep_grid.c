/* sweep_grid.c - the points of a sweep: what each of them runs, and the text that describes a grid.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sweep_grid.h"

#include "fail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUES_MOST = 32,
    POINTS_MOST = 100000,
    LINE_MOST = 400,
};

const char SWEEP_DEFAULT_SPEC[] = "transport udp tcp tls\n"
                                  "selector epoll poll io_uring\n"
                                  "ports 1 100 10000\n"
                                  "listen 1 0\n"
                                  "threads common event split sharded process\n"
                                  "window 1 10 50 200\n";

/* ---- Axes ---- */

/* In the order in which the points are nested: the last one changes from each point to the next.
 * Those that the floor does not have are last, so that points with the same floor are neighbours.
 */
enum axis_key {
    AXIS_CPUS,
    AXIS_METHOD,
    AXIS_TRANSPORT,
    AXIS_PORTS,
    AXIS_WINDOW,
    AXIS_THREADS,
    AXIS_WORKERS,
    AXIS_SELECTOR,
    AXIS_LISTEN,
    AXIS_COUNT,
};

static const char *const METHODS[] = {"register", "options", "invite", NULL};
static const char *const TRANSPORTS[] = {"udp", "tcp", "tls", NULL};
static const char *const THREADS[] = {"common", "event", "split", "sharded", "process", NULL};
static const char *const SELECTORS[] = {"epoll", "poll", "io_uring", NULL};

/* A key takes words or numbers. */
static const struct axis_rule {
    const char *key;
    const char *const *words;
    uint32_t least;
    uint32_t most;
    const char *unless_given;
} RULES[AXIS_COUNT] = {
    [AXIS_CPUS] = {"cpus", NULL, 1, 1024, "all"},
    [AXIS_METHOD] = {"method", METHODS, 0, 0, "register"},
    [AXIS_TRANSPORT] = {"transport", TRANSPORTS, 0, 0, "udp"},
    [AXIS_PORTS] = {"ports", NULL, 1, UINT16_MAX / 2, "1"},
    [AXIS_WINDOW] = {"window", NULL, 1, 1000000, "100"},
    [AXIS_THREADS] = {"threads", THREADS, 0, 0, "event"},
    [AXIS_WORKERS] = {"workers", NULL, 1, 256, "2"},
    [AXIS_SELECTOR] = {"selector", SELECTORS, 0, 0, "epoll"},
    [AXIS_LISTEN] = {"listen", NULL, 0, 1, "1"},
};

struct axis {
    const char *words[VALUES_MOST];
    uint32_t numbers[VALUES_MOST];
    size_t count;
};

struct parser {
    struct sweep_grid *grid;
    const char *name;
    unsigned line;
    uint32_t machine_cpus;
    const char *cpus;
    struct axis axes[AXIS_COUNT];
    bool any; /* a key was given since the grid began */
};

static int complain(const struct parser *parser, const char *what, const char *about)
{
    return fail("%s, line %u: '%s' %s", parser->name, parser->line, about, what);
}

static int add_word(const struct parser *parser, const struct axis_rule *rule, struct axis *axis,
                    const char *text)
{
    for (const char *const *word = rule->words; *word != NULL; word++) {
        if (strcmp(text, *word) == 0) {
            axis->words[axis->count++] = *word;
            return 0;
        }
    }
    return fail("%s, line %u: '%s' is no value of %s", parser->name, parser->line, text, rule->key);
}

static int add_number(const struct parser *parser, enum axis_key key, struct axis *axis,
                      const char *text)
{
    const struct axis_rule *rule = &RULES[key];
    char *end;
    if (key == AXIS_CPUS && strcmp(text, "all") == 0) {
        axis->numbers[axis->count++] = parser->machine_cpus;
        return 0;
    }
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < rule->least ||
        value > rule->most) {
        return fail("%s, line %u: %s: '%s' is not a number from %u to %u", parser->name,
                    parser->line, rule->key, text, rule->least, rule->most);
    }
    axis->numbers[axis->count++] = (uint32_t)value;
    return 0;
}

/* The values that words holds; it is cut up. */
static int add_values(struct parser *parser, enum axis_key key, char *words)
{
    struct axis *axis = &parser->axes[key];
    char *rest;
    for (char *word = strtok_r(words, " \t\r,", &rest); word != NULL;
         word = strtok_r(NULL, " \t\r,", &rest)) {
        if (axis->count == VALUES_MOST) {
            return complain(parser, "has too many values", RULES[key].key);
        }
        if ((RULES[key].words != NULL ? add_word(parser, &RULES[key], axis, word)
                                      : add_number(parser, key, axis, word)) < 0) {
            return -1;
        }
    }
    return axis->count == 0 ? complain(parser, "has no value", RULES[key].key) : 0;
}

static int set_axis(struct parser *parser, enum axis_key key, const char *values)
{
    char words[LINE_MOST];
    if ((size_t)snprintf(words, sizeof words, "%s", values) >= sizeof words) {
        return complain(parser, "has too many values", RULES[key].key);
    }
    parser->axes[key].count = 0;
    return add_values(parser, key, words);
}

/* ---- Points ---- */

static void copy_word(char to[SWEEP_WORD], const struct axis *axis, size_t index)
{
    snprintf(to, SWEEP_WORD, "%s", axis->words[index]);
}

static void make_point(struct sweep_point *point, const struct axis *axes, const size_t *at)
{
    memset(point, 0, sizeof *point);
    point->cpus = axes[AXIS_CPUS].numbers[at[AXIS_CPUS]];
    copy_word(point->method, &axes[AXIS_METHOD], at[AXIS_METHOD]);
    copy_word(point->transport, &axes[AXIS_TRANSPORT], at[AXIS_TRANSPORT]);
    point->ports = axes[AXIS_PORTS].numbers[at[AXIS_PORTS]];
    point->window = axes[AXIS_WINDOW].numbers[at[AXIS_WINDOW]];
    copy_word(point->threads, &axes[AXIS_THREADS], at[AXIS_THREADS]);
    point->workers =
        strcmp(point->threads, "sharded") == 0 ? axes[AXIS_WORKERS].numbers[at[AXIS_WORKERS]] : 1;
    copy_word(point->selector, &axes[AXIS_SELECTOR], at[AXIS_SELECTOR]);
    point->listen = axes[AXIS_LISTEN].numbers[at[AXIS_LISTEN]];
}

bool sweep_point_equal(const struct sweep_point *a, const struct sweep_point *b)
{
    return a->cpus == b->cpus && strcmp(a->method, b->method) == 0 &&
           strcmp(a->transport, b->transport) == 0 && a->ports == b->ports &&
           a->window == b->window && strcmp(a->threads, b->threads) == 0 &&
           a->workers == b->workers && strcmp(a->selector, b->selector) == 0 &&
           a->listen == b->listen;
}

static int add_point(struct sweep_grid *grid, const struct sweep_point *point)
{
    for (size_t i = 0; i < grid->count; i++) {
        if (sweep_point_equal(&grid->points[i], point)) {
            return 0;
        }
    }
    if (grid->count == POINTS_MOST) {
        return fail("the grid has more than %d points", POINTS_MOST);
    }
    if (grid->count == grid->capacity) {
        size_t capacity = grid->capacity == 0 ? 256 : grid->capacity * 2;
        struct sweep_point *points = realloc(grid->points, capacity * sizeof *points);
        if (points == NULL) {
            return fail("no memory for the grid");
        }
        grid->points = points;
        grid->capacity = capacity;
    }
    grid->points[grid->count++] = *point;
    return 0;
}

/* Goes on to the next combination. False when that was the last. */
static bool advance(const struct axis *axes, size_t *at)
{
    for (size_t key = AXIS_COUNT; key-- > 0;) {
        if (++at[key] < axes[key].count) {
            return true;
        }
        at[key] = 0;
    }
    return false;
}

static int end_grid(struct parser *parser)
{
    size_t at[AXIS_COUNT] = {0};
    struct sweep_point point;
    if (parser->cpus != NULL && set_axis(parser, AXIS_CPUS, parser->cpus) < 0) {
        return -1;
    }
    for (size_t key = 0; key < AXIS_COUNT; key++) {
        if (parser->axes[key].count == 0 &&
            set_axis(parser, (enum axis_key)key, RULES[key].unless_given) < 0) {
            return -1;
        }
    }
    do {
        make_point(&point, parser->axes, at);
        if (add_point(parser->grid, &point) < 0) {
            return -1;
        }
    } while (advance(parser->axes, at));
    memset(parser->axes, 0, sizeof parser->axes);
    parser->any = false;
    return 0;
}

/* ---- Text ---- */

static int parse_line(struct parser *parser, char *line)
{
    char *values;
    line[strcspn(line, "#")] = '\0';
    char *key = strtok_r(line, " \t\r", &values);
    if (key == NULL) {
        return 0;
    }
    if (strcmp(key, "grid") == 0) {
        return parser->any ? end_grid(parser) : 0;
    }
    for (size_t i = 0; i < AXIS_COUNT; i++) {
        if (strcmp(key, RULES[i].key) == 0) {
            if (parser->axes[i].count > 0) {
                return complain(parser, "is there twice", key);
            }
            parser->any = true;
            return add_values(parser, (enum axis_key)i, values);
        }
    }
    return complain(parser, "is no key", key);
}

int sweep_grid_parse(struct sweep_grid *grid, const char *text, const char *name, const char *cpus,
                     uint32_t machine_cpus)
{
    struct parser parser = {.grid = grid, .name = name, .cpus = cpus, .machine_cpus = machine_cpus};
    char line[LINE_MOST];
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        parser.line++;
        if (length >= sizeof line) {
            return fail("%s, line %u: it is too long", name, parser.line);
        }
        memcpy(line, text, length);
        line[length] = '\0';
        if (parse_line(&parser, line) < 0) {
            return -1;
        }
        text += length + (text[length] != '\0');
    }
    if (!parser.any && grid->count == 0) {
        return fail("%s has no points", name);
    }
    return parser.any ? end_grid(&parser) : 0;
}

void sweep_grid_free(struct sweep_grid *grid)
{
    free(grid->points);
    *grid = (struct sweep_grid){0};
}

const char *sweep_point_format(const struct sweep_point *point, char text[SWEEP_TEXT])
{
    char workers[24] = "";
    if (strcmp(point->threads, "sharded") == 0) {
        snprintf(workers, sizeof workers, " by %u", point->workers);
    }
    snprintf(text, SWEEP_TEXT, "%s %s, %u port%s%s, %s%s, %s, window %u, %u CPU%s", point->method,
             point->transport, point->ports, point->ports == 1 ? "" : "s",
             point->listen == 0 ? " not bound" : "", point->threads, workers, point->selector,
             point->window, point->cpus, point->cpus == 1 ? "" : "s");
    return text;
}

const char *sweep_point_nonsense(const struct sweep_point *point, uint32_t machine_cpus,
                                 uint32_t base_port)
{
    if (point->listen == 0 && strcmp(point->transport, "udp") == 0) {
        return "over UDP responses reach the sender's ports only when they are bound";
    }
    if (point->cpus > machine_cpus) {
        return "this machine has fewer CPUs";
    }
    if (base_port + 2 * point->ports - 1 > UINT16_MAX) {
        return "the ports go past 65535";
    }
    return NULL;
}
