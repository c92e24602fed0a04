/* scan.h - finds the bytes that end things, sixteen at a time.
 *
 * The only file with vector instructions. SSE2 is part of every x86-64 processor, so nothing is
 * chosen at run time; elsewhere plain C does the same. No function reads a byte at or past end.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_SCAN_H
#define VIADUCT_STACK_SCAN_H

#include <viaduct/base.h>

/* How many bytes one step looks at. */
#define VD__SCAN_STEP 16

#if defined(__SSE2__)
#include <emmintrin.h>
#define VD__SCAN_SSE2 1
#else
#define VD__SCAN_SSE2 0
#endif

/* A control character that may not stand in a line as it is: all of them but HTAB (RFC 3261 25.1,
 * TEXT-UTF8char and LWS). CR and LF are among them. */
static inline bool vd__is_control(char c)
{
    unsigned char byte = (unsigned char)c;
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

/* The first control character in [p, end) one byte at a time; end when there is none. */
const char *vd__scan_control_plain(const char *p, const char *end);

/* The first control character, space or tab in [p, end) one byte at a time; end when there is none.
 */
const char *vd__scan_space_plain(const char *p, const char *end);

/* The first CR LF CR LF in [p, end); NULL when there is none. */
const char *vd__scan_empty_line(const char *p, const char *end);

#if VD__SCAN_SSE2

/* A bit for each of the sixteen bytes that is a control character or a tab. */
static inline unsigned vd__scan_low_mask(__m128i bytes)
{
    const __m128i limit = _mm_set1_epi8(0x1f);
    __m128i low = _mm_cmpeq_epi8(_mm_max_epu8(bytes, limit), limit);
    __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(low, del));
}

/* The first of the bytes at p that mask has a bit for and that is no tab; NULL when there is none.
 */
static inline const char *vd__scan_past_tabs(const char *p, unsigned mask)
{
    for (; mask != 0; mask &= mask - 1) {
        const char *found = p + __builtin_ctz(mask);
        if (*found != '\t') {
            return found;
        }
    }
    return NULL;
}

static inline __m128i vd__scan_load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* All bits of the bytes that lie between first and last. */
static inline __m128i vd__scan_range(__m128i bytes, char first, char last)
{
    __m128i past = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(past, _mm_set1_epi8((char)(last - first))), past);
}

/* The first control character in [p, end); end when there is none. */
static inline const char *vd__scan_control(const char *p, const char *end)
{
    while (end - p >= VD__SCAN_STEP) {
        const char *found = vd__scan_past_tabs(p, vd__scan_low_mask(vd__scan_load(p)));
        if (found != NULL) {
            return found;
        }
        p += VD__SCAN_STEP;
    }
    return vd__scan_control_plain(p, end);
}

/* The first control character, space or tab in [p, end); end when there is none. */
static inline const char *vd__scan_space(const char *p, const char *end)
{
    const __m128i limit = _mm_set1_epi8(' ');
    const __m128i del = _mm_set1_epi8(0x7f);
    while (end - p >= VD__SCAN_STEP) {
        __m128i bytes = vd__scan_load(p);
        __m128i low = _mm_cmpeq_epi8(_mm_max_epu8(bytes, limit), limit);
        __m128i found = _mm_or_si128(low, _mm_cmpeq_epi8(bytes, del));
        unsigned mask = (unsigned)_mm_movemask_epi8(found);
        if (mask != 0) {
            return p + __builtin_ctz(mask);
        }
        p += VD__SCAN_STEP;
    }
    return vd__scan_space_plain(p, end);
}

/* The first byte in [p, end) that is no letter and no digit; or any byte before it when fewer than
 * VD__SCAN_STEP bytes are left, and end when there are none. */
static inline const char *vd__scan_alphanumeric(const char *p, const char *end)
{
    while (end - p >= VD__SCAN_STEP) {
        __m128i bytes = vd__scan_load(p);
        __m128i small = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        __m128i letters = vd__scan_range(small, 'a', 'z');
        __m128i digits = vd__scan_range(bytes, '0', '9');
        unsigned mask = (unsigned)_mm_movemask_epi8(_mm_or_si128(letters, digits));
        if (mask != 0xffff) {
            return p + __builtin_ctz(~mask);
        }
        p += VD__SCAN_STEP;
    }
    return p;
}

