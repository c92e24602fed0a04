/* fake_udp.c - a kernel that refuses, delays and reports as a test wants it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fake_udp.h"

#include <errno.h>
#include <limits.h>
#include <time.h> /* linux/errqueue.h needs it */
#include <linux/errqueue.h>
#include <poll.h>
#include <string.h>

#include "udp_internal.h"

struct fake_udp fake_udp;

/* ---- Sending ---- */

static int refusal(const struct msghdr *message)
{
    struct vd_addr to;

    if (fake_udp.limit == 0) {
        return EAGAIN;
    }
    vd__sockaddr_to_addr(&to, message->msg_name, message->msg_namelen);
    return fake_udp.refuse != NULL ? fake_udp.refuse(&to) : 0;
}

static void remember(const struct msghdr *message)
{
    size_t size = message->msg_iov->iov_len;

    fake_udp.sent_size = size < sizeof fake_udp.sent ? size : sizeof fake_udp.sent;
    memcpy(fake_udp.sent, message->msg_iov->iov_base, fake_udp.sent_size);
}

static int fake_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    for (unsigned i = 0; i < count; i++) {
        int error = refusal(&messages[i].msg_hdr);
        if (error == 0 && !fake_udp.swallow && sendmmsg(fd, &messages[i], 1, flags) != 1) {
            error = errno;
        }
        if (error != 0 && i == 0) {
            fake_udp.refusals++;
            errno = error;
            return -1;
        }
        if (error != 0) {
            return (int)i;
        }
        fake_udp.limit--;
        remember(&messages[i].msg_hdr);
    }
    return (int)count;
}

/* ---- Receiving ---- */

static int gather(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    unsigned target = fake_udp.gather < count ? fake_udp.gather : count;
    unsigned received = 0;

    while (received < target) {
        struct pollfd watched = {.fd = fd, .events = POLLIN};
        if (poll(&watched, 1, -1) < 0) {
            return -1;
        }
        int more = recvmmsg(fd, messages + received, count - received, flags, NULL);
        if (more < 0) {
            return -1;
        }
        received += (unsigned)more;
    }
    fake_udp.gather = 0;
    return (int)received;
}

/* Fills messages up with copies of the first of them. */
static int repeat(struct mmsghdr *messages, int received, unsigned count)
{
    unsigned filled = (unsigned)received;

    for (; filled < count && fake_udp.echoes > 0; filled++, fake_udp.echoes--) {
        struct mmsghdr *copy = &messages[filled];
        copy->msg_len = messages[0].msg_len;
        copy->msg_hdr.msg_namelen = messages[0].msg_hdr.msg_namelen;
        copy->msg_hdr.msg_controllen = 0;
        memcpy(copy->msg_hdr.msg_name, messages[0].msg_hdr.msg_name,
               messages[0].msg_hdr.msg_namelen);
        memcpy(copy->msg_hdr.msg_iov->iov_base, messages[0].msg_hdr.msg_iov->iov_base,
               messages[0].msg_len);
    }
    return (int)filled;
}

static int fake_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    if (fake_udp.receive_error != 0) {
        errno = fake_udp.receive_error;
        fake_udp.receive_error = 0;
        return -1;
    }
    int received = fake_udp.gather > 0 ? gather(fd, messages, count, flags)
                                       : recvmmsg(fd, messages, count, flags, NULL);

    if (received < 0 && errno == EAGAIN && fake_udp.echoes > 0) {
        /* The first message still holds what the call before left there. */
        received = 1;
        fake_udp.echoes--;
        messages[0].msg_hdr.msg_controllen = 0;
        messages[0].msg_hdr.msg_namelen = sizeof(struct sockaddr_in);
    }
    if (received > 0) {
        received = repeat(messages, received, count);
    }
    for (int i = 0; i < received; i++) {
        messages[i].msg_hdr.msg_flags |= fake_udp.receive_flags;
    }
    return received;
}

/* ---- The error queue ---- */

static void write_description(struct msghdr *message, const struct fake_error *error)
{
    struct sock_extended_err description = {
        .ee_errno = (uint32_t)error->system_error,
        .ee_origin = error->origin,
        .ee_type = error->type,
        .ee_code = error->code,
    };
    bool ip6 = error->destination.family == VD_FAMILY_IP6;
    struct cmsghdr *control = CMSG_FIRSTHDR(message);

    control->cmsg_level = ip6 ? IPPROTO_IPV6 : IPPROTO_IP;
    control->cmsg_type = ip6 ? IPV6_RECVERR : IP_RECVERR;
    control->cmsg_len = CMSG_LEN(sizeof description);
    memcpy(CMSG_DATA(control), &description, sizeof description);
    message->msg_controllen = CMSG_SPACE(sizeof description);
}

static ssize_t fake_recvmsg(int fd, struct msghdr *message, int flags)
{
    if (fake_udp.error_count == 0) {
        return recvmsg(fd, message, flags);
    }
    const struct fake_error *error = fake_udp.errors++;
    size_t size = error->quoted.n;

    fake_udp.error_count--;
    write_description(message, error);
    message->msg_namelen = vd__sockaddr_from_addr(message->msg_name, &error->destination);
    size = size < message->msg_iov->iov_len ? size : message->msg_iov->iov_len;
    if (size > 0) {
        memcpy(message->msg_iov->iov_base, error->quoted.p, size);
    }
    return (ssize_t)size;
}

/* ---- io_uring ---- */

static int fake_queue(struct vd__udp_socket *socket, const struct vd_send *message)
{
    int error = fake_udp.limit == 0 ? EAGAIN : 0;

    if (error == 0 && fake_udp.refuse != NULL) {
        error = fake_udp.refuse(&message->flow.remote);
    }
    if (error != 0) {
        fake_udp.refusals++;
        return error;
    }
    fake_udp.limit--;
    fake_udp.sent_size =
        message->size < sizeof fake_udp.sent ? message->size : sizeof fake_udp.sent;
    memcpy(fake_udp.sent, message->data, fake_udp.sent_size);
    return vd__udp_uring_queue(socket, message);
}

void fake_udp_install(struct side *side)
{
    static const struct vd__udp_ops ops = {
        .sendmmsg = fake_sendmmsg,
        .recvmmsg = fake_recvmmsg,
        .recvmsg = fake_recvmsg,
        .queue = fake_queue,
    };

    fake_udp = (struct fake_udp){.limit = UINT_MAX};
    side->loop->udp->ops = &ops;
}

struct vd__udp_socket *fake_udp_socket(const struct side *side)
{
    return vd__loop_find_stack(side->loop, side->stack)->sockets[side->endpoint];
}
