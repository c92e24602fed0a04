/* sweep_row.c - what a point of a sweep gave, as a row of a CSV file (RFC 4180).
 *
 * Writing and reading go through one table of columns, so that each reads what the other writes.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "sweep_row.h"

#include "fail.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Columns ---- */

enum column_kind {
    COLUMN_TEXT,
    COLUMN_COUNT,
    COLUMN_NUMBER,
};

struct column {
    const char *name;
    enum column_kind kind;
    size_t offset;
    size_t size; /* of a text; the decimals of a number */
};

#define TEXT(name, member)                                                                         \
    {                                                                                              \
        name, COLUMN_TEXT, offsetof(struct sweep_row, member),                                     \
            sizeof(((struct sweep_row *)0)->member)                                                \
    }
#define COUNT(name, member)                                                                        \
    {                                                                                              \
        name, COLUMN_COUNT, offsetof(struct sweep_row, member), 0                                  \
    }
#define NUMBER(name, member, decimals)                                                             \
    {                                                                                              \
        name, COLUMN_NUMBER, offsetof(struct sweep_row, member), decimals                          \
    }

static const struct column COLUMNS[] = {
    TEXT("grid", grid),
    TEXT("date", date),
    TEXT("version", version),
    TEXT("platform", platform),
    TEXT("kernel", kernel),
    COUNT("cores", cores),
    COUNT("cpus", point.cpus),
    TEXT("method", point.method),
    TEXT("transport", point.transport),
    COUNT("ports", point.ports),
    COUNT("window", point.window),
    TEXT("threads", point.threads),
    COUNT("workers", point.workers),
    TEXT("selector", point.selector),
    COUNT("listen", point.listen),
    NUMBER("duration_s", duration_s, 3),
    NUMBER("warmup_s", warmup_s, 3),
    COUNT("repeats", repeats),
    TEXT("status", status),
    TEXT("note", note),
    NUMBER("pairs", pairs, 0),
    NUMBER("pairs_per_s", rate, 0),
    NUMBER("pairs_per_s_min", rate_min, 0),
    NUMBER("pairs_per_s_max", rate_max, 0),
    NUMBER("latency_us_p50", latency_p50, 0),
    NUMBER("latency_us_p90", latency_p90, 0),
    NUMBER("latency_us_p99", latency_p99, 0),
    NUMBER("latency_us_p999", latency_p999, 0),
    NUMBER("latency_us_max", latency_max, 0),
    NUMBER("retransmissions", retransmissions, 0),
    NUMBER("timeouts", timeouts, 0),
    NUMBER("failures", failures, 0),
    NUMBER("cpu_us_per_pair", cpu_us_per_pair, 3),
    NUMBER("sender_cpu_s", sender_cpu_s, 6),
    NUMBER("receiver_cpu_s", receiver_cpu_s, 6),
    NUMBER("max_rss_kib", max_rss_kib, 0),
    NUMBER("sender_rss_kib", sender_rss_kib, 0),
    NUMBER("receiver_rss_kib", receiver_rss_kib, 0),
    NUMBER("sender_engine_bytes", sender_engine_bytes, 0),
    NUMBER("receiver_engine_bytes", receiver_engine_bytes, 0),
    TEXT("floor_threads", floor_threads),
    TEXT("floor_selector", floor_selector),
    NUMBER("floor_pairs_per_s", floor_rate, 0),
    NUMBER("floor_pairs_per_s_min", floor_rate_min, 0),
    NUMBER("floor_pairs_per_s_max", floor_rate_max, 0),
    NUMBER("floor_cpu_us_per_pair", floor_cpu_us_per_pair, 3),
    NUMBER("ratio", ratio, 4),
    NUMBER("ratio_min", ratio_min, 4),
    NUMBER("ratio_max", ratio_max, 4),
};

enum { COLUMN_COUNT_ALL = sizeof COLUMNS / sizeof COLUMNS[0] };

void sweep_row_init(struct sweep_row *row)
{
    memset(row, 0, sizeof *row);
    for (size_t i = 0; i < COLUMN_COUNT_ALL; i++) {
        if (COLUMNS[i].kind == COLUMN_NUMBER) {
            *(double *)(void *)((char *)row + COLUMNS[i].offset) = (double)NAN;
        }
    }
}

/* ---- Writing ---- */

void sweep_row_write_header(FILE *file)
{
    for (size_t i = 0; i < COLUMN_COUNT_ALL; i++) {
        fprintf(file, "%s%s", i > 0 ? "," : "", COLUMNS[i].name);
    }
    fputc('\n', file);
}

/* Line ends become blanks: a row is a line. */
static void write_text(FILE *file, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted) {
        fputc('"', file);
    }
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            fputc('"', file);
        }
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, file);
    }
    if (quoted) {
        fputc('"', file);
    }
}

void sweep_row_write(FILE *file, const struct sweep_row *row)
{
    for (size_t i = 0; i < COLUMN_COUNT_ALL; i++) {
        const struct column *column = &COLUMNS[i];
        const void *value = (const char *)row + column->offset;
        double number = column->kind == COLUMN_NUMBER ? *(const double *)value : 0;
        fputs(i > 0 ? "," : "", file);
        if (column->kind == COLUMN_TEXT) {
            write_text(file, value);
        } else if (column->kind == COLUMN_COUNT) {
            fprintf(file, "%u", *(const uint32_t *)value);
        } else if (!isnan(number)) {
            fprintf(file, "%.*f", (int)column->size, number);
        }
    }
    fputc('\n', file);
}

