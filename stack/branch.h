/* branch.h - the branch parameters that this stack writes (RFC 3261 8.1.1.7).
 *
 * "z9hG4bK", then 34 hex digits: the worker (2), the number of the transaction's record (8), its
 * generation (8), and 64 bits that only the holder of the stack's key can compute (16). A response
 * finds its client transaction from them without a search, and a forged one does not.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_BRANCH_H
#define VIADUCT_STACK_BRANCH_H

#include <viaduct/base.h>

#define VD__BRANCH_COOKIE      "z9hG4bK"
#define VD__BRANCH_COOKIE_SIZE 7
#define VD__BRANCH_SIZE        (VD__BRANCH_COOKIE_SIZE + 34)

struct vd__branch {
    uint64_t secret;
    uint32_t index;
    uint32_t generation;
    uint8_t worker;
};

/* Writes VD__BRANCH_SIZE bytes. */
void vd__branch_write(char *out, const struct vd__branch *branch);

/* Returns false when text is not of this form. */
bool vd__branch_read(struct vd_str text, struct vd__branch *out);

/* Writes value as 16 hex digits, lower case. */
void vd__hex_write(char *out, uint64_t value);

#endif
