/* counting_mem.c - an allocator that counts, checks what comes back, and can be told to fail.
 *
 * SPDX-License-Identifier: MIT
 */
#include "counting_mem.h"

#include <stdlib.h>

#define MAGIC UINT64_C(0x76696164756374ff)

/* In front of each block. */
union header {
    struct {
        uint64_t magic;
        size_t size;
    } block;
    max_align_t align;
};

static void *allocate(size_t size, void *context)
{
    struct counting_mem *counting = context;
    counting->allocations++;
    union header *header = NULL;
    if (counting->before_failure > 0 && size <= SIZE_MAX - sizeof *header) {
        header = malloc(sizeof *header + size);
    }
    if (header == NULL) {
        counting->failures++;
        return NULL;
    }
    if (counting->before_failure != COUNTING_MEM_NEVER) {
        counting->before_failure--;
    }
    counting->live_blocks++;
    counting->live_bytes += size;
    if (counting->live_bytes > counting->peak_bytes) {
        counting->peak_bytes = counting->live_bytes;
    }
    header->block.magic = MAGIC;
    header->block.size = size;
    memset(header + 1, 0xa5, size);
    return header + 1;
}

static void release(void *p, size_t size, void *context)
{
    struct counting_mem *counting = context;
    if (p == NULL) {
        return;
    }
    union header *header = (union header *)p - 1;
    if (header->block.magic != MAGIC || header->block.size != size) {
        counting->wrong_releases++;
        return;
    }
    counting->live_blocks--;
    counting->live_bytes -= size;
    header->block.magic = 0;
    memset(p, 0xdd, size);
    free(header);
}

void counting_mem_init(struct counting_mem *counting)
{
    *counting = (struct counting_mem){
        .mem = {.allocate = allocate, .release = release, .context = counting},
        .before_failure = COUNTING_MEM_NEVER,
    };
}

void counting_mem_fail_after(struct counting_mem *counting, uint64_t count)
{
    counting->before_failure = count;
}

bool counting_mem_is_clean(const struct counting_mem *counting)
{
    return counting->live_blocks == 0 && counting->live_bytes == 0 && counting->wrong_releases == 0;
}
