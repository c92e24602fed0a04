/* impair.c - a worse network: datagrams that a side has received are lost, repeated and held back.
 *
 * SPDX-License-Identifier: MIT
 */
#include "impair.h"

#include <stdlib.h>
#include <string.h>

enum {
    CAPACITY_FIRST = 64,
    OVERTAKEN_MS = 10, /* longest time that one which others overtake is held back */
};

/* order keeps those that are due at one time in the order in which they came. */
struct held_datagram {
    vd_time due;
    uint64_t order;
    struct vd_flow flow;
    char *bytes; /* of its own */
    size_t size;
};

void impair_init(struct impair *impair, const struct impairment *impairment, uint64_t stream)
{
    *impair = (struct impair){
        .impairment = *impairment,
        .random = impairment->seed * 0x2545f4914f6cdd1d + stream,
    };
}

void impair_free(struct impair *impair)
{
    for (size_t i = 0; i < impair->held_count; i++) {
        free(impair->held[i].bytes);
    }
    free(impair->held);
    *impair = (struct impair){0};
}

/* ---- Chance ---- */

/* The generator called SplitMix64. */
static uint64_t next_random(struct impair *impair)
{
    uint64_t z = impair->random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static bool happens(struct impair *impair, double probability)
{
    static const double SCALE = 1.0 / (double)(1ull << 53);
    return probability > 0 && (double)(next_random(impair) >> 11) * SCALE < probability;
}

/* How long a copy is held back. */
static vd_time wait_of_copy(struct impair *impair)
{
    vd_time wait = impair->impairment.delay;
    if (happens(impair, impair->impairment.reorder)) {
        impair->overtaken++;
        wait += VD_MSEC + next_random(impair) % ((OVERTAKEN_MS - 1) * VD_MSEC + 1);
    }
    return wait;
}

/* ---- The heap ---- */

static bool is_earlier(const struct held_datagram *a, const struct held_datagram *b)
{
    return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void swap(struct held_datagram *a, struct held_datagram *b)
{
    struct held_datagram kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_up(struct held_datagram *held, size_t i)
{
    for (; i > 0 && is_earlier(&held[i], &held[(i - 1) / 2]); i = (i - 1) / 2) {
        swap(&held[i], &held[(i - 1) / 2]);
    }
}

static void sift_down(struct held_datagram *held, size_t count, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++) {
            least = is_earlier(&held[child], &held[least]) ? child : least;
        }
        if (least == i) {
            return;
        }
        swap(&held[i], &held[least]);
        i = least;
    }
}

static bool make_room(struct impair *impair)
{
    if (impair->held_count < impair->held_capacity) {
        return true;
    }
    size_t capacity = impair->held_capacity > 0 ? 2 * impair->held_capacity : CAPACITY_FIRST;
    struct held_datagram *held = realloc(impair->held, capacity * sizeof *held);
    if (held == NULL) {
        return false;
    }
    impair->held = held;
    impair->held_capacity = capacity;
    return true;
}

static void hold(struct impair *impair, const struct vd_flow *flow, struct vd_str bytes,
                 vd_time due)
{
    char *copy = malloc(bytes.n > 0 ? bytes.n : 1);
    if (copy == NULL || !make_room(impair)) {
        free(copy);
        impair->lost++;
        return;
    }
    if (bytes.n > 0) {
        memcpy(copy, bytes.p, bytes.n);
    }
    impair->held[impair->held_count] = (struct held_datagram){
        .due = due, .order = impair->order++, .flow = *flow, .bytes = copy, .size = bytes.n};
    sift_up(impair->held, impair->held_count++);
}

/* ---- Datagrams ---- */

bool impair_passes(struct impair *impair, const struct vd_flow *flow, struct vd_str bytes,
                   vd_time now)
{
    if (happens(impair, impair->impairment.loss)) {
        impair->lost++;
        return false;
    }
    vd_time wait = wait_of_copy(impair);
    if (wait > 0) {
        hold(impair, flow, bytes, now + wait);
    }
    if (happens(impair, impair->impairment.duplicate)) {
        impair->repeated++;
        hold(impair, flow, bytes, now + wait_of_copy(impair));
    }
    return wait == 0;
}

void impair_deliver(struct impair *impair, struct vd_stack *stack, vd_time now)
{
    while (impair->held_count > 0 && impair->held[0].due <= now) {
        struct held_datagram first = impair->held[0];
        impair->held[0] = impair->held[--impair->held_count];
        sift_down(impair->held, impair->held_count, 0);
        /* What it makes of the datagram the stack counts and logs by itself. */
        (void)vd_stack_receive(stack, &first.flow, first.bytes, first.size, now);
        free(first.bytes);
    }
}

vd_time impair_deadline(const struct impair *impair)
{
    return impair->held_count > 0 ? impair->held[0].due : VD_TIME_NEVER;
}
