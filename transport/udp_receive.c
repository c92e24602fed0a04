/* udp_receive.c - datagrams in, a batch at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "udp_internal.h"

#include <errno.h>

enum {
    BATCH = 64,
    DATAGRAM_MAX = 65535,
    /* From buffer to buffer 17 cache lines more than 64 KiB: with 64 KiB, or a page, between them
     * the datagrams of a batch would all fall into the same few sets of the processor's caches. */
    STRIDE = 65536 + 17 * 64,
    /* How often a pending error may stand in the way of one batch. */
    ATTEMPTS = 4
};

/* Room for one control message, the kernel's count of dropped datagrams. */
union drop_count {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(uint32_t))];
};

/* One batch, the same for all sockets of a loop. Between batches all headers are as reset leaves
 * them. */
struct vd__udp_receiver {
    struct mmsghdr headers[BATCH];
    struct iovec vectors[BATCH];
    union vd__sockaddr sources[BATCH];
    union drop_count controls[BATCH];
    char *buffers;
};

/* Undoes what the kernel has written into a header. */
static void reset(struct vd__udp_receiver *receiver, size_t i)
{
    struct msghdr *header = &receiver->headers[i].msg_hdr;

    header->msg_namelen = sizeof receiver->sources[i];
    header->msg_controllen = sizeof receiver->controls[i];
    header->msg_flags = 0;
}

struct vd__udp_receiver *vd__udp_receiver_new(struct vd_loop *loop)
{
    struct vd__udp_receiver *receiver = vd__loop_allocate(loop, sizeof *receiver);

    if (receiver == NULL) {
        return NULL;
    }
    /* Not zeroed: what no datagram reaches takes no memory. */
    const struct vd_mem *mem = loop->config.mem;
    receiver->buffers = mem->allocate((size_t)BATCH * STRIDE, mem->context);
    if (receiver->buffers == NULL) {
        vd__loop_release(loop, receiver, sizeof *receiver);
        return NULL;
    }
    for (size_t i = 0; i < BATCH; i++) {
        struct msghdr *header = &receiver->headers[i].msg_hdr;
        receiver->vectors[i] = (struct iovec){receiver->buffers + i * STRIDE, DATAGRAM_MAX};
        header->msg_name = &receiver->sources[i];
        header->msg_iov = &receiver->vectors[i];
        header->msg_iovlen = 1;
        header->msg_control = &receiver->controls[i];
        reset(receiver, i);
    }
    return receiver;
}

void vd__udp_receiver_free(struct vd_loop *loop, struct vd__udp_receiver *receiver)
{
    if (receiver != NULL) {
        vd__loop_release(loop, receiver->buffers, (size_t)BATCH * STRIDE);
        vd__loop_release(loop, receiver, sizeof *receiver);
    }
}

/* The kernel tells how many datagrams it had dropped when this one came. */
static void note_kernel_drops(struct vd__udp_socket *socket, struct msghdr *header)
{
    for (struct cmsghdr *control = CMSG_FIRSTHDR(header); control != NULL;
         control = CMSG_NXTHDR(header, control)) {
        if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == SO_RXQ_OVFL) {
            uint32_t count;
            memcpy(&count, CMSG_DATA(control), sizeof count);
            /* It wraps round, and so does the difference. */
            socket->udp->counters.kernel_dropped += (uint32_t)(count - socket->kernel_dropped);
            socket->kernel_dropped = count;
        }
    }
}

static void drop_truncated(struct vd__udp_socket *socket, const struct vd_flow *flow,
                           struct vd_str data)
{
    socket->udp->counters.truncated++;
    vd__loop_log(socket->udp->loop, &(struct vd_log_event){.level = VD_LOG_WARNING,
                                                           .error = VD_ERR_TOO_LARGE,
                                                           .text = "a datagram was cut short",
                                                           .flow = flow,
                                                           .data = data});
}

void vd__udp_deliver(struct vd__udp_socket *socket, struct msghdr *header, struct vd_str data)
{
    struct vd__udp *udp = socket->udp;
    struct vd_flow flow = {.endpoint = socket->endpoint};

    vd__sockaddr_to_addr(&flow.remote, header->msg_name, header->msg_namelen);
    if (header->msg_controllen > 0) {
        note_kernel_drops(socket, header);
    }
    if ((header->msg_flags & MSG_TRUNC) != 0) {
        drop_truncated(socket, &flow, data);
        return;
    }
    udp->counters.received_datagrams++;
    udp->counters.received_bytes += data.n;
    if (socket->filter != NULL && !socket->filter(&flow, data, socket->filter_context)) {
        return;
    }
    /* What it makes of the datagram the stack counts and logs by itself. */
    (void)vd_stack_receive(socket->stack, &flow, data.p, data.n, udp->loop->now);
}

static void deliver_batch(struct vd__udp_socket *socket, size_t count)
{
    struct vd__udp_receiver *receiver = socket->udp->receiver;

    for (size_t i = 0; i < count; i++) {
        const struct mmsghdr *received = &receiver->headers[i];
        vd__udp_deliver(socket, &receiver->headers[i].msg_hdr,
                        vd_str(receiver->vectors[i].iov_base, received->msg_len));
        reset(receiver, i);
    }
}

/* Receives a batch of at most max. Returns how many datagrams came; -1 when an error stood in the
 * way that is gone now. */
static int receive_batch(struct vd__udp_socket *socket, size_t max)
{
    struct vd__udp *udp = socket->udp;
    int count = udp->ops->recvmmsg(socket->source.fd, udp->receiver->headers, (unsigned)max, 0);

    udp->counters.receive_calls++;
    if (count >= 0) {
        deliver_batch(socket, (size_t)count);
        return count;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
        return 0; /* after EINTR the selector tells again */
    }
    /* An ICMP error that came for a datagram sent earlier; the error queue says for which. */
    vd__udp_read_errors(socket);
    return -1;
}

void vd__udp_receive(struct vd__udp_socket *socket, size_t quota)
{
    int attempts = 0;

    while (quota > 0 && attempts < ATTEMPTS) {
        size_t asked = quota < BATCH ? quota : BATCH;
        int count = receive_batch(socket, asked);
        if (count < 0) {
            attempts++;
            continue;
        }
        quota -= (size_t)count;
        if ((size_t)count < asked) {
            return; /* there is nothing more */
        }
    }
}
