/* request.c - requests of ours: begun, sent in a transaction, given up; and those made from another
 * one (RFC 3261 8.1.1, 9.1, 17.1.1.3).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

#include "build_text.h"

/* The record that vd_request_begin took for a request; its kind is not set before the request is
 * sent, so vd__transaction_find does not know it yet. NULL when there is none: the builder is that
 * of an ACK or of a response, or its request was sent or given back. */
static struct vd__transaction *record_of(struct vd_stack *stack, const struct vd_builder *builder)
{
    uint32_t index = (uint32_t)builder->token;
    if (builder->token == 0 || index >= stack->transactions.fresh) {
        return NULL;
    }
    struct vd__transaction *transaction = vd__pool_at(&stack->transactions, index);
    bool same = transaction->generation == (uint32_t)(builder->token >> 32);
    return same && transaction->kind == VD__KIND_NONE ? transaction : NULL;
}

static int write_top_via(struct vd_stack *stack, struct vd_builder *builder, uint32_t endpoint,
                         const struct vd__branch *branch)
{
    const struct vd__endpoint *local = &stack->endpoints[endpoint];
    const struct vd_str name = VD_STR("Via: ");
    const struct vd_str end = VD_STR(";rport\r\n");
    if (builder->error != 0) {
        return builder->error;
    }
    char *p = vd__build_room(builder, name.n + local->prefix_size + VD__BRANCH_SIZE + end.n);
    if (p == NULL) {
        return builder->error;
    }
    p = vd__build_put(p, name);
    p = vd__build_put(p, vd_str(local->prefix, local->prefix_size));
    vd__branch_write(p, branch);
    p = vd__build_put(p + VD__BRANCH_SIZE, end);
    builder->written |= UINT64_C(1) << VD_HEADER_VIA;
    return vd__build_advance(builder, p);
}

static int begin(struct vd_stack *stack, struct vd_builder *builder, struct vd_str method,
                 struct vd_str uri, const struct vd_flow *flow)
{
    if (flow->endpoint >= stack->endpoint_count) {
        return VD_ERR_INVALID;
    }
    if (stack->closing) {
        return VD_ERR_STATE;
    }
    enum vd_method id = vd_method_id(method);
    struct vd__branch branch = {
        .secret = vd__siphash_words(&stack->key, ++stack->nonce, 0),
        .index = VD__POOL_NONE,
        .worker = stack->config.worker,
    };
    struct vd__transaction *transaction = NULL;
    if (id != VD_METHOD_ACK) {
        if (stack->counters.live_client_transactions >= stack->config.max_client_transactions) {
            stack->counters.overloads++;
            return VD_ERR_OVERLOAD;
        }
        transaction = vd__transaction_new(stack);
        if (transaction == NULL) {
            return VD_ERR_NOMEM;
        }
        transaction->method = (uint8_t)id;
        transaction->key[0] = branch.secret;
        transaction->key[1] = vd__method_digest(stack, id, method);
        branch.index = transaction->index;
        branch.generation = transaction->generation;
    }
    int rc = vd__builder_begin(stack, builder, stack->request_hint + 32);
    if (rc == 0) {
        builder->token = transaction != NULL ? vd__transaction_name(transaction) : 0;
        vd_build_request_line(builder, method, uri);
        rc = write_top_via(stack, builder, flow->endpoint, &branch);
        if (rc == 0) {
            vd__builder_flow(builder, flow);
            return 0;
        }
        vd__builder_drop(stack, builder);
    }
    if (transaction != NULL) {
        vd__transaction_discard(stack, transaction);
    }
    return rc;
}

int vd_request_begin(struct vd_stack *stack, struct vd_builder *builder, struct vd_str method,
                     struct vd_str uri, const struct vd_flow *flow)
{
    int rc = begin(stack, builder, method, uri, flow);
    return rc == 0 ? 0 : vd__builder_refuse(builder, rc);
}

/* The builder remembers the method of CSeq by number, and all unknown methods have the same. */
static int check_unknown_method(struct vd_stack *stack, const struct vd_builder *builder)
{
    struct vd_message *request = &stack->scratch;
    const struct vd_cseq *cseq;
    if (vd__parse_own(request, builder->data, builder->length) < 0 ||
        vd_message_cseq(request, &cseq) != 0) {
        return VD_ERR_INVALID;
    }
    return vd_str_equal(cseq->method, request->method) ? 0 : VD_ERR_MISMATCH;
}

/* What every request has: RFC 3261 8.1.1. */
static int check_complete(struct vd_stack *stack, struct vd_builder *builder, uint8_t method)
{
    const uint64_t mandatory = UINT64_C(1) << VD_HEADER_TO | UINT64_C(1) << VD_HEADER_FROM |
                               UINT64_C(1) << VD_HEADER_CALL_ID | UINT64_C(1) << VD_HEADER_CSEQ |
                               UINT64_C(1) << VD_HEADER_MAX_FORWARDS;
    if (!builder->ended) {
        vd_build_end(builder, vd_str(NULL, 0), vd_str(NULL, 0));
    }
    if (builder->error != 0) {
        return builder->error;
    }
    if ((builder->written & mandatory) != mandatory) {
        return VD_ERR_MISSING;
    }
    if (builder->cseq_method != method) {
        return VD_ERR_MISMATCH;
    }
    return method == VD_METHOD_OTHER ? check_unknown_method(stack, builder) : 0;
}

/* Puts a record and its request, whose reference moves to it, into the first state of its machine.
 * On an error both are still the caller's. */
