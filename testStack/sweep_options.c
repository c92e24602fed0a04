/* sweep_options.c - the command line of a sweep.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "sweep_options.h"

#include "fail.h"
#include "parse.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum option_code {
    OPTION_SWEEP = 256,
    OPTION_SPEC,
    OPTION_LIST,
    OPTION_DURATION,
    OPTION_WARMUP,
    OPTION_REPEAT,
    OPTION_CPUS,
    OPTION_CSV,
    OPTION_BASELINE,
    OPTION_TOLERANCE,
    OPTION_PLOT,
    OPTION_GATE,
    OPTION_GATE_CORES,
    OPTION_BASE_PORT,
    OPTION_BIND,
    OPTION_IPV6,
    OPTION_HELP,
    OPTION_VERSION,
};

static char PROGRAM_NAME[] = "testStack";

static const struct option OPTIONS[] = {
    {"sweep", no_argument, NULL, OPTION_SWEEP},
    {"sweep-spec", required_argument, NULL, OPTION_SPEC},
    {"sweep-list", no_argument, NULL, OPTION_LIST},
    {"sweep-duration", required_argument, NULL, OPTION_DURATION},
    {"sweep-warmup", required_argument, NULL, OPTION_WARMUP},
    {"repeat", required_argument, NULL, OPTION_REPEAT},
    {"cpus", required_argument, NULL, OPTION_CPUS},
    {"csv", required_argument, NULL, OPTION_CSV},
    {"baseline", required_argument, NULL, OPTION_BASELINE},
    {"tolerance", required_argument, NULL, OPTION_TOLERANCE},
    {"plot", required_argument, NULL, OPTION_PLOT},
    {"gate", required_argument, NULL, OPTION_GATE},
    {"gate-cores", required_argument, NULL, OPTION_GATE_CORES},
    {"base-port", required_argument, NULL, OPTION_BASE_PORT},
    {"bind", required_argument, NULL, OPTION_BIND},
    {"ipv6", no_argument, NULL, OPTION_IPV6},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static const char HELP[] =
    "Usage: testStack --sweep [OPTION]...\n"
    "Measures a grid of points, each in a process of its own with the floor beside it, and writes\n"
    "a CSV row for each. A sweep that was stopped goes on when the same command is given again.\n"
    "\n"
    "      --sweep-spec FILE    the grid (default: the built-in one; docs/sweep.md)\n"
    "      --sweep-list         print the points of the grid and end\n"
    "      --sweep-duration S   measure each point for S seconds, 0.001 to 86400 (default 5)\n"
    "      --sweep-warmup S     after S seconds that do not count, 0 to 86400 (default 1)\n"
    "      --repeat N           measure each point N times, 1 to 100, and keep minimum, median\n"
    "                           and maximum (default 1)\n"
    "      --cpus N,N,...       run each point on so many CPUs, by affinity; all is all of them\n"
    "                           (default: as the grid says)\n"
    "      --csv FILE           the rows (default sweep.csv)\n"
    "      --baseline OLD.csv   compare with a kept sweep, by ratio to each one's own floor\n"
    "      --tolerance P        what counts as the same, in percent, 0 to 100 (default 10)\n"
    "      --plot DIR           draw the rates, with gnuplot, into a folder\n"
    "      --gate RATIO         fail when a point is under that part of the floor, 0 to 1\n"
    "      --gate-cores N       judge only points with at least N CPUs (default 2)\n"
    "      --bind ADDR, --ipv6, --base-port P\n"
    "                           as without --sweep; for each point\n"
    "      --help               print this and end\n"
    "      --version            print the version and end\n"
    "\n"
    "The exit status is 0 when no point failed, 1 when one did, fell under the gate, is worse "
    "than\n"
    "the baseline, or the sweep was interrupted, 2 when the command line or the grid is wrong, 77\n"
    "when the gate had no point to judge.\n";

static int parse_tolerance(double *tolerance, const char *name, const char *text)
{
    uint32_t percent = 0;
    if (parse_count32(&percent, name, text, 0, 100) < 0) {
        return -1;
    }
    *tolerance = (double)percent / 100;
    return 0;
}

/* Those that say what is measured and how. */
static int parse_conditions(struct measure_conditions *conditions, enum option_code option,
                            const char *name)
{
    switch (option) {
    case OPTION_DURATION:
        return parse_seconds(&conditions->duration, name, optarg, 0.001);
    case OPTION_WARMUP:
        return parse_seconds(&conditions->warmup, name, optarg, 0);
    case OPTION_REPEAT:
        return parse_count32(&conditions->repeats, name, optarg, 1, 100);
    case OPTION_BASE_PORT:
        return parse_count32(&conditions->base_port, name, optarg, 1, UINT16_MAX);
    case OPTION_BIND:
        conditions->bind = optarg;
        return 0;
    case OPTION_IPV6:
        conditions->ipv6 = true;
        return 0;
    default:
        return 0; /* --sweep */
    }
}

static int parse_option(struct sweep_options *options, enum option_code option, const char *name)
{
    switch (option) {
    case OPTION_SPEC:
        options->spec = optarg;
        return 0;
    case OPTION_LIST:
        options->list = true;
        return 0;
    case OPTION_CPUS:
        options->cpus = optarg;
        return 0;
    case OPTION_CSV:
        options->csv = optarg;
        return 0;
    case OPTION_BASELINE:
        options->baseline = optarg;
        return 0;
    case OPTION_TOLERANCE:
        return parse_tolerance(&options->tolerance, name, optarg);
    case OPTION_PLOT:
        options->plot = optarg;
        return 0;
    case OPTION_GATE:
        return parse_probability(&options->gate, name, optarg);
    case OPTION_GATE_CORES:
        return parse_count32(&options->gate_cores, name, optarg, 1, 1024);
    default:
        return parse_conditions(&options->conditions, option, name);
    }
}

static void set_defaults(struct sweep_options *options)
{
    *options = (struct sweep_options){
        .conditions = {.duration = 5 * VD_SEC,
                       .warmup = 1 * VD_SEC,
                       .repeats = 1,
                       .base_port = 11000},
        .csv = "sweep.csv",
        .tolerance = 0.1,
        .gate_cores = 2,
    };
}

bool sweep_options_wanted(int argc, char *const *argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--sweep") == 0) {
            return true;
        }
    }
    return false;
}

enum options_result sweep_options_parse(struct sweep_options *options, int argc, char **argv)
{
    char name[40];
    int option;
    int index = -1;
    set_defaults(options);
    optind = 0;             /* makes the GNU getopt start anew */
    argv[0] = PROGRAM_NAME; /* stands in front of what getopt says */
    while ((option = getopt_long(argc, argv, "", OPTIONS, &index)) != -1) {
        if (option == '?') {
            return OPTIONS_USAGE;
        }
        if (option == OPTION_HELP) {
            fputs(HELP, stdout);
            return OPTIONS_QUIT;
        }
        if (option == OPTION_VERSION) {
            printf("testStack (Viaduct) %s\n", vd_version());
            return OPTIONS_QUIT;
        }
        snprintf(name, sizeof name, "--%s", OPTIONS[index].name);
        if (parse_option(options, (enum option_code)option, name) < 0) {
            return OPTIONS_USAGE;
        }
    }
    if (optind < argc) {
        fail("'%s' is not an option of a sweep", argv[optind]);
        return OPTIONS_USAGE;
    }
    if (strcmp(options->csv, "-") == 0) {
        fail("--csv: a sweep needs a file, to go on with when it was stopped");
        return OPTIONS_USAGE;
    }
    return OPTIONS_RUN;
}
