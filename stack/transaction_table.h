/* transaction_table.h - server transactions by the keyed digest of what RFC 3261 17.2.3 matches on.
 *
 * A bucket is a cache line: it holds the low half word of each digest beside the record's number,
 * so a look-up for a new request, which is most of them, touches that line and no record. The table
 * grows by linear hashing, one bucket at a time, from what the buckets themselves hold: there is no
 * moment at which all of it is moved, and growing touches no record that lay idle for seconds.
 *
 * The digest has 128 bits under a secret key: two different branches with the same one are not to
 * be expected, and cannot be made on purpose.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_TRANSACTION_TABLE_H
#define VIADUCT_STACK_TRANSACTION_TABLE_H

#include "pool.h"

#include <viaduct/base.h>
#include <viaduct/mem.h>

struct vd__transaction;

struct vd__table {
    struct vd__pool *transactions;
    struct vd__pool buckets;  /* numbered as the table numbers them */
    struct vd__pool overflow; /* buckets that hold what did not fit */
    uint32_t count;           /* records in the table */
    uint32_t bucket_count;
    uint32_t mask; /* the largest power of two not above bucket_count, less one */
};

/* transactions is the pool whose records the table holds. Returns 0 or VD_ERR_NOMEM. */
int vd__table_init(struct vd__table *table, struct vd__pool *transactions,
                   const struct vd_mem *mem);
void vd__table_free(struct vd__table *table);

/* The record's key is its digest. Returns 0, or VD_ERR_NOMEM when its bucket is full and there is
 * no memory for another. */
int vd__table_insert(struct vd__table *table, struct vd__transaction *transaction);
void vd__table_remove(struct vd__table *table, struct vd__transaction *transaction);

/* Fetches what the search for a record with this digest begins with, so that it is at hand soon. */
void vd__table_prefetch(const struct vd__table *table, uint64_t digest);

/* The first record with this digest, and the one after `last` with the same digest; NULL when there
 * is none. */
struct vd__transaction *vd__table_find(const struct vd__table *table, const uint64_t key[2]);
struct vd__transaction *vd__table_find_next(const struct vd__table *table,
                                            const struct vd__transaction *last);

#endif
