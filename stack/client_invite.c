/* client_invite.c - the INVITE client transaction (RFC 3261 17.1.1, figure 5, as RFC 6026 8.4
 * redraws it with the state Accepted and Timer M).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

void vd__client_invite_start(struct vd_stack *stack, struct vd__transaction *transaction)
{
    transaction->state = VD_TRANSACTION_CALLING;
    vd__arm(stack, VD__LANE_64T1, &transaction->timer); /* Timer B */
    if (!vd__is_reliable(transaction)) {
        vd__arm(stack, VD__LANE_BACKOFF, &transaction->u.active->retransmit); /* Timer A */
    }
}

static void deliver(struct vd_stack *stack, struct vd__transaction *transaction,
                    struct vd_message *response)
{
    if (stack->config.callbacks.on_response != NULL) {
        stack->config.callbacks.on_response(stack, vd__transaction_name(transaction), response,
                                            vd__user(transaction), stack->config.context);
    }
}

/* The CANCEL that was held back until a provisional response came (9.1). Without memory for it, it
 * is tried again after T1; in any case the INVITE ends 64*T1 from here on. */
static void send_held_cancel(struct vd_stack *stack, struct vd__transaction *transaction)
{
    struct vd__active *active = transaction->u.active;
    int rc = vd__cancel_now(stack, transaction);
    if (rc != 0) {
        vd__log(stack, VD_LOG_ERROR, rc, "CANCEL could not be sent", &active->flow, 0,
                vd_str(NULL, 0));
        vd__arm(stack, VD__LANE_BACKOFF, &active->retransmit);
        if (transaction->timer.next == NULL) {
            vd__arm(stack, VD__LANE_64T1, &transaction->timer);
        }
    }
}

static void provisional(struct vd_stack *stack, struct vd__transaction *transaction,
                        struct vd_message *response)
{
    if (transaction->state == VD_TRANSACTION_CALLING) {
        transaction->state = VD_TRANSACTION_PROCEEDING;
        vd__lane_cancel(&transaction->timer);
        vd__lane_cancel(&transaction->u.active->retransmit);
        if ((transaction->flags & VD__FLAG_CANCEL) != 0) {
            send_held_cancel(stack, transaction);
        }
    }
    deliver(stack, transaction, response);
}

/* 2xx: the TU makes the ACK, so the request is no longer needed. Each further 2xx goes up too. */
static void accepted(struct vd_stack *stack, struct vd__transaction *transaction,
                     struct vd_message *response)
{
    transaction->state = VD_TRANSACTION_ACCEPTED;
    vd__buffer_unref(&stack->buffers, transaction->message);
    transaction->message = NULL;
    vd__transaction_linger(stack, transaction, VD__LANE_64T1); /* Timer M */
    deliver(stack, transaction, response);
}

/* 300 to 699: the transaction makes the ACK (17.1.1.3) and keeps it for retransmitted responses. */
static void completed(struct vd_stack *stack, struct vd__transaction *transaction,
                      struct vd_message *response)
{
    const struct vd_header *to = vd_message_header(response, VD_HEADER_TO);
    struct vd__buffer *ack = NULL;
    int rc = vd__request_derive(stack, transaction, VD_STR("ACK"), to->value, &ack);
    if (rc != 0) {
        /* Unanswered: the peer repeats the response for up to 64*T1, and the next copy gets another
         * try. */
        vd__log(stack, VD_LOG_ERROR, rc, "ACK could not be built", &transaction->u.active->flow, 0,
                response->raw);
        if (transaction->timer.next == NULL) {
            vd__arm(stack, VD__LANE_64T1, &transaction->timer);
        }
        return;
    }
    transaction->state = VD_TRANSACTION_COMPLETED;
    vd__buffer_unref(&stack->buffers, transaction->message);
    transaction->message = ack;
    vd__outbox_push(stack, ack, vd__transaction_name(transaction));
    stack->counters.sent_requests++;
    vd__transaction_linger(stack, transaction,
                           vd__is_reliable(transaction) ? VD__LANE_ZERO : VD__LANE_D);
    deliver(stack, transaction, response);
}

void vd__client_invite_response(struct vd_stack *stack, struct vd__transaction *transaction,
                                struct vd_message *response)
{
    int status = response->status;
    switch (transaction->state) {
    case VD_TRANSACTION_CALLING:
    case VD_TRANSACTION_PROCEEDING:
        if (status < 200) {
            provisional(stack, transaction, response);
        } else if (status < 300) {
            accepted(stack, transaction, response);
        } else {
            completed(stack, transaction, response);
        }
        break;
    case VD_TRANSACTION_COMPLETED:
        if (status >= 300) {
            stack->counters.response_retransmissions++;
            stack->counters.resent_requests++;
            vd__outbox_push(stack, transaction->message, vd__transaction_name(transaction));
        }
        break;
    case VD_TRANSACTION_ACCEPTED:
        if (status >= 200 && status < 300) {
            deliver(stack, transaction, response);
        }
        break;
    default:
        break;
    }
}

/* Timer A: doubles without a cap (17.1.1.2). In Proceeding it is a CANCEL that waits. */
void vd__client_invite_timer(struct vd_stack *stack, struct vd__transaction *transaction)
{
    struct vd__active *active = transaction->u.active;
    if (transaction->state == VD_TRANSACTION_PROCEEDING) {
        send_held_cancel(stack, transaction);
        return;
    }
    if (active->step + 1 < VD__BACKOFF_STEPS) {
        active->step++;
    }
    vd__arm(stack, VD__LANE_BACKOFF + active->step, &active->retransmit);
    stack->counters.resent_requests++;
    vd__outbox_push(stack, transaction->message, vd__transaction_name(transaction));
}

/* Timer B in Calling; in Proceeding 64*T1 after a CANCEL (9.1), or after a final response for which
 * there was no memory; Timers D and M afterwards. */
void vd__client_invite_expire(struct vd_stack *stack, struct vd__transaction *transaction)
{
    if (transaction->state == VD_TRANSACTION_CALLING) {
        vd__transaction_fail(stack, transaction, VD_ERR_TIMEOUT);
    } else if (transaction->state == VD_TRANSACTION_PROCEEDING) {
        bool cancelled = (transaction->flags & VD__FLAG_CANCEL) != 0;
        vd__transaction_fail(stack, transaction, cancelled ? VD_ERR_CANCELLED : VD_ERR_TIMEOUT);
    } else {
        vd__transaction_terminate(stack, transaction);
    }
}

/* In Accepted the ACK is not this transaction's, so nothing of its own can fail any more. */
void vd__client_invite_error(struct vd_stack *stack, struct vd__transaction *transaction, int error)
{
    if (transaction->state != VD_TRANSACTION_ACCEPTED) {
        vd__transaction_fail(stack, transaction, error);
    }
}
