/* measure.c - measures one point of a sweep, and the floor beside it, each in a process of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "measure.h"

#include "fail.h"
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A program says so that it does not have what is asked for, or that the machine has not. */
enum { STATUS_USAGE = 2, STATUS_NOT_HERE = 77 };

enum { REPEATS_MOST = 100, FLOORS_KEPT = 8 };

/* Beside warm-up and duration: start, and the end of transactions that got no answer (64*T1). */
static const vd_time ALLOWANCE = 90 * VD_SEC;

/* A run of so many exchanges, with no duration, is given so long. */
static const vd_time LONGEST_RUN = 3600 * VD_SEC;

static const vd_time MINUTE = 60 * VD_SEC;

/* ---- Commands ---- */

static void add_seconds(struct child_command *command, const char *name, vd_time time)
{
    child_command_add(command, "%s", name);
    child_command_add(command, "%.3f", (double)time / (double)VD_SEC);
}

static void add_number(struct child_command *command, const char *name, uint64_t number)
{
    child_command_add(command, "%s", name);
    child_command_add(command, "%" PRIu64, number);
}

static void add_text(struct child_command *command, const char *name, const char *text)
{
    child_command_add(command, "%s", name);
    child_command_add(command, "%s", text);
}

/* What testStack and the floor both take. */
static void add_common(struct child_command *command, const struct sweep_point *point,
                       const struct measure_conditions *conditions, const char *threads)
{
    child_command_add(command, "--%s", point->transport);
    if (strcmp(point->method, "invite") == 0) {
        child_command_add(command, "--invite");
    }
    add_number(command, "--ports", point->ports);
    add_number(command, "--window", point->window);
    add_text(command, "--threads", threads);
    if (strcmp(threads, "sharded") == 0) {
        add_number(command, "--workers", point->workers);
    }
    if (conditions->duration > 0) {
        add_seconds(command, "--duration", conditions->duration);
    } else {
        add_number(command, "--runs", conditions->runs);
    }
    add_seconds(command, "--warmup", conditions->warmup);
    add_number(command, "--base-port", conditions->base_port);
    if (conditions->ipv6) {
        child_command_add(command, "--ipv6");
    }
    if (conditions->bind != NULL) {
        add_text(command, "--bind", conditions->bind);
    }
    add_text(command, "--json", "-");
}

void measure_point_command(struct child_command *command, const struct sweep_point *point,
                           const struct measure_conditions *conditions)
{
    child_command_init(command, "/proc/self/exe", "testStack", point->cpus);
    add_common(command, point, conditions, point->threads);
    add_text(command, "--selector", point->selector);
    if (strcmp(point->method, "options") == 0) {
        add_text(command, "--method", "OPTIONS");
    }
    if (point->listen == 0) {
        child_command_add(command, "--no-listen");
    }
}

bool measure_floor_command(struct child_command *command, const struct sweep_point *point,
                           const struct measure_conditions *conditions, unsigned variant)
{
    const char *threads = variant < 2 ? point->threads : "event";
    bool epoll = strcmp(point->selector, "epoll") == 0;
    if (variant > 2) {
        return false;
    }
    child_command_init(command, conditions->floor, "floor", point->cpus);
    add_common(command, point, conditions, threads);
    if (variant == 0 && !epoll) {
        add_text(command, "--selector", point->selector);
    }
    return true;
}

char *measure_find_floor(void)
{
    char self[4096];
    char *name = NULL;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        return NULL;
    }
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    *slash = '\0';
    if (asprintf(&name, "%s/floor", self) < 0) {
        return NULL;
    }
    if (access(name, X_OK) != 0) {
        free(name);
        return NULL;
    }
    return name;
}

static vd_time time_limit(const struct measure_conditions *conditions)
{
    return conditions->warmup + ALLOWANCE +
           (conditions->duration > 0 ? conditions->duration : LONGEST_RUN);
}

/* ---- The floor ---- */

struct kept_floor {
    struct child_command command;
    struct measure_floor floor;
    vd_time ended_at;
};

/* The last ones; the next is written over the oldest. */
static struct kept_floor kept[FLOORS_KEPT];
static size_t kept_next;

static vd_time clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (vd_time)time.tv_sec * VD_SEC + (vd_time)(time.tv_nsec / 1000);
}

static const struct measure_floor *find_kept(const struct child_command *command)
{
    vd_time now = clock_now();
    for (size_t i = 0; i < FLOORS_KEPT; i++) {
        if (kept[i].command.count > 0 && now - kept[i].ended_at < MINUTE &&
            child_command_equal(&kept[i].command, command)) {
            return &kept[i].floor;
        }
    }
    return NULL;
}

