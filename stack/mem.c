/* mem.c - the default allocator.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/mem.h>

#include <stdlib.h>

static void *default_allocate(size_t size, void *context)
{
    (void)context;
    return malloc(size);
}

static void default_release(void *p, size_t size, void *context)
{
    (void)size;
    (void)context;
    free(p);
}

const struct vd_mem *vd_mem_default(void)
{
    static const struct vd_mem mem = {default_allocate, default_release, NULL};
    return &mem;
}
