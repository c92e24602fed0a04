/* failure.c - transport errors find the transaction that they belong to (RFC 3261 17.1.4, 17.2.4,
 * 18.4).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

void vd__transport_error(struct vd_stack *stack, struct vd__transaction *transaction, int error)
{
    if (vd__is_client(transaction) && vd__long_request_fall_back(stack, transaction, error)) {
        return;
    }
    stack->counters.transport_errors++;
    switch (transaction->kind) {
    case VD__KIND_CLIENT_INVITE:
        vd__client_invite_error(stack, transaction, error);
        break;
    case VD__KIND_CLIENT:
        vd__client_error(stack, transaction, error);
        break;
    default:
        /* RFC 6026 8.8: a server transaction informs its TU and stays in its state. */
        if (stack->config.callbacks.on_failure != NULL &&
            (transaction->flags & VD__FLAG_INTERNAL) == 0) {
            stack->config.callbacks.on_failure(stack, vd__transaction_name(transaction), error,
                                               vd__user(transaction), stack->config.context);
        }
        break;
    }
}

void vd_stack_send_failed(struct vd_stack *stack, const struct vd_send *failed, int error,
                          vd_time now)
{
    vd__advance(stack, now);
    vd__log(stack, VD_LOG_NOTICE, error, "message could not be sent", &failed->flow, 0,
            vd_str(failed->data, failed->size));
    vd__buffer_unref(&stack->buffers, failed->buffer);
    struct vd__transaction *transaction = vd__transaction_find(stack, failed->token);
    if (transaction != NULL) {
        vd__transport_error(stack, transaction, error);
    } else {
        stack->counters.transport_errors++;
    }
    vd__settle(stack);
}

/* The value of the first Via of a message of ours of which perhaps only the front is there; empty
 * when it is not whole. What we send has a start line and then, as "Via: ", its top Via. */
static struct vd_str quoted_via(struct vd_str quoted)
{
    const char *line = quoted.n > 0 ? memchr(quoted.p, '\n', quoted.n) : NULL;
    if (line == NULL) {
        return vd_str(NULL, 0);
    }
    line++;
    size_t rest = quoted.n - (size_t)(line - quoted.p);
    if (rest < 5 || !vd_str_case_equal(vd_str(line, 5), VD_STR("Via: "))) {
        return vd_str(NULL, 0);
    }
    const char *end = memchr(line, '\r', rest);
    return end == NULL ? vd_str(NULL, 0) : vd_str(line + 5, (size_t)(end - line) - 5);
}

/* The server transaction whose response is quoted. Over UDP its key is that of the request, except
 * for an RFC 2543 peer, of whose request too much is missing here. */
static struct vd__transaction *find_quoted_server(const struct vd_stack *stack,
                                                  const struct vd_via *via)
{
    bool rfc2543 = !vd_via_has_cookie(via);
    uint64_t key[2];
    if (rfc2543) {
        return NULL;
    }
    vd__server_key(stack, NULL, via, &rfc2543, key);
    /* Of INVITE and CANCEL, which share a branch, only the first has someone to tell. */
    return vd__cancel_find_target(stack, key);
}

/* The CANCEL of an INVITE has the INVITE's branch, so the method decides. */
static struct vd__transaction *find_quoted_client(const struct vd_stack *stack,
                                                  struct vd_str quoted, const struct vd_via *via)
{
    bool cancel = quoted.n >= 7 && memcmp(quoted.p, "CANCEL ", 7) == 0;
    return cancel ? vd__cancel_find_client(stack, via->branch)
                  : vd__transaction_by_branch(stack, via->branch);
}

/* Marks the client transactions in progress whose messages go to flow: those on its connection when
 * closed is true, else those that wait for a first response from its remote address. */
static void mark_failing(struct vd_stack *stack, const struct vd_flow *flow, bool closed)
{
    if (stack->counters.live_client_transactions == 0) {
        return; /* a pure server need not look */
    }
    for (uint32_t i = 0; i < stack->actives.fresh; i++) {
        const struct vd__active *active = vd__pool_at(&stack->actives, i);
        if (active->owner == VD__POOL_NONE || active->flow.endpoint != flow->endpoint) {
            continue;
        }
        struct vd__transaction *owner = vd__pool_at(&stack->transactions, active->owner);
        bool concerned = closed ? active->flow.connection == flow->connection
                                : owner->state <= VD_TRANSACTION_TRYING &&
                                      vd_addr_equal(&active->flow.remote, &flow->remote);
        if (vd__is_client(owner) && concerned) {
            owner->flags |= VD__FLAG_FAILING;
        }
    }
}

/* All are marked before the first callback: one that tries again at once makes a transaction that
 * the error does not concern, though it may take the place of one that has just ended. */
static void fail_marked(struct vd_stack *stack, int error)
{
    if (stack->counters.live_client_transactions == 0) {
        return;
    }
    uint32_t end = stack->actives.fresh;
    for (uint32_t i = 0; i < end; i++) {
        const struct vd__active *active = vd__pool_at(&stack->actives, i);
        if (active->owner == VD__POOL_NONE) {
            continue;
        }
        struct vd__transaction *owner = vd__pool_at(&stack->transactions, active->owner);
        if ((owner->flags & VD__FLAG_FAILING) != 0) {
            vd__transport_error(stack, owner, error);
        }
    }
}

void vd_stack_icmp_error(struct vd_stack *stack, const struct vd_flow *flow, const char *quoted,
                         size_t size, int error, vd_time now)
{
    struct vd_via via;
    struct vd_str text = vd_str(quoted, size);
    struct vd__transaction *found = NULL;
    vd__advance(stack, now);
    vd__log(stack, VD_LOG_NOTICE, error, "ICMP error", flow, 0, text);
    struct vd_str value = quoted_via(text);
    if (value.n == 0 || vd_via_parse(value, &via, NULL) < 0) {
        /* Too little is quoted to tell. */
        mark_failing(stack, flow, false);
        fail_marked(stack, error);
        vd__settle(stack);
        return;
    }
    if (size >= 4 && memcmp(quoted, "SIP/", 4) == 0) {
        found = find_quoted_server(stack, &via);
    } else {
        found = find_quoted_client(stack, text, &via);
    }
    if (found != NULL) {
        vd__transport_error(stack, found, error);
    } else {
        stack->counters.transport_errors++;
    }
    vd__settle(stack);
}

/* Only client transactions wait for what the connection would have brought; a response that is
 * still to be sent goes out on another connection (18.2.2). */
void vd_stack_flow_closed(struct vd_stack *stack, const struct vd_flow *flow, int error,
                          vd_time now)
{
    vd__advance(stack, now);
    mark_failing(stack, flow, true);
    fail_marked(stack, error);
    vd__settle(stack);
}
