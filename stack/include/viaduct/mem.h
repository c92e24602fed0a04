/* viaduct/mem.h - where memory comes from.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_MEM_H
#define VIADUCT_MEM_H

#include <viaduct/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An allocator. The stack calls it when it starts and when one of its pools must grow, never for a
 * message once the pools are warm. allocate returns NULL when there is no memory; what it returns
 * is aligned for any object. release gets the size that was asked for. Both get context. The
 * allocator must outlive every stack that uses it; it is called only from the thread that drives
 * that stack. */
struct vd_mem {
    void *(*allocate)(size_t size, void *context);
    void (*release)(void *p, size_t size, void *context);
    void *context;
};

/* The default allocator: malloc and free. */
VD_API const struct vd_mem *vd_mem_default(void);

#ifdef __cplusplus
}
#endif

#endif
