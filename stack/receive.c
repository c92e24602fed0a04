/* receive.c - what comes in: checked, matched with its transaction (RFC 3261 17.1.3, 17.2.3), or
 * refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

/* At most this many server transactions have the same key: those of one branch, which differ in
 * their method, or of one request of an RFC 2543 peer, which differ in the To tag as well. A branch
 * is unique to a request (RFC 3261 8.1.1.7), so there are seldom two; without a bound a peer could
 * make us search ever longer for each request. */
#define SHARERS_MAX 32

uint64_t vd__method_digest(const struct vd_stack *stack, enum vd_method id, struct vd_str name)
{
    struct vd__siphash hash;
    uint64_t out[2];
    if (id != VD_METHOD_OTHER) {
        return (uint64_t)id;
    }
    vd__siphash_init(&hash, &stack->key);
    vd__siphash_update(&hash, name.p, name.n);
    vd__siphash_final(&hash, out);
    return out[0] | UINT64_C(1) << 32;
}

/* The digest of what a request is matched by: branch and sent-by, or, when the peer is of RFC 2543,
 * the Request-URI, From tag, Call-ID, CSeq number and the whole top Via (17.2.3). The method is
 * compared apart, since ACK and CANCEL look for a transaction of another method; the To tag, too. A
 * NUL, which none of them can hold, keeps values apart that would look alike when joined. */
void vd__server_key(const struct vd_stack *stack, struct vd_message *request,
                    const struct vd_via *via, bool *rfc2543, uint64_t out[2])
{
    struct vd__siphash hash;
    vd__siphash_init(&hash, &stack->key);
    *rfc2543 = !vd_via_has_cookie(via);
    if (!*rfc2543) {
        char port[3] = {'\0', (char)(via->port >> 8), (char)via->port};
        vd__siphash_update_lower(&hash, via->branch.p, via->branch.n);
        vd__siphash_update(&hash, port, sizeof port);
        vd__siphash_update_lower(&hash, via->host.p, via->host.n);
    } else {
        const struct vd_nameaddr *from;
        const struct vd_cseq *cseq;
        struct vd_str call_id;
        if (vd_message_from(request, &from) == 0) {
            vd__siphash_update(&hash, from->tag.p, from->tag.n);
        }
        vd__siphash_update(&hash, "", 1);
        if (vd_message_call_id(request, &call_id) == 0) {
            vd__siphash_update(&hash, call_id.p, call_id.n);
        }
        if (vd_message_cseq(request, &cseq) == 0) {
            char number[5] = "";
            memcpy(number + 1, &cseq->number, sizeof cseq->number);
            vd__siphash_update(&hash, number, sizeof number);
        }
        vd__siphash_update(&hash, request->request_uri.p, request->request_uri.n);
        vd__siphash_update(&hash, "", 1);
        vd__siphash_update(&hash, via->raw.p, via->raw.n);
    }
    vd__siphash_final(&hash, out);
}

/* What must agree besides the key. */
static uint32_t method_hash(const struct vd_stack *stack, struct vd_message *request, bool rfc2543)
{
    uint64_t digest = vd__method_digest(stack, request->method_id, request->method);
    const struct vd_nameaddr *to;
    if (rfc2543 && vd_message_to(request, &to) == 0) {
        struct vd__siphash hash;
        uint64_t out[2];
        vd__siphash_init(&hash, &stack->key);
        vd__siphash_update(&hash, to->tag.p, to->tag.n);
        vd__siphash_final(&hash, out);
        digest += out[0];
    }
    return (uint32_t)digest;
}

/* *others is how many records the key has that are not the one looked for, as far as the search
 * went.
 */
static struct vd__transaction *find_server(const struct vd_stack *stack, const uint64_t key[2],
                                           uint8_t method, uint32_t hash, unsigned *others)
{
    struct vd__transaction *found = vd__table_find(&stack->table, key);
    *others = 0;
    while (found != NULL &&
           (!vd__is_server(found) || found->method != method || found->method_hash != hash)) {
        found = vd__table_find_next(&stack->table, found);
        ++*others;
    }
    return found;
}

/* The INVITE server transaction that an ACK belongs to. From an RFC 2543 peer the To tag of the ACK
 * must be the one that the response had. */
