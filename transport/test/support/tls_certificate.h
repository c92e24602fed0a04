/* tls_certificate.h - certificates made in memory, for one test each.
 *
 * Keys are of the curve P-256, which is quick.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TLS_CERTIFICATE_H
#define TLS_CERTIFICATE_H

#include <stdbool.h>

#include <openssl/x509.h>

/* A certificate and its key. */
struct tls_certificate {
    X509 *certificate;
    EVP_PKEY *key;
    /* The same as text, with a NUL. */
    char *certificate_pem;
    char *key_pem;
};

/* What is to stand in a certificate. */
struct tls_certificate_plan {
    const char *common_name; /* NULL for an empty subject */
    const char *alternative; /* as OpenSSL writes it: "URI:sip:example.com,DNS:example.net" */
    const struct tls_certificate *issuer; /* NULL: signed by itself */
    bool authority;
    bool expired;
};

/* False when OpenSSL refuses. */
bool tls_certificate_make(struct tls_certificate *out, const struct tls_certificate_plan *plan);

void tls_certificate_free(struct tls_certificate *certificate);

#endif
