/* udp_socket.c - asks the system for a UDP socket.
 *
 * SPDX-License-Identifier: MIT
 */
#include "udp_internal.h"
#include "system_error.h"

#include <errno.h>
#include <unistd.h>

static int refuse(const struct vd_loop *loop, int error, const char *text)
{
    int system_error = errno;

    error = error != 0 ? error : vd__error_of_open(system_error);
    vd__loop_log(loop, &(struct vd_log_event){.level = VD_LOG_ERROR,
                                              .error = error,
                                              .system_error = system_error,
                                              .text = text});
    return error;
}

static int set(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof value);
}

static int set_options(int fd, uint8_t family, const struct vd_udp_options *options)
{
    if (family == VD_FAMILY_IP6) {
        /* The same port can then be opened for IPv4, and no source is an IPv4-mapped address. */
        if (set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) < 0 ||
            set(fd, IPPROTO_IPV6, IPV6_RECVERR, 1) < 0) {
            return -1;
        }
    } else if (set(fd, IPPROTO_IP, IP_RECVERR, 1) < 0) {
        return -1;
    }
    if (options->receive_buffer > 0 &&
        set(fd, SOL_SOCKET, SO_RCVBUF, (int)options->receive_buffer) < 0) {
        return -1;
    }
    if (options->send_buffer > 0 && set(fd, SOL_SOCKET, SO_SNDBUF, (int)options->send_buffer) < 0) {
        return -1;
    }
    return set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
}

int vd__udp_socket_open(const struct vd_loop *loop, const struct vd_addr *addr,
                        const struct vd_udp_options *options, int *fd, struct vd_addr *local)
{
    int family = addr->family == VD_FAMILY_IP6 ? AF_INET6 : AF_INET;
    int opened = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error;

    if (opened < 0) {
        return refuse(loop, 0, "cannot make a UDP socket");
    }
    if (set_options(opened, addr->family, options) < 0) {
        error = refuse(loop, VD_ERR_SYSTEM, "cannot set an option of a UDP socket");
    } else if (vd__sockaddr_bind(opened, addr, local) < 0) {
        error = refuse(loop, 0, "cannot bind a UDP socket");
    } else {
        *fd = opened;
        return 0;
    }
    close(opened);
    return error;
}
