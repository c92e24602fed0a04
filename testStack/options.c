/* options.c - the command line: testStack's own options and those of reSIProcate's testStack.
 *
 * docs/testStack.md has the table of reSIProcate's options and of what becomes of each.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "options.h"

#include "address.h"
#include "fail.h"
#include "help.h"
#include "parse.h"
#include "selector.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum {
    LARGEST_WINDOW = 1000000,
    LONGEST_WAIT_MS = 60000,
    LONGEST_DELAY_MS = 60000,
    MOST_VERBOSE = 3,
    MOST_CORES = 1024,
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
    OPTION_TCP,
    OPTION_TLS,
    OPTION_CERT,
    OPTION_KEY,
    OPTION_CA,
    OPTION_KEYLOG,
    OPTION_NO_LISTEN,
    OPTION_GATE,
    OPTION_GATE_CORES,
    OPTION_METHOD,
    OPTION_ROLE,
    OPTION_PEER,
    OPTION_LOSS,
    OPTION_DUP,
    OPTION_REORDER,
    OPTION_DELAY,
    OPTION_SEED,
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
    {"tcp", no_argument, NULL, OPTION_TCP},
    {"tls", no_argument, NULL, OPTION_TLS},
    {"cert", required_argument, NULL, OPTION_CERT},
    {"key", required_argument, NULL, OPTION_KEY},
    {"ca", required_argument, NULL, OPTION_CA},
    {"keylog", required_argument, NULL, OPTION_KEYLOG},
    {"no-listen", no_argument, NULL, OPTION_NO_LISTEN},
    {"gate", required_argument, NULL, OPTION_GATE},
    {"gate-cores", required_argument, NULL, OPTION_GATE_CORES},
    {"method", required_argument, NULL, OPTION_METHOD},
    {"role", required_argument, NULL, OPTION_ROLE},
    {"peer", required_argument, NULL, OPTION_PEER},
    {"loss", required_argument, NULL, OPTION_LOSS},
    {"dup", required_argument, NULL, OPTION_DUP},
    {"reorder", required_argument, NULL, OPTION_REORDER},
    {"delay", required_argument, NULL, OPTION_DELAY},
    {"seed", required_argument, NULL, OPTION_SEED},
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
    enum threads threads;
    bool polls; /* never sleeps unless --select-time says otherwise */
} THREAD_TYPES[] = {
    {"none", THREADS_COMMON, true},  {"common", THREADS_COMMON, false},
    {"std", THREADS_EVENT, false},   {"intr", THREADS_EVENT, false},
    {"event", THREADS_EVENT, false}, {"epoll", THREADS_EVENT, false},
    {"fdset", THREADS_EVENT, false}, {"poll", THREADS_EVENT, false},
};

/* What is known of the command line beside the options themselves. */
struct command_line {
    struct options *options;
    const char *bind;
    const char *peer;
    const char *sends; /* the last option that is about what a sender does; NULL for none */
    bool ipv6;
    bool runs_given;
    bool duration_given;
    bool wait_given;
    bool seed_given;
    bool polls;
    uint32_t base_port;
};

static int parse_port(struct command_line *line, const char *name, const char *text, uint32_t least)
{
    if (parse_count32(&line->base_port, name, text, least, UINT16_MAX) < 0) {
        return -1;
    }
    if (line->base_port == 0) {
        line->base_port = DEFAULT_BASE_PORT;
    }
    return 0;
}

