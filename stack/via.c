/* via.c - Via (RFC 3261 20.42 and 25.1, RFC 3581).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/values.h>

#include "host.h"
#include "parameter.h"

/* "/" with white space round it. */
static const char *read_slash(struct vd__source *source, const char *p)
{
    p = vd__skip_lws(p, source->end);
    if (p == source->end || *p != '/') {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "sent-protocol is SIP/2.0/transport (RFC 3261 25.1)");
    }
    return vd__skip_lws(p + 1, source->end);
}

/* protocol-name SLASH protocol-version SLASH, in a spelling other than the usual one. */
static const char *read_protocol_slow(struct vd__source *source, const char *p)
{
    const char *name = p;
    p = vd__skip(p, source->end, VD__TOKEN);
    if (p - name != 3 || !vd__is_word(name, "sip", 3)) {
        return vd__reject(source, VD_ERR_SYNTAX, name,
                          "sent-protocol is SIP/2.0/transport (RFC 3261 25.1)");
    }
    p = read_slash(source, p);
    if (p == NULL) {
        return NULL;
    }
    const char *version = p;
    p = vd__skip(p, source->end, VD__TOKEN);
    if (p == version) {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "sent-protocol is SIP/2.0/transport (RFC 3261 25.1)");
    }
    if (p - version != 3 || memcmp(version, "2.0", 3) != 0) {
        return vd__reject(source, VD_ERR_VERSION, version, "the version is 2.0 (RFC 3261 20.42)");
    }
    return read_slash(source, p);
}

/* sent-protocol LWS sent-by */
static const char *read_sent(struct vd__source *source, const char *p, struct vd_via *out)
{
    const char *end = source->end;
    if (end - p >= 8 && memcmp(p, "SIP/2.0/", 8) == 0 && !(end - p > 8 && vd__is(p[8], VD__LWS))) {
        p += 8;
    } else {
        p = read_protocol_slow(source, p);
    }
    if (p == NULL) {
        return NULL;
    }

    const char *transport = p;
    p = vd__skip(p, end, VD__TOKEN);
    out->transport = vd__view(transport, p);
    const char *host = vd__skip_lws(p, end);
    if (p == transport || host == p) {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "a transport and white space stand before sent-by (RFC 3261 25.1)");
    }
    p = vd__read_host(source, host, &out->host, &out->host_kind);
    if (p == NULL) {
        return NULL;
    }
    const char *last = p;
    p = vd__skip_lws(p, end);
    if (p < end && *p == ':') {
        p = vd__read_port(source, vd__skip_lws(p + 1, end), &out->port);
        if (p == NULL) {
            return NULL;
        }
        last = p;
        p = vd__skip_lws(p, end);
    }
    out->sent_by = vd__view(host, last);
    out->params.raw = vd__view(last, last); /* where parameters would begin */
    return p;
}

/* received is an address, an IPv6 address with brackets or without (RFC 5118 4.5). p is what is
 * behind the part of it that is a token or an IPv6 reference. */
static const char *take_received(struct vd__source *source, const char *p, struct vd_param *param,
                                 struct vd_via *out)
{
    static const char rule[] = "received is one IP address (RFC 3261 20.42, RFC 5118 4.5)";
    struct vd_addr addr;
    bool ends = p == source->end || *p != ':';
    if (out->received.n == 0 && ends && vd__is_ip4(source, param->value)) {
        out->received = param->value;
        return p;
    }
    const char *value = param->value.n != 0 ? param->value.p : p;
    bool bare =
        param->has_value && value < source->end && (*value == ':' || vd__is(*value, VD__HEX));
    if (bare) {
        p = vd__skip(value, source->end, VD__REFERENCE);
        param->value = vd__view(value, p);
        p = vd__skip_lws(p, source->end);
    }
    if (out->received.n != 0 || param->value.n == 0 || param->value.p[0] == '"') {
        return vd__reject(source, VD_ERR_SYNTAX, param->name.p, rule);
    }
    out->received = param->value;
    if (param->value.p[0] == '[') {
        out->received = vd_str(param->value.p + 1, param->value.n - 2);
    }
    if (vd__host_addr(out->received, &addr) != 0) {
        return vd__reject(source, VD_ERR_SYNTAX, value, rule);
    }
    return p;
}

/* The value of ttl or rport, which is a number. */
static const char *take_number(struct vd__source *source, const char *p,
                               const struct vd_param *param, uint64_t limit, uint64_t *number)
{
    struct vd__source part = *source;
    part.end = param->value.p + param->value.n;
    const char *last = vd__read_number(&part, param->value.p, limit, number,
                                       "ttl is at most 255 and rport at most 65535 (RFC 3261 "
                                       "25.1, RFC 3581 3)");
    if (last == NULL) {
        source->error = part.error;
        return NULL;
    }
    if (last != part.end) {
        return vd__reject(source, VD_ERR_SYNTAX, last,
                          "ttl and rport are numbers (RFC 3261 25.1, RFC 3581 3)");
    }
    return p;
}

