/* viaduct/tls.h - TLS endpoints and connections of a loop (RFC 3261 26.3.1, RFC 5922, RFC 5923).
 *
 * TLS runs over the same connections as TCP: viaduct/tcp.h says which connection a message takes,
 * what fails and when, and which limits there are; they count for both together. TLS 1.2 (RFC 5246)
 * and 1.3 (RFC 8446) are spoken, never anything older. What is said here is what TLS adds.
 *
 * Contexts. Certificate, key, and whom to trust are a context. It can serve any number of
 * endpoints, on loops of several threads too.
 *
 * Who the peer is. A peer that we connect to must show a certificate that a trusted authority
 * signed and that names the host of the URI that we were asked for: not the address that this host
 * has, nor a name that DNS has led to (RFC 5922 7.3). A struct vd_flow has only the address, so the
 * application says which host it stands for, with vd_tls_expect_name or for the whole endpoint with
 * struct vd_tls_options.peer_name. Of an address for which it has said nothing, the host is the
 * address itself, as in sips:192.0.2.1.
 *
 * The names that a certificate holds are (RFC 5922 7.1) the hosts of the "sip:" URIs without a user
 * in its subjectAltName; only when there are none, its DNS names; only when it has no
 * subjectAltName at all, the last common name of its subject. "sips:" URIs and IP addresses in a
 * subjectAltName are no names. Names are compared whole and without regard to case (7.2): there
 * are no wildcards. The extended key usage of RFC 5924 is not asked for.
 *
 * Which connection a request takes. If the context verifies at all, one that is found by its
 * address must lead to a peer whose certificate was verified for the host that is expected there;
 * this counts for accepted connections as well, and for those to which a peer's Via has given an
 * alias (RFC 5923 5, 8.2): the peer's address with the port of its sent-by. A request whose flow
 * names the connection takes that one without a question. So does a response, as long as its
 * connection is there.
 *
 * Handshakes take no more time than the connection has anyway: connect_time for those that we make,
 * first_message_time for those that we accept (viaduct/tcp.h). Connections to a host that has been
 * reached before resume their session where the peer allows it.
 *
 * What fails. A handshake that fails, for whatever reason, fails the messages that wait for it with
 * VD_ERR_TRANSPORT. A log event of level VD_LOG_WARNING then says which rule was broken, and when a
 * certificate did so, its data names that: subject, subjectAltName, and the host that was expected.
 * The rest of the loop does not notice.
 *
 * A peer that ends the stream without close_notify is treated like one that sends it: where a
 * message ends is said in the message (RFC 3261 18.3), and a message that was cut off is dropped.
 * There is no renegotiation, no compression, and no early data.
 *
 * Not here: what a "sips" URI asks of a whole route (RFC 5630). This is for the layers that build
 * requests; an endpoint sends what it is given.
 *
 * Memory of OpenSSL's does not come from the allocator of the loop. With OpenSSL 3.0 a connection
 * takes about 50 KiB of it during its handshake and 14 KiB when it is idle; an accepted one takes
 * none until its peer has sent a byte.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TLS_H
#define VIADUCT_TLS_H

#include <viaduct/addr.h>
#include <viaduct/base.h>
#include <viaduct/error.h>
#include <viaduct/log.h>
#include <viaduct/loop.h>
#include <viaduct/mem.h>
#include <viaduct/stack.h>
#include <viaduct/tcp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Contexts ---- */

struct vd_tls_context;

/* What a server wants to see of a client. A certificate that is shown must always be signed by
 * those whom the context trusts. Which names it holds, vd_tls_peer_is tells. */
enum vd_tls_client_certificate {
    VD_TLS_CLIENT_NONE,    /* none is asked for */
    VD_TLS_CLIENT_REQUEST, /* one is asked for; without one the connection goes on */
    VD_TLS_CLIENT_REQUIRE  /* without one the connection fails */
};

/* Where PEM text is read from: a file, or memory. Both empty for nothing. */
struct vd_tls_pem {
    const char *file; /* its path; NULL for none */
    struct vd_str text;
};

/* How a context is made. Always start with vd_tls_config_init. */
struct vd_tls_config {
    /* Our certificate, first, and those that lead from it to an authority. With key, whose text
     * must not be encrypted. Both are needed by an endpoint that listens, and to show ourselves to
     * a server that asks. */
    struct vd_tls_pem certificate;
    struct vd_tls_pem key;

    /* Certificates of the authorities that are trusted. Nothing for those of the system. */
    struct vd_tls_pem authorities;

    /* Verify the servers that we connect to: default true. When false any certificate passes, and
     * the connection is safe only against those who merely listen. */
    bool verify;

    /* For connections that we accept: default VD_TLS_CLIENT_NONE. */
    enum vd_tls_client_certificate client_certificate;

    /* The cipher suites of TLS 1.2 and of TLS 1.3 that are allowed, in OpenSSL's notation. NULL for
     * those that OpenSSL allows by default. */
    const char *ciphers;
    const char *cipher_suites;

