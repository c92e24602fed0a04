/* cancel.c - CANCEL (RFC 3261 9).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

/* A CANCEL has the branch of its INVITE, so that branch names the INVITE's record. Its own record
 * is found through the table, by a digest of the branch that no server transaction can have. */
static void client_key(const struct vd_stack *stack, struct vd_str branch, uint64_t out[2])
{
    struct vd__siphash hash;
    vd__siphash_init(&hash, &stack->key);
    vd__siphash_update(&hash, "CANCEL ", 7);
    vd__siphash_update_lower(&hash, branch.p, branch.n);
    vd__siphash_final(&hash, out);
}

struct vd__transaction *vd__cancel_find_client(const struct vd_stack *stack, struct vd_str branch)
{
    uint64_t key[2];
    client_key(stack, branch, key);
    struct vd__transaction *found = vd__table_find(&stack->table, key);
    return found != NULL && found->kind == VD__KIND_CLIENT ? found : NULL;
}

int vd__cancel_now(struct vd_stack *stack, struct vd__transaction *invite)
{
    struct vd__buffer *request = NULL;
    struct vd__branch parts = {
        .secret = invite->key[0],
        .index = invite->index,
        .generation = invite->generation,
        .worker = stack->config.worker,
    };
    char branch[VD__BRANCH_SIZE];
    vd__branch_write(branch, &parts);

    struct vd__transaction *cancel = vd__transaction_new(stack);
    if (cancel == NULL) {
        return VD_ERR_NOMEM;
    }
    cancel->method = VD_METHOD_CANCEL;
    cancel->flags = VD__FLAG_INTERNAL;
    client_key(stack, vd_str(branch, sizeof branch), cancel->key);
    int rc = vd__table_insert(&stack->table, cancel);
    if (rc == 0) {
        cancel->flags |= VD__FLAG_TABLED;
        rc = vd__request_derive(stack, invite, VD_STR("CANCEL"), vd_str(NULL, 0), &request);
    }
    if (rc == 0) {
        rc = vd__request_launch(stack, cancel, request, NULL);
    }
    if (rc != 0) {
        vd__buffer_unref(&stack->buffers, request);
        vd__transaction_discard(stack, cancel);
        return rc;
    }
    /* 9.1: without a final response within 64*T1 the INVITE counts as cancelled. */
    vd__arm(stack, VD__LANE_64T1, &invite->timer);
    return 0;
}

int vd_request_cancel(struct vd_stack *stack, vd_transaction transaction, vd_time now)
{
    vd__advance(stack, now);
    struct vd__transaction *invite = vd__transaction_find(stack, transaction);
    if (invite == NULL) {
        return VD_ERR_GONE;
    }
    if (invite->kind != VD__KIND_CLIENT_INVITE) {
        return VD_ERR_INVALID;
    }
    bool open =
        invite->state == VD_TRANSACTION_CALLING || invite->state == VD_TRANSACTION_PROCEEDING;
    if (!open || (invite->flags & VD__FLAG_CANCEL) != 0) {
        return VD_ERR_STATE;
    }
    int rc = invite->state == VD_TRANSACTION_PROCEEDING ? vd__cancel_now(stack, invite) : 0;
    if (rc == 0) {
        invite->flags |= VD__FLAG_CANCEL;
    }
    return rc;
}

/* What a CANCEL with this key names: the server transaction of another method. */
struct vd__transaction *vd__cancel_find_target(const struct vd_stack *stack, const uint64_t key[2])
{
    struct vd__transaction *found = vd__table_find(&stack->table, key);
    while (found != NULL && (!vd__is_server(found) || found->method == VD_METHOD_CANCEL)) {
        found = vd__table_find_next(&stack->table, found);
    }
    return found;
}

/* 9.2: the To tag of the response to the CANCEL is that of the response to the request that it
 * names. In Accepted and Completed that response alone has it still. */
static void share_tag(struct vd_stack *stack, const struct vd__transaction *target,
                      struct vd__active *cancel)
{
    const struct vd__active *active = vd__active(target);
    const struct vd__buffer *response = target->message;
    struct vd_message *message = &stack->scratch;
    const struct vd_nameaddr *to;
    if (active != NULL && active->own_tag) {
        memcpy(cancel->tag, active->tag, sizeof active->tag);
    } else if (active == NULL && response != NULL &&
               vd__parse_own(message, response->data, response->length) >= 0 &&
               vd_message_to(message, &to) == 0 && to->tag.n == sizeof cancel->tag) {
        memcpy(cancel->tag, to->tag.p, sizeof cancel->tag);
    }
}

/* A new CANCEL has its server transaction: answer it, and let the INVITE know (9.2). */
void vd__cancel_received(struct vd_stack *stack, struct vd__transaction *cancel,
                         struct vd_message *message)
{
    struct vd__transaction *target = vd__cancel_find_target(stack, cancel->key);
    if (target == NULL) {
        vd__answer(stack, cancel, 481);
        return;
    }
    share_tag(stack, target, cancel->u.active);
    vd__answer(stack, cancel, 200);
    bool pending =
        target->kind == VD__KIND_SERVER_INVITE && target->state == VD_TRANSACTION_PROCEEDING;
    if (!pending || (target->flags & VD__FLAG_CANCEL) != 0) {
        return;
    }
    target->flags |= VD__FLAG_CANCEL;
    if (stack->config.callbacks.on_cancel != NULL) {
        stack->config.callbacks.on_cancel(stack, vd__transaction_name(target), message,
                                          vd__user(target), stack->config.context);
    } else {
        vd__answer(stack, target, 487);
    }
}
