/* connection_table.c - finds connections by number, and by endpoint and remote address.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connection_table.h"

#include <string.h>
#include <sys/random.h>

#include "connection.h"

enum { CAPACITY_FIRST = 64 };

int vd__connection_table_init(struct vd__connection_table *table, const struct vd_mem *mem)
{
    *table = (struct vd__connection_table){.mem = mem};
    if (getrandom(table->keys, sizeof table->keys, 0) != (ssize_t)sizeof table->keys) {
        return VD_ERR_SYSTEM;
    }
    return 0;
}

static struct vd__connection **new_array(const struct vd_mem *mem, uint32_t capacity)
{
    size_t size = capacity * sizeof(struct vd__connection *);
    struct vd__connection **array = mem->allocate(size, mem->context);

    return array != NULL ? memset(array, 0, size) : NULL;
}

static void free_array(const struct vd_mem *mem, struct vd__connection **array, uint32_t capacity)
{
    if (array != NULL) {
        mem->release(array, capacity * sizeof *array, mem->context);
    }
}

void vd__connection_table_free(struct vd__connection_table *table)
{
    free_array(table->mem, table->by_number, table->number_capacity);
    free_array(table->mem, table->by_address, table->address_capacity);
}

/* ---- Growing ---- */

static bool grow_numbers(struct vd__connection_table *table)
{
    uint32_t capacity = table->number_capacity != 0 ? table->number_capacity * 2 : CAPACITY_FIRST;
    struct vd__connection **grown = new_array(table->mem, capacity);

    if (grown == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < table->number_capacity; i++) {
        struct vd__connection *connection = table->by_number[i];
        if (connection != NULL) {
            /* Numbers that differ in their low bits do so in one bit more as well. */
            grown[connection->number & (capacity - 1)] = connection;
        }
    }
    free_array(table->mem, table->by_number, table->number_capacity);
    table->by_number = grown;
    table->number_capacity = capacity;
    return true;
}

static bool grow_addresses(struct vd__connection_table *table)
{
    uint32_t capacity = table->address_capacity != 0 ? table->address_capacity * 2 : CAPACITY_FIRST;
    struct vd__connection **grown = new_array(table->mem, capacity);

    if (grown == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < table->address_capacity; i++) {
        /* From the last to the first, so that the order within a new bucket is that of the old. */
        struct vd__connection *reversed = NULL;
        struct vd__connection *connection = table->by_address[i];
        while (connection != NULL) {
            struct vd__connection *following = connection->next_tabled;
            connection->next_tabled = reversed;
            reversed = connection;
            connection = following;
        }
        while (reversed != NULL) {
            struct vd__connection *following = reversed->next_tabled;
            struct vd__connection **bucket = &grown[reversed->hash & (capacity - 1)];
            reversed->next_tabled = *bucket;
            *bucket = reversed;
            reversed = following;
        }
    }
    free_array(table->mem, table->by_address, table->address_capacity);
    table->by_address = grown;
    table->address_capacity = capacity;
    return true;
}

bool vd__connection_table_reserve(struct vd__connection_table *table)
{
    if (table->number_count >= table->number_capacity / 2 && !grow_numbers(table)) {
        return false;
    }
    return table->address_count < table->address_capacity || grow_addresses(table);
}

/* ---- By number ---- */

void vd__connection_table_number(struct vd__connection_table *table,
                                 struct vd__connection *connection)
{
    uint32_t number = table->last_number;

    do {
        number++;
    } while (number == 0 || table->by_number[number & (table->number_capacity - 1)] != NULL);
    table->last_number = number;
    table->by_number[number & (table->number_capacity - 1)] = connection;
    table->number_count++;
    connection->number = number;
}

void vd__connection_table_forget(struct vd__connection_table *table,
                                 const struct vd__connection *connection)
{
    table->by_number[connection->number & (table->number_capacity - 1)] = NULL;
    table->number_count--;
}

struct vd__connection *vd__connection_table_find(const struct vd__connection_table *table,
                                                 uint32_t number)
{
    if (table->number_capacity == 0) {
        return NULL;
    }
    struct vd__connection *found = table->by_number[number & (table->number_capacity - 1)];
    return found != NULL && found->number == number ? found : NULL;
}

/* ---- By address ---- */

/* Multilinear hashing: with random keys any two different inputs meet with a chance of about 2^-32.
 * By itself it sends ports or hosts that follow one another to buckets that do, too, and with some
 * keys these are few; so the sum is mixed once more. */
uint32_t vd__connection_table_hash(const struct vd__connection_table *table,
                                   const struct vd_addr *addr, uint32_t number)
{
    uint32_t words[VD__TABLE_KEYS] = {
        [4] = (uint32_t)addr->port << 8 | addr->family,
        [5] = addr->scope,
        [6] = number,
    };
    uint64_t sum = table->keys[VD__TABLE_KEYS];

    memcpy(words, addr->ip, sizeof addr->ip);
    for (size_t i = 0; i < VD__TABLE_KEYS; i++) {
        sum += table->keys[i] * words[i];
    }
    sum ^= sum >> 32;
    sum *= UINT64_C(0x9e3779b97f4a7c15);
    sum ^= sum >> 29;
    sum *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(sum >> 32);
}

void vd__connection_table_insert(struct vd__connection_table *table,
                                 struct vd__connection *connection)
{
    connection->hash =
        vd__connection_table_hash(table, &connection->remote, connection->endpoint->id);
    struct vd__connection **bucket =
        &table->by_address[connection->hash & (table->address_capacity - 1)];

    connection->next_tabled = *bucket;
    *bucket = connection;
    connection->tabled = true;
    table->address_count++;
}

void vd__connection_table_remove(struct vd__connection_table *table,
                                 struct vd__connection *connection)
{
    if (!connection->tabled) {
        return;
    }
    struct vd__connection **at =
        &table->by_address[connection->hash & (table->address_capacity - 1)];
    while (*at != connection) {
        at = &(*at)->next_tabled;
    }
    *at = connection->next_tabled;
    connection->tabled = false;
    table->address_count--;
}

struct vd__connection *vd__connection_table_find_remote(const struct vd__connection_table *table,
                                                        const struct vd__stream_endpoint *endpoint,
                                                        const struct vd_addr *remote)
{
    if (table->address_capacity == 0) {
        return NULL;
    }
    uint32_t hash = vd__connection_table_hash(table, remote, endpoint->id);
    struct vd__connection *found = table->by_address[hash & (table->address_capacity - 1)];
    while (found != NULL && (found->hash != hash || found->endpoint != endpoint ||
                             !vd_addr_equal(&found->remote, remote))) {
        found = found->next_tabled;
    }
    return found;
}
