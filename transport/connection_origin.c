/* connection_origin.c - counts the accepted connections of each source.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connection_origin.h"

#include <string.h>

enum { CAPACITY_FIRST = 16, IP6_NETWORK_SIZE = 8 };

void vd__origins_init(struct vd__origins *origins, const struct vd_mem *mem,
                      const struct vd__connection_table *table)
{
    *origins = (struct vd__origins){.mem = mem, .table = table};
}

void vd__origins_free(struct vd__origins *origins)
{
    const struct vd_mem *mem = origins->mem;

    for (uint32_t i = 0; i < origins->capacity; i++) {
        while (origins->buckets[i] != NULL) {
            struct vd__origin *origin = origins->buckets[i];
            origins->buckets[i] = origin->next;
            mem->release(origin, sizeof *origin, mem->context);
        }
    }
    if (origins->buckets != NULL) {
        mem->release(origins->buckets, origins->capacity * sizeof *origins->buckets, mem->context);
    }
}

static bool grow(struct vd__origins *origins)
{
    const struct vd_mem *mem = origins->mem;
    uint32_t capacity = origins->capacity != 0 ? origins->capacity * 2 : CAPACITY_FIRST;
    struct vd__origin **buckets = mem->allocate(capacity * sizeof *buckets, mem->context);

    if (buckets == NULL) {
        return false;
    }
    memset(buckets, 0, capacity * sizeof *buckets);
    for (uint32_t i = 0; i < origins->capacity; i++) {
        while (origins->buckets[i] != NULL) {
            struct vd__origin *origin = origins->buckets[i];
            struct vd__origin **bucket = &buckets[origin->hash & (capacity - 1)];
            origins->buckets[i] = origin->next;
            origin->next = *bucket;
            *bucket = origin;
        }
    }
    if (origins->buckets != NULL) {
        mem->release(origins->buckets, origins->capacity * sizeof *buckets, mem->context);
    }
    origins->buckets = buckets;
    origins->capacity = capacity;
    return true;
}

static struct vd_addr source_of(const struct vd_addr *remote)
{
    struct vd_addr source = {.family = remote->family};
    size_t size = remote->family == VD_FAMILY_IP6 ? IP6_NETWORK_SIZE : sizeof source.ip;

    memcpy(source.ip, remote->ip, size);
    return source;
}

struct vd__origin *vd__origin_enter(struct vd__origins *origins, const struct vd_addr *remote)
{
    struct vd_addr source = source_of(remote);
    uint32_t hash = vd__connection_table_hash(origins->table, &source, 0);

    if (origins->count >= origins->capacity && !grow(origins)) {
        return NULL;
    }
    struct vd__origin **bucket = &origins->buckets[hash & (origins->capacity - 1)];
    for (struct vd__origin *found = *bucket; found != NULL; found = found->next) {
        if (vd_addr_equal(&found->addr, &source)) {
            found->connections++;
            return found;
        }
    }
    struct vd__origin *made = origins->mem->allocate(sizeof *made, origins->mem->context);
    if (made == NULL) {
        return NULL;
    }
    *made = (struct vd__origin){*bucket, source, hash, 1};
    *bucket = made;
    origins->count++;
    return made;
}

void vd__origin_leave(struct vd__origins *origins, struct vd__origin *origin)
{
    if (origin == NULL || --origin->connections > 0) {
        return;
    }
    struct vd__origin **at = &origins->buckets[origin->hash & (origins->capacity - 1)];
    while (*at != origin) {
        at = &(*at)->next;
    }
    *at = origin->next;
    origins->count--;
    origins->mem->release(origin, sizeof *origin, origins->mem->context);
}
