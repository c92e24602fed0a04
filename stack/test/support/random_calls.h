/* random_calls.h - applications that behave at random on two stacks of a simulated network, with a
 * raw peer of RFC 2543 beside them, and that know what the stacks must and must not do.
 *
 * Each request is a struct call, which both ends share: the client finds it by its user pointer,
 * the server by the number at the front of the Call-ID. The first rule that a stack breaks is kept
 * as a text.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef RANDOM_CALLS_H
#define RANDOM_CALLS_H

#include "counting_mem.h"
#include "network.h"

#include <viaduct/timer.h>
#include <viaduct/transaction.h>

#define CALLS_MAX 16
#define CALLS_END 2 /* nodes with a stack */
#define CALLS_RAW 2 /* the node of the raw peer */

/* What a server does with a request. */
enum call_answer {
    CALL_ANSWER_AT_ONCE, /* in on_request */
    CALL_ANSWER_LATER,   /* when its timer fires */
    CALL_ANSWER_AT_END,  /* only when the run ends */
    CALL_ANSWER_NEVER,   /* a non-INVITE only */
    CALL_ANSWERS
};

struct call {
    struct calls *calls;
    unsigned id;
    unsigned from;
    unsigned to;
    enum network_endpoint endpoint;
    bool invite;

    /* How the server behaves. */
    enum call_answer answer;
    unsigned provisionals; /* before the final response */
    int status;            /* of the final response */
    bool twice;            /* sends a second final response */
    bool resends;          /* vd_response_resend, some time after */
    bool forgets;          /* hangs no user pointer on the transaction */
    int on_cancel;         /* status to answer a CANCEL with at once, 0 for not at all */
    struct vd_timer timer;

    /* How the client behaves. */
    bool acknowledges; /* a 2xx */
    bool chains;       /* sends another request from its callback */

    /* What happened at the client. */
    vd_transaction client;
    bool sent;
    bool succeeded; /* a 2xx came */
    bool concluded; /* another final response came */
    bool failed;
    bool cancelled; /* vd_request_cancel was called, and took it */
    bool client_ended;
    uint64_t client_end_epoch;

    /* What happened at the server. */
    vd_transaction server;
    int deliveries;
    int final; /* status of the first final response, 0 for none */
    int cancels;
    bool server_failed;
    bool server_ended;
    uint64_t server_end_epoch;
};

struct party {
    struct calls *calls;
    unsigned node;
    struct vd_stack *stack;
    struct counting_mem memory;
    unsigned requests;     /* on_request */
    unsigned sent;         /* requests that became a transaction */
    unsigned terminations; /* on_terminated */
};

struct calls {
    struct network network;
    struct party parties[CALLS_END];
    struct call calls[CALLS_MAX];
    unsigned count;
    bool closing;       /* no new requests */
    const char *broken; /* the first rule that was broken, NULL for none */
};

/* Makes two stacks and the network; all follows from seed. */
void calls_init(struct calls *calls, uint64_t seed);

/* Starts some calls, a few seconds apart at most. */
void calls_begin(struct calls *calls);

/* Ends whatever waits for an application: cancels every INVITE, and a while later gives every
 * request that is open its final response. */
void calls_end(struct calls *calls);

/* Frees the stacks: that ends what is still alive. */
void calls_free(struct calls *calls);

/* Notes that a rule was broken unless condition is true. */
void calls_check(struct calls *calls, bool condition, const char *rule);

#endif
