/* floor_exchange.c - the floor's sender and receiver.
 *
 * An exchange is a REGISTER and its 200, or a call of six messages (INVITE, 180, 200, ACK, BYE,
 * 200). The sender keeps a window of exchanges outstanding, each on the next pair of ports; the
 * receiver answers and remembers nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "floor.h"

#include <stdlib.h>
#include <time.h>

static const int64_t MILLISECOND = 1000000;

/* As SIP's T1 and 64*T1 (RFC 3261 17.1.1.1), but without doubling and looked at coarsely. Over TCP
 * nothing is sent again. */
static const int64_t RESEND_AFTER = 500 * MILLISECOND;
static const int64_t RESEND_CHECK = 50 * MILLISECOND;
static const uint32_t RESEND_LIMIT = 64;

struct slot {
    uint32_t sequence;
    uint32_t awaited; /* kind of the message that takes it on; FLOOR_KIND_COUNT: not in use */
    uint32_t socket;
    uint32_t waits; /* of RESEND_AFTER */
    int64_t sent_at;
};

enum phase {
    WARMING_UP,
    COUNTING,
    DRAINING, /* the count is over, exchanges that are outstanding end */
};

struct floor_sender {
    const struct floor_options *options;
    struct floor_loop *loop;
    struct floor_socket *sockets;
    struct floor_address *peers; /* the receiver's address for each socket */
    pid_t receiver;              /* whose CPU time is counted too; 0 for none */
    struct slot *slots;
    uint32_t slot_count;
    uint32_t next_socket;
    uint32_t outstanding;
    enum phase phase;
    bool failed;
    bool interrupted;
    int64_t now;
    int64_t began_at; /* of the phase */
    int64_t resend_check_at;
    uint64_t completed; /* since the phase began, as resends and cpu */
    uint64_t resends;
    int64_t cpu;
    struct floor_result result;
};

struct floor_receiver {
    struct floor_loop *loop;
    struct floor_socket *sockets;
    uint32_t socket_count;
    bool failed;
};

static int64_t read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000 * MILLISECOND + time.tv_nsec;
}

/* ---- Sender ---- */

static void send_message(struct floor_sender *sender, uint32_t index, enum floor_kind kind)
{
    struct slot *slot = &sender->slots[index];
    struct floor_header header = {.slot = index, .sequence = slot->sequence, .kind = kind};
    slot->sent_at = sender->now;
    if (floor_loop_send(sender->loop, floor_socket_at(sender->sockets, slot->socket),
                        &sender->peers[slot->socket], &header) < 0) {
        sender->failed = true;
    }
}

static void begin_exchange(struct floor_sender *sender, uint32_t index)
{
    struct slot *slot = &sender->slots[index];
    bool invite = sender->options->invite;
    slot->sequence++;
    slot->waits = 0;
    slot->socket = sender->next_socket;
    slot->awaited = invite ? FLOOR_INVITE_200 : FLOOR_REGISTER_200;
    if (++sender->next_socket == sender->options->ports) {
        sender->next_socket = 0;
    }
    sender->outstanding++;
    send_message(sender, index, invite ? FLOOR_INVITE : FLOOR_REGISTER);
}

static bool may_begin(const struct floor_sender *sender)
{
    if (sender->phase != COUNTING) {
        return sender->phase == WARMING_UP;
    }
    return sender->options->duration > 0 ||
           sender->completed + sender->outstanding < sender->options->runs;
}

static void end_exchange(struct floor_sender *sender, uint32_t index)
{
    sender->slots[index].awaited = FLOOR_KIND_COUNT;
    sender->outstanding--;
    sender->completed++;
    if (may_begin(sender)) {
        begin_exchange(sender, index);
    }
}

