/* response.c - responses of ours, and where they go (RFC 3261 8.2.6, 17.2, 18.2.2).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

/* Where the responses to a request go (18.2.2): back on its connection, and should that be gone, to
 * the source address at the port of sent-by; over UDP to maddr if there is one, else to the source
 * address, at the source port when rport asks for it and at the port of sent-by when not. That the
 * source address differs from sent-by is what received says. */
void vd__response_flow(const struct vd_stack *stack, const struct vd_flow *source,
                       const struct vd_via *via, struct vd_flow *out)
{
    uint8_t transport = stack->endpoints[source->endpoint].transport;
    uint16_t usual = transport == VD_TRANSPORT_TLS ? 5061 : 5060;
    uint16_t port = via->port != 0 ? via->port : usual;
    *out = *source;
    if (vd_transport_reliable(transport)) {
        out->remote.port = port;
        return;
    }
    struct vd_addr maddr;
    if (via->maddr.n > 0 && vd_addr_parse(via->maddr, port, &maddr) == 0 &&
        maddr.family == source->remote.family) {
        out->remote = maddr;
    } else if (!via->has_rport) {
        out->remote.port = port;
    }
}

static void copy_header(struct vd_builder *builder, const struct vd_message *from,
                        enum vd_header_id id)
{
    const struct vd_header *header = vd_message_header(from, id);
    if (header != NULL) {
        vd_build_header(builder, id, header->value);
    }
}

/* In Accepted the request is no longer kept, but its 2xx is: the next 2xx repeats the same fields.
 */
static int write_head_again(struct vd_stack *stack, struct vd_builder *builder,
                            const struct vd__buffer *response)
{
    struct vd_message *message = &stack->scratch;
    int rc = vd__parse_own(message, response->data, response->length);
    if (rc < 0) {
        return rc;
    }
    const struct vd_header *via = vd_message_header(message, VD_HEADER_VIA);
    for (; via != NULL; via = vd_message_header_next(message, via)) {
        vd_build_header(builder, VD_HEADER_VIA, via->value);
    }
    copy_header(builder, message, VD_HEADER_FROM);
    copy_header(builder, message, VD_HEADER_TO);
    copy_header(builder, message, VD_HEADER_CALL_ID);
    copy_header(builder, message, VD_HEADER_CSEQ);
    copy_header(builder, message, VD_HEADER_TIMESTAMP);
    return builder->error;
}

/* Keeps the head for responses that come after the request's own bytes are gone. */
int vd__response_keep_head(struct vd_stack *stack, struct vd__transaction *transaction,
                           struct vd_message *request)
{
    struct vd__active *active = transaction->u.active;
    struct vd_builder builder;
    int rc = vd__builder_begin(stack, &builder, stack->response_hint);
    if (rc != 0) {
        return rc;
    }
    rc = vd__response_write_head(&builder, request, &stack->current_source,
                                 vd_str(active->tag, sizeof active->tag));
    if (rc != 0) {
        vd__builder_drop(stack, &builder);
        return rc;
    }
    active->head = vd__buffer_compact(&stack->buffers, vd__builder_finish(&builder));
    return 0;
}

/* Where ";tag=" and our tag stand in a kept head. */
static const char *find_tag(const struct vd__active *active)
{
    const struct vd_str name = VD_STR(";tag=");
    const char *p = active->head->data;
    const char *end = p + active->head->length;
    while ((p = memchr(p, ';', (size_t)(end - p))) != NULL &&
           (size_t)(end - p) >= name.n + sizeof active->tag) {
        if (memcmp(p, name.p, name.n) == 0 &&
            memcmp(p + name.n, active->tag, sizeof active->tag) == 0) {
            return p;
        }
        p++;
    }
    return NULL;
}

/* Appends a kept head, without our tag when tagged is false. */
static int append_head(struct vd_builder *builder, const struct vd__active *active, bool tagged)
{
    const struct vd__buffer *head = active->head;
    const char *tag = tagged || !active->own_tag ? NULL : find_tag(active);
    if (tag == NULL) {
        return vd__builder_append(builder, head->data, head->length);
    }
    size_t front = (size_t)(tag - head->data);
    size_t behind = front + VD_STR(";tag=").n + sizeof active->tag;
    int rc = vd__builder_append(builder, head->data, front);
    return rc != 0 ? rc : vd__builder_append(builder, head->data + behind, head->length - behind);
}

static int write_head(struct vd_stack *stack, struct vd_builder *builder,
                      struct vd__transaction *transaction, int status)
{
    bool tagged = status > 100; /* 17.2.1: a 100 adds no To tag */
    struct vd__active *active = vd__active(transaction);
    if (active == NULL) {
        return write_head_again(stack, builder, transaction->message);
    }
    if (active->head != NULL) {
        return append_head(builder, active, tagged);
    }
    if (transaction != stack->current) {
        return VD_ERR_STATE;
    }
    return vd__response_write_head(builder, stack->current_message, &stack->current_source,
                                   vd_str(active->tag, tagged ? sizeof active->tag : 0));
}