    /* Gets each secret of each connection as a line of the NSS key log format, without its line
     * end, so that a capture can be read. Whoever has these lines can read everything: nothing but
     * this callback, no environment variable, lets them out. It is called from the thread of the
     * loop that the connection belongs to. NULL for none. */
    void (*on_key_log)(const char *line, void *context);
    void *context;

    /* Allocator of the context; NULL for malloc. */
    const struct vd_mem *mem;

    /* A log event says which file or setting cannot be used, and why; NULL for none. */
    vd_log_fn log;
    void *log_context;
};

/* Fills in the defaults. */
VD_API void vd_tls_config_init(struct vd_tls_config *config);

/* Makes a context. config and everything that it points to is copied, files are read now. config
 * NULL takes the defaults, which do for a client. Returns 0 with *out; or, with *out NULL,
 *   VD_ERR_INVALID  a certificate without a key or the other way round, a source that is both file
 *                   and memory, an unknown cipher
 *   VD_ERR_SYNTAX   a file or text that does not hold what it should, a key that does not fit the
 *                   certificate
 *   VD_ERR_SYSTEM   a file that cannot be read
 *   VD_ERR_NOMEM */
VD_API int vd_tls_context_new(struct vd_tls_context **out, const struct vd_tls_config *config);

/* Frees a context, after the loops with endpoints that use it. NULL is allowed. */
VD_API void vd_tls_context_free(struct vd_tls_context *context);

/* ---- Endpoints ---- */

/* How an endpoint is opened. Always start with vd_tls_options_init. */
struct vd_tls_options {
    /* As for TCP, with listen true by default. The port of TLS is 5061 (RFC 3261 18.2.1): what
     * sent_by leaves out. */
    struct vd_tcp_options tcp;

    /* The host that every address stands for to which vd_tls_expect_name gives none; empty for the
     * address itself. The text is copied. */
    struct vd_str peer_name;

    /* Hosts whose last session is kept, to be resumed: default 256; 0 for none. When there are
     * more, the one that was used longest ago goes. */
    uint32_t sessions;
};

/* Fills in the defaults. */
VD_API void vd_tls_options_init(struct vd_tls_options *options);

/* Opens a TLS endpoint on bind and makes it one of stack, in the manner of vd_tcp_open. context
 * must live until the loop is freed. options is copied; NULL takes the defaults.
 *
 * Returns 0 with *endpoint, or an error of vd_tcp_open. VD_ERR_INVALID also means: no context, one
 * without a certificate for an endpoint that listens, or a peer_name that is no host. */
VD_API int vd_tls_open(struct vd_loop *loop, struct vd_stack *stack, const struct vd_addr *bind,
                       struct vd_tls_context *context, const struct vd_tls_options *options,
                       uint32_t *endpoint);

/* The address and port that an endpoint listens on; without a listener, those that were given.
 * Returns 0 with *out, or VD_ERR_INVALID when the endpoint is none of TLS of the loop. */
VD_API int vd_tls_local_addr(const struct vd_loop *loop, const struct vd_stack *stack,
                             uint32_t endpoint, struct vd_addr *out);

/* Says which host remote stands for, at this endpoint, from now on: the host of the URI that led to
 * it, a name or an address literal. It is sent as the server name (SNI) if it is a name, and the
 * peer's certificate must name it. An empty name takes it back. The text is copied; it is kept
 * until it is taken back or the loop is freed.
 *
 * Call it before the first request to remote is sent, in the same turn at the latest: a connection
 * is looked for at the end of a turn. A connection whose peer has not shown to be that host is no
 * candidate for later requests; transactions on it go on. When several hosts have one address,
 * open an endpoint for each of them, without a listener: connections, names and sessions are those
 * of an endpoint.
 *
 * Returns 0, VD_ERR_INVALID (no TLS endpoint of the loop, no host) or VD_ERR_NOMEM. */
VD_API int vd_tls_expect_name(struct vd_loop *loop, const struct vd_stack *stack, uint32_t endpoint,
                              const struct vd_addr *remote, struct vd_str name);

/* True when flow names a connection of TLS that is there, whose peer has shown a certificate that
 * was verified and that names the host (RFC 5922 7.4). For clients this needs a context with
 * VD_TLS_CLIENT_REQUEST or VD_TLS_CLIENT_REQUIRE. */
VD_API bool vd_tls_peer_is(const struct vd_loop *loop, const struct vd_stack *stack,
                           const struct vd_flow *flow, struct vd_str name);

/* What the TLS endpoints of a loop have counted, all together, since it was made. Connections and
 * bytes, before encryption, are in struct vd_tcp_counters. */
struct vd_tls_counters {
    uint64_t handshakes;           /* completed, on both sides */
    uint64_t resumed;              /* of these, those that resumed a session */
    uint64_t handshake_failed;     /* by a rule of TLS: not by an end, a reset or slowness */
    uint64_t certificates_refused; /* of the peer */
    uint64_t protocol_errors;      /* connections that broke a rule of TLS after the handshake */
};

VD_API void vd_tls_get_counters(const struct vd_loop *loop, struct vd_tls_counters *out);

#ifdef __cplusplus
}
#endif

#endif
