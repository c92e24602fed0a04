/* fault_table.h - for tables of texts that are read well, and of texts that must be refused: text,
 * error, and where the fault is.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef FAULT_TABLE_H
#define FAULT_TABLE_H

#include <viaduct/base.h>
#include <viaduct/error.h>

#include "guard.h"

struct fault_case {
    const char *text;
    int error;
    size_t offset;
};

/* Reads a text; returns what the function under test does. */
typedef int (*fault_reader)(struct vd_str text, struct vd_fault *fault);

/* Each text, put where it touches an unreadable page, gets its error, with and without a place for
 * the fault, and the fault has the offset, the error and a rule. */
void check_faults(struct guard *guard, fault_reader read, const struct fault_case *cases,
                  size_t count);

/* What a reader says to every text got from the given ones by cutting bytes off their end: any
 * error, but no read past the end, and a fault within the text. */
void check_cut_short(struct guard *guard, fault_reader read, const char *const *texts,
                     size_t count);

/* The same for the given texts with one byte changed in every place to every one of some awkward
 * ones. */
void check_one_byte_changed(struct guard *guard, fault_reader read, const char *const *texts,
                            size_t count);

/* A text that touches an unreadable page, until the next call. */
struct vd_str placed(struct guard *guard, const char *text);

/* True when text is the one expected; prints both when it is not. */
bool is_text(struct vd_str text, const char *expected);

#endif