static struct vd__transaction *find_acked(const struct vd_stack *stack, const uint64_t key[2],
                                          struct vd_message *ack, bool rfc2543)
{
    const struct vd_nameaddr *to;
    struct vd__transaction *found = vd__table_find(&stack->table, key);
    for (; found != NULL; found = vd__table_find_next(&stack->table, found)) {
        if (found->kind != VD__KIND_SERVER_INVITE) {
            continue;
        }
        const struct vd__active *active = vd__active(found);
        if (!rfc2543 || active == NULL || !active->own_tag ||
            (vd_message_to(ack, &to) == 0 &&
             vd_str_equal(to->tag, vd_str(active->tag, sizeof active->tag)))) {
            return found;
        }
    }
    return NULL;
}

static void receive_ack(struct vd_stack *stack, const struct vd_flow *flow, struct vd_message *ack,
                        const uint64_t key[2], bool rfc2543)
{
    struct vd__transaction *invite = find_acked(stack, key, ack, rfc2543);
    if (invite != NULL) {
        vd__server_invite_ack(stack, invite, ack, flow);
        return;
    }
    stack->counters.stray_acks++;
    if (stack->config.callbacks.on_ack != NULL) {
        stack->config.callbacks.on_ack(stack, 0, ack, flow, stack->config.context);
    }
}

static void receive_retransmission(struct vd_stack *stack, struct vd__transaction *transaction)
{
    stack->counters.request_retransmissions++;
    if (transaction->kind == VD__KIND_SERVER_INVITE) {
        vd__server_invite_request(stack, transaction);
    } else {
        vd__server_request(stack, transaction);
    }
}

/* A record in the table; NULL when there is no memory. */
static struct vd__transaction *new_record(struct vd_stack *stack, const uint64_t key[2],
                                          uint32_t hash)
{
    struct vd__transaction *transaction = vd__transaction_new(stack);
    if (transaction == NULL) {
        return NULL;
    }
    memcpy(transaction->key, key, sizeof transaction->key);
    transaction->method_hash = hash;
    bool tabled = vd__table_insert(&stack->table, transaction) == 0;
    if (tabled) {
        transaction->flags |= VD__FLAG_TABLED;
    }
    if (!tabled || vd__active_new(stack, transaction) == NULL) {
        vd__transaction_discard(stack, transaction);
        return NULL;
    }
    return transaction;
}

static struct vd__transaction *new_server(struct vd_stack *stack, const struct vd_flow *flow,
                                          struct vd_message *request, const struct vd_via *via,
                                          const uint64_t key[2])
{
    uint32_t hash = method_hash(stack, request, !vd_via_has_cookie(via));
    struct vd__transaction *transaction = new_record(stack, key, hash);
    if (transaction == NULL) {
        return NULL;
    }
    struct vd__active *active = transaction->u.active;
    const struct vd_nameaddr *to;
    vd__response_flow(stack, flow, via, &active->flow);
    active->own_tag = vd_message_to(request, &to) == 0 && to->tag.n == 0;
    if (active->own_tag) {
        vd__tag_write(stack, active->tag);
    }
    if (vd_transport_reliable(stack->endpoints[flow->endpoint].transport)) {
        transaction->flags |= VD__FLAG_RELIABLE;
    }
    if (request->method_id == VD_METHOD_CANCEL) {
        transaction->flags |= VD__FLAG_INTERNAL;
    }
    transaction->flags |= VD__FLAG_PENDING;
    transaction->method = request->method_id;
    transaction->kind =
        request->method_id == VD_METHOD_INVITE ? VD__KIND_SERVER_INVITE : VD__KIND_SERVER;
    stack->counters.server_transactions++;
    stack->counters.live_server_transactions++;
    stack->pending_requests++;
    return transaction;
}

/* Gives a new request to the TU; the CANCEL is the stack's own matter. */
static void hand_up(struct vd_stack *stack, const struct vd_flow *flow,
                    struct vd__transaction *transaction, struct vd_message *request)
{
    vd_transaction name = vd__transaction_name(transaction);
    stack->current = transaction;
    stack->current_message = request;
    stack->current_source = flow->remote;
    if (request->method_id == VD_METHOD_CANCEL) {
        vd__cancel_received(stack, transaction, request);
    } else if (stack->config.callbacks.on_request != NULL) {
        stack->config.callbacks.on_request(stack, name, request, flow, stack->config.context);
    } else {
        transaction->flags |= VD__FLAG_INTERNAL;
        vd__answer(stack, transaction, 501);
    }
    stack->current = NULL;
    stack->current_message = NULL;
}

