/* micro_rounds.c - takes the samples.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "micro.h"

#include <stdlib.h>
#include <time.h>

/* A sample takes about this long: long enough for the clock, short enough that a disturbance spoils
 * few of them. */
#define SAMPLE 2000000

/* A work under way. */
struct entry {
    const struct micro_work *work;
    void *context;
    uint64_t count;  /* how often a sample does it */
    double *samples; /* nanoseconds of one time, a round each */
};

struct plan {
    const struct micro_group **groups;
    void **contexts;
    size_t group_count;
    size_t started; /* groups */
    struct entry *entries;
    size_t entry_count;
    double *samples; /* of all entries */
    double *scratch;
    unsigned rounds;
    size_t sofia; /* the first entry of Sofia-SIP, entry_count without */
};

static uint64_t nanoseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int run_once(const struct entry *entry, uint64_t count, uint64_t *elapsed)
{
    uint64_t before = nanoseconds_now();
    uint64_t right = entry->work->run(entry->context, entry->work->message, count);
    *elapsed = nanoseconds_now() - before;
    if (right != count) {
        return micro_fail("%s: %llu of %llu times went wrong", entry->work->title,
                          (unsigned long long)(count - right), (unsigned long long)count);
    }
    return 0;
}

/* Finds how often a work fits into a sample. */
static int calibrate(struct entry *entry)
{
    uint64_t count = 1;
    uint64_t elapsed = 0;
    for (;;) {
        if (run_once(entry, count, &elapsed) < 0) {
            return -1;
        }
        if (elapsed >= SAMPLE / 4) {
            break;
        }
        count *= 2;
    }
    entry->count = count * SAMPLE / elapsed + 1;
    return 0;
}

static int sample_all(struct plan *plan)
{
    for (size_t i = 0; i < plan->entry_count; i++) {
        if (calibrate(&plan->entries[i]) < 0) {
            return -1;
        }
    }
    for (unsigned round = 0; round < plan->rounds; round++) {
        for (size_t i = 0; i < plan->entry_count; i++) {
            struct entry *entry = &plan->entries[i];
            uint64_t elapsed;
            if (run_once(entry, entry->count, &elapsed) < 0) {
                return -1;
            }
            entry->samples[round] = (double)elapsed / (double)entry->count;
        }
    }
    return 0;
}

/* ---- Setting up ---- */

static size_t count_works(const struct plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->group_count; i++) {
        count += plan->groups[i]->work_count;
    }
    return count;
}

static void add_entries(struct plan *plan, size_t group)
{
    for (size_t i = 0; i < plan->groups[group]->work_count; i++) {
        struct entry *entry = &plan->entries[plan->entry_count];
        entry->work = &plan->groups[group]->works[i];
        entry->context = plan->contexts[group];
        entry->samples = plan->samples + plan->entry_count * plan->rounds;
        plan->entry_count++;
    }
}

/* Sofia-SIP comes right after the first group, whose works are compared with it one to one. */
static int set_up(struct plan *plan, const struct micro_group *const *groups, size_t group_count,
                  const struct micro_group *sofia)
{
    plan->groups = calloc(group_count + 1, sizeof *plan->groups);
    plan->contexts = calloc(group_count + 1, sizeof *plan->contexts);
    if (plan->groups == NULL || plan->contexts == NULL) {
        return micro_fail("out of memory");
    }
    for (size_t i = 0; i < group_count; i++) {
        plan->groups[plan->group_count++] = groups[i];
        if (i == 0 && sofia != NULL) {
            plan->groups[plan->group_count++] = sofia;
        }
    }
    size_t works = count_works(plan);
    plan->entries = calloc(works, sizeof *plan->entries);
    plan->samples = calloc(works * plan->rounds, sizeof *plan->samples);
    plan->scratch = calloc(plan->rounds, sizeof *plan->scratch);
    if (plan->entries == NULL || plan->samples == NULL || plan->scratch == NULL) {
        return micro_fail("out of memory");
    }
    plan->sofia = works;
    for (size_t i = 0; i < plan->group_count; i++) {
        plan->started = i + 1;
        if (plan->groups[i]->start != NULL && plan->groups[i]->start(&plan->contexts[i]) < 0) {
            return -1;
        }
        if (plan->groups[i] == sofia) {
            plan->sofia = plan->entry_count;
        }
        add_entries(plan, i);
    }
    return 0;
}

static void tear_down(struct plan *plan)
{
    for (size_t i = 0; i < plan->started; i++) {
        if (plan->groups[i]->end != NULL) {
            plan->groups[i]->end(plan->contexts[i]);
        }
    }
    free(plan->scratch);
    free(plan->samples);
    free(plan->entries);
    free(plan->contexts);
    free(plan->groups);
}

/* ---- The figures ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts values. */
static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void conclude(struct plan *plan, const struct entry *entry, struct micro_result *result)
{
    result->work = entry->work;
    if (plan->sofia < plan->entry_count) {
        const struct entry *sofia = &plan->entries[plan->sofia + entry->work->message];
        for (unsigned i = 0; i < plan->rounds; i++) {
            plan->scratch[i] = sofia->samples[i] / entry->samples[i];
        }
        result->ratio = median(plan->scratch, plan->rounds);
        memcpy(plan->scratch, sofia->samples, plan->rounds * sizeof *plan->scratch);
        result->sofia = median(plan->scratch, plan->rounds);
    }
    memcpy(plan->scratch, entry->samples, plan->rounds * sizeof *plan->scratch);
    result->nanoseconds = median(plan->scratch, plan->rounds);
}

int micro_rounds_run(const struct micro_group *const *groups, size_t group_count,
                     const struct micro_group *sofia, unsigned rounds,
                     struct micro_results *results)
{
    struct plan plan = {.rounds = rounds};
    *results = (struct micro_results){0};
    int error = set_up(&plan, groups, group_count, sofia);
    if (error == 0) {
        error = sample_all(&plan);
    }
    if (error == 0) {
        results->results = calloc(plan.entry_count, sizeof *results->results);
        if (results->results == NULL) {
            error = micro_fail("out of memory");
        }
    }
    for (size_t i = 0; error == 0 && i < plan.entry_count; i++) {
        if (sofia == NULL || i < plan.sofia || i >= plan.sofia + sofia->work_count) {
            conclude(&plan, &plan.entries[i], &results->results[results->count++]);
        }
    }
    tear_down(&plan);
    return error;
}
