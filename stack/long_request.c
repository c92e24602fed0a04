/* long_request.c - requests that are too long for UDP leave over TCP (RFC 3261 18.1.1).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

int vd_stack_pair_endpoints(struct vd_stack *stack, uint32_t datagram, uint32_t stream)
{
    if (datagram >= stack->endpoint_count || stream >= stack->endpoint_count ||
        vd_transport_reliable(stack->endpoints[datagram].transport) ||
        !vd_transport_reliable(stack->endpoints[stream].transport)) {
        return VD_ERR_INVALID;
    }
    stack->endpoints[datagram].stream = stream;
    return 0;
}

/* A copy of a request of ours whose top Via is that of another local end, with the branch that it
 * had; NULL when there is no memory. The message begins with the Request-Line and "Via: ". */
static struct vd__buffer *with_via_of(struct vd_stack *stack, const struct vd__buffer *request,
                                      uint32_t endpoint)
{
    const struct vd__endpoint *old = &stack->endpoints[request->flow.endpoint];
    const struct vd__endpoint *new = &stack->endpoints[endpoint];
    const char *line = memchr(request->data, '\n', request->length);
    size_t front = (size_t)(line - request->data) + 1 + sizeof "Via: " - 1;
    size_t rest = request->length - front - old->prefix_size;
    struct vd__buffer *copy = vd__buffer_take(&stack->buffers, front + new->prefix_size + rest);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy->data, request->data, front);
    memcpy(copy->data + front, new->prefix, new->prefix_size);
    memcpy(copy->data + front + new->prefix_size, request->data + front + old->prefix_size, rest);
    copy->length = (uint32_t)(front + new->prefix_size + rest);
    copy->flow = request->flow;
    copy->flow.endpoint = endpoint;
    copy->flow.connection = 0;
    return copy;
}

int vd__long_request_switch(struct vd_stack *stack, struct vd__buffer **request)
{
    struct vd__buffer *old = *request;
    const struct vd__endpoint *local = &stack->endpoints[old->flow.endpoint];
    if (vd_transport_reliable(local->transport) ||
        old->length <= stack->config.datagram_request_size) {
        return 0;
    }
    if (local->stream == VD__POOL_NONE) {
        stack->counters.long_requests_over_udp++;
        vd__log(stack, VD_LOG_NOTICE, 0,
                "request too long for UDP sent over it, there is no TCP (RFC 3261 18.1.1)",
                &old->flow, 0, vd_str(old->data, old->length));
        return 0;
    }
    struct vd__buffer *copy = with_via_of(stack, old, local->stream);
    if (copy == NULL) {
        return VD_ERR_NOMEM;
    }
    stack->counters.long_requests_over_tcp++;
    vd__buffer_unref(&stack->buffers, old);
    *request = copy;
    return 0;
}

bool vd__long_request_fall_back(struct vd_stack *stack, struct vd__transaction *transaction,
                                int error)
{
    struct vd__active *active = vd__active(transaction);
    if (error != VD_ERR_REFUSED || active == NULL || active->datagram == VD__POOL_NONE ||
        transaction->state > VD_TRANSACTION_TRYING) {
        return false;
    }
    struct vd__buffer *copy = with_via_of(stack, transaction->message, active->datagram);
    if (copy == NULL) {
        return false;
    }
    vd__log(stack, VD_LOG_NOTICE, error,
            "request too long for UDP sent over it, the peer refuses TCP (RFC 3261 18.1.1)",
            &copy->flow, 0, vd_str(copy->data, copy->length));
    vd__buffer_unref(&stack->buffers, transaction->message);
    transaction->message = copy;
    transaction->flags &= (uint8_t) ~(VD__FLAG_RELIABLE | VD__FLAG_FAILING);
    active->datagram = VD__POOL_NONE;
    active->flow = copy->flow;
    stack->counters.long_requests_over_udp++;
    vd__arm(stack, VD__LANE_BACKOFF, &active->retransmit); /* Timer A or E */
    vd__outbox_push(stack, copy, vd__transaction_name(transaction));
    return true;
}
