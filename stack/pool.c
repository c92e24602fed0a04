/* pool.c - slabs of equal objects that are found by number and never move.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pool.h"

/* Chunks begin on a cache line, so that an object as large as a line fills one. The address that
 * the allocator gave stands right in front of the chunk. */
#define LINE        ((size_t)64)
#define CHUNK_EXTRA (2 * LINE)

void vd__pool_init(struct vd__pool *pool, const struct vd_mem *mem, size_t object_size)
{
    *pool = (struct vd__pool){
        .mem = mem,
        .object_size = object_size,
        .free_head = VD__POOL_NONE,
    };
}

static size_t chunk_size(const struct vd__pool *pool)
{
    return VD__POOL_CHUNK * pool->object_size + CHUNK_EXTRA;
}

static char *new_chunk(const struct vd__pool *pool)
{
    char *raw = pool->mem->allocate(chunk_size(pool), pool->mem->context);
    if (raw == NULL) {
        return NULL;
    }
    char *chunk = raw + CHUNK_EXTRA - ((uintptr_t)raw & (LINE - 1));
    memcpy(chunk - sizeof raw, &raw, sizeof raw);
    memset(chunk, 0, VD__POOL_CHUNK * pool->object_size);
    return chunk;
}

void vd__pool_free(struct vd__pool *pool)
{
    for (uint32_t i = 0; i < pool->chunk_count; i++) {
        char *raw;
        memcpy(&raw, pool->chunks[i] - sizeof raw, sizeof raw);
        pool->mem->release(raw, chunk_size(pool), pool->mem->context);
    }
    if (pool->chunks != NULL) {
        pool->mem->release(pool->chunks, pool->chunk_capacity * sizeof *pool->chunks,
                           pool->mem->context);
    }
    vd__pool_init(pool, pool->mem, pool->object_size);
}

static bool grow_directory(struct vd__pool *pool)
{
    uint32_t capacity = pool->chunk_capacity != 0 ? pool->chunk_capacity * 2 : 16;
    char **chunks = pool->mem->allocate(capacity * sizeof *chunks, pool->mem->context);
    if (chunks == NULL) {
        return false;
    }
    if (pool->chunks != NULL) {
        memcpy(chunks, pool->chunks, pool->chunk_count * sizeof *chunks);
        pool->mem->release(pool->chunks, pool->chunk_capacity * sizeof *chunks, pool->mem->context);
    }
    pool->chunks = chunks;
    pool->chunk_capacity = capacity;
    return true;
}

static bool grow(struct vd__pool *pool)
{
    if (pool->chunk_count == VD__POOL_NONE >> VD__POOL_CHUNK_BITS) {
        return false;
    }
    if (pool->chunk_count == pool->chunk_capacity && !grow_directory(pool)) {
        return false;
    }
    char *chunk = new_chunk(pool);
    if (chunk == NULL) {
        return false;
    }
    pool->chunks[pool->chunk_count++] = chunk;
    return true;
}

uint32_t vd__pool_take(struct vd__pool *pool)
{
    uint32_t index = pool->free_head;
    if (index != VD__POOL_NONE) {
        memcpy(&pool->free_head, vd__pool_at(pool, index), sizeof pool->free_head);
        pool->used++;
        return index;
    }
    if (pool->fresh == pool->chunk_count << VD__POOL_CHUNK_BITS && !grow(pool)) {
        return VD__POOL_NONE;
    }
    pool->used++;
    return pool->fresh++;
}

void vd__pool_give(struct vd__pool *pool, uint32_t index)
{
    memcpy(vd__pool_at(pool, index), &pool->free_head, sizeof pool->free_head);
    pool->free_head = index;
    pool->used--;
}