/* The number of text among words; -1 when it is none of them. */
static int find_word(const char *const *words, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static int parse_threads(struct command_line *line, const char *name, const char *text)
{
    static const char *const WORDS[] = {
        [THREADS_EVENT] = "event",
        [THREADS_COMMON] = "common",
        [THREADS_PROCESS] = "process",
    };
    int found = find_word(WORDS, sizeof WORDS / sizeof WORDS[0], text);
    if (found < 0) {
        return fail("%s: '%s' is none of event, common, process", name, text);
    }
    line->options->threads = (enum threads)found;
    line->polls = false;
    return 0;
}

static int parse_method(struct options *options, const char *name, const char *text)
{
    static const char *const WORDS[] = {
        [METHOD_REGISTER] = "REGISTER",
        [METHOD_OPTIONS] = "OPTIONS",
        [METHOD_INVITE] = "INVITE",
    };
    int found = find_word(WORDS, sizeof WORDS / sizeof WORDS[0], text);
    if (found < 0) {
        return fail("%s: '%s' is none of REGISTER, OPTIONS, INVITE", name, text);
    }
    options->method = (enum method)found;
    return 0;
}

static int parse_role(struct options *options, const char *name, const char *text)
{
    if (strcmp(text, "sender") == 0) {
        options->role = ROLE_SENDER;
    } else if (strcmp(text, "receiver") == 0) {
        options->role = ROLE_RECEIVER;
    } else {
        return fail("%s: '%s' is neither sender nor receiver", name, text);
    }
    return 0;
}

static int parse_protocol(struct options *options, const char *name, const char *text)
{
    if (strcmp(text, "udp") == 0) {
        options->transport = VD_TRANSPORT_UDP;
    } else if (strcmp(text, "tcp") == 0) {
        options->transport = VD_TRANSPORT_TCP;
    } else if (strcmp(text, "tls") == 0) {
        options->transport = VD_TRANSPORT_TLS;
    } else {
        return fail("%s: '%s' is not supported, only udp, tcp and tls are", name, text);
    }
    return 0;
}

static int parse_thread_type(struct command_line *line, const char *name, const char *text)
{
    for (size_t i = 0; i < sizeof THREAD_TYPES / sizeof THREAD_TYPES[0]; i++) {
        if (strcmp(text, THREAD_TYPES[i].name) == 0) {
            line->options->threads = THREAD_TYPES[i].threads;
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

static int parse_milliseconds(vd_time *time, const char *name, const char *text, uint32_t most)
{
    uint32_t milliseconds = 0;
    if (parse_count32(&milliseconds, name, text, 0, most) < 0) {
        return -1;
    }
    *time = milliseconds * VD_MSEC;
    return 0;
}

static int parse_listen(struct options *options, const char *name, const char *text)
{
    uint32_t listen = 0;
    if (parse_count32(&listen, name, text, 0, 1) < 0) {
        return -1;
    }
    options->listen = listen != 0;
    return 0;
}

static int parse_selector(struct options *options, const char *name, const char *text)
{
    return selector_find(text, &options->selector)
               ? 0
               : fail("%s: '%s' is none of epoll, poll, io_uring", name, text);
}

static int refuse(enum option_code option, const char *name)
{
    for (size_t i = 0; i < sizeof REFUSALS / sizeof REFUSALS[0]; i++) {
        if (REFUSALS[i].option == option) {
            return fail("%s is not supported: %s", name, REFUSALS[i].reason);
        }
    }
    return 0;
}

/* reSIProcate's options that are not simply another name of one of ours. */
static int parse_other(struct command_line *line, enum option_code option, const char *name)
{
    switch (option) {
    case OPTION_PORT:
        return parse_port(line, name, optarg, 0);
    case OPTION_PROTOCOL:
        return parse_protocol(line->options, name, optarg);
    case OPTION_THREAD_TYPE:
        return parse_thread_type(line, name, optarg);
    case OPTION_SELECT_TIME:
        line->wait_given = true;
        return parse_milliseconds(&line->options->longest_wait, name, optarg, LONGEST_WAIT_MS);
    case OPTION_LISTEN:
        return parse_listen(line->options, name, optarg);
    default:
        return refuse(option, name);
    }
}

static int parse_impairment(struct command_line *line, enum option_code option, const char *name)
{
    struct impairment *impairment = &line->options->impairment;
    switch (option) {
    case OPTION_LOSS:
        return parse_probability(&impairment->loss, name, optarg);
    case OPTION_DUP:
        return parse_probability(&impairment->duplicate, name, optarg);
    case OPTION_REORDER:
        return parse_probability(&impairment->reorder, name, optarg);
    case OPTION_DELAY:
        return parse_milliseconds(&impairment->delay, name, optarg, LONGEST_DELAY_MS);
    case OPTION_SEED:
        line->seed_given = true;
        return parse_count(&impairment->seed, name, optarg, 0, UINT64_MAX);
    default:
        return parse_other(line, option, name);
    }
}

/* Names of files; they are opened when the run begins. */
static int parse_tls(struct command_line *line, enum option_code option, const char *name)
{
    struct options *options = line->options;
    switch (option) {
    case OPTION_TLS:
        options->transport = VD_TRANSPORT_TLS;
        return 0;
    case OPTION_CERT:
        options->certificate = optarg;
        return 0;
    case OPTION_KEY:
        options->key = optarg;
        return 0;
    case OPTION_CA:
        options->authorities = optarg;
        return 0;
    case OPTION_KEYLOG:
        options->key_log = optarg;
        return 0;
    default:
        return parse_impairment(line, option, name);
    }
}

/* What a sender makes. */
static int parse_exchange(struct command_line *line, enum option_code option, const char *name)
{
    struct options *options = line->options;
    switch (option) {
    case OPTION_RUNS:
        line->runs_given = true;
        line->sends = "--runs";
        return parse_count(&options->runs, name, optarg, 1, UINT64_MAX / 4);
    case OPTION_DURATION:
        line->duration_given = true;
        line->sends = "--duration";
        return parse_seconds(&options->duration, name, optarg, 0.001);
    case OPTION_WARMUP:
        line->sends = "--warmup";
        return parse_seconds(&options->warmup, name, optarg, 0);
    case OPTION_WINDOW:
        line->sends = "--window";
        return parse_count32(&options->window, name, optarg, 1, LARGEST_WINDOW);
    case OPTION_INVITE:
        line->sends = "--invite";
        options->method = METHOD_INVITE;
        return 0;
    case OPTION_METHOD:
        line->sends = "--method";
        return parse_method(options, name, optarg);
    case OPTION_GATE:
        line->sends = "--gate";
        return parse_probability(&options->gate, name, optarg);
    case OPTION_GATE_CORES:
        return parse_count32(&options->gate_cores, name, optarg, 1, MOST_CORES);
    case OPTION_PEER:
        line->sends = "--peer";
        line->peer = optarg;
        return 0;
    default:
        return parse_tls(line, option, name);
    }
}

/* name is the option as it was spelled, for the message when optarg is wrong. */
static int parse_option(struct command_line *line, enum option_code option, const char *name)
{
    struct options *options = line->options;
    switch (option) {
    case OPTION_UDP:
        options->transport = VD_TRANSPORT_UDP;
        return 0;
    case OPTION_TCP:
        options->transport = VD_TRANSPORT_TCP;
        return 0;
    case OPTION_NO_LISTEN:
        options->listen = false;
        return 0;
    case OPTION_PORTS:
        return parse_count32(&options->ports, name, optarg, 1, UINT16_MAX / 2);
    case OPTION_BIND:
        line->bind = optarg;
        return 0;
    case OPTION_IPV6:
        line->ipv6 = true;
        return 0;
    case OPTION_BASE_PORT:
        return parse_port(line, name, optarg, 1);
    case OPTION_ROLE:
        return parse_role(options, name, optarg);
    case OPTION_JSON:
        options->json = optarg;
        return 0;
    case OPTION_CSV:
        options->csv = optarg;
        return 0;
    case OPTION_THREADS:
        return parse_threads(line, name, optarg);
    case OPTION_SELECTOR:
        return parse_selector(options, name, optarg);
    case OPTION_VERBOSE:
        return parse_count32(&options->verbose, name, optarg, 0, MOST_VERBOSE);
    default:
        return parse_exchange(line, option, name);
    }
}

/* ---- What the options mean together ---- */

static int check_ports(uint32_t first, uint32_t count)
{
    uint32_t last = first + count - 1;
    return last > UINT16_MAX ? fail("ports %u to %u go past 65535", first, last) : 0;
}

/* The address of what runs here. */
static int resolve_bind(const struct command_line *line, enum vd_family family,
                        struct vd_addr *bind)
{
    const char *text = line->bind;
    if (text == NULL && line->options->role == ROLE_SENDER) {
        if (address_towards(bind, &line->options->receiver) < 0) {
            return -1;
        }
        bind->port = (uint16_t)line->base_port;
        return 0;
    }
    if (text == NULL) {
        text = line->ipv6 ? "::1" : "127.0.0.1";
    }
    return address_parse_local(bind, "--bind", text, family, (uint16_t)line->base_port);
}

static int resolve_addresses(const struct command_line *line)
{
    struct options *options = line->options;
    enum vd_family family = line->ipv6 ? VD_FAMILY_IP6 : VD_FAMILY_IP4;
    uint32_t count = options->role == ROLE_BOTH ? 2 * options->ports : options->ports;
    if (check_ports(line->base_port, count) < 0) {
        return -1;
    }
    if (options->role == ROLE_SENDER &&
        (address_parse_peer(&options->receiver, "--peer", line->peer, family) < 0 ||
         check_ports(options->receiver.port, options->ports) < 0)) {
        return -1;
    }
    if (options->role == ROLE_SENDER) {
        options->peer_host = vd_str(line->peer, (size_t)(strrchr(line->peer, ':') - line->peer));
    }
    if (options->role == ROLE_RECEIVER) {
        return resolve_bind(line, family, &options->receiver);
    }
    if (resolve_bind(line, family, &options->sender) < 0) {
        return -1;
    }
    if (options->role == ROLE_BOTH) {
        options->receiver = options_port(&options->sender, options->ports);
    }
    return 0;
}

static int check_role(const struct command_line *line)
{
    const struct options *options = line->options;
    if (options->role == ROLE_SENDER && line->peer == NULL) {
        return fail("--role sender needs --peer HOST:PORT");
    }
    if (options->role == ROLE_RECEIVER && line->sends != NULL) {
        return fail("%s is not for a receiver: its peer chooses", line->sends);
    }
    if (options->role == ROLE_BOTH && line->peer != NULL) {
        return fail("--peer needs --role sender");
    }
    if (options->role != ROLE_BOTH && options->gate > 0) {
        return fail("--gate needs both sides here: the floor has no --role");
    }
    if (options->role != ROLE_BOTH && options->threads == THREADS_COMMON) {
        return fail("--threads common is for two sides; with --role there is one");
    }
    if (options->role == ROLE_RECEIVER && !options->listen) {
        return fail("--no-listen is for the sender's ports; a receiver must listen");
    }
    return 0;
}

static int check_transport(const struct command_line *line)
{
    const struct options *options = line->options;
    if (options->transport == VD_TRANSPORT_UDP && !options->listen) {
        return fail("--no-listen (--listen 0) is not possible over UDP: the sender's ports must be "
                    "bound for the responses to reach them");
    }
    if (options->transport != VD_TRANSPORT_UDP && options_are_impaired(options)) {
        return fail("--loss, --dup, --reorder and --delay are for datagrams: they need --udp");
    }
    if (line->seed_given && !options_are_impaired(options)) {
        return fail("--seed needs one of --loss, --dup, --reorder, --delay");
    }
    return 0;
}

/* A throw-away certificate is known only to the program that has made it. */
static int check_certificates(const struct options *options)
{
    bool has_own = options->certificate != NULL;
    bool trusts = options->authorities != NULL;
    if (has_own != (options->key != NULL)) {
        return fail("--cert and --key need each other");
    }
    if (options->role == ROLE_BOTH && has_own != trusts) {
        return fail("--cert, --key and --ca go together: both sides use them");
    }
    if (options->role == ROLE_RECEIVER && !has_own) {
        return fail("--role receiver with --tls needs --cert and --key: a throw-away certificate "
                    "cannot be shared with the sender");
    }
    if (options->role == ROLE_SENDER && !trusts) {
        return fail("--role sender with --tls needs --ca: a throw-away certificate cannot be "
                    "shared with the receiver");
    }
    if (options->role == ROLE_SENDER && options->listen && !has_own) {
        return fail("--role sender with --tls listens too: it needs --cert and --key, or "
                    "--no-listen");
    }
    return 0;
}

static int check_tls(const struct options *options)
{
    if (options->transport == VD_TRANSPORT_TLS) {
        return check_certificates(options);
    }
    if (options->certificate != NULL || options->key != NULL || options->authorities != NULL) {
        return fail("--cert, --key and --ca need --tls");
    }
    return options->key_log != NULL ? fail("--keylog needs --tls") : 0;
}

static int check_together(const struct command_line *line)
{
    struct options *options = line->options;
    if (line->runs_given && line->duration_given) {
        return fail("--runs and --duration exclude each other");
    }
    if (check_role(line) < 0 || check_transport(line) < 0 || check_tls(options) < 0) {
        return -1;
    }
    if (line->polls && !line->wait_given) {
        options->longest_wait = 0;
    }
    if (options->role == ROLE_RECEIVER) {
        options->window = LARGEST_WINDOW; /* so that it is never the limit */
    }
    return resolve_addresses(line);
}

static void set_defaults(struct options *options)
{
    *options = (struct options){
        .processes = 1,
        .listen = true,
        .ports = 1,
        .window = 100,
        .runs = 10000,
        .longest_wait = VD_TIME_NEVER,
        .impairment.seed = 1,
        .gate_cores = 2,
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
    struct command_line line = {.options = options, .base_port = DEFAULT_BASE_PORT};
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

struct vd_addr options_port(const struct vd_addr *first, uint32_t index)
{
    struct vd_addr address = *first;
    address.port = (uint16_t)(first->port + index);
    return address;
}

bool options_are_impaired(const struct options *options)
{
    const struct impairment *impairment = &options->impairment;
    return impairment->loss > 0 || impairment->duplicate > 0 || impairment->reorder > 0 ||
           impairment->delay > 0;
}

unsigned options_pairs(const struct options *options)
{
    return options->method == METHOD_INVITE ? 2 : 1;
}
