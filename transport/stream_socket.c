/* stream_socket.c - asks the system for stream sockets.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connection.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "udp_internal.h"
#include "system_error.h"

static int set(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof value);
}

static int open_socket(uint8_t family)
{
    return socket(family == VD_FAMILY_IP6 ? AF_INET6 : AF_INET,
                  SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Messages are written whole, so nothing is gained by waiting for more (TCP_NODELAY). Accepted
 * sockets have what is set for their listener. */
static int set_options(int fd, uint8_t family, uint32_t receive_buffer, uint32_t send_buffer)
{
    if (family == VD_FAMILY_IP6 && set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) < 0) {
        return -1;
    }
    if (receive_buffer > 0 && set(fd, SOL_SOCKET, SO_RCVBUF, (int)receive_buffer) < 0) {
        return -1;
    }
    if (send_buffer > 0 && set(fd, SOL_SOCKET, SO_SNDBUF, (int)send_buffer) < 0) {
        return -1;
    }
    return set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

/* ---- Listening ---- */

static int refuse(const struct vd_loop *loop, const char *text)
{
    int system_error = errno;
    int error = vd__error_of_open(system_error);

    vd__loop_log(loop, &(struct vd_log_event){.level = VD_LOG_ERROR,
                                              .error = error,
                                              .system_error = system_error,
                                              .text = text});
    return error;
}

static int bind_and_listen(int fd, const struct vd_addr *addr, uint32_t backlog,
                           struct vd_addr *local)
{
    bool bound =
        set(fd, SOL_SOCKET, SO_REUSEADDR, 1) == 0 && vd__sockaddr_bind(fd, addr, local) == 0;
    return bound ? listen(fd, (int)backlog) : -1;
}

int vd__stream_listen(const struct vd_loop *loop, const struct vd_addr *bind,
                      const struct vd_tcp_options *options, int *fd, struct vd_addr *local)
{
    int opened = open_socket(bind->family);
    int error;

    if (opened < 0) {
        return refuse(loop, "cannot make a listener");
    }
    if (set_options(opened, bind->family, options->receive_buffer, options->send_buffer) < 0) {
        error = refuse(loop, "cannot set an option of a listener");
    } else if (bind_and_listen(opened, bind, options->backlog, local) < 0) {
        error = refuse(loop, "cannot listen");
    } else {
        *fd = opened;
        return 0;
    }
    close(opened);
    return error;
}

/* ---- Connecting ---- */

/* Without a port, the kernel chooses one when it connects: it then needs to differ only from those
 * of connections to the same remote address. */
static int bind_source(int fd, const struct vd_addr *local)
{
    union vd__sockaddr sockaddr;
    struct vd_addr source = *local;

    if (vd__addr_is_wildcard(local)) {
        return 0;
    }
    source.port = 0;
    socklen_t length = vd__sockaddr_from_addr(&sockaddr, &source);
    if (set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1) < 0) {
        return -1;
    }
    return bind(fd, &sockaddr.any, length);
}

static int begin(int fd, const struct vd__stream_endpoint *endpoint, const struct vd_addr *remote,
                 bool *connecting)
{
    union vd__sockaddr sockaddr;
    socklen_t length = vd__sockaddr_from_addr(&sockaddr, remote);

    if (set_options(fd, remote->family, endpoint->receive_buffer, endpoint->send_buffer) < 0 ||
        bind_source(fd, &endpoint->local) < 0) {
        return -1;
    }
    *connecting = connect(fd, &sockaddr.any, length) < 0;
    /* After a signal the kernel goes on connecting as well. */
    return *connecting && errno != EINPROGRESS && errno != EINTR ? -1 : 0;
}

int vd__stream_connect(const struct vd__stream_endpoint *endpoint, const struct vd_addr *remote,
                       bool *connecting)
{
    if (remote->family != endpoint->local.family) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    int fd = open_socket(remote->family);
    if (fd < 0) {
        return -1;
    }
    if (begin(fd, endpoint, remote, connecting) < 0) {
        int system_error = errno;
        close(fd);
        errno = system_error;
        return -1;
    }
    return fd;
}

/* ---- Errors ---- */

int vd__stream_take_error(int fd)
{
    int system_error = 0;
    socklen_t length = sizeof system_error;

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &system_error, &length) < 0) {
        return errno;
    }
    return system_error;
}
