/* scan.c - the part of scan.h that need not be inlined.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scan.h"

const char *vd__scan_control_plain(const char *p, const char *end)
{
    while (p < end && !vd__is_control(*p)) {
        p++;
    }
    return p;
}

const char *vd__scan_space_plain(const char *p, const char *end)
{
    while (p < end && *p != ' ' && *p != '\t' && !vd__is_control(*p)) {
        p++;
    }
    return p;
}

const char *vd__scan_empty_line(const char *p, const char *end)
{
#if VD__SCAN_SSE2
    /* Only where one CR stands two bytes after another can an empty line begin. */
    const __m128i cr = _mm_set1_epi8('\r');
    while (end - p >= VD__SCAN_STEP + 3) {
        __m128i first = _mm_cmpeq_epi8(vd__scan_load(p), cr);
        __m128i third = _mm_cmpeq_epi8(vd__scan_load(p + 2), cr);
        unsigned mask = (unsigned)_mm_movemask_epi8(_mm_and_si128(first, third));
        for (; mask != 0; mask &= mask - 1) {
            const char *found = p + __builtin_ctz(mask);
            if (found[1] == '\n' && found[3] == '\n') {
                return found;
            }
        }
        p += VD__SCAN_STEP;
    }
#endif
    for (; end - p >= 4; p++) {
        if (p[0] == '\r' && p[1] == '\n' && p[2] == '\r' && p[3] == '\n') {
            return p;
        }
    }
    return NULL;
}