static void keep(const struct child_command *command, const struct measure_floor *floor)
{
    kept[kept_next] =
        (struct kept_floor){.command = *command, .floor = *floor, .ended_at = clock_now()};
    kept_next = (kept_next + 1) % FLOORS_KEPT;
}

static void clear_floor(struct measure_floor *floor, const char *note)
{
    memset(floor, 0, sizeof *floor);
    floor->rate = (double)NAN;
    floor->cpu_us_per_pair = (double)NAN;
    snprintf(floor->note, sizeof floor->note, "%s", note);
}

static void read_floor(struct measure_floor *floor, const struct child_result *result,
                       const struct sweep_point *point, unsigned variant)
{
    if (result->status != 0 || result->output == NULL) {
        clear_floor(floor, result->late ? "it did not end in time" : result->line);
        return;
    }
    clear_floor(floor, "");
    floor->rate = json_number(result->output, NULL, "pairs_per_s");
    floor->cpu_us_per_pair = json_number(result->output, NULL, "cpu_us_per_pair");
    /* It may have had to take processes, which it tells. */
    if (!json_find(result->output, NULL, "threads", floor->threads, SWEEP_WORD)) {
        snprintf(floor->threads, SWEEP_WORD, "%s", variant < 2 ? point->threads : "event");
    }
    if (!json_find(result->output, NULL, "selector", floor->selector, SWEEP_WORD)) {
        snprintf(floor->selector, SWEEP_WORD, "%s", variant == 0 ? point->selector : "epoll");
    }
}

int measure_floor(const struct sweep_point *point, const struct measure_conditions *conditions,
                  struct measure_floor *floor)
{
    struct child_command command;
    struct child_result result;
    clear_floor(floor, "there is no floor beside testStack");
    if (conditions->floor == NULL) {
        return 0;
    }
    for (unsigned variant = 0;
         measure_floor_command(&command, point, conditions, variant) && !child_interrupted();
         variant++) {
        /* Repeats are there to see the spread, so each has a floor of its own. */
        const struct measure_floor *known = conditions->repeats > 1 ? NULL : find_kept(&command);
        if (known != NULL) {
            *floor = *known;
            return 0;
        }
        int error = child_run(&command, time_limit(conditions), &result);
        read_floor(floor, &result, point, variant);
        child_result_free(&result);
        if (error < 0) {
            return -1;
        }
        if (result.status != STATUS_USAGE && result.status != STATUS_NOT_HERE) {
            if (result.status == 0) {
                keep(&command, floor);
            }
            return 0;
        }
    }
    return 0;
}

/* ---- A point ---- */

/* What one of the repeats gave. */
struct repeat {
    struct sweep_row figures;
    struct measure_floor floor;
    double ratio;
};

static void read_figures(struct sweep_row *row, const struct child_result *result)
{
    const char *json = result->output;
    row->pairs = json_number(json, NULL, "pairs");
    row->rate = json_number(json, NULL, "pairs_per_s");
    row->latency_p50 = json_number(json, "latency_us", "p50");
    row->latency_p90 = json_number(json, "latency_us", "p90");
    row->latency_p99 = json_number(json, "latency_us", "p99");
    row->latency_p999 = json_number(json, "latency_us", "p999");
    row->latency_max = json_number(json, "latency_us", "max");
    row->retransmissions = json_number(json, NULL, "retransmissions");
    row->timeouts = json_number(json, NULL, "timeouts");
    row->failures = json_number(json, NULL, "failures");
    row->cpu_us_per_pair = json_number(json, NULL, "cpu_us_per_pair");
    row->sender_cpu_s = json_number(json, "sender", "cpu_s");
    row->receiver_cpu_s = json_number(json, "receiver", "cpu_s");
    row->sender_rss_kib = json_number(json, "sender", "rss_kib");
    row->receiver_rss_kib = json_number(json, "receiver", "rss_kib");
    row->sender_engine_bytes = json_number(json, "sender", "engine_bytes");
    row->receiver_engine_bytes = json_number(json, "receiver", "engine_bytes");
    row->max_rss_kib = (double)result->max_rss_kib;
}

static void set_status(struct sweep_row *row, const char *status, const char *note)
{
    snprintf(row->status, sizeof row->status, "%s", status);
    snprintf(row->note, sizeof row->note, "%s", note);
}

