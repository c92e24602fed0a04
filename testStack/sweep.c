/* sweep.c - a sweep: measures every point of a grid and keeps a row for each.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "sweep.h"

#include "baseline.h"
#include "fail.h"
#include "plot.h"
#include "sweep_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_NOT_JUDGED = 77 };

struct sweep {
    const struct sweep_options *options;
    struct sweep_grid grid;
    struct sweep_file file;
    struct sweep_table baseline;
    char *floor;
    char fingerprint[20];
    struct utsname machine;
    bool terminal;   /* stderr is one */
    size_t to_do;    /* points that are still to be measured */
    size_t measured; /* in this run */
    vd_time began;
    size_t at; /* in the grid */
};

static vd_time clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (vd_time)time.tv_sec * VD_SEC + (vd_time)(time.tv_nsec / 1000);
}

/* ---- The grid ---- */

/* FNV-1a, 64 bits. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    }
    return (hash ^ '\n') * 0x100000001b3u;
}

void sweep_fingerprint(const struct sweep_grid *grid, const struct measure_conditions *conditions,
                       char text[20])
{
    struct utsname machine = {0};
    char line[SWEEP_TEXT];
    uint64_t hash = 0xcbf29ce484222325u;
    uname(&machine);
    hash = hash_text(hash, vd_version());
    hash = hash_text(hash, machine.release);
    hash = hash_text(hash, machine.machine);
    snprintf(line, sizeof line, "%u %" PRIu64 " %" PRIu64 " %u %u %d", child_machine_cpus(),
             conditions->duration, conditions->warmup, conditions->repeats, conditions->base_port,
             (int)conditions->ipv6);
    hash = hash_text(hash, line);
    hash = hash_text(hash, conditions->bind != NULL ? conditions->bind : "");
    for (size_t i = 0; i < grid->count; i++) {
        hash = hash_text(hash, sweep_point_format(&grid->points[i], line));
    }
    snprintf(text, 20, "%016" PRIx64, hash);
}

static int read_grid(struct sweep *sweep)
{
    const struct sweep_options *options = sweep->options;
    uint32_t cpus = child_machine_cpus();
    if (options->spec == NULL) {
        return sweep_grid_parse(&sweep->grid, SWEEP_DEFAULT_SPEC, "the built-in grid",
                                options->cpus, cpus);
    }
    char *text = sweep_read_file(options->spec);
    int error = text == NULL
                    ? -1
                    : sweep_grid_parse(&sweep->grid, text, options->spec, options->cpus, cpus);
    free(text);
    return error;
}

static const char *nonsense(const struct sweep *sweep, const struct sweep_point *point)
{
    return sweep_point_nonsense(point, child_machine_cpus(), sweep->options->conditions.base_port);
}

static int list(const struct sweep *sweep)
{
    char text[SWEEP_TEXT];
    for (size_t i = 0; i < sweep->grid.count; i++) {
        const struct sweep_point *point = &sweep->grid.points[i];
        const char *why = nonsense(sweep, point);
        printf("%s%s%s\n", sweep_point_format(point, text), why != NULL ? ": skipped: " : "",
               why != NULL ? why : "");
    }
    return fflush(stdout) == 0 ? STATUS_OK : STATUS_FAILED;
}

/* ---- Progress ---- */

/* Until points were measured, each is taken to last as long as its run and a run of the floor. */
static uint64_t minutes_left(const struct sweep *sweep)
{
    const struct measure_conditions *conditions = &sweep->options->conditions;
    vd_time each = 2 * conditions->repeats * (conditions->duration + conditions->warmup);
    if (sweep->measured > 0) {
        each = (clock_now() - sweep->began) / sweep->measured;
    }
    return (each * sweep->to_do + 60 * VD_SEC - 1) / (60 * VD_SEC);
}

