/* addr.c - IP addresses as text and back: RFC 3261 25.1, RFC 4291 2.2, RFC 5952.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/addr.h>
#include <viaduct/error.h>

#include "lex.h"

/* Reads four decimal numbers that fill [p, end). */
static bool parse_ip4(const char *p, const char *end, uint8_t *ip)
{
    for (int part = 0; part < 4; part++) {
        if (part > 0 && (p == end || *p++ != '.')) {
            return false;
        }
        const char *first = p;
        unsigned number = 0;
        for (; p < end && p - first < 3 && vd__is(*p, VD__DIGIT); p++) {
            number = number * 10 + (unsigned)(*p - '0');
        }
        if (p == first || number > 255) {
            return false;
        }
        ip[part] = (uint8_t)number;
    }
    return p == end;
}

/* Reads up to four hex digits. Returns what is behind them, NULL when there is none. */
static const char *parse_group(const char *p, const char *end, uint8_t *ip)
{
    const char *first = p;
    unsigned group = 0;
    for (; p < end && p - first < 4 && vd__is(*p, VD__HEX); p++) {
        group = group << 4 | vd__hex_value(*p);
    }
    if (p == first) {
        return NULL;
    }
    ip[0] = (uint8_t)(group >> 8);
    ip[1] = (uint8_t)group;
    return p;
}

/* Reads an IPv6 address that fills [p, end): groups of four hex digits with colons between; "::"
 * once, for one zero group or more; the last two groups perhaps as an IPv4 address. */
static bool parse_ip6(const char *p, const char *end, uint8_t *ip)
{
    uint8_t bytes[16] = {0};
    int n = 0;
    int gap = -1; /* how many bytes stand in front of "::" */
    if (end - p >= 2 && p[0] == ':' && p[1] == ':') {
        gap = 0;
        p += 2;
    }
    while (p < end) {
        if (n <= 12 && parse_ip4(p, end, bytes + n)) {
            n += 4;
            break;
        }
        if (n == 16 || (p = parse_group(p, end, bytes + n)) == NULL) {
            return false;
        }
        n += 2;
        if (p == end) {
            break;
        }
        if (*p++ != ':' || p == end) {
            return false;
        }
        if (*p == ':') {
            if (gap >= 0) {
                return false;
            }
            gap = n;
            p++;
        }
    }
    if (gap < 0 ? n != 16 : n > 14) {
        return false;
    }
    int tail = gap < 0 ? 0 : n - gap;
    memset(ip, 0, 16);
    memcpy(ip, bytes, (size_t)(n - tail));
    memcpy(ip + 16 - tail, bytes + n - tail, (size_t)tail);
    return true;
}

int vd_addr_parse(struct vd_str text, uint16_t port, struct vd_addr *out)
{
    struct vd_addr addr = {.port = port};
    if (text.n == 0) {
        return VD_ERR_SYNTAX;
    }
    const char *p = text.p;
    const char *end = p + text.n;
    bool bracket = *p == '[';
    if (bracket) {
        if (text.n < 2 || end[-1] != ']') {
            return VD_ERR_SYNTAX;
        }
        p++;
        end--;
    }
    if (!bracket && parse_ip4(p, end, addr.ip)) {
        addr.family = VD_FAMILY_IP4;
    } else if (parse_ip6(p, end, addr.ip)) {
        addr.family = VD_FAMILY_IP6;
    } else {
        return VD_ERR_SYNTAX;
    }
    *out = addr;
    return 0;
}

/* Writes a number below 65536 in decimal. */
static char *write_decimal(char *out, unsigned number)
{
    char digits[5];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (n > 0) {
        *out++ = digits[--n];
    }
    return out;
}

static char *write_octet(char *out, unsigned number)
{
    if (number >= 100) {
        *out++ = (char)('0' + number / 100);
    }
    if (number >= 10) {
        *out++ = (char)('0' + number / 10 % 10);
    }
    *out++ = (char)('0' + number % 10);
    return out;
}

static char *write_ip4(char *out, const uint8_t *ip)
{
    for (int i = 0; i < 4; i++) {
        if (i > 0) {
            *out++ = '.';
        }
        out = write_octet(out, ip[i]);
    }
    return out;
}