/* How many bytes of [p, end) are an IPv4 address that ends there or in front of a byte that is
 * neither digit nor dot: four numbers of one to three digits, at most 255 each. 0 when they are
 * none, and when fewer than VD__SCAN_STEP bytes lie in [start, end); p is one of them. */
static inline size_t vd__scan_ip4(const char *start, const char *p, const char *end)
{
    if (end - start < VD__SCAN_STEP) {
        return 0;
    }
    /* Where fewer bytes are left they are looked at with some in front, whose bits then go. */
    const char *from = end - p >= VD__SCAN_STEP ? p : end - VD__SCAN_STEP;
    __m128i bytes = vd__scan_load(from);
    __m128i is_dot = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('.'));
    unsigned dots = (unsigned)_mm_movemask_epi8(is_dot) >> (p - from);
    unsigned digits = (unsigned)_mm_movemask_epi8(vd__scan_range(bytes, '0', '9')) >> (p - from);
    unsigned n = (unsigned)__builtin_ctz(~(dots | digits));
    unsigned all = (1U << n) - 1;
    dots &= all;
    digits &= all;
    unsigned second = dots & (dots - 1);
    unsigned third = second & (second - 1);
    unsigned three = digits & digits >> 1 & digits >> 2; /* where three digits begin */
    /* Four digits in a row; a dot first, last or behind another: then it is none. */
    unsigned wrong = (three & digits >> 3) | (dots & (dots << 1 | 1)) | (dots << 1 & ~all);
    if (wrong != 0 || third == 0 || (third & (third - 1)) != 0) {
        return 0;
    }
    for (; three != 0; three &= three - 1) {
        const char *number = p + __builtin_ctz(three);
        if (number[0] >= '2' && memcmp(number, "255", 3) > 0) {
            return 0;
        }
    }
    return n;
}

/* True when the n bytes at text are those of name in any case. n is at most VD__SCAN_STEP, which
 * many bytes can be read at both. name holds letters, digits and hyphens: a byte of it is a letter
 * when its bit 0x40 is set, and then bit 0x20 is the case. */
static inline bool vd__scan_is_name(const char *text, const char *name, size_t n)
{
    __m128i wanted = vd__scan_load(name);
    __m128i differ = _mm_xor_si128(vd__scan_load(text), wanted);
    __m128i cases = _mm_and_si128(_mm_srli_epi16(wanted, 1), _mm_set1_epi8(0x20));
    __m128i equal = _mm_cmpeq_epi8(_mm_andnot_si128(cases, differ), _mm_setzero_si128());
    unsigned mask = (1U << n) - 1;
    return ((unsigned)_mm_movemask_epi8(equal) & mask) == mask;
}

/* Looks at the start of a header line, [p, end): *colon is the first colon, NULL when it is not
 * among the first sixteen bytes. Returns the first control character, as vd__scan_control does. */
static inline const char *vd__scan_header(const char *p, const char *end, const char **colon)
{
    *colon = NULL;
    if (end - p < VD__SCAN_STEP) {
        return vd__scan_control_plain(p, end);
    }
    __m128i bytes = vd__scan_load(p);
    unsigned colons = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(':')));
    if (colons != 0) {
        *colon = p + __builtin_ctz(colons);
    }
    const char *found = vd__scan_past_tabs(p, vd__scan_low_mask(bytes));
    if (found != NULL) {
        return found;
    }
    return vd__scan_control(p + VD__SCAN_STEP, end);
}

#else

static inline const char *vd__scan_control(const char *p, const char *end)
{
    return vd__scan_control_plain(p, end);
}

static inline const char *vd__scan_space(const char *p, const char *end)
{
    return vd__scan_space_plain(p, end);
}

static inline const char *vd__scan_alphanumeric(const char *p, const char *end)
{
    while (p < end && ((*p >= '0' && *p <= '9') || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z'))) {
        p++;
    }
    return p;
}

/* The caller has a way of its own for what this leaves to it, which is all. */
static inline size_t vd__scan_ip4(const char *start, const char *p, const char *end)
{
    (void)start;
    (void)p;
    (void)end;
    return 0;
}

static inline bool vd__scan_is_name(const char *text, const char *name, size_t n)
{
    return vd_str_case_equal(vd_str(text, n), vd_str(name, n));
}

static inline const char *vd__scan_header(const char *p, const char *end, const char **colon)
{
    *colon = NULL;
    return vd__scan_control_plain(p, end);
}

#endif

#endif
