/* transaction.c - records of transactions: made, found by name or branch, compacted when they only
 * linger, ended.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

struct vd__transaction *vd__transaction_new(struct vd_stack *stack)
{
    uint32_t index = vd__pool_take(&stack->transactions);
    if (index == VD__POOL_NONE) {
        return NULL;
    }
    struct vd__transaction *transaction = vd__pool_at(&stack->transactions, index);
    /* A generation of 0 never stands in a name, so that no name is 0. */
    uint32_t generation = transaction->generation != 0 ? transaction->generation : 1;
    *transaction = (struct vd__transaction){
        .index = index,
        .generation = generation,
    };
    return transaction;
}

struct vd__transaction *vd__transaction_find(const struct vd_stack *stack, vd_transaction name)
{
    uint32_t index = (uint32_t)name;
    if (index >= stack->transactions.fresh) {
        return NULL;
    }
    struct vd__transaction *transaction = vd__pool_at(&stack->transactions, index);
    bool same = transaction->generation == (uint32_t)(name >> 32);
    return same && transaction->kind != VD__KIND_NONE ? transaction : NULL;
}

struct vd__transaction *vd__transaction_by_branch(const struct vd_stack *stack,
                                                  struct vd_str branch)
{
    struct vd__branch parts;
    if (!vd__branch_read(branch, &parts) || parts.worker != stack->config.worker) {
        return NULL;
    }
    vd_transaction name = (uint64_t)parts.generation << 32 | parts.index;
    struct vd__transaction *transaction = vd__transaction_find(stack, name);
    if (transaction == NULL || transaction->key[0] != parts.secret || !vd__is_client(transaction)) {
        return NULL;
    }
    return transaction;
}

struct vd__active *vd__active_new(struct vd_stack *stack, struct vd__transaction *transaction)
{
    uint32_t index = vd__pool_take(&stack->actives);
    if (index == VD__POOL_NONE) {
        return NULL;
    }
    struct vd__active *active = vd__pool_at(&stack->actives, index);
    *active =
        (struct vd__active){.index = index, .owner = transaction->index, .datagram = VD__POOL_NONE};
    transaction->u.active = active;
    transaction->flags |= VD__FLAG_ACTIVE;
    return active;
}

/* Gives back all that only a transaction in progress needs; the application's pointer stays. */
void vd__transaction_compact(struct vd_stack *stack, struct vd__transaction *transaction)
{
    struct vd__active *active = vd__active(transaction);
    if (active == NULL) {
        return;
    }
    vd__lane_cancel(&active->retransmit);
    vd__buffer_unref(&stack->buffers, active->head);
    transaction->u.user = active->user;
    transaction->flags &= (uint8_t)~VD__FLAG_ACTIVE;
    active->owner = VD__POOL_NONE;
    vd__pool_give(&stack->actives, active->index);
    if (transaction->message != NULL) {
        transaction->message = vd__buffer_compact(&stack->buffers, transaction->message);
    }
}

/* A request no longer waits for its final response. */
void vd__transaction_answered(struct vd_stack *stack, struct vd__transaction *transaction)
{
    if ((transaction->flags & VD__FLAG_PENDING) != 0) {
        transaction->flags &= (uint8_t)~VD__FLAG_PENDING;
        stack->pending_requests--;
    }
}

/* Frees a record without a word: one that the application never heard of. */
void vd__transaction_discard(struct vd_stack *stack, struct vd__transaction *transaction)
{
    vd__transaction_answered(stack, transaction);
    vd__transaction_compact(stack, transaction);
    vd__lane_cancel(&transaction->timer);
    vd__buffer_unref(&stack->buffers, transaction->message);
    if ((transaction->flags & VD__FLAG_TABLED) != 0) {
        vd__table_remove(&stack->table, transaction);
    }
    if (vd__is_server(transaction)) {
        stack->counters.live_server_transactions--;
    } else if (vd__is_client(transaction)) {
        stack->counters.live_client_transactions--;
    }
    transaction->kind = VD__KIND_NONE;
    transaction->generation++;
    vd__pool_give(&stack->transactions, transaction->index);
}

/* Terminated: frees the record, then tells the application, so that nothing that it does in the
 * callback finds the transaction alive. */
void vd__transaction_terminate(struct vd_stack *stack, struct vd__transaction *transaction)
{
    vd_transaction name = vd__transaction_name(transaction);
    void *user = vd__user(transaction);
    bool internal = (transaction->flags & VD__FLAG_INTERNAL) != 0;
    vd__transaction_discard(stack, transaction);
    if (stack->config.callbacks.on_terminated != NULL && !internal) {
        stack->config.callbacks.on_terminated(stack, name, user, stack->config.context);
    }
}

/* Tells the application of the failure, then ends the transaction ("inform TU" in the figures). */
void vd__transaction_fail(struct vd_stack *stack, struct vd__transaction *transaction, int error)
{
    vd_transaction name = vd__transaction_name(transaction);
    transaction->state = VD_TRANSACTION_TERMINATED;
    if (error == VD_ERR_TIMEOUT) {
        stack->counters.timeouts++;
    }
    if (stack->config.callbacks.on_failure != NULL &&
        (transaction->flags & VD__FLAG_INTERNAL) == 0) {
        stack->config.callbacks.on_failure(stack, name, error, vd__user(transaction),
                                           stack->config.context);
    }
    vd__transaction_terminate(stack, transaction);
}

/* From here on nothing but the timer of a lane separates the transaction from its end. */
void vd__transaction_linger(struct vd_stack *stack, struct vd__transaction *transaction,
                            enum vd__lane_id lane)
{
    vd__transaction_compact(stack, transaction);
    vd__arm(stack, lane, &transaction->timer);
}

enum vd_transaction_state vd_transaction_state(const struct vd_stack *stack,
                                               vd_transaction transaction)
{
    const struct vd__transaction *found = vd__transaction_find(stack, transaction);
    return found != NULL ? (enum vd_transaction_state)found->state : VD_TRANSACTION_TERMINATED;
}

int vd_transaction_set_user(struct vd_stack *stack, vd_transaction transaction, void *user)
{
    struct vd__transaction *found = vd__transaction_find(stack, transaction);
    if (found == NULL) {
        return VD_ERR_GONE;
    }
    if (vd__active(found) != NULL) {
        found->u.active->user = user;
    } else {
        found->u.user = user;
    }
    return 0;
}

int vd_transaction_local_tag(struct vd_stack *stack, vd_transaction transaction, struct vd_str *out)
{
    struct vd__transaction *found = vd__transaction_find(stack, transaction);
    if (found == NULL) {
        return VD_ERR_GONE;
    }
    if (!vd__is_server(found)) {
        return VD_ERR_INVALID;
    }
    struct vd__active *active = vd__active(found);
    if (active == NULL || found->state > VD_TRANSACTION_PROCEEDING) {
        return VD_ERR_STATE;
    }
    if (!active->own_tag) {
        return VD_ERR_NOT_FOUND;
    }
    *out = vd_str(active->tag, sizeof active->tag);
    return 0;
}
