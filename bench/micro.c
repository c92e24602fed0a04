/* micro.c - what parsing, matching, building and timers cost, beside what Sofia-SIP takes to parse
 * the same messages in the same run. The command line and main().
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "micro.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2, DEFAULT_ROUNDS = 101, MOST_ROUNDS = 100000 };

enum option_code { OPTION_ROUNDS = 1, OPTION_JSON, OPTION_HELP, OPTION_VERSION };

static const struct option OPTIONS[] = {
    {"rounds", required_argument, NULL, OPTION_ROUNDS},
    {"json", required_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static const char HELP[] =
    "Usage: micro [OPTION]...\n"
    "Times what the stack does to one message or one timer, and Sofia-SIP's parse of the same\n"
    "messages. Parsing includes the decoding of the top Via, From, To, Call-ID, CSeq,\n"
    "Max-Forwards, Contact and Content-Length; Sofia-SIP decodes what it does by default. Every\n"
    "round takes a sample of each; the medians are printed. A ratio is Sofia-SIP's parse over the\n"
    "line's time.\n"
    "\n"
    "      --rounds N   samples of each, 1 to 100000 (default 101)\n"
    "      --json FILE  write the figures to FILE as JSON; - is stdout\n"
    "      --help       print this and end\n"
    "      --version    print the version and end\n"
    "\n"
    "The timers take about 300 MB of memory. The exit status is 0 when all was timed, 1 when\n"
    "something went wrong, 2 when the command line is wrong.\n";

static const struct micro_group *const GROUPS[] = {
    &micro_parse_group,       &micro_match_client_group, &micro_match_server_group,
    &micro_build_group,       &micro_lanes_empty_group,  &micro_lanes_full_group,
    &micro_wheel_empty_group, &micro_wheel_full_group,
};

#ifdef VIADUCT_HAVE_SOFIA
static const struct micro_group *const SOFIA = &micro_sofia_group;
#else
static const struct micro_group *const SOFIA = NULL;
#endif

int micro_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("micro: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return -1;
}

static int parse_rounds(unsigned *rounds, const char *text)
{
    char *end;
    errno = 0;
    unsigned long parsed = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || parsed < 1 ||
        parsed > MOST_ROUNDS) {
        return micro_fail("--rounds: '%s' is not a number from 1 to %d", text, MOST_ROUNDS);
    }
    *rounds = (unsigned)parsed;
    return 0;
}

/* Opened before the run, so that a wrong name costs no time. */
static FILE *open_json(const char *name)
{
    FILE *file = strcmp(name, "-") == 0 ? stdout : fopen(name, "we");
    if (file == NULL) {
        micro_fail("cannot write %s: %s", name, strerror(errno));
    }
    return file;
}

/* Flushes, so that a full disk is not taken for a report. */
static int finish_output(FILE *file, const char *name)
{
    if (fflush(file) != 0 || ferror(file) != 0) {
        return micro_fail("cannot write %s: %s", name, strerror(errno));
    }
    return 0;
}

static int run_and_report(unsigned rounds, const char *json_name)
{
    FILE *json = NULL;
    if (json_name != NULL && (json = open_json(json_name)) == NULL) {
        return -1;
    }
    struct micro_results results;
    int error = micro_rounds_run(GROUPS, sizeof GROUPS / sizeof *GROUPS, SOFIA, rounds, &results);
    if (error == 0 && json != NULL) {
        micro_report_json(json, &results, rounds);
        error = finish_output(json, json_name);
    }
    if (error == 0) {
        micro_report_table(&results);
        error = finish_output(stdout, "the report");
    }
    if (json != NULL && json != stdout) {
        fclose(json);
    }
    free(results.results);
    return error;
}

int main(int argc, char **argv)
{
    unsigned rounds = DEFAULT_ROUNDS;
    const char *json = NULL;
    int option;
    while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
        switch (option) {
        case OPTION_ROUNDS:
            if (parse_rounds(&rounds, optarg) < 0) {
                return EXIT_USAGE;
            }
            break;
        case OPTION_JSON:
            json = optarg;
            break;
        case OPTION_HELP:
            fputs(HELP, stdout);
            return finish_output(stdout, "to stdout") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        case OPTION_VERSION:
            printf("micro %s\n", VD_VERSION);
            return finish_output(stdout, "to stdout") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        default:
            return EXIT_USAGE;
        }
    }
    if (optind < argc) {
        micro_fail("'%s' is not an option", argv[optind]);
        return EXIT_USAGE;
    }
    return run_and_report(rounds, json) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
