/* value_token.c - the header fields whose values are tokens, or media types, with parameters: RFC
 * 3261 20.1 to 20.3, 20.5, 20.11 to 20.13, 20.15, 20.21, 20.24, 20.26, 20.29, 20.32, 20.37, 20.40.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/values.h>

#include "parameter.h"

enum shape {
    LIST = 1 << 0,    /* a comma may end the value */
    SUBTYPE = 1 << 1, /* type "/" subtype */
    PARAMS = 1 << 2,
    QUALITY = 1 << 3, /* a parameter q is a qvalue */
    CALL_ID = 1 << 4, /* word [ "@" word ] instead of a token */
    VERSION = 1 << 5  /* 1*DIGIT "." 1*DIGIT instead of a token */
};

static unsigned shape_of(enum vd_header_id id)
{
    switch (id) {
    case VD_HEADER_ACCEPT:
        return LIST | SUBTYPE | PARAMS | QUALITY;
    case VD_HEADER_ACCEPT_ENCODING:
    case VD_HEADER_ACCEPT_LANGUAGE:
        return LIST | PARAMS | QUALITY;
    case VD_HEADER_CONTENT_TYPE:
        return SUBTYPE | PARAMS;
    case VD_HEADER_CONTENT_DISPOSITION:
        return PARAMS;
    case VD_HEADER_PRIORITY:
        return 0;
    case VD_HEADER_MIME_VERSION:
        return VERSION;
    case VD_HEADER_IN_REPLY_TO:
        return LIST | CALL_ID;
    case VD_HEADER_ALLOW:
    case VD_HEADER_CONTENT_ENCODING:
    case VD_HEADER_CONTENT_LANGUAGE:
    case VD_HEADER_PROXY_REQUIRE:
    case VD_HEADER_REQUIRE:
    case VD_HEADER_SUPPORTED:
    case VD_HEADER_UNSUPPORTED:
        return LIST;
    default:
        return LIST | PARAMS;
    }
}

static const char *read_call_id(struct vd__source *source, const char *p)
{
    static const char rule[] = "a Call-ID is a word, or two with @ between (RFC 3261 25.1)";
    const char *first = p;
    p = vd__skip(p, source->end, VD__WORD);
    if (p == first) {
        return vd__reject(source, VD_ERR_SYNTAX, p, rule);
    }
    if (p < source->end && *p == '@') {
        first = ++p;
        p = vd__skip(p, source->end, VD__WORD);
        if (p == first) {
            return vd__reject(source, VD_ERR_SYNTAX, p, rule);
        }
    }
    return p;
}

static const char *read_version(struct vd__source *source, const char *p)
{
    const char *end = source->end;
    for (int part = 0; part < 2; part++) {
        const char *first = p;
        p = vd__skip(p, end, VD__DIGIT);
        bool dot = p < end && *p == '.';
        if (p == first || (part == 0 && !dot)) {
            return vd__reject(source, VD_ERR_SYNTAX, p,
                              "a MIME version is digits, a dot and digits (RFC 3261 25.1)");
        }
        p += part == 0;
    }
    return p;
}

/* What is in front of the parameters. */
static const char *read_value(struct vd__source *source, const char *p, unsigned shape,
                              struct vd_token *out)
{
    const char *end = source->end;
    const char *first = p;
    if (shape & CALL_ID) {
        p = read_call_id(source, p);
    } else if (shape & VERSION) {
        p = read_version(source, p);
    } else if ((p = vd__skip(p, end, VD__TOKEN)) == first) {
        return vd__reject(source, VD_ERR_SYNTAX, p, "the value is a token (RFC 3261 25.1)");
    }
    if (p == NULL) {
        return NULL;
    }
    out->type = vd__view(first, p);
    out->value = out->type;
    p = vd__skip_lws(p, end);
    if (!(shape & SUBTYPE)) {
        return p;
    }

    if (p == end || *p != '/') {
        return vd__reject(source, VD_ERR_SYNTAX, p, "a media type is type/subtype (RFC 3261 25.1)");
    }
    const char *subtype = vd__skip_lws(p + 1, end);
    p = vd__skip(subtype, end, VD__TOKEN);
    if (p == subtype) {
        return vd__reject(source, VD_ERR_SYNTAX, p, "a media type is type/subtype (RFC 3261 25.1)");
    }
    out->subtype = vd__view(subtype, p);
    out->value = vd__view(first, p);
    return vd__skip_lws(p, end);
}

static const char *read_params(struct vd__source *source, const char *p, unsigned shape,
                               struct vd_token *out)
{
    const char *first = p;
    while (p < source->end && *p == ';') {
        struct vd_param param;
        p = vd__read_param(source, p + 1, &param);
        if (p == NULL) {
            return NULL;
        }
        if (!vd__params_add(&out->params, first, &param)) {
            return vd__reject(source, VD_ERR_TOO_MANY, param.name.p, vd__rule_params);
        }
        if (!(shape & QUALITY) || param.name.n != 1 || !vd__is_word(param.name.p, "q", 1)) {
            continue;
        }
        if (!vd__is_qvalue(param.value)) {
            return vd__reject(source, VD_ERR_SYNTAX, param.value.p, vd__rule_quality);
        }
        if (!vd__take_token(source, &param, &out->q)) {
            return NULL;
        }
    }
    return p;
}

int vd_token_parse(struct vd_str text, enum vd_header_id id, struct vd_token *out,
                   struct vd_fault *fault)
{
    struct vd__source source = vd__source(text, fault);
    unsigned shape = shape_of(id);
    memset(out, 0, sizeof *out);
    out->params.separator = ';';
    const char *p = read_value(&source, vd__skip_lws(source.start, source.end), shape, out);
    if (p != NULL && (shape & PARAMS)) {
        p = read_params(&source, p, shape, out);
    }
    if (p != NULL && p != source.end && !((shape & LIST) && *p == ',')) {
        p = vd__reject(&source, VD_ERR_SYNTAX, p,
                       "nothing follows the value, or what its header field has (RFC 3261 25.1)");
    }
    return vd__consumed(&source, p);
}
