/* side.h - one side of the test: a loop, an engine, and the sockets that join them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_SIDE_H
#define TESTSTACK_SIDE_H

#include "impair.h"
#include "memory_count.h"
#include "options.h"

#include <viaduct/loop.h>
#include <viaduct/stack.h>
#include <viaduct/tcp.h>
#include <viaduct/tls.h>
#include <viaduct/udp.h>

#include <stdatomic.h>

/* What a side has counted from its start to its end, the warm-up included. */
struct side_counters {
    struct vd_stack_counters stack;
    struct vd_loop_counters loop; /* of the loop, also when two sides share it */
    struct vd_udp_counters udp;   /* as loop */
    struct vd_tcp_counters tcp;   /* as loop; TLS counts here too */
    struct vd_tls_counters tls;   /* as loop */
    uint64_t lost;                /* by the impairment */
    uint64_t repeated;
    uint64_t overtaken;
};

/* The functions of a side are called from the thread that runs its loop, except side_stop. A struct
 * of zeros may be closed. */
struct side {
    const char *name; /* "sender" or "receiver", for messages */
    const struct options *options;
    struct vd_loop *loop;
    struct vd_stack *stack;
    struct memory_count memory; /* of the engine alone */
    struct impair impair;
    bool owns_loop;
    int system_error; /* errno of the last error event of the loop */
    atomic_bool stopped;
};

/* Called once a turn of the loop. */
typedef void (*side_turn_fn)(struct vd_loop *loop, vd_time now, void *context);

/* Makes the loop. The side must stay where it is. Returns 0, or -1 after saying why not. */
int side_open_loop(struct side *side, const char *name, const struct options *options,
                   side_turn_fn on_turn, void *context);

/* Takes the loop of another side, which is closed after this one. */
void side_share_loop(struct side *side, const char *name, const struct side *other);

/* Makes the engine, which gets the side's allocator and log, and opens options->ports endpoints
 * from first up; the engine's endpoint n is port n. listen: they accept connections, if they are of
 * a transport that has any. Returns 0, or -1 after saying why not. */
int side_open_stack(struct side *side, struct vd_stack_config *config, const struct vd_addr *first,
                    bool listen);

/* Must be called in each turn of the loop: gives the engine what the impairment has held back. */
void side_turn(struct side *side, vd_time now);

/* When side_turn must be called even if nothing else happens; VD_TIME_NEVER for never. */
vd_time side_deadline(const struct side *side);

/* Turns until side_stop is called. Returns 0, or -1 after saying what failed. */
int side_run(struct side *side);

/* Ends side_run. From any thread and from a signal handler. */
void side_stop(struct side *side);

void side_get_counters(const struct side *side, struct side_counters *out);

/* Frees the loop if it is the side's own; then the engine may go, and is freed by side_close_stack.
 */
void side_close_loop(struct side *side);
void side_close_stack(struct side *side);

#endif
