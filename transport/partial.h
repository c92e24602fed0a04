/* partial.h - the front of a message whose rest has not come yet.
 *
 * It lies in a buffer of about its size, taken from a pool that the connections of a loop share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_PARTIAL_H
#define VIADUCT_TRANSPORT_PARTIAL_H

#include <viaduct/base.h>

struct vd_loop;

enum { VD__PARTIAL_CLASSES = 14 }; /* from 512 bytes, each twice the one before */

/* bytes is NULL when it is empty. */
struct vd__partial {
    char *bytes;
    uint32_t size;
    uint32_t capacity;
};

/* A few buffers of each class that are not in use. */
struct vd__partial_pool {
    struct vd_loop *loop;
    void *unused[VD__PARTIAL_CLASSES];
    uint32_t counts[VD__PARTIAL_CLASSES];
};

void vd__partial_pool_free(struct vd__partial_pool *pool);

/* Makes room for at least capacity bytes in all; what it holds stays. False without memory, or when
 * the largest class is too small. */
bool vd__partial_reserve(struct vd__partial_pool *pool, struct vd__partial *partial,
                         size_t capacity);

/* Replaces what it holds by size bytes, which may be part of it, in a buffer for capacity bytes or
 * a little more; size 0 gives the buffer back. False without memory: it is as it was then. */
bool vd__partial_keep(struct vd__partial_pool *pool, struct vd__partial *partial, const char *bytes,
                      size_t size, size_t capacity);

/* Gives the buffer back. */
void vd__partial_drop(struct vd__partial_pool *pool, struct vd__partial *partial);

#endif
