/* floor_tls.h - TLS over the floor's TCP connections.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_FLOOR_TLS_H
#define BENCH_FLOOR_TLS_H

#include "floor_loop.h"

struct floor_tls;

/* What the connections of a loop share: a context, and a certificate made in memory. */
struct floor_tls *floor_tls_new(void);
void floor_tls_free(struct floor_tls *tls);

/* Begins TLS on a connection, on the server's side when it was accepted. */
int floor_tls_open(struct floor_loop *loop, struct floor_socket *socket);
void floor_tls_close(struct floor_socket *socket);

/* As floor_tcp_flush and floor_tcp_drain; either takes the handshake on. */
int floor_tls_flush(struct floor_loop *loop, struct floor_socket *socket);
int floor_tls_drain(struct floor_loop *loop, struct floor_socket *socket);

#endif
