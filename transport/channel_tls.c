/* channel_tls.c - the channel of TLS: handshake, reading, writing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include "tls_internal.h"

enum {
    RECORD = SSL3_RT_MAX_PLAIN_LENGTH, /* bytes that a record carries at most */
    NOT_PUT_OFF = 1
};

/* ---- The state of a connection ---- */

/* Which side of the handshake we are on. */
static bool is_accepted(const struct vd__connection *connection)
{
    return connection->origin != NULL;
}

static SSL *new_ssl(struct vd__connection *connection)
{
    const struct vd_tls_context *context = vd__tls_endpoint(connection)->context;
    SSL *ssl = SSL_new(context->ssl);
    BIO *bio = BIO_new(context->socket);

    if (ssl == NULL || bio == NULL) {
        SSL_free(ssl);
        BIO_free(bio);
        return NULL;
    }
    BIO_set_data(bio, connection);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    (void)SSL_set_app_data(ssl, connection);
    return ssl;
}

static void be_server(SSL *ssl, const struct vd_tls_context *context)
{
    int mode = SSL_VERIFY_NONE;

    if (context->client_certificate == VD_TLS_CLIENT_REQUEST) {
        mode = SSL_VERIFY_PEER;
    } else if (context->client_certificate == VD_TLS_CLIENT_REQUIRE) {
        mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    }
    SSL_set_verify(ssl, mode, vd__tls_verify);
    SSL_set_accept_state(ssl);
}

/* Says whom we look for; an address is no server name (RFC 6066 3). False without memory. */
static bool name_server(SSL *ssl, struct vd_str host)
{
    char name[256];
    struct vd_addr addr;

    if (vd_addr_parse(host, 0, &addr) == 0 || host.n >= sizeof name) {
        return true;
    }
    memcpy(name, host.p, host.n);
    name[host.n] = '\0';
    return SSL_set_tlsext_host_name(ssl, name) == 1;
}

static bool be_client(struct vd__connection *connection, struct vd__tls_state *state)
{
    struct vd__tls_endpoint *endpoint = vd__tls_endpoint(connection);
    char text[VD_ADDR_TEXT_SIZE];
    struct vd_str host = vd__tls_expected(endpoint, &connection->remote, text);

    if (!vd__tls_copy(endpoint->loop, host, &state->host) || !name_server(state->ssl, host)) {
        return false;
    }
    SSL_SESSION *session = vd__tls_sessions_take(&endpoint->sessions, host);
    if (session != NULL) {
        /* If it cannot be resumed there is a full handshake. */
        (void)SSL_set_session(state->ssl, session);
        SSL_SESSION_free(session);
    }
    SSL_set_verify(state->ssl, endpoint->context->verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                   endpoint->context->verify ? vd__tls_verify : NULL);
    SSL_set_connect_state(state->ssl);
    return true;
}

static void free_state(struct vd_loop *loop, struct vd__tls_state *state)
{
    SSL_free(state->ssl);
    vd__tls_release(loop, state->host);
    vd__loop_release(loop, state, sizeof *state);
}

bool vd__tls_state_new(struct vd__connection *connection)
{
    struct vd_loop *loop = vd__streams_of(connection)->loop;
    struct vd__tls_state *state = vd__loop_allocate(loop, sizeof *state);

    if (state == NULL) {
        return false;
    }
    state->put_off = NOT_PUT_OFF;
    state->ssl = new_ssl(connection);
    bool done = state->ssl != NULL;
    if (done && is_accepted(connection)) {
        be_server(state->ssl, vd__tls_endpoint(connection)->context);
    } else if (done) {
        done = be_client(connection, state);
    }
    if (!done) {
        free_state(loop, state);
        return false;
    }
    connection->channel_state = state;
    return true;
}

/* ---- What OpenSSL says ---- */

/* To be called before OpenSSL may read. What it takes from the socket is bounded, since not all of
 * it becomes data: a peer might send tickets for ever. */
static void begin(struct vd__connection *connection)
{
    vd__tls_state(connection)->allowance = VD__STREAM_READ;
    connection->system_error = 0;
    ERR_clear_error();
}