static void sender_on_message(void *side, struct floor_socket *socket,
                              const struct floor_header *header, const struct floor_address *from)
{
    struct floor_sender *sender = side;
    (void)socket;
    (void)from;
    if (header->slot >= sender->slot_count) {
        return;
    }
    struct slot *slot = &sender->slots[header->slot];
    if (header->sequence != slot->sequence || header->kind != slot->awaited) {
        return; /* a 180, or a duplicate after a resend */
    }
    if (header->kind == FLOOR_INVITE_200) {
        slot->awaited = FLOOR_BYE_200;
        slot->waits = 0;
        send_message(sender, header->slot, FLOOR_ACK);
        send_message(sender, header->slot, FLOOR_BYE);
    } else {
        end_exchange(sender, header->slot);
    }
}

static int resend_overdue(struct floor_sender *sender)
{
    if (sender->now < sender->resend_check_at) {
        return 0;
    }
    sender->resend_check_at = sender->now + RESEND_CHECK;
    for (uint32_t i = 0; i < sender->slot_count; i++) {
        struct slot *slot = &sender->slots[i];
        if (slot->awaited == FLOOR_KIND_COUNT || sender->now - slot->sent_at < RESEND_AFTER) {
            continue;
        }
        if (++slot->waits > RESEND_LIMIT) {
            return floor_fail("no answer from %s port %u", sender->options->bind_text,
                              sender->options->receiver_port + slot->socket);
        }
        if (sender->options->tcp) {
            slot->sent_at = sender->now;
            continue;
        }
        sender->resends++;
        /* In each exchange a request's kind is the one before its response's, the 180 aside. */
        send_message(sender, i,
                     slot->awaited == FLOOR_INVITE_200 ? FLOOR_INVITE : slot->awaited - 1);
    }
    return 0;
}

static int64_t read_cpu(const struct floor_sender *sender)
{
    clockid_t receiver;
    int64_t cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    if (sender->receiver != 0 && clock_getcpuclockid(sender->receiver, &receiver) == 0) {
        cpu += read_clock(receiver);
    }
    return cpu;
}

static void begin_counting(struct floor_sender *sender)
{
    sender->phase = COUNTING;
    sender->began_at = sender->now;
    sender->completed = 0;
    sender->resends = 0;
    sender->cpu = read_cpu(sender);
}

static void end_counting(struct floor_sender *sender)
{
    if (sender->phase == COUNTING) {
        sender->result = (struct floor_result){
            .exchanges = sender->completed,
            .pairs = sender->completed * (sender->options->invite ? 2 : 1),
            .resends = sender->resends,
            .began = sender->began_at,
            .ended = read_clock(CLOCK_MONOTONIC),
            .cpu = read_cpu(sender) - sender->cpu,
        };
    }
    sender->phase = DRAINING;
}

static void change_phase(struct floor_sender *sender)
{
    const struct floor_options *options = sender->options;
    if (sender->phase == WARMING_UP && sender->now - sender->began_at >= options->warmup) {
        begin_counting(sender);
    }
    if (sender->phase == COUNTING &&
        (options->duration > 0 ? sender->now - sender->began_at >= options->duration
                               : sender->completed >= options->runs)) {
        end_counting(sender);
    }
}

int floor_sender_run(struct floor_sender *sender, const volatile sig_atomic_t *interrupted)
{
    sender->now = read_clock(CLOCK_MONOTONIC);
    sender->began_at = sender->now;
    change_phase(sender);
    for (uint32_t i = 0; i < sender->slot_count && may_begin(sender); i++) {
        begin_exchange(sender, i);
    }
    while (sender->outstanding > 0 || sender->phase != DRAINING) {
        if (floor_loop_flush(sender->loop) < 0 ||
            floor_loop_wait(sender->loop, (int)(RESEND_CHECK / MILLISECOND)) < 0) {
            return -1;
        }
        sender->now = read_clock(CLOCK_MONOTONIC);
        if (floor_loop_receive(sender->loop) < 0) {
            return -1;
        }
        change_phase(sender);
        if (*interrupted != 0) {
            sender->interrupted = true;
            end_counting(sender);
            return 0;
        }
        if (resend_overdue(sender) < 0 || sender->failed || floor_loop_stopped(sender->loop)) {
            return -1;
        }
    }
    return 0;
}

void floor_sender_result(const struct floor_sender *sender, struct floor_result *result)
{
    *result = sender->result;
    result->complete =
        !sender->interrupted && sender->phase == DRAINING && sender->outstanding == 0;
}

