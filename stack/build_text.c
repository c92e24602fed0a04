/* build_text.c - copies text into a message and lets no line end through.
 *
 * SPDX-License-Identifier: MIT
 */
#include "build_text.h"
#include "lex.h"

char *vd__build_grow(struct vd_builder *builder, size_t size)
{
    int error = VD_ERR_SPACE;
    if (size <= SIZE_MAX - builder->length && builder->grow != NULL) {
        error = builder->grow(builder, builder->length + size);
        if (error == 0 && size <= builder->capacity - builder->length) {
            return builder->data + builder->length;
        }
        error = error != 0 ? error : VD_ERR_SPACE;
    }
    vd__build_fail(builder, error);
    return NULL;
}

size_t vd__build_number_size(uint64_t number)
{
    size_t n = 1;
    for (; number >= 1000; number /= 1000) {
        n += 3;
    }
    return n + (number >= 10) + (number >= 100);
}

char *vd__build_put_number(char *p, uint64_t number)
{
    if (number < 10) {
        *p = (char)('0' + number);
        return p + 1;
    }
    size_t n = vd__build_number_size(number);
    for (size_t i = n; i-- > 0; number /= 10) {
        p[i] = (char)('0' + number % 10);
    }
    return p + n;
}

/* True when one of the eight bytes is below 0x0e: NUL, LF and CR are, and little else that a header
 * field holds. */
static bool has_low_byte(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return ((word - ones * 0x0e) & ~word & ones * 0x80) != 0;
}

/* Past a fold, and others that follow it; where it was when there is none. */
static const char *skip_folds(const char *p, const char *end)
{
    while (end - p >= 3 && p[0] == '\r' && p[1] == '\n' && (p[2] == ' ' || p[2] == '\t')) {
        p += 3;
        while (p < end && (*p == ' ' || *p == '\t')) {
            p++;
        }
    }
    return p;
}

/* Copies one byte, or a fold as one space. Returns what is behind it in the text, NULL when it may
 * not be sent. */
static const char *put_one(char **p, const char *from, const char *end)
{
    char c = *from;
    const char *behind = from + 1;
    if (c == '\0' || c == '\n') {
        return NULL;
    }
    if (c == '\r') {
        behind = skip_folds(from, end);
        if (behind == from) {
            return NULL;
        }
        c = ' ';
    }
    *(*p)++ = c;
    return behind;
}

char *vd__build_room_checked(struct vd_builder *builder, struct vd_str text, size_t more)
{
    size_t size = text.n + more;
    if (size > builder->capacity - builder->length && text.n != 0) {
        /* Folds may make it fit. */
        const char *end = text.p + text.n;
        size = more;
        for (const char *p = text.p; p < end; size++) {
            const char *behind = skip_folds(p, end);
            p = behind != p ? behind : p + 1;
        }
    }
    return vd__build_room(builder, size);
}

/* Copies the text as far as it has no low byte, by words; those at its end overlap, so that no byte
 * is left to copy alone. Returns how much of the text that was. */
static size_t put_plain(char *p, const char *from, size_t n)
{
    size_t done = 0;
    if (n >= 8) {
        for (; n - done > 8; done += 8) {
            uint64_t word = vd__load_word(from + done, 8);
            if (has_low_byte(word)) {
                return done;
            }
            memcpy(p + done, &word, 8);
        }
        uint64_t last = vd__load_word(from + n - 8, 8);
        if (has_low_byte(last)) {
            return done;
        }
        memcpy(p + n - 8, &last, 8);
        return n;
    }
    if (n < 4 || has_low_byte(vd__load_word(from, n))) {
        return 0;
    }
    uint64_t last = vd__load_word(from + n - 4, 4);
    uint64_t first = vd__load_word(from, 4);
    memcpy(p, &first, 4);
    memcpy(p + n - 4, &last, 4);
    return n;
}

char *vd__build_put_checked(char *p, struct vd_str text)
{
    if (text.n == 0) {
        return p;
    }
    size_t plain = put_plain(p, text.p, text.n);
    const char *from = text.p + plain;
    const char *end = text.p + text.n;
    p += plain;
    while (from < end) {
        from = put_one(&p, from, end);
        if (from == NULL) {
            return NULL;
        }
    }
    return p;
}

size_t vd__build_quoted_size(struct vd_str text)
{
    size_t n = text.n + 2;
    for (size_t i = 0; i < text.n; i++) {
        n += (unsigned char)text.p[i] < 0x80 && !vd__is(text.p[i], VD__QDTEXT);
    }
    return n;
}

char *vd__build_put_quoted(char *p, struct vd_str text)
{
    const char *from = text.n != 0 ? text.p : "";
    const char *end = from + text.n;
    *p++ = '"';
    while (from < end) {
        char c = *from;
        size_t length = 1;
        if ((unsigned char)c >= 0x80) {
            length = vd__utf8_length(from, end);
            if (length == 0) {
                return NULL;
            }
        } else if (!vd__is(c, VD__QDTEXT)) {
            if (c == '\0' || c == '\r' || c == '\n') {
                return NULL;
            }
            *p++ = '\\';
        }
        memcpy(p, from, length);
        p += length;
        from += length;
    }
    *p++ = '"';
    return p;
}
