/* result.c - what a run has done, and how the results of several processes add up.
 *
 * SPDX-License-Identifier: MIT
 */
#include "result.h"

#include "fail.h"

#include <inttypes.h>
#include <stddef.h>

/* ---- Counters ---- */

/* The counters that are printed; they add up, and all are 64 bits wide. */
static const size_t COUNTERS[] = {
    offsetof(struct side_counters, loop.turns),
    offsetof(struct side_counters, loop.ready),
    offsetof(struct side_counters, udp.received_datagrams),
    offsetof(struct side_counters, udp.receive_calls),
    offsetof(struct side_counters, udp.sent_datagrams),
    offsetof(struct side_counters, udp.send_calls),
    offsetof(struct side_counters, udp.kernel_dropped),
    offsetof(struct side_counters, udp.truncated),
    offsetof(struct side_counters, udp.queued),
    offsetof(struct side_counters, udp.queue_full),
    offsetof(struct side_counters, udp.send_failed),
    offsetof(struct side_counters, udp.icmp_errors),
    offsetof(struct side_counters, tcp.accepted),
    offsetof(struct side_counters, tcp.connected),
    offsetof(struct side_counters, tcp.connect_failed),
    offsetof(struct side_counters, tcp.closed),
    offsetof(struct side_counters, tcp.broken),
    offsetof(struct side_counters, tcp.refused_total),
    offsetof(struct side_counters, tcp.refused_per_source),
    offsetof(struct side_counters, tcp.evicted),
    offsetof(struct side_counters, tcp.accept_paused),
    offsetof(struct side_counters, tcp.connect_timeouts),
    offsetof(struct side_counters, tcp.silent_timeouts),
    offsetof(struct side_counters, tcp.message_timeouts),
    offsetof(struct side_counters, tcp.send_timeouts),
    offsetof(struct side_counters, tcp.idle_timeouts),
    offsetof(struct side_counters, tcp.queue_full),
    offsetof(struct side_counters, tcp.received_messages),
    offsetof(struct side_counters, tcp.receive_calls),
    offsetof(struct side_counters, tcp.framing_errors),
    offsetof(struct side_counters, tcp.sent_messages),
    offsetof(struct side_counters, tcp.send_calls),
    offsetof(struct side_counters, tcp.would_block),
    offsetof(struct side_counters, tcp.send_failed),
    offsetof(struct side_counters, tls.handshakes),
    offsetof(struct side_counters, tls.resumed),
    offsetof(struct side_counters, tls.handshake_failed),
    offsetof(struct side_counters, tls.certificates_refused),
    offsetof(struct side_counters, tls.protocol_errors),
    offsetof(struct side_counters, stack.received_requests),
    offsetof(struct side_counters, stack.received_responses),
    offsetof(struct side_counters, stack.received_invalid),
    offsetof(struct side_counters, stack.received_not_sip),
    offsetof(struct side_counters, stack.request_retransmissions),
    offsetof(struct side_counters, stack.response_retransmissions),
    offsetof(struct side_counters, stack.stray_responses),
    offsetof(struct side_counters, stack.sent_requests),
    offsetof(struct side_counters, stack.sent_responses),
    offsetof(struct side_counters, stack.resent_requests),
    offsetof(struct side_counters, stack.resent_responses),
    offsetof(struct side_counters, stack.timeouts),
    offsetof(struct side_counters, stack.transport_errors),
    offsetof(struct side_counters, stack.overloads),
    offsetof(struct side_counters, stack.client_transactions),
    offsetof(struct side_counters, stack.server_transactions),
    offsetof(struct side_counters, lost),
    offsetof(struct side_counters, repeated),
    offsetof(struct side_counters, overtaken),
};

static void add_counters(struct side_counters *sum, const struct side_counters *part)
{
    for (size_t i = 0; i < sizeof COUNTERS / sizeof COUNTERS[0]; i++) {
        *(uint64_t *)(void *)((char *)sum + COUNTERS[i]) +=
            *(const uint64_t *)(const void *)((const char *)part + COUNTERS[i]);
    }
}

/* ---- Sums ---- */

/* What is not known, -1, adds nothing. */
static int64_t add_known(int64_t sum, int64_t part)
{
    if (part < 0) {
        return sum;
    }
    return sum < 0 ? part : sum + part;
}

static void add_side(struct side_result *sum, const struct side_result *part)
{
    sum->known = sum->known || part->known;
    sum->cpu = add_known(sum->cpu, part->cpu);
    sum->rss = add_known(sum->rss, part->rss);
    sum->engine_bytes += part->engine_bytes;
    add_counters(&sum->counters, &part->counters);
}

static void add_span(struct result *sum, const struct result *part)
{
    if (part->ended == part->began) {
        return;
    }
    if (sum->ended == sum->began) {
        sum->began = part->began;
        sum->ended = part->ended;
        return;
    }
    sum->began = part->began < sum->began ? part->began : sum->began;
    sum->ended = part->ended > sum->ended ? part->ended : sum->ended;
}

void result_init(struct result *sum)
{
    *sum = (struct result){
        .complete = true,
        .sender = {.cpu = -1, .rss = -1},
        .receiver = {.cpu = -1, .rss = -1},
    };
}

void result_add(struct result *sum, const struct result *part)
{
    sum->complete = sum->complete && part->complete;
    sum->interrupted = sum->interrupted || part->interrupted;
    sum->gave_up = sum->gave_up || part->gave_up;
    sum->exchanges += part->exchanges;
    sum->pairs += part->pairs;
    add_span(sum, part);
    sum->cpu += part->cpu;
    sum->retransmissions += part->retransmissions;
    sum->timeouts += part->timeouts;
    sum->failures += part->failures;
    add_side(&sum->sender, &part->sender);
    add_side(&sum->receiver, &part->receiver);
    latency_merge(&sum->latency, &part->latency);
}

void result_add_receiver(struct result *sum, const struct result *part)
{
    int64_t cpu = sum->receiver.cpu;
    sum->complete = sum->complete && part->complete;
    sum->retransmissions += part->retransmissions;
    sum->timeouts += part->timeouts;
    add_side(&sum->receiver, &part->receiver);
    sum->receiver.cpu = cpu;
}

int64_t result_elapsed(const struct result *result)
{
    return result->ended - result->began;
}

/* ---- Words ---- */

const char *result_noun(const struct options *options)
{
    static const char *const NOUNS[] = {
        [METHOD_REGISTER] = "registrations",
        [METHOD_OPTIONS] = "queries",
        [METHOD_INVITE] = "calls",
    };
    return NOUNS[options->method];
}

void result_explain(const struct result *result, const struct options *options)
{
    if (result->failures > 0) {
        fail("%" PRIu64 " %s failed%s", result->failures, result_noun(options),
             result->gave_up ? ", a whole window in a row: gave up" : "");
    }
    if (result->interrupted) {
        fail("interrupted; this is what was done until then");
    }
}
