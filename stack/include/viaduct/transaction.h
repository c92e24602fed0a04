/* viaduct/transaction.h - requests, responses and the transactions that carry them.
 *
 * RFC 3261 17, RFC 6026, RFC 4320, RFC 3581. All functions only append to the stack's outbox; none
 * calls a callback. now is the current time, in a callback vd_stack_now(stack).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSACTION_H
#define VIADUCT_TRANSACTION_H

#include <viaduct/base.h>
#include <viaduct/build.h>
#include <viaduct/error.h>
#include <viaduct/stack.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins a request that leaves flow->endpoint for flow->remote: takes a buffer of the stack's,
 * writes the Request-Line and a top Via with a new branch and an empty rport (RFC 3581 3). The
 * caller adds the other header fields with viaduct/build.h (From, To, Call-ID, CSeq, Max-Forwards
 * are mandatory) and then calls exactly one of vd_request_send, vd_ack_send and vd_request_abort;
 * vd_request_send ends the message if the caller has not called vd_build_end.
 *
 * Returns 0, VD_ERR_INVALID (method or uri, or no such endpoint), VD_ERR_NOMEM, VD_ERR_OVERLOAD or
 * VD_ERR_STATE (the stack is being freed); after an error nothing is to be aborted. */
VD_API int vd_request_begin(struct vd_stack *stack, struct vd_builder *builder,
                            struct vd_str method, struct vd_str uri, const struct vd_flow *flow);

/* Sends the request in a client transaction of its own: INVITE (RFC 3261 figure 5 with RFC
 * 6026 7.2) or non-INVITE (figure 6). user comes back in the callbacks.
 *
 * Returns 0 with *out (which may be NULL), or the builder's error, VD_ERR_MISSING (a mandatory
 * header field was not written), VD_ERR_MISMATCH (CSeq names another method), VD_ERR_INVALID (the
 * method is ACK or CANCEL, or the builder is no request's), VD_ERR_NOMEM, VD_ERR_OVERLOAD. The
 * builder is done with in either case. */
VD_API int vd_request_send(struct vd_stack *stack, struct vd_builder *builder, void *user,
                           vd_time now, vd_transaction *out);

/* Sends an ACK for a 2xx, which has no transaction (RFC 3261 13.2.2.4). Returns 0 or an error as
 * above; VD_ERR_INVALID when the method is not ACK. The builder is done with in either case. */
VD_API int vd_ack_send(struct vd_stack *stack, struct vd_builder *builder, vd_time now);

/* Gives up a request or a response that was begun: nothing is sent. Harmless for a builder that was
 * sent or given up already. */
VD_API void vd_request_abort(struct vd_stack *stack, struct vd_builder *builder);
VD_API void vd_response_abort(struct vd_stack *stack, struct vd_builder *builder);

/* Cancels an INVITE of ours (RFC 3261 9.1): a CANCEL with the same branch goes out in a transaction
 * of its own, at once if a provisional response has come, else when the first one comes. If no
 * final response follows within 64*T1 the INVITE fails with VD_ERR_CANCELLED.
 *
 * Returns 0, VD_ERR_GONE, VD_ERR_INVALID (not an INVITE client transaction), VD_ERR_STATE (a final
 * response has come, or it is cancelled already), VD_ERR_NOMEM, VD_ERR_OVERLOAD. */
VD_API int vd_request_cancel(struct vd_stack *stack, vd_transaction transaction, vd_time now);

/* Begins a response to the request of a server transaction: status line (an empty reason takes the
 * usual phrase), Via, From, To, Call-ID, CSeq and Timestamp as RFC 3261 8.2.6.2 has them, received
 * and rport filled in (RFC 3261 18.2.1, RFC 3581 4), To with a tag of the stack's making unless it
 * has one or the response is a 100 (17.2.1). The caller adds what it likes, then calls
 * vd_response_send or vd_response_abort.
 *
 * Returns 0, VD_ERR_GONE, VD_ERR_INVALID (status outside 100 to 699), VD_ERR_STATE, VD_ERR_NOMEM.
 * It is VD_ERR_STATE when a final response was sent already (but a 2xx to an INVITE may be sent
 * again until Timer L, RFC 6026 7.1); and, to a non-INVITE, for a provisional response other than
 * 100, for a 100 over an unreliable transport before Timer E would have reached T2, and for a 408
 * (RFC 4320 4.1, 4.2). */
VD_API int vd_response_begin(struct vd_stack *stack, struct vd_builder *builder,
                             vd_transaction transaction, int status, struct vd_str reason);

/* Sends it: RFC 3261 figures 7 and 8 with RFC 6026 7.1. Returns 0 or the builder's error,
 * VD_ERR_GONE, VD_ERR_STATE. The builder is done with in either case. */
VD_API int vd_response_send(struct vd_stack *stack, struct vd_builder *builder, vd_time now);

/* A response without a body and without further header fields. Returns 0 or an error of the two
 * above. */
VD_API int vd_respond(struct vd_stack *stack, vd_transaction transaction, int status,
                      struct vd_str reason, vd_time now);

/* Sends the last response of an INVITE server transaction that is in state Accepted again: the 2xx
 * that a UAS repeats until its ACK comes (RFC 3261 13.3.1.4). Returns 0, VD_ERR_GONE, VD_ERR_STATE.
 */
VD_API int vd_response_resend(struct vd_stack *stack, vd_transaction transaction, vd_time now);

/* The To tag that the stack puts into the responses of a server transaction. The view is valid
 * until the transaction has its final response. Returns 0, VD_ERR_GONE, VD_ERR_STATE (it has one),
 * VD_ERR_NOT_FOUND (the request has a To tag already), VD_ERR_INVALID (a client transaction). */
VD_API int vd_transaction_local_tag(struct vd_stack *stack, vd_transaction transaction,
                                    struct vd_str *out);

/* Hangs a pointer of the application on a transaction. Returns 0 or VD_ERR_GONE. */
VD_API int vd_transaction_set_user(struct vd_stack *stack, vd_transaction transaction, void *user);

/* The states of RFC 3261 figures 5 to 8 and of RFC 6026. */
enum vd_transaction_state {
    VD_TRANSACTION_CALLING, /* INVITE client */
    VD_TRANSACTION_TRYING,  /* non-INVITE client and server */
    VD_TRANSACTION_PROCEEDING,
    VD_TRANSACTION_COMPLETED,
    VD_TRANSACTION_CONFIRMED, /* INVITE server */
    VD_TRANSACTION_ACCEPTED,  /* INVITE client and server (RFC 6026) */
    VD_TRANSACTION_TERMINATED
};

/* The state of a transaction; VD_TRANSACTION_TERMINATED when it is gone. */
VD_API enum vd_transaction_state vd_transaction_state(const struct vd_stack *stack,
                                                      vd_transaction transaction);

/* The number of the worker that wrote the branch of a response, 0 to 255; VD_ERR_NOT_FOUND when the
 * branch is not one that this library wrote. */
VD_API int vd_branch_worker(struct vd_str branch);

#ifdef __cplusplus
}
#endif

#endif
