/* guard.c - bytes whose last one touches a page that must not be read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "guard.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool guard_init(struct guard *guard, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    guard->capacity = (size + page - 1) / page * page;
    if (guard->capacity == 0) {
        guard->capacity = page;
    }
    guard->base = mmap(NULL, guard->capacity + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard->base == MAP_FAILED) {
        return false;
    }
    return mprotect(guard->base + guard->capacity, page, PROT_NONE) == 0;
}

void guard_free(struct guard *guard)
{
    munmap(guard->base, guard->capacity + (size_t)sysconf(_SC_PAGESIZE));
}

const char *guard_place(struct guard *guard, const char *bytes, size_t size)
{
    char *place = guard->base + guard->capacity - size;
    if (size != 0) {
        memmove(place, bytes, size);
    }
    return place;
}
