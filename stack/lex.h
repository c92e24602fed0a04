/* lex.h - the characters of RFC 3261 25.1 and the small pieces that every value is made of.
 *
 * A reading function takes where it stands and the end, never looks at end or past it, and returns
 * where it stopped. Those that can find a fault take a struct vd__source and return NULL after they
 * noted it there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_LEX_H
#define VIADUCT_STACK_LEX_H

#include <viaduct/base.h>
#include <viaduct/error.h>

/* What a character may stand in. One table has a bit for each; a test may ask for several bits and
 * is true when the character has one of them. Bytes from 0x80 on have no bit. The percent sign has
 * no bit in the classes of URI parts, where it starts an escape. */
enum {
    VD__DIGIT = 1 << 0,
    VD__ALPHA = 1 << 1,
    VD__HEX = 1 << 2,
    VD__TOKEN = 1 << 3,
    VD__WORD = 1 << 4,
    VD__LWS = 1 << 5,       /* SP, HTAB, and the CR that starts a fold */
    VD__HOST = 1 << 6,      /* what a label holds, "-" and "." */
    VD__REFERENCE = 1 << 7, /* hex digits, ":" and ".": inside the brackets of an IPv6 reference */
    VD__SCHEME = 1 << 8,
    VD__USER = 1 << 9,      /* unreserved and user-unreserved */
    VD__PASSWORD = 1 << 10, /* unreserved and what password adds */
    VD__PARAM = 1 << 11,    /* unreserved and param-unreserved */
    VD__HNV = 1 << 12,      /* unreserved and hnv-unreserved: names and values of URI headers */
    VD__URI = 1 << 13,      /* uric of RFC 2396, with the percent sign and, RFC 2732, brackets */
    VD__QDTEXT = 1 << 14,   /* qdtext of one byte */
    VD__LABEL = 1 << 15,    /* a letter, a digit or "_", within a label of a host name */
    VD__NO_AT = 1 << 16     /* what VD__URI has, but for "@" */
};

extern const uint32_t vd__character[256];

/* The value of a decimal digit, or more than 9. */
static inline unsigned vd__digit(char c)
{
    return (unsigned)(unsigned char)c - '0';
}

static inline bool vd__is(char c, unsigned classes)
{
    return (vd__character[(unsigned char)c] & classes) != 0;
}

/* The first character in [p, end) that is in none of the classes; end when there is none. */
static inline const char *vd__skip(const char *p, const char *end, unsigned classes)
{
    for (; end - p >= 4; p += 4) {
        if (!vd__is(p[0], classes)) {
            return p;
        }
        if (!vd__is(p[1], classes)) {
            return p + 1;
        }
        if (!vd__is(p[2], classes)) {
            return p + 2;
        }
        if (!vd__is(p[3], classes)) {
            return p + 3;
        }
    }
    while (p < end && vd__is(*p, classes)) {
        p++;
    }
    return p;
}

/* The rest of vd__skip_lws. */
const char *vd__skip_lws_slow(const char *p, const char *end);

/* Past spaces, tabs and folds (CR LF and a space or tab). A CR that starts no fold stops it. */
static inline const char *vd__skip_lws(const char *p, const char *end)
{
    if (p == end || (unsigned char)*p > ' ') {
        return p;
    }
    if (*p == ' ' && end - p > 1 && (unsigned char)p[1] > ' ') {
        return p + 1;
    }
    return vd__skip_lws_slow(p, end);
}

/* The n bytes at p, 1 to 8, as one number: in two loads that overlap, since writing bytes to a
 * variable and loading it whole would wait for the writes. */
static inline uint64_t vd__load_word(const char *p, size_t n)
{
    if (n == 8) {
        uint64_t whole;
        memcpy(&whole, p, 8);
        return whole;
    }
    if (n >= 4) {
        uint32_t first;
        uint32_t last;
        memcpy(&first, p, 4);
        memcpy(&last, p + n - 4, 4);
        return first | (uint64_t)last << 32;
    }
    if (n >= 2) {
        uint16_t first;
        uint16_t last;
        memcpy(&first, p, 2);
        memcpy(&last, p + n - 2, 2);
        return first | (uint64_t)last << 16;
    }
    return (unsigned char)*p;
}

