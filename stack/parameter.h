/* parameter.h - reads the parameters behind a header value.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_PARAMETER_H
#define VIADUCT_STACK_PARAMETER_H

#include <viaduct/params.h>

#include "lex.h"
#include "scan.h"

/* More parameters behind one value than any message may have: vd_limits.params is at most this. */
#define VD__PARAMS_MAX 1024

extern const char vd__rule_params[];  /* too many parameters */
extern const char vd__rule_quality[]; /* a q that is no qvalue */

/* The quoted-string or IPv6 reference at p that is the value of a parameter. */
const char *vd__read_param_value(struct vd__source *source, const char *p);

/* Reads generic-param: token [ EQUAL gen-value ], gen-value being a token, a host or a
 * quoted-string; p is behind the separator. A value may be empty. Returns what is behind the
 * parameter and the white space after it, NULL after a fault. The parameter ends at out->value.p +
 * out->value.n. */
static inline const char *vd__read_param(struct vd__source *source, const char *p,
                                         struct vd_param *out)
{
    const char *end = source->end;
    p = vd__skip_lws(p, end);
    const char *name = p;
    p = vd__skip(p, end, VD__TOKEN);
    if (p == name) {
        return vd__reject(source, VD_ERR_SYNTAX, p, "a parameter has a name (RFC 3261 25.1)");
    }
    out->name = vd__view(name, p);
    out->value = vd_str(p, 0);
    out->has_value = false;
    p = vd__skip_lws(p, end);
    if (p == end || *p != '=') {
        return p;
    }

    out->has_value = true;
    out->value.p = ++p;
    p = vd__skip_lws(p, end);
    const char *value = p;
    p = vd__scan_alphanumeric(p, end); /* most of a branch or tag */
    p = vd__skip(p, end, VD__TOKEN);
    if (p == value && p < end && (*p == '"' || *p == '[')) {
        p = vd__read_param_value(source, p);
        if (p == NULL) {
            return NULL;
        }
    }
    if (p != value) {
        out->value = vd__view(value, p);
    }
    return vd__skip_lws(p, end);
}

/* Adds one parameter to those of which first is the separator in front of the first one. */
static inline bool vd__params_add(struct vd_params *params, const char *first,
                                  const struct vd_param *param)
{
    params->raw = vd__view(first, param->value.p + param->value.n);
    return ++params->count <= VD__PARAMS_MAX;
}

/* For a parameter that is one token and may stand once, such as tag: puts its value in *out, which
 * is empty so far. False after a fault. */
bool vd__take_token(struct vd__source *source, const struct vd_param *param, struct vd_str *out);

/* Reads the parameters at p, none of which means anything to the caller; stops at what is no ";".
 */
const char *vd__read_params(struct vd__source *source, const char *p, struct vd_params *out);

#endif
