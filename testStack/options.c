/* options.c - the command line: testStack's own options and those of reSIProcate's testStack.
 *
 * docs/testStack.md has the table of reSIProcate's options and of what becomes of each.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "options.h"

#include "fail.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_WINDOW = 1000000,
    LONGEST_WAIT_MS = 60000,
    MOST_VERBOSE = 3,
    DEFAULT_BASE_PORT = 11000, /* below the ephemeral ports */
};

/* Options with a short form have its letter. */
enum option_code {
    OPTION_RUNS = 'r',
    OPTION_WINDOW = 'w',
    OPTION_PROTOCOL = 'p',
    OPTION_THREAD_TYPE = 't',
    OPTION_BIND = 'b',
    OPTION_PORTS = 'n',
    OPTION_INVITE = 'i',
    OPTION_IPV6 = '6',
    OPTION_SELECT_TIME = 's',
    OPTION_LOG_TYPE = 'l',
    OPTION_LOG_LEVEL = 'v',
    OPTION_UDP = 256,
    OPTION_BASE_PORT,
    OPTION_PORT,
    OPTION_DURATION,
    OPTION_WARMUP,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_THREADS,
    OPTION_SELECTOR,
    OPTION_LISTEN,
    OPTION_VERBOSE,
    OPTION_TRANSPORT_FLAGS,
    OPTION_SLEEP,
    OPTION_CONGESTION_MANAGER,
    OPTION_STATISTICS_INTERVAL,
    OPTION_HELP,
    OPTION_VERSION,
};

static char PROGRAM_NAME[] = "testStack";

static const char SHORT_OPTIONS[] = "r:w:p:t:b:n:i6s:l:v:";

static const struct option OPTIONS[] = {
    {"udp", no_argument, NULL, OPTION_UDP},
    {"ports", required_argument, NULL, OPTION_PORTS},
    {"runs", required_argument, NULL, OPTION_RUNS},
    {"window", required_argument, NULL, OPTION_WINDOW},
    {"invite", no_argument, NULL, OPTION_INVITE},
    {"bind", required_argument, NULL, OPTION_BIND},
    {"ipv6", no_argument, NULL, OPTION_IPV6},
    {"base-port", required_argument, NULL, OPTION_BASE_PORT},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"warmup", required_argument, NULL, OPTION_WARMUP},
    {"json", required_argument, NULL, OPTION_JSON},
    {"csv", required_argument, NULL, OPTION_CSV},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"selector", required_argument, NULL, OPTION_SELECTOR},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    /* reSIProcate's */
    {"protocol", required_argument, NULL, OPTION_PROTOCOL},
    {"numports", required_argument, NULL, OPTION_PORTS},
    {"num-runs", required_argument, NULL, OPTION_RUNS},
    {"window-size", required_argument, NULL, OPTION_WINDOW},
    {"thread-type", required_argument, NULL, OPTION_THREAD_TYPE},
    {"select-time", required_argument, NULL, OPTION_SELECT_TIME},
    {"listen", required_argument, NULL, OPTION_LISTEN},
    {"port", required_argument, NULL, OPTION_PORT},
    {"v6", no_argument, NULL, OPTION_IPV6},
    {"verbose", required_argument, NULL, OPTION_VERBOSE},
    {"log-type", required_argument, NULL, OPTION_LOG_TYPE},
    {"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
    {"tf", required_argument, NULL, OPTION_TRANSPORT_FLAGS},
    {"sleep", required_argument, NULL, OPTION_SLEEP},
    {"use-congestion-manager", no_argument, NULL, OPTION_CONGESTION_MANAGER},
    {"statistics-interval", required_argument, NULL, OPTION_STATISTICS_INTERVAL},
    {NULL, 0, NULL, 0},
};

/* Options of reSIProcate that have no counterpart, and why. */
static const struct refusal {
    enum option_code option;
    const char *reason;
} REFUSALS[] = {
    {OPTION_LOG_TYPE, "the log goes to stderr; --verbose turns it on"},
    {OPTION_LOG_LEVEL, "--verbose N chooses what is logged"},
    {OPTION_TRANSPORT_FLAGS, "the flags are those of reSIProcate's transports"},
    {OPTION_SLEEP, "--window alone paces the sender"},
    {OPTION_CONGESTION_MANAGER, "there is no such manager; --window limits what is outstanding"},
    {OPTION_STATISTICS_INTERVAL, "counters are printed once, at the end, by --verbose 1"},
};

