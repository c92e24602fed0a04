/* receiver.h - answers registrations, queries and calls.
 *
 * It has no loop and no clock of its own; the engine's callbacks do all. After receiver_new it
 * takes no memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_RECEIVER_H
#define TESTSTACK_RECEIVER_H

#include "options.h"

#include <viaduct/stack.h>

struct receiver;

/* What happened since the receiver was made. timeouts are calls whose 2xx was not acknowledged
 * within 64*T1. */
struct receiver_count {
    uint64_t requests; /* answered; retransmissions, ACK and CANCEL are none */
    uint64_t calls;    /* of these, INVITEs */
    uint64_t timeouts;
    vd_time first_at; /* the first and the last request */
    vd_time last_at;
};

/* options must outlive the receiver. The engine's endpoint n must be port n of
 * options->receiver. Returns NULL when there is no memory, after saying so. */
struct receiver *receiver_new(const struct options *options);

/* Free it after its engine. NULL is allowed. */
void receiver_free(struct receiver *receiver);

/* Sets callbacks and context of a configuration. */
void receiver_configure(struct receiver *receiver, struct vd_stack_config *config);

/* Ends every call, so that no timer is armed when the engine goes. */
void receiver_stop(struct receiver *receiver);

/* Calls that no BYE has ended yet. */
uint32_t receiver_calls(const struct receiver *receiver);

const struct receiver_count *receiver_count(const struct receiver *receiver);

/* The error for which a request could not be answered, or 0. */
int receiver_error(const struct receiver *receiver);

#endif
