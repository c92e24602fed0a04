/* channel_tcp.c - the channel of TCP: bytes pass as they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "channel.h"

#include <errno.h>
#include <sys/socket.h>

#include "connection.h"

static int result_of(struct vd__connection *connection, int system_error,
                     enum vd__channel_result later)
{
    if (system_error == EAGAIN || system_error == EWOULDBLOCK || system_error == EINTR) {
        return later;
    }
    connection->system_error = system_error;
    return VD__CHANNEL_BROKEN;
}

static ssize_t tcp_read(struct vd__connection *connection, char *bytes, size_t size)
{
    ssize_t count = recv(connection->source.fd, bytes, size, 0);

    return count >= 0 ? count : result_of(connection, errno, VD__CHANNEL_WANT_READ);
}

static ssize_t tcp_write(struct vd__connection *connection, const struct iovec *vectors, int count)
{
    /* The kernel only reads them. */
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)vectors,
                             .msg_iovlen = (size_t)count};
    ssize_t written = sendmsg(connection->source.fd, &message, MSG_NOSIGNAL);

    return written >= 0 ? written : result_of(connection, errno, VD__CHANNEL_WANT_WRITE);
}

static void tcp_shut(struct vd__connection *connection)
{
    (void)shutdown(connection->source.fd, SHUT_WR);
}

const struct vd__channel_ops vd__channel_tcp = {
    .read = tcp_read,
    .write = tcp_write,
    .shut = tcp_shut,
};
