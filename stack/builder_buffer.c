/* builder_buffer.c - a builder whose message is a buffer of the stack's, which grows by moving to a
 * larger one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

static struct vd__buffer *buffer_of(const struct vd_builder *builder)
{
    return (struct vd__buffer *)(void *)(builder->data - offsetof(struct vd__buffer, data));
}

/* A message of ours is no longer than this: no datagram could hold it. What a peer may send has a
 * limit of its own. */
#define MESSAGE_MAX 65535

/* How much of a buffer a message may fill. */
static size_t room_in(const struct vd__buffer *buffer)
{
    return buffer->size < MESSAGE_MAX ? buffer->size : MESSAGE_MAX;
}

static int grow(struct vd_builder *builder, size_t needed)
{
    struct vd_stack *stack = builder->owner;
    if (needed > MESSAGE_MAX) {
        return VD_ERR_SPACE;
    }
    struct vd__buffer *old = buffer_of(builder);
    /* Half as much again, so that a message that outgrows its buffer does so once or twice. */
    size_t roomy = needed + needed / 2;
    struct vd__buffer *larger = vd__buffer_take(&stack->buffers, roomy);
    if (larger == NULL) {
        larger = vd__buffer_take(&stack->buffers, needed);
    }
    if (larger == NULL) {
        return VD_ERR_NOMEM;
    }
    larger->flow = old->flow;
    memcpy(larger->data, builder->data, builder->length);
    vd__buffer_unref(&stack->buffers, old);
    builder->data = larger->data;
    builder->capacity = room_in(larger);
    return 0;
}

int vd__builder_begin(struct vd_stack *stack, struct vd_builder *builder, size_t hint)
{
    struct vd__buffer *buffer = vd__buffer_take(&stack->buffers, hint);
    if (buffer == NULL) {
        return VD_ERR_NOMEM;
    }
    vd_builder_init(builder, buffer->data, room_in(buffer));
    builder->grow = grow;
    builder->owner = stack;
    return 0;
}

/* Appends whole header fields that were checked when they were first written. */
int vd__builder_append(struct vd_builder *builder, const char *text, size_t size)
{
    size_t needed = builder->length + size;
    if (needed > builder->capacity) {
        int rc = grow(builder, needed);
        if (rc != 0) {
            builder->error = rc;
            return rc;
        }
    }
    memcpy(builder->data + builder->length, text, size);
    builder->length = needed;
    return 0;
}

/* Where the message is to go. */
void vd__builder_flow(struct vd_builder *builder, const struct vd_flow *flow)
{
    buffer_of(builder)->flow = *flow;
}

/* The finished message; the caller has its reference. */
struct vd__buffer *vd__builder_finish(struct vd_builder *builder)
{
    struct vd__buffer *buffer = buffer_of(builder);
    buffer->length = (uint32_t)builder->length;
    builder->data = NULL;
    builder->error = VD_ERR_STATE; /* a message is sent once */
    return buffer;
}

/* Makes a builder whose message could not be begun harmless: what is written to it goes nowhere. */
int vd__builder_refuse(struct vd_builder *builder, int error)
{
    vd_builder_init(builder, NULL, 0);
    builder->error = error;
    return error;
}

/* Gives the buffer back, unless it was already. What is written to the builder from here on goes
 * nowhere. */
void vd__builder_drop(struct vd_stack *stack, struct vd_builder *builder)
{
    if (builder->data != NULL) {
        vd__buffer_unref(&stack->buffers, buffer_of(builder));
        builder->data = NULL;
    }
    if (builder->error == 0) {
        builder->error = VD_ERR_STATE;
    }
}

/* Reads a message of ours again. The configured limits are for what peers send; here only the
 * number of header fields counts, for which message has room. */
int vd__parse_own(struct vd_message *message, const char *bytes, size_t size)
{
    static const struct vd_limits limits = {
        .message_size = UINT32_MAX,
        .header_size = UINT32_MAX,
        .line_size = UINT32_MAX,
        .uri_size = UINT32_MAX,
        .headers = UINT16_MAX,
        .params = 1024,
    };
    return vd_message_parse(message, bytes, size, VD_FRAMING_DATAGRAM, &limits);
}
