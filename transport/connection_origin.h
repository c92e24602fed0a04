/* connection_origin.h - counts the accepted connections of each source.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_CONNECTION_ORIGIN_H
#define VIADUCT_TRANSPORT_CONNECTION_ORIGIN_H

#include "connection_table.h"

/* A source of connections: an IPv4 address, or the first 64 bits of an IPv6 address, since whoever
 * has one address of these has them all. */
struct vd__origin {
    struct vd__origin *next;
    struct vd_addr addr; /* without port; what does not count is zero */
    uint32_t hash;
    uint32_t connections;
};

struct vd__origins {
    const struct vd_mem *mem;
    const struct vd__connection_table *table; /* for its hash */
    struct vd__origin **buckets;
    uint32_t capacity;
    uint32_t count;
};

void vd__origins_init(struct vd__origins *origins, const struct vd_mem *mem,
                      const struct vd__connection_table *table);
void vd__origins_free(struct vd__origins *origins);

/* The source that remote belongs to, with one connection more. NULL without memory. */
struct vd__origin *vd__origin_enter(struct vd__origins *origins, const struct vd_addr *remote);

/* One connection less. origin may be gone afterwards; NULL is allowed. */
void vd__origin_leave(struct vd__origins *origins, struct vd__origin *origin);

#endif
