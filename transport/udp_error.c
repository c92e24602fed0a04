/* udp_error.c - ICMP errors, from the error queue of a socket to the stack (RFC 3261 18.4).
 *
 * SPDX-License-Identifier: MIT
 */
#include "udp_internal.h"

#include <errno.h>
#include <time.h> /* linux/errqueue.h needs it */
#include <linux/errqueue.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>

enum {
    ERRORS_MAX = 64, /* read at a time; the selector tells of the rest */
    QUOTED_MAX = 1536
};

union error_control {
    struct cmsghdr header;
    char bytes[512];
};

/* What is to be done about an error: tell the stack, as error, or not, error being 0. */
struct verdict {
    int error;
    const char *text;
};

static struct verdict judge_ip4(uint8_t type, uint8_t code)
{
    switch (type) {
    case ICMP_DEST_UNREACH:
        switch (code) {
        case ICMP_PORT_UNREACH:
            return (struct verdict){VD_ERR_REFUSED, "ICMP: port unreachable"};
        case ICMP_PROT_UNREACH:
            return (struct verdict){VD_ERR_REFUSED, "ICMP: protocol unreachable"};
        case ICMP_FRAG_NEEDED:
            return (struct verdict){0, "ICMP: datagram too big, fragmentation needed"};
        default:
            return (struct verdict){VD_ERR_UNREACHABLE, "ICMP: destination unreachable"};
        }
    case ICMP_PARAMETERPROB:
        return (struct verdict){VD_ERR_TRANSPORT, "ICMP: parameter problem"};
    case ICMP_SOURCE_QUENCH:
        return (struct verdict){0, "ICMP: source quench"};
    case ICMP_TIME_EXCEEDED:
        return (struct verdict){0, "ICMP: time exceeded"};
    default:
        return (struct verdict){0, "ICMP: unknown error"};
    }
}

static struct verdict judge_ip6(uint8_t type, uint8_t code)
{
    switch (type) {
    case ICMP6_DST_UNREACH:
        if (code == ICMP6_DST_UNREACH_NOPORT) {
            return (struct verdict){VD_ERR_REFUSED, "ICMPv6: port unreachable"};
        }
        return (struct verdict){VD_ERR_UNREACHABLE, "ICMPv6: destination unreachable"};
    case ICMP6_PARAM_PROB:
        return (struct verdict){VD_ERR_TRANSPORT, "ICMPv6: parameter problem"};
    case ICMP6_PACKET_TOO_BIG:
        return (struct verdict){0, "ICMPv6: packet too big"};
    case ICMP6_TIME_EXCEEDED:
        return (struct verdict){0, "ICMPv6: time exceeded"};
    default:
        return (struct verdict){0, "ICMPv6: unknown error"};
    }
}

/* The description of an error among the control data; false when there is none. */
static bool find_description(struct msghdr *message, struct sock_extended_err *out)
{
    for (struct cmsghdr *control = CMSG_FIRSTHDR(message); control != NULL;
         control = CMSG_NXTHDR(message, control)) {
        bool ip4 = control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_RECVERR;
        bool ip6 = control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_RECVERR;
        if ((ip4 || ip6) && control->cmsg_len >= CMSG_LEN(sizeof *out)) {
            memcpy(out, CMSG_DATA(control), sizeof *out);
            return true;
        }
    }
    return false;
}

static void tell(struct vd__udp_socket *socket, const struct vd_flow *flow, struct verdict verdict,
                 int system_error, struct vd_str quoted)
{
    struct vd_loop *loop = socket->udp->loop;

    vd__loop_log(loop, &(struct vd_log_event){
                           .level = verdict.error != 0 ? VD_LOG_NOTICE : VD_LOG_DEBUG,
                           .error = verdict.error,
                           .system_error = system_error,
                           .text = verdict.text,
                           .flow = flow,
                           .data = quoted,
                       });
    if (verdict.error != 0 && flow->remote.family != VD_FAMILY_NONE) {
        loop->again = true;
        vd_stack_icmp_error(socket->stack, flow, quoted.p, quoted.n, verdict.error, loop->now);
    }
}

/* Handles one error. Returns whether it came from the network: what the kernel itself found wrong
 * with a message was the result of the call that sent it. */
static bool handle(struct vd__udp_socket *socket, struct msghdr *message, size_t size)
{
    struct sock_extended_err description;
    struct vd_flow flow = {.endpoint = socket->endpoint};
    struct verdict verdict;

    if (!find_description(message, &description)) {
        return false;
    }
    if (description.ee_origin == SO_EE_ORIGIN_ICMP) {
        verdict = judge_ip4(description.ee_type, description.ee_code);
    } else if (description.ee_origin == SO_EE_ORIGIN_ICMP6) {
        verdict = judge_ip6(description.ee_type, description.ee_code);
    } else {
        return false;
    }
    socket->udp->counters.icmp_errors++;
    /* The name is where the datagram went to, the data what the ICMP message quoted of it. */
    vd__sockaddr_to_addr(&flow.remote, message->msg_name, message->msg_namelen);
    tell(socket, &flow, verdict, (int)description.ee_errno,
         vd_str(message->msg_iov->iov_base, size));
    return true;
}

size_t vd__udp_read_errors(struct vd__udp_socket *socket)
{
    size_t errors = 0;

    for (int i = 0; i < ERRORS_MAX; i++) {
        char quoted[QUOTED_MAX];
        union error_control control;
        union vd__sockaddr destination;
        struct iovec vector = {quoted, sizeof quoted};
        struct msghdr message = {
            .msg_name = &destination,
            .msg_namelen = sizeof destination,
            .msg_iov = &vector,
            .msg_iovlen = 1,
            .msg_control = &control,
            .msg_controllen = sizeof control,
        };
        ssize_t size = socket->udp->ops->recvmsg(socket->source.fd, &message, MSG_ERRQUEUE);
        if (size < 0) {
            break; /* EAGAIN: the queue is empty */
        }
        errors += handle(socket, &message, (size_t)size);
    }
    return errors;
}
