/* harness.c - a stack under a virtual clock, whose every act is written down.
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define STREAM_HEADERS 64

static void write_down(struct harness *harness, const char *text, size_t size)
{
    size_t needed = harness->transcript_size + size + 1;
    if (needed > harness->transcript_capacity) {
        harness->transcript_capacity = 2 * needed;
        harness->transcript = realloc(harness->transcript, harness->transcript_capacity);
        if (harness->transcript == NULL) {
            abort();
        }
    }
    memcpy(harness->transcript + harness->transcript_size, text, size);
    harness->transcript_size += size;
    harness->transcript[harness->transcript_size] = '\0';
}

void harness_note(struct harness *harness, const char *format, ...)
{
    char line[256];
    vd_time since = harness->now - harness->start;
    int n = snprintf(line, sizeof line, "%llu.%03llu", (unsigned long long)(since / VD_SEC),
                     (unsigned long long)(since % VD_SEC / VD_MSEC));
    if (since % VD_MSEC != 0) {
        n += snprintf(line + n, sizeof line - (size_t)n, "%03llu",
                      (unsigned long long)(since % VD_MSEC));
    }
    line[n++] = ' ';
    va_list arguments;
    va_start(arguments, format);
    n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, arguments);
    va_end(arguments);
    size_t size = (size_t)n < sizeof line - 2 ? (size_t)n : sizeof line - 2;
    line[size++] = '\n';
    write_down(harness, line, size);
}

void harness_forget(struct harness *harness)
{
    harness->transcript_size = 0;
    if (harness->transcript != NULL) {
        harness->transcript[0] = '\0';
    }
}

bool harness_saw(struct harness *harness, const char *expected)
{
    const char *seen = harness->transcript != NULL ? harness->transcript : "";
    bool same = strcmp(seen, expected) == 0;
    if (!same) {
        printf("\n--- expected\n%s--- but saw\n%s---\n", expected, seen);
    }
    harness_forget(harness);
    return same;
}

static void on_request(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context)
{
    struct harness *harness = context;
    harness->server = transaction;
    harness_note(harness, "up %.*s", (int)request->method.n, request->method.p);
    if (harness->hooks.on_request != NULL) {
        harness->hooks.on_request(stack, transaction, request, flow, context);
    }
}

static void on_ack(struct vd_stack *stack, vd_transaction transaction, struct vd_message *ack,
                   const struct vd_flow *flow, void *context)
{
    struct harness *harness = context;
    harness_note(harness, transaction != 0 ? "up ACK" : "up ACK of no transaction");
    if (harness->hooks.on_ack != NULL) {
        harness->hooks.on_ack(stack, transaction, ack, flow, context);
    }
}

static void on_cancel(struct vd_stack *stack, vd_transaction invite, struct vd_message *cancel,
                      void *user, void *context)
{
    struct harness *harness = context;
    harness_note(harness, "up CANCEL");
    if (harness->hooks.on_cancel != NULL) {
        harness->hooks.on_cancel(stack, invite, cancel, user, context);
    }
}

static void note_response(struct harness *harness, const char *what, struct vd_message *response)
{
    const struct vd_cseq *cseq;
    if (vd_message_cseq(response, &cseq) == 0) {
        harness_note(harness, "%s %d %.*s", what, response->status, (int)cseq->method.n,
                     cseq->method.p);
    } else {
        harness_note(harness, "%s %d without CSeq", what, response->status);
    }
}

static void on_response(struct vd_stack *stack, vd_transaction transaction,
                        struct vd_message *response, void *user, void *context)
{
    struct harness *harness = context;
    note_response(harness, "up", response);
    if (harness->hooks.on_response != NULL) {
        harness->hooks.on_response(stack, transaction, response, user, context);
    }
}

static void on_stray_response(struct vd_stack *stack, struct vd_message *response,
                              const struct vd_flow *flow, void *context)
{
    struct harness *harness = context;
    note_response(harness, "stray", response);
    if (harness->hooks.on_stray_response != NULL) {
        harness->hooks.on_stray_response(stack, response, flow, context);
    }
}

static void on_failure(struct vd_stack *stack, vd_transaction transaction, int error, void *user,
                       void *context)
{
    struct harness *harness = context;
    harness->failures++;
    harness_note(harness, "failure %s", vd_error_name(error) + strlen("VD_ERR_"));
    if (harness->hooks.on_failure != NULL) {
        harness->hooks.on_failure(stack, transaction, error, user, context);
    }
}

static void on_terminated(struct vd_stack *stack, vd_transaction transaction, void *user,
                          void *context)
{
    struct harness *harness = context;
    harness->terminations++;
    harness_note(harness, "end");
    if (harness->hooks.on_terminated != NULL) {
        harness->hooks.on_terminated(stack, transaction, user, context);
    }
}

/* The same bytes each time, so that a test's branches and tags are the same in each run. */
static int fixed_random(void *out, size_t size, void *context)
{
    (void)context;
    for (size_t i = 0; i < size; i++) {
        ((unsigned char *)out)[i] = (unsigned char)(i * 37 + 11);
    }
    return 0;
}

