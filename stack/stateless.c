/* stateless.c - responses to requests that get no transaction: faulty ones, and those past a limit
 * (RFC 3261 8.2.7).
 *
 * The To tag is the same for each copy of a request.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

static struct vd_str stateless_tag(const struct vd_stack *stack, const struct vd_message *request,
                                   char out[16])
{
    static const enum vd_header_id parts[] = {VD_HEADER_VIA, VD_HEADER_FROM, VD_HEADER_CALL_ID,
                                              VD_HEADER_CSEQ};
    struct vd__siphash hash;
    uint64_t digest[2];
    vd__siphash_init(&hash, &stack->key);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct vd_header *header = vd_message_header(request, parts[i]);
        if (header != NULL) {
            vd__siphash_update(&hash, header->value.p, header->value.n);
        }
    }
    vd__siphash_final(&hash, digest);
    vd__hex_write(out, digest[0]);
    return vd_str(out, 16);
}

/* Takes back what was written since before was a copy of builder, which may have moved to a larger
 * buffer meanwhile, and the error with it. */
static void rewind_to(struct vd_builder *builder, const struct vd_builder *before)
{
    builder->length = before->length;
    builder->written = before->written;
    builder->in_header = false;
    builder->error = 0;
}

/* Copies each header field of an id; one that cannot be written as it is (it is what made the
 * request faulty) is left out. */
static void copy_what_can_be(struct vd_builder *builder, const struct vd_message *request,
                             enum vd_header_id id)
{
    const struct vd_header *header = vd_message_header(request, id);
    for (; header != NULL; header = vd_message_header_next(request, header)) {
        struct vd_builder before = *builder;
        if (vd_build_header(builder, id, header->value) == VD_ERR_INVALID) {
            rewind_to(builder, &before);
        }
        if (vd_header_info(id)->form == VD_HEADER_SINGLE) {
            return;
        }
    }
}

/* To with the tag that it lacks (RFC 3261 8.2.6.2). */
static void copy_to(struct vd_builder *builder, struct vd_message *request, struct vd_str tag)
{
    const struct vd_nameaddr *to;
    if (vd_message_to(request, &to) != 0 || to->tag.n != 0) {
        copy_what_can_be(builder, request, VD_HEADER_TO);
        return;
    }
    struct vd_builder before = *builder;
    vd_build_begin_header(builder, VD_HEADER_TO);
    vd_build_text(builder, vd_message_header(request, VD_HEADER_TO)->value);
    vd_build_text(builder, VD_STR(";tag="));
    vd_build_text(builder, tag);
    if (vd_build_end_header(builder) == VD_ERR_INVALID) {
        rewind_to(builder, &before);
    }
}

/* Whether what was written holds no line end but those of header fields. A faulty request may hold
 * a bare CR, LF or NUL where the values that were decoded do not reach: in a Via below the top one,
 * for example. */
static bool is_clean(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bool pair = i + 1 < size && text[i] == '\r' && text[i + 1] == '\n';
        if (pair) {
            i++;
        } else if (text[i] == '\r' || text[i] == '\n' || text[i] == '\0') {
            return false;
        }
    }
    return true;
}

/* The head of the response, as complete as the request lets it be. */
static int write_head(struct vd_stack *stack, struct vd_builder *builder,
                      struct vd_message *request, const struct vd_flow *source)
{
    char tag[16];
    struct vd_str text = stateless_tag(stack, request, tag);
    struct vd_builder before = *builder;
    if (vd__response_write_head(builder, request, &source->remote, text) == 0 &&
        is_clean(builder->data + before.length, builder->length - before.length)) {
        return 0;
    }
    rewind_to(builder, &before);
    copy_what_can_be(builder, request, VD_HEADER_VIA);
    copy_what_can_be(builder, request, VD_HEADER_FROM);
    copy_to(builder, request, text);
    copy_what_can_be(builder, request, VD_HEADER_CALL_ID);
    copy_what_can_be(builder, request, VD_HEADER_CSEQ);
    return builder->error;
}

/* rule, which may be NULL, goes into a Warning with code 399 (RFC 3261 20.43), so that
 * whoever runs the peer learns what was wrong. */
static void write_reason(struct vd_stack *stack, struct vd_builder *builder,
                         const struct vd_flow *source, int status, const char *rule)
{
    if (status == 503 && stack->config.retry_after > 0) {
        vd_build_number(builder, VD_HEADER_RETRY_AFTER, stack->config.retry_after);
    }
    if (rule != NULL) {
        const struct vd__endpoint *local = &stack->endpoints[source->endpoint];
        vd_build_begin_header(builder, VD_HEADER_WARNING);
        vd_build_text(builder, VD_STR("399 "));
        vd_build_text(builder, vd_str(local->prefix + local->sent_by_offset, local->sent_by_size));
        vd_build_text(builder, VD_STR(" "));
        vd_build_quoted(builder, vd_str_from(rule));
        vd_build_end_header(builder);
    }
    if (stack->config.server.n > 0) {
        vd_build_header(builder, VD_HEADER_SERVER, stack->config.server);
    }
}

void vd__stateless_respond(struct vd_stack *stack, const struct vd_flow *flow,
                           struct vd_message *request, int status, const char *rule)
{
    struct vd_builder builder;
    const struct vd_via *via;
    struct vd_flow target = *flow;
    /* An ACK is never answered (17), and without a Via that is surely the top one there is no one
     * to answer. */
    if (!request->is_request || request->method_id == VD_METHOD_ACK || request->via_refused ||
        vd_message_header(request, VD_HEADER_VIA) == NULL ||
        vd__builder_begin(stack, &builder, stack->response_hint + 128) != 0) {
        return;
    }
    vd_build_status_line(&builder, status, vd_str(NULL, 0));
    int rc = write_head(stack, &builder, request, flow);
    if (rc == 0) {
        write_reason(stack, &builder, flow, status, rule);
        rc = vd_build_end(&builder, vd_str(NULL, 0), vd_str(NULL, 0));
    }
    if (rc != 0 || (builder.written & UINT64_C(1) << VD_HEADER_VIA) == 0) {
        vd__builder_drop(stack, &builder);
        return;
    }
    if (vd_message_top_via(request, &via) == 0) {
        vd__response_flow(stack, flow, via, &target);
    }
    struct vd__buffer *response = vd__builder_finish(&builder);
    response->flow = target;
    stack->counters.sent_responses++;
    vd__outbox_push(stack, response, 0);
    vd__buffer_unref(&stack->buffers, response);
}
