/* pool.h - slabs of equal objects that are found by number and never move.
 *
 * Chunks of objects come from the allocator when the pool grows and go back when it is freed;
 * objects in between are reused. A pool keeps the memory of its busiest moment.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_POOL_H
#define VIADUCT_STACK_POOL_H

#include <viaduct/base.h>
#include <viaduct/mem.h>

#define VD__POOL_CHUNK_BITS 10
#define VD__POOL_CHUNK      (1u << VD__POOL_CHUNK_BITS)
#define VD__POOL_NONE       UINT32_MAX

struct vd__pool {
    const struct vd_mem *mem;
    char **chunks;
    size_t object_size;
    uint32_t chunk_count;
    uint32_t chunk_capacity; /* of the array chunks */
    uint32_t used;           /* objects handed out now */
    uint32_t fresh;          /* objects from this number on were never handed out */
    uint32_t free_head;      /* first of the objects that came back; its first four bytes link on */
};

/* An empty pool, which holds no memory yet. object_size is a multiple of 8 and at least 8. */
void vd__pool_init(struct vd__pool *pool, const struct vd_mem *mem, size_t object_size);

/* Gives all memory back; the pool is then as vd__pool_init left it. */
void vd__pool_free(struct vd__pool *pool);

/* The object of a number that vd__pool_take gave. */
static inline void *vd__pool_at(const struct vd__pool *pool, uint32_t index)
{
    return pool->chunks[index >> VD__POOL_CHUNK_BITS] +
           (size_t)(index & (VD__POOL_CHUNK - 1)) * pool->object_size;
}

/* Hands out an object; VD__POOL_NONE when there is no memory. The bytes of one that was never
 * handed out before are zero; one that came back has kept its bytes but the first four. */
uint32_t vd__pool_take(struct vd__pool *pool);

/* Takes an object back. */
void vd__pool_give(struct vd__pool *pool, uint32_t index);

#endif