/* Whether a limit keeps a new request from getting a transaction. A CANCEL never waits for the
 * application, and ends what does: it gets through when too many requests are pending. */
static bool is_full(const struct vd_stack *stack, const struct vd_message *request, unsigned others)
{
    const struct vd_stack_config *config = &stack->config;
    bool waits = request->method_id != VD_METHOD_CANCEL;
    return stack->counters.live_server_transactions >= config->max_server_transactions ||
           (waits && stack->pending_requests >= config->max_pending_requests) ||
           others >= SHARERS_MAX;
}

static void receive_new_request(struct vd_stack *stack, const struct vd_flow *flow,
                                struct vd_message *request, const struct vd_via *via,
                                const uint64_t key[2], unsigned others)
{
    struct vd__transaction *transaction = NULL;
    bool full = is_full(stack, request, others);
    if (!full) {
        transaction = new_server(stack, flow, request, via, key);
    }
    if (transaction == NULL) {
        stack->counters.overloads++;
        vd__log(stack, VD_LOG_WARNING, full ? VD_ERR_OVERLOAD : VD_ERR_NOMEM,
                "request refused: no room for its transaction", flow, 0, request->raw);
        vd__stateless_respond(stack, flow, request, 503, NULL);
        return;
    }
    if (transaction->kind == VD__KIND_SERVER_INVITE) {
        vd__server_invite_start(stack, transaction);
    } else {
        vd__server_start(stack, transaction);
    }
    hand_up(stack, flow, transaction, request);

    /* To be answered later: the request's bytes go now, so what its responses repeat is kept. */
    struct vd__active *active = vd__active(transaction);
    if (active != NULL && active->head == NULL && transaction->state <= VD_TRANSACTION_PROCEEDING) {
        stack->current_source = flow->remote;
        int rc = vd__response_keep_head(stack, transaction, request);
        if (rc != 0) {
            vd__log(stack, VD_LOG_ERROR, rc,
                    "request lost: no memory to keep what responses repeat", flow, 0, request->raw);
            vd__transaction_fail(stack, transaction, rc);
        }
    }
}

static int receive_request(struct vd_stack *stack, const struct vd_flow *flow,
                           struct vd_message *request)
{
    const struct vd_via *via;
    uint64_t key[2];
    bool rfc2543;
    int rc = vd_message_top_via(request, &via);
    if (rc != 0) {
        return rc;
    }
    stack->counters.received_requests++;
    vd__server_key(stack, request, via, &rfc2543, key);
    if (request->method_id == VD_METHOD_ACK) {
        receive_ack(stack, flow, request, key, rfc2543);
        return 0;
    }
    uint32_t hash = method_hash(stack, request, rfc2543);
    unsigned others;
    struct vd__transaction *found = find_server(stack, key, request->method_id, hash, &others);
    if (found != NULL) {
        receive_retransmission(stack, found);
    } else {
        receive_new_request(stack, flow, request, via, key, others);
    }
    return 0;
}

static bool is_sent_by_of(const struct vd__endpoint *local, struct vd_str sent_by)
{
    return vd_str_case_equal(sent_by,
                             vd_str(local->prefix + local->sent_by_offset, local->sent_by_size));
}

/* 18.1.2: a response whose top Via has a sent-by that is none of ours is discarded. The local end
 * that it came to is nearly always the one that the request left by; the others are looked at only
 * for a response whose branch is surely ours, so that nobody can make us search. */
static bool sent_by_is_ours(const struct vd_stack *stack, const struct vd_flow *flow,
                            struct vd_str sent_by, bool branch_is_ours)
{
    if (is_sent_by_of(&stack->endpoints[flow->endpoint], sent_by)) {
        return true;
    }
    for (uint32_t i = 0; branch_is_ours && i < stack->endpoint_count; i++) {
        if (is_sent_by_of(&stack->endpoints[i], sent_by)) {
            return true;
        }
    }
    return false;
}

static struct vd__transaction *find_client(const struct vd_stack *stack, const struct vd_via *via,
                                           const struct vd_cseq *cseq)
{
    struct vd__transaction *found;
    if (cseq->method_id == VD_METHOD_CANCEL) {
        return vd__cancel_find_client(stack, via->branch);
    }
    found = vd__transaction_by_branch(stack, via->branch);
    if (found == NULL || found->key[1] != vd__method_digest(stack, cseq->method_id, cseq->method)) {
        return NULL;
    }
    return found;
}

