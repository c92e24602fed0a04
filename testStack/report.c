/* report.c - prints a result: for people, as JSON, as CSV.
 *
 * JSON and CSV are two spellings of one table of fields, so that they cannot differ in what they
 * say.
 *
 * SPDX-License-Identifier: MIT
 */
#include "report.h"

#include "selector.h"

#include <inttypes.h>
#include <string.h>

/* ---- Figures ---- */

static double rate(uint64_t count, const struct result *result)
{
    int64_t elapsed = result_elapsed(result);
    return elapsed > 0 ? (double)count * 1e9 / (double)elapsed : 0;
}

static double cpu_us_per_pair(int64_t cpu, const struct result *result)
{
    return result->pairs > 0 ? (double)cpu / 1e3 / (double)result->pairs : 0;
}

/* ---- JSON and CSV ---- */

enum field_kind {
    FIELD_TEXT,
    FIELD_COUNT,
    FIELD_NUMBER,
    FIELD_FLAG,
    FIELD_UNKNOWN,
};

/* A field: group is the object that it lies in, NULL for the outermost. */
struct field {
    const char *group;
    const char *name;
    enum field_kind kind;
    union {
        const char *text;
        uint64_t count;
        double number;
        bool flag;
    } value;
    int decimals; /* of a number */
};

enum { FIELDS_MOST = 48 };

struct fields {
    struct field items[FIELDS_MOST];
    size_t count;
    const char *group; /* of the fields that are added next */
};

static struct field *add(struct fields *fields, const char *name, enum field_kind kind)
{
    struct field *field = &fields->items[fields->count++];
    *field = (struct field){.group = fields->group, .name = name, .kind = kind};
    return field;
}

static void add_text(struct fields *fields, const char *name, const char *text)
{
    add(fields, name, FIELD_TEXT)->value.text = text;
}

static void add_count(struct fields *fields, const char *name, uint64_t count)
{
    add(fields, name, FIELD_COUNT)->value.count = count;
}

static void add_number(struct fields *fields, const char *name, double number, int decimals)
{
    struct field *field = add(fields, name, FIELD_NUMBER);
    field->value.number = number;
    field->decimals = decimals;
}

static void add_unknown(struct fields *fields, const char *name)
{
    add(fields, name, FIELD_UNKNOWN);
}

static void add_percentile(struct fields *fields, const char *name, const struct latency *latency,
                           uint32_t part)
{
    if (latency->count == 0) {
        add_unknown(fields, name);
    } else {
        add_count(fields, name, latency_percentile(latency, part, 1000));
    }
}

static void add_flag(struct fields *fields, const char *name, bool flag)
{
    add(fields, name, FIELD_FLAG)->value.flag = flag;
}

static void add_side(struct fields *fields, const char *group, const struct side_result *side)
{
    fields->group = group;
    if (side->cpu < 0) {
        add_unknown(fields, "cpu_s");
    } else {
        add_number(fields, "cpu_s", (double)side->cpu / 1e9, 6);
    }
    if (side->rss < 0) {
        add_unknown(fields, "rss_kib");
    } else {
        add_count(fields, "rss_kib", (uint64_t)side->rss);
    }
    if (side->known) {
        add_count(fields, "engine_bytes", side->engine_bytes);
    } else {
        add_unknown(fields, "engine_bytes");
    }
    fields->group = NULL;
}

/* What a receiver alone does not know is its sender's. */
static void add_exchange(struct fields *fields, const struct options *options)
{
    static const char *const METHODS[] = {
        [METHOD_REGISTER] = "REGISTER",
        [METHOD_OPTIONS] = "OPTIONS",
        [METHOD_INVITE] = "INVITE",
    };
    if (options->role == ROLE_RECEIVER) {
        add_unknown(fields, "listen");
        add_unknown(fields, "window");
        add_unknown(fields, "method");
    } else {
        add_flag(fields, "listen", options->listen);
        add_count(fields, "window", options->window);
        add_text(fields, "method", METHODS[options->method]);
    }
}

static void add_impairment(struct fields *fields, const struct options *options)
{
    const struct impairment *impairment = &options->impairment;
    add_number(fields, "loss", impairment->loss, 4);
    add_number(fields, "dup", impairment->duplicate, 4);
    add_number(fields, "reorder", impairment->reorder, 4);
    add_count(fields, "delay_ms", impairment->delay / VD_MSEC);
    if (options_are_impaired(options)) {
        add_count(fields, "seed", impairment->seed);
    } else {
        add_unknown(fields, "seed");
    }
}

