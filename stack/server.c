/* server.c - the non-INVITE server transaction (RFC 3261 17.2.2, figure 8, with RFC 4320).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

void vd__server_start(struct vd_stack *stack, struct vd__transaction *transaction)
{
    transaction->state = VD_TRANSACTION_TRYING;
    vd__arm(stack, VD__LANE_TRYING, &transaction->u.active->retransmit);
    /* After 64*T1 the client has given up: a final response would be a stray, and RFC 4320 4.2 has
     * none sent. So the transaction need not wait for its TU longer. */
    vd__arm(stack, VD__LANE_64T1, &transaction->timer);
}

/* A retransmitted request: Trying discards it, Proceeding and Completed repeat the latest response.
 */
void vd__server_request(struct vd_stack *stack, struct vd__transaction *transaction)
{
    if (transaction->message != NULL) {
        stack->counters.resent_responses++;
        vd__outbox_push(stack, transaction->message, vd__transaction_name(transaction));
    }
}

int vd__server_may_respond(const struct vd_stack *stack, const struct vd__transaction *transaction,
                           int status)
{
    bool open = transaction->state == VD_TRANSACTION_TRYING ||
                transaction->state == VD_TRANSACTION_PROCEEDING;
    if (!open || status == 408) { /* 408: RFC 4320 4.2 */
        return VD_ERR_STATE;
    }
    if (status >= 200) {
        return 0;
    }
    /* RFC 4320 4.1: no provisional response but 100, and over an unreliable transport not before
     * the client's Timer E would have reached T2. */
    const struct vd__active *active = transaction->u.active;
    bool early = active->retransmit.next != NULL && active->retransmit.deadline > stack->now;
    return status > 100 || (early && !vd__is_reliable(transaction)) ? VD_ERR_STATE : 0;
}

/* A response from the TU was queued; it is transaction->message. */
void vd__server_responded(struct vd_stack *stack, struct vd__transaction *transaction, int status)
{
    if (status < 200) {
        transaction->state = VD_TRANSACTION_PROCEEDING;
        vd__lane_cancel(&transaction->u.active->retransmit);
        return;
    }
    transaction->state = VD_TRANSACTION_COMPLETED;
    /* Timer J */
    vd__transaction_linger(stack, transaction,
                           vd__is_reliable(transaction) ? VD__LANE_ZERO : VD__LANE_64T1);
}

/* RFC 4320 4.1: a request still unanswered when Timer E reaches T2 MUST get a 100. */
void vd__server_timer(struct vd_stack *stack, struct vd__transaction *transaction)
{
    vd__answer(stack, transaction, 100);
}

void vd__server_expire(struct vd_stack *stack, struct vd__transaction *transaction)
{
    if (transaction->state == VD_TRANSACTION_COMPLETED) {
        vd__transaction_terminate(stack, transaction);
    } else {
        vd__transaction_fail(stack, transaction, VD_ERR_TIMEOUT);
    }
}
