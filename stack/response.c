#include "core.h"

/* Responses of ours: RFC 3261 8.2.6 and 17.2, 18.2.1 and 18.2.2, RFC 3581 4. */

/* Where the responses to a request go (18.2.2): back on its connection; over UDP to maddr if there is one,
 * else to the source address, at the source port when rport asks for it and at the port of sent-by when
 * not. That the source address differs from sent-by is what received says. */
void vd__response_flow(const struct vd_stack *stack, const struct vd_flow *source,
                       const struct vd_via *via, struct vd_flow *out)
{
    *out = *source;
    if (vd_transport_reliable(stack->endpoints[source->endpoint].transport)) {
        return;
    }
    uint16_t port = via->port != 0 ? via->port : 5060;
    struct vd_addr maddr;
    if (via->maddr.n > 0 && vd_addr_parse(via->maddr, port, &maddr) == 0 &&
        maddr.family == source->remote.family) {
        out->remote = maddr;
    } else if (!via->has_rport) {
        out->remote.port = port;
    }
}

/* True when received must be added: RFC 3581 4 has it with rport in any case, RFC 3261 18.2.1 when the
 * host of sent-by is not the source address. */
static bool needs_received(const struct vd_via *via, const struct vd_addr *source)
{
    struct vd_addr host;
    return via->has_rport || vd_addr_parse(via->host, 0, &host) != 0 ||
           !vd_addr_same_ip(&host, source);
}

/* The top Via with rport filled in and received added. One that already has them (no client should send
 * such a request) loses what it has: what the peer says of its own source does not count. */
static void write_top_via(struct vd_builder *builder, const struct vd_via *via,
                          const struct vd_addr *source)
{
    size_t front = via->params.count > 0 ? (size_t)(via->params.raw.p - via->raw.p) : via->raw.n;
    vd_build_text(builder, vd_str(via->raw.p, front));
    size_t position = 0;
    struct vd_param param;
    while (vd_params_next(&via->params, &position, &param)) {
        if (vd_str_case_equal(param.name, VD_STR("received"))) {
            continue;
        }
        vd_build_text(builder, VD_STR(";"));
        vd_build_text(builder, param.name);
        if (vd_str_case_equal(param.name, VD_STR("rport"))) {
            vd_build_text(builder, VD_STR("="));
            vd_build_text_number(builder, source->port);
        } else if (param.has_value) {
            vd_build_text(builder, VD_STR("="));
            vd_build_text(builder, param.value);
        }
    }
    if (needs_received(via, source)) {
        char ip[VD_ADDR_TEXT_SIZE];
        size_t n = vd_addr_format_ip(source, ip);
        vd_build_text(builder, VD_STR(";received="));
        vd_build_text(builder, vd_str(ip, n));
    }
}

static void write_vias(struct vd_builder *builder, const struct vd_message *request,
                       const struct vd_via *via, const struct vd_addr *source)
{
    const struct vd_header *header = vd_message_header(request, VD_HEADER_VIA);
    size_t first = via->raw.n;
    vd_build_begin_header(builder, VD_HEADER_VIA);
    write_top_via(builder, via, source);
    vd_build_text(builder, vd_str(header->value.p + first, header->value.n - first));
    vd_build_end_header(builder);
    while ((header = vd_message_header_next(request, header)) != NULL) {
        vd_build_header(builder, VD_HEADER_VIA, header->value);
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

/* The header fields that every response to a request repeats (8.2.6.2). tag goes into To when it has none.
 * request was checked. */
int vd__response_write_head(struct vd_builder *builder, struct vd_message *request,
                            const struct vd_flow *source, struct vd_str tag)
{
    const struct vd_via *via;
    const struct vd_nameaddr *to;
    int rc = vd_message_top_via(request, &via);
    if (rc == 0) {
        rc = vd_message_to(request, &to);
    }
    if (rc != 0) {
        return rc;
    }
    write_vias(builder, request, via, &source->remote);
    copy_header(builder, request, VD_HEADER_FROM);
    vd_build_begin_header(builder, VD_HEADER_TO);
    vd_build_text(builder, vd_message_header(request, VD_HEADER_TO)->value);
    if (to->tag.n == 0) {
        vd_build_text(builder, VD_STR(";tag="));
        vd_build_text(builder, tag);
    }
    vd_build_end_header(builder);
    copy_header(builder, request, VD_HEADER_CALL_ID);
    copy_header(builder, request, VD_HEADER_CSEQ);
    copy_header(builder, request, VD_HEADER_TIMESTAMP);
    return builder->error;
}

/* In Accepted the request is no longer kept, but its 2xx is: the next 2xx repeats the same fields. */
static int write_head_again(struct vd_stack *stack, struct vd_builder *builder,
                            const struct vd__buffer *response)
{
    struct vd_message *message = &stack->scratch;
    int rc = vd_message_parse(message, response->data, response->length, VD_FRAMING_DATAGRAM,
                              &stack->config.limits);
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
    struct vd_flow source = active->flow;
    source.remote = stack->current_source;
    rc = vd__response_write_head(&builder, request, &source,
                                 vd_str(active->tag, sizeof active->tag));
    if (rc != 0) {
        vd__builder_drop(stack, &builder);
        return rc;
    }
    active->head = vd__buffer_compact(&stack->buffers, vd__builder_finish(&builder));
    return 0;
}

static int write_head(struct vd_stack *stack, struct vd_builder *builder,
                      struct vd__transaction *transaction)
{
    struct vd__active *active = vd__active(transaction);
    if (active == NULL) {
        return write_head_again(stack, builder, transaction->message);
    }
    if (active->head != NULL) {
        return vd__builder_append(builder, active->head->data, active->head->length);
    }
    if (transaction != stack->current) {
        return VD_ERR_STATE;
    }
    struct vd_flow source = active->flow;
    source.remote = stack->current_source;
    return vd__response_write_head(builder, stack->current_message, &source,
                                   vd_str(active->tag, sizeof active->tag));
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

int vd_response_begin(struct vd_stack *stack, struct vd_builder *builder,
                      vd_transaction transaction, int status, struct vd_str reason)
{
    struct vd__transaction *found = vd__transaction_find(stack, transaction);
    if (status < 100 || status > 699) {
        return VD_ERR_INVALID;
    }
    int rc = may_respond(stack, found, status);
    if (rc == 0) {
        rc = vd__builder_begin(stack, builder, stack->response_hint);
    }
    if (rc != 0) {
        return rc;
    }
    builder->token = transaction;
    vd_build_status_line(builder, status, reason);
    rc = write_head(stack, builder, found);
    if (rc == 0) {
        rc = builder->error;
    }
    if (rc != 0) {
        vd__builder_drop(stack, builder);
    }
    return rc;
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
    transaction->flags |= VD__FLAG_PROVISIONAL;
    stack->counters.sent_responses++;
    vd__outbox_push(stack, response, vd__transaction_name(transaction));
    if (transaction->kind == VD__KIND_SERVER_INVITE) {
        vd__server_invite_responded(stack, transaction, status);
    } else {
        vd__server_responded(stack, transaction, status);
    }
    return 0;
}

int vd_respond(struct vd_stack *stack, vd_transaction transaction, int status,
               struct vd_str reason, vd_time now)
{
    struct vd_builder builder;
    vd__advance(stack, now);
    int rc = vd_response_begin(stack, &builder, transaction, status, reason);
    return rc == 0 ? vd_response_send(stack, &builder, now) : rc;
}

void vd_response_abort(struct vd_stack *stack, struct vd_builder *builder)
{
    vd__builder_drop(stack, builder);
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
