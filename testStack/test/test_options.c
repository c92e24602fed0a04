/* test_options.c - the command line.
 *
 * Covered: defaults; each option of ours and each of reSIProcate's, long and short, with what it
 * sets; that the last one of two counts; what is refused, always with one line on stderr that names
 * what is wrong; --help and --version. Not covered: what the options do in a run (test_run.c,
 * test_exchange.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "options.h"

#include "capture.h"
#include "run_suite.h"

#include <stdio.h>
#include <string.h>

enum { ARGUMENTS_MOST = 16 };

/* Splits a line at its spaces, parses it and keeps what was printed to fd. */
static const char *parse(const char *line, int fd, struct options *options,
                         enum options_result *result)
{
    static char words[512];
    char *argv[ARGUMENTS_MOST + 2] = {"testStack"};
    int argc = 1;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL && argc <= ARGUMENTS_MOST;
         word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    capture_begin(fd);
    *result = options_parse(options, argc, argv);
    return capture_end();
}

static bool accepts(const char *line, struct options *options)
{
    enum options_result result;
    const char *printed = parse(line, 2, options, &result);
    if (result != OPTIONS_RUN || printed[0] != '\0') {
        printf("\n    '%s': %s", line, printed);
        return false;
    }
    return true;
}

static void defaults_are_those_that_the_help_states(void)
{
    struct options options;
    char ip[VD_ADDR_TEXT_SIZE];
    CU_ASSERT_FATAL(accepts("", &options));
    vd_addr_format_ip(&options.sender, ip);
    CU_ASSERT_STRING_EQUAL(ip, "127.0.0.1");
    CU_ASSERT_EQUAL(options.sender.port, 11000);
    vd_addr_format_ip(&options.receiver, ip);
    CU_ASSERT_STRING_EQUAL(ip, "127.0.0.1");
    CU_ASSERT_EQUAL(options.receiver.port, 11001);
    CU_ASSERT_EQUAL(options.transport, VD_TRANSPORT_UDP);
    CU_ASSERT_EQUAL(options.role, ROLE_BOTH);
    CU_ASSERT_EQUAL(options.processes, 1);
    CU_ASSERT(options.listen);
    CU_ASSERT_FALSE(options_are_impaired(&options));
    CU_ASSERT_EQUAL(options.impairment.seed, 1);
    CU_ASSERT_EQUAL(options.ports, 1);
    CU_ASSERT_EQUAL(options.runs, 10000);
    CU_ASSERT_EQUAL(options.window, 100);
    CU_ASSERT_EQUAL(options.duration, 0);
    CU_ASSERT_EQUAL(options.warmup, 0);
    CU_ASSERT_EQUAL(options.longest_wait, VD_TIME_NEVER);
    CU_ASSERT_EQUAL(options.verbose, 0);
    CU_ASSERT_EQUAL(options.method, METHOD_REGISTER);
    CU_ASSERT_EQUAL(options.threads, THREADS_EVENT);
    CU_ASSERT_PTR_NULL(options.json);
    CU_ASSERT_PTR_NULL(options.csv);
}

#define OFFSET(member) offsetof(struct options, member), sizeof(((struct options *)0)->member)

