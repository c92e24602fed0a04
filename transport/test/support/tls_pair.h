/* tls_pair.h - a client and a server over TLS, and the authorities that sign for them.
 *
 * The functions assert what a test cannot go on without.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TLS_PAIR_H
#define TLS_PAIR_H

#include "tls_side.h"

/* The authority that both trust, and one that nobody does. */
extern struct tls_certificate tls_authority;
extern struct tls_certificate tls_stranger;

bool tls_authorities_make(void);
void tls_authorities_free(void);

/* A certificate with a subjectAltName, signed by tls_authority. */
struct tls_certificate tls_named(const char *alternative);

struct tls_pair {
    struct tls_side client;
    struct tls_side server;
};

/* Both without endpoints. */
void tls_pair_init(struct tls_pair *pair);

/* The server shows own; the client expects host there, NULL for the address. */
void tls_pair_open(struct tls_pair *pair, const struct tls_certificate *own, const char *host);

void tls_pair_free(struct tls_pair *pair);

/* Sends a request and turns both until it is answered or has failed. True when it was answered. */
bool tls_pair_ask(struct tls_pair *pair, uint32_t cseq);

#endif
