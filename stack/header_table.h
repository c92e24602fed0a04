/* header_table.h - the hash under the header table, for the table and its test.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_HEADER_TABLE_H
#define VIADUCT_STACK_HEADER_TABLE_H

#include <viaduct/header.h>

#include "scan.h"

#define VD__HEADER_SLOTS 256

/* A row of the table. text is the name once more, followed by NULs, so that VD__SCAN_STEP bytes can
 * be read at it without following a pointer. */
struct vd__header_row {
    char text[24];
    struct vd_header_info info;
};

extern const struct vd__header_row vd__header_rows[VD_HEADER_COUNT];

/* The enum vd_header_id whose name or compact form hashes to a slot; 0 for none. A name whose slot
 * is taken stands in the next free one. */
extern const uint8_t vd__header_slots[VD__HEADER_SLOTS];

/* Where the search for a name begins. name is not empty. The factors were searched for: they give
 * every name and compact form of RFC 3261 a slot of its own. */
static inline unsigned vd__header_hash(struct vd_str name)
{
    unsigned first = (unsigned char)name.p[0] | 0x20U;
    unsigned last = (unsigned char)name.p[name.n - 1] | 0x20U;
    return ((unsigned)name.n * 2 + first * 29 + last * 87) % VD__HEADER_SLOTS;
}

/* vd_header_id for a name at which VD__SCAN_STEP bytes can be read. */
static inline enum vd_header_id vd__header_id(struct vd_str name)
{
    if (name.n == 0 || name.n > VD__SCAN_STEP) {
        return vd_header_id(name);
    }
    enum vd_header_id id = (enum vd_header_id)vd__header_slots[vd__header_hash(name)];
    const struct vd__header_row *row = &vd__header_rows[id];
    if (row->info.name.n == name.n && vd__scan_is_name(name.p, row->text, name.n)) {
        return id;
    }
    return vd_header_id(name);
}

#endif
