/* core.h - what the files of the engine share: the stack, a transaction's record, and who calls
 * whom.
 *
 *     receive.c           a datagram or message comes in, finds its transaction, or is refused
 *     client_invite.c     RFC 3261 figure 5 with RFC 6026 7.2
 *     client.c            figure 6
 *     server_invite.c     figure 7 with RFC 6026 7.1
 *     server.c            figure 8 with RFC 4320
 *     cancel.c            RFC 3261 9
 *     long_request.c      RFC 3261 18.1.1
 *     request.c           requests of ours: begin, send, abort
 *     response.c          responses of ours: begin, send
 *     response_head.c     the header fields that a response repeats from its request
 *     builder_buffer.c    a builder that writes into a buffer of the stack's
 *     stateless.c         responses to what gets no transaction
 *     failure.c           transport errors find their transaction
 *     transaction.c       records: make, find, compact, end
 *     transaction_table.c the hash of server transactions
 *     outbox.c            what waits to be pulled
 *     stack.c             make and free, endpoints, timers, deadlines
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_CORE_H
#define VIADUCT_STACK_CORE_H

#include "branch.h"
#include "buffer.h"
#include "lane.h"
#include "pool.h"
#include "siphash.h"
#include "transaction_table.h"
#include "wheel.h"

#include <viaduct/stack.h>
#include <viaduct/timer.h>
#include <viaduct/transaction.h>

/* The lengths that the timers of RFC 3261 17 have. Of timers that are due at the same instant those
 * of the lower number fire first, so that a transaction that times out sends nothing more. */
enum vd__lane_id {
    VD__LANE_ZERO,    /* D, I, J, K on reliable transports: ends once the caller's call is over */
    VD__LANE_64T1,    /* B, F, H, J, L, M; the wait after a CANCEL (9.1) */
    VD__LANE_BACKOFF, /* A, E, G: T1 doubled 0, 1, 2 ... times; E and G as long as it is below T2 */
    VD__LANE_T2 = VD__LANE_BACKOFF + 7, /* E and G at their cap */
    VD__LANE_T4,                        /* I, K */
    VD__LANE_D,
    VD__LANE_TRYING_INVITE, /* the automatic 100 of 17.2.1 */
    VD__LANE_TRYING,        /* the automatic 100 of RFC 4320 4.1 */
    VD__LANE_COUNT
};

#define VD__BACKOFF_STEPS 7

enum vd__kind {
    VD__KIND_NONE, /* the record is free, or its request is still being built */
    VD__KIND_CLIENT_INVITE,
    VD__KIND_CLIENT,
    VD__KIND_SERVER_INVITE,
    VD__KIND_SERVER
};

enum vd__flag {
    VD__FLAG_ACTIVE = 1,    /* active is set, else user */
    VD__FLAG_RELIABLE = 2,  /* on a reliable transport */
    VD__FLAG_PENDING = 4,   /* server: counted in pending_requests */
    VD__FLAG_CANCEL = 8,    /* client INVITE: to be cancelled; server INVITE: a CANCEL came */
    VD__FLAG_TABLED = 16,   /* in the table */
    VD__FLAG_INTERNAL = 32, /* the application never hears of it: a CANCEL, sent or received, or a
                               request that found no on_request */
    VD__FLAG_FAILING = 64   /* its transport error is about to be reported */
};

/* What only a transaction in progress needs. It goes back to its pool when the transaction has its
 * final response, so that one that lingers is nothing but its record (and a server's response). */
struct vd__active {
    struct vd__lane_timer retransmit; /* A, E, G, or an automatic 100 */
    void *user;
    struct vd_flow flow;     /* where messages of this transaction go */
    struct vd__buffer *head; /* server: the header fields that each response repeats */
    uint32_t index;          /* of this */
    uint32_t owner;          /* of the transaction; VD__POOL_NONE when free */
    uint32_t datagram; /* client: the local end by which the request would have left if it were
                          not too long for UDP; else VD__POOL_NONE */
    uint8_t step;      /* how often the retransmission interval was doubled */
    bool own_tag;      /* the To tag is of our making */
    char tag[16];
};

/* A transaction. The name that the application has is generation << 32 | index. */
struct vd__transaction {
    uint64_t key[2]; /* server: digest of branch and sent-by, or of what RFC 2543 peers are matched
                        by; client: the secret of the branch, and a digest of the method */
    struct vd__lane_timer timer; /* B, D, F, H, I, J, K, L, M */
    struct vd__buffer *message;  /* client: the request, then the ACK; server: the last response */
    union {
        struct vd__active *active;
        void *user;
    } u;
    uint32_t index;
    uint32_t generation;
    uint32_t method_hash; /* server: of the method and, from an RFC 2543 peer, the To tag */
    uint8_t kind;         /* enum vd__kind */
    uint8_t state;        /* enum vd_transaction_state */
    uint8_t flags;        /* enum vd__flag */
    uint8_t method;       /* enum vd_method */
};

