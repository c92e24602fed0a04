/* tls_internal.h - what TLS consists of, for the files of transport/ and their tests.
 *
 *     tls.c            what the application calls about endpoints
 *     tls_context.c    contexts
 *     channel_tls.c    the channel: handshake, read, write
 *     tls_socket.c     lets OpenSSL read and write a connection's socket
 *     tls_identity.c   whom a certificate names
 *     tls_verify.c     whether a peer is who it should be
 *     tls_alias.c      connections that a peer lets us reuse
 *     tls_names.c      hosts and aliases by address
 *     tls_session.c    sessions to be resumed
 *     tls_log.c        log events about certificates and handshakes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_TLS_INTERNAL_H
#define VIADUCT_TRANSPORT_TLS_INTERNAL_H

#include <openssl/ssl.h>

#include <viaduct/tls.h>

#include "connection.h"

struct vd__tls_name;
struct vd__tls_session;

struct vd_tls_context {
    struct vd_mem mem;
    SSL_CTX *ssl;
    BIO_METHOD *socket;
    bool verify;
    bool has_certificate;
    enum vd_tls_client_certificate client_certificate;
    void (*on_key_log)(const char *line, void *context);
    void *context;
};

/* ---- tls_names.c ---- */

/* Which host an address stands for, and which connection is an alias of it. */
struct vd__tls_names {
    struct vd__streams *streams;
    struct vd__tls_name **buckets;
    uint32_t capacity;
    uint32_t count;
};

void vd__tls_names_free(struct vd__tls_names *names);

/* The host that the application gave for an address; empty when it gave none. */
struct vd_str vd__tls_names_host(const struct vd__tls_names *names, const struct vd_addr *addr);

/* Gives one; empty takes it away. False without memory. */
bool vd__tls_names_set_host(struct vd__tls_names *names, const struct vd_addr *addr,
                            struct vd_str host);

/* The number of the connection that is an alias of an address; 0 for none. */
uint32_t vd__tls_names_alias(const struct vd__tls_names *names, const struct vd_addr *addr);

/* Gives one; 0 takes it away. False without memory. */
bool vd__tls_names_set_alias(struct vd__tls_names *names, const struct vd_addr *addr,
                             uint32_t connection);

/* ---- tls_session.c ---- */

/* The last session with each of some hosts, the latest used one first. */
struct vd__tls_sessions {
    struct vd_loop *loop;
    struct vd__tls_session *first;
    uint32_t count;
    uint32_t max;
};

void vd__tls_sessions_free(struct vd__tls_sessions *sessions);

/* A session with the host, to be freed by the caller; NULL for none. */
SSL_SESSION *vd__tls_sessions_take(struct vd__tls_sessions *sessions, struct vd_str host);

/* Keeps a session, which then is the cache's. False when it is not kept. */
bool vd__tls_sessions_put(struct vd__tls_sessions *sessions, struct vd_str host,
                          SSL_SESSION *session);

/* ---- tls.c ---- */

/* What the connections of an endpoint share: its channel_context. */
struct vd__tls_endpoint {
    struct vd_loop *loop;
    struct vd_tls_context *context;
    struct vd_str peer_name; /* empty for none */
    struct vd__tls_names names;
    struct vd__tls_sessions sessions;
    struct vd_tls_counters counters;
};

/* Frees what the connections of an endpoint share. */
void vd__tls_endpoint_free(struct vd_loop *loop, void *context);

/* A copy of text in memory of the loop, and its end. An empty one has no memory. */
bool vd__tls_copy(struct vd_loop *loop, struct vd_str text, struct vd_str *out);
void vd__tls_release(struct vd_loop *loop, struct vd_str text);

/* ---- channel_tls.c ---- */

/* The channel's state of a connection. */
struct vd__tls_state {
    SSL *ssl;
    struct vd_str host;   /* whom we expect; empty on an accepted connection */
    struct vd_addr alias; /* of its peer's Via; of no family when there is none */
    size_t allowance;     /* bytes that the socket may still give in this call */
    int put_off;          /* a result that the next read gives; 1 for none */
    bool at_end;          /* the socket has ended */
    bool holds_more;      /* the last read left something behind */
    bool open;            /* the handshake is done */
    bool failed;          /* nothing may be said to the peer any more */
    bool verified;        /* the peer has shown a certificate that was verified */
    bool refused;         /* a certificate was refused, and this was logged */
};

extern const struct vd__channel_ops vd__channel_tls;

/* Makes the state of a connection, which has none; it then keeps the host that is expected now.
 * False without memory. */
bool vd__tls_state_new(struct vd__connection *connection);

static inline struct vd__tls_state *vd__tls_state(const struct vd__connection *connection)
{
    return connection->channel_state;
}

static inline struct vd__tls_endpoint *vd__tls_endpoint(const struct vd__connection *connection)
{
    return connection->endpoint->channel_context;
}

/* ---- tls_socket.c ---- */

/* How OpenSSL reads and writes the socket of a connection, which the BIO has as its data. NULL
 * without memory. */
BIO_METHOD *vd__tls_socket_new(void);

/* ---- tls_identity.c ---- */

/* The host that text is, without brackets and without a dot at its end: a view. False when it is no
 * host. */
bool vd__tls_host(struct vd_str text, struct vd_str *host);

/* True when the two name the same host, or are the same address. */
bool vd__tls_same_host(struct vd_str a, struct vd_str b);

/* NULL when the certificate names the host, else the rule that says that it does not. */
const char *vd__tls_identity_refuses(const X509 *certificate, struct vd_str host);

/* ---- tls_verify.c ---- */

/* Called by OpenSSL for each certificate of a peer's chain. */
int vd__tls_verify(int good, X509_STORE_CTX *store);

/* The host that an endpoint expects at an address. An address literal is written to text. */
struct vd_str vd__tls_expected(const struct vd__tls_endpoint *endpoint, const struct vd_addr *addr,
                               char text[VD_ADDR_TEXT_SIZE]);

/* True when the peer has shown a certificate that was verified and that names the host. */
bool vd__tls_peer_names(const struct vd__connection *connection, struct vd_str host);

/* Whether a message for addr may take the connection. */
bool vd__tls_serves(const struct vd__connection *connection, const struct vd_addr *addr);

/* ---- tls_alias.c ---- */

/* Lets a connection be found by an address if its peer has shown a certificate: for those whose
 * host it names. */
void vd__tls_add_alias(struct vd__connection *connection, const struct vd_addr *addr);

/* Does so for the address that the first message of an accepted connection gives it. */
void vd__tls_take_alias(struct vd__connection *connection, struct vd_message *message);

/* The connection that has addr as its alias and may be used for it; NULL for none. */
struct vd__connection *vd__tls_find_alias(const struct vd__stream_endpoint *endpoint,
                                          const struct vd_addr *addr);

/* The connection has ended: it is found no more. */
void vd__tls_drop_alias(const struct vd__connection *connection);

/* ---- tls_log.c ---- */

/* A certificate was refused because of reason, a static text. */
void vd__tls_log_refusal(const struct vd__connection *connection, const X509 *certificate,
                         const char *reason);

/* OpenSSL refused to go on; its reason is taken from its error queue, or from system_error. */
void vd__tls_log_failure(const struct vd__connection *connection, const char *text);

/* A context cannot be made of what name says. detail may be NULL for OpenSSL's reason. */
void vd__tls_log_config(const struct vd_tls_config *config, int error, const char *name,
                        const char *detail);

#endif