static int may_respond(const struct vd_stack *stack, const struct vd__transaction *transaction,
                       int status)
{
    if (transaction == NULL) {
        return VD_ERR_GONE;
    }
    switch (transaction->kind) {
    case VD__KIND_SERVER_INVITE:
        return vd__server_invite_may_respond(transaction, status);
    case VD__KIND_SERVER:
        return vd__server_may_respond(stack, transaction, status);
    default:
        return VD_ERR_INVALID;
    }
}

static int begin(struct vd_stack *stack, struct vd_builder *builder, vd_transaction transaction,
                 int status, struct vd_str reason)
{
    struct vd__transaction *found = vd__transaction_find(stack, transaction);
    if (status < 100 || status > 699) {
        return VD_ERR_INVALID;
    }
    int rc = may_respond(stack, found, status);
    if (rc == 0) {
        /* With the room that vd__response_write_head asks for. What is left over goes when the
         * transaction has its final response. */
        rc = vd__builder_begin(stack, builder, stack->response_hint + 2 * VD__RESPONSE_ADDED);
    }
    if (rc != 0) {
        return rc;
    }
    builder->token = transaction;
    vd_build_status_line(builder, status, reason);
    rc = write_head(stack, builder, found, status);
    if (rc == 0) {
        rc = builder->error;
    }
    if (rc != 0) {
        vd__builder_drop(stack, builder);
    }
    return rc;
}

int vd_response_begin(struct vd_stack *stack, struct vd_builder *builder,
                      vd_transaction transaction, int status, struct vd_str reason)
{
    int rc = begin(stack, builder, transaction, status, reason);
    return rc == 0 ? 0 : vd__builder_refuse(builder, rc);
}

/* The status code that the builder wrote: "SIP/2.0 " and three digits. */
static int status_of(const struct vd__buffer *response)
{
    const char *digits = response->data + 8;
    return (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0');
}

int vd_response_send(struct vd_stack *stack, struct vd_builder *builder, vd_time now)
{
    vd__advance(stack, now);
    struct vd__transaction *transaction = vd__transaction_find(stack, builder->token);
    if (!builder->ended) {
        vd_build_end(builder, vd_str(NULL, 0), vd_str(NULL, 0));
    }
    int rc = builder->error;
    if (rc == 0) {
        rc = vd__outbox_reserve(stack, 1);
    }
    if (rc != 0) {
        vd__builder_drop(stack, builder);
        return rc;
    }
    struct vd__buffer *response = vd__builder_finish(builder);
    int status = status_of(response);
    rc = may_respond(stack, transaction, status);
    if (rc != 0) {
        vd__buffer_unref(&stack->buffers, response);
        return rc;
    }
    stack->response_hint = response->length;
    struct vd__active *active = vd__active(transaction);
    response->flow = active != NULL ? active->flow : transaction->message->flow;
    vd__buffer_unref(&stack->buffers, transaction->message);
    transaction->message = response;
    stack->counters.sent_responses++;
    if (status >= 200) {
        vd__transaction_answered(stack, transaction);
    }
    vd__outbox_push(stack, response, vd__transaction_name(transaction));
    if (transaction->kind == VD__KIND_SERVER_INVITE) {
        vd__server_invite_responded(stack, transaction, status);
    } else {
        vd__server_responded(stack, transaction, status);
    }
    return 0;
}

int vd_respond(struct vd_stack *stack, vd_transaction transaction, int status, struct vd_str reason,
               vd_time now)
{
    struct vd_builder builder;
    vd__advance(stack, now);
    int rc = vd_response_begin(stack, &builder, transaction, status, reason);
    return rc == 0 ? vd_response_send(stack, &builder, now) : rc;
}

/* A response of the stack's own making. What fails here for want of memory is as good as lost on
 * the wire. */
void vd__answer(struct vd_stack *stack, const struct vd__transaction *transaction, int status)
{
    struct vd_builder builder;
    vd_transaction name = vd__transaction_name(transaction);
    if (vd_response_begin(stack, &builder, name, status, vd_str(NULL, 0)) != 0) {
        return;
    }
    if (stack->config.server.n > 0) {
        vd_build_header(&builder, VD_HEADER_SERVER, stack->config.server);
    }
    vd_response_send(stack, &builder, stack->now);
}

void vd_response_abort(struct vd_stack *stack, struct vd_builder *builder)
{
    vd_request_abort(stack, builder);
}

int vd_response_resend(struct vd_stack *stack, vd_transaction transaction, vd_time now)
{
    vd__advance(stack, now);
    struct vd__transaction *found = vd__transaction_find(stack, transaction);
    if (found == NULL) {
        return VD_ERR_GONE;
    }
    if (found->kind != VD__KIND_SERVER_INVITE || found->state != VD_TRANSACTION_ACCEPTED) {
        return VD_ERR_STATE;
    }
    stack->counters.resent_responses++;
    vd__outbox_push(stack, found->message, transaction);
    return 0;
}
