/* exchange.h - a client and a server, real stacks on real sockets of the loopback interface.
 *
 * Each has a loop of its own, so that a test turns the one or the other. Ports are the kernel's
 * choice.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <viaduct/loop.h>
#include <viaduct/stack.h>
#include <viaduct/transaction.h>
#include <viaduct/udp.h>

#include "counting_mem.h"

/* More turns than any exchange takes: a test that needs more has failed. */
#define TURNS_MAX 10000

/* One side: a loop, its only stack, the first socket of it, and what was seen of it. */
struct side {
    struct counting_mem loop_mem;
    struct counting_mem stack_mem;
    struct vd_loop *loop;
    struct vd_stack *stack;
    uint32_t endpoint;
    struct vd_addr addr;

    /* What the test does in a turn and when a transaction has failed; may be NULL. */
    void (*on_turn)(struct side *side);
    void (*on_failure)(struct side *side);

    unsigned turns;
    vd_time now; /* as on_turn was told last */
    unsigned requests;
    unsigned responses;
    unsigned failures;
    unsigned terminated;
    int last_error; /* of a failure */
    /* By the error of the failure, negated. */
    unsigned failures_by_error[64];
    char sent_by[64];    /* of the last request's top Via */
    uint32_t cseq[1024]; /* of each request, in order */

    unsigned log_events;
    int last_log_error;
    int last_system_error;
};

struct exchange {
    struct side client;
    struct side server;
};

/* 127.0.0.1 and ::1, port 0. */
struct vd_addr loopback_ip4(void);
struct vd_addr loopback_ip6(void);

/* Both sides with a socket each on bind; false when they cannot be made. options may be NULL. */
bool exchange_init(struct exchange *exchange, const struct vd_addr *bind,
                   const struct vd_udp_options *options);

/* Frees both; false when memory is missing or was given back wrongly. */
bool exchange_free(struct exchange *exchange);

/* One side without a socket, and its end. */
bool side_init(struct side *side);
bool side_free(struct side *side);

/* Starts an OPTIONS with the CSeq number from an endpoint of the side to a destination. */
int side_request_from(struct side *side, uint32_t endpoint, const struct vd_addr *to,
                      uint32_t cseq);

/* The same from the side's first socket. */
int side_request(struct side *side, const struct vd_addr *to, uint32_t cseq);

/* Turns until *counter is at least target; false when it does not come to that. */
bool side_turn_until(struct side *side, const unsigned *counter, unsigned target);

/* Turns both until *counter is at least target. */
bool exchange_turn_until(struct exchange *exchange, const unsigned *counter, unsigned target);

/* The counters of the side's sockets. */
struct vd_udp_counters side_counters(const struct side *side);

/* An address of the same family on which nobody listens. */
struct vd_addr closed_port(const struct vd_addr *bind);

#endif