static void show_progress(const struct sweep *sweep, const struct sweep_point *point)
{
    char text[SWEEP_TEXT];
    if (sweep->terminal) {
        fprintf(stderr, "\r\033[K%zu of %zu, %zu left, %" PRIu64 " min: %s", sweep->at + 1,
                sweep->grid.count, sweep->to_do, minutes_left(sweep),
                sweep_point_format(point, text));
        fflush(stderr);
    }
}

static void clear_progress(const struct sweep *sweep)
{
    if (sweep->terminal) {
        fputs("\r\033[K", stderr);
    }
}

static void print_row(const struct sweep_row *row)
{
    char text[SWEEP_TEXT];
    printf("%s: ", sweep_point_format(&row->point, text));
    if (strcmp(row->status, SWEEP_OK) != 0) {
        printf("%s: %s\n", row->status, row->note);
    } else if (isnan(row->ratio)) {
        printf("%.0f pairs/s, %s\n", row->rate, row->note);
    } else {
        printf("%.0f pairs/s, floor %.0f, ratio %.3f\n", row->rate, row->floor_rate, row->ratio);
    }
    fflush(stdout);
}

/* ---- The points ---- */

static void describe(const struct sweep *sweep, struct sweep_row *row)
{
    const struct measure_conditions *conditions = &sweep->options->conditions;
    struct tm utc;
    time_t now = time(NULL);
    gmtime_r(&now, &utc);
    strftime(row->date, sizeof row->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(row->grid, sizeof row->grid, "%s", sweep->fingerprint);
    snprintf(row->version, sizeof row->version, "%s", vd_version());
    snprintf(row->platform, sizeof row->platform, "%.20s-%.20s", sweep->machine.sysname,
             sweep->machine.machine);
    snprintf(row->kernel, sizeof row->kernel, "%.63s", sweep->machine.release);
    row->cores = child_machine_cpus();
    row->duration_s = (double)conditions->duration / (double)VD_SEC;
    row->warmup_s = (double)conditions->warmup / (double)VD_SEC;
    row->repeats = conditions->repeats;
}

static int do_point(struct sweep *sweep, const struct sweep_point *point)
{
    static struct sweep_row row;
    struct measure_conditions conditions = sweep->options->conditions;
    const char *why = nonsense(sweep, point);
    conditions.floor = sweep->floor;
    sweep_row_init(&row);
    row.point = *point;
    if (why != NULL) {
        snprintf(row.status, sizeof row.status, "%s", SWEEP_SKIPPED);
        snprintf(row.note, sizeof row.note, "%s", why);
    } else {
        show_progress(sweep, point);
        int error = measure_point(point, &conditions, &row);
        clear_progress(sweep);
        if (error < 0 || child_interrupted()) {
            return error;
        }
        sweep->to_do--;
        sweep->measured++;
    }
    describe(sweep, &row);
    print_row(&row);
    return sweep_file_add(&sweep->file, &row);
}

static bool is_done(const struct sweep *sweep, const struct sweep_point *point)
{
    return sweep_table_find(&sweep->file.table, point) != NULL;
}

static int do_points(struct sweep *sweep)
{
    sweep->began = clock_now();
    sweep->terminal = isatty(STDERR_FILENO) == 1;
    for (size_t i = 0; i < sweep->grid.count; i++) {
        const struct sweep_point *point = &sweep->grid.points[i];
        sweep->to_do += !is_done(sweep, point) && nonsense(sweep, point) == NULL;
    }
    for (; sweep->at < sweep->grid.count && !child_interrupted(); sweep->at++) {
        const struct sweep_point *point = &sweep->grid.points[sweep->at];
        if (!is_done(sweep, point) && do_point(sweep, point) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- What comes of it ---- */

static size_t count_status(const struct sweep_table *table, const char *status)
{
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        count += strcmp(table->rows[i].status, status) == 0;
    }
    return count;
}

static int print_end(const struct sweep *sweep)
{
    const struct sweep_table *table = &sweep->file.table;
    size_t failed = count_status(table, SWEEP_FAILED);
    printf("%zu of %zu points: %zu measured, %zu skipped, %zu failed, in %s\n", table->count,
           sweep->grid.count, count_status(table, SWEEP_OK), count_status(table, SWEEP_SKIPPED),
           failed, sweep->file.name);
    fflush(stdout);
    if (child_interrupted()) {
        fail("interrupted; the same command goes on with the %zu points that are left",
             sweep->grid.count - table->count);
        return STATUS_FAILED;
    }
    return failed > 0 ? STATUS_FAILED : STATUS_OK;
}

/* The gate judges points that had enough CPUs. A point without a floor is not judged. */
static int judge(const struct sweep *sweep)
{
    const struct sweep_options *options = sweep->options;
    const struct sweep_row *worst = NULL;
    size_t judged = 0;
    size_t under = 0;
    char text[SWEEP_TEXT];
    for (size_t i = 0; i < sweep->file.table.count; i++) {
        const struct sweep_row *row = &sweep->file.table.rows[i];
        if (isnan(row->ratio) || row->point.cpus < options->gate_cores) {
            continue;
        }
        judged++;
        under += row->ratio < options->gate;
        worst = worst == NULL || row->ratio < worst->ratio ? row : worst;
    }
    if (worst == NULL) {
        fail("gate: no point with a floor had %u CPUs, so nothing is judged", options->gate_cores);
        return STATUS_NOT_JUDGED;
    }
    if (under > 0) {
        fail("gate: %zu of %zu points are under %g of the floor, the worst at %.3f: %s", under,
             judged, options->gate, worst->ratio, sweep_point_format(&worst->point, text));
        return STATUS_FAILED;
    }
    return STATUS_OK;
}

static int compare(const struct sweep *sweep)
{
    const char *name = sweep->options->baseline;
    struct baseline_counts counts = baseline_compare(stdout, &sweep->baseline, name,
                                                     &sweep->file.table, sweep->options->tolerance);
    fflush(stdout);
    if (counts.worse > 0) {
        fail("%zu points are worse than in %s", counts.worse, name);
    }
    return counts.worse > 0 ? STATUS_FAILED : STATUS_OK;
}

/* The first thing that is wrong gives the status. */
static int conclude(const struct sweep *sweep)
{
    const struct sweep_options *options = sweep->options;
    int status = print_end(sweep);
    if (options->baseline != NULL) {
        int compared = compare(sweep);
        status = status == STATUS_OK ? compared : status;
    }
    if (options->plot != NULL && !child_interrupted() &&
        plot_draw(&sweep->file.table, options->plot) < 0) {
        status = STATUS_FAILED;
    }
    if (options->gate > 0 && !child_interrupted()) {
        int judged = judge(sweep);
        status = status == STATUS_OK ? judged : status;
    }
    return status;
}

/* Everything that can be wrong with the options is found before the first point. */
static int prepare(struct sweep *sweep)
{
    const struct sweep_options *options = sweep->options;
    size_t whole;
    if (options->baseline != NULL &&
        sweep_table_read(&sweep->baseline, options->baseline, &whole) < 0) {
        return -1;
    }
    if (options->plot != NULL && plot_check() < 0) {
        return -1;
    }
    uname(&sweep->machine);
    sweep->floor = measure_find_floor();
    sweep_fingerprint(&sweep->grid, &options->conditions, sweep->fingerprint);
    return sweep_file_open(&sweep->file, options->csv, sweep->fingerprint);
}

int sweep_run(const struct sweep_options *options)
{
    struct sweep sweep = {.options = options};
    int status = STATUS_FAILED;
    if (read_grid(&sweep) < 0) {
        status = STATUS_USAGE;
    } else if (options->list) {
        status = list(&sweep);
    } else if (prepare(&sweep) == 0 && do_points(&sweep) == 0) {
        status = conclude(&sweep);
    }
    sweep_file_close(&sweep.file);
    sweep_table_free(&sweep.baseline);
    sweep_grid_free(&sweep.grid);
    free(sweep.floor);
    return status;
}
