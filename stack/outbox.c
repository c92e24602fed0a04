/* outbox.c - messages that wait for the transport to pull them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

/* Makes sure that more messages fit, so that vd__outbox_push cannot fail after state has changed.
 */
int vd__outbox_reserve(struct vd_stack *stack, uint32_t more)
{
    struct vd__outbox *outbox = &stack->outbox;
    if (outbox->capacity - outbox->count >= more) {
        return 0;
    }
    uint32_t capacity = outbox->capacity != 0 ? outbox->capacity : 64;
    while (capacity - outbox->count < more) {
        capacity *= 2;
    }
    struct vd__outgoing *items = stack->mem.allocate(capacity * sizeof *items, stack->mem.context);
    if (items == NULL) {
        return VD_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < outbox->count; i++) {
        items[i] = outbox->items[(outbox->first + i) & (outbox->capacity - 1)];
    }
    if (outbox->items != NULL) {
        stack->mem.release(outbox->items, outbox->capacity * sizeof *items, stack->mem.context);
    }
    outbox->items = items;
    outbox->capacity = capacity;
    outbox->first = 0;
    return 0;
}

/* Queues a message; the outbox takes a reference of its own. Without memory the message is lost as
 * if on the wire: retransmission makes up for it. */
void vd__outbox_push(struct vd_stack *stack, struct vd__buffer *buffer, vd_transaction transaction)
{
    struct vd__outbox *outbox = &stack->outbox;
    if (vd__outbox_reserve(stack, 1) != 0) {
        vd__log(stack, VD_LOG_ERROR, VD_ERR_NOMEM, "no memory to queue a message", &buffer->flow, 0,
                vd_str(buffer->data, buffer->length));
        return;
    }
    struct vd__outgoing *item =
        &outbox->items[(outbox->first + outbox->count) & (outbox->capacity - 1)];
    item->buffer = vd__buffer_ref(buffer);
    item->transaction = transaction;
    outbox->count++;
}

size_t vd_stack_poll_send(struct vd_stack *stack, struct vd_send *out, size_t max)
{
    struct vd__outbox *outbox = &stack->outbox;
    size_t n = 0;
    while (n < max && outbox->count > 0) {
        const struct vd__outgoing *item = &outbox->items[outbox->first];
        out[n++] = (struct vd_send){
            .flow = item->buffer->flow,
            .data = item->buffer->data,
            .size = item->buffer->length,
            .token = item->transaction,
            .buffer = item->buffer,
        };
        outbox->first = (outbox->first + 1) & (outbox->capacity - 1);
        outbox->count--;
    }
    return n;
}

void vd_stack_send_done(struct vd_stack *stack, const struct vd_send *sent)
{
    /* The connection that a request left on: should it close, its client transaction must hear of
     * it. */
    if (sent->flow.connection != 0) {
        struct vd__transaction *sender = vd__transaction_find(stack, sent->token);
        struct vd__active *active = sender != NULL ? vd__active(sender) : NULL;
        if (active != NULL && vd__is_client(sender)) {
            active->flow.connection = sent->flow.connection;
        }
    }
    vd__buffer_unref(&stack->buffers, sent->buffer);
}
