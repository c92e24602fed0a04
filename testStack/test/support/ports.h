/* ports.h - free ports of the loopback address for a test.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef PORTS_H
#define PORTS_H

#include "options.h"

/* Sets the addresses of both sides to ports that follow each other and that are free for UDP and
 * TCP: options->ports a side. Aborts when there are none. */
void ports_find(struct options *options, bool ip6);

/* A socket that is bound to address, and listens if transport has connections; -1 when that is not
 * possible. */
int ports_bind(const struct vd_addr *address, enum vd_transport transport);

bool ports_have_ip6(void);

#endif
