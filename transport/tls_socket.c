/* tls_socket.c - lets OpenSSL read and write the socket of a connection.
 *
 * OpenSSL has something of that kind too, but its writing to a connection that the peer has closed
 * raises SIGPIPE, and it asks the socket once more for what it could know is not there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tls_internal.h"

#include <errno.h>
#include <sys/socket.h>

static bool is_later(int system_error)
{
    return system_error == EAGAIN || system_error == EWOULDBLOCK || system_error == EINTR;
}

static int socket_read(BIO *bio, char *bytes, int size)
{
    struct vd__connection *connection = BIO_get_data(bio);
    struct vd__tls_state *state = vd__tls_state(connection);

    BIO_clear_retry_flags(bio);
    if (state->allowance == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    size_t room = (size_t)size < state->allowance ? (size_t)size : state->allowance;
    ssize_t count = recv(connection->source.fd, bytes, room, 0);
    /* When it was less than there was room for, nothing is left. The selector tells when there is
     * more. */
    state->allowance -= count == (ssize_t)room ? room : state->allowance;
    if (count < 0 && is_later(errno)) {
        BIO_set_retry_read(bio);
    } else if (count < 0) {
        connection->system_error = errno;
    } else if (count == 0) {
        state->at_end = true;
    }
    return (int)count;
}

static int socket_write(BIO *bio, const char *bytes, int size)
{
    struct vd__connection *connection = BIO_get_data(bio);
    ssize_t count = send(connection->source.fd, bytes, (size_t)size, MSG_NOSIGNAL);

    BIO_clear_retry_flags(bio);
    if (count < 0 && is_later(errno)) {
        BIO_set_retry_write(bio);
    } else if (count < 0) {
        connection->system_error = errno;
    }
    return (int)count;
}

static long socket_control(BIO *bio, int command, long number, void *pointer)
{
    const struct vd__connection *connection = BIO_get_data(bio);

    (void)number;
    (void)pointer;
    switch (command) {
    case BIO_CTRL_FLUSH:
        return 1;
    case BIO_CTRL_EOF:
        return vd__tls_state(connection)->at_end;
    default:
        return 0;
    }
}

BIO_METHOD *vd__tls_socket_new(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "connection");

    if (method != NULL && (BIO_meth_set_read(method, socket_read) != 1 ||
                           BIO_meth_set_write(method, socket_write) != 1 ||
                           BIO_meth_set_ctrl(method, socket_control) != 1)) {
        BIO_meth_free(method);
        method = NULL;
    }
    return method;
}
