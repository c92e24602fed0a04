/* plot.c - draws the rates of a sweep with gnuplot.
 *
 * Ports and windows are lines over logarithmic scales, transports and thread modes are bars. The
 * floor is drawn beside each.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "plot.h"

#include "child.h"
#include "fail.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SERIES_MOST = 3, POINTS_MOST = 64, FILE_NAME = 4096 };

static const vd_time GNUPLOT_LIMIT = 60 * VD_SEC;

static const char *const TRANSPORTS[SERIES_MOST] = {"udp", "tcp", "tls"};

static const struct chart {
    const char *name;
    const char *title;
    const char *axis;
    bool bars;
} CHARTS[PLOT_CHARTS] = {
    [PLOT_PORTS] = {"ports", "by number of ports", "ports a side", false},
    [PLOT_TRANSPORT] = {"transport", "by transport", "transport", true},
    [PLOT_THREADS] = {"threads", "by thread mode", "thread mode", true},
    [PLOT_WINDOW] = {"window", "by window", "transactions outstanding", false},
};

/* ---- What is drawn ---- */

static bool is_ok(const struct sweep_row *row)
{
    return strcmp(row->status, SWEEP_OK) == 0;
}

/* Keeps a word unless the preferred one is found. */
static void prefer_word(char word[SWEEP_WORD], const char *other, const char *preferred)
{
    if (strcmp(other, preferred) == 0) {
        snprintf(word, SWEEP_WORD, "%s", preferred);
    }
}

static void prefer_number(uint32_t *number, uint32_t other, uint32_t preferred)
{
    if (other == preferred) {
        *number = preferred;
    }
}

/* The values at which all but a chart's own are held. False when no point was measured. */
static bool choose_reference(const struct sweep_table *table, struct sweep_point *reference)
{
    bool any = false;
    for (size_t i = 0; i < table->count; i++) {
        const struct sweep_point *point = &table->rows[i].point;
        if (!is_ok(&table->rows[i])) {
            continue;
        }
        if (!any) {
            *reference = *point;
            any = true;
        }
        prefer_word(reference->method, point->method, "register");
        prefer_word(reference->transport, point->transport, "udp");
        prefer_word(reference->threads, point->threads, "event");
        prefer_word(reference->selector, point->selector, "epoll");
        prefer_number(&reference->ports, point->ports, 1);
        prefer_number(&reference->window, point->window, 50);
        prefer_number(&reference->listen, point->listen, 1);
        if (point->cpus > reference->cpus) {
            reference->cpus = point->cpus;
        }
    }
    return any;
}

/* Does a row belong to a chart? The transport is a series of every chart, and only sharded has
 * workers. */
static bool belongs(const struct sweep_row *row, const struct sweep_point *reference,
                    enum plot_chart chart)
{
    const struct sweep_point *point = &row->point;
    return is_ok(row) && point->cpus == reference->cpus && point->listen == reference->listen &&
           strcmp(point->method, reference->method) == 0 &&
           strcmp(point->selector, reference->selector) == 0 &&
           (chart == PLOT_PORTS || point->ports == reference->ports) &&
           (chart == PLOT_WINDOW || point->window == reference->window) &&
           (chart == PLOT_THREADS || strcmp(point->threads, reference->threads) == 0);
}

/* What stands under a point of the chart. */
static void label_of(const struct sweep_point *point, enum plot_chart chart, char label[32])
{
    switch (chart) {
    case PLOT_PORTS:
        snprintf(label, 32, "%u", point->ports);
        break;
    case PLOT_WINDOW:
        snprintf(label, 32, "%u", point->window);
        break;
    case PLOT_THREADS:
        if (strcmp(point->threads, "sharded") == 0) {
            snprintf(label, 32, "sharded %u", point->workers);
        } else {
            snprintf(label, 32, "%s", point->threads);
        }
        break;
    default:
        snprintf(label, 32, "%s", point->transport);
        break;
    }
}

/* The points of a chart: a label and, for each transport, the row that has it. */
struct chart_point {
    char label[32];
    const struct sweep_row *rows[SERIES_MOST];
};

struct chart_data {
    struct chart_point points[POINTS_MOST];
    size_t count;
    bool present[SERIES_MOST];
    bool floor[SERIES_MOST];
    bool repeated;
};

static struct chart_point *point_at(struct chart_data *data, const char *label)
{
    for (size_t i = 0; i < data->count; i++) {
        if (strcmp(data->points[i].label, label) == 0) {
            return &data->points[i];
        }
    }
    if (data->count == POINTS_MOST) {
        return NULL;
    }
    struct chart_point *point = &data->points[data->count++];
    snprintf(point->label, sizeof point->label, "%s", label);
    return point;
}

