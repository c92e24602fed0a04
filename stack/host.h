/* host.h - host and port, as they stand in a URI and in a Via (RFC 3261 25.1).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_HOST_H
#define VIADUCT_STACK_HOST_H

#include <viaduct/addr.h>
#include <viaduct/uri.h>

#include "lex.h"

/* A host name, an IPv4 address or an IPv6 reference at p. *host is without brackets; *kind gets an
 * enum vd_host_kind. Returns what is behind it, NULL after a fault. */
const char *vd__read_host(struct vd__source *source, const char *p, struct vd_str *host,
                          uint8_t *kind);

/* A port at p: 1 to 65535. */
const char *vd__read_port(struct vd__source *source, const char *p, uint16_t *port);

/* True when text, a part of the source, is an IPv4 address and nothing else. */
bool vd__is_ip4(const struct vd__source *source, struct vd_str text);

/* The address in a host of the kinds VD_HOST_IP4 and VD_HOST_IP6 that was read by vd__read_host, or
 * a received parameter: vd_addr_parse that takes a third colon as well (RFC 5118 4.10). */
int vd__host_addr(struct vd_str host, struct vd_addr *out);

#endif
