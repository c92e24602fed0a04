/* connection_table.h - finds connections by number, and by endpoint and remote address.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_CONNECTION_TABLE_H
#define VIADUCT_TRANSPORT_CONNECTION_TABLE_H

#include <viaduct/addr.h>
#include <viaduct/base.h>
#include <viaduct/mem.h>

struct vd__connection;
struct vd__stream_endpoint;

enum { VD__TABLE_KEYS = 7 };

/* Numbers count upwards, leaving out 0 and those whose place in by_number is taken: a number comes
 * back only after all others were used. by_number is never more than half full. */
struct vd__connection_table {
    const struct vd_mem *mem;
    struct vd__connection **by_number; /* at number & (number_capacity - 1) */
    uint32_t number_capacity;
    uint32_t number_count;
    uint32_t last_number;

    struct vd__connection **by_address; /* buckets */
    uint32_t address_capacity;
    uint32_t address_count;

    /* Secret random numbers, so that a peer cannot choose addresses that fall into one bucket. */
    uint64_t keys[VD__TABLE_KEYS + 1];
};

/* mem must outlive it. Returns 0 or VD_ERR_SYSTEM (the system gives no random bytes). */
int vd__connection_table_init(struct vd__connection_table *table, const struct vd_mem *mem);

/* Frees the table; the connections are the caller's. */
void vd__connection_table_free(struct vd__connection_table *table);

/* Makes sure that one connection more fits. False without memory. */
bool vd__connection_table_reserve(struct vd__connection_table *table);

/* Gives the connection a number. Room must have been reserved. */
void vd__connection_table_number(struct vd__connection_table *table,
                                 struct vd__connection *connection);

/* Takes the number back. */
void vd__connection_table_forget(struct vd__connection_table *table,
                                 const struct vd__connection *connection);

/* NULL when no connection has the number. */
struct vd__connection *vd__connection_table_find(const struct vd__connection_table *table,
                                                 uint32_t number);

/* Lets the connection be found by its endpoint and remote address. Room must have been reserved. Of
 * several with the same ones the latest is found. */
void vd__connection_table_insert(struct vd__connection_table *table,
                                 struct vd__connection *connection);

/* Takes it out, if it is in. */
void vd__connection_table_remove(struct vd__connection_table *table,
                                 struct vd__connection *connection);

struct vd__connection *vd__connection_table_find_remote(const struct vd__connection_table *table,
                                                        const struct vd__stream_endpoint *endpoint,
                                                        const struct vd_addr *remote);

/* A keyed hash of an address and a number, also for other tables. */
uint32_t vd__connection_table_hash(const struct vd__connection_table *table,
                                   const struct vd_addr *addr, uint32_t number);

#endif
