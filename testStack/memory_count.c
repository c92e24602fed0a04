/* memory_count.c - an allocator that counts what it has given out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory_count.h"

#include <stdlib.h>

static void *allocate(size_t size, void *context)
{
    struct memory_count *memory = context;
    void *p = malloc(size);
    if (p != NULL) {
        memory->used += size;
        if (memory->used > memory->peak) {
            memory->peak = memory->used;
        }
    }
    return p;
}

static void release(void *p, size_t size, void *context)
{
    struct memory_count *memory = context;
    if (p != NULL) {
        memory->used -= size;
        free(p);
    }
}

void memory_count_init(struct memory_count *memory)
{
    *memory = (struct memory_count){.mem = {allocate, release, memory}};
}
