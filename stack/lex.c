/* lex.c - the character table of lex.h and the pieces that need not be inlined.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lex.h"

/* Characters that stand in the same classes. ANY is what nearly all that a URI holds have in
 * common, UNRESERVED what all parts of a URI share. */
enum {
    ANY = VD__URI | VD__NO_AT | VD__QDTEXT,
    UNRESERVED = VD__USER | VD__PASSWORD | VD__PARAM | VD__HNV | ANY,
    NAME = VD__TOKEN | VD__WORD | VD__HOST | VD__SCHEME | UNRESERVED,
    LETTER = VD__ALPHA | VD__LABEL | NAME,
    HEX_LETTER = VD__HEX | VD__REFERENCE | LETTER,
    DECIMAL = VD__DIGIT | VD__HEX | VD__REFERENCE | VD__LABEL | NAME,
    MARK = VD__TOKEN | VD__WORD | UNRESERVED, /* a mark that a token may hold too */
    PARENTHESIS = VD__WORD | UNRESERVED,
    BRACKET = VD__WORD | VD__PARAM | VD__HNV | ANY,
    LIST = VD__USER | VD__PASSWORD | ANY
};

const uint32_t vd__character[256] = {
    ['\t'] = VD__LWS | VD__QDTEXT,
    [' '] = VD__LWS | VD__QDTEXT,
    ['\r'] = VD__LWS,
    ['0'] = DECIMAL,
    ['1'] = DECIMAL,
    ['2'] = DECIMAL,
    ['3'] = DECIMAL,
    ['4'] = DECIMAL,
    ['5'] = DECIMAL,
    ['6'] = DECIMAL,
    ['7'] = DECIMAL,
    ['8'] = DECIMAL,
    ['9'] = DECIMAL,
    ['A'] = HEX_LETTER,
    ['B'] = HEX_LETTER,
    ['C'] = HEX_LETTER,
    ['D'] = HEX_LETTER,
    ['E'] = HEX_LETTER,
    ['F'] = HEX_LETTER,
    ['a'] = HEX_LETTER,
    ['b'] = HEX_LETTER,
    ['c'] = HEX_LETTER,
    ['d'] = HEX_LETTER,
    ['e'] = HEX_LETTER,
    ['f'] = HEX_LETTER,
    ['G'] = LETTER,
    ['H'] = LETTER,
    ['I'] = LETTER,
    ['J'] = LETTER,
    ['K'] = LETTER,
    ['L'] = LETTER,
    ['M'] = LETTER,
    ['N'] = LETTER,
    ['O'] = LETTER,
    ['P'] = LETTER,
    ['Q'] = LETTER,
    ['R'] = LETTER,
    ['S'] = LETTER,
    ['T'] = LETTER,
    ['U'] = LETTER,
    ['V'] = LETTER,
    ['W'] = LETTER,
    ['X'] = LETTER,
    ['Y'] = LETTER,
    ['Z'] = LETTER,
    ['g'] = LETTER,
    ['h'] = LETTER,
    ['i'] = LETTER,
    ['j'] = LETTER,
    ['k'] = LETTER,
    ['l'] = LETTER,
    ['m'] = LETTER,
    ['n'] = LETTER,
    ['o'] = LETTER,
    ['p'] = LETTER,
    ['q'] = LETTER,
    ['r'] = LETTER,
    ['s'] = LETTER,
    ['t'] = LETTER,
    ['u'] = LETTER,
    ['v'] = LETTER,
    ['w'] = LETTER,
    ['x'] = LETTER,
    ['y'] = LETTER,
    ['z'] = LETTER,
    ['-'] = NAME,
    ['.'] = NAME | VD__REFERENCE,
    ['!'] = MARK,
    ['\''] = MARK,
    ['*'] = MARK,
    ['_'] = MARK | VD__HOST | VD__LABEL,
    ['~'] = MARK,
    ['('] = PARENTHESIS,
    [')'] = PARENTHESIS,
    ['+'] = MARK | VD__SCHEME,
    ['%'] = VD__TOKEN | VD__WORD | ANY,
    ['`'] = VD__TOKEN | VD__WORD | VD__QDTEXT,
    ['$'] = UNRESERVED,
    ['&'] = VD__USER | VD__PASSWORD | VD__PARAM | ANY,
    [','] = LIST,
    ['='] = LIST,
    [';'] = VD__USER | ANY,
    ['/'] = VD__WORD | VD__USER | VD__PARAM | VD__HNV | ANY,
    ['?'] = VD__WORD | VD__USER | VD__HNV | ANY,
    [':'] = VD__WORD | VD__REFERENCE | VD__PARAM | VD__HNV | ANY,
    ['@'] = VD__URI | VD__QDTEXT,
    ['['] = BRACKET,
    [']'] = BRACKET,
    ['<'] = VD__WORD | VD__QDTEXT,
    ['>'] = VD__WORD | VD__QDTEXT,
    ['{'] = VD__WORD | VD__QDTEXT,
    ['}'] = VD__WORD | VD__QDTEXT,
    ['#'] = VD__QDTEXT,
    ['^'] = VD__QDTEXT,
    ['|'] = VD__QDTEXT,
    ['"'] = VD__WORD,
    ['\\'] = VD__WORD,
};

