/* host.c - host and port.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"
#include "scan.h"

static const char host_rule[] =
    "a host is a name, an IPv4 address or an IPv6 reference in brackets "
    "(RFC 3261 25.1)";

int vd__host_addr(struct vd_str host, struct vd_addr *out)
{
    if (vd_addr_parse(host, 0, out) == 0) {
        return 0;
    }

    /* RFC 5118 4.10: the grammar of RFC 3261 has "::" and then ":" in front of an IPv4 address. */
    char text[48];
    size_t n = 0;
    bool shortened = false;
    if (host.n > sizeof text) {
        return VD_ERR_SYNTAX;
    }
    for (size_t i = 0; i < host.n; i++) {
        if (!shortened && i >= 2 && host.p[i] == ':' && host.p[i - 1] == ':' &&
            host.p[i - 2] == ':') {
            shortened = true;
        } else {
            text[n++] = host.p[i];
        }
    }
    return shortened ? vd_addr_parse(vd_str(text, n), 0, out) : VD_ERR_SYNTAX;
}

/* "[2001:db8::1]" */
static const char *read_reference(struct vd__source *source, const char *p, struct vd_str *host)
{
    const char *bracket = p;
    struct vd_addr addr;
    p = vd__skip(p + 1, source->end, VD__REFERENCE);
    if (p == source->end || *p != ']') {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "an IPv6 reference ends with a bracket (RFC 3261 25.1)");
    }
    *host = vd__view(bracket + 1, p);
    if (vd__host_addr(*host, &addr) != 0 || addr.family != VD_FAMILY_IP6) {
        return vd__reject(source, VD_ERR_SYNTAX, bracket,
                          "an IPv6 address stands in the brackets (RFC 3261 25.1)");
    }
    return p + 1;
}

/* One to three digits, at most 255; NULL when it is something else. */
static inline const char *skip_octet(const char *p, const char *end)
{
    unsigned digit;
    if (p == end || (digit = vd__digit(*p)) > 9) {
        return NULL;
    }
    unsigned number = digit;
    if (++p == end || (digit = vd__digit(*p)) > 9) {
        return p;
    }
    number = number * 10 + digit;
    if (++p == end || (digit = vd__digit(*p)) > 9) {
        return p;
    }
    return number * 10 + digit <= 255 ? p + 1 : NULL;
}

/* Four octets with dots between and no host character behind them; NULL when it is something else,
 * which is no fault yet. */
static const char *skip_ip4_slow(const char *p, const char *end)
{
    for (int dots = 0;; dots++) {
        p = skip_octet(p, end);
        if (p == NULL || dots == 3) {
            break;
        }
        if (p == end || *p++ != '.') {
            return NULL;
        }
    }
    return p != NULL && p < end && vd__is(*p, VD__HOST) ? NULL : p;
}

/* The same, faster when the text that p stands in, which begins at start, is long enough. */
static inline const char *skip_ip4(const char *start, const char *p, const char *end)
{
    size_t n = vd__scan_ip4(start, p, end);
    if (n == 0) {
        return skip_ip4_slow(p, end);
    }
    return p + n < end && vd__is(p[n], VD__HOST) ? NULL : p + n;
}

bool vd__is_ip4(const struct vd__source *source, struct vd_str text)
{
    return text.n != 0 && skip_ip4(source->start, text.p, source->end) == text.p + text.n;
}

/* hostname = *( domainlabel "." ) toplabel [ "." ]; a label neither begins nor ends with "-", and
 * the last one does not begin with a digit. "_" counts as a letter: the grammar does not have it,
 * but networks of containers name hosts with it, and other stacks take it. */
static const char *read_name(struct vd__source *source, const char *p)
{
    const char *end = source->end;
    for (;;) {
        const char *label = p;
        for (;;) {
            const char *run = p;
            p = vd__skip(p, end, VD__LABEL);
            if (p == run) {
                return vd__reject(source, VD_ERR_SYNTAX, p, host_rule);
            }
            if (p == end || *p != '-') {
                break;
            }
            while (p < end && *p == '-') {
                p++;
            }
        }
        bool dot = p < end && *p == '.';
        if (dot && end - p > 1 && vd__is(p[1], VD__HOST)) {
            p++;
            continue;
        }
        if (vd__is(*label, VD__DIGIT)) {
            return vd__reject(source, VD_ERR_SYNTAX, label, host_rule);
        }
        return dot ? p + 1 : p;
    }
}

/* A host that is no IPv4 address. Apart, so that an address, which most hosts are, needs less. */
__attribute__((noinline)) static const char *
read_name_or_reference(struct vd__source *source, const char *p, struct vd_str *host, uint8_t *kind)
{
    if (p == source->end) {
        return vd__reject(source, VD_ERR_SYNTAX, p, host_rule);
    }
    if (*p == '[') {
        *kind = VD_HOST_IP6;
        return read_reference(source, p, host);
    }
    const char *last = read_name(source, p);
    if (last != NULL) {
        *kind = VD_HOST_NAME;
        *host = vd__view(p, last);
    }
    return last;
}

const char *vd__read_host(struct vd__source *source, const char *p, struct vd_str *host,
                          uint8_t *kind)
{
    const char *last = NULL;
    if (p < source->end && vd__digit(*p) <= 9) {
        last = skip_ip4(source->start, p, source->end);
    }
    if (last == NULL) {
        return read_name_or_reference(source, p, host, kind);
    }
    *kind = VD_HOST_IP4;
    *host = vd__view(p, last);
    return last;
}

/* The rest of a number at p, of which five digits have been read: zeros may stand in front. */
static const char *read_long_port(const char *p, const char *end, unsigned *number)
{
    unsigned digit;
    for (; p < end && (digit = vd__digit(*p)) <= 9; p++) {
        if (*number <= UINT16_MAX) { /* else it is too large already */
            *number = *number * 10 + digit;
        }
    }
    return p;
}

const char *vd__read_port(struct vd__source *source, const char *p, uint16_t *port)
{
    const char *first = p;
    const char *end = source->end - p > 5 ? p + 5 : source->end;
    unsigned number = 0;
    unsigned digit;
    for (; p < end && (digit = vd__digit(*p)) <= 9; p++) {
        number = number * 10 + digit;
    }
    if (p == first) {
        return vd__reject(source, VD_ERR_SYNTAX, p, "a port is one digit or more (RFC 3261 25.1)");
    }
    if (p == end) {
        p = read_long_port(p, source->end, &number);
    }
    if (number == 0 || number > UINT16_MAX) {
        return vd__reject(source, VD_ERR_RANGE, first, "a port is 1 to 65535 (RFC 3261 25.1)");
    }
    *port = (uint16_t)number;
    return p;
}
