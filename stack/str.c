/* str.c - views, and the version.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lex.h"

const char *vd_version(void)
{
    return VD_VERSION;
}

bool vd_str_case_equal(struct vd_str a, struct vd_str b)
{
    if (a.n != b.n) {
        return false;
    }
    size_t i = 0;
    /* What is spelled alike takes no look at single bytes. */
    while (a.n - i >= 8 && vd__load_word(a.p + i, 8) == vd__load_word(b.p + i, 8)) {
        i += 8;
    }
    for (; i < a.n; i++) {
        if (a.p[i] != b.p[i] && vd__lower(a.p[i]) != vd__lower(b.p[i])) {
            return false;
        }
    }
    return true;
}
