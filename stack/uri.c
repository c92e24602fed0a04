/* uri.c - reads URIs: RFC 3261 25.1 (sip, sips, and the characters of all others), RFC 3966 (tel).
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"
#include "uri_read.h"

/* Past characters of the classes and %HH escapes. */
static const char *skip_escaped(struct vd__source *source, const char *p, unsigned classes)
{
    const char *end = source->end;
    for (;;) {
        p = vd__skip(p, end, classes);
        if (p == end || *p != '%') {
            return p;
        }
        if (end - p < 3 || !vd__is(p[1], VD__HEX) || !vd__is(p[2], VD__HEX)) {
            return vd__reject(source, VD_ERR_SYNTAX, p,
                              "an escape is a percent sign and two hex digits (RFC 3261 25.1)");
        }
        p += 3;
    }
}

/* Compares two names but for case, each escape standing for its character. */
static bool same_name(struct vd_str a, struct vd_str b)
{
    size_t i = 0;
    size_t j = 0;
    while (i < a.n && j < b.n) {
        char x = a.p[i];
        char y = b.p[j];
        i += 1;
        j += 1;
        if (x == '%') {
            x = (char)(vd__hex_value(a.p[i]) << 4 | vd__hex_value(a.p[i + 1]));
            i += 2;
        }
        if (y == '%') {
            y = (char)(vd__hex_value(b.p[j]) << 4 | vd__hex_value(b.p[j + 1]));
            j += 2;
        }
        if (x != y && vd__lower(x) != vd__lower(y)) {
            return false;
        }
    }
    return i == a.n && j == b.n;
}

/* *( ";" pname [ "=" pvalue ] ); p is at the first semicolon. */
static const char *read_params(struct vd__source *source, const char *p, struct vd_params *out)
{
    struct vd_str names[VD__URI_PARAMS_MAX];
    const char *first = p;
    unsigned count = 0;
    while (p < source->end && *p == ';') {
        const char *name = ++p;
        p = skip_escaped(source, p, VD__PARAM);
        if (p == NULL) {
            return NULL;
        }
        if (p == name) {
            return vd__reject(source, VD_ERR_SYNTAX, p,
                              "a URI parameter has a name (RFC 3261 25.1)");
        }
        if (count == VD__URI_PARAMS_MAX) {
            return vd__reject(source, VD_ERR_TOO_MANY, name, "too many URI parameters");
        }
        names[count] = vd__view(name, p);
        for (unsigned i = 0; i < count; i++) {
            if (same_name(names[i], names[count])) {
                return vd__reject(source, VD_ERR_SYNTAX, name,
                                  "a URI parameter stands once (RFC 3261 19.1.1)");
            }
        }
        count++;
        if (p < source->end && *p == '=') {
            p = skip_escaped(source, p + 1, VD__PARAM);
            if (p == NULL) {
                return NULL;
            }
        }
    }
    out->raw = vd__view(first, p);
    out->count = (uint16_t)count;
    return p;
}

/* "?" hname "=" hvalue *( "&" hname "=" hvalue ); p is at the question mark. */
static const char *read_headers(struct vd__source *source, const char *p, struct vd_params *out)
{
    const char *first = p;
    unsigned count = 0;
    do {
        const char *name = ++p;
        p = skip_escaped(source, p, VD__HNV);
        if (p == NULL) {
            return NULL;
        }
        if (p == name || p == source->end || *p != '=') {
            return vd__reject(source, VD_ERR_SYNTAX, p,
                              "a URI header is a name, = and a value (RFC 3261 25.1)");
        }
        p = skip_escaped(source, p + 1, VD__HNV);
        if (p == NULL) {
            return NULL;
        }
        if (++count > VD__URI_PARAMS_MAX) {
            return vd__reject(source, VD_ERR_TOO_MANY, name, "too many URI headers");
        }
    } while (p < source->end && *p == '&');
    out->raw = vd__view(first, p);
    out->count = (uint16_t)count;
    return p;
}

/* userinfo = user [ ":" password ] "@". Most users hold only characters that a host may hold too,
 * so the search for "@" has mostly ended before this is called: p is the user's start and at the
 * "@", or NULL when it is not known where that is. */
static const char *read_userinfo(struct vd__source *source, const char *p, const char *at,
                                 struct vd_uri *out)
{
    const char *user = p;
    p = at != NULL ? at : skip_escaped(source, p, VD__USER);
    if (p == NULL) {
        return NULL;
    }
    if (p == user) {
        return vd__reject(source, VD_ERR_SYNTAX, p, "a user has a character (RFC 3261 25.1)");
    }
    out->user = vd__view(user, p);
    out->has_user = true;
    if (p < source->end && *p == ':') {
        const char *password = ++p;
        p = skip_escaped(source, p, VD__PASSWORD);
        if (p == NULL) {
            return NULL;
        }
        out->password = vd__view(password, p);
        out->has_password = true;
    }
    if (p == source->end || *p != '@') {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "this character may not stand in user or password (RFC 3261 25.1)");
    }
    return p + 1;
}