static int result_of(const struct vd__connection *connection, int returned)
{
    struct vd__tls_state *state = vd__tls_state(connection);

    switch (SSL_get_error(state->ssl, returned)) {
    case SSL_ERROR_WANT_READ:
        return VD__CHANNEL_WANT_READ;
    case SSL_ERROR_WANT_WRITE:
        return VD__CHANNEL_WANT_WRITE;
    case SSL_ERROR_ZERO_RETURN:
        return VD__CHANNEL_END;
    default:
        state->failed = true;
        return VD__CHANNEL_BROKEN;
    }
}

/* After the handshake. */
static int broken(const struct vd__connection *connection)
{
    if (connection->system_error == 0) {
        vd__tls_endpoint(connection)->counters.protocol_errors++;
        vd__tls_log_failure(connection, "a connection broke a rule of TLS");
    }
    ERR_clear_error();
    return VD__CHANNEL_BROKEN;
}

/* ---- The handshake ---- */

static int opened(struct vd__connection *connection)
{
    struct vd_tls_counters *counters = &vd__tls_endpoint(connection)->counters;
    struct vd__tls_state *state = vd__tls_state(connection);

    counters->handshakes++;
    counters->resumed += SSL_session_reused(state->ssl) == 1;
    state->open = true;
    state->verified = (SSL_get_verify_mode(state->ssl) & SSL_VERIFY_PEER) != 0 &&
                      SSL_get0_peer_certificate(state->ssl) != NULL &&
                      SSL_get_verify_result(state->ssl) == X509_V_OK;
    return VD__CHANNEL_END;
}

static int not_opened(struct vd__connection *connection, int result)
{
    struct vd__tls_state *state = vd__tls_state(connection);

    if (result == VD__CHANNEL_WANT_READ || result == VD__CHANNEL_WANT_WRITE) {
        return result;
    }
    state->failed = true;
    if (connection->system_error == 0 && !state->at_end) {
        vd__tls_endpoint(connection)->counters.handshake_failed++;
        if (!state->refused) {
            vd__tls_log_failure(connection, "a TLS handshake failed");
        }
    }
    ERR_clear_error();
    return VD__CHANNEL_BROKEN;
}

