#include "core.h"

/* filter has a bit for each record that is or was in the chain; it is cleared when the chain is empty. */
struct bucket {
    uint32_t head;
    uint32_t filter;
};

/* Buckets are handed out by the pool in groups, in order, and never given back. */
#define GROUP_BITS 3
#define GROUP (1u << GROUP_BITS)

static struct bucket *bucket_at(const struct vd__table *table, uint32_t number)
{
    struct bucket *group = vd__pool_at(&table->buckets, number >> GROUP_BITS);
    return group + (number & (GROUP - 1));
}

static uint32_t filter_bit(const uint64_t key[2])
{
    return 1u << (key[1] & 31);
}

static struct bucket *bucket_of(const struct vd__table *table, uint64_t digest)
{
    uint32_t number = (uint32_t)digest & (2 * table->mask + 1);
    return bucket_at(table, number < table->bucket_count ? number : number & table->mask);
}

static struct vd__transaction *record_at(const struct vd__table *table, uint32_t index)
{
    return index == VD__POOL_NONE ? NULL : vd__pool_at(table->transactions, index);
}

static bool add_group(struct vd__table *table)
{
    uint32_t index = vd__pool_take(&table->buckets, NULL);
    if (index == VD__POOL_NONE) {
        return false;
    }
    struct bucket *group = vd__pool_at(&table->buckets, index);
    for (unsigned i = 0; i < GROUP; i++) {
        group[i] = (struct bucket){.head = VD__POOL_NONE};
    }
    return true;
}

int vd__table_init(struct vd__table *table, struct vd__pool *transactions, const struct vd_mem *mem)
{
    table->transactions = transactions;
    vd__pool_init(&table->buckets, mem, GROUP * sizeof(struct bucket));
    table->count = 0;
    table->bucket_count = GROUP;
    table->mask = GROUP - 1;
    return add_group(table) ? 0 : VD_ERR_NOMEM;
}

void vd__table_free(struct vd__table *table)
{
    vd__pool_free(&table->buckets);
}

static void push(struct bucket *bucket, struct vd__transaction *record)
{
    record->next = bucket->head;
    bucket->head = record->index;
    bucket->filter |= filter_bit(record->key);
}

/* Adds one bucket and moves to it the records of its other half that belong there. */
static void split(struct vd__table *table)
{
    uint32_t number = table->bucket_count;
    if (number == UINT32_MAX / 2 || ((number & (GROUP - 1)) == 0 && !add_group(table))) {
        return;
    }
    uint32_t wide = 2 * table->mask + 1;
    struct bucket *source = bucket_at(table, number & table->mask);
    struct bucket *target = bucket_at(table, number);
    table->bucket_count++;
    if (table->bucket_count > wide) {
        table->mask = wide;
    }
    struct vd__transaction *record = record_at(table, source->head);
    *source = (struct bucket){.head = VD__POOL_NONE};
    while (record != NULL) {
        struct vd__transaction *next = record_at(table, record->next);
        push(((uint32_t)record->key[0] & wide) == number ? target : source, record);
        record = next;
    }
}

void vd__table_insert(struct vd__table *table, struct vd__transaction *transaction)
{
    if (table->count >= table->bucket_count) {
        split(table);
    }
    push(bucket_of(table, transaction->key[0]), transaction);
    table->count++;
}

void vd__table_remove(struct vd__table *table, struct vd__transaction *transaction)
{
    struct bucket *bucket = bucket_of(table, transaction->key[0]);
    uint32_t *link = &bucket->head;
    while (*link != transaction->index) {
        link = &record_at(table, *link)->next;
    }
    *link = transaction->next;
    if (bucket->head == VD__POOL_NONE) {
        bucket->filter = 0;
    }
    table->count--;
}

static struct vd__transaction *find_from(const struct vd__table *table, uint32_t index,
                                         const uint64_t key[2])
{
    struct vd__transaction *record = record_at(table, index);
    while (record != NULL && (record->key[0] != key[0] || record->key[1] != key[1])) {
        record = record_at(table, record->next);
    }
    return record;
}

struct vd__transaction *vd__table_find(const struct vd__table *table, const uint64_t key[2])
{
    const struct bucket *bucket = bucket_of(table, key[0]);
    return (bucket->filter & filter_bit(key)) != 0 ? find_from(table, bucket->head, key) : NULL;
}

struct vd__transaction *vd__table_find_next(const struct vd__table *table,
                                            const struct vd__transaction *transaction)
{
    return find_from(table, transaction->next, transaction->key);
}
