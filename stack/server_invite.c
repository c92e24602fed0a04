/* server_invite.c - the INVITE server transaction (RFC 3261 17.2.1, figure 7, as RFC 6026 8.6
 * redraws it with the state Accepted and Timer L).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

void vd__server_invite_start(struct vd_stack *stack, struct vd__transaction *transaction)
{
    transaction->state = VD_TRANSACTION_PROCEEDING;
    vd__arm(stack, VD__LANE_TRYING_INVITE, &transaction->u.active->retransmit);
}

/* A retransmitted INVITE: Proceeding and Completed repeat the latest response, the rest absorbs it.
 */
void vd__server_invite_request(struct vd_stack *stack, struct vd__transaction *transaction)
{
    bool repeat = transaction->state == VD_TRANSACTION_PROCEEDING ||
                  transaction->state == VD_TRANSACTION_COMPLETED;
    if (repeat && transaction->message != NULL) {
        stack->counters.resent_responses++;
        vd__outbox_push(stack, transaction->message, vd__transaction_name(transaction));
    }
}

void vd__server_invite_ack(struct vd_stack *stack, struct vd__transaction *transaction,
                           struct vd_message *ack, const struct vd_flow *flow)
{
    if (transaction->state == VD_TRANSACTION_COMPLETED) {
        transaction->state = VD_TRANSACTION_CONFIRMED;
        vd__buffer_unref(&stack->buffers, transaction->message);
        transaction->message = NULL;
        /* Timer I */
        vd__transaction_linger(stack, transaction,
                               vd__is_reliable(transaction) ? VD__LANE_ZERO : VD__LANE_T4);
    } else if (transaction->state == VD_TRANSACTION_ACCEPTED &&
               stack->config.callbacks.on_ack != NULL) {
        stack->config.callbacks.on_ack(stack, vd__transaction_name(transaction), ack, flow,
                                       stack->config.context);
    }
}

/* Whether a response of this status may leave now. */
int vd__server_invite_may_respond(const struct vd__transaction *transaction, int status)
{
    if (transaction->state == VD_TRANSACTION_PROCEEDING) {
        return 0;
    }
    bool another_2xx = transaction->state == VD_TRANSACTION_ACCEPTED && status / 100 == 2;
    return another_2xx ? 0 : VD_ERR_STATE;
}

/* A response from the TU was queued; it is transaction->message. */
void vd__server_invite_responded(struct vd_stack *stack, struct vd__transaction *transaction,
                                 int status)
{
    if (transaction->state == VD_TRANSACTION_ACCEPTED) {
        return;
    }
    struct vd__active *active = transaction->u.active;
    vd__lane_cancel(&active->retransmit);
    if (status < 200) {
        return;
    }
    if (status < 300) {
        transaction->state = VD_TRANSACTION_ACCEPTED;
        vd__transaction_linger(stack, transaction, VD__LANE_64T1); /* Timer L */
        return;
    }
    transaction->state = VD_TRANSACTION_COMPLETED;
    vd__arm(stack, VD__LANE_64T1, &transaction->timer); /* Timer H */
    vd__buffer_unref(&stack->buffers, active->head);
    active->head = NULL;
    if (!vd__is_reliable(transaction)) {
        vd__arm(stack, VD__LANE_BACKOFF, &active->retransmit); /* Timer G */
    }
}

/* Proceeding: 200 ms without a response, so a 100 goes out. Completed: Timer G, MIN(2*G, T2). */
void vd__server_invite_timer(struct vd_stack *stack, struct vd__transaction *transaction)
{
    if (transaction->state == VD_TRANSACTION_PROCEEDING) {
        vd__answer(stack, transaction, 100);
        return;
    }
    struct vd__active *active = transaction->u.active;
    vd__arm(stack, vd__backoff_capped(stack, active, false), &active->retransmit);
    stack->counters.resent_responses++;
    vd__outbox_push(stack, transaction->message, vd__transaction_name(transaction));
}

/* Timer H in Completed: no ACK ever came. Timers I and L otherwise. */
void vd__server_invite_expire(struct vd_stack *stack, struct vd__transaction *transaction)
{
    if (transaction->state == VD_TRANSACTION_COMPLETED) {
        vd__transaction_fail(stack, transaction, VD_ERR_TIMEOUT);
    } else {
        vd__transaction_terminate(stack, transaction);
    }
}