/* A local end. prefix is the top Via of its requests up to the branch's cookie. */
struct vd__endpoint {
    char *prefix;
    uint32_t prefix_size;
    uint16_t sent_by_offset; /* in prefix */
    uint16_t sent_by_size;
    uint8_t transport; /* enum vd_transport */
    uint32_t stream;   /* the local end for requests that are too long for UDP, or VD__POOL_NONE */
};

struct vd__outgoing {
    struct vd__buffer *buffer;
    vd_transaction transaction;
};

/* A ring; capacity is a power of two. */
struct vd__outbox {
    struct vd__outgoing *items;
    uint32_t capacity;
    uint32_t first;
    uint32_t count;
};

struct vd_stack {
    struct vd_stack_config config;
    struct vd_mem mem;
    vd_time now;
    struct vd__key key;
    uint64_t nonce; /* counts up: makes branches and tags unique */

    struct vd__lane lanes[VD__LANE_COUNT];
    struct vd__wheel wheel;

    struct vd__pool transactions;
    struct vd__pool actives;
    struct vd__table table;
    struct vd__buffers buffers;
    struct vd__outbox outbox;
    struct vd__endpoint *endpoints;
    uint32_t endpoint_count;
    uint32_t endpoint_capacity;
    uint32_t pending_requests;
    /* How large the latest request was, and the latest response: a buffer of that size is likely to
     * do for the next one. */
    uint32_t request_hint;
    uint32_t response_hint;
    bool closing;

    /* The request whose on_request is running: its responses are built from its own views. */
    struct vd__transaction *current;
    struct vd_message *current_message;
    struct vd_addr current_source;

    struct vd_message message; /* for vd_stack_receive */
    struct vd_header *headers;
    struct vd_message scratch; /* for a message of ours that is read again */
    struct vd_header *scratch_headers;
    char *server; /* config.server, copied */

    struct vd_stack_counters counters;
};

/* transaction.c */
struct vd__transaction *vd__transaction_new(struct vd_stack *stack);
struct vd__transaction *vd__transaction_find(const struct vd_stack *stack, vd_transaction name);
struct vd__transaction *vd__transaction_by_branch(const struct vd_stack *stack,
                                                  struct vd_str branch);