void vd__note(struct vd__source *source, int error, const char *at, const char *rule)
{
    source->error = vd__fail(source->fault, error, (size_t)(at - source->start), rule);
}

/* True when a fold starts at p. */
static bool at_fold(const char *p, const char *end)
{
    return end - p >= 3 && p[0] == '\r' && p[1] == '\n' && (p[2] == ' ' || p[2] == '\t');
}

const char *vd__skip_lws_slow(const char *p, const char *end)
{
    while (p < end) {
        if (*p == ' ' || *p == '\t') {
            p++;
        } else if (at_fold(p, end)) {
            p += 3;
        } else {
            break;
        }
    }
    return p;
}

size_t vd__utf8_length(const char *p, const char *end)
{
    unsigned char lead = (unsigned char)*p;
    size_t length;
    if (lead < 0xc0 || lead > 0xfd) {
        return 0;
    }
    if (lead < 0xe0) {
        length = 2;
    } else if (lead < 0xf0) {
        length = 3;
    } else if (lead < 0xf8) {
        length = 4;
    } else {
        length = lead < 0xfc ? 5 : 6;
    }
    if ((size_t)(end - p) < length) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

/* One element of a quoted-string or a comment that is no plain character: a quoted-pair, a fold or
 * a UTF-8 character. */
static const char *read_element(struct vd__source *source, const char *p)
{
    const char *end = source->end;
    if (*p == '\\') {
        if (end - p < 2) {
            return vd__reject(source, VD_ERR_SYNTAX, p,
                              "a quoted-pair is two characters (RFC 3261 25.1)");
        }
        if (p[1] == '\r' || p[1] == '\n' || (unsigned char)p[1] >= 0x80) {
            return vd__reject(source, VD_ERR_SYNTAX, p,
                              "a quoted-pair escapes no CR, LF or UTF-8 character (RFC 3261 25.1)");
        }
        return p + 2;
    }
    if (at_fold(p, end)) {
        return p + 3;
    }
    size_t length = vd__utf8_length(p, end);
    if (length == 0) {
        return vd__reject(
            source, VD_ERR_SYNTAX, p,
            "no control character, and UTF-8, in quotes or a comment (RFC 3261 25.1)");
    }
    return p + length;
}

const char *vd__read_quoted(struct vd__source *source, const char *p)
{
    const char *quote = p;
    const char *end = source->end;
    for (p++;;) {
        p = vd__skip(p, end, VD__QDTEXT);
        if (p == end) {
            return vd__reject(source, VD_ERR_SYNTAX, quote,
                              "a quoted-string has an end (RFC 3261 25.1)");
        }
        if (*p == '"') {
            return p + 1;
        }
        p = read_element(source, p);
        if (p == NULL) {
            return NULL;
        }
    }
}

const char *vd__read_comment(struct vd__source *source, const char *p)
{
    const char *open = p;
    const char *end = source->end;
    size_t depth = 0;
    while (p < end) {
        if (*p == '(') {
            depth++;
            p++;
        } else if (*p == ')') {
            p++;
            if (--depth == 0) {
                return p;
            }
        } else if (*p == '"' || vd__is(*p, VD__QDTEXT)) {
            p++;
        } else {
            p = read_element(source, p);
            if (p == NULL) {
                return NULL;
            }
        }
    }
    return vd__reject(source, VD_ERR_SYNTAX, open, "a comment has an end (RFC 3261 25.1)");
}

const char *vd__read_number(struct vd__source *source, const char *p, uint64_t limit,
                            uint64_t *value, const char *rule)
{
    const char *first = p;
    uint64_t number = 0;
    bool large = false;
    unsigned digit;
    for (; p < source->end && (digit = vd__digit(*p)) <= 9; p++) {
        if (number >= UINT64_C(1000000000000000000)) {
            large = true; /* one digit more might wrap */
        } else {
            number = number * 10 + digit;
        }
    }
    large = large || number > limit;
    if (p == first) {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "a number is one digit or more (RFC 3261 25.1)");
    }
    *value = large ? limit : number;
    return large ? vd__reject(source, VD_ERR_RANGE, first, rule) : p;
}

bool vd__is_qvalue(struct vd_str text)
{
    if (text.n == 0 || text.n > 5 || (text.p[0] != '0' && text.p[0] != '1')) {
        return false;
    }
    if (text.n > 1 && text.p[1] != '.') {
        return false;
    }
    for (size_t i = 2; i < text.n; i++) {
        if (!vd__is(text.p[i], VD__DIGIT) || (text.p[0] == '1' && text.p[i] != '0')) {
            return false;
        }
    }
    return true;
}