int vd__request_launch(struct vd_stack *stack, struct vd__transaction *transaction,
                       struct vd__buffer *request, void *user)
{
    if (stack->counters.live_client_transactions >= stack->config.max_client_transactions) {
        stack->counters.overloads++;
        return VD_ERR_OVERLOAD;
    }
    if (vd__outbox_reserve(stack, 1) != 0 || vd__active_new(stack, transaction) == NULL) {
        return VD_ERR_NOMEM;
    }
    struct vd__active *active = transaction->u.active;
    active->user = user;
    active->flow = request->flow;
    transaction->message = request;
    if (vd_transport_reliable(stack->endpoints[request->flow.endpoint].transport)) {
        transaction->flags |= VD__FLAG_RELIABLE;
    }
    stack->counters.client_transactions++;
    stack->counters.live_client_transactions++;
    stack->counters.sent_requests++;
    vd__outbox_push(stack, request, vd__transaction_name(transaction));
    if (transaction->method == VD_METHOD_INVITE) {
        transaction->kind = VD__KIND_CLIENT_INVITE;
        vd__client_invite_start(stack, transaction);
    } else {
        transaction->kind = VD__KIND_CLIENT;
        vd__client_start(stack, transaction);
    }
    return 0;
}

int vd_request_send(struct vd_stack *stack, struct vd_builder *builder, void *user, vd_time now,
                    vd_transaction *out)
{
    vd__advance(stack, now);
    struct vd__transaction *transaction = record_of(stack, builder);
    int rc = VD_ERR_INVALID;
    if (transaction != NULL && transaction->method != VD_METHOD_CANCEL) {
        rc = check_complete(stack, builder, transaction->method);
    }
    if (rc == 0) {
        struct vd__buffer *request = vd__builder_finish(builder);
        uint32_t datagram = request->flow.endpoint;
        stack->request_hint = request->length;
        rc = vd__long_request_switch(stack, &request);
        if (rc == 0) {
            rc = vd__request_launch(stack, transaction, request, user);
        }
        if (rc == 0) {
            builder->token = 0;
            if (datagram != request->flow.endpoint) {
                transaction->u.active->datagram = datagram;
            }
            if (out != NULL) {
                *out = vd__transaction_name(transaction);
            }
            return 0;
        }
        vd__buffer_unref(&stack->buffers, request);
    }
    vd_request_abort(stack, builder);
    return rc;
}

int vd_ack_send(struct vd_stack *stack, struct vd_builder *builder, vd_time now)
{
    vd__advance(stack, now);
    int rc = builder->token == 0 ? check_complete(stack, builder, VD_METHOD_ACK) : VD_ERR_INVALID;
    if (rc == 0) {
        rc = vd__outbox_reserve(stack, 1);
    }
    if (rc != 0) {
        vd_request_abort(stack, builder);
        return rc;
    }
    struct vd__buffer *ack = vd__builder_finish(builder);
    rc = vd__long_request_switch(stack, &ack);
    if (rc == 0) {
        vd__outbox_push(stack, ack, 0);
        stack->counters.sent_requests++;
    }
    vd__buffer_unref(&stack->buffers, ack);
    return rc;
}

void vd_request_abort(struct vd_stack *stack, struct vd_builder *builder)
{
    struct vd__transaction *transaction = record_of(stack, builder);
    vd__builder_drop(stack, builder);
    builder->token = 0;
    if (transaction != NULL) {
        vd__transaction_discard(stack, transaction);
    }
}

/* Builds the ACK for a non-2xx response (17.1.1.3) or the CANCEL (9.1) of an INVITE: the same
 * Request-URI, top Via, From, Call-ID, CSeq number and Route set; to is the value of To, that of
 * the INVITE when it is empty. */
int vd__request_derive(struct vd_stack *stack, struct vd__transaction *invite, struct vd_str method,
                       struct vd_str to, struct vd__buffer **out)
{
    struct vd_message *request = &stack->scratch;
    const struct vd__buffer *source = invite->message;
    int rc = vd__parse_own(request, source->data, source->length);
    if (rc < 0) {
        return rc;
    }
    const struct vd_cseq *cseq;
    struct vd_builder builder;
    rc = vd_message_cseq(request, &cseq);
    if (rc == 0) {
        rc = vd__builder_begin(stack, &builder, source->length);
    }
    if (rc != 0) {
        return rc;
    }
    if (to.n == 0) {
        to = vd_message_header(request, VD_HEADER_TO)->value;
    }
    const struct vd_header *route = vd_message_header(request, VD_HEADER_ROUTE);
    vd_build_request_line(&builder, method, request->request_uri);
    vd_build_header(&builder, VD_HEADER_VIA, vd_message_header(request, VD_HEADER_VIA)->value);
    for (; route != NULL; route = vd_message_header_next(request, route)) {
        vd_build_header(&builder, VD_HEADER_ROUTE, route->value);
    }
    vd_build_header(&builder, VD_HEADER_FROM, vd_message_header(request, VD_HEADER_FROM)->value);
    vd_build_header(&builder, VD_HEADER_TO, to);
    vd_build_header(&builder, VD_HEADER_CALL_ID,
                    vd_message_header(request, VD_HEADER_CALL_ID)->value);
    vd_build_cseq(&builder, cseq->number, method);
    vd_build_number(&builder, VD_HEADER_MAX_FORWARDS, 70);
    rc = vd_build_end(&builder, vd_str(NULL, 0), vd_str(NULL, 0));
    if (rc != 0) {
        vd__builder_drop(stack, &builder);
        return rc;
    }
    *out = vd__builder_finish(&builder);
    (*out)->flow = source->flow;
    return 0;
}
