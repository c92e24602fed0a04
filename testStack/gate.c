/* gate.c - judges a run by the floor, which is measured right after it.
 *
 * What was run is taken from the JSON of the report, as in a sweep: the two judge alike.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "gate.h"

#include "fail.h"
#include "json.h"
#include "measure.h"
#include "report.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gate_can_judge(const struct options *options)
{
    uint32_t cpus = child_machine_cpus();
    if (options->gate <= 0 || cpus >= options->gate_cores) {
        return true;
    }
    fail("gate: not judged: it needs %u CPUs (--gate-cores), there are %u", options->gate_cores,
         cpus);
    return false;
}

/* The report as JSON, to be freed; NULL when there is no memory. */
static char *print_json(const struct options *options, const struct result *result)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL) {
        return NULL;
    }
    report_json(file, options, result);
    if (fclose(file) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void read_word(const char *json, const char *name, char word[SWEEP_WORD])
{
    word[0] = '\0';
    json_find(json, NULL, name, word, SWEEP_WORD);
    for (char *p = word; *p != '\0'; p++) {
        *p = (char)tolower((unsigned char)*p);
    }
}

static void read_point(const char *json, const struct options *options, struct sweep_point *point)
{
    memset(point, 0, sizeof *point); /* on all CPUs */
    read_word(json, "method", point->method);
    read_word(json, "transport", point->transport);
    read_word(json, "threads", point->threads);
    read_word(json, "selector", point->selector);
    point->ports = options->ports;
    point->window = options->window;
    double workers = json_number(json, NULL, "workers");
    point->workers = workers >= 1 ? (uint32_t)workers : 1;
    point->listen = 1;
}

static int run_floor(const char *json, const struct options *options, struct measure_floor *floor)
{
    struct sweep_point point;
    char bind[VD_ADDR_TEXT_SIZE];
    char *program = measure_find_floor();
    vd_addr_format_ip(&options->sender, bind);
    struct measure_conditions conditions = {
        .runs = options->runs,
        .duration = options->duration,
        .warmup = options->warmup,
        .base_port = options->sender.port,
        .bind = bind,
        .ipv6 = options->sender.family == VD_FAMILY_IP6,
        .floor = program,
    };
    read_point(json, options, &point);
    int error = measure_floor(&point, &conditions, floor);
    free(program);
    return error;
}

static int compare(double rate, const struct measure_floor *floor, double gate)
{
    double ratio = rate / floor->rate;
    if (!(floor->rate > 0)) {
        return fail("gate: the floor could not be measured: %s", floor->note);
    }
    if (!(ratio >= gate)) {
        return fail("gate: failed: %.3f of the floor (%.0f of %.0f pairs/s), less than %g", ratio,
                    rate, floor->rate, gate);
    }
    fprintf(stderr, "testStack: gate: passed: %.3f of the floor (%.0f of %.0f pairs/s)\n", ratio,
            rate, floor->rate);
    return 0;
}

int gate_judge(const struct options *options, const struct result *result)
{
    struct measure_floor floor;
    if (options->gate <= 0) {
        return 0;
    }
    char *json = print_json(options, result);
    if (json == NULL) {
        return fail("no memory for the gate");
    }
    double rate = json_number(json, NULL, "pairs_per_s");
    int error = run_floor(json, options, &floor);
    free(json);
    if (error < 0) {
        return -1;
    }
    return child_interrupted() ? fail("gate: not judged: interrupted")
                               : compare(rate, &floor, options->gate);
}
