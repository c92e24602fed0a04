/* client.c - the non-INVITE client transaction (RFC 3261 17.1.2, figure 6).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

void vd__client_start(struct vd_stack *stack, struct vd__transaction *transaction)
{
    transaction->state = VD_TRANSACTION_TRYING;
    vd__arm(stack, VD__LANE_64T1, &transaction->timer); /* Timer F */
    if (!vd__is_reliable(transaction)) {
        vd__arm(stack, VD__LANE_BACKOFF, &transaction->u.active->retransmit); /* Timer E */
    }
}

static void completed(struct vd_stack *stack, struct vd__transaction *transaction)
{
    transaction->state = VD_TRANSACTION_COMPLETED;
    vd__buffer_unref(&stack->buffers, transaction->message);
    transaction->message = NULL;
    vd__transaction_linger(stack, transaction,
                           vd__is_reliable(transaction) ? VD__LANE_ZERO : VD__LANE_T4);
}

void vd__client_response(struct vd_stack *stack, struct vd__transaction *transaction,
                         struct vd_message *response)
{
    if (transaction->state == VD_TRANSACTION_COMPLETED) {
        if (response->status >= 200) {
            stack->counters.response_retransmissions++;
        }
        return;
    }
    if (response->status >= 200) {
        completed(stack, transaction);
    } else {
        /* Timer E goes on: 17.1.2.2 has it restart at T2 when it fires in Proceeding. */
        transaction->state = VD_TRANSACTION_PROCEEDING;
    }
    if (stack->config.callbacks.on_response != NULL &&
        (transaction->flags & VD__FLAG_INTERNAL) == 0) {
        stack->config.callbacks.on_response(stack, vd__transaction_name(transaction), response,
                                            vd__user(transaction), stack->config.context);
    }
}

/* Timer E: MIN(2*E, T2) in Trying, T2 in Proceeding. */
void vd__client_timer(struct vd_stack *stack, struct vd__transaction *transaction)
{
    struct vd__active *active = transaction->u.active;
    vd__arm(stack,
            vd__backoff_capped(stack, active, transaction->state == VD_TRANSACTION_PROCEEDING),
            &active->retransmit);
    stack->counters.resent_requests++;
    vd__outbox_push(stack, transaction->message, vd__transaction_name(transaction));
}

/* Timer F in Trying and Proceeding, Timer K in Completed. */
void vd__client_expire(struct vd_stack *stack, struct vd__transaction *transaction)
{
    if (transaction->state == VD_TRANSACTION_COMPLETED) {
        vd__transaction_terminate(stack, transaction);
    } else {
        vd__transaction_fail(stack, transaction, VD_ERR_TIMEOUT);
    }
}

void vd__client_error(struct vd_stack *stack, struct vd__transaction *transaction, int error)
{
    if (transaction->state != VD_TRANSACTION_COMPLETED) {
        vd__transaction_fail(stack, transaction, error);
    }
}