static void add_setting(struct fields *fields, const struct options *options)
{
    static const char *const TRANSPORTS[] = {
        [VD_TRANSPORT_UDP] = "udp",
        [VD_TRANSPORT_TCP] = "tcp",
        [VD_TRANSPORT_TLS] = "tls",
    };
    static const char *const ROLES[] = {
        [ROLE_BOTH] = "both",
        [ROLE_SENDER] = "sender",
        [ROLE_RECEIVER] = "receiver",
    };
    static const char *const THREADS[] = {
        [THREADS_EVENT] = "event",
        [THREADS_COMMON] = "common",
        [THREADS_PROCESS] = "process",
    };
    add_text(fields, "transport", TRANSPORTS[options->transport]);
    add_count(fields, "ports", options->ports);
    add_text(fields, "role", ROLES[options->role]);
    add_text(fields, "threads", THREADS[options->threads]);
    add_text(fields, "selector", selector_name(options->selector));
    add_count(fields, "workers", options->processes);
    add_exchange(fields, options);
    add_impairment(fields, options);
}

static void add_latency(struct fields *fields, const struct latency *latency)
{
    fields->group = "latency_us";
    add_percentile(fields, "p50", latency, 500);
    add_percentile(fields, "p90", latency, 900);
    add_percentile(fields, "p99", latency, 990);
    add_percentile(fields, "p999", latency, 999);
    add_percentile(fields, "max", latency, 1000);
    fields->group = NULL;
}

static void fill(struct fields *fields, const struct options *options, const struct result *result)
{
    *fields = (struct fields){0};
    add_setting(fields, options);
    add_count(fields, "pairs", result->pairs);
    add_number(fields, "elapsed_ms", (double)result_elapsed(result) / 1e6, 3);
    add_number(fields, "pairs_per_s", rate(result->pairs, result), 0);
    add_latency(fields, &result->latency);
    add_count(fields, "retransmissions", result->retransmissions);
    add_count(fields, "timeouts", result->timeouts);
    if (options->role == ROLE_RECEIVER) {
        add_unknown(fields, "failures");
    } else {
        add_count(fields, "failures", result->failures);
    }
    if (result->pairs == 0) {
        add_unknown(fields, "cpu_us_per_pair");
    } else {
        add_number(fields, "cpu_us_per_pair", cpu_us_per_pair(result->cpu, result), 3);
    }
    add_side(fields, "sender", &result->sender);
    add_side(fields, "receiver", &result->receiver);
}

/* The texts are words of our own, so nothing in them needs escaping. */
static void print_value(FILE *file, const struct field *field, const char *quote,
                        const char *unknown)
{
    switch (field->kind) {
    case FIELD_TEXT:
        fprintf(file, "%s%s%s", quote, field->value.text, quote);
        break;
    case FIELD_COUNT:
        fprintf(file, "%" PRIu64, field->value.count);
        break;
    case FIELD_NUMBER:
        fprintf(file, "%.*f", field->decimals, field->value.number);
        break;
    case FIELD_FLAG:
        fputs(field->value.flag ? "true" : "false", file);
        break;
    case FIELD_UNKNOWN:
        fputs(unknown, file);
        break;
    }
}

void report_json(FILE *file, const struct options *options, const struct result *result)
{
    struct fields fields;
    const char *open = NULL;
    const char *comma = "";
    fill(&fields, options, result);
    fputc('{', file);
    for (size_t i = 0; i < fields.count; i++) {
        const struct field *field = &fields.items[i];
        if (open != NULL && field->group != open) {
            fputc('}', file);
        }
        fputs(comma, file);
        if (field->group != NULL && field->group != open) {
            fprintf(file, "\"%s\": {", field->group);
        }
        open = field->group;
        comma = ", ";
        fprintf(file, "\"%s\": ", field->name);
        print_value(file, field, "\"", "null");
    }
    fputs(open != NULL ? "}}\n" : "}\n", file);
}