/* reSIProcate's thread types as modes of ours. */
static const struct thread_type {
    const char *name;
    bool common;
    bool polls; /* never sleeps unless --select-time says otherwise */
} THREAD_TYPES[] = {
    {"none", true, true},    {"common", true, false}, {"std", false, false},
    {"intr", false, false},  {"event", false, false}, {"epoll", false, false},
    {"fdset", false, false}, {"poll", false, false},
};

/* What is known of the command line beside the options themselves. */
struct command_line {
    struct options *options;
    const char *bind;
    bool ipv6;
    bool runs_given;
    bool duration_given;
    bool wait_given;
    bool polls;
};

static const char HELP[] =
    "Usage: testStack [OPTION]...\n"
    "Runs two SIP stacks, a sender and a receiver, which exchange SIP transactions over real\n"
    "sockets, and prints how many transaction pairs per second they made.\n"
    "\n"
    "      --udp             over UDP (default, and all there is)\n"
    "      --ports N         UDP sockets a side, 1 to 32767 (default 1)\n"
    "      --runs N          registrations or calls to make (default 10000)\n"
    "      --duration S      make them for S seconds instead of --runs\n"
    "      --warmup S        first make some for S seconds that do not count\n"
    "      --window N        how many are outstanding at a time, 1 to 1000000 (default 100)\n"
    "      --invite          make calls (INVITE, 180, 200, ACK, BYE, 200), each of which counts\n"
    "                        as two pairs, instead of registrations (REGISTER, 200)\n"
    "      --threads MODE    event: a loop and a thread a side (default); common: one for both\n"
    "      --selector NAME   epoll (default, and all there is)\n"
    "      --bind ADDR       address of both sides (default 127.0.0.1, or ::1 with --ipv6)\n"
    "      --ipv6            over IPv6\n"
    "      --base-port P     the sender's ports from P up, then the receiver's (default 11000)\n"
    "      --json FILE       write the figures to FILE as JSON; - is stdout\n"
    "      --csv FILE        write them as CSV, a header line and one row; - is stdout\n"
    "      --verbose N       1: print counters as well; 2: log what is dropped or fails, to\n"
    "                        stderr; 3: log more (default 0)\n"
    "      --help            print this and end\n"
    "      --version         print the version and end\n"
    "\n"
    "Options of reSIProcate's testStack:\n"
    "  -r, --num-runs N      as --runs\n"
    "  -w, --window-size N   as --window\n"
    "  -n, --numports N      as --ports\n"
    "  -b ADDR               as --bind\n"
    "  -i                    as --invite\n"
    "  -6, --v6              as --ipv6\n"
    "      --port P          as --base-port; 0 is the default\n"
    "  -p, --protocol NAME   udp\n"
    "  -t, --thread-type T   none and common: --threads common; std, intr, event, epoll, fdset\n"
    "                        and poll: --threads event; none polls\n"
    "  -s, --select-time MS  longest wait of a turn of a loop, 0 to 60000; 0 polls (default 0\n"
    "                        with --thread-type none, else no limit)\n"
    "      --listen 1        bind the sender's ports, as UDP must\n"
    "\n"
    "The exit status is 0 when every pair was completed, 1 when one was not or the run could not\n"
    "be made, 2 when the command line is wrong.\n";

static int parse_count(uint64_t *value, const char *name, const char *text, uint64_t least,
                       uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || parsed < least ||
        parsed > most) {
        return fail("%s: '%s' is not a number from %llu to %llu", name, text,
                    (unsigned long long)least, (unsigned long long)most);
    }
    *value = parsed;
    return 0;
}

static int parse_count32(uint32_t *value, const char *name, const char *text, uint32_t least,
                         uint32_t most)
{
    uint64_t wide = 0;
    if (parse_count(&wide, name, text, least, most) < 0) {
        return -1;
    }
    *value = (uint32_t)wide;
    return 0;
}

