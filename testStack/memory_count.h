/* memory_count.h - an allocator that counts what it has given out.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_MEMORY_COUNT_H
#define TESTSTACK_MEMORY_COUNT_H

#include <viaduct/mem.h>

/* used is what is allocated now, peak the most that ever was, both in bytes as asked for. One
 * thread at a time may use mem. */
struct memory_count {
    struct vd_mem mem;
    size_t used;
    size_t peak;
};

/* mem refers to the structure, which must stay where it is. */
void memory_count_init(struct memory_count *memory);

#endif