static void judge(struct sweep_row *row, const struct child_result *result)
{
    if (result->late) {
        set_status(row, SWEEP_FAILED, "it did not end in time");
    } else if (result->status == STATUS_USAGE || result->status == STATUS_NOT_HERE) {
        set_status(row, SWEEP_SKIPPED, result->line);
    } else if (result->status != 0 && result->line[0] == '\0') {
        set_status(row, SWEEP_FAILED, "");
        snprintf(row->note, sizeof row->note, "it ended with status %d", result->status);
    } else if (result->status != 0) {
        set_status(row, SWEEP_FAILED, result->line);
    } else {
        set_status(row, SWEEP_OK, result->line); /* what it had to say, such as of processes */
    }
}

static int measure_once(const struct sweep_point *point,
                        const struct measure_conditions *conditions, struct repeat *repeat)
{
    struct child_command command;
    struct child_result result;
    sweep_row_init(&repeat->figures);
    clear_floor(&repeat->floor, "");
    measure_point_command(&command, point, conditions);
    int error = child_run(&command, time_limit(conditions), &result);
    if (error == 0) {
        judge(&repeat->figures, &result);
        if (result.output != NULL) {
            read_figures(&repeat->figures, &result);
        }
    }
    child_result_free(&result);
    if (error == 0 && strcmp(repeat->figures.status, SWEEP_OK) == 0) {
        error = measure_floor(point, conditions, &repeat->floor);
    }
    repeat->ratio =
        repeat->floor.rate > 0 ? repeat->figures.rate / repeat->floor.rate : (double)NAN;
    return error;
}

/* ---- Repeats ---- */

/* NaN is the smallest. */
static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    if (isnan(x) || isnan(y)) {
        return (int)isnan(y) - (int)isnan(x);
    }
    return (x > y) - (x < y);
}

struct spread {
    double least;
    double median; /* of an even number, the lower one of the two */
    double most;
};

/* Of the numbers that are known; it sorts them. */
static struct spread spread_of(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    while (count > 1 && isnan(numbers[0])) {
        numbers++;
        count--;
    }
    return (struct spread){numbers[0], numbers[(count - 1) / 2], numbers[count - 1]};
}

static const struct repeat *median_repeat(const struct repeat *repeats, size_t count, double rate)
{
    for (size_t i = 0; i < count; i++) {
        if (repeats[i].figures.rate >= rate && repeats[i].figures.rate <= rate) {
            return &repeats[i];
        }
    }
    return &repeats[0];
}

static void copy_figures(struct sweep_row *row, const struct repeat *repeat)
{
    *row = repeat->figures;
    snprintf(row->floor_threads, SWEEP_WORD, "%s", repeat->floor.threads);
    snprintf(row->floor_selector, SWEEP_WORD, "%s", repeat->floor.selector);
    row->floor_cpu_us_per_pair = repeat->floor.cpu_us_per_pair;
    if (repeat->floor.note[0] != '\0') {
        snprintf(row->note, sizeof row->note, "no floor: %s", repeat->floor.note);
    }
}

static void summarize(struct sweep_row *row, const struct repeat *repeats, size_t count)
{
    double rates[REPEATS_MOST];
    double floors[REPEATS_MOST];
    double ratios[REPEATS_MOST];
    for (size_t i = 0; i < count; i++) {
        rates[i] = repeats[i].figures.rate;
        floors[i] = repeats[i].floor.rate;
        ratios[i] = repeats[i].ratio;
    }
    struct spread rate = spread_of(rates, count);
    struct spread floor = spread_of(floors, count);
    struct spread ratio = spread_of(ratios, count);
    copy_figures(row, median_repeat(repeats, count, rate.median));
    row->rate_min = rate.least;
    row->rate = rate.median;
    row->rate_max = rate.most;
    row->floor_rate_min = floor.least;
    row->floor_rate = floor.median;
    row->floor_rate_max = floor.most;
    row->ratio_min = ratio.least;
    row->ratio = ratio.median;
    row->ratio_max = ratio.most;
}

int measure_point(const struct sweep_point *point, const struct measure_conditions *conditions,
                  struct sweep_row *row)
{
    static struct repeat repeats[REPEATS_MOST];
    const struct repeat *last = &repeats[0];
    size_t wanted = conditions->repeats < REPEATS_MOST ? conditions->repeats : REPEATS_MOST;
    size_t count = 0;
    do {
        last = &repeats[count];
        if (measure_once(point, conditions, &repeats[count]) < 0) {
            return -1;
        }
        count++;
    } while (count < wanted && strcmp(last->figures.status, SWEEP_OK) == 0 && !child_interrupted());
    if (strcmp(last->figures.status, SWEEP_OK) == 0) {
        summarize(row, repeats, count);
    } else {
        copy_figures(row, last); /* one that failed speaks for the point */
        row->rate_min = row->rate;
        row->rate_max = row->rate;
    }
    row->point = *point;
    return 0;
}
