/* viaduct/stack.h - the engine: bytes and time go in, callbacks come up, bytes are pulled out.
 *
 * A stack has no socket, no clock, no thread. Whoever drives it (viaduct/loop.h does) does this:
 *
 *     vd_stack_receive(stack, &flow, bytes, size, now);     for each datagram or framed message
 *     vd_stack_expire(stack, now);                          when vd_stack_next_deadline has come
 *     while ((n = vd_stack_poll_send(stack, out, 64)) > 0)  after each batch of the above
 *         send out[0..n), then vd_stack_send_done for each
 *
 * Sending only appends to an outbox, so no function calls a callback but vd_stack_receive,
 * vd_stack_receive_message, vd_stack_expire, vd_stack_send_failed, vd_stack_icmp_error,
 * vd_stack_flow_closed and vd_stack_free; and these must not be called from a callback.
 * One stack belongs to one thread at a time; stacks share nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_H
#define VIADUCT_STACK_H

#include <viaduct/addr.h>
#include <viaduct/base.h>
#include <viaduct/error.h>
#include <viaduct/log.h>
#include <viaduct/mem.h>
#include <viaduct/message.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vd_stack;

/* The name of a transaction: it stays harmless when the transaction is gone (functions then return
 * VD_ERR_GONE). 0 names none. */
typedef uint64_t vd_transaction;

/* What the stack tells. Every callback may be NULL. Messages and the flow are valid until the
 * callback returns. context is the one of struct vd_stack_config; user is what was given for the
 * transaction (NULL until then). Callbacks may send, respond, cancel, and set and cancel timers. */
struct vd_stack_callbacks {
    /* A new request, not a retransmission, other than ACK and CANCEL. Respond now or later, with
     * the functions of viaduct/transaction.h. Without this callback every request gets 501. */
    void (*on_request)(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context);

    /* An ACK for a 2xx response. transaction is the INVITE server transaction when the ACK carries
     * its branch, as RFC 2543 peers do, else 0: such an ACK belongs to a dialog (RFC
     * 3261 13.3.1.4). */
    void (*on_ack)(struct vd_stack *stack, vd_transaction transaction, struct vd_message *ack,
                   const struct vd_flow *flow, void *context);

    /* A CANCEL for an INVITE that has no final response yet; the CANCEL itself was answered.
     * Without this callback the stack answers the INVITE with 487 (RFC 3261 9.2). */
    void (*on_cancel)(struct vd_stack *stack, vd_transaction invite, struct vd_message *cancel,
                      void *user, void *context);

    /* A response to a request of ours: any number of provisional ones, one final one; after a 2xx
     * to an INVITE every further 2xx too, until Timer M ends the transaction (RFC 6026 7.2). */
    void (*on_response)(struct vd_stack *stack, vd_transaction transaction,
                        struct vd_message *response, void *user, void *context);

    /* A response that belongs to no client transaction. A stateless proxy may have a use for it;
     * every other element leaves this NULL, and it is dropped (RFC 6026 8.9, RFC 4320 4.2). */
    void (*on_stray_response)(struct vd_stack *stack, struct vd_message *response,
                              const struct vd_flow *flow, void *context);

    /* A transaction failed. Client: no final response came (VD_ERR_TIMEOUT, to be treated as a 408;
     * VD_ERR_CANCELLED; VD_ERR_TRANSPORT, VD_ERR_REFUSED, VD_ERR_UNREACHABLE, to be treated as a
     * 503, RFC 3261 8.1.3.1), or the ACK for a non-2xx response could not be sent (one of the last
     * three, 17.1.1.2); called at most once, on_terminated follows. Server: no ACK came for a
     * non-2xx final response, or the application left a non-INVITE request unanswered for 64*T1
     * (VD_ERR_TIMEOUT); there was no memory to keep the request (VD_ERR_NOMEM); or a response could
     * not be sent (a transport error; the transaction goes on, RFC 6026 8.8). */
    void (*on_failure)(struct vd_stack *stack, vd_transaction transaction, int error, void *user,
                       void *context);

    /* The last callback for a transaction: it has ended (state Terminated) and its name means
     * nothing from here on. Exactly once for each transaction. */
    void (*on_terminated)(struct vd_stack *stack, vd_transaction transaction, void *user,
                          void *context);
};

/* How a stack is made. Always start with vd_stack_config_init. */
struct vd_stack_config {
    struct vd_stack_callbacks callbacks;
    void *context;

