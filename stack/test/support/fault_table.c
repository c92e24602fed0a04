/* fault_table.c - tables of texts that must be refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fault_table.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>

struct vd_str placed(struct guard *guard, const char *text)
{
    size_t n = strlen(text);
    return vd_str(guard_place(guard, text, n), n);
}

bool is_text(struct vd_str text, const char *expected)
{
    bool equal = vd_str_equal(text, vd_str_from(expected));
    if (!equal) {
        printf("\n  \"%.*s\" is not \"%s\"\n", (int)text.n, text.p, expected);
    }
    return equal;
}

void check_faults(struct guard *guard, fault_reader read, const struct fault_case *cases,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct fault_case *c = &cases[i];
        struct vd_fault fault = {0, SIZE_MAX, NULL};
        int error = read(placed(guard, c->text), &fault);
        if (error != c->error || fault.error != error || fault.offset != c->offset) {
            printf("\n  \"%s\": %s at %zu, not %s at %zu\n", c->text, vd_error_name(error),
                   fault.offset, vd_error_name(c->error), c->offset);
        }
        CU_ASSERT_EQUAL(error, c->error);
        CU_ASSERT_EQUAL(fault.error, c->error);
        CU_ASSERT_EQUAL(fault.offset, c->offset);
        CU_ASSERT(fault.rule != NULL && fault.rule[0] != '\0');
        CU_ASSERT_EQUAL(read(placed(guard, c->text), NULL), c->error);
    }
}

/* One text, of which only the promises that hold for every text are checked. */
static void check_any(fault_reader read, struct vd_str text)
{
    struct vd_fault fault = {0, 0, NULL};
    int result = read(text, &fault);
    if (result < 0) {
        CU_ASSERT_EQUAL(fault.error, result);
        CU_ASSERT(fault.offset <= text.n);
        CU_ASSERT_PTR_NOT_NULL(fault.rule);
    } else {
        CU_ASSERT((size_t)result <= text.n);
    }
}

void check_cut_short(struct guard *guard, fault_reader read, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t n = strlen(texts[i]); n-- > 0;) {
            check_any(read, vd_str(guard_place(guard, texts[i], n), n));
        }
    }
    CU_ASSERT(count > 0);
}

void check_one_byte_changed(struct guard *guard, fault_reader read, const char *const *texts,
                            size_t count)
{
    static const char awkward[] = "\0\r\n\t \"\\<>;,:@%=?&[]()*/.-0aZ\x7f\x80\xc3\xff";
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(texts[i]);
        char *copy = malloc(n + 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        for (size_t at = 0; at < n; at++) {
            for (size_t k = 0; k < sizeof awkward - 1; k++) {
                memcpy(copy, texts[i], n + 1);
                copy[at] = awkward[k];
                check_any(read, vd_str(guard_place(guard, copy, n), n));
            }
        }
        free(copy);
    }
    CU_ASSERT(count > 0);
}
