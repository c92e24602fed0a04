/* certificate.h - a throw-away certificate, made in memory and trusted for itself.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_CERTIFICATE_H
#define TESTSTACK_CERTIFICATE_H

#include <viaduct/addr.h>

/* Both as PEM text with a NUL. */
struct certificate {
    char *text;
    char *key;
};

/* Makes a P-256 key and a certificate that it has signed itself, valid for a day, which names the
 * address as a SIP host (RFC 5922 7.1). Returns 0, or -1 after saying that OpenSSL refuses; free it
 * in any case. */
int certificate_make(struct certificate *out, const struct vd_addr *host);

/* A certificate of zeros is allowed. */
void certificate_free(struct certificate *certificate);

#endif
