/* test_report.c - the summary, JSON and CSV.
 *
 * Covered: the whole text of each for a known result; what is null or empty when it is not known;
 * one side alone, sides with processes of their own, impairments, TCP; that CSV has a column for
 * each value of the JSON; the forms of the last line; a result of nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "report.h"

#include "run_suite.h"

#include <stdlib.h>
#include <string.h>

static struct result result;
static struct options options;
static char printed[8192];

typedef void (*report_fn)(FILE *file, const struct options *options, const struct result *result);

static const char *print(report_fn report)
{
    memset(printed, 0, sizeof printed);
    FILE *file = fmemopen(printed, sizeof printed - 1, "w");
    report(file, &options, &result);
    fclose(file);
    return printed;
}

static void use_registrations(void)
{
    memset(&result, 0, sizeof result);
    options = (struct options){.ports = 3, .window = 100, .processes = 1, .listen = true};
    result.exchanges = 50000;
    result.pairs = 50000;
    result.began = 1000000000;
    result.ended = 1402000000;
    result.cpu = 500000000;
    result.retransmissions = 4;
    result.timeouts = 1;
    result.failures = 2;
    result.sender.known = result.receiver.known = true;
    result.sender.rss = result.receiver.rss = -1;
    result.sender.cpu = 200000000;
    result.sender.engine_bytes = 1000;
    result.receiver.cpu = 300000000;
    result.receiver.engine_bytes = 2000;
    for (uint64_t value = 1; value <= 200; value++) {
        latency_add(&result.latency, value);
    }
}

static void use_calls(void)
{
    use_registrations();
    options.method = METHOD_INVITE;
    options.threads = THREADS_COMMON;
    result.pairs = 100000;
    result.sender.cpu = -1;
    result.receiver.cpu = -1;
}

static void json_has_every_figure_under_its_key(void)
{
    use_registrations();
    CU_ASSERT_STRING_EQUAL(
        print(report_json),
        "{\"transport\": \"udp\", \"ports\": 3, \"role\": \"both\", \"threads\": \"event\", "
        "\"selector\": \"epoll\", "
        "\"workers\": 1, \"listen\": true, \"window\": 100, \"method\": \"REGISTER\", \"loss\": "
        "0.0000, \"dup\": 0.0000, \"reorder\": 0.0000, \"delay_ms\": 0, \"seed\": null, \"pairs\": "
        "50000, "
        "\"elapsed_ms\": 402.000, \"pairs_per_s\": 124378, \"latency_us\": {\"p50\": 100, "
        "\"p90\": 180, \"p99\": 198, \"p999\": 200, \"max\": 200}, \"retransmissions\": 4, "
        "\"timeouts\": 1, \"failures\": 2, \"cpu_us_per_pair\": 10.000, \"sender\": {\"cpu_s\": "
        "0.200000, \"rss_kib\": null, \"engine_bytes\": 1000}, \"receiver\": {\"cpu_s\": 0.300000, "
        "\"rss_kib\": null, \"engine_bytes\": 2000}}\n");
}

static void cpu_of_a_side_is_null_when_both_share_a_loop(void)
{
    use_calls();
    const char *text = print(report_json);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"threads\": \"common\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"method\": \"INVITE\", \"loss\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"sender\": {\"cpu_s\": null"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"receiver\": {\"cpu_s\": null"));
}

static void memory_is_told_of_sides_that_have_processes_of_their_own(void)
{
    use_registrations();
    options.threads = THREADS_PROCESS;
    options.processes = 2;
    result.sender.rss = 3000;
    result.receiver.rss = 4000;
    const char *text = print(report_json);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"threads\": \"process\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"workers\": 2"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"rss_kib\": 3000, \"engine_bytes\": 1000"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"rss_kib\": 4000, \"engine_bytes\": 2000"));
    CU_ASSERT_PTR_NOT_NULL(strstr(print(report_summary), "sender: 3000 KiB of memory at most"));
}

static void use_one_side(enum role role)
{
    use_registrations();
    options.role = role;
    struct side_result *absent = role == ROLE_SENDER ? &result.receiver : &result.sender;
    *absent = (struct side_result){.cpu = -1, .rss = -1};
}

static void side_that_runs_elsewhere_is_null(void)
{
    use_one_side(ROLE_SENDER);
    const char *text = print(report_json);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"role\": \"sender\""));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "\"receiver\": {\"cpu_s\": null, \"rss_kib\": null, \"engine_bytes\": null}"));
    options.verbose = 1;
    CU_ASSERT_PTR_NULL(strstr(print(report_summary), "receiver: "));
}

static void receiver_alone_says_nothing_of_what_its_peer_chose(void)
{
    use_one_side(ROLE_RECEIVER);
    latency_reset(&result.latency);
    const char *text = print(report_json);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"listen\": null, \"window\": null, \"method\": null,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"failures\": null"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"pairs\": 50000"));
    text = print(report_summary);
    CU_ASSERT_PTR_NULL(strstr(text, "latency"));
    CU_ASSERT_PTR_NULL(strstr(text, "failures"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "50000 requests answered in 402 ms, a rate of 124378 "
                                        "transaction pairs per second.\n"));
}

static void impairment_is_reported(void)
{
    use_registrations();
    options.impairment = (struct impairment){
        .loss = 0.1, .duplicate = 0.05, .reorder = 0.025, .delay = 7000, .seed = 99};
    options.verbose = 1;
    result.sender.counters.lost = 11;
    CU_ASSERT_PTR_NOT_NULL(strstr(print(report_json),
                                  "\"loss\": 0.1000, \"dup\": 0.0500, \"reorder\": 0.0250, "
                                  "\"delay_ms\": 7, \"seed\": 99"));
    CU_ASSERT_PTR_NOT_NULL(strstr(print(report_summary), "sender: datagrams lost 11"));
}

static void limits_of_tcp_are_among_the_counters(void)
{
    use_registrations();
    options.transport = VD_TRANSPORT_TCP;
    options.verbose = 1;
    result.receiver.counters.tcp.accepted = 12;
    result.receiver.counters.tcp.evicted = 34;
    const char *text = print(report_summary);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "receiver: connections accepted 12"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "evicted 34"));
    CU_ASSERT_PTR_NULL(strstr(text, "datagrams"));
    CU_ASSERT_PTR_NOT_NULL(strstr(print(report_json), "\"transport\": \"tcp\""));
}

static void latency_is_null_when_no_transaction_was_completed(void)
{
    use_registrations();
    latency_reset(&result.latency);
    result.pairs = 0;
    const char *text = print(report_json);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "{\"p50\": null, \"p90\": null, \"p99\": null, "
                                        "\"p999\": null, \"max\": null}"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"cpu_us_per_pair\": null"));
}

static void csv_is_a_header_line_and_one_row(void)
{
    use_registrations();
    CU_ASSERT_STRING_EQUAL(
        print(report_csv),
        "transport,ports,role,threads,selector,workers,listen,window,method,loss,dup,reorder,delay_"
        "ms,seed,"
        "pairs,elapsed_ms,pairs_per_s,"
        "latency_us_p50,latency_us_p90,latency_us_p99,latency_us_p999,latency_us_max,"
        "retransmissions,timeouts,failures,cpu_us_per_pair,sender_cpu_s,sender_rss_kib,"
        "sender_engine_bytes,receiver_cpu_s,receiver_rss_kib,receiver_engine_bytes\n"
        "udp,3,both,event,epoll,1,true,100,REGISTER,0.0000,0.0000,0.0000,0,,50000,402.000,124378,"
        "100,180,198,200,200,4,1,2,10.000,"
        "0.200000,,1000,0.300000,,2000\n");
}

static unsigned count(const char *text, char wanted)
{
    unsigned found = 0;
    for (; *text != '\0'; text++) {
        found += *text == wanted;
    }
    return found;
}

static void csv_has_a_column_for_each_value_of_json(void)
{
    use_calls();
    unsigned commas = count(print(report_json), ',');
    const char *csv = print(report_csv);
    CU_ASSERT_EQUAL(count(csv, ','), 2 * commas);
    CU_ASSERT_EQUAL(count(csv, '\n'), 2);
}

static const char *last_line(const char *text)
{
    const char *line = text;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\n' && p[1] != '\0') {
            line = p + 1;
        }
    }
    return line;
}

static void last_line_is_the_rate(void)
{
    use_registrations();
    CU_ASSERT_STRING_EQUAL(last_line(print(report_summary)),
                           "50000 registrations performed in 402 ms, a rate of 124378 transaction "
                           "pairs per second.\n");
    use_calls();
    CU_ASSERT_STRING_EQUAL(last_line(print(report_summary)),
                           "50000 calls performed in 402 ms, a rate of 124378 calls per second.\n");
}

static void summary_has_latency_and_troubles_and_cpu(void)
{
    use_registrations();
    const char *text = print(report_summary);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "latency p50 100 us, p90 180 us, p99 198 us, p99.9 200 us, max 200 us\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "retransmissions 4, timeouts 1, failures 2\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "CPU 10.000 us a pair (sender 4.000, receiver 6.000)\n"));
    CU_ASSERT_PTR_NULL(strstr(text, "turns"));
}

static void verbose_summary_has_the_counters_first(void)
{
    use_registrations();
    options.verbose = 1;
    result.sender.counters.loop.turns = 77;
    result.receiver.counters.stack.request_retransmissions = 88;
    const char *text = print(report_summary);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "sender: 77 turns"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "and again 88"));
    CU_ASSERT_PTR_NOT_NULL(strstr(last_line(text), "registrations performed"));
    use_calls();
    options.verbose = 1;
    CU_ASSERT_PTR_NOT_NULL(strstr(print(report_summary), "both: 0 turns"));
}

static void nothing_done_is_reported_without_a_division(void)
{
    memset(&result, 0, sizeof result);
    options = (struct options){.ports = 1, .window = 1, .processes = 1};
    CU_ASSERT_STRING_EQUAL(last_line(print(report_summary)),
                           "0 registrations performed in 0 ms, a rate of 0 transaction pairs per "
                           "second.\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(print(report_json), "\"pairs_per_s\": 0,"));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"json_has_every_figure_under_its_key", json_has_every_figure_under_its_key},
        {"cpu_of_a_side_is_null_when_both_share_a_loop",
         cpu_of_a_side_is_null_when_both_share_a_loop},
        {"memory_is_told_of_sides_that_have_processes_of_their_own",
         memory_is_told_of_sides_that_have_processes_of_their_own},
        {"side_that_runs_elsewhere_is_null", side_that_runs_elsewhere_is_null},
        {"receiver_alone_says_nothing_of_what_its_peer_chose",
         receiver_alone_says_nothing_of_what_its_peer_chose},
        {"impairment_is_reported", impairment_is_reported},
        {"limits_of_tcp_are_among_the_counters", limits_of_tcp_are_among_the_counters},
        {"latency_is_null_when_no_transaction_was_completed",
         latency_is_null_when_no_transaction_was_completed},
        {"csv_is_a_header_line_and_one_row", csv_is_a_header_line_and_one_row},
        {"csv_has_a_column_for_each_value_of_json", csv_has_a_column_for_each_value_of_json},
        {"last_line_is_the_rate", last_line_is_the_rate},
        {"summary_has_latency_and_troubles_and_cpu", summary_has_latency_and_troubles_and_cpu},
        {"verbose_summary_has_the_counters_first", verbose_summary_has_the_counters_first},
        {"nothing_done_is_reported_without_a_division",
         nothing_done_is_reported_without_a_division},
        CU_TEST_INFO_NULL,
    };
    return run_suite("report", tests);
}