static int parse_seconds(vd_time *time, const char *name, const char *text, double least)
{
    static const double DAY = 86400;
    char *end;
    double seconds = strtod(text, &end);
    if (text[strspn(text, "0123456789.")] != '\0' || end == text || *end != '\0' ||
        seconds < least || seconds > DAY) {
        return fail("%s: '%s' is not a time from %g to %g seconds", name, text, least, DAY);
    }
    *time = (vd_time)(seconds * (double)VD_SEC);
    return 0;
}

static int parse_port(struct options *options, const char *name, const char *text, uint32_t least)
{
    if (parse_count32(&options->base_port, name, text, least, UINT16_MAX) < 0) {
        return -1;
    }
    if (options->base_port == 0) {
        options->base_port = DEFAULT_BASE_PORT;
    }
    return 0;
}

static int parse_threads(struct command_line *line, const char *name, const char *text)
{
    line->options->common = strcmp(text, "common") == 0;
    line->polls = false;
    if (!line->options->common && strcmp(text, "event") != 0) {
        return fail("%s: '%s' is neither event nor common", name, text);
    }
    return 0;
}

static int parse_thread_type(struct command_line *line, const char *name, const char *text)
{
    for (size_t i = 0; i < sizeof THREAD_TYPES / sizeof THREAD_TYPES[0]; i++) {
        if (strcmp(text, THREAD_TYPES[i].name) == 0) {
            line->options->common = THREAD_TYPES[i].common;
            line->polls = THREAD_TYPES[i].polls;
            return 0;
        }
    }
    if (strcmp(text, "multithreadedstack") == 0) {
        return fail("%s: multithreadedstack is not supported: a stack here has one thread", name);
    }
    return fail("%s: '%s' is none of none, common, std, intr, event, epoll, fdset, poll", name,
                text);
}

static int parse_select_time(struct command_line *line, const char *name, const char *text)
{
    uint32_t milliseconds = 0;
    if (parse_count32(&milliseconds, name, text, 0, LONGEST_WAIT_MS) < 0) {
        return -1;
    }
    line->wait_given = true;
    line->options->longest_wait = milliseconds * VD_MSEC;
    return 0;
}

static int parse_listen(const char *name, const char *text)
{
    uint32_t bind_sender = 0;
    if (parse_count32(&bind_sender, name, text, 0, 1) < 0) {
        return -1;
    }
    if (bind_sender == 0) {
        return fail("%s 0 is not possible over UDP: the sender's ports must be bound for the "
                    "responses to reach them",
                    name);
    }
    return 0;
}

static int require(const char *name, const char *text, const char *only)
{
    if (strcmp(text, only) != 0) {
        return fail("%s: '%s' is not supported, only %s is", name, text, only);
    }
    return 0;
}

static int refuse(enum option_code option, const char *name)
{
    for (size_t i = 0; i < sizeof REFUSALS / sizeof REFUSALS[0]; i++) {
        if (REFUSALS[i].option == option) {
            return fail("%s is not supported: %s", name, REFUSALS[i].reason);
        }
    }
    return 0; /* --udp is what is done anyway */
}

/* reSIProcate's options that are not simply another name of one of ours. */
static int parse_other(struct command_line *line, enum option_code option, const char *name)
{
    switch (option) {
    case OPTION_PORT:
        return parse_port(line->options, name, optarg, 0);
    case OPTION_PROTOCOL:
        return require(name, optarg, "udp");
    case OPTION_THREAD_TYPE:
        return parse_thread_type(line, name, optarg);
    case OPTION_SELECT_TIME:
        return parse_select_time(line, name, optarg);
    case OPTION_LISTEN:
        return parse_listen(name, optarg);
    default:
        return refuse(option, name);
    }
}

