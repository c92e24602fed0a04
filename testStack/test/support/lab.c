/* lab.c - a sender and a receiver joined without sockets, under a virtual clock.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *p)
{
    if (p == NULL) {
        abort();
    }
    return p;
}

struct options lab_options(uint64_t runs, uint32_t window)
{
    struct options options = {
        .ports = 1,
        .window = window,
        .runs = runs,
        .longest_wait = VD_TIME_NEVER,
    };
    vd_addr_parse(VD_STR("127.0.0.1"), 11000, &options.sender);
    return options;
}

static uint16_t first_port(const struct lab *lab, unsigned side)
{
    return side == LAB_RECEIVER ? lab->options.receiver.port : lab->options.sender.port;
}

/* The port of a side that a number names. */
static struct vd_addr address_of(const struct lab *lab, unsigned side, uint16_t port)
{
    struct vd_addr address = side == LAB_RECEIVER ? lab->options.receiver : lab->options.sender;
    address.port = port;
    return address;
}

static void make_stack(struct lab *lab, unsigned side)
{
    struct vd_stack_config config;
    char text[VD_ADDR_TEXT_SIZE];
    uint32_t endpoint;
    vd_stack_config_init(&config);
    if (side == LAB_SENDER) {
        sender_configure(lab->sender, &config);
    } else {
        receiver_configure(lab->receiver, &config);
    }
    if (vd_stack_new(&lab->stacks[side], &config) != 0) {
        abort();
    }
    for (uint32_t i = 0; i < lab->options.ports; i++) {
        struct vd_addr address = address_of(lab, side, (uint16_t)(first_port(lab, side) + i));
        size_t size = vd_addr_format(&address, text);
        if (vd_stack_add_endpoint(lab->stacks[side], lab->options.transport, vd_str(text, size),
                                  &endpoint) != 0) {
            abort();
        }
    }
}

void lab_init(struct lab *lab, const struct options *options)
{
    *lab = (struct lab){.options = *options, .now = 987654321, .began_at = 987654321};
    lab->options.receiver = options_port(&lab->options.sender, lab->options.ports);
    lab->sender = must(sender_new(&lab->options));
    lab->receiver = must(receiver_new(&lab->options));
    make_stack(lab, LAB_SENDER);
    make_stack(lab, LAB_RECEIVER);
}

void lab_free(struct lab *lab)
{
    receiver_stop(lab->receiver);
    sender_stop(lab->sender);
    vd_stack_free(lab->stacks[LAB_SENDER]);
    vd_stack_free(lab->stacks[LAB_RECEIVER]);
    sender_free(lab->sender);
    receiver_free(lab->receiver);
    for (size_t i = 0; i < lab->count; i++) {
        free(lab->messages[i].bytes);
    }
    free(lab->messages);
    free(lab->dropped);
}

/* ---- Messages ---- */

static void name_message(struct lab_message *message)
{
    const char *cseq = strstr(message->bytes, "\r\nCSeq: ");
    const char *method = must(cseq == NULL ? NULL : strchr(cseq + 8, ' ')) + 1;
    int size = (int)strcspn(method, "\r");
    if (strncmp(message->bytes, "SIP/2.0 ", 8) == 0) {
        snprintf(message->what, sizeof message->what, "%.3s %.*s", message->bytes + 8, size,
                 method);
    } else {
        snprintf(message->what, sizeof message->what, "%.*s", size, method);
    }
}

static void note(struct lab *lab, unsigned from, const struct vd_send *send)
{
    if (lab->count == lab->capacity) {
        lab->capacity = lab->capacity != 0 ? 2 * lab->capacity : 64;
        lab->messages = must(realloc(lab->messages, lab->capacity * sizeof *lab->messages));
        lab->dropped = must(realloc(lab->dropped, lab->capacity * sizeof *lab->dropped));
    }
    struct lab_message *message = &lab->messages[lab->count];
    *message = (struct lab_message){
        .at = lab->now - lab->began_at,
        .from = from,
        .from_port = (uint16_t)(first_port(lab, from) + send->flow.endpoint),
        .to_port = send->flow.remote.port,
        .bytes = must(malloc(send->size + 1)),
        .size = send->size,
    };
    memcpy(message->bytes, send->data, send->size);
    message->bytes[send->size] = '\0';
    name_message(message);
    lab->dropped[lab->count] = lab->passes != NULL && !lab->passes(lab, message);
    lab->count++;
}

