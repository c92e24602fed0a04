/* network.h - joins stacks by a simulated network under a virtual clock.
 *
 * What a stack sends is pulled after each call and becomes events in the future. UDP loses,
 * duplicates, delays and reorders, refuses to send, and answers with ICMP errors; TCP keeps order
 * and cuts its bytes at random. All chance comes from one seed, so a run can be repeated. Events
 * and deadlines of the stacks are served in the order of their times.
 *
 * Node n has the address 192.0.2.(n + 1), port 5060, and two endpoints; one TCP connection joins
 * each pair of nodes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NETWORK_H
#define NETWORK_H

#include "test_random.h"

#include <viaduct/frame.h>
#include <viaduct/stack.h>

#define NETWORK_NODES   3
#define NETWORK_HEADERS 64

enum network_endpoint { NETWORK_UDP, NETWORK_TCP, NETWORK_ENDPOINTS };

/* Chances are in thousandths, for each UDP message. */
struct network_faults {
    unsigned loss;
    unsigned duplication;
    unsigned send_failure; /* vd_stack_send_failed */
    unsigned icmp;         /* lost, and vd_stack_icmp_error with a part of the message */
    vd_time delay;         /* of every message */
    vd_time jitter;        /* up to so much more */
};

struct network;

/* Something that is to happen at a time. */
typedef void (*network_fn)(struct network *network, void *context, uint64_t value);

/* What has come on a connection from another node and is no whole message yet. */
struct network_stream {
    struct vd_framer framer;
    char *bytes;
    size_t size;
};

struct network_node {
    struct vd_stack *stack; /* NULL for a raw peer */
    struct vd_addr addr;
    struct network_stream streams[NETWORK_NODES];
};

struct network_event {
    vd_time at;
    uint64_t order; /* of events at one time */
    network_fn act; /* NULL for bytes, or an ICMP error, that arrive */
    void *context;
    uint64_t value;
    unsigned from;
    unsigned to;
    enum network_endpoint endpoint;
    uint32_t connection;
    int icmp_error; /* 0 for bytes */
    char *bytes;    /* a block of just this size, so that a memory checker sees an overrun */
    size_t size;
};

struct network {
    struct test_random random;
    struct network_faults faults;
    vd_time now;
    struct network_node nodes[NETWORK_NODES];
    unsigned node_count;
    uint32_t connections[NETWORK_NODES][NETWORK_NODES]; /* number of the present one; symmetric */
    uint32_t last_connection;

    /* Called for each message that a stack sends, before its fate is decided; and for what arrives
     * at a raw peer. Both may be NULL. */
    void (*on_send)(struct network *network, unsigned node, const struct vd_send *send);
    void (*on_raw)(struct network *network, unsigned node, unsigned from, const char *bytes,
                   size_t size);
    void *context; /* for these */

    uint64_t epoch; /* counts the times that all outboxes were emptied */
    uint64_t pulled;
    uint64_t given_back;
    uint64_t framing_errors;

    struct network_event *events; /* a heap */
    size_t event_count;
    size_t event_capacity;
    uint64_t last_order;
    vd_time stream_times[NETWORK_NODES][NETWORK_NODES]; /* when the latest bytes arrive */

    struct vd_message message; /* for streams */
    struct vd_header headers[NETWORK_HEADERS];
};

/* The virtual clock starts at an odd time, not at 0. */
void network_init(struct network *network, uint64_t seed);

/* Drops all events. The stacks stay the caller's; they may be freed before or afterwards. */
void network_free(struct network *network);

/* Returns the number of the new node; stack gets its two endpoints, numbered as enum
 * network_endpoint. NULL makes a raw peer. */
unsigned network_add(struct network *network, struct vd_stack *stack);

/* How a message of one node reaches another. */
struct vd_flow network_flow(const struct network *network, unsigned from, unsigned to,
                            enum network_endpoint endpoint);

/* True with a chance of so many thousandths. */
bool network_chance(struct network *network, unsigned thousandths);

/* Lets something happen after a while. */
void network_after(struct network *network, vd_time delay, network_fn act, void *context,
                   uint64_t value);

/* Sends a datagram of a raw peer. */
void network_send(struct network *network, unsigned from, unsigned to, const char *bytes,
                  size_t size);

/* Breaks the connection of two nodes; the next message between them makes a new one. */
void network_break(struct network *network, unsigned a, unsigned b);

/* Pulls all that the stacks have to send. network_step does it after each event. */
void network_pump(struct network *network);

/* Serves the next event or deadline. Returns false when there is none. */
bool network_step(struct network *network);

#endif
