/* siphash.h - SipHash-1-3 with a 64-bit or a 128-bit result, fed in pieces.
 *
 * Keyed, so that a peer cannot choose branches or Call-IDs that fall into one bucket.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_SIPHASH_H
#define VIADUCT_STACK_SIPHASH_H

#include <viaduct/base.h>

struct vd__key {
    uint64_t k0;
    uint64_t k1;
};

struct vd__siphash {
    uint64_t v0, v1, v2, v3;
    uint64_t tail;  /* bytes that do not fill a word yet, lowest first */
    uint64_t total; /* bytes fed */
};

void vd__siphash_init(struct vd__siphash *hash, const struct vd__key *key);
void vd__siphash_update(struct vd__siphash *hash, const char *bytes, size_t size);

/* The same with ASCII letters taken as lower case. */
void vd__siphash_update_lower(struct vd__siphash *hash, const char *bytes, size_t size);

void vd__siphash_final(struct vd__siphash *hash, uint64_t out[2]);

/* 64 bits over two words: for the unguessable part of a branch. */
uint64_t vd__siphash_words(const struct vd__key *key, uint64_t a, uint64_t b);

#endif