static int allocate_slots(struct floor_sender *sender)
{
    const struct floor_options *options = sender->options;
    sender->slot_count = options->window;
    if (options->duration == 0 && options->runs < options->window) {
        sender->slot_count = options->runs > 0 ? (uint32_t)options->runs : 1;
    }
    sender->slots = calloc(sender->slot_count, sizeof *sender->slots);
    sender->peers = calloc(options->ports, sizeof *sender->peers);
    if (sender->slots == NULL || sender->peers == NULL) {
        return floor_fail("out of memory");
    }
    for (uint32_t i = 0; i < sender->slot_count; i++) {
        sender->slots[i].awaited = FLOOR_KIND_COUNT;
    }
    for (uint32_t i = 0; i < options->ports; i++) {
        sender->peers[i] = floor_address_at(options, options->receiver_port + i);
    }
    return 0;
}

struct floor_sender *floor_sender_new(const struct floor_options *options, struct floor_loop *loop,
                                      pid_t receiver)
{
    struct floor_sender *sender = calloc(1, sizeof *sender);
    if (sender == NULL) {
        floor_fail("out of memory");
        return NULL;
    }
    sender->options = options;
    sender->loop = loop;
    sender->receiver = receiver;
    if (allocate_slots(sender) == 0) {
        sender->sockets = floor_sockets_open(loop, options->sender_port, sender->peers,
                                             sender_on_message, sender);
    }
    if (sender->sockets == NULL) {
        floor_sender_free(sender);
        return NULL;
    }
    return sender;
}

void floor_sender_free(struct floor_sender *sender)
{
    if (sender == NULL) {
        return;
    }
    floor_sockets_close(sender->sockets, sender->options->ports);
    free(sender->peers);
    free(sender->slots);
    free(sender);
}

/* ---- Receiver ---- */

static int answer(struct floor_receiver *receiver, struct floor_socket *socket,
                  const struct floor_header *request, enum floor_kind kind,
                  const struct floor_address *to)
{
    struct floor_header header = *request;
    header.kind = kind;
    return floor_loop_send(receiver->loop, socket, to, &header);
}

static void receiver_on_message(void *side, struct floor_socket *socket,
                                const struct floor_header *header, const struct floor_address *from)
{
    struct floor_receiver *receiver = side;
    int error = 0;
    switch (header->kind) {
    case FLOOR_REGISTER:
        error = answer(receiver, socket, header, FLOOR_REGISTER_200, from);
        break;
    case FLOOR_INVITE:
        error = answer(receiver, socket, header, FLOOR_INVITE_180, from);
        error |= answer(receiver, socket, header, FLOOR_INVITE_200, from);
        break;
    case FLOOR_BYE:
        error = answer(receiver, socket, header, FLOOR_BYE_200, from);
        break;
    default:
        break; /* an ACK, or a stranger's */
    }
    if (error < 0) {
        floor_loop_stop(receiver->loop);
    }
}

struct floor_receiver *floor_receiver_new(const struct floor_options *options,
                                          struct floor_loop *loop)
{
    struct floor_receiver *receiver = calloc(1, sizeof *receiver);
    if (receiver == NULL) {
        floor_fail("out of memory");
        return NULL;
    }
    receiver->loop = loop;
    receiver->socket_count = options->ports;
    receiver->sockets =
        floor_sockets_open(loop, options->receiver_port, NULL, receiver_on_message, receiver);
    if (receiver->sockets == NULL) {
        floor_receiver_free(receiver);
        return NULL;
    }
    return receiver;
}

void floor_receiver_free(struct floor_receiver *receiver)
{
    if (receiver == NULL) {
        return;
    }
    floor_sockets_close(receiver->sockets, receiver->socket_count);
    free(receiver);
}

void floor_receiver_run(struct floor_loop *loop)
{
    while (!floor_loop_stopped(loop)) {
        if (floor_loop_flush(loop) < 0 || floor_loop_wait(loop, -1) < 0 ||
            floor_loop_receive(loop) < 0) {
            break;
        }
    }
}