static void add_endpoints(struct harness *harness)
{
    static const struct {
        enum vd_transport transport;
        const char *sent_by;
    } ends[HARNESS_ENDPOINTS] = {
        [HARNESS_UDP] = {VD_TRANSPORT_UDP, "192.0.2.20:5060"},
        [HARNESS_TCP] = {VD_TRANSPORT_TCP, "192.0.2.20:5060"},
        [HARNESS_TLS] = {VD_TRANSPORT_TLS, "192.0.2.20:5061"},
        [HARNESS_UDP6] = {VD_TRANSPORT_UDP, "[2001:db8::20]:5060"},
    };
    for (uint32_t i = 0; i < HARNESS_ENDPOINTS; i++) {
        uint32_t number = UINT32_MAX;
        int rc = vd_stack_add_endpoint(harness->stack, ends[i].transport,
                                       vd_str_from(ends[i].sent_by), &number);
        if (rc != 0 || number != i) {
            fprintf(stderr, "harness: endpoint %u: %s\n", i, vd_strerror(rc));
            abort();
        }
    }
}

void harness_init(struct harness *harness, const struct vd_stack_config *config)
{
    struct vd_stack_config own;
    *harness = (struct harness){.start = 1000 * VD_SEC, .now = 1000 * VD_SEC, .serial = 1};
    counting_mem_init(&harness->memory);
    if (config != NULL) {
        own = *config;
    } else {
        vd_stack_config_init(&own);
    }
    own.callbacks = (struct vd_stack_callbacks){
        .on_request = on_request,
        .on_ack = on_ack,
        .on_cancel = on_cancel,
        .on_response = on_response,
        .on_stray_response = on_stray_response,
        .on_failure = on_failure,
        .on_terminated = on_terminated,
    };
    own.context = harness;
    own.mem = &harness->memory.mem;
    own.random = fixed_random;
    int rc = vd_stack_new(&harness->stack, &own);
    if (rc != 0) {
        fprintf(stderr, "harness: vd_stack_new: %s\n", vd_strerror(rc));
        abort();
    }
    add_endpoints(harness);
    harness_use(harness, HARNESS_UDP);
    vd_stack_expire(harness->stack, harness->now);
}

bool harness_free(struct harness *harness)
{
    vd_stack_free(harness->stack);
    for (unsigned i = 0; i < HARNESS_KEPT; i++) {
        free(harness->sent[i].text);
    }
    free(harness->transcript);
    return counting_mem_is_clean(&harness->memory);
}

void harness_use(struct harness *harness, enum harness_endpoint endpoint)
{
    static const uint32_t connections[HARNESS_ENDPOINTS] = {[HARNESS_TCP] = 1, [HARNESS_TLS] = 2};
    struct vd_str peer = endpoint == HARNESS_UDP6 ? VD_STR("2001:db8::10") : VD_STR("192.0.2.10");
    harness->flow = (struct vd_flow){.endpoint = endpoint, .connection = connections[endpoint]};
    if (vd_addr_parse(peer, endpoint == HARNESS_TLS ? 5061 : 5060, &harness->flow.remote) != 0) {
        abort();
    }
}

void harness_fresh(struct harness *harness)
{
    harness->serial++;
}

vd_time harness_at(const struct harness *harness, double seconds)
{
    return harness->start + (vd_time)(seconds * 1e6 + 0.5);
}

static void keep_sent(struct harness *harness, const struct vd_send *send)
{
    struct harness_sent *kept = &harness->sent[harness->sent_count++ % HARNESS_KEPT];
    free(kept->text);
    kept->flow = send->flow;
    kept->transaction = send->token;
    kept->size = send->size;
    kept->text = malloc(send->size + 1);
    if (kept->text == NULL) {
        abort();
    }
    memcpy(kept->text, send->data, send->size);
    kept->text[send->size] = '\0';

    const char *cseq = harness_value(kept->text, "CSeq", 0);
    const char *method = strchr(cseq, ' ') != NULL ? strchr(cseq, ' ') + 1 : "without CSeq";
    if (strncmp(kept->text, "SIP/2.0 ", 8) == 0) {
        harness_note(harness, "out %.3s %s", kept->text + 8, method);
    } else {
        harness_note(harness, "out %.*s", (int)strcspn(kept->text, " \r"), kept->text);
    }
}