/* True when an "@" comes before a character that no URI holds. Nothing behind the user may hold
 * one, so it ends the user wherever it is. */
static bool has_at(const char *p, const char *end)
{
    p = vd__skip(p, end, VD__NO_AT);
    return p < end && *p == '@';
}

/* What is behind "sip:" or "sips:". */
static const char *read_sip(struct vd__source *source, const char *p, struct vd_uri *out)
{
    const char *end = source->end;
    const char *at = vd__skip(p, end, VD__HOST);
    bool found = at < end && *at == '@';
    if (found || has_at(at, end)) {
        p = read_userinfo(source, p, found ? at : NULL, out);
        if (p == NULL) {
            return NULL;
        }
    }
    p = vd__read_host(source, p, &out->host, &out->host_kind);
    if (p != NULL && p < end && *p == ':') {
        p = vd__read_port(source, p + 1, &out->port);
    }
    if (p != NULL && p < end && *p == ';') {
        p = read_params(source, p, &out->params);
    }
    if (p != NULL && p < end && *p == '?') {
        p = read_headers(source, p, &out->headers);
    }
    return p;
}

static bool is_visual_separator(char c)
{
    return c == '-' || c == '.' || c == '(' || c == ')';
}

/* What is behind "tel:". A local number ought to have a phone-context (RFC 3966 5.1.5); one without
 * is taken all the same, as emergency numbers come that way. */
static const char *read_tel(struct vd__source *source, const char *p, struct vd_uri *out)
{
    const char *end = source->end;
    const char *number = p;
    bool global = p < end && *p == '+';
    unsigned digits = 0;
    for (p += global ? 1 : 0; p < end; p++) {
        if (vd__is(*p, global ? VD__DIGIT : VD__HEX) || (!global && (*p == '*' || *p == '#'))) {
            digits++;
        } else if (!is_visual_separator(*p)) {
            break;
        }
    }
    if (digits == 0) {
        return vd__reject(source, VD_ERR_SYNTAX, p, "a telephone number has a digit (RFC 3966 3)");
    }
    out->user = vd__view(number, p);
    out->has_user = true;
    if (p < end && *p == ';') {
        p = read_params(source, p, &out->params);
    }
    return p;
}

static const char *read_opaque(struct vd__source *source, const char *p, struct vd_uri *out)
{
    const char *first = p;
    p = vd__skip(p, source->end, VD__URI);
    if (p == first) {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "something follows the scheme of a URI (RFC 3261 25.1)");
    }
    out->opaque = vd__view(first, p);
    return p;
}

/* scheme ":"; nearly always "sip:". */
static const char *read_scheme(struct vd__source *source, const char *p, struct vd_uri *out)
{
    const char *first = p;
    if (source->end - p >= 4 && vd__is_word(p, "sip:", 4)) {
        out->scheme_name = vd_str(p, 3);
        out->scheme = VD_URI_SIP;
        return p + 4;
    }
    if (p < source->end && vd__is(*p, VD__ALPHA)) {
        p = vd__skip(p, source->end, VD__SCHEME);
    }
    if (p == first || p == source->end || *p != ':') {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "a URI begins with a scheme and a colon (RFC 3261 25.1)");
    }
    size_t n = (size_t)(p - first);
    out->scheme_name = vd_str(first, n);
    if (n == 3 && vd__is_word(first, "sip", 3)) {
        out->scheme = VD_URI_SIP;
    } else if (n == 4 && vd__is_word(first, "sips", 4)) {
        out->scheme = VD_URI_SIPS;
    } else if (n == 3 && vd__is_word(first, "tel", 3)) {
        out->scheme = VD_URI_TEL;
    } else {
        out->scheme = VD_URI_OTHER;
    }
    return p + 1;
}

const char *vd__read_uri(struct vd__source *source, const char *p, struct vd_uri *out)
{
    const char *first = p;
    p = read_scheme(source, p, out);
    if (p == NULL) {
        return NULL;
    }
    out->params.separator = ';';
    out->headers.separator = '&';
    if (out->scheme == VD_URI_SIP || out->scheme == VD_URI_SIPS) {
        p = read_sip(source, p, out);
    } else if (out->scheme == VD_URI_TEL) {
        p = read_tel(source, p, out);
    } else {
        p = read_opaque(source, p, out);
    }
    if (p != NULL) {
        out->raw = vd__view(first, p);
    }
    return p;
}

int vd_uri_parse(struct vd_str text, struct vd_uri *out, struct vd_fault *fault)
{
    struct vd__source source = vd__source(text, fault);
    vd__clear(out, sizeof *out);
    const char *p = vd__read_uri(&source, source.start, out);
    if (p == NULL) {
        return source.error;
    }
    if (p != source.end) {
        return vd__fail(fault, VD_ERR_SYNTAX, (size_t)(p - source.start),
                        "this character may not stand here in a URI (RFC 3261 25.1)");
    }
    return 0;
}

bool vd_uri_is_loose_router(const struct vd_uri *uri)
{
    return vd_params_get(&uri->params, VD_STR("lr"), NULL) == 0;
}
