/* test_sweep_row.c - rows of a sweep's CSV file, and going on with a file.
 *
 * Covered: every column comes back as it was written; numbers that are not known; texts with
 * commas, quotes and line ends; columns in another order; a last line without its end; what is no
 * such file; a file that is made, gone on with, cut off, and one of another sweep.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "sweep_file.h"
#include "sweep_row.h"

#include "capture.h"
#include "run_suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct sweep_table table;

static void fill(struct sweep_row *row, const char *note)
{
    sweep_row_init(row);
    snprintf(row->grid, sizeof row->grid, "0123456789abcdef");
    snprintf(row->date, sizeof row->date, "2030-01-02T03:04:05Z");
    snprintf(row->platform, sizeof row->platform, "Linux-x86_64");
    snprintf(row->status, sizeof row->status, "%s", SWEEP_OK);
    snprintf(row->note, sizeof row->note, "%s", note);
    row->cores = 4;
    row->point = (struct sweep_point){.cpus = 2,
                                      .method = "register",
                                      .transport = "udp",
                                      .ports = 100,
                                      .window = 50,
                                      .threads = "sharded",
                                      .workers = 3,
                                      .selector = "io_uring",
                                      .listen = 1};
    row->duration_s = 0.25;
    row->repeats = 3;
    row->rate = 123456;
    row->rate_min = 100000;
    row->rate_max = 130000;
    row->cpu_us_per_pair = 7.125;
    row->floor_rate = 200000;
    row->ratio = 0.6173;
}

/* The header and the rows as text, to be freed. */
static char *write_rows(const struct sweep_row *rows, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    sweep_row_write_header(file);
    for (size_t i = 0; i < count; i++) {
        sweep_row_write(file, &rows[i]);
    }
    fclose(file);
    return text;
}

static bool parse(const char *text)
{
    size_t whole;
    sweep_table_free(&table);
    return sweep_table_parse(&table, text, "old.csv", &whole) == 0;
}

static void row_comes_back_as_it_was_written(void)
{
    struct sweep_row row;
    fill(&row, "plain");
    char *text = write_rows(&row, 1);
    CU_ASSERT_FATAL(parse(text));
    CU_ASSERT_EQUAL_FATAL(table.count, 1);
    const struct sweep_row *read = &table.rows[0];
    CU_ASSERT_STRING_EQUAL(read->grid, row.grid);
    CU_ASSERT_STRING_EQUAL(read->date, row.date);
    CU_ASSERT_STRING_EQUAL(read->status, SWEEP_OK);
    CU_ASSERT_EQUAL(read->cores, 4);
    CU_ASSERT(sweep_point_equal(&read->point, &row.point));
    CU_ASSERT_DOUBLE_EQUAL(read->duration_s, 0.25, 0);
    CU_ASSERT_EQUAL(read->repeats, 3);
    CU_ASSERT_DOUBLE_EQUAL(read->rate, 123456, 0);
    CU_ASSERT_DOUBLE_EQUAL(read->cpu_us_per_pair, 7.125, 0);
    CU_ASSERT_DOUBLE_EQUAL(read->ratio, 0.6173, 1e-9);
    /* Written again it is the same text, so no column is lost. */
    char *again = write_rows(read, 1);
    CU_ASSERT_STRING_EQUAL(again, text);
    free(again);
    free(text);
}

static void number_that_is_not_known_is_an_empty_field(void)
{
    struct sweep_row row;
    fill(&row, "");
    char *text = write_rows(&row, 1);
    CU_ASSERT_PTR_NULL(strstr(text, "nan"));
    CU_ASSERT_FATAL(parse(text));
    CU_ASSERT(isnan(table.rows[0].latency_p50));
    CU_ASSERT(isnan(table.rows[0].sender_rss_kib));
    free(text);
}