void report_csv(FILE *file, const struct options *options, const struct result *result)
{
    struct fields fields;
    fill(&fields, options, result);
    for (size_t i = 0; i < fields.count; i++) {
        const struct field *field = &fields.items[i];
        fprintf(file, "%s%s%s%s", i > 0 ? "," : "", field->group != NULL ? field->group : "",
                field->group != NULL ? "_" : "", field->name);
    }
    fputc('\n', file);
    for (size_t i = 0; i < fields.count; i++) {
        fputs(i > 0 ? "," : "", file);
        print_value(file, &fields.items[i], "", "");
    }
    fputc('\n', file);
}

/* ---- For people ---- */

static void print_udp(FILE *file, const char *name, const struct side_counters *counters)
{
    const struct vd_udp_counters *udp = &counters->udp;
    fprintf(file,
            "%s: %" PRIu64 " turns, %" PRIu64 " datagrams in %" PRIu64 " receive calls, %" PRIu64
            " in %" PRIu64 " send calls\n",
            name, counters->loop.turns, udp->received_datagrams, udp->receive_calls,
            udp->sent_datagrams, udp->send_calls);
    fprintf(file,
            "%s: dropped by the kernel %" PRIu64 ", truncated %" PRIu64 ", had to wait %" PRIu64
            ", not sent %" PRIu64 ", ICMP errors %" PRIu64 "\n",
            name, udp->kernel_dropped, udp->truncated, udp->queued,
            udp->queue_full + udp->send_failed, udp->icmp_errors);
}

static void print_tcp(FILE *file, const char *name, const struct side_counters *counters)
{
    const struct vd_tcp_counters *tcp = &counters->tcp;
    fprintf(file,
            "%s: %" PRIu64 " turns, %" PRIu64 " messages in %" PRIu64 " receive calls, %" PRIu64
            " in %" PRIu64 " send calls\n",
            name, counters->loop.turns, tcp->received_messages, tcp->receive_calls,
            tcp->sent_messages, tcp->send_calls);
    fprintf(file,
            "%s: connections accepted %" PRIu64 ", made %" PRIu64 ", not made %" PRIu64
            ", closed %" PRIu64 ", broken %" PRIu64 "\n",
            name, tcp->accepted, tcp->connected, tcp->connect_failed, tcp->closed, tcp->broken);
    fprintf(file,
            "%s: framing errors %" PRIu64 ", had to wait %" PRIu64 ", not sent %" PRIu64
            ", queue full %" PRIu64 "\n",
            name, tcp->framing_errors, tcp->would_block, tcp->send_failed, tcp->queue_full);
    fprintf(file,
            "%s: limits: connections %" PRIu64 ", a source %" PRIu64 ", evicted %" PRIu64
            ", descriptors %" PRIu64 "\n",
            name, tcp->refused_total, tcp->refused_per_source, tcp->evicted, tcp->accept_paused);
    fprintf(file,
            "%s: time limits: connect %" PRIu64 ", first message %" PRIu64 ", message %" PRIu64
            ", send %" PRIu64 ", idle %" PRIu64 "\n",
            name, tcp->connect_timeouts, tcp->silent_timeouts, tcp->message_timeouts,
            tcp->send_timeouts, tcp->idle_timeouts);
}

static void print_tls(FILE *file, const char *name, const struct vd_tls_counters *tls)
{
    fprintf(file,
            "%s: handshakes %" PRIu64 ", resumed %" PRIu64 ", failed %" PRIu64
            ", certificates refused %" PRIu64 ", protocol errors %" PRIu64 "\n",
            name, tls->handshakes, tls->resumed, tls->handshake_failed, tls->certificates_refused,
            tls->protocol_errors);
}

static void print_loop(FILE *file, const char *name, const struct options *options,
                       const struct side_counters *counters)
{
    if (options->transport == VD_TRANSPORT_UDP) {
        print_udp(file, name, counters);
    } else {
        print_tcp(file, name, counters);
    }
    if (options->transport == VD_TRANSPORT_TLS) {
        print_tls(file, name, &counters->tls);
    }
}

