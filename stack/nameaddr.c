/* nameaddr.c - From, To, Contact, Route, Record-Route and Reply-To (RFC 3261 20.10, 25.1).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/values.h>

#include "parameter.h"
#include "uri_read.h"

/* An addr-spec without brackets: every parameter behind it belongs to the header field, so the URI
 * ends at the first semicolon, and one with a comma or a question mark needs brackets (RFC
 * 3261 20.10). */
static const char *read_addr_spec(struct vd__source *source, const char *p, bool in_list,
                                  struct vd_uri *uri)
{
    struct vd__source part = *source;
    const char *end = p;
    while (end < source->end && *end != ';' && !vd__is(*end, VD__LWS) &&
           !(in_list && *end == ',')) {
        if (*end == '?' || *end == ',') {
            return vd__reject(source, VD_ERR_SYNTAX, end,
                              "a URI with a comma or question mark stands in brackets (RFC 3261 "
                              "20.10)");
        }
        end++;
    }
    part.end = end;
    p = vd__read_uri(&part, p, uri);
    if (p == NULL) {
        source->error = part.error;
        return NULL;
    }
    if (p != end) {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "this character may not stand here in a URI (RFC 3261 25.1)");
    }
    return p;
}

/* *( token LWS ) in front of an opening bracket. Returns what is behind the last token; p stays
 * where it is when no bracket follows. */
static const char *read_display(struct vd__source *source, const char *p, struct vd_str *display)
{
    const char *first = p;
    const char *last = p;
    while (p < source->end && vd__is(*p, VD__TOKEN)) {
        last = vd__skip(p, source->end, VD__TOKEN);
        p = vd__skip_lws(last, source->end);
        if (p == last) {
            break;
        }
    }
    *display = vd__view(first, last);
    return p;
}

/* What is in front of the parameters, up to the bracket if there is one. */
static const char *read_address(struct vd__source *source, const char *p, bool in_list,
                                struct vd_nameaddr *out)
{
    const char *end = source->end;
    if (p < end && *p == '"') {
        const char *quote = p;
        p = vd__read_quoted(source, p);
        if (p == NULL) {
            return NULL;
        }
        out->display = vd__view(quote, p);
        p = vd__skip_lws(p, end);
    } else if (p < end && vd__is(*p, VD__TOKEN)) {
        const char *first = p;
        p = read_display(source, p, &out->display);
        if (p < end && *p == ':' && p == out->display.p + out->display.n) {
            out->display = vd_str(NULL, 0);
            return read_addr_spec(source, first, in_list, &out->uri);
        }
    }
    if (p == end || *p != '<') {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "a display name is tokens or a quoted-string, and <URI> follows (RFC "
                          "3261 25.1)");
    }
    p = vd__read_uri(source, p + 1, &out->uri);
    if (p == NULL) {
        return NULL;
    }
    if (p == end || *p != '>') {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "a URI in brackets goes up to the closing one (RFC 3261 25.1)");
    }
    out->brackets = true;
    return p + 1;
}

/* Keeps the value of tag, q or expires. False after a fault. */
static bool keep_param(struct vd__source *source, const struct vd_param *param,
                       struct vd_nameaddr *out)
{
    const char *name = param->name.p;
    switch (param->name.n) {
    case 1:
        if (!vd__is_word(name, "q", 1)) {
            return true;
        }
        if (!vd__is_qvalue(param->value)) {
            vd__reject(source, VD_ERR_SYNTAX, param->value.p, vd__rule_quality);
            return false;
        }
        return vd__take_token(source, param, &out->q);
    case 3:
        return !vd__is_word(name, "tag", 3) || vd__take_token(source, param, &out->tag);
    case 7:
        return !vd__is_word(name, "expires", 7) || vd__take_token(source, param, &out->expires);
    default:
        return true;
    }
}

static const char *read_params(struct vd__source *source, const char *p, struct vd_nameaddr *out)
{
    const char *first = p;
    while (p < source->end && *p == ';') {
        struct vd_param param;
        p = vd__read_param(source, p + 1, &param);
        if (p == NULL || !keep_param(source, &param, out)) {
            return NULL;
        }
        if (!vd__params_add(&out->params, first, &param)) {
            return vd__reject(source, VD_ERR_TOO_MANY, param.name.p, vd__rule_params);
        }
    }
    return p;
}

/* "*", which stands alone in a Contact (RFC 3261 10.2.2). */
static bool is_star(const struct vd__source *source, const char *p, bool in_list)
{
    return in_list && p < source->end && *p == '*' &&
           vd__skip_lws(p + 1, source->end) == source->end;
}

int vd_nameaddr_parse(struct vd_str text, bool in_list, struct vd_nameaddr *out,
                      struct vd_fault *fault)
{
    struct vd__source source = vd__source(text, fault);
    vd__clear(out, sizeof *out);
    out->params.separator = ';';
    const char *p = vd__skip_lws(source.start, source.end);
    if (is_star(&source, p, in_list)) {
        out->star = true;
        return vd__consumed(&source, source.end);
    }
    p = read_address(&source, p, in_list, out);
    if (p != NULL) {
        p = read_params(&source, vd__skip_lws(p, source.end), out);
    }
    if (p != NULL && p != source.end && !(in_list && *p == ',')) {
        p = vd__reject(&source, VD_ERR_SYNTAX, p,
                       "an address ends, or a parameter follows (RFC 3261 25.1)");
    }
    return vd__consumed(&source, p);
}
