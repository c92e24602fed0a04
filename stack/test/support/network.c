/* network.c - the simulated network: events in the order of their times.
 *
 * SPDX-License-Identifier: MIT
 */
#include "network.h"

#include <stdio.h>
#include <stdlib.h>

/* How many messages are pulled at once. */
#define BATCH 8

static void *copy_bytes(const char *bytes, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) {
        abort();
    }
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

bool network_chance(struct network *network, unsigned thousandths)
{
    return test_random_below(&network->random, 1000) < thousandths;
}

void network_init(struct network *network, uint64_t seed)
{
    *network = (struct network){
        .random = {seed},
        .now = 1000 * VD_SEC + 321,
    };
    vd_message_init(&network->message, network->headers, NETWORK_HEADERS);
}

void network_free(struct network *network)
{
    for (size_t i = 0; i < network->event_count; i++) {
        free(network->events[i].bytes);
    }
    free(network->events);
    for (unsigned i = 0; i < network->node_count; i++) {
        for (unsigned from = 0; from < NETWORK_NODES; from++) {
            free(network->nodes[i].streams[from].bytes);
        }
    }
}

static void add_endpoints(struct vd_stack *stack, const char *sent_by)
{
    static const enum vd_transport transports[NETWORK_ENDPOINTS] = {
        [NETWORK_UDP] = VD_TRANSPORT_UDP,
        [NETWORK_TCP] = VD_TRANSPORT_TCP,
    };
    for (uint32_t i = 0; i < NETWORK_ENDPOINTS; i++) {
        uint32_t number = UINT32_MAX;
        int rc = vd_stack_add_endpoint(stack, transports[i], vd_str_from(sent_by), &number);
        if (rc != 0 || number != i) {
            fprintf(stderr, "network: endpoint %u: %s\n", i, vd_strerror(rc));
            abort();
        }
    }
}

unsigned network_add(struct network *network, struct vd_stack *stack)
{
    unsigned number = network->node_count++;
    struct network_node *node = &network->nodes[number];
    char ip[32];
    snprintf(ip, sizeof ip, "192.0.2.%u", number + 1);
    node->stack = stack;
    if (vd_addr_parse(vd_str_from(ip), 5060, &node->addr) != 0) {
        abort();
    }
    if (stack != NULL) {
        add_endpoints(stack, ip);
    }
    for (unsigned other = 0; other < number; other++) {
        network->connections[number][other] = ++network->last_connection;
        network->connections[other][number] = network->last_connection;
    }
    return number;
}

struct vd_flow network_flow(const struct network *network, unsigned from, unsigned to,
                            enum network_endpoint endpoint)
{
    return (struct vd_flow){
        .endpoint = endpoint,
        .connection = endpoint == NETWORK_TCP ? network->connections[from][to] : 0,
        .remote = network->nodes[to].addr,
    };
}