    /* RFC 3261 17.1.1.1 and table 4: T1 500 ms, T2 4 s, T4 5 s. T1 <= T2; these three and the two
     * that follow are from 1 ms to 1 h. */
    vd_time t1;
    vd_time t2;
    vd_time t4;
    /* Timer D on unreliable transports: default 32 s, the least that RFC 3261 17.1.1.2 allows. A
     * smaller value is taken, for tests. */
    vd_time timer_d;
    /* An INVITE that the application has not answered by then gets a 100 (RFC 3261 17.2.1): 200 ms.
     */
    vd_time trying_delay;

    /* What a received message may hold: as in viaduct/message.h, message_size at most 65535. */
    struct vd_limits limits;

    /* Live and lingering transactions at once, of each side; default 16,000,000, at most 2^31-1.
     * Past it a new request is answered 503 with Retry-After, statelessly, and a new request of
     * ours is VD_ERR_OVERLOAD. So is, whatever the limit, a request whose branch 32 others have
     * that differ in the method. */
    uint32_t max_client_transactions;
    uint32_t max_server_transactions;
    /* Server transactions that wait for the application's final response; default 1,000,000. A
     * CANCEL gets through all the same. */
    uint32_t max_pending_requests;
    /* Seconds for the Retry-After of these 503 responses; default 5, 0 for none. */
    uint32_t retry_after;

    /* A request of ours that is longer than this, in bytes, is too long for UDP (RFC 3261 18.1.1):
     * default 1300, right where the path's MTU is not known. It leaves by the endpoint that
     * vd_stack_pair_endpoints named; when there is none it goes over UDP all the same, which is
     * counted and logged. */
    size_t datagram_request_size;

    /* The number of this stack among those that share its sockets, 0 to 255: it stands in each
     * branch that this stack writes. */
    uint8_t worker;

    /* Value of a Server header field in responses that the stack makes by itself; empty for none.
     * The text is copied. */
    struct vd_str server;

    /* Allocator; NULL for malloc. */
    const struct vd_mem *mem;

    /* Fills out with size unpredictable bytes and returns 0, or a negative error. It is called when
     * a stack is made, for its keys. NULL for the system's. */
    int (*random)(void *out, size_t size, void *context);

    /* Log events; NULL for none. log_level is the least important one that is wanted: default
     * VD_LOG_NOTICE. */
    vd_log_fn log;
    void *log_context;
    enum vd_log_level log_level;
};

/* Fills in the defaults. */
VD_API void vd_stack_config_init(struct vd_stack_config *config);

/* Makes a stack. config is copied. Returns 0 with *out, VD_ERR_INVALID (a value out of its range),
 * VD_ERR_NOMEM or the error of config->random. */
VD_API int vd_stack_new(struct vd_stack **out, const struct vd_stack_config *config);

/* Ends every transaction (on_terminated is called for each) and frees the stack; outgoing messages
 * not yet pulled are dropped; those pulled must have been given back. NULL is allowed. */
VD_API void vd_stack_free(struct vd_stack *stack);

/* The context of the configuration. */
VD_API void *vd_stack_context(const struct vd_stack *stack);

/* The limits of the configuration: what reads messages off streams keeps to them as well. Valid as
 * long as the stack. */
VD_API const struct vd_limits *vd_stack_limits(const struct vd_stack *stack);

/* The latest time that the stack was told. */
VD_API vd_time vd_stack_now(const struct vd_stack *stack);

/* Makes a local end known: its transport, and the sent-by (host or host:port, RFC 3261 20.42) that
 * stands in the Via of the requests that leave it. Returns 0 with *endpoint, VD_ERR_INVALID (no
 * such transport; sent_by is no host with an optional port, or longer than 288 bytes) or
 * VD_ERR_NOMEM. Endpoints are numbered from 0 and are never removed. */
VD_API int vd_stack_add_endpoint(struct vd_stack *stack, enum vd_transport transport,
                                 struct vd_str sent_by, uint32_t *endpoint);

/* Requests that are too long for the endpoint datagram (UDP) leave by the endpoint stream (TCP)
 * from now on, to the same address and port, with a Via that says so (RFC 3261 18.1.1); if the peer
 * refuses the connection the request goes over UDP after all. Returns 0, or VD_ERR_INVALID when one
 * is no endpoint or has the wrong kind of transport. */
VD_API int vd_stack_pair_endpoints(struct vd_stack *stack, uint32_t datagram, uint32_t stream);

/* Takes a datagram that came on flow (flow->remote is its source). bytes may be overwritten once
 * the call returns. What is no message, or a faulty one, is answered or dropped, counted and
 * logged.
 *
 * Returns 0 when the datagram was a keep-alive or held a message that follows the rules (also when
 * it was then refused with 503, for a limit or for want of memory); the error for which it was
 * refused (a VD_ERR_* of the peer's); or VD_ERR_INVALID (no such endpoint). */
