/* uri_equal.c - compares URIs: RFC 3261 19.1.4, RFC 5954 3.2 (IP addresses in different spellings),
 * RFC 3966 4 (tel).
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"
#include "uri_read.h"

/* One character of a part of a URI. An escape equals the character that it stands for, unless that
 * is of the set reserved by RFC 2396: then only another escape equals it. */
#define ESCAPED 0x100

static int next_character(struct vd_str text, size_t *position)
{
    int c = (unsigned char)text.p[*position];
    *position += 1;
    if (c != '%') {
        return c;
    }
    const char *hex = text.p + *position;
    *position += 2;
    c = (int)(vd__hex_value(hex[0]) << 4 | vd__hex_value(hex[1]));
    return c != 0 && strchr(";/?:@&=+$,", c) != NULL ? c | ESCAPED : c;
}

static int fold_case(int c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static bool same_text(struct vd_str a, struct vd_str b, bool any_case)
{
    size_t i = 0;
    size_t j = 0;
    while (i < a.n && j < b.n) {
        int x = next_character(a, &i);
        int y = next_character(b, &j);
        if (any_case ? fold_case(x) != fold_case(y) : x != y) {
            return false;
        }
    }
    return i == a.n && j == b.n;
}

static bool find(const struct vd_params *params, struct vd_str name, struct vd_param *out)
{
    size_t position = 0;
    while (vd_params_next(params, &position, out)) {
        if (same_text(out->name, name, true)) {
            return true;
        }
    }
    return false;
}

/* True when a parameter that stands in one URI only makes the two different (RFC 3261 19.1.4). The
 * rules at the end of the section leave transport out, its text and its examples do not. */
static bool counts_alone(struct vd_str name)
{
    return same_text(name, VD_STR("transport"), true) || same_text(name, VD_STR("user"), true) ||
           same_text(name, VD_STR("ttl"), true) || same_text(name, VD_STR("method"), true) ||
           same_text(name, VD_STR("maddr"), true);
}

/* True when each parameter of a that stands in b as well has the same value there, and each that
 * does not may be absent. */
static bool params_agree(const struct vd_params *a, const struct vd_params *b)
{
    struct vd_param mine;
    struct vd_param other;
    size_t position = 0;
    while (vd_params_next(a, &position, &mine)) {
        if (find(b, mine.name, &other)) {
            if (!same_text(mine.value, other.value, true)) {
                return false;
            }
        } else if (counts_alone(mine.name)) {
            return false;
        }
    }
    return true;
}

/* Values of header fields are compared without case but for those that their section says keep it:
 * Call-ID (RFC 3261 20.8), and the body, which is no header field (19.1.1). */
static bool same_header(const struct vd_param *a, const struct vd_param *b)
{
    if (!same_text(a->name, b->name, true)) {
        return false;
    }
    bool exact = same_text(a->name, VD_STR("call-id"), true) ||
                 same_text(a->name, VD_STR("i"), true) || same_text(a->name, VD_STR("body"), true);
    return same_text(a->value, b->value, !exact);
}

/* The same headers in any order; one may stand several times. */
static bool headers_equal(const struct vd_params *a, const struct vd_params *b)
{
    uint64_t used = 0; /* a bit for each header of b that has its match */
    struct vd_param mine;
    struct vd_param other;
    size_t i = 0;
    if (a->count != b->count) {
        return false;
    }
    while (vd_params_next(a, &i, &mine)) {
        uint64_t bit = 1;
        bool found = false;
        for (size_t j = 0; !found && vd_params_next(b, &j, &other); bit <<= 1) {
            found = (used & bit) == 0 && same_header(&mine, &other);
            if (found) {
                used |= bit;
            }
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static bool hosts_equal(const struct vd_uri *a, const struct vd_uri *b)
{
    struct vd_addr x;
    struct vd_addr y;
    if (a->host_kind != b->host_kind) {
        return false;
    }
    if (a->host_kind == VD_HOST_NAME) {
        return vd_str_case_equal(a->host, b->host);
    }
    return vd__host_addr(a->host, &x) == 0 && vd__host_addr(b->host, &y) == 0 &&
           vd_addr_equal(&x, &y);
}

static bool sip_equal(const struct vd_uri *a, const struct vd_uri *b)
{
    return a->has_user == b->has_user && a->has_password == b->has_password && a->port == b->port &&
           same_text(a->user, b->user, false) && same_text(a->password, b->password, false) &&
           hosts_equal(a, b) && params_agree(&a->params, &b->params) &&
           params_agree(&b->params, &a->params) && headers_equal(&a->headers, &b->headers);
}

/* The next character of a telephone number that is no visual separator; -1 at the end. */
static int next_digit(struct vd_str text, size_t *position)
{
    while (*position < text.n) {
        char c = text.p[(*position)++];
        if (c != '-' && c != '.' && c != '(' && c != ')') {
            return vd__lower(c);
        }
    }
    return -1;
}

static bool same_number(struct vd_str a, struct vd_str b)
{
    size_t i = 0;
    size_t j = 0;
    int digit;
    do {
        digit = next_digit(a, &i);
        if (digit != next_digit(b, &j)) {
            return false;
        }
    } while (digit >= 0);
    return true;
}

/* Each parameter of a stands in b with the same value. Of ext and of a phone-context that is a
 * number the digits count. */
static bool tel_params_in(const struct vd_params *a, const struct vd_params *b)
{
    struct vd_param mine;
    struct vd_param other;
    size_t position = 0;
    while (vd_params_next(a, &position, &mine)) {
        if (!find(b, mine.name, &other)) {
            return false;
        }
        bool number = vd_str_case_equal(mine.name, VD_STR("ext")) ||
                      (vd_str_case_equal(mine.name, VD_STR("phone-context")) && mine.value.n != 0 &&
                       mine.value.p[0] == '+');
        if (number ? !same_number(mine.value, other.value)
                   : !same_text(mine.value, other.value, true)) {
            return false;
        }
    }
    return true;
}

static bool tel_equal(const struct vd_uri *a, const struct vd_uri *b)
{
    return same_number(a->user, b->user) && tel_params_in(&a->params, &b->params) &&
           tel_params_in(&b->params, &a->params);
}

bool vd_uri_equal(const struct vd_uri *a, const struct vd_uri *b)
{
    if (a->scheme != b->scheme) {
        return false;
    }
    switch (a->scheme) {
    case VD_URI_SIP:
    case VD_URI_SIPS:
        return sip_equal(a, b);
    case VD_URI_TEL:
        return tel_equal(a, b);
    default:
        return vd_str_case_equal(a->scheme_name, b->scheme_name) &&
               vd_str_equal(a->opaque, b->opaque);
    }
}
