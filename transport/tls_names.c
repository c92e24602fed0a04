/* tls_names.c - hosts and aliases by address.
 *
 * A hash table. Its size is bounded by what the application gives, and by the connections there
 * are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tls_internal.h"

enum { CAPACITY_FIRST = 8 };

struct vd__tls_name {
    struct vd__tls_name *next;
    struct vd_addr addr;
    struct vd_str host;
    uint32_t alias;
};

static uint32_t hash_of(const struct vd__tls_names *names, const struct vd_addr *addr)
{
    return vd__connection_table_hash(&names->streams->table, addr, 0);
}

/* Where the entry of an address hangs, or would. Buckets must be there. */
static struct vd__tls_name **place_of(const struct vd__tls_names *names, const struct vd_addr *addr)
{
    struct vd__tls_name **at = &names->buckets[hash_of(names, addr) & (names->capacity - 1)];

    while (*at != NULL && !vd_addr_equal(&(*at)->addr, addr)) {
        at = &(*at)->next;
    }
    return at;
}

static const struct vd__tls_name *find(const struct vd__tls_names *names,
                                       const struct vd_addr *addr)
{
    return names->capacity > 0 ? *place_of(names, addr) : NULL;
}

struct vd_str vd__tls_names_host(const struct vd__tls_names *names, const struct vd_addr *addr)
{
    const struct vd__tls_name *found = find(names, addr);

    return found != NULL ? found->host : vd_str(NULL, 0);
}

uint32_t vd__tls_names_alias(const struct vd__tls_names *names, const struct vd_addr *addr)
{
    const struct vd__tls_name *found = find(names, addr);

    return found != NULL ? found->alias : 0;
}

/* ---- Changing ---- */

static bool grow(struct vd__tls_names *names)
{
    struct vd_loop *loop = names->streams->loop;
    struct vd__tls_names grown = *names;

    if (names->count < names->capacity) {
        return true;
    }
    grown.capacity = names->capacity > 0 ? names->capacity * 2 : CAPACITY_FIRST;
    grown.buckets = vd__loop_allocate(loop, grown.capacity * sizeof *grown.buckets);
    if (grown.buckets == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < names->capacity; i++) {
        while (names->buckets[i] != NULL) {
            struct vd__tls_name *name = names->buckets[i];
            names->buckets[i] = name->next;
            name->next = NULL;
            *place_of(&grown, &name->addr) = name;
        }
    }
    vd__loop_release(loop, names->buckets, names->capacity * sizeof *names->buckets);
    *names = grown;
    return true;
}

/* The entry of an address, made when there is none. NULL without memory. */
static struct vd__tls_name *need(struct vd__tls_names *names, const struct vd_addr *addr)
{
    if (!grow(names)) {
        return NULL;
    }
    struct vd__tls_name **at = place_of(names, addr);
    if (*at == NULL) {
        *at = vd__loop_allocate(names->streams->loop, sizeof **at);
        if (*at == NULL) {
            return NULL;
        }
        (*at)->addr = *addr;
        names->count++;
    }
    return *at;
}

/* Frees the entry of an address that says nothing any more. */
static void tidy(struct vd__tls_names *names, const struct vd_addr *addr)
{
    struct vd__tls_name **at = place_of(names, addr);
    struct vd__tls_name *name = *at;

    if (name->host.n == 0 && name->alias == 0) {
        *at = name->next;
        names->count--;
        vd__loop_release(names->streams->loop, name, sizeof *name);
    }
}

bool vd__tls_names_set_host(struct vd__tls_names *names, const struct vd_addr *addr,
                            struct vd_str host)
{
    struct vd_loop *loop = names->streams->loop;
    struct vd_str copy;

    if (host.n == 0 && find(names, addr) == NULL) {
        return true;
    }
    if (!vd__tls_copy(loop, host, &copy)) {
        return false;
    }
    struct vd__tls_name *name = need(names, addr);
    if (name == NULL) {
        vd__tls_release(loop, copy);
        return false;
    }
    vd__tls_release(loop, name->host);
    name->host = copy;
    tidy(names, addr);
    return true;
}

bool vd__tls_names_set_alias(struct vd__tls_names *names, const struct vd_addr *addr,
                             uint32_t connection)
{
    if (connection == 0 && find(names, addr) == NULL) {
        return true;
    }
    struct vd__tls_name *name = need(names, addr);
    if (name == NULL) {
        return false;
    }
    name->alias = connection;
    tidy(names, addr);
    return true;
}

void vd__tls_names_free(struct vd__tls_names *names)
{
    struct vd_loop *loop = names->streams->loop;

    for (uint32_t i = 0; i < names->capacity; i++) {
        while (names->buckets[i] != NULL) {
            struct vd__tls_name *name = names->buckets[i];
            names->buckets[i] = name->next;
            vd__tls_release(loop, name->host);
            vd__loop_release(loop, name, sizeof *name);
        }
    }
    vd__loop_release(loop, names->buckets, names->capacity * sizeof *names->buckets);
}
