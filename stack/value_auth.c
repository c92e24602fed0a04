/* value_auth.c - Authorization, Proxy-Authorization, WWW-Authenticate, Proxy-Authenticate and
 * Authentication-Info (RFC 3261 20.6, 20.7, 20.27, 20.28, 20.44).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/values.h>

#include "parameter.h"

/* The end of credentials in one word, 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=",
 * that are all there is (RFC 7235 2.1); NULL when it is something else. */
static const char *skip_word(const char *p, const char *end)
{
    const char *first = p;
    while (p < end && (vd__is(*p, VD__SCHEME) || *p == '_' || *p == '~' || *p == '/')) {
        p++;
    }
    if (p == first) {
        return NULL;
    }
    while (p < end && *p == '=') {
        p++;
    }
    return vd__skip_lws(p, end) == end ? p : NULL;
}

/* auth-param *( COMMA auth-param ); each has a value. */
static const char *read_auth_params(struct vd__source *source, const char *p, struct vd_params *out)
{
    const char *first = p;
    for (;;) {
        struct vd_param param;
        p = vd__read_param(source, p, &param);
        if (p == NULL) {
            return NULL;
        }
        if (param.value.n == 0) {
            return vd__reject(source, VD_ERR_SYNTAX, param.value.p,
                              "an authentication parameter has a value (RFC 3261 25.1)");
        }
        if (!vd__params_add(out, first, &param)) {
            return vd__reject(source, VD_ERR_TOO_MANY, param.name.p, vd__rule_params);
        }
        if (p == source->end) {
            return p;
        }
        if (*p != ',') {
            return vd__reject(source, VD_ERR_SYNTAX, p,
                              "commas part authentication parameters (RFC 3261 25.1)");
        }
        p = vd__skip_lws(p + 1, source->end);
    }
}

int vd_auth_parse(struct vd_str text, enum vd_header_id id, struct vd_auth *out,
                  struct vd_fault *fault)
{
    struct vd__source source = vd__source(text, fault);
    memset(out, 0, sizeof *out);
    out->params.separator = ',';
    const char *p = vd__skip_lws(source.start, source.end);
    if (id != VD_HEADER_AUTHENTICATION_INFO) {
        const char *scheme = p;
        p = vd__skip(p, source.end, VD__TOKEN);
        out->scheme = vd__view(scheme, p);
        const char *behind = vd__skip_lws(p, source.end);
        if (p == scheme || behind == p) {
            return vd__fail(fault, VD_ERR_SYNTAX, (size_t)(p - source.start),
                            "a scheme and white space come first (RFC 3261 25.1)");
        }
        p = behind;
        bool digest = vd_str_case_equal(out->scheme, VD_STR("Digest"));
        const char *last = digest ? NULL : skip_word(p, source.end);
        if (last != NULL) {
            out->word = vd__view(p, last);
            return vd__consumed(&source, source.end);
        }
    }
    p = read_auth_params(&source, p, &out->params);
    return vd__consumed(&source, p);
}
