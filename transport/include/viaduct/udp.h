/* viaduct/udp.h - UDP sockets of a loop (RFC 3261 18).
 *
 * A socket is unconnected, bound to one address and port, and belongs to one endpoint of one stack.
 * It lives until its loop is freed. Datagrams are received and sent in batches.
 *
 * When the kernel takes no more, messages wait in a queue of the socket and leave, in order, as
 * soon as it does. When that queue is full, further messages fail with VD_ERR_TRANSPORT. A message
 * that the kernel refuses fails alone; those behind it are sent.
 *
 * ICMP errors are read from the socket's error queue and given to the stack with the destination
 * and the bytes that they quote, so that they meet the transaction that they belong to:
 * VD_ERR_REFUSED for port or protocol unreachable, VD_ERR_UNREACHABLE for network or host
 * unreachable, VD_ERR_TRANSPORT for a parameter problem. Source quench and time exceeded are
 * counted and otherwise ignored (RFC 3261 18.4). So is "packet too big": the kernel then knows the
 * path's MTU, and fragments what is sent again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_UDP_H
#define VIADUCT_UDP_H

#include <viaduct/addr.h>
#include <viaduct/base.h>
#include <viaduct/error.h>
#include <viaduct/loop.h>
#include <viaduct/stack.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a socket is opened. Always start with vd_udp_options_init. */
struct vd_udp_options {
    /* The sent-by of the Via of requests that leave this socket: host or host:port (RFC
     * 3261 20.42). Empty for the address and port that the socket is bound to. It must be given
     * when the socket is bound to a wildcard address. The text is copied. */
    struct vd_str sent_by;

    /* Bytes that the kernel may hold for the socket in each direction, SO_RCVBUF and SO_SNDBUF:
     * default 1 MiB. The kernel cuts it down to net.core.rmem_max and wmem_max. 0 leaves the
     * system's own. */
    uint32_t receive_buffer;
    uint32_t send_buffer;

    /* Messages that may wait for the socket when the kernel takes no more: default 4096. */
    uint32_t send_queue_limit;

    /* Asked about each datagram before the stack gets it: true lets it pass, false drops it. It is
     * for tests, which need a network that loses, repeats and delays: a copy that was kept may be
     * given to vd_stack_receive in on_turn. bytes is valid for the call only, and no function of
     * the stack may be called from it. Default NULL, for none. */
    bool (*filter)(const struct vd_flow *flow, struct vd_str bytes, void *context);
    void *filter_context;
};

/* Fills in the defaults. */
VD_API void vd_udp_options_init(struct vd_udp_options *options);

/* Opens a UDP socket on bind, IPv4 or IPv6 (an IPv6 socket takes no IPv4), and makes it an endpoint
 * of stack, which must be one of the loop's. bind->port 0 lets the kernel choose; vd_udp_local_addr
 * tells. options is copied; NULL takes the defaults.
 *
 * On a host with several addresses open one socket for each rather than one on the wildcard
 * address: that one's datagrams leave from whatever address the routing chooses, and a response
 * must leave from the address that its request came to (RFC 3581 4).
 *
 * Returns 0 with *endpoint, the number for vd_flow.endpoint; or
 * - VD_ERR_INVALID: no such stack, no family, a buffer size beyond INT_MAX, a sent_by that is
 *   none, or none at all with a wildcard address;
 * - VD_ERR_IN_USE: the address and port are taken;
 * - VD_ERR_LIMIT: no file descriptor left;
 * - VD_ERR_SYSTEM: the system refused otherwise (no such address, no right to the port, ...);
 * - VD_ERR_NOMEM.
 *
 * The errno is in a log event. After an error nothing is left open. */
VD_API int vd_udp_open(struct vd_loop *loop, struct vd_stack *stack, const struct vd_addr *bind,
                       const struct vd_udp_options *options, uint32_t *endpoint);

/* The address and port that an endpoint's socket is bound to. Returns 0 with *out, or
 * VD_ERR_INVALID when the endpoint is no UDP socket of the loop. */
VD_API int vd_udp_local_addr(const struct vd_loop *loop, const struct vd_stack *stack,
                             uint32_t endpoint, struct vd_addr *out);

/* What the UDP sockets of a loop have counted, all together, since it was made. */
struct vd_udp_counters {
    uint64_t received_datagrams; /* given to the stacks */
    uint64_t received_bytes;
    uint64_t receive_calls;  /* recvmmsg system calls; with io_uring, turns that received */
    uint64_t truncated;      /* datagrams longer than the buffer: dropped */
    uint64_t kernel_dropped; /* datagrams that the kernel dropped because a socket's buffer was
                              * full; it is told with the next datagram that the socket receives */
    uint64_t sent_datagrams;
    uint64_t sent_bytes;
    uint64_t send_calls;  /* sendmmsg system calls; with io_uring, submissions that sent as well */
    uint64_t would_block; /* of these, how many ended because the kernel took no more */
    uint64_t queued;      /* messages that had to wait */
    uint64_t queue_full;  /* messages that failed because the queue, or the memory, was full */
    uint64_t send_failed; /* messages that the kernel refused */
    uint64_t icmp_errors; /* read from the error queues */
};

/* Copies the counters as they are now. */
VD_API void vd_udp_get_counters(const struct vd_loop *loop, struct vd_udp_counters *out);

/* Messages that wait for sockets now. */
VD_API uint64_t vd_udp_waiting(const struct vd_loop *loop);

#ifdef __cplusplus
}
#endif

#endif