void harness_drain(struct harness *harness)
{
    struct vd_send sends[16];
    size_t n;
    while ((n = vd_stack_poll_send(harness->stack, sends, 16)) > 0) {
        for (size_t i = 0; i < n; i++) {
            keep_sent(harness, &sends[i]);
            if (harness->send_error != 0) {
                vd_stack_send_failed(harness->stack, &sends[i], harness->send_error, harness->now);
            } else {
                vd_stack_send_done(harness->stack, &sends[i]);
            }
        }
    }
}

static void expire(struct harness *harness, vd_time now)
{
    vd_stack_expire(harness->stack, now);
    harness_drain(harness);
}

/* One deadline: nothing a microsecond before it, something at it. */
static void step(struct harness *harness, vd_time deadline)
{
    if (deadline > harness->now) {
        harness->now = deadline - 1;
        size_t before = harness->transcript_size;
        expire(harness, harness->now);
        if (harness->transcript_size != before) {
            harness_note(harness, "early");
        }
        harness->now = deadline;
    }
    size_t before = harness->transcript_size;
    expire(harness, harness->now);
    if (harness->transcript_size == before) {
        harness_note(harness, "idle");
    }
}

void harness_until(struct harness *harness, vd_time at)
{
    for (;;) {
        vd_time deadline = vd_stack_next_deadline(harness->stack);
        if (deadline > at) {
            break;
        }
        step(harness, deadline);
    }
    if (at > harness->now) {
        harness->now = at;
        size_t before = harness->transcript_size;
        expire(harness, at);
        if (harness->transcript_size != before) {
            harness_note(harness, "early");
        }
    }
}

void harness_run_out(struct harness *harness)
{
    for (int i = 0; i < 1000000; i++) {
        vd_time deadline = vd_stack_next_deadline(harness->stack);
        if (deadline == VD_TIME_NEVER) {
            return;
        }
        step(harness, deadline);
    }
    harness_note(harness, "timers without end");
}

static int receive_from_stream(struct harness *harness, const struct vd_flow *flow,
                               const char *bytes, size_t size)
{
    struct vd_header headers[STREAM_HEADERS];
    struct vd_message message;
    vd_message_init(&message, headers, STREAM_HEADERS);
    int rc = vd_message_parse(&message, bytes, size, VD_FRAMING_STREAM, NULL);
    if (rc < 0) {
        vd_stack_receive_fault(harness->stack, flow, rc, &message, harness->now);
        return rc;
    }
    return vd_stack_receive_message(harness->stack, flow, &message, harness->now);
}

int harness_receive_on(struct harness *harness, const struct vd_flow *flow, const char *bytes,
                       size_t size)
{
    char *block = malloc(size > 0 ? size : 1);
    if (block == NULL) {
        abort();
    }
    memcpy(block, bytes, size);
    bool stream = flow->endpoint == HARNESS_TCP || flow->endpoint == HARNESS_TLS;
    int rc = stream ? receive_from_stream(harness, flow, block, size)
                    : vd_stack_receive(harness->stack, flow, block, size, harness->now);
    memset(block, '#', size);
    free(block);
    harness_drain(harness);
    return rc;
}

int harness_receive(struct harness *harness, const char *text)
{
    return harness_receive_on(harness, &harness->flow, text, strlen(text));
}

const struct harness_sent *harness_sent(const struct harness *harness, unsigned back)
{
    if (back >= harness->sent_count || back >= HARNESS_KEPT) {
        return NULL;
    }
    return &harness->sent[(harness->sent_count - 1 - back) % HARNESS_KEPT];
}

const struct harness_sent *harness_find_sent(const struct harness *harness, const char *prefix)
{
    const struct harness_sent *sent;
    for (unsigned back = 0; (sent = harness_sent(harness, back)) != NULL; back++) {
        if (strncmp(sent->text, prefix, strlen(prefix)) == 0) {
            return sent;
        }
    }
    return NULL;
}

struct vd_stack_counters harness_counters(const struct harness *harness)
{
    struct vd_stack_counters counters;
    vd_stack_get_counters(harness->stack, &counters);
    return counters;
}
