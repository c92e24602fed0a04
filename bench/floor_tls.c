/* floor_tls.c - TLS over the floor's TCP connections: what a connection has to send in a turn goes
 * into as few records as hold it.
 *
 * Nobody is verified: both sides are this program, and it is the cost of moving bytes that counts.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "floor_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD = SSL3_RT_MAX_PLAIN_LENGTH, /* bytes that a record carries at most */
    DAY = 24 * 3600,
};

struct floor_tls {
    SSL_CTX *context;
    unsigned char record[RECORD];
};

/* What a call of OpenSSL's has come to. */
enum outcome { DONE, WANTS_READ, WANTS_WRITE, ENDED, BROKEN };

/* ---- Making and freeing ---- */

static bool fill_certificate(X509 *certificate, EVP_PKEY *key)
{
    static const unsigned char NAME[] = "floor";
    X509_NAME *name = X509_get_subject_name(certificate);
    return X509_set_version(certificate, X509_VERSION_3) == 1 &&
           ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1 &&
           X509_gmtime_adj(X509_getm_notBefore(certificate), -DAY) != NULL &&
           X509_gmtime_adj(X509_getm_notAfter(certificate), DAY) != NULL &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, NAME, -1, -1, 0) == 1 &&
           X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1 &&
           X509_sign(certificate, key, EVP_sha256()) > 0;
}

static bool use_certificate(SSL_CTX *context)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    bool done = key != NULL && certificate != NULL && fill_certificate(certificate, key) &&
                SSL_CTX_use_certificate(context, certificate) == 1 &&
                SSL_CTX_use_PrivateKey(context, key) == 1;
    X509_free(certificate);
    EVP_PKEY_free(key);
    return done;
}

struct floor_tls *floor_tls_new(void)
{
    struct floor_tls *tls = calloc(1, sizeof *tls);
    if (tls == NULL) {
        floor_fail("out of memory");
        return NULL;
    }
    tls->context = SSL_CTX_new(TLS_method());
    if (tls->context == NULL || !use_certificate(tls->context) ||
        SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION) != 1) {
        floor_fail("TLS cannot be set up");
        floor_tls_free(tls);
        return NULL;
    }
    SSL_CTX_set_options(tls->context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                          SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(tls->context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(tls->context, 1);
    return tls;
}

void floor_tls_free(struct floor_tls *tls)
{
    if (tls != NULL) {
        SSL_CTX_free(tls->context);
        free(tls);
    }
}

int floor_tls_open(struct floor_loop *loop, struct floor_socket *socket)
{
    int flags = fcntl(socket->fd, F_GETFL);
    socket->role = FLOOR_SECURE_STREAM;
    socket->ssl = SSL_new(loop->tls->context);
    if (socket->ssl == NULL || SSL_set_fd(socket->ssl, socket->fd) != 1 || flags < 0 ||
        fcntl(socket->fd, F_SETFL, flags | O_NONBLOCK) < 0) {
        return floor_fail("TLS cannot begin");
    }
    if (socket->was_accepted) {
        SSL_set_accept_state(socket->ssl);
    } else {
        SSL_set_connect_state(socket->ssl);
    }
    return 0;
}

void floor_tls_close(struct floor_socket *socket)
{
    SSL_free(socket->ssl);
    socket->ssl = NULL;
}

/* ---- What OpenSSL says ---- */

static enum outcome outcome_of(const struct floor_socket *socket, int returned)
{
    switch (SSL_get_error(socket->ssl, returned)) {
    case SSL_ERROR_NONE:
        return DONE;
    case SSL_ERROR_WANT_READ:
        return WANTS_READ;
    case SSL_ERROR_WANT_WRITE:
        return WANTS_WRITE;
    case SSL_ERROR_ZERO_RETURN:
        return ENDED;
    case SSL_ERROR_SYSCALL:
        return errno == ECONNRESET || errno == EPIPE ? ENDED : BROKEN;
    default:
        return BROKEN;
    }
}

static int say_broken(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_error());
    return floor_fail("TLS: %s", reason != NULL ? reason : "a connection broke");
}

/* What was not done is taken up again when the socket lets it; what waits for the peer, after the
 * next drain. */
static int wait_for(struct floor_loop *loop, struct floor_socket *socket, enum outcome outcome)
{
    switch (outcome) {
    case WANTS_WRITE:
        return floor_loop_await_writable(loop, socket, true);
    case ENDED:
        return floor_tcp_ended(socket);
    case BROKEN:
        return say_broken();
    default:
        return 0;
    }
}

/* ---- Sending ---- */

static size_t gather(struct floor_loop *loop, const struct floor_socket *socket)
{
    size_t size = 0;
    size_t skip = socket->sent;
    const struct floor_message *message = socket->first;
    for (; message != NULL && size < RECORD; message = message->next) {
        size_t part = message->length - skip;
        part = part < RECORD - size ? part : RECORD - size;
        memcpy(loop->tls->record + size, message->bytes + skip, part);
        size += part;
        skip = 0;
    }
    return size;
}

int floor_tls_flush(struct floor_loop *loop, struct floor_socket *socket)
{
    ERR_clear_error();
    if (socket->fd >= 0 && SSL_is_init_finished(socket->ssl) == 0) {
        int returned = SSL_do_handshake(socket->ssl);
        if (returned != 1) {
            return wait_for(loop, socket, outcome_of(socket, returned));
        }
    }
    while (socket->first != NULL && socket->fd >= 0) {
        size_t written = 0;
        size_t size = gather(loop, socket);
        int returned = SSL_write_ex(socket->ssl, loop->tls->record, size, &written);
        if (returned != 1) {
            return wait_for(loop, socket, outcome_of(socket, returned));
        }
        floor_tcp_sent(loop, socket, written);
    }
    return 0;
}

/* ---- Receiving ---- */

/* Reads until there is no more, or no more room. */
static enum outcome read_some(struct floor_socket *socket, unsigned char *bytes, size_t *got)
{
    *got = 0;
    while (*got < FLOOR_STREAM_ROOM) {
        size_t count = 0;
        int returned = SSL_read_ex(socket->ssl, bytes + *got, FLOOR_STREAM_ROOM - *got, &count);
        if (returned != 1) {
            return outcome_of(socket, returned);
        }
        *got += count;
    }
    return DONE;
}

int floor_tls_drain(struct floor_loop *loop, struct floor_socket *socket)
{
    enum outcome outcome;
    ERR_clear_error();
    do {
        size_t got;
        size_t kept = floor_tcp_resume(loop, socket);
        outcome = read_some(socket, loop->receive_bytes + kept, &got);
        if (got > 0 && floor_tcp_take(loop, socket, kept + got) < 0) {
            return -1;
        }
    } while (outcome == DONE);
    return wait_for(loop, socket, outcome);
}
