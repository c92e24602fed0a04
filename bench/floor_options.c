/* floor_options.c - the floor's command line.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "floor.h"

#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_WINDOW = 1000000,
    LARGEST_DATAGRAM = 65507, /* 65535 less the IPv4 and UDP headers */
    CALL_MESSAGES = FLOOR_BYE_200 - FLOOR_INVITE + 1,
};

enum option_code {
    OPTION_UDP = 1,
    OPTION_TCP,
    OPTION_TLS,
    OPTION_PORTS,
    OPTION_RUNS,
    OPTION_WINDOW,
    OPTION_INVITE,
    OPTION_BIND,
    OPTION_IPV6,
    OPTION_BASE_PORT,
    OPTION_DURATION,
    OPTION_WARMUP,
    OPTION_THREADS,
    OPTION_SELECTOR,
    OPTION_REQUEST_BYTES,
    OPTION_RESPONSE_BYTES,
    OPTION_SIZES,
    OPTION_JSON,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option OPTIONS[] = {
    {"udp", no_argument, NULL, OPTION_UDP},
    {"tcp", no_argument, NULL, OPTION_TCP},
    {"tls", no_argument, NULL, OPTION_TLS},
    {"ports", required_argument, NULL, OPTION_PORTS},
    {"runs", required_argument, NULL, OPTION_RUNS},
    {"window", required_argument, NULL, OPTION_WINDOW},
    {"invite", no_argument, NULL, OPTION_INVITE},
    {"bind", required_argument, NULL, OPTION_BIND},
    {"ipv6", no_argument, NULL, OPTION_IPV6},
    {"base-port", required_argument, NULL, OPTION_BASE_PORT},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"warmup", required_argument, NULL, OPTION_WARMUP},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"selector", required_argument, NULL, OPTION_SELECTOR},
    {"request-bytes", required_argument, NULL, OPTION_REQUEST_BYTES},
    {"response-bytes", required_argument, NULL, OPTION_RESPONSE_BYTES},
    {"sizes", required_argument, NULL, OPTION_SIZES},
    {"json", required_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

/* What is known of the command line beside the options themselves. */
struct command_line {
    struct floor_options *options;
    int family;
    bool runs_given;
    bool duration_given;
    bool register_bytes_given;
    bool call_bytes_given;
    uint32_t base_port;
};

/* The lengths of testStack's messages on ports of five digits of 127.0.0.1: a UDP Via has an empty
 * rport as well, TCP makes URIs longer, and TLS as much. */
static const uint32_t UDP_BYTES[FLOOR_KIND_COUNT] = {415, 377, 688, 377, 670, 347, 347, 320};
static const uint32_t TCP_BYTES[FLOOR_KIND_COUNT] = {443, 391, 716, 391, 684, 361, 361, 320};

static const char HELP[] =
    "Usage: floor [OPTION]...\n"
    "Moves the bytes of SIP exchanges over sockets with no SIP in them: the rate that a SIP\n"
    "program with the same sockets, batches and threads could reach if SIP cost nothing.\n"
    "\n"
    "      --udp               over UDP (default)\n"
    "      --tcp               over TCP: a connection for each pair of ports\n"
    "      --tls               over TLS, the same with records; no certificate is verified\n"
    "      --ports N           ports a side, 1 to 32767 (default 1)\n"
    "      --runs N            exchanges to make (default 10000)\n"
    "      --duration S        make exchanges for S seconds instead of --runs\n"
    "      --warmup S          first make exchanges for S seconds that do not count\n"
    "      --window N          exchanges outstanding at a time, 1 to 1000000 (default 100)\n"
    "      --invite            an exchange is a call (INVITE, 180, 200, ACK, BYE, 200), which\n"
    "                          counts as two pairs, instead of a REGISTER and its 200\n"
    "      --threads MODE      event: a loop and a thread a side (default); common: one for\n"
    "                          both; process: a process a side, or several when a process may\n"
    "                          not open enough files\n"
    "      --selector NAME     epoll (default), or io_uring, which is for UDP\n"
    "      --bind ADDR         address of both sides (default 127.0.0.1, or ::1 with --ipv6)\n"
    "      --ipv6              over IPv6\n"
    "      --base-port P       the sender's ports from P up, then the receiver's (default 11000)\n"
    "      --request-bytes N   payload of a REGISTER, 12 to 65507 (default 415; TCP 443)\n"
    "      --response-bytes N  payload of its 200, 12 to 65507 (default 377; TCP 391)\n"
    "      --sizes A,B,C,D,E,F payloads of the six messages of a call, in their order\n"
    "                          (default 688,377,670,347,347,320; TCP\n"
    "                          716,391,684,361,361,320)\n"
    "      --json FILE         write the figures to FILE as JSON; - is stdout\n"
    "      --help              print this and end\n"
    "      --version           print the version and end\n"
    "\n"
    "The exit status is 0 when every exchange was completed, 1 when one was not or the run could\n"
    "not be made, 2 when the command line is wrong, 77 when the system has or allows no\n"
    "io_uring.\n";

/* Counts changes that make the figures of two versions differ. */
static const char VERSION[] = "floor 2\n";

int floor_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fputs("floor: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
    return -1;
}

static int parse_count(uint64_t *value, const char *name, const char *text, uint64_t least,
                       uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || parsed < least ||
        parsed > most) {
        return floor_fail("--%s: '%s' is not a number from %llu to %llu", name, text,
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

static int parse_seconds(int64_t *nanoseconds, const char *name, const char *text, double least)
{
    static const double DAY = 86400;
    char *end;
    double seconds = strtod(text, &end);
    if (text[0] < '.' || text[0] > '9' || *end != '\0' || !(seconds >= least && seconds <= DAY)) {
        return floor_fail("--%s: '%s' is not a time from %g to %g seconds", name, text, least, DAY);
    }
    *nanoseconds = (int64_t)(seconds * 1e9);
    return 0;
}

static int parse_bytes(uint32_t *bytes, const char *name, const char *text)
{
    return parse_count32(bytes, name, text, sizeof(struct floor_header), LARGEST_DATAGRAM);
}

static int parse_sizes(uint32_t *bytes, const char *name, const char *text)
{
    char one[16];
    for (int i = 0; i < CALL_MESSAGES; i++) {
        size_t length = strcspn(text, ",");
        bool last = i == CALL_MESSAGES - 1;
        if (length >= sizeof one || (text[length] == '\0') != last) {
            return floor_fail("--%s: six sizes with commas between them are needed", name);
        }
        memcpy(one, text, length);
        one[length] = '\0';
        if (parse_bytes(&bytes[FLOOR_INVITE + i], name, one) < 0) {
            return -1;
        }
        text += length + 1;
    }
    return 0;
}

static int parse_threads(enum floor_threads *threads, const char *name, const char *text)
{
    if (strcmp(text, "event") == 0) {
        *threads = FLOOR_EVENT;
    } else if (strcmp(text, "common") == 0) {
        *threads = FLOOR_COMMON;
    } else if (strcmp(text, "process") == 0) {
        *threads = FLOOR_PROCESS;
    } else {
        return floor_fail("--%s: '%s' is none of event, common, process", name, text);
    }
    return 0;
}

static int parse_selector(bool *uring, const char *name, const char *text)
{
    *uring = strcmp(text, "io_uring") == 0;
    return *uring || strcmp(text, "epoll") == 0
               ? 0
               : floor_fail("--%s: '%s' is none of epoll, io_uring", name, text);
}

static int resolve_bind(struct floor_options *options, int family)
{
    struct addrinfo hints = {
        .ai_family = family, .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found;
    if (options->bind_text == NULL) {
        options->bind_text = family == AF_INET6 ? "::1" : "127.0.0.1";
    }
    if (getaddrinfo(options->bind_text, NULL, &hints, &found) != 0) {
        return floor_fail("--bind: '%s' is not an %s address", options->bind_text,
                          family == AF_INET6 ? "IPv6" : "IPv4");
    }
    options->bind.length = found->ai_addrlen;
    memcpy(&options->bind.any, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return 0;
}

static int check_together(const struct command_line *line)
{
    struct floor_options *options = line->options;
    if (line->runs_given && line->duration_given) {
        return floor_fail("--runs and --duration exclude each other");
    }
    if (line->register_bytes_given && options->invite) {
        return floor_fail("--request-bytes and --response-bytes are for a REGISTER; "
                          "with --invite there is --sizes");
    }
    if (line->call_bytes_given && !options->invite) {
        return floor_fail("--sizes needs --invite");
    }
    if (options->uring && options->tcp) {
        return floor_fail("--selector io_uring is for UDP");
    }
    uint32_t last_port = line->base_port + 2 * options->ports - 1;
    if (last_port > UINT16_MAX) {
        return floor_fail("ports %u to %u go past 65535", line->base_port, last_port);
    }
    options->sender_port = line->base_port;
    options->receiver_port = line->base_port + options->ports;
    for (size_t i = 0; i < FLOOR_KIND_COUNT; i++) {
        if (options->bytes[i] == 0) {
            options->bytes[i] = options->tcp ? TCP_BYTES[i] : UDP_BYTES[i];
        }
    }
    return 0;
}

/* name is the option's, for the message when optarg is wrong. */
static int parse_option(struct command_line *line, enum option_code option, const char *name)
{
    struct floor_options *options = line->options;
    switch (option) {
    case OPTION_UDP:
    case OPTION_TCP:
    case OPTION_TLS:
        options->tcp = option != OPTION_UDP;
        options->tls = option == OPTION_TLS;
        return 0;
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
        options->bind_text = optarg;
        return 0;
    case OPTION_IPV6:
        line->family = AF_INET6;
        return 0;
    case OPTION_BASE_PORT:
        return parse_count32(&line->base_port, name, optarg, 1, UINT16_MAX);
    case OPTION_DURATION:
        line->duration_given = true;
        return parse_seconds(&options->duration, name, optarg, 0.001);
    case OPTION_WARMUP:
        return parse_seconds(&options->warmup, name, optarg, 0);
    case OPTION_THREADS:
        return parse_threads(&options->threads, name, optarg);
    case OPTION_SELECTOR:
        return parse_selector(&options->uring, name, optarg);
    case OPTION_REQUEST_BYTES:
        line->register_bytes_given = true;
        return parse_bytes(&options->bytes[FLOOR_REGISTER], name, optarg);
    case OPTION_RESPONSE_BYTES:
        line->register_bytes_given = true;
        return parse_bytes(&options->bytes[FLOOR_REGISTER_200], name, optarg);
    case OPTION_SIZES:
        line->call_bytes_given = true;
        return parse_sizes(options->bytes, name, optarg);
    case OPTION_JSON:
        options->json = optarg;
        return 0;
    default:
        return 0;
    }
}

static void set_defaults(struct floor_options *options)
{
    *options = (struct floor_options){
        .processes = 1,
        .ports = 1,
        .window = 100,
        .runs = 10000,
    };
}

enum floor_command floor_options_parse(struct floor_options *options, int argc, char **argv)
{
    struct command_line line = {.options = options, .family = AF_INET, .base_port = 11000};
    int option;
    int index = 0;
    set_defaults(options);
    while ((option = getopt_long(argc, argv, "", OPTIONS, &index)) != -1) {
        if (option == OPTION_HELP || option == OPTION_VERSION) {
            fputs(option == OPTION_HELP ? HELP : VERSION, stdout);
            return FLOOR_QUIT;
        }
        if (option == '?' ||
            parse_option(&line, (enum option_code)option, OPTIONS[index].name) < 0) {
            return FLOOR_USAGE;
        }
    }
    if (optind < argc) {
        floor_fail("'%s' is not an option", argv[optind]);
        return FLOOR_USAGE;
    }
    if (check_together(&line) < 0 || resolve_bind(options, line.family) < 0) {
        return FLOOR_USAGE;
    }
    return FLOOR_RUN;
}
