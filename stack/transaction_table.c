/* transaction_table.c - the hash table of transactions, which grows by linear hashing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

#define ENTRIES 7

/* Records on average in a bucket before the next one is added. Those not split yet hold twice as
 * many as those that were. */
#define LOAD 4

struct entry {
    uint32_t hash;  /* the low half of key[0] */
    uint32_t index; /* VD__POOL_NONE when empty */
};

/* As large as a cache line, and a pool starts its chunks on one. */
struct bucket {
    struct entry entries[ENTRIES];
    uint32_t more; /* number of an overflow bucket, or VD__POOL_NONE */
    uint32_t unused;
};

_Static_assert(sizeof(struct bucket) == 64, "a bucket is a cache line");

static struct bucket *overflow_at(const struct vd__table *table, uint32_t number)
{
    return number == VD__POOL_NONE ? NULL : vd__pool_at(&table->overflow, number);
}

static uint32_t number_of(const struct vd__table *table, uint32_t hash)
{
    uint32_t number = hash & (2 * table->mask + 1);
    return number < table->bucket_count ? number : number & table->mask;
}

static struct bucket *bucket_of(const struct vd__table *table, uint64_t digest)
{
    return vd__pool_at(&table->buckets, number_of(table, (uint32_t)digest));
}

static void clear(struct bucket *bucket)
{
    memset(bucket, 0xff, sizeof *bucket); /* VD__POOL_NONE in more and in each index */
}

static bool add_bucket(struct vd__table *table)
{
    uint32_t number = vd__pool_take(&table->buckets);
    if (number == VD__POOL_NONE) {
        return false;
    }
    clear(vd__pool_at(&table->buckets, number));
    return true;
}

int vd__table_init(struct vd__table *table, struct vd__pool *transactions, const struct vd_mem *mem)
{
    table->transactions = transactions;
    vd__pool_init(&table->buckets, mem, sizeof(struct bucket));
    vd__pool_init(&table->overflow, mem, sizeof(struct bucket));
    table->count = 0;
    table->bucket_count = 1;
    table->mask = 0;
    return add_bucket(table) ? 0 : VD_ERR_NOMEM;
}

void vd__table_free(struct vd__table *table)
{
    vd__pool_free(&table->buckets);
    vd__pool_free(&table->overflow);
}

static bool put(struct vd__table *table, struct bucket *bucket, struct entry entry)
{
    for (;;) {
        for (unsigned i = 0; i < ENTRIES; i++) {
            if (bucket->entries[i].index == VD__POOL_NONE) {
                bucket->entries[i] = entry;
                return true;
            }
        }
        if (bucket->more == VD__POOL_NONE) {
            uint32_t number = vd__pool_take(&table->overflow);
            if (number == VD__POOL_NONE) {
                return false;
            }
            bucket->more = number;
            clear(overflow_at(table, number));
        }
        bucket = overflow_at(table, bucket->more);
    }
}

/* Puts the entries of a bucket back, which is no longer part of the table. There is room: 7 entries
 * fit into one bucket, and each overflow bucket was given back before its entries are put anew. */
static void put_all(struct vd__table *table, const struct bucket *bucket)
{
    for (unsigned i = 0; i < ENTRIES; i++) {
        struct entry entry = bucket->entries[i];
        if (entry.index != VD__POOL_NONE) {
            put(table, bucket_of(table, entry.hash), entry);
        }
    }
}

/* Adds one bucket, and spreads the entries of the one that it parts with over the two. */
static void split(struct vd__table *table)
{
    uint32_t number = table->bucket_count;
    uint32_t wide = 2 * table->mask + 1;
    if (number == 1u << 30 || !add_bucket(table)) {
        return;
    }
    struct bucket *source = vd__pool_at(&table->buckets, number & table->mask);
    struct bucket copy = *source;
    clear(source);
    table->bucket_count++;
    if (table->bucket_count > wide) {
        table->mask = wide;
    }
    put_all(table, &copy);
    while (copy.more != VD__POOL_NONE) {
        uint32_t overflow = copy.more;
        copy = *overflow_at(table, overflow);
        vd__pool_give(&table->overflow, overflow);
        put_all(table, &copy);
    }
}

void vd__table_prefetch(const struct vd__table *table, uint64_t digest)
{
    __builtin_prefetch(bucket_of(table, digest), 1);
}

int vd__table_insert(struct vd__table *table, struct vd__transaction *transaction)
{
    struct entry entry = {.hash = (uint32_t)transaction->key[0], .index = transaction->index};
    if (table->count / LOAD >= table->bucket_count) {
        split(table);
    }
    if (!put(table, bucket_of(table, entry.hash), entry)) {
        return VD_ERR_NOMEM;
    }
    table->count++;
    return 0;
}

void vd__table_remove(struct vd__table *table, struct vd__transaction *transaction)
{
    struct bucket *bucket = bucket_of(table, transaction->key[0]);
    for (; bucket != NULL; bucket = overflow_at(table, bucket->more)) {
        for (unsigned i = 0; i < ENTRIES; i++) {
            if (bucket->entries[i].index == transaction->index) {
                bucket->entries[i].index = VD__POOL_NONE;
                table->count--;
                return;
            }
        }
    }
}

/* The first record with this digest behind `last`; from the beginning when last is NULL. */
static struct vd__transaction *find_after(const struct vd__table *table, const uint64_t key[2],
                                          const struct vd__transaction *last)
{
    const struct bucket *bucket = bucket_of(table, key[0]);
    bool behind = last == NULL;
    for (; bucket != NULL; bucket = overflow_at(table, bucket->more)) {
        for (unsigned i = 0; i < ENTRIES; i++) {
            struct entry entry = bucket->entries[i];
            if (entry.index == VD__POOL_NONE || entry.hash != (uint32_t)key[0]) {
                continue;
            }
            struct vd__transaction *record = vd__pool_at(table->transactions, entry.index);
            if (behind && record->key[0] == key[0] && record->key[1] == key[1]) {
                return record;
            }
            behind = behind || record == last;
        }
    }
    return NULL;
}

struct vd__transaction *vd__table_find(const struct vd__table *table, const uint64_t key[2])
{
    return find_after(table, key, NULL);
}

struct vd__transaction *vd__table_find_next(const struct vd__table *table,
                                            const struct vd__transaction *last)
{
    return find_after(table, last->key, last);
}