struct vd__active *vd__active_new(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__transaction_compact(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__transaction_discard(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__transaction_terminate(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__transaction_fail(struct vd_stack *stack, struct vd__transaction *transaction, int error);
void vd__transaction_linger(struct vd_stack *stack, struct vd__transaction *transaction,
                            enum vd__lane_id lane);
void vd__transaction_answered(struct vd_stack *stack, struct vd__transaction *transaction);

static inline vd_transaction vd__transaction_name(const struct vd__transaction *transaction)
{
    return (uint64_t)transaction->generation << 32 | transaction->index;
}

static inline struct vd__active *vd__active(const struct vd__transaction *transaction)
{
    return (transaction->flags & VD__FLAG_ACTIVE) != 0 ? transaction->u.active : NULL;
}

static inline void *vd__user(const struct vd__transaction *transaction)
{
    return (transaction->flags & VD__FLAG_ACTIVE) != 0 ? transaction->u.active->user
                                                       : transaction->u.user;
}

static inline bool vd__is_server(const struct vd__transaction *transaction)
{
    return transaction->kind == VD__KIND_SERVER_INVITE || transaction->kind == VD__KIND_SERVER;
}

static inline bool vd__is_client(const struct vd__transaction *transaction)
{
    return transaction->kind == VD__KIND_CLIENT_INVITE || transaction->kind == VD__KIND_CLIENT;
}

static inline bool vd__is_reliable(const struct vd__transaction *transaction)
{
    return (transaction->flags & VD__FLAG_RELIABLE) != 0;
}

/* The machines. *_start puts a new transaction into its first state; *_response, *_request and
 * *_ack get a message that was matched with it; *_timer is for A, E, G or an automatic 100,
 * *_expire for the long timer, *_error for a transport error. */
void vd__client_invite_start(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__client_invite_response(struct vd_stack *stack, struct vd__transaction *transaction,
                                struct vd_message *response);
void vd__client_invite_timer(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__client_invite_expire(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__client_invite_error(struct vd_stack *stack, struct vd__transaction *transaction,
                             int error);

void vd__client_start(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__client_response(struct vd_stack *stack, struct vd__transaction *transaction,
                         struct vd_message *response);
void vd__client_timer(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__client_expire(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__client_error(struct vd_stack *stack, struct vd__transaction *transaction, int error);

void vd__server_invite_start(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__server_invite_request(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__server_invite_ack(struct vd_stack *stack, struct vd__transaction *transaction,
                           struct vd_message *ack, const struct vd_flow *flow);
int vd__server_invite_may_respond(const struct vd__transaction *transaction, int status);
void vd__server_invite_responded(struct vd_stack *stack, struct vd__transaction *transaction,
                                 int status);
void vd__server_invite_timer(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__server_invite_expire(struct vd_stack *stack, struct vd__transaction *transaction);

void vd__server_start(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__server_request(struct vd_stack *stack, struct vd__transaction *transaction);
int vd__server_may_respond(const struct vd_stack *stack, const struct vd__transaction *transaction,
                           int status);
void vd__server_responded(struct vd_stack *stack, struct vd__transaction *transaction, int status);
void vd__server_timer(struct vd_stack *stack, struct vd__transaction *transaction);
void vd__server_expire(struct vd_stack *stack, struct vd__transaction *transaction);

/* failure.c: routes to the machine of the transaction's kind. */
void vd__transport_error(struct vd_stack *stack, struct vd__transaction *transaction, int error);

/* cancel.c */
int vd__cancel_now(struct vd_stack *stack, struct vd__transaction *invite);
void vd__cancel_received(struct vd_stack *stack, struct vd__transaction *cancel,
                         struct vd_message *message);
struct vd__transaction *vd__cancel_find_target(const struct vd_stack *stack, const uint64_t key[2]);
struct vd__transaction *vd__cancel_find_client(const struct vd_stack *stack, struct vd_str branch);

/* request.c */
int vd__request_derive(struct vd_stack *stack, struct vd__transaction *invite, struct vd_str method,
                       struct vd_str to, struct vd__buffer **out);
int vd__request_launch(struct vd_stack *stack, struct vd__transaction *transaction,
                       struct vd__buffer *request, void *user);

/* builder_buffer.c */
int vd__builder_begin(struct vd_stack *stack, struct vd_builder *builder, size_t hint);
int vd__builder_append(struct vd_builder *builder, const char *text, size_t size);
void vd__builder_flow(struct vd_builder *builder, const struct vd_flow *flow);
struct vd__buffer *vd__builder_finish(struct vd_builder *builder);
void vd__builder_drop(struct vd_stack *stack, struct vd_builder *builder);
int vd__builder_refuse(struct vd_builder *builder, int error);
int vd__parse_own(struct vd_message *message, const char *bytes, size_t size);

/* response.c */
void vd__answer(struct vd_stack *stack, const struct vd__transaction *transaction, int status);
int vd__response_keep_head(struct vd_stack *stack, struct vd__transaction *transaction,
                           struct vd_message *request);

/* response_head.c */

/* More than what a response adds to the values that it repeats: ";received=" with an address, the
 * port of rport, ";tag=" with a tag. */
#define VD__RESPONSE_ADDED 96

int vd__response_write_head(struct vd_builder *builder, struct vd_message *request,
                            const struct vd_addr *source, struct vd_str tag);
void vd__response_flow(const struct vd_stack *stack, const struct vd_flow *source,
                       const struct vd_via *via, struct vd_flow *out);

/* stateless.c */
void vd__stateless_respond(struct vd_stack *stack, const struct vd_flow *flow,
                           struct vd_message *request, int status, const char *rule);

/* receive.c */
void vd__server_key(const struct vd_stack *stack, struct vd_message *request,
                    const struct vd_via *via, bool *rfc2543, uint64_t out[2]);

uint64_t vd__method_digest(const struct vd_stack *stack, enum vd_method id, struct vd_str name);

/* long_request.c: a request just built goes to TCP if it is too long for UDP, and back to UDP if
 * the peer refuses TCP. The caller's reference moves to the copy that is made. */
int vd__long_request_switch(struct vd_stack *stack, struct vd__buffer **request);
bool vd__long_request_fall_back(struct vd_stack *stack, struct vd__transaction *transaction,
                                int error);

/* outbox.c */
int vd__outbox_reserve(struct vd_stack *stack, uint32_t more);
void vd__outbox_push(struct vd_stack *stack, struct vd__buffer *buffer, vd_transaction transaction);

/* stack.c */
void vd__advance(struct vd_stack *stack, vd_time now);
void vd__settle(struct vd_stack *stack);
void vd__log(struct vd_stack *stack, enum vd_log_level level, int error, const char *text,
             const struct vd_flow *flow, size_t offset, struct vd_str data);
void vd__tag_write(struct vd_stack *stack, char out[16]);

static inline void vd__arm(struct vd_stack *stack, enum vd__lane_id lane,
                           struct vd__lane_timer *timer)
{
    vd__lane_arm(&stack->lanes[lane], timer, stack->now);
}

/* The lane of the next Timer E or G: the interval doubled, at most T2; T2 at once when at_cap. */
static inline enum vd__lane_id vd__backoff_capped(const struct vd_stack *stack,
                                                  struct vd__active *active, bool at_cap)
{
    unsigned next = active->step + 1u;
    if (at_cap || next >= VD__BACKOFF_STEPS ||
        stack->lanes[VD__LANE_BACKOFF + next].length >= stack->config.t2) {
        return VD__LANE_T2;
    }
    active->step = (uint8_t)next;
    return VD__LANE_BACKOFF + next;
}

#endif