static bool is_before(const struct network_event *a, const struct network_event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

/* Puts an event into the heap. */
static void push(struct network *network, struct network_event event)
{
    if (network->event_count == network->event_capacity) {
        network->event_capacity = 2 * network->event_capacity + 16;
        network->events =
            realloc(network->events, network->event_capacity * sizeof *network->events);
        if (network->events == NULL) {
            abort();
        }
    }
    event.order = ++network->last_order;
    size_t i = network->event_count++;
    while (i > 0 && is_before(&event, &network->events[(i - 1) / 2])) {
        network->events[i] = network->events[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    network->events[i] = event;
}

static struct network_event pop(struct network *network)
{
    struct network_event first = network->events[0];
    struct network_event last = network->events[--network->event_count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= network->event_count) {
            break;
        }
        if (child + 1 < network->event_count &&
            is_before(&network->events[child + 1], &network->events[child])) {
            child++;
        }
        if (is_before(&last, &network->events[child])) {
            break;
        }
        network->events[i] = network->events[child];
        i = child;
    }
    network->events[i] = last;
    return first;
}

void network_after(struct network *network, vd_time delay, network_fn act, void *context,
                   uint64_t value)
{
    push(network, (struct network_event){
                      .at = network->now + delay,
                      .act = act,
                      .context = context,
                      .value = value,
                  });
}

static vd_time arrival(struct network *network)
{
    vd_time jitter = test_random_below(&network->random, network->faults.jitter + 1);
    return network->now + network->faults.delay + jitter;
}

static void fly(struct network *network, unsigned from, unsigned to, const char *bytes, size_t size,
                int icmp_error)
{
    push(network, (struct network_event){
                      .at = arrival(network),
                      .from = from,
                      .to = to,
                      .endpoint = NETWORK_UDP,
                      .icmp_error = icmp_error,
                      .bytes = copy_bytes(bytes, size),
                      .size = size,
                  });
}

void network_send(struct network *network, unsigned from, unsigned to, const char *bytes,
                  size_t size)
{
    if (!network_chance(network, network->faults.loss)) {
        fly(network, from, to, bytes, size, 0);
    }
    if (network_chance(network, network->faults.duplication)) {
        fly(network, from, to, bytes, size, 0);
    }
}

/* A router or host in the way tells of its error, and quotes 8 bytes or more of the message. */
static void send_icmp(struct network *network, unsigned from, const struct vd_send *send)
{
    size_t quoted = send->size;
    if (quoted > 8 && network_chance(network, 700)) {
        quoted = 8 + test_random_below(&network->random, quoted - 8);
    }
    int error = network_chance(network, 500) ? VD_ERR_REFUSED : VD_ERR_UNREACHABLE;
    unsigned to = send->flow.remote.ip[3] - 1u;
    fly(network, to, from, send->data, quoted, error);
}

/* Bytes on a connection arrive in order, cut into up to three pieces. */
static void stream(struct network *network, unsigned from, unsigned to, const struct vd_send *send)
{
    size_t position = 0;
    while (position < send->size) {
        size_t size = send->size - position;
        if (network_chance(network, 300)) {
            size = 1 + test_random_below(&network->random, size);
        }
        vd_time at = arrival(network);
        if (at < network->stream_times[from][to]) {
            at = network->stream_times[from][to];
        }
        network->stream_times[from][to] = at;
        push(network, (struct network_event){
                          .at = at,
                          .from = from,
                          .to = to,
                          .endpoint = NETWORK_TCP,
                          .connection = network->connections[from][to],
                          .bytes = copy_bytes(send->data + position, size),
                          .size = size,
                      });
        position += size;
    }
}

/* Returns 0, or the error with which the message could not be sent. */
static int transmit(struct network *network, unsigned from, const struct vd_send *send)
{
    unsigned to = send->flow.remote.ip[3] - 1u;
    if (to >= network->node_count) {
        return VD_ERR_UNREACHABLE;
    }
    if (send->flow.endpoint == NETWORK_TCP) {
        if (send->flow.connection != network->connections[from][to]) {
            return VD_ERR_TRANSPORT;
        }
        stream(network, from, to, send);
        return 0;
    }
    if (network_chance(network, network->faults.send_failure)) {
        return VD_ERR_UNREACHABLE;
    }
    if (network_chance(network, network->faults.icmp)) {
        send_icmp(network, from, send);
    } else {
        network_send(network, from, to, send->data, send->size);
    }
    return 0;
}

/* Pulls one batch. What was pulled is given back in the reverse order. */
static bool pump_some(struct network *network, unsigned number)
{
    struct vd_stack *stack = network->nodes[number].stack;
    struct vd_send sends[BATCH];
    int errors[BATCH];
    size_t n = vd_stack_poll_send(stack, sends, BATCH);
    for (size_t i = 0; i < n; i++) {
        if (network->on_send != NULL) {
            network->on_send(network, number, &sends[i]);
        }
        errors[i] = transmit(network, number, &sends[i]);
    }
    network->pulled += n;
    for (size_t i = n; i-- > 0;) {
        if (errors[i] == 0) {
            vd_stack_send_done(stack, &sends[i]);
        } else {
            vd_stack_send_failed(stack, &sends[i], errors[i], network->now);
        }
        network->given_back++;
    }
    return n > 0;
}

void network_pump(struct network *network)
{
    for (unsigned i = 0; i < network->node_count; i++) {
        while (network->nodes[i].stack != NULL && pump_some(network, i)) {
        }
    }
    network->epoch++;
}

static void close_side(struct network *network, unsigned number, unsigned peer, uint32_t connection)
{
    struct network_node *node = &network->nodes[number];
    struct vd_flow flow = network_flow(network, number, peer, NETWORK_TCP);
    vd_framer_init(&node->streams[peer].framer);
    node->streams[peer].size = 0;
    flow.connection = connection;
    if (node->stack != NULL) {
        vd_stack_flow_closed(node->stack, &flow, VD_ERR_TRANSPORT, network->now);
    }
}

void network_break(struct network *network, unsigned a, unsigned b)
{
    uint32_t old = network->connections[a][b];
    network->connections[a][b] = ++network->last_connection;
    network->connections[b][a] = network->last_connection;
    close_side(network, a, b, old);
    close_side(network, b, a, old);
}

/* Cuts messages from the front of a stream for as long as there are any. */
static void read_stream(struct network *network, unsigned from, unsigned to)
{
    struct network_node *node = &network->nodes[to];
    struct network_stream *in = &node->streams[from];
    struct vd_flow flow = network_flow(network, to, from, NETWORK_TCP);
    struct vd_frame frame = {VD_FRAME_NONE, 0};
    int rc = 0;
    do {
        rc = vd_framer_next(&in->framer, in->bytes, in->size, NULL, &network->message, &frame);
        if (rc != 0) {
            network->framing_errors++;
            vd_stack_receive_fault(node->stack, &flow, rc, &network->message, network->now);
            in->size = 0;
        } else if (frame.kind == VD_FRAME_MESSAGE) {
            vd_stack_receive_message(node->stack, &flow, &network->message, network->now);
        }
        in->size -= rc == 0 ? frame.consumed : 0;
        char *rest = copy_bytes(in->bytes + frame.consumed, in->size);
        free(in->bytes);
        in->bytes = rest;
    } while (rc == 0 && frame.kind != VD_FRAME_NONE);
}

static void arrive_stream(struct network *network, const struct network_event *event)
{
    struct network_stream *in = &network->nodes[event->to].streams[event->from];
    if (event->connection != network->connections[event->from][event->to]) {
        return;
    }
    in->bytes = realloc(in->bytes, in->size + event->size);
    if (in->bytes == NULL) {
        abort();
    }
    memcpy(in->bytes + in->size, event->bytes, event->size);
    in->size += event->size;
    read_stream(network, event->from, event->to);
}

static void arrive(struct network *network, const struct network_event *event)
{
    struct vd_stack *stack = network->nodes[event->to].stack;
    struct vd_flow flow = network_flow(network, event->to, event->from, NETWORK_UDP);
    if (stack == NULL) {
        if (network->on_raw != NULL && event->icmp_error == 0) {
            network->on_raw(network, event->to, event->from, event->bytes, event->size);
        }
    } else if (event->icmp_error != 0) {
        vd_stack_icmp_error(stack, &flow, event->bytes, event->size, event->icmp_error,
                            network->now);
    } else if (event->endpoint == NETWORK_TCP) {
        arrive_stream(network, event);
    } else {
        vd_stack_receive(stack, &flow, event->bytes, event->size, network->now);
    }
}

bool network_step(struct network *network)
{
    vd_time deadline = VD_TIME_NEVER;
    struct vd_stack *due = NULL;
    for (unsigned i = 0; i < network->node_count; i++) {
        struct vd_stack *stack = network->nodes[i].stack;
        vd_time next = stack != NULL ? vd_stack_next_deadline(stack) : VD_TIME_NEVER;
        if (next < deadline) {
            deadline = next;
            due = stack;
        }
    }
    vd_time at = network->event_count > 0 ? network->events[0].at : VD_TIME_NEVER;
    if (due == NULL && network->event_count == 0) {
        return false;
    }
    vd_time next = at < deadline ? at : deadline;
    network->now = next > network->now ? next : network->now;
    if (deadline <= at) {
        vd_stack_expire(due, network->now);
    } else {
        struct network_event event = pop(network);
        if (event.act != NULL) {
            event.act(network, event.context, event.value);
        } else {
            arrive(network, &event);
        }
        free(event.bytes);
    }
    network_pump(network);
    return true;
}
