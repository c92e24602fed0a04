/* tls_side.h - a stack with a TLS endpoint on the loopback interface, and raw peers of it.
 *
 * A raw peer is OpenSSL with nothing of ours: the test decides which bytes it lets onto the wire
 * and when.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TLS_SIDE_H
#define TLS_SIDE_H

#include <openssl/ssl.h>

#include <viaduct/tls.h>

#include "tcp_side.h"
#include "tls_certificate.h"

/* ---- A side ---- */

struct tls_side {
    struct tcp_side tcp; /* requests, responses, failures, turning */
    struct vd_tls_context *context;
    struct vd_tls_config config; /* of context; to be changed between tls_side_init and _open */
    struct vd_tls_options options;

    unsigned warnings;
    char warning[128];       /* the last one's text */
    char warning_data[1100]; /* and its data, with a NUL */
    unsigned key_log_lines;
    char key_log_line[512]; /* the last one */
};

/* A side without an endpoint and context. Its config and options have the defaults. */
bool tls_side_init(struct tls_side *side);

/* Lets it show a certificate, and trust an authority. Both may be NULL. */
void tls_side_trust(struct tls_side *side, const struct tls_certificate *own,
                    const struct tls_certificate *authority);

/* Makes the context, and opens the endpoint on 127.0.0.1. */
bool tls_side_open(struct tls_side *side);

/* False when memory is missing or was given back wrongly. */
bool tls_side_free(struct tls_side *side);

/* Lets the client expect the host where the server listens. */
bool tls_side_expect(struct tls_side *client, const struct tls_side *server, const char *host);

struct vd_tls_counters tls_side_counters(const struct tls_side *side);

/* ---- A raw peer ---- */

struct tls_peer {
    struct raw_peer raw;
    SSL *ssl;
    BIO *in;     /* from the wire */
    BIO *out;    /* to the wire */
    char *plain; /* what has been read, with a NUL */
    size_t size;
    bool ended; /* close_notify, or an error of OpenSSL's */
};

/* A context of OpenSSL's for peers. They trust everybody; own may be NULL. */
SSL_CTX *tls_peer_context(const struct tls_certificate *own);

/* Connects, and makes the handshake as far as it goes without sending the last of it. */
bool tls_peer_connect(struct tls_peer *peer, SSL_CTX *context, struct tls_side *side);

/* Accepts a connection from side and makes the handshake. */
bool tls_peer_accept(struct tls_peer *peer, SSL_CTX *context, int listener, struct tls_side *side);

/* Encrypts; nothing is sent. Each call is as many records as it needs. */
bool tls_peer_write(struct tls_peer *peer, const char *bytes, size_t size);

/* Sends what was encrypted, in one write. */
bool tls_peer_flush(struct tls_peer *peer, struct tls_side *side);

/* Reads what has come. */
void tls_peer_read(struct tls_peer *peer);

/* Turns side until peer has read text count times; until its stream has ended. */
bool tls_peer_until(struct tls_peer *peer, struct tls_side *side, const char *text, unsigned count);
bool tls_peer_until_ended(struct tls_peer *peer, struct tls_side *side);

/* Closes the socket without a word. */
void tls_peer_close(struct tls_peer *peer);

#endif
