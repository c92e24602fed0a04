/* params.c - parameters: reading, walking, and undoing quotes and escapes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"
#include "parameter.h"

const char vd__rule_params[] = "parameters within the number that a value may have";
const char vd__rule_quality[] = "q is 0 to 1 with at most three decimals (RFC 3261 25.1)";

const char *vd__read_param_value(struct vd__source *source, const char *p)
{
    if (*p == '"') {
        return vd__read_quoted(source, p);
    }
    struct vd_str host;
    uint8_t kind;
    return vd__read_host(source, p, &host, &kind);
}

bool vd__take_token(struct vd__source *source, const struct vd_param *param, struct vd_str *out)
{
    if (out->n != 0) {
        vd__reject(source, VD_ERR_SYNTAX, param->name.p,
                   "a parameter stands once in a value (RFC 3261 7.3.1)");
        return false;
    }
    if (param->value.n == 0 || !vd__is(param->value.p[0], VD__TOKEN)) {
        vd__reject(source, VD_ERR_SYNTAX, param->value.p,
                   "the value of this parameter is a token (RFC 3261 25.1)");
        return false;
    }
    *out = param->value;
    return true;
}

const char *vd__read_params(struct vd__source *source, const char *p, struct vd_params *out)
{
    const char *first = p;
    out->separator = ';';
    while (p < source->end && *p == ';') {
        struct vd_param param;
        p = vd__read_param(source, p + 1, &param);
        if (p == NULL) {
            return NULL;
        }
        if (!vd__params_add(out, first, &param)) {
            return vd__reject(source, VD_ERR_TOO_MANY, param.name.p, vd__rule_params);
        }
    }
    return p;
}

bool vd_params_next(const struct vd_params *params, size_t *position, struct vd_param *out)
{
    if (*position >= params->raw.n) {
        return false;
    }
    const char *end = params->raw.p + params->raw.n;
    const char *p = params->raw.p + *position;
    /* A comma stands between parameters, the others also in front of the first. */
    if (*position > 0 || params->separator != ',') {
        p++;
    }
    p = vd__skip_lws(p, end);
    const char *name = p;
    while (p < end && *p != '=' && *p != params->separator && !vd__is(*p, VD__LWS)) {
        p++;
    }
    out->name = vd__view(name, p);
    out->value = vd_str(p, 0);
    p = vd__skip_lws(p, end);
    out->has_value = p < end && *p == '=';
    if (out->has_value) {
        p = vd__skip_lws(p + 1, end);
        const char *value = p;
        if (p < end && *p == '"') {
            struct vd__source source = vd__source(vd__view(p, end), NULL);
            p = vd__read_quoted(&source, p);
            if (p == NULL) {
                p = end;
            }
        } else {
            while (p < end && *p != params->separator && !vd__is(*p, VD__LWS)) {
                p++;
            }
        }
        out->value = vd__view(value, p);
        p = vd__skip_lws(p, end);
    }
    *position = (size_t)(p - params->raw.p);
    return true;
}

int vd_params_get(const struct vd_params *params, struct vd_str name, struct vd_str *value)
{
    struct vd_param param;
    size_t position = 0;
    while (vd_params_next(params, &position, &param)) {
        if (vd_str_case_equal(param.name, name)) {
            if (value != NULL) {
                *value = param.value;
            }
            return 0;
        }
    }
    return VD_ERR_NOT_FOUND;
}

int vd_unquote(struct vd_str text, char *out, size_t capacity)
{
    if (text.n < 2 || text.p[0] != '"') {
        if (text.n > capacity) {
            return VD_ERR_SPACE;
        }
        if (text.n > 0) {
            memmove(out, text.p, text.n);
        }
        return (int)text.n;
    }

    const char *end = text.p + text.n - 1;
    size_t n = 0;
    for (const char *p = text.p + 1; p < end;) {
        char c = *p;
        if (c == '\\' && end - p > 1) {
            c = p[1];
            p += 2;
        } else if (c == '\r') {
            p = vd__skip_lws(p, end);
            if (p < end && *p == '\r') {
                p++; /* no fold; nothing that was decoded has one */
            }
            c = ' ';
        } else {
            p++;
        }
        if (n == capacity) {
            return VD_ERR_SPACE;
        }
        out[n++] = c;
    }
    return (int)n;
}

int vd_unescape(struct vd_str text, char *out, size_t capacity)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '%') {
            if (text.n - i < 3 || !vd__is(text.p[i + 1], VD__HEX) ||
                !vd__is(text.p[i + 2], VD__HEX)) {
                return VD_ERR_SYNTAX;
            }
            c = (char)(vd__hex_value(text.p[i + 1]) << 4 | vd__hex_value(text.p[i + 2]));
            i += 2;
        }
        if (n == capacity) {
            return VD_ERR_SPACE;
        }
        out[n++] = c;
    }
    return (int)n;
}