static void receive_stray_response(struct vd_stack *stack, const struct vd_flow *flow,
                                   struct vd_message *response)
{
    stack->counters.stray_responses++;
    vd__log(stack, VD_LOG_DEBUG, VD_ERR_NOT_FOUND, "response belongs to no client transaction",
            flow, 0, response->raw);
    if (stack->config.callbacks.on_stray_response != NULL) {
        stack->config.callbacks.on_stray_response(stack, response, flow, stack->config.context);
    }
}

static int receive_response(struct vd_stack *stack, const struct vd_flow *flow,
                            struct vd_message *response)
{
    const struct vd_via *via;
    const struct vd_cseq *cseq;
    int rc = vd_message_top_via(response, &via);
    if (rc == 0) {
        rc = vd_message_cseq(response, &cseq);
    }
    if (rc != 0) {
        return rc;
    }
    stack->counters.received_responses++;
    struct vd__transaction *found = find_client(stack, via, cseq);
    if (!sent_by_is_ours(stack, flow, via->sent_by, found != NULL)) {
        stack->counters.stray_responses++;
        vd__log(stack, VD_LOG_NOTICE, VD_ERR_NOT_FOUND,
                "response with a foreign sent-by discarded (RFC 3261 18.1.2)", flow, 0,
                response->raw);
        return 0;
    }
    if (found == NULL) {
        receive_stray_response(stack, flow, response);
    } else if (found->kind == VD__KIND_CLIENT_INVITE) {
        vd__client_invite_response(stack, found, response);
    } else {
        vd__client_response(stack, found, response);
    }
    return 0;
}

/* Answers or drops what breaks a rule. */
static void refuse(struct vd_stack *stack, const struct vd_flow *flow, int error,
                   struct vd_message *message)
{
    const char *rule = message->fault.rule;
    if (error == VD_ERR_NOT_SIP) {
        stack->counters.received_not_sip++;
        vd__log(stack, VD_LOG_NOTICE, error, "bytes that are no SIP message dropped", flow,
                message->fault.offset, message->raw);
        return;
    }
    stack->counters.received_invalid++;
    vd__log(stack, VD_LOG_NOTICE, error, rule != NULL ? rule : "faulty message", flow,
            message->fault.offset, message->raw);
    if (message->is_request) {
        vd__stateless_respond(stack, flow, message, vd_error_status(error), rule);
    }
}

static int take_message(struct vd_stack *stack, const struct vd_flow *flow,
                        struct vd_message *message)
{
    int rc = vd_message_check(message);
    if (rc == 0) {
        rc = message->is_request ? receive_request(stack, flow, message)
                                 : receive_response(stack, flow, message);
    }
    if (rc != 0) {
        refuse(stack, flow, rc, message);
    }
    vd__settle(stack);
    return rc;
}

int vd_stack_receive_message(struct vd_stack *stack, const struct vd_flow *flow,
                             struct vd_message *message, vd_time now)
{
    vd__advance(stack, now);
    if (flow->endpoint >= stack->endpoint_count) {
        return VD_ERR_INVALID;
    }
    return take_message(stack, flow, message);
}

void vd_stack_receive_fault(struct vd_stack *stack, const struct vd_flow *flow, int error,
                            struct vd_message *message, vd_time now)
{
    vd__advance(stack, now);
    if (flow->endpoint < stack->endpoint_count) {
        refuse(stack, flow, error, message);
    }
}

/* A datagram of nothing but CRLFs, or of NULs, keeps a NAT binding alive (RFC 5626 3.5.1 has CRLFs;
 * other agents send four NULs or nothing at all). */
static bool is_keepalive(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != '\r' && bytes[i] != '\n' && bytes[i] != '\0') {
            return false;
        }
    }
    return true;
}

int vd_stack_receive(struct vd_stack *stack, const struct vd_flow *flow, const char *bytes,
                     size_t size, vd_time now)
{
    vd__advance(stack, now);
    if (flow->endpoint >= stack->endpoint_count) {
        return VD_ERR_INVALID;
    }
    if (is_keepalive(bytes, size)) {
        stack->counters.received_keepalives++;
        return 0;
    }
    struct vd_message *message = &stack->message;
    int rc = vd_message_parse(message, bytes, size, VD_FRAMING_DATAGRAM, &stack->config.limits);
    if (rc < 0) {
        refuse(stack, flow, rc, message);
        return rc;
    }
    return take_message(stack, flow, message);
}
