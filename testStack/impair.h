/* impair.h - a worse network: datagrams that a side has received are lost, repeated and held back.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_IMPAIR_H
#define TESTSTACK_IMPAIR_H

#include "options.h"

#include <viaduct/stack.h>

struct held_datagram;

/* A struct of zeros lets everything pass and may be freed. */
struct impair {
    struct impairment impairment;
    uint64_t random;
    struct held_datagram *held; /* a heap, the earliest first */
    size_t held_count;
    size_t held_capacity;
    uint64_t order; /* how many were held */
    uint64_t lost;
    uint64_t repeated;
    uint64_t overtaken;
};

/* stream sets those apart that have one seed. */
void impair_init(struct impair *impair, const struct impairment *impairment, uint64_t stream);
void impair_free(struct impair *impair);

/* Decides on a datagram. False when the stack must not get it now: it is lost, or a copy is held
 * back. Without memory for a copy it is lost. */
bool impair_passes(struct impair *impair, const struct vd_flow *flow, struct vd_str bytes,
                   vd_time now);

/* Gives the stack the copies whose time has come. */
void impair_deliver(struct impair *impair, struct vd_stack *stack, vd_time now);

/* When impair_deliver must be called; VD_TIME_NEVER when nothing is held back. */
vd_time impair_deadline(const struct impair *impair);

#endif