VD_API int vd_stack_receive(struct vd_stack *stack, const struct vd_flow *flow, const char *bytes,
                            size_t size, vd_time now);

/* The same for a message that vd_framer_next found in a stream. */
VD_API int vd_stack_receive_message(struct vd_stack *stack, const struct vd_flow *flow,
                                    struct vd_message *message, vd_time now);

/* Tells the stack that a stream has lost its framing: error and message are what vd_framer_next
 * gave. A request that can be answered gets the status that vd_error_status has for the error (400,
 * 513, ...); the caller closes the connection once that was sent. */
VD_API void vd_stack_receive_fault(struct vd_stack *stack, const struct vd_flow *flow, int error,
                                   struct vd_message *message, vd_time now);

/* Fires every timer whose time has come. */
VD_API void vd_stack_expire(struct vd_stack *stack, vd_time now);

/* When vd_stack_expire must be called next; VD_TIME_NEVER when no timer is armed. */
VD_API vd_time vd_stack_next_deadline(const struct vd_stack *stack);

/* A message to go out. data and size stay valid until vd_stack_send_done or vd_stack_send_failed
 * gets it back. On a reliable transport flow.connection is the connection to use if it is still
 * there; else, and when it is 0, the message goes on whatever connection there is, or can be made,
 * from flow.endpoint to flow.remote. token and buffer are the stack's own. */
struct vd_send {
    struct vd_flow flow;
    const char *data;
    size_t size;
    uint64_t token;
    void *buffer;
};

/* Pulls up to max messages, in the order in which they were queued. Returns how many. Each must be
 * given back, in any order, to vd_stack_send_done or vd_stack_send_failed. */
VD_API size_t vd_stack_poll_send(struct vd_stack *stack, struct vd_send *out, size_t max);

/* The message was sent, or it no longer matters. On a connection sent->flow.connection must say
 * which one it was. */
VD_API void vd_stack_send_done(struct vd_stack *stack, const struct vd_send *sent);

/* The message could not be sent: error (VD_ERR_TRANSPORT, VD_ERR_REFUSED, VD_ERR_UNREACHABLE) goes
 * to the transaction that it belongs to (RFC 3261 17.1.4, 17.2.4, 18.4). */
VD_API void vd_stack_send_failed(struct vd_stack *stack, const struct vd_send *failed, int error,
                                 vd_time now);

/* An ICMP error came for a datagram that left flow.endpoint for flow.remote. quoted holds as many
 * of its first bytes as the ICMP message had, and names the transaction by its top Via. When it
 * holds too little to tell, error goes to every client transaction that waits for a first response
 * from flow.remote. */
VD_API void vd_stack_icmp_error(struct vd_stack *stack, const struct vd_flow *flow,
                                const char *quoted, size_t size, int error, vd_time now);

/* The connection of flow, which must not be 0, is gone: error goes to each client transaction whose
 * request left on it and that has no final response yet (RFC 3261 17.1.4). Responses that are still
 * to come find another way (18.2.2): vd_send.flow then has the address to connect to. */
VD_API void vd_stack_flow_closed(struct vd_stack *stack, const struct vd_flow *flow, int error,
                                 vd_time now);

/* What a stack has counted since it was made. */
struct vd_stack_counters {
    uint64_t received_requests;
    uint64_t received_responses;
    uint64_t received_keepalives;
    uint64_t received_invalid;         /* faulty messages, answered or dropped */
    uint64_t received_not_sip;         /* bytes that are no SIP at all */
    uint64_t request_retransmissions;  /* requests that came again and were absorbed */
    uint64_t response_retransmissions; /* final responses that came again and were absorbed */
    uint64_t stray_responses;
    uint64_t stray_acks;    /* ACKs for nothing, given to on_ack or dropped */
    uint64_t sent_requests; /* first copies */
    uint64_t sent_responses;
    uint64_t resent_requests;  /* Timers A and E */
    uint64_t resent_responses; /* Timer G, and answers to retransmitted requests */
    uint64_t timeouts;         /* Timers B, F and H, and non-INVITE requests left unanswered */
    uint64_t transport_errors;
    uint64_t long_requests_over_tcp;   /* too long for UDP, so switched to TCP */
    uint64_t long_requests_over_udp;   /* too long, but there was no TCP or the peer refused it */
    uint64_t overloads;                /* 503 because of a limit */
    uint64_t client_transactions;      /* made */
    uint64_t server_transactions;      /* made */
    uint32_t live_client_transactions; /* now, lingering ones included */
    uint32_t live_server_transactions;
};

/* Copies the counters as they are now. */
VD_API void vd_stack_get_counters(const struct vd_stack *stack, struct vd_stack_counters *out);

#ifdef __cplusplus
}
#endif

#endif