static void option_sets_what_it_names(void)
{
    static const struct {
        const char *line;
        size_t offset;
        size_t size;
        uint64_t value;
    } cases[] = {
        {"--ports 3", OFFSET(ports), 3},
        {"--ports=3", OFFSET(ports), 3},
        {"--ports 27267", OFFSET(ports), 27267},
        {"--runs 7", OFFSET(runs), 7},
        {"--runs 4611686018427387903", OFFSET(runs), 4611686018427387903u},
        {"--window 1", OFFSET(window), 1},
        {"--window 1000000", OFFSET(window), 1000000},
        {"--invite", OFFSET(method), METHOD_INVITE},
        {"--base-port 1", OFFSET(sender.port), 1},
        {"--base-port 65534", OFFSET(sender.port), 65534},
        {"--duration 1.5", OFFSET(duration), 1500000},
        {"--duration .25", OFFSET(duration), 250000},
        {"--duration 86400", OFFSET(duration), 86400000000},
        {"--warmup 2", OFFSET(warmup), 2000000},
        {"--warmup 0", OFFSET(warmup), 0},
        {"--threads common", OFFSET(threads), THREADS_COMMON},
        {"--threads event", OFFSET(threads), THREADS_EVENT},
        {"--selector epoll", OFFSET(selector), VD_SELECTOR_EPOLL},
        {"--selector poll", OFFSET(selector), VD_SELECTOR_POLL},
        {"--selector io_uring", OFFSET(selector), VD_SELECTOR_IO_URING},
        {"--udp", OFFSET(transport), VD_TRANSPORT_UDP},
        {"--verbose 3", OFFSET(verbose), 3},
        {"--tcp", OFFSET(transport), VD_TRANSPORT_TCP},
        {"--tcp --no-listen", OFFSET(listen), false},
        {"--tls", OFFSET(transport), VD_TRANSPORT_TLS},
        {"--tls --no-listen", OFFSET(listen), false},
        {"--tls --threads process", OFFSET(transport), VD_TRANSPORT_TLS},
        {"--tls --role receiver --cert a --key b", OFFSET(role), ROLE_RECEIVER},
        {"--tls --role sender --peer 127.0.0.1:7 --ca a --no-listen", OFFSET(listen), false},
        {"--tls --role sender --peer 127.0.0.1:7 --ca a --cert b --key c", OFFSET(listen), true},
        {"--method REGISTER", OFFSET(method), METHOD_REGISTER},
        {"--method OPTIONS", OFFSET(method), METHOD_OPTIONS},
        {"--method INVITE", OFFSET(method), METHOD_INVITE},
        {"--threads process", OFFSET(threads), THREADS_PROCESS},
        {"--base-port 12000 --ports 5", OFFSET(receiver.port), 12005},
        {"--role receiver", OFFSET(role), ROLE_RECEIVER},
        {"--role receiver --ports 3", OFFSET(receiver.port), 11000},
        {"--role receiver --base-port 65535", OFFSET(receiver.port), 65535},
        {"--role receiver", OFFSET(window), 1000000},
        {"--role sender --peer 127.0.0.1:7", OFFSET(role), ROLE_SENDER},
        {"--role sender --peer 127.0.0.1:7", OFFSET(receiver.port), 7},
        {"--role sender --peer 127.0.0.1:7", OFFSET(sender.port), 11000},
        {"--role sender --peer 127.0.0.1:65535", OFFSET(receiver.port), 65535},
        {"--delay 60000", OFFSET(impairment.delay), 60000000},
        {"--loss 1 --seed 0", OFFSET(impairment.seed), 0},
        {"--loss .5 --seed 18446744073709551615", OFFSET(impairment.seed), UINT64_MAX},
        /* reSIProcate's */
        {"--numports 3", OFFSET(ports), 3},
        {"-n 3", OFFSET(ports), 3},
        {"-n3", OFFSET(ports), 3},
        {"--num-runs 7", OFFSET(runs), 7},
        {"-r 7", OFFSET(runs), 7},
        {"--window-size 5", OFFSET(window), 5},
        {"-w 5", OFFSET(window), 5},
        {"-i", OFFSET(method), METHOD_INVITE},
        {"--port 12000", OFFSET(sender.port), 12000},
        {"--port 0", OFFSET(sender.port), 11000},
        {"--protocol udp", OFFSET(transport), VD_TRANSPORT_UDP},
        {"-p udp", OFFSET(transport), VD_TRANSPORT_UDP},
        {"--listen 1", OFFSET(listen), true},
        {"--listen 0 --tcp", OFFSET(listen), false},
        {"--protocol tcp", OFFSET(transport), VD_TRANSPORT_TCP},
        {"--protocol tls", OFFSET(transport), VD_TRANSPORT_TLS},
        {"-p tls --listen 0", OFFSET(listen), false},
        {"--thread-type none", OFFSET(threads), THREADS_COMMON},
        {"--thread-type none", OFFSET(longest_wait), 0},
        {"-t none -s 20", OFFSET(longest_wait), 20000},
        {"-s 20 -t none", OFFSET(longest_wait), 20000},
        {"-t common", OFFSET(threads), THREADS_COMMON},
        {"-t common", OFFSET(longest_wait), VD_TIME_NEVER},
        {"-t std", OFFSET(threads), THREADS_EVENT},
        {"-t std", OFFSET(longest_wait), VD_TIME_NEVER},
        {"-t intr", OFFSET(threads), THREADS_EVENT},
        {"-t event", OFFSET(threads), THREADS_EVENT},
        {"-t epoll", OFFSET(threads), THREADS_EVENT},
        {"-t fdset", OFFSET(threads), THREADS_EVENT},
        {"-t poll", OFFSET(threads), THREADS_EVENT},
        {"--select-time 0", OFFSET(longest_wait), 0},
        {"--select-time 60000", OFFSET(longest_wait), 60000000},
        /* The last one counts. */
        {"--window 5 -w 6", OFFSET(window), 6},
        {"--tcp --udp", OFFSET(transport), VD_TRANSPORT_UDP},
        {"--tls --tcp", OFFSET(transport), VD_TRANSPORT_TCP},
        {"-p tcp --no-listen --listen 1", OFFSET(listen), true},
        {"--invite --method REGISTER", OFFSET(method), METHOD_REGISTER},
        {"--loss 1 --loss 0", OFFSET(threads), THREADS_EVENT},
        {"-t common --threads event", OFFSET(threads), THREADS_EVENT},
        {"-t none --threads common", OFFSET(longest_wait), VD_TIME_NEVER},
        {"--bind 127.0.0.1 -b 127.0.0.2", OFFSET(ports), 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options;
        uint64_t value = 0;
        CU_ASSERT_FATAL(accepts(cases[i].line, &options));
        memcpy(&value, (const char *)&options + cases[i].offset, cases[i].size);
        if (value != cases[i].value) {
            printf("\n    '%s' gives %llu", cases[i].line, (unsigned long long)value);
        }
        CU_ASSERT_EQUAL(value, cases[i].value);
    }
}

static void reports_go_where_they_are_told(void)
{
    struct options options;
    CU_ASSERT_FATAL(accepts("--json - --csv out.csv", &options));
    CU_ASSERT_STRING_EQUAL(options.json, "-");
    CU_ASSERT_STRING_EQUAL(options.csv, "out.csv");
}

static void certificates_are_files(void)
{
    struct options options;
    CU_ASSERT_FATAL(accepts("--tls", &options));
    CU_ASSERT_PTR_NULL(options.certificate);
    CU_ASSERT_PTR_NULL(options.key);
    CU_ASSERT_PTR_NULL(options.authorities);
    CU_ASSERT_PTR_NULL(options.key_log);
    CU_ASSERT_FATAL(accepts("--tls --cert a --key b --ca c --keylog d", &options));
    CU_ASSERT_STRING_EQUAL(options.certificate, "a");
    CU_ASSERT_STRING_EQUAL(options.key, "b");
    CU_ASSERT_STRING_EQUAL(options.authorities, "c");
    CU_ASSERT_STRING_EQUAL(options.key_log, "d");
}

static void certificate_must_name_the_host_of_the_peer(void)
{
    static const struct {
        const char *line;
        const char *host;
    } cases[] = {
        {"--tls --no-listen --ca a --role sender --peer localhost:7", "localhost"},
        {"--tls --no-listen --ca a --role sender --peer 127.0.0.1:7", "127.0.0.1"},
        {"--tls --no-listen --ca a --role sender --ipv6 --bind ::1 --peer [2001:db8::1]:7",
         "[2001:db8::1]"},
        {"--tls", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options;
        static char line[128];
        char *argv[ARGUMENTS_MOST + 2] = {"testStack"};
        int argc = 1;
        /* The words must last as long as the options, which borrow them. */
        snprintf(line, sizeof line, "%s", cases[i].line);
        for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
            argv[argc++] = word;
        }
        CU_ASSERT_EQUAL_FATAL(options_parse(&options, argc, argv), OPTIONS_RUN);
        CU_ASSERT(vd_str_equal(options.peer_host, vd_str_from(cases[i].host)));
    }
}

static void address_is_a_literal_of_the_family(void)
{
    static const struct {
        const char *line;
        const char *address;
    } cases[] = {
        {"--bind 192.0.2.1", "192.0.2.1:11000"},
        {"-b 127.0.0.2", "127.0.0.2:11000"},
        {"--ipv6", "[::1]:11000"},
        {"-6", "[::1]:11000"},
        {"--v6", "[::1]:11000"},
        {"--ipv6 --bind 2001:db8::1", "[2001:db8::1]:11000"},
        {"-b ::1 -6", "[::1]:11000"},
        {"-6 -b [::1]", "[::1]:11000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options;
        char text[VD_ADDR_TEXT_SIZE];
        CU_ASSERT_FATAL(accepts(cases[i].line, &options));
        vd_addr_format(&options.sender, text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].address);
    }
}

static void probabilities_are_taken_as_they_stand(void)
{
    struct options options;
    CU_ASSERT_FATAL(accepts("--loss 0.1 --dup .05 --reorder 1", &options));
    CU_ASSERT_DOUBLE_EQUAL(options.impairment.loss, 0.1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(options.impairment.duplicate, 0.05, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(options.impairment.reorder, 1, 1e-12);
    CU_ASSERT(options_are_impaired(&options));
}

static void peer_is_an_address_or_a_name_with_a_port(void)
{
    static const struct {
        const char *line;
        const char *address;
    } cases[] = {
        {"--role sender --peer 192.0.2.1:5060 --bind 127.0.0.1", "192.0.2.1:5060"},
        {"--role sender --peer localhost:5070", "127.0.0.1:5070"},
        {"--role sender --ipv6 --bind ::1 --peer [2001:db8::1]:5080", "[2001:db8::1]:5080"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options;
        char text[VD_ADDR_TEXT_SIZE];
        CU_ASSERT_FATAL(accepts(cases[i].line, &options));
        vd_addr_format(&options.receiver, text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].address);
    }
}

/* The loopback address leads to itself. */
static void sender_without_bind_takes_the_address_that_leads_to_its_peer(void)
{
    struct options options;
    char text[VD_ADDR_TEXT_SIZE];
    CU_ASSERT_FATAL(accepts("--role sender --peer 127.0.0.1:5060 --base-port 7000", &options));
    vd_addr_format(&options.sender, text);
    CU_ASSERT_STRING_EQUAL(text, "127.0.0.1:7000");
}

static void wrong_line_is_refused_with_one_line_that_says_why(void)
{
    static const struct {
        const char *line;
        const char *says;
    } cases[] = {
        {"--unknown", "--unknown"},
        {"-q", "q"},
        {"word", "'word'"},
        {"--udp word", "'word'"},
        {"--runs", "--runs"},
        {"--invite=1", "--invite"},
        {"--ports 0", "--ports: '0' is not a number from 1 to 32767"},
        {"--ports 32768", "--ports"},
        {"--ports -1", "'-1'"},
        {"--ports 1x", "'1x'"},
        {"--ports 99999999999999999999", "--ports"},
        {"-n 0", "-n: '0'"},
        {"--runs 0", "--runs"},
        {"--window 0", "--window: '0' is not a number from 1 to 1000000"},
        {"--window 1000001", "--window"},
        {"-w +5", "-w: '+5'"},
        {"--base-port 0", "--base-port"},
        {"--base-port 65536", "--base-port"},
        {"--base-port 65535", "ports 65535 to 65536 go past 65535"},
        {"--base-port 65534 --ports 2", "ports 65534 to 65537 go past 65535"},
        {"--ports 32767", "ports 11000 to 76533 go past 65535"},
        {"--port 65536", "--port"},
        {"--duration 0", "--duration"},
        {"--duration 1e9", "--duration"},
        {"--duration nan", "--duration"},
        {"--duration -1", "--duration"},
        {"--duration .", "--duration"},
        {"--duration 86401", "--duration"},
        {"--warmup x", "--warmup"},
        {"--runs 5 --duration 1", "--runs and --duration exclude each other"},
        {"--threads none", "--threads: 'none' is none of event, common, process"},
        {"--threads split", "--threads: 'split' is none of"},
        {"--threads sharded", "--threads: 'sharded' is none of"},
        {"--keylog keys", "--keylog needs --tls"},
        {"--tcp --keylog keys", "--keylog needs --tls"},
        {"--tls --udp --keylog keys", "--keylog needs --tls"},
        {"--tcp --ca a --cert b --key c", "--cert, --key and --ca need --tls"},
        {"--ca a", "--cert, --key and --ca need --tls"},
        {"--tls --cert a", "--cert and --key need each other"},
        {"--tls --key a --ca b", "--cert and --key need each other"},
        {"--tls --ca a", "--cert, --key and --ca go together"},
        {"--tls --cert a --key b", "--cert, --key and --ca go together"},
        {"--tls --keylog", "--keylog"},
        {"--tls --loss 0.1", "they need --udp"},
        {"--tls --role receiver", "needs --cert and --key: a throw-away certificate cannot be"},
        {"--tls --role receiver --ca a", "needs --cert and --key"},
        {"--tls --role sender --peer 127.0.0.1:7", "needs --ca: a throw-away certificate cannot"},
        {"--tls --role sender --peer 127.0.0.1:7 --ca a", "--cert and --key, or --no-listen"},
        {"--sweep", "--sweep"},
        {"--method BYE", "--method: 'BYE' is none of"},
        {"--role both", "--role: 'both' is neither sender nor receiver"},
        {"--role sender", "--role sender needs --peer"},
        {"--peer 127.0.0.1:5060", "--peer needs --role sender"},
        {"--role sender --peer 127.0.0.1", "'127.0.0.1' is not HOST:PORT"},
        {"--role sender --peer :5060", "':5060' is not HOST:PORT"},
        {"--role sender --peer ::1:5060 --ipv6", "'::1:5060' is not HOST:PORT"},
        {"--role sender --peer 127.0.0.1:0", "--peer: '0'"},
        {"--role sender --peer 127.0.0.1:65536", "--peer: '65536'"},
        {"--role sender --peer 0.0.0.0:5060", "'0.0.0.0:5060' is no address"},
        {"--role sender --peer 127.0.0.1:5060 --ipv6", "no IPv6 address for '127.0.0.1'"},
        {"--role sender --peer 127.0.0.1:65535 --ports 2", "ports 65535 to 65536 go past"},
        {"--role sender --peer 127.0.0.1:5060 --threads common", "--threads common"},
        {"--role receiver --peer 127.0.0.1:5060", "--peer is not for a receiver"},
        {"--role receiver --runs 5", "--runs is not for a receiver"},
        {"--role receiver --duration 5", "--duration is not for a receiver"},
        {"--role receiver --warmup 5", "--warmup is not for a receiver"},
        {"--role receiver --window 5", "--window is not for a receiver"},
        {"--role receiver --invite", "--invite is not for a receiver"},
        {"--role receiver --method OPTIONS", "--method is not for a receiver"},
        {"--role receiver --tcp --no-listen", "a receiver must listen"},
        {"--no-listen", "--no-listen"},
        {"--loss 1.1", "--loss: '1.1' is not a number from 0 to 1"},
        {"--loss -0.1", "--loss"},
        {"--dup x", "--dup"},
        {"--reorder nan", "--reorder"},
        {"--delay 60001", "--delay"},
        {"--seed x --loss 0.1", "--seed"},
        {"--seed 5", "--seed needs one of"},
        {"--tcp --loss 0.1", "they need --udp"},
        {"--dup 0.1 -p tcp", "they need --udp"},
        {"--tcp --reorder 0.1", "they need --udp"},
        {"--tcp --delay 1", "they need --udp"},
        {"--selector select", "--selector: 'select' is none of epoll, poll, io_uring"},
        {"--bind host.example.com", "'host.example.com' is not an IPv4 address"},
        {"--bind ::1", "'::1' is not an IPv4 address"},
        {"--bind 127.0.0.1 --ipv6", "'127.0.0.1' is not an IPv6 address"},
        {"--bind 0.0.0.0", "'0.0.0.0' is every address"},
        {"--bind :: --ipv6", "'::' is every address"},
        {"--verbose 4", "--verbose"},
        /* reSIProcate's that are not possible here */
        {"--protocol sctp", "--protocol: 'sctp' is not supported, only udp, tcp and tls are"},
        {"-p dtls", "-p: 'dtls' is not supported"},
        {"-t multithreadedstack", "multithreadedstack is not supported"},
        {"-t kqueue", "-t: 'kqueue'"},
        {"--select-time 60001", "--select-time"},
        {"--listen 0", "(--listen 0) is not possible over UDP"},
        {"--listen 2", "--listen"},
        {"-l cout", "-l is not supported"},
        {"--log-type cout", "--log-type is not supported"},
        {"-v INFO", "-v is not supported"},
        {"--log-level INFO", "--log-level is not supported"},
        {"--tf 1", "--tf is not supported"},
        {"--sleep 1", "--sleep is not supported"},
        {"--use-congestion-manager", "--use-congestion-manager is not supported"},
        {"--statistics-interval 1", "--statistics-interval is not supported"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options;
        enum options_result result;
        const char *printed = parse(cases[i].line, 2, &options, &result);
        bool as_expected = result == OPTIONS_USAGE && capture_lines(printed) == 1 &&
                           strstr(printed, cases[i].says) != NULL &&
                           strncmp(printed, "testStack: ", 11) == 0;
        if (!as_expected) {
            printf("\n    '%s': %s", cases[i].line, printed);
        }
        CU_ASSERT(as_expected);
    }
}

static void help_and_version_are_answered_on_stdout(void)
{
    struct options options;
    enum options_result result;
    const char *printed = parse("--help", 1, &options, &result);
    CU_ASSERT_EQUAL(result, OPTIONS_QUIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(printed, "Usage: testStack"));
    printed = parse("--version --runs 0", 1, &options, &result);
    CU_ASSERT_EQUAL(result, OPTIONS_QUIT);
    CU_ASSERT_STRING_EQUAL(printed, "testStack (Viaduct) " VD_VERSION "\n");
}

static void help_fits_a_terminal(void)
{
    struct options options;
    enum options_result result;
    const char *line = parse("--help", 1, &options, &result);
    while (*line != '\0') {
        size_t length = strcspn(line, "\n");
        CU_ASSERT(length < 96);
        line += length + (line[length] == '\n');
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"defaults_are_those_that_the_help_states", defaults_are_those_that_the_help_states},
        {"option_sets_what_it_names", option_sets_what_it_names},
        {"reports_go_where_they_are_told", reports_go_where_they_are_told},
        {"certificates_are_files", certificates_are_files},
        {"certificate_must_name_the_host_of_the_peer", certificate_must_name_the_host_of_the_peer},
        {"address_is_a_literal_of_the_family", address_is_a_literal_of_the_family},
        {"probabilities_are_taken_as_they_stand", probabilities_are_taken_as_they_stand},
        {"peer_is_an_address_or_a_name_with_a_port", peer_is_an_address_or_a_name_with_a_port},
        {"sender_without_bind_takes_the_address_that_leads_to_its_peer",
         sender_without_bind_takes_the_address_that_leads_to_its_peer},
        {"wrong_line_is_refused_with_one_line_that_says_why",
         wrong_line_is_refused_with_one_line_that_says_why},
        {"help_and_version_are_answered_on_stdout", help_and_version_are_answered_on_stdout},
        {"help_fits_a_terminal", help_fits_a_terminal},
        CU_TEST_INFO_NULL,
    };
    return run_suite("options", tests);
}
