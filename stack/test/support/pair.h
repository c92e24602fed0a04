/* pair.h - a client's stack and a server's stack, joined without loss or delay under a virtual
 * clock.
 *
 * Nothing here allocates. The server answers by the user part of the Request-URI: a number is the
 * status of its answer, given in on_request; "late" waits for pair_answer, after a 180 to an
 * INVITE; a CANCEL ends an INVITE with 487. The client acknowledges each 2xx to an INVITE.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef PAIR_H
#define PAIR_H

#include <viaduct/stack.h>
#include <viaduct/transaction.h>

enum pair_endpoint { PAIR_UDP, PAIR_TCP, PAIR_ENDPOINTS };

enum pair_side { PAIR_CLIENT, PAIR_SERVER, PAIR_SIDES };

struct pair {
    struct vd_stack *stacks[PAIR_SIDES];
    vd_time now;
    unsigned serial;       /* of the latest request */
    vd_transaction server; /* the latest request that came */
    int status; /* of the latest final response that came, 0 for none since pair_request */
    int error;  /* the latest error that anything had, 0 for none */
    unsigned out_of_memory; /* how often VD_ERR_NOMEM was returned or logged */
    unsigned requests;      /* on_request */
    unsigned terminations;  /* on_terminated, of both sides */
};

/* Returns 0 or the error of vd_stack_new or vd_stack_add_endpoint; both stacks are NULL then. */
int pair_init(struct pair *pair, const struct vd_mem *mem);
void pair_free(struct pair *pair);

/* Sends a request to user, with a body of body_size bytes, and lets its messages go to and fro.
 * Returns 0 or the error; out may be NULL. */
int pair_request(struct pair *pair, enum pair_endpoint endpoint, const char *method,
                 const char *user, size_t body_size, vd_transaction *out);

/* The same without the to and fro. */
int pair_send(struct pair *pair, enum pair_endpoint endpoint, const char *method, const char *user,
              size_t body_size, vd_transaction *out);

/* Answers the latest request. */
int pair_answer(struct pair *pair, int status);

int pair_cancel(struct pair *pair, vd_transaction transaction);

/* Lets messages go to and fro until there are none. */
void pair_exchange(struct pair *pair);

/* Lets time pass. */
void pair_until(struct pair *pair, vd_time at);

/* Transactions of both sides that live or linger. */
unsigned pair_live(const struct pair *pair);

#endif
