/* viaduct/uri.h - URIs: sip, sips, tel and those of schemes that the stack does not know.
 *
 * RFC 3261 19.1 and 25.1, RFC 3966, RFC 5118 4.10 (IPv6 references with three colons are taken).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_URI_H
#define VIADUCT_URI_H

#include <viaduct/base.h>
#include <viaduct/error.h>
#include <viaduct/params.h>

#ifdef __cplusplus
extern "C" {
#endif

enum vd_uri_scheme { VD_URI_OTHER = 0, VD_URI_SIP, VD_URI_SIPS, VD_URI_TEL };

enum vd_host_kind { VD_HOST_NONE = 0, VD_HOST_NAME, VD_HOST_IP4, VD_HOST_IP6 };

/* A decoded URI: views over the text, escapes as they stand (vd_unescape undoes them).
 *
 * sip and sips: user, password, host, port, params (";"), headers ("?"). An IPv6 host is without
 * its brackets. has_password tells an empty password ("sip:user:@host") from none; port is 0 when
 * there is none. tel: user is the number, params its parameters; there is no host. Any other
 * scheme: opaque is what follows the colon; only its characters are checked. */
struct vd_uri {
    struct vd_str raw;
    struct vd_str scheme_name;
    struct vd_str opaque;
    struct vd_str user;
    struct vd_str password;
    struct vd_str host;
    struct vd_params params;
    struct vd_params headers;
    uint16_t port;
    uint8_t scheme;    /* enum vd_uri_scheme */
    uint8_t host_kind; /* enum vd_host_kind */
    bool has_user;
    bool has_password;
};

/* Decodes a URI that fills text from end to end, without angle brackets and without white space.
 *
 * Returns 0, or VD_ERR_SYNTAX, VD_ERR_RANGE (a port that is 0 or past 65535) or VD_ERR_TOO_MANY
 * (more than 64 parameters or 64 headers); fault, which may be NULL, then gets the offset within
 * text and the rule, and what *out holds is not specified. Duplicate URI parameters are
 * VD_ERR_SYNTAX (RFC 3261 19.1.1: "any given parameter-name MUST NOT appear more than once"). */
VD_API int vd_uri_parse(struct vd_str text, struct vd_uri *out, struct vd_fault *fault);

/* Compares two decoded URIs by RFC 3261 19.1.4 (sip and sips; IP addresses by value, RFC 5954 3.2),
 * RFC 3966 4 (tel), and byte by byte but for the case of the scheme for all others. */
VD_API bool vd_uri_equal(const struct vd_uri *a, const struct vd_uri *b);

/* True when params hold "lr" (RFC 3261 19.1.1). */
VD_API bool vd_uri_is_loose_router(const struct vd_uri *uri);

#ifdef __cplusplus
}
#endif

#endif
