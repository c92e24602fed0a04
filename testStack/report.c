/* report.c - prints a result: for people, as JSON, as CSV.
 *
 * JSON and CSV are two spellings of one table of fields, so that they cannot differ in what they
 * say.
 *
 * SPDX-License-Identifier: MIT
 */
#include "report.h"

#include <inttypes.h>
#include <string.h>

/* ---- Figures ---- */

static double rate(uint64_t count, const struct result *result)
{
    return result->elapsed > 0 ? (double)count * 1e9 / (double)result->elapsed : 0;
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
    } value;
    int decimals; /* of a number */
};

enum { FIELDS_MOST = 40 };

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

static void add_percentile(struct fields *fields, const char *name, const struct latency *latency,
                           uint32_t part)
{
    if (latency->count == 0) {
        add(fields, name, FIELD_UNKNOWN);
    } else {
        add_count(fields, name, latency_percentile(latency, part, 1000));
    }
}

static void add_side(struct fields *fields, const char *group, const struct side_result *side)
{
    fields->group = group;
    if (side->cpu < 0) {
        add(fields, "cpu_s", FIELD_UNKNOWN);
    } else {
        add_number(fields, "cpu_s", (double)side->cpu / 1e9, 6);
    }
    add(fields, "rss_kib", FIELD_UNKNOWN); /* both sides are in one process */
    add_count(fields, "engine_bytes", side->engine_bytes);
    fields->group = NULL;
}

static void fill(struct fields *fields, const struct options *options, const struct result *result)
{
    *fields = (struct fields){0};
    add_text(fields, "transport", "udp");
    add_count(fields, "ports", options->ports);
    add_text(fields, "threads", options->common ? "common" : "event");
    add_text(fields, "selector", "epoll");
    add_count(fields, "workers", 1);
    add_count(fields, "window", options->window);
    add_text(fields, "method", options->invite ? "INVITE" : "REGISTER");
    add_count(fields, "pairs", result->pairs);
    add_number(fields, "elapsed_ms", (double)result->elapsed / 1e6, 3);
    add_number(fields, "pairs_per_s", rate(result->pairs, result), 0);
    fields->group = "latency_us";
    add_percentile(fields, "p50", &result->latency, 500);
    add_percentile(fields, "p90", &result->latency, 900);
    add_percentile(fields, "p99", &result->latency, 990);
    add_percentile(fields, "p999", &result->latency, 999);
    add_percentile(fields, "max", &result->latency, 1000);
    fields->group = NULL;
    add_count(fields, "retransmissions", result->retransmissions);
    add_count(fields, "timeouts", result->timeouts);
    add_count(fields, "failures", result->failures);
    if (result->pairs == 0) {
        add(fields, "cpu_us_per_pair", FIELD_UNKNOWN);
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

static void print_loop(FILE *file, const char *name, const struct side_counters *counters)
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

static void print_counters(FILE *file, const struct options *options, const struct result *result)
{
    const struct side_counters *sender = &result->sender.counters;
    const struct side_counters *receiver = &result->receiver.counters;
    if (options->common) {
        print_loop(file, "both", sender);
    } else {
        print_loop(file, "sender", sender);
        print_loop(file, "receiver", receiver);
    }
    print_stack(file, "sender", &sender->stack);
    print_stack(file, "receiver", &receiver->stack);
}

void report_summary(FILE *file, const struct options *options, const struct result *result)
{
    const struct latency *latency = &result->latency;
    const char *format = options->invite
                             ? "%" PRIu64 " calls performed in %.0f ms, a rate of %.0f calls per "
                               "second.\n"
                             : "%" PRIu64 " registrations performed in %.0f ms, a rate of %.0f "
                               "transaction pairs per second.\n";
    if (options->verbose > 0) {
        print_counters(file, options, result);
    }
    fprintf(file,
            "latency p50 %" PRIu64 " us, p90 %" PRIu64 " us, p99 %" PRIu64 " us, p99.9 %" PRIu64
            " us, max %" PRIu64 " us\n",
            latency_percentile(latency, 500, 1000), latency_percentile(latency, 900, 1000),
            latency_percentile(latency, 990, 1000), latency_percentile(latency, 999, 1000),
            latency->max);
    fprintf(file, "retransmissions %" PRIu64 ", timeouts %" PRIu64 ", failures %" PRIu64 "\n",
            result->retransmissions, result->timeouts, result->failures);
    fprintf(file, "CPU %.3f us a pair", cpu_us_per_pair(result->cpu, result));
    if (result->sender.cpu >= 0 && result->receiver.cpu >= 0) {
        fprintf(file, " (sender %.3f, receiver %.3f)", cpu_us_per_pair(result->sender.cpu, result),
                cpu_us_per_pair(result->receiver.cpu, result));
    }
    fputc('\n', file);
    fprintf(file, format, result->exchanges, (double)result->elapsed / 1e6,
            rate(result->exchanges, result));
}
