/* partial.c - the front of a message whose rest has not come yet.
 *
 * SPDX-License-Identifier: MIT
 */
#include "partial.h"

#include <string.h>

#include "loop_internal.h"

enum { SMALLEST = 512, UNUSED_MAX = 64 };

static unsigned class_of(size_t capacity)
{
    unsigned size_class = 0;

    while (size_class < VD__PARTIAL_CLASSES && ((size_t)SMALLEST << size_class) < capacity) {
        size_class++;
    }
    return size_class;
}

static char *take(struct vd__partial_pool *pool, unsigned size_class)
{
    void *bytes = pool->unused[size_class];

    if (bytes == NULL) {
        const struct vd_mem *mem = pool->loop->config.mem;
        return mem->allocate((size_t)SMALLEST << size_class, mem->context);
    }
    memcpy(&pool->unused[size_class], bytes, sizeof(void *));
    pool->counts[size_class]--;
    return bytes;
}

static void give_back(struct vd__partial_pool *pool, char *bytes, size_t capacity)
{
    unsigned size_class = class_of(capacity);

    if (pool->counts[size_class] == UNUSED_MAX) {
        vd__loop_release(pool->loop, bytes, capacity);
        return;
    }
    memcpy(bytes, &pool->unused[size_class], sizeof(void *));
    pool->unused[size_class] = bytes;
    pool->counts[size_class]++;
}

void vd__partial_pool_free(struct vd__partial_pool *pool)
{
    for (unsigned size_class = 0; size_class < VD__PARTIAL_CLASSES; size_class++) {
        while (pool->counts[size_class] > 0) {
            vd__loop_release(pool->loop, take(pool, size_class), (size_t)SMALLEST << size_class);
        }
    }
}

void vd__partial_drop(struct vd__partial_pool *pool, struct vd__partial *partial)
{
    if (partial->bytes != NULL) {
        give_back(pool, partial->bytes, partial->capacity);
    }
    *partial = (struct vd__partial){0};
}

bool vd__partial_keep(struct vd__partial_pool *pool, struct vd__partial *partial, const char *bytes,
                      size_t size, size_t capacity)
{
    unsigned size_class = class_of(capacity > size ? capacity : size);

    if (size == 0) {
        vd__partial_drop(pool, partial);
        return true;
    }
    if (partial->bytes != NULL && class_of(partial->capacity) == size_class) {
        memmove(partial->bytes, bytes, size);
        partial->size = (uint32_t)size;
        return true;
    }
    char *kept = size_class < VD__PARTIAL_CLASSES ? take(pool, size_class) : NULL;
    if (kept == NULL) {
        return false;
    }
    memcpy(kept, bytes, size);
    vd__partial_drop(pool, partial);
    *partial = (struct vd__partial){kept, (uint32_t)size, (uint32_t)SMALLEST << size_class};
    return true;
}

bool vd__partial_reserve(struct vd__partial_pool *pool, struct vd__partial *partial,
                         size_t capacity)
{
    return partial->capacity >= capacity ||
           vd__partial_keep(pool, partial, partial->bytes, partial->size, capacity);
}
