/* tls.h - certificates, trust and key log of a run over TLS.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_TLS_H
#define TESTSTACK_TLS_H

#include "options.h"

struct tls;

/* Makes what the endpoints of both sides share, in all processes that are forked later, and sets
 * options->tls; over other transports nothing. Without --cert a certificate is made that names the
 * receiver's address. options must live until it is freed. Returns 0, or -1 after saying what
 * cannot be used. */
int tls_new(struct tls **out, struct options *options);

/* After the run. NULL is allowed. */
void tls_free(struct tls *tls);

#endif