static char *write_group(char *out, unsigned group)
{
    bool started = false;
    for (int shift = 12; shift >= 0; shift -= 4) {
        unsigned digit = group >> shift & 0xf;
        started = started || digit != 0 || shift == 0;
        if (started) {
            *out++ = "0123456789abcdef"[digit];
        }
    }
    return out;
}

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/* The longest run of two or more zero groups, the first of several as long (RFC 5952 4.2). Returns
 * its length and where it starts. */
static int longest_zeros(const unsigned *groups, int *start)
{
    int best = 1;
    for (int i = 0; i < 8; i++) {
        int run = 0;
        while (i + run < 8 && groups[i + run] == 0) {
            run++;
        }
        if (run > best) {
            best = run;
            *start = i;
        }
        i += run;
    }
    return best > 1 ? best : 0;
}

static char *write_ip6(char *out, const uint8_t *ip)
{
    unsigned groups[8];
    int start = -1;
    /* RFC 5952 5: an IPv4-mapped address ends in the dotted form. */
    if (memcmp(ip, mapped_prefix, sizeof mapped_prefix) == 0) {
        memcpy(out, "::ffff:", 7);
        return write_ip4(out + 7, ip + 12);
    }
    for (int i = 0; i < 8; i++) {
        groups[i] = (unsigned)ip[2 * i] << 8 | ip[2 * i + 1];
    }
    int zeros = longest_zeros(groups, &start);
    for (int i = 0; i < 8; i++) {
        if (zeros > 0 && i == start) {
            *out++ = ':';
            i += zeros - 1;
            if (i == 7) {
                *out++ = ':';
            }
            continue;
        }
        if (i > 0) {
            *out++ = ':';
        }
        out = write_group(out, groups[i]);
    }
    return out;
}

static char *write_ip(char *out, const struct vd_addr *addr)
{
    switch (addr->family) {
    case VD_FAMILY_IP4:
        return write_ip4(out, addr->ip);
    case VD_FAMILY_IP6:
        return write_ip6(out, addr->ip);
    default:
        return out;
    }
}

size_t vd_addr_format_ip(const struct vd_addr *addr, char *out)
{
    char *end = write_ip(out, addr);
    *end = '\0';
    return (size_t)(end - out);
}

size_t vd_addr_format(const struct vd_addr *addr, char *out)
{
    char *p = out;
    if (addr->family == VD_FAMILY_IP6) {
        *p++ = '[';
    }
    p = write_ip(p, addr);
    if (addr->family == VD_FAMILY_IP6) {
        *p++ = ']';
    }
    *p++ = ':';
    p = write_decimal(p, addr->port);
    *p = '\0';
    return (size_t)(p - out);
}

/* The IPv4 part of an address that has one; NULL for any other. */
static const uint8_t *ip4_of(const struct vd_addr *addr)
{
    if (addr->family == VD_FAMILY_IP4) {
        return addr->ip;
    }
    if (addr->family == VD_FAMILY_IP6 &&
        memcmp(addr->ip, mapped_prefix, sizeof mapped_prefix) == 0) {
        return addr->ip + 12;
    }
    return NULL;
}

bool vd_addr_same_ip(const struct vd_addr *a, const struct vd_addr *b)
{
    const uint8_t *x = ip4_of(a);
    const uint8_t *y = ip4_of(b);
    if (x != NULL || y != NULL) {
        return x != NULL && y != NULL && memcmp(x, y, 4) == 0;
    }
    return a->family == b->family && memcmp(a->ip, b->ip, sizeof a->ip) == 0;
}

bool vd_addr_equal(const struct vd_addr *a, const struct vd_addr *b)
{
    return a->family == b->family && a->port == b->port && a->scope == b->scope &&
           memcmp(a->ip, b->ip, sizeof a->ip) == 0;
}

struct vd_str vd_transport_name(enum vd_transport transport)
{
    switch (transport) {
    case VD_TRANSPORT_UDP:
        return VD_STR("UDP");
    case VD_TRANSPORT_TCP:
        return VD_STR("TCP");
    case VD_TRANSPORT_TLS:
        return VD_STR("TLS");
    }
    return VD_STR("");
}