static void print_stack(FILE *file, const char *name, const struct vd_stack_counters *stack)
{
    fprintf(file,
            "%s: requests sent %" PRIu64 " and again %" PRIu64 ", received %" PRIu64
            " and again %" PRIu64 "\n",
            name, stack->sent_requests, stack->resent_requests,
            stack->received_requests - stack->request_retransmissions,
            stack->request_retransmissions);
    fprintf(file,
            "%s: responses sent %" PRIu64 " and again %" PRIu64 ", received %" PRIu64
            " and again %" PRIu64 "\n",
            name, stack->sent_responses, stack->resent_responses,
            stack->received_responses - stack->response_retransmissions,
            stack->response_retransmissions);
    fprintf(file,
            "%s: invalid messages %" PRIu64 ", stray responses %" PRIu64 ", timeouts %" PRIu64
            ", transport errors %" PRIu64 ", refused for overload %" PRIu64 "\n",
            name, stack->received_invalid + stack->received_not_sip, stack->stray_responses,
            stack->timeouts, stack->transport_errors, stack->overloads);
}

static void print_impairment(FILE *file, const char *name, const struct side_counters *counters)
{
    fprintf(file,
            "%s: datagrams lost %" PRIu64 ", repeated %" PRIu64
            ", held back to be overtaken %" PRIu64 "\n",
            name, counters->lost, counters->repeated, counters->overtaken);
}

static void print_side(FILE *file, const char *name, const struct options *options,
                       const struct side_result *side)
{
    if (!side->known) {
        return;
    }
    if (options->threads != THREADS_COMMON) {
        print_loop(file, name, options, &side->counters);
    }
    if (options_are_impaired(options)) {
        print_impairment(file, name, &side->counters);
    }
    print_stack(file, name, &side->counters.stack);
}

static void print_counters(FILE *file, const struct options *options, const struct result *result)
{
    if (options->threads == THREADS_COMMON) {
        print_loop(file, "both", options, &result->sender.counters);
    }
    print_side(file, "sender", options, &result->sender);
    print_side(file, "receiver", options, &result->receiver);
}

static void print_latency(FILE *file, const struct latency *latency)
{
    fprintf(file,
            "latency p50 %" PRIu64 " us, p90 %" PRIu64 " us, p99 %" PRIu64 " us, p99.9 %" PRIu64
            " us, max %" PRIu64 " us\n",
            latency_percentile(latency, 500, 1000), latency_percentile(latency, 900, 1000),
            latency_percentile(latency, 990, 1000), latency_percentile(latency, 999, 1000),
            latency->max);
}

static void print_cpu(FILE *file, const struct result *result)
{
    fprintf(file, "CPU %.3f us a pair", cpu_us_per_pair(result->cpu, result));
    if (result->sender.cpu >= 0 && result->receiver.cpu >= 0) {
        fprintf(file, " (sender %.3f, receiver %.3f)", cpu_us_per_pair(result->sender.cpu, result),
                cpu_us_per_pair(result->receiver.cpu, result));
    }
    fputc('\n', file);
}

static void print_memory(FILE *file, const char *name, const struct side_result *side)
{
    if (side->rss >= 0) {
        fprintf(file, "%s: %" PRId64 " KiB of memory at most, %zu of it the stack's\n", name,
                side->rss, side->engine_bytes / 1024);
    }
}

static void print_rate(FILE *file, const struct options *options, const struct result *result)
{
    double milliseconds = (double)result_elapsed(result) / 1e6;
    double per_second = rate(result->exchanges, result);
    if (options->role == ROLE_RECEIVER) {
        fprintf(file,
                "%" PRIu64 " requests answered in %.0f ms, a rate of %.0f transaction pairs "
                "per second.\n",
                result->exchanges, milliseconds, per_second);
    } else {
        fprintf(file, "%" PRIu64 " %s performed in %.0f ms, a rate of %.0f %s per second.\n",
                result->exchanges, result_noun(options), milliseconds, per_second,
                options->method == METHOD_INVITE ? "calls" : "transaction pairs");
    }
}

void report_summary(FILE *file, const struct options *options, const struct result *result)
{
    if (options->verbose > 0) {
        print_counters(file, options, result);
    }
    if (options->role != ROLE_RECEIVER) {
        print_latency(file, &result->latency);
    }
    fprintf(file, "retransmissions %" PRIu64 ", timeouts %" PRIu64, result->retransmissions,
            result->timeouts);
    if (options->role != ROLE_RECEIVER) {
        fprintf(file, ", failures %" PRIu64, result->failures);
    }
    fputc('\n', file);
    print_cpu(file, result);
    print_memory(file, "sender", &result->sender);
    print_memory(file, "receiver", &result->receiver);
    print_rate(file, options, result);
}