/* True when the n bytes at p are those of word in any case. n is a constant from 1 to 8. A byte of
 * word is a letter when its bit 0x40 is set, and then bit 0x20 is the case: beside letters word
 * holds characters from 0x20 to 0x3f only (digits, and ". / : ;" among them). */
static inline bool vd__is_word(const char *p, const char *word, size_t n)
{
    uint64_t wanted = vd__load_word(word, n);
    uint64_t cases = (wanted & UINT64_C(0x4040404040404040)) >> 1;
    return ((vd__load_word(p, n) ^ wanted) & ~cases) == 0;
}

/* Sets n bytes to zero; n is a constant. In pieces, since compilers clear a larger structure with
 * an instruction that takes longer than reading a short value. */
static inline void vd__clear(void *p, size_t n)
{
    const size_t piece = 64;
    char *bytes = p;
    size_t whole = n / piece * piece;
    for (size_t i = 0; i < whole; i += piece) {
        memset(bytes + i, 0, piece);
    }
    memset(bytes + whole, 0, n - whole);
}

/* A text that is being read: where offsets count from, where it ends, and the fault found. */
struct vd__source {
    const char *start;
    const char *end;
    struct vd_fault *fault; /* the caller's; may be NULL */
    int error;
};

static inline struct vd__source vd__source(struct vd_str text, struct vd_fault *fault)
{
    const char *start = text.n != 0 ? text.p : "";
    return (struct vd__source){start, start + text.n, fault, 0};
}

/* Notes a fault for the caller and returns its error. */
static inline int vd__fail(struct vd_fault *fault, int error, size_t offset, const char *rule)
{
    if (fault != NULL) {
        fault->error = error;
        fault->offset = offset;
        fault->rule = rule;
    }
    return error;
}

/* Notes a fault at `at` in the source. */
__attribute__((cold)) void vd__note(struct vd__source *source, int error, const char *at,
                                    const char *rule);

/* The same, returning NULL for a reading function to return. */
static inline const char *vd__reject(struct vd__source *source, int error, const char *at,
                                     const char *rule)
{
    vd__note(source, error, at, rule);
    return NULL;
}

/* What a public function returns when reading stopped at p: the bytes read, or the error. */
static inline int vd__consumed(const struct vd__source *source, const char *p)
{
    return p != NULL ? (int)(p - source->start) : source->error;
}

/* The view from first to last. */
static inline struct vd_str vd__view(const char *first, const char *last)
{
    return (struct vd_str){first, (size_t)(last - first)};
}

/* A quoted-string; p is at its opening quote. Returns what is behind the closing one. */
const char *vd__read_quoted(struct vd__source *source, const char *p);

/* A comment, which may hold comments; p is at its opening parenthesis. Returns what is behind the
 * closing one. */
const char *vd__read_comment(struct vd__source *source, const char *p);

/* 1*DIGIT, at most limit, which is below 10^18. *value gets the number, or limit when it is larger
 * (VD_ERR_RANGE). rule is for a number that is too large. */
const char *vd__read_number(struct vd__source *source, const char *p, uint64_t limit,
                            uint64_t *value, const char *rule);

/* A qvalue that fills text: 0 to 1 with at most three decimals. */
bool vd__is_qvalue(struct vd_str text);

/* How many bytes the UTF-8 character at p has (UTF8-NONASCII of RFC 3261 25.1); 0 when it is none.
 */
size_t vd__utf8_length(const char *p, const char *end);

/* The value of a hex digit, which c must be. */
static inline unsigned vd__hex_value(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

/* An ASCII letter in small, anything else as it is. */
static inline char vd__lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

#endif