static void text_with_marks_of_csv_is_quoted(void)
{
    static const struct {
        const char *note;
        const char *read;
    } cases[] = {
        {"a, b", "a, b"},     {"say \"no\"", "say \"no\""}, {"\"", "\""},
        {",\"\",", ",\"\","}, {"two\nlines", "two lines"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sweep_row row;
        fill(&row, cases[i].note);
        char *text = write_rows(&row, 1);
        CU_ASSERT_EQUAL(capture_lines(text), 2);
        CU_ASSERT_FATAL(parse(text));
        CU_ASSERT_STRING_EQUAL(table.rows[0].note, cases[i].read);
        CU_ASSERT_DOUBLE_EQUAL(table.rows[0].rate, 123456, 0);
        free(text);
    }
}

static void columns_are_known_by_their_names(void)
{
    CU_ASSERT_FATAL(parse("ratio,else,grid,ports\r\n0.5,\"x,y\",g,7\r\n"));
    CU_ASSERT_EQUAL_FATAL(table.count, 1);
    CU_ASSERT_DOUBLE_EQUAL(table.rows[0].ratio, 0.5, 0);
    CU_ASSERT_STRING_EQUAL(table.rows[0].grid, "g");
    CU_ASSERT_EQUAL(table.rows[0].point.ports, 7);
}

static void line_that_has_no_end_is_no_row(void)
{
    static const char TEXT[] = "grid,ports\ng,1\ng,2";
    size_t whole = 0;
    sweep_table_free(&table);
    CU_ASSERT_EQUAL(sweep_table_parse(&table, TEXT, "old.csv", &whole), 0);
    CU_ASSERT_EQUAL(table.count, 1);
    CU_ASSERT_EQUAL(whole, strlen("grid,ports\ng,1\n"));
}

static void what_is_no_file_of_a_sweep_is_refused(void)
{
    static const struct {
        const char *text;
        const char *told;
    } cases[] = {
        {"a,b\n1,2\n", "old.csv is not the CSV file of a sweep"},
        {"grid,ports\ng,x\n", "old.csv, line 2: ports: 'x' is not a number"},
        {"grid,ports\ng,-1\n", "ports: '-1' is not a number"},
        {"grid,ratio\ng,0.5\ng,a\n", "line 3: ratio: 'a' is not a number"},
        {"grid,ports\ng\n", "line 2 has not as many fields"},
        {"grid,ports\ng,1,2\n", "line 2 has not as many fields"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        capture_begin(2);
        bool parsed = parse(cases[i].text);
        const char *told = capture_end();
        CU_ASSERT_FALSE(parsed);
        CU_ASSERT_EQUAL(capture_lines(told), 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(told, cases[i].told));
    }
}

static void row_is_found_by_its_point(void)
{
    struct sweep_row rows[2];
    fill(&rows[0], "first");
    fill(&rows[1], "second");
    rows[1].point.window = 200;
    char *text = write_rows(rows, 2);
    CU_ASSERT_FATAL(parse(text));
    const struct sweep_row *found = sweep_table_find(&table, &rows[1].point);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    CU_ASSERT_STRING_EQUAL(found->note, "second");
    rows[1].point.listen = 0;
    CU_ASSERT_PTR_NULL(sweep_table_find(&table, &rows[1].point));
    free(text);
}

/* ---- Going on with a file ---- */

static char name[] = P_tmpdir "/test_sweep_row_XXXXXX";

static void put(const char *text)
{
    FILE *file = fopen(name, "w");
    fputs(text, file);
    fclose(file);
}

static void file_is_gone_on_with(void)
{
    struct sweep_file file;
    struct sweep_row row;
    put("");
    for (uint32_t i = 1; i <= 3; i++) {
        CU_ASSERT_EQUAL_FATAL(sweep_file_open(&file, name, "0123456789abcdef"), 0);
        CU_ASSERT_EQUAL(file.table.count, i - 1);
        fill(&row, "a note");
        row.point.ports = i;
        CU_ASSERT_EQUAL(sweep_file_add(&file, &row), 0);
        CU_ASSERT_PTR_NOT_NULL(sweep_table_find(&file.table, &row.point));
        sweep_file_close(&file);
    }
    char *text = sweep_read_file(name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_EQUAL(capture_lines(text), 4);
    free(text);
}

static void line_that_was_not_finished_is_cut_off(void)
{
    struct sweep_file file;
    struct sweep_row row;
    fill(&row, "whole");
    char *text = write_rows(&row, 1);
    char *broken = NULL;
    CU_ASSERT_FATAL(asprintf(&broken, "%s0123456789abcdef,20", text) > 0);
    put(broken);
    CU_ASSERT_EQUAL_FATAL(sweep_file_open(&file, name, "0123456789abcdef"), 0);
    CU_ASSERT_EQUAL(file.table.count, 1);
    sweep_file_close(&file);
    char *left = sweep_read_file(name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(left);
    CU_ASSERT_STRING_EQUAL(left, text);
    free(left);
    free(broken);
    free(text);
}

static void file_of_another_sweep_is_left_alone(void)
{
    struct sweep_file file;
    struct sweep_row row;
    fill(&row, "");
    char *text = write_rows(&row, 1);
    put(text);
    capture_begin(2);
    int error = sweep_file_open(&file, name, "another");
    const char *told = capture_end();
    CU_ASSERT_EQUAL(error, -1);
    CU_ASSERT_EQUAL(capture_lines(told), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(told, "holds another sweep"));
    sweep_file_close(&file);
    char *left = sweep_read_file(name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(left);
    CU_ASSERT_STRING_EQUAL(left, text);
    free(left);
    free(text);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"row_comes_back_as_it_was_written", row_comes_back_as_it_was_written},
        {"number_that_is_not_known_is_an_empty_field", number_that_is_not_known_is_an_empty_field},
        {"text_with_marks_of_csv_is_quoted", text_with_marks_of_csv_is_quoted},
        {"columns_are_known_by_their_names", columns_are_known_by_their_names},
        {"line_that_has_no_end_is_no_row", line_that_has_no_end_is_no_row},
        {"what_is_no_file_of_a_sweep_is_refused", what_is_no_file_of_a_sweep_is_refused},
        {"row_is_found_by_its_point", row_is_found_by_its_point},
        {"file_is_gone_on_with", file_is_gone_on_with},
        {"line_that_was_not_finished_is_cut_off", line_that_was_not_finished_is_cut_off},
        {"file_of_another_sweep_is_left_alone", file_of_another_sweep_is_left_alone},
        CU_TEST_INFO_NULL,
    };
    int fd = mkstemp(name);
    if (fd < 0) {
        return EXIT_FAILURE;
    }
    close(fd);
    int status = run_suite("sweep_row", tests);
    unlink(name);
    sweep_table_free(&table);
    return status;
}
