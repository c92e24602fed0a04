/* sender.h - makes registrations, queries or calls, a window of them at a time.
 *
 * It has no loop and no clock of its own: the engine's callbacks take an exchange (a registration,
 * a query or a call) on, sender_advance and sender_fill are called once in each turn of whatever
 * drives the engine. After sender_new it takes no memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_SENDER_H
#define TESTSTACK_SENDER_H

#include "latency.h"
#include "options.h"

#include <viaduct/stack.h>

struct sender;

enum sender_phase {
    SENDER_WARMING_UP,
    SENDER_COUNTING,
    SENDER_DRAINING, /* the count is over, exchanges that are outstanding end */
    SENDER_DONE,
};

/* What happened since the counting began. A latency is one of a transaction, from the turn in which
 * the request was made to the turn in which its final response came. failures are exchanges that
 * were not completed, timeouts those of them that got no final response within 64*T1. */
struct sender_count {
    uint64_t exchanges;
    uint64_t failures;
    uint64_t timeouts;
    struct latency latency;
};

/* options must outlive the sender. The engine's endpoint n must be port n of options->sender.
 * Returns NULL when there is no memory, after saying so. */
struct sender *sender_new(const struct options *options);

/* Free it after its engine. NULL is allowed. */
void sender_free(struct sender *sender);

/* Sets callbacks and context of a configuration. */
void sender_configure(struct sender *sender, struct vd_stack_config *config);

/* Cancels every timer, so that none is armed when the engine goes. */
void sender_stop(struct sender *sender);

/* Changes the phase when its time has come, and returns the present one. The first call begins the
 * warm-up, or the counting when there is none. */
enum sender_phase sender_advance(struct sender *sender, vd_time now);

/* Begins as many exchanges as the window and the phase allow. */
void sender_fill(struct sender *sender, struct vd_stack *stack, vd_time now);

/* When sender_advance must be called even if nothing else happens; VD_TIME_NEVER for never. */
vd_time sender_deadline(const struct sender *sender);

/* The error because of which no further exchange can be made, or 0. */
int sender_error(const struct sender *sender);

/* True when so many exchanges failed one after the other that no other outcome is to be expected.
 */
bool sender_is_hopeless(const struct sender *sender);

const struct sender_count *sender_count(const struct sender *sender);

#endif