/* name is the option as it was spelled, for the message when optarg is wrong. */
static int parse_option(struct command_line *line, enum option_code option, const char *name)
{
    struct options *options = line->options;
    switch (option) {
    case OPTION_PORTS:
        return parse_count32(&options->ports, name, optarg, 1, UINT16_MAX / 2);
    case OPTION_RUNS:
        line->runs_given = true;
        return parse_count(&options->runs, name, optarg, 1, UINT64_MAX / 4);
    case OPTION_WINDOW:
        return parse_count32(&options->window, name, optarg, 1, LARGEST_WINDOW);
    case OPTION_INVITE:
        options->invite = true;
        return 0;
    case OPTION_BIND:
        line->bind = optarg;
        return 0;
    case OPTION_IPV6:
        line->ipv6 = true;
        return 0;
    case OPTION_BASE_PORT:
        return parse_port(options, name, optarg, 1);
    case OPTION_DURATION:
        line->duration_given = true;
        return parse_seconds(&options->duration, name, optarg, 0.001);
    case OPTION_WARMUP:
        return parse_seconds(&options->warmup, name, optarg, 0);
    case OPTION_JSON:
        options->json = optarg;
        return 0;
    case OPTION_CSV:
        options->csv = optarg;
        return 0;
    case OPTION_THREADS:
        return parse_threads(line, name, optarg);
    case OPTION_SELECTOR:
        return require(name, optarg, "epoll");
    case OPTION_VERBOSE:
        return parse_count32(&options->verbose, name, optarg, 0, MOST_VERBOSE);
    default:
        return parse_other(line, option, name);
    }
}

static bool is_wildcard(const struct vd_addr *addr)
{
    static const uint8_t ZEROS[sizeof addr->ip];
    return memcmp(addr->ip, ZEROS, sizeof ZEROS) == 0;
}

static int resolve_bind(const struct command_line *line)
{
    struct vd_addr *bind = &line->options->bind;
    uint8_t family = line->ipv6 ? VD_FAMILY_IP6 : VD_FAMILY_IP4;
    const char *text = line->bind;
    if (text == NULL) {
        text = line->ipv6 ? "::1" : "127.0.0.1";
    }
    if (vd_addr_parse(vd_str_from(text), 0, bind) != 0 || bind->family != family) {
        return fail("--bind: '%s' is not an %s address", text, line->ipv6 ? "IPv6" : "IPv4");
    }
    if (is_wildcard(bind)) {
        return fail("--bind: '%s' is every address of the machine; one to send to is needed", text);
    }
    return 0;
}

static int check_together(const struct command_line *line)
{
    struct options *options = line->options;
    if (line->runs_given && line->duration_given) {
        return fail("--runs and --duration exclude each other");
    }
    uint32_t last_port = options->base_port + 2 * options->ports - 1;
    if (last_port > UINT16_MAX) {
        return fail("ports %u to %u go past 65535", options->base_port, last_port);
    }
    if (line->polls && !line->wait_given) {
        options->longest_wait = 0;
    }
    return resolve_bind(line);
}

static void set_defaults(struct options *options)
{
    *options = (struct options){
        .ports = 1,
        .window = 100,
        .runs = 10000,
        .base_port = DEFAULT_BASE_PORT,
        .longest_wait = VD_TIME_NEVER,
    };
}

static enum options_result quit_with(enum option_code option)
{
    if (option == OPTION_HELP) {
        fputs(HELP, stdout);
    } else {
        printf("testStack (Viaduct) %s\n", vd_version());
    }
    return OPTIONS_QUIT;
}

enum options_result options_parse(struct options *options, int argc, char **argv)
{
    struct command_line line = {.options = options};
    char name[40];
    int option;
    int index = -1;
    set_defaults(options);
    optind = 0;             /* makes the GNU getopt start anew */
    argv[0] = PROGRAM_NAME; /* stands in front of what getopt says */
    while ((option = getopt_long(argc, argv, SHORT_OPTIONS, OPTIONS, &index)) != -1) {
        if (option == '?') {
            return OPTIONS_USAGE;
        }
        if (option == OPTION_HELP || option == OPTION_VERSION) {
            return quit_with((enum option_code)option);
        }
        if (index >= 0) {
            snprintf(name, sizeof name, "--%s", OPTIONS[index].name);
        } else {
            snprintf(name, sizeof name, "-%c", option);
        }
        if (parse_option(&line, (enum option_code)option, name) < 0) {
            return OPTIONS_USAGE;
        }
        index = -1;
    }
    if (optind < argc) {
        fail("'%s' is not an option", argv[optind]);
        return OPTIONS_USAGE;
    }
    return check_together(&line) < 0 ? OPTIONS_USAGE : OPTIONS_RUN;
}

struct vd_addr options_address(const struct options *options, uint32_t port)
{
    struct vd_addr address = options->bind;
    address.port = (uint16_t)port;
    return address;
}