static void add_row(struct chart_data *data, const struct sweep_row *row, enum plot_chart chart)
{
    char label[32];
    for (size_t series = 0; series < SERIES_MOST; series++) {
        if (strcmp(row->point.transport, TRANSPORTS[series]) != 0) {
            continue;
        }
        label_of(&row->point, chart, label);
        /* By transport there is one series: each transport is a place on the axis. */
        size_t place = chart == PLOT_TRANSPORT ? 0 : series;
        struct chart_point *point = point_at(data, label);
        if (point == NULL || point->rows[place] != NULL) {
            return;
        }
        point->rows[place] = row;
        data->present[place] = true;
        data->floor[place] = data->floor[place] || !isnan(row->floor_rate);
        data->repeated = data->repeated || row->repeats > 1;
    }
}

static int compare_labels(const void *a, const void *b)
{
    const struct chart_point *x = a;
    const struct chart_point *y = b;
    long left = strtol(x->label, NULL, 10);
    long right = strtol(y->label, NULL, 10);
    return (left > right) - (left < right);
}

static void gather(struct chart_data *data, const struct sweep_table *table,
                   const struct sweep_point *reference, enum plot_chart chart)
{
    memset(data, 0, sizeof *data);
    for (size_t i = 0; i < table->count; i++) {
        if (belongs(&table->rows[i], reference, chart)) {
            add_row(data, &table->rows[i], chart);
        }
    }
    if (!CHARTS[chart].bars) {
        qsort(data->points, data->count, sizeof data->points[0], compare_labels);
    }
}

/* ---- Commands for gnuplot ---- */

static void write_title(FILE *file, const struct sweep_point *reference, enum plot_chart chart)
{
    fprintf(file, "set title \"Transaction pairs a second %s (%s", CHARTS[chart].title,
            reference->method);
    if (chart != PLOT_PORTS) {
        fprintf(file, ", %u port%s", reference->ports, reference->ports == 1 ? "" : "s");
    }
    if (chart != PLOT_THREADS) {
        fprintf(file, ", %s", reference->threads);
    }
    fprintf(file, ", %s", reference->selector);
    if (chart != PLOT_WINDOW) {
        fprintf(file, ", window %u", reference->window);
    }
    fprintf(file, ", %u CPU%s)\"\n", reference->cpus, reference->cpus == 1 ? "" : "s");
}

static void write_settings(FILE *file, const struct sweep_point *reference, enum plot_chart chart)
{
    fprintf(file, "set terminal svg size 800,500 noenhanced background \"white\"\n");
    fprintf(file, "set output \"%s.svg\"\n", CHARTS[chart].name);
    write_title(file, reference, chart);
    fprintf(file, "set xlabel \"%s\"\n", CHARTS[chart].axis);
    fprintf(file, "set ylabel \"pairs a second\"\n"
                  "set format y \"%%.0f\"\n"
                  "set grid ytics\n"
                  "set key outside bottom center horizontal\n");
    if (CHARTS[chart].bars) {
        fprintf(file, "set yrange [0:*]\n"
                      "set style data histograms\n"
                      "set style histogram clustered gap 1\n"
                      "set style fill solid 0.8 border -1\n");
    } else {
        fprintf(file, "set logscale xy\n"
                      "set offsets graph 0.05, graph 0.05, 0, 0\n");
    }
}

static void write_number(FILE *file, double number)
{
    if (isnan(number)) {
        fputs(" NaN", file);
    } else {
        fprintf(file, " %.0f", number);
    }
}

/* A line a point: its label, and for each transport rate, minimum, maximum and floor. */
static void write_data(FILE *file, const struct chart_data *data, enum plot_chart chart)
{
    const char *quote = CHARTS[chart].bars ? "\"" : ""; /* what is quoted is no number */
    static const double UNKNOWN = (double)NAN;
    fputs("$rates << END\n", file);
    for (size_t i = 0; i < data->count; i++) {
        fprintf(file, "%s%s%s", quote, data->points[i].label, quote);
        for (size_t series = 0; series < SERIES_MOST; series++) {
            const struct sweep_row *row = data->points[i].rows[series];
            write_number(file, row == NULL ? UNKNOWN : row->rate);
            write_number(file, row == NULL ? UNKNOWN : row->rate_min);
            write_number(file, row == NULL ? UNKNOWN : row->rate_max);
            write_number(file, row == NULL ? UNKNOWN : row->floor_rate);
        }
        fputc('\n', file);
    }
    fputs("END\n", file);
}