/* Whether the peer has said anything, or ended. */
static bool has_spoken(const struct vd__connection *connection)
{
    char byte;

    return recv(connection->source.fd, &byte, 1, MSG_PEEK) >= 0 ||
           (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

static int tls_progress(struct vd__connection *connection)
{
    bool is_new = vd__tls_state(connection) == NULL;

    if (is_new && is_accepted(connection) && !has_spoken(connection)) {
        /* OpenSSL takes some 50 KiB for a handshake: too much for whoever connects and is silent.
         */
        return VD__CHANNEL_WANT_READ;
    }
    if (is_new && !vd__tls_state_new(connection)) {
        connection->system_error = ENOMEM;
        return VD__CHANNEL_BROKEN;
    }
    begin(connection);
    int returned = SSL_do_handshake(vd__tls_state(connection)->ssl);
    if (returned == 1) {
        return opened(connection);
    }
    return not_opened(connection, result_of(connection, returned));
}

/* ---- Reading ---- */

static size_t tls_pending(const struct vd__connection *connection)
{
    const struct vd__tls_state *state = vd__tls_state(connection);

    return state->holds_more || state->put_off != NOT_PUT_OFF;
}

/* A connection whose bytes OpenSSL holds is read without its socket, so that a fast peer cannot
 * keep the loop with it. */
static ssize_t tls_read(struct vd__connection *connection, char *bytes, size_t size)
{
    struct vd__tls_state *state = vd__tls_state(connection);
    size_t got = 0;

    if (state->put_off != NOT_PUT_OFF) {
        int result = state->put_off;
        state->put_off = NOT_PUT_OFF;
        return result;
    }
    begin(connection);
    if (state->holds_more) {
        state->allowance = 0;
    }
    while (got < size) {
        size_t count;
        int returned = SSL_read_ex(state->ssl, bytes + got, size - got, &count);
        if (returned == 1) {
            got += count;
            continue;
        }
        int result = result_of(connection, returned);
        state->holds_more = false;
        if (result == VD__CHANNEL_BROKEN) {
            result = broken(connection);
        }
        if (got == 0) {
            return result;
        }
        if (result == VD__CHANNEL_END || result == VD__CHANNEL_BROKEN) {
            state->put_off = result;
        }
        return (ssize_t)got;
    }
    state->holds_more = SSL_has_pending(state->ssl) == 1;
    return (ssize_t)got;
}

/* ---- Writing ---- */

/* Where writing is in what was given. */
struct cursor {
    const struct iovec *vectors;
    int count;
    size_t offset; /* in the first of them */
};

/* What the next record is to carry. A long message is written from where it is; short ones are
 * gathered. */
static const char *next_record(const struct cursor *cursor, char buffer[RECORD], size_t *size)
{
    const struct iovec *first = cursor->vectors;
    const char *bytes = (const char *)first->iov_base + cursor->offset;
    size_t skip = cursor->offset;

    *size = first->iov_len - skip;
    if (*size >= RECORD || cursor->count == 1) {
        *size = *size < RECORD ? *size : RECORD;
        return bytes;
    }
    *size = 0;
    for (int i = 0; i < cursor->count && *size < RECORD; i++) {
        size_t part = first[i].iov_len - skip;
        part = part < RECORD - *size ? part : RECORD - *size;
        memcpy(buffer + *size, (const char *)first[i].iov_base + skip, part);
        *size += part;
        skip = 0;
    }
    return buffer;
}

static void advance(struct cursor *cursor, size_t written)
{
    written += cursor->offset;
    while (cursor->count > 0 && written >= cursor->vectors->iov_len) {
        written -= cursor->vectors->iov_len;
        cursor->vectors++;
        cursor->count--;
    }
    cursor->offset = written;
}

static ssize_t tls_write(struct vd__connection *connection, const struct iovec *vectors, int count)
{
    const struct vd__tls_state *state = vd__tls_state(connection);
    struct cursor cursor = {vectors, count, 0};
    char buffer[RECORD];
    ssize_t total = 0;

    begin(connection);
    while (cursor.count > 0) {
        size_t size;
        size_t written;
        const char *bytes = next_record(&cursor, buffer, &size);
        int returned = SSL_write_ex(state->ssl, bytes, size, &written);
        if (returned != 1) {
            int result = result_of(connection, returned);
            if (total > 0) {
                break; /* it comes up again with the next call */
            }
            return result == VD__CHANNEL_WANT_READ || result == VD__CHANNEL_WANT_WRITE
                       ? result
                       : broken(connection);
        }
        advance(&cursor, written);
        total += (ssize_t)written;
    }
    return total;
}

/* ---- Ending ---- */

/* Once OpenSSL has failed nothing more may be said. */
static void say_goodbye(struct vd__connection *connection)
{
    const struct vd__tls_state *state = vd__tls_state(connection);

    if (state->open && !state->failed) {
        ERR_clear_error();
        (void)SSL_shutdown(state->ssl);
        ERR_clear_error();
    }
}

static void tls_shut(struct vd__connection *connection)
{
    say_goodbye(connection);
    (void)shutdown(connection->source.fd, SHUT_WR);
}

static void tls_free(struct vd__connection *connection)
{
    struct vd__tls_endpoint *endpoint = vd__tls_endpoint(connection);
    struct vd__tls_state *state = vd__tls_state(connection);

    if (state == NULL) {
        return;
    }
    vd__tls_drop_alias(connection);
    say_goodbye(connection);
    connection->channel_state = NULL;
    free_state(endpoint->loop, state);
}

/* One that we made is found by its address unless another host has been expected there since. One
 * that we accepted is a matter of who its peer is, each time. */
static bool tls_reusable(struct vd__connection *connection)
{
    if (is_accepted(connection) && vd__tls_endpoint(connection)->context->verify) {
        vd__tls_add_alias(connection, &connection->remote);
        return false;
    }
    return vd__tls_serves(connection, &connection->remote);
}

const struct vd__channel_ops vd__channel_tls = {
    .progress = tls_progress,
    .read = tls_read,
    .write = tls_write,
    .pending = tls_pending,
    .shut = tls_shut,
    .free = tls_free,
    .reusable = tls_reusable,
    .first_message = vd__tls_take_alias,
    .find_alias = vd__tls_find_alias,
    .free_context = vd__tls_endpoint_free,
};