/* True when something was sent. */
static bool pull(struct lab *lab)
{
    size_t before = lab->count;
    struct vd_send send;
    for (unsigned side = 0; side < LAB_SIDES; side++) {
        while (vd_stack_poll_send(lab->stacks[side], &send, 1) == 1) {
            note(lab, side, &send);
            vd_stack_send_done(lab->stacks[side], &send);
        }
    }
    return lab->count > before;
}

static void deliver(struct lab *lab)
{
    size_t end = lab->count;
    for (; lab->delivered < end; lab->delivered++) {
        const struct lab_message *message = &lab->messages[lab->delivered];
        unsigned to = 1 - message->from;
        struct vd_flow flow = {.endpoint = (uint32_t)(message->to_port - first_port(lab, to)),
                               .remote = address_of(lab, message->from, message->from_port)};
        if (!lab->dropped[lab->delivered]) {
            vd_stack_receive(lab->stacks[to], &flow, message->bytes, message->size, lab->now);
        }
    }
}

void lab_inject(struct lab *lab, unsigned side, const char *bytes, size_t size)
{
    struct vd_flow flow = {.remote = address_of(lab, 1 - side, first_port(lab, 1 - side))};
    vd_stack_receive(lab->stacks[side], &flow, bytes, size, lab->now);
    pull(lab);
}

/* ---- Time ---- */

static enum sender_phase turn_sender(struct lab *lab)
{
    enum sender_phase phase = sender_advance(lab->sender, lab->now);
    sender_fill(lab->sender, lab->stacks[LAB_SENDER], lab->now);
    return phase;
}

static vd_time next_event(const struct lab *lab)
{
    vd_time next = sender_deadline(lab->sender);
    for (unsigned side = 0; side < LAB_SIDES; side++) {
        vd_time other = vd_stack_next_deadline(lab->stacks[side]);
        next = other < next ? other : next;
    }
    return next;
}

/* Moves the clock to the next event and lets it happen. False when there is none before limit. */
static bool step(struct lab *lab, vd_time limit)
{
    pull(lab);
    vd_time next = next_event(lab);
    if (lab->delivered < lab->count && lab->now + LAB_DELAY < next) {
        next = lab->now + LAB_DELAY;
    }
    if (next > limit) {
        return false;
    }
    lab->now = next > lab->now ? next : lab->now;
    deliver(lab);
    vd_stack_expire(lab->stacks[LAB_SENDER], lab->now);
    vd_stack_expire(lab->stacks[LAB_RECEIVER], lab->now);
    return true;
}

bool lab_run(struct lab *lab, vd_time limit)
{
    vd_time end = lab->now + limit;
    for (;;) {
        if (turn_sender(lab) == SENDER_DONE || sender_is_hopeless(lab->sender)) {
            pull(lab);
            return true;
        }
        if (sender_error(lab->sender) != 0 || !step(lab, end)) {
            return false;
        }
    }
}

void lab_wait(struct lab *lab, vd_time duration)
{
    vd_time end = lab->now + duration;
    while (step(lab, end)) {
        turn_sender(lab);
    }
    pull(lab);
    lab->now = end;
}

/* ---- Looking ---- */

unsigned lab_count(const struct lab *lab, const char *what)
{
    unsigned found = 0;
    for (size_t i = 0; i < lab->count; i++) {
        found += strcmp(lab->messages[i].what, what) == 0;
    }
    return found;
}

const struct lab_message *lab_find(const struct lab *lab, const char *what, unsigned skip)
{
    for (size_t i = 0; i < lab->count; i++) {
        if (strcmp(lab->messages[i].what, what) == 0 && skip-- == 0) {
            return &lab->messages[i];
        }
    }
    return NULL;
}

const char *lab_header(const struct lab_message *message, const char *name)
{
    static char values[4][256];
    static unsigned next;
    char start[64];
    char *value = values[next++ % 4];
    snprintf(start, sizeof start, "\r\n%s: ", name);
    const char *found = strstr(message->bytes, start);
    value[0] = '\0';
    if (found != NULL) {
        found += strlen(start);
        snprintf(value, sizeof values[0], "%.*s", (int)strcspn(found, "\r"), found);
    }
    return value;
}