static void write_series(FILE *file, const struct chart_data *data, enum plot_chart chart,
                         unsigned series)
{
    const char *name = chart == PLOT_TRANSPORT ? "Viaduct" : TRANSPORTS[series];
    unsigned column = 2 + 4 * series;
    if (CHARTS[chart].bars) {
        fprintf(file, " \\\n    $rates using %u:xtic(1) title \"%s\"", column, name);
        if (data->floor[series]) {
            fprintf(file, ", \\\n    $rates using %u title \"%s floor\"", column + 3, name);
        }
        return;
    }
    if (data->repeated) {
        fprintf(file, " \\\n    $rates using 1:%u:%u:%u with yerrorlines linetype %u title \"%s\"",
                column, column + 1, column + 2, series + 1, name);
    } else {
        fprintf(file, " \\\n    $rates using 1:%u with linespoints linetype %u title \"%s\"",
                column, series + 1, name);
    }
    if (data->floor[series]) {
        fprintf(file,
                ", \\\n    $rates using 1:%u with linespoints linetype %u dashtype 2 title "
                "\"%s floor\"",
                column + 3, series + 1, name);
    }
}

bool plot_write(FILE *file, const struct sweep_table *table, enum plot_chart chart)
{
    static struct chart_data data;
    struct sweep_point reference;
    const char *comma = "plot";
    if (!choose_reference(table, &reference)) {
        return false;
    }
    gather(&data, table, &reference, chart);
    if (data.count < 2) {
        return false;
    }
    write_settings(file, &reference, chart);
    write_data(file, &data, chart);
    for (unsigned series = 0; series < SERIES_MOST; series++) {
        if (data.present[series]) {
            fputs(comma, file);
            write_series(file, &data, chart, series);
            comma = ",";
        }
    }
    fputc('\n', file);
    return true;
}

/* ---- Drawing ---- */

int plot_check(void)
{
    struct child_command command;
    struct child_result result;
    child_command_init(&command, "gnuplot", "gnuplot", 0);
    child_command_add(&command, "--version");
    int error = child_run(&command, GNUPLOT_LIMIT, &result);
    child_result_free(&result);
    if (error == 0 && result.status != 0 && !result.interrupted) {
        return fail("--plot needs gnuplot, which is not installed (Debian: gnuplot-nox)");
    }
    return error;
}

/* gnuplot reads the commands in the folder, so that they name no other place. */
static int run_gnuplot(const char *folder, const char *name)
{
    struct child_command command;
    struct child_result result;
    char quoted[FILE_NAME];
    size_t length = 0;
    for (const char *p = folder; *p != '\0' && length + 3 < sizeof quoted; p++) {
        quoted[length++] = *p;
        if (*p == '\'') {
            quoted[length++] = '\'';
        }
    }
    quoted[length] = '\0';
    child_command_init(&command, "gnuplot", "gnuplot", 0);
    child_command_add(&command, "-e");
    child_command_add(&command, "cd '%s'; load '%s.gp'", quoted, name);
    int error = child_run(&command, GNUPLOT_LIMIT, &result);
    if (error == 0 && result.status != 0) {
        error = fail("gnuplot could not draw %s/%s.gp: %s", folder, name, result.line);
    }
    child_result_free(&result);
    return error;
}

static int draw_chart(const struct sweep_table *table, const char *folder, enum plot_chart chart)
{
    char name[FILE_NAME];
    if ((size_t)snprintf(name, sizeof name, "%s/%s.gp", folder, CHARTS[chart].name) >=
        sizeof name) {
        return fail("--plot: the name of the folder is too long");
    }
    FILE *file = fopen(name, "we");
    if (file == NULL) {
        return fail("cannot write %s: %s", name, strerror(errno));
    }
    bool any = plot_write(file, table, chart);
    bool written = ferror(file) == 0;
    if (fclose(file) != 0 || !written) {
        return fail("cannot write %s: %s", name, strerror(errno));
    }
    if (!any) {
        unlink(name);
        printf("no plot %s: there is not more than one value\n", CHARTS[chart].title);
        return 0;
    }
    return run_gnuplot(folder, CHARTS[chart].name);
}

int plot_draw(const struct sweep_table *table, const char *folder)
{
    if (mkdir(folder, 0777) < 0 && errno != EEXIST) {
        return fail("cannot make the folder %s: %s", folder, strerror(errno));
    }
    for (int chart = 0; chart < PLOT_CHARTS; chart++) {
        if (draw_chart(table, folder, (enum plot_chart)chart) < 0) {
            return -1;
        }
    }
    return 0;
}