/* ---- Reading ---- */

struct reader {
    const char *name;
    unsigned line;
    const struct column *columns[128]; /* of each field; NULL: it is ignored */
    size_t count;
};

/* Takes a field of a line that ends at end. Returns what follows it and its comma, NULL after the
 * last one. */
static const char *next_field(const char *p, const char *end, char *field, size_t size)
{
    bool quoted = p < end && *p == '"';
    size_t length = 0;
    p += quoted;
    while (p < end && (quoted || *p != ',')) {
        if (quoted && *p == '"') {
            if (p + 1 == end || p[1] != '"') {
                quoted = false;
                p++;
                continue;
            }
            p++;
        }
        if (length + 1 < size) {
            field[length++] = *p;
        }
        p++;
    }
    field[length] = '\0';
    return p < end ? p + 1 : NULL;
}

static int read_header(struct reader *reader, const char *line, const char *end)
{
    char field[64];
    bool known = false;
    while (line != NULL) {
        if (reader->count == sizeof reader->columns / sizeof reader->columns[0]) {
            return fail("%s has too many columns", reader->name);
        }
        line = next_field(line, end, field, sizeof field);
        const struct column *found = NULL;
        for (size_t i = 0; i < COLUMN_COUNT_ALL; i++) {
            found = strcmp(COLUMNS[i].name, field) == 0 ? &COLUMNS[i] : found;
        }
        known = known || (found != NULL && strcmp(found->name, "grid") == 0);
        reader->columns[reader->count++] = found;
    }
    return known ? 0 : fail("%s is not the CSV file of a sweep", reader->name);
}

static int read_value(const struct reader *reader, const struct column *column, const char *field,
                      struct sweep_row *row)
{
    void *value = (char *)row + column->offset;
    char *end;
    if (column->kind == COLUMN_TEXT) {
        snprintf(value, column->size, "%s", field);
        return 0;
    }
    if (column->kind == COLUMN_NUMBER && field[0] == '\0') {
        return 0;
    }
    double number = strtod(field, &end);
    if (end == field || *end != '\0' ||
        (column->kind == COLUMN_COUNT && !(number >= 0 && number <= UINT32_MAX))) {
        return fail("%s, line %u: %s: '%s' is not a number", reader->name, reader->line,
                    column->name, field);
    }
    if (column->kind == COLUMN_COUNT) {
        *(uint32_t *)value = (uint32_t)number;
    } else {
        *(double *)value = number;
    }
    return 0;
}

static int read_row(const struct reader *reader, const char *line, const char *end,
                    struct sweep_row *row)
{
    char field[512];
    size_t index = 0;
    sweep_row_init(row);
    for (; line != NULL && index < reader->count; index++) {
        line = next_field(line, end, field, sizeof field);
        const struct column *column = reader->columns[index];
        if (column != NULL && read_value(reader, column, field, row) < 0) {
            return -1;
        }
    }
    if (line != NULL || index < reader->count) {
        return fail("%s, line %u has not as many fields as there are columns", reader->name,
                    reader->line);
    }
    return 0;
}

int sweep_table_parse(struct sweep_table *table, const char *text, const char *name, size_t *whole)
{
    struct reader reader = {.name = name};
    const char *line = text;
    const char *end;
    struct sweep_row row;
    while ((end = strchr(line, '\n')) != NULL) {
        const char *stop = end > line && end[-1] == '\r' ? end - 1 : end;
        reader.line++;
        if (reader.line == 1) {
            if (read_header(&reader, line, stop) < 0) {
                return -1;
            }
        } else if (read_row(&reader, line, stop, &row) < 0 || sweep_table_add(table, &row) < 0) {
            return -1;
        }
        line = end + 1;
    }
    *whole = (size_t)(line - text);
    return 0;
}

char *sweep_read_file(const char *name)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(name, "re");
    if (file == NULL) {
        fail("cannot read %s: %s", name, strerror(errno));
        return NULL;
    }
    ssize_t length = getdelim(&text, &size, '\0', file);
    if (length < 0 && ferror(file) != 0) {
        fail("cannot read %s: %s", name, strerror(errno));
        free(text);
        text = NULL;
    } else if (length < 0) {
        free(text);
        text = calloc(1, 1);
    }
    fclose(file);
    return text;
}

int sweep_table_read(struct sweep_table *table, const char *name, size_t *whole)
{
    char *text = sweep_read_file(name);
    int error = text == NULL ? -1 : sweep_table_parse(table, text, name, whole);
    free(text);
    return error;
}

/* ---- The table ---- */

int sweep_table_add(struct sweep_table *table, const struct sweep_row *row)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity == 0 ? 64 : table->capacity * 2;
        struct sweep_row *rows = realloc(table->rows, capacity * sizeof *rows);
        if (rows == NULL) {
            return fail("no memory for the rows");
        }
        table->rows = rows;
        table->capacity = capacity;
    }
    table->rows[table->count++] = *row;
    return 0;
}

void sweep_table_free(struct sweep_table *table)
{
    free(table->rows);
    *table = (struct sweep_table){0};
}

const struct sweep_row *sweep_table_find(const struct sweep_table *table,
                                         const struct sweep_point *point)
{
    for (size_t i = 0; i < table->count; i++) {
        if (sweep_point_equal(&table->rows[i].point, point)) {
            return &table->rows[i];
        }
    }
    return NULL;
}
