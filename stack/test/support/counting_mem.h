/* counting_mem.h - an allocator that counts, checks what comes back, and can be told to fail.
 *
 * New memory is filled with 0xa5 and memory given back with 0xdd, so that nothing in a test depends
 * on bytes that were not written.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COUNTING_MEM_H
#define COUNTING_MEM_H

#include <viaduct/mem.h>

#include <stdint.h>

#define COUNTING_MEM_NEVER UINT64_MAX

/* Give &counting.mem to what is tested. Sizes are those asked for. */
struct counting_mem {
    struct vd_mem mem;
    size_t live_bytes;
    size_t peak_bytes;
    uint64_t live_blocks;
    uint64_t allocations;    /* calls of allocate, those that failed included */
    uint64_t failures;       /* calls of allocate that returned NULL */
    uint64_t wrong_releases; /* blocks given back that are not from here, or with another size */
    uint64_t before_failure; /* allocations that still succeed */
};

/* It must not be copied or moved afterwards. It holds nothing of its own, so it needs no end. */
void counting_mem_init(struct counting_mem *counting);

/* The next count allocations succeed and all after them fail; COUNTING_MEM_NEVER ends that. */
void counting_mem_fail_after(struct counting_mem *counting, uint64_t count);

/* True when all memory was given back, each block with the size that it was asked for with. */
bool counting_mem_is_clean(const struct counting_mem *counting);

#endif
