/* guard.h - bytes whose last one touches a page that must not be read.
 *
 * A function that reads one byte too many, even within a vector load, ends the test with a fault.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct guard {
    char *base;
    size_t capacity; /* readable bytes, up to the page that is not */
};

/* Room for size bytes. Returns false when there is none. */
bool guard_init(struct guard *guard, size_t size);
void guard_free(struct guard *guard);

/* A copy of the bytes that ends where the unreadable page begins; valid until the next call. bytes
 * may be a part of an earlier copy. */
const char *guard_place(struct guard *guard, const char *bytes, size_t size);

#endif