static const char *take_rport(struct vd__source *source, const char *p, struct vd_param *param,
                              struct vd_via *out)
{
    uint64_t number = 0;
    if (out->has_rport) {
        return vd__reject(source, VD_ERR_SYNTAX, param->name.p,
                          "rport stands once in a value (RFC 3581 3)");
    }
    out->has_rport = true;
    if (!param->has_value) {
        return p;
    }
    p = take_number(source, p, param, UINT16_MAX, &number);
    if (p != NULL && number == 0) {
        return vd__reject(source, VD_ERR_RANGE, param->value.p, "rport is a port (RFC 3581 3)");
    }
    out->rport = (uint16_t)number;
    return p;
}

static const char *take_maddr(struct vd__source *source, const char *p, struct vd_param *param,
                              struct vd_via *out)
{
    struct vd__source part = *source;
    struct vd_str host;
    uint8_t kind;
    part.end = param->value.p + param->value.n;
    if (out->maddr.n != 0) {
        return vd__reject(source, VD_ERR_SYNTAX, param->name.p,
                          "maddr stands once in a value (RFC 3261 20.42)");
    }
    const char *last = vd__read_host(&part, param->value.p, &host, &kind);
    if (last == NULL) {
        source->error = part.error;
        return NULL;
    }
    if (last != part.end) {
        return vd__reject(source, VD_ERR_SYNTAX, last, "maddr is a host (RFC 3261 25.1)");
    }
    out->maddr = param->value;
    return p;
}

/* Keeps a parameter that means something in a Via. p is what is behind it; returns the same, or
 * NULL after a fault. */
static const char *keep_param(struct vd__source *source, const char *p, struct vd_param *param,
                              struct vd_via *out, bool *has_ttl)
{
    const char *name = param->name.p;
    uint64_t number = 0;
    switch (param->name.n) {
    case 3:
        if (!vd__is_word(name, "ttl", 3)) {
            return p;
        }
        if (*has_ttl) {
            return vd__reject(source, VD_ERR_SYNTAX, name,
                              "ttl stands once in a value (RFC 3261 20.42)");
        }
        *has_ttl = true;
        p = take_number(source, p, param, UINT8_MAX, &number);
        out->ttl = (uint8_t)number;
        return p;
    case 5:
        if (vd__is_word(name, "rport", 5)) {
            return take_rport(source, p, param, out);
        }
        return vd__is_word(name, "maddr", 5) ? take_maddr(source, p, param, out) : p;
    case 6:
        if (vd__is_word(name, "branch", 6) && !vd__take_token(source, param, &out->branch)) {
            return NULL;
        }
        return p;
    case 8:
        return vd__is_word(name, "received", 8) ? take_received(source, p, param, out) : p;
    default:
        return p;
    }
}

static const char *read_params(struct vd__source *source, const char *p, struct vd_via *out)
{
    const char *first = p;
    bool has_ttl = false;
    while (p < source->end && *p == ';') {
        struct vd_param param;
        p = vd__read_param(source, p + 1, &param);
        if (p != NULL) {
            p = keep_param(source, p, &param, out, &has_ttl);
        }
        if (p == NULL) {
            return NULL;
        }
        if (!vd__params_add(&out->params, first, &param)) {
            return vd__reject(source, VD_ERR_TOO_MANY, param.name.p, vd__rule_params);
        }
    }
    return p;
}

int vd_via_parse(struct vd_str text, struct vd_via *out, struct vd_fault *fault)
{
    struct vd__source source = vd__source(text, fault);
    vd__clear(out, sizeof *out);
    out->params.separator = ';';
    const char *first = vd__skip_lws(source.start, source.end);
    const char *p = read_sent(&source, first, out);
    if (p != NULL) {
        p = read_params(&source, p, out);
    }
    if (p != NULL && p != source.end && *p != ',') {
        p = vd__reject(&source, VD_ERR_SYNTAX, p,
                       "a Via ends, or a parameter or a comma follows (RFC 3261 25.1)");
    }
    if (p != NULL) {
        out->raw = vd__view(first, out->params.raw.p + out->params.raw.n);
    }
    return vd__consumed(&source, p);
}

bool vd_via_has_cookie(const struct vd_via *via)
{
    return via->branch.n > 7 && vd__is_word(via->branch.p, "z9hG4bK", 7);
}
