/* value_info.c - Alert-Info, Call-Info and Error-Info (RFC 3261 20.4, 20.9, 20.18).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/values.h>

#include "parameter.h"

/* absoluteURI between brackets; of what is behind the scheme only the characters are checked. */
static const char *read_bracketed(struct vd__source *source, const char *p, struct vd_str *uri)
{
    const char *end = source->end;
    if (p == end || *p != '<') {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "the value begins with a URI in brackets (RFC 3261 25.1)");
    }
    const char *first = ++p;
    if (p < end && vd__is(*p, VD__ALPHA)) {
        p = vd__skip(p, end, VD__SCHEME);
    }
    if (p == first || p == end || *p != ':') {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "a URI begins with a scheme and a colon (RFC 3261 25.1)");
    }
    const char *opaque = ++p;
    p = vd__skip(p, end, VD__URI);
    if (p == opaque || p == end || *p != '>') {
        return vd__reject(source, VD_ERR_SYNTAX, p,
                          "a URI in brackets goes up to the closing one (RFC 3261 25.1)");
    }
    *uri = vd__view(first, p);
    return vd__skip_lws(p + 1, end);
}

int vd_info_parse(struct vd_str text, struct vd_info *out, struct vd_fault *fault)
{
    struct vd__source source = vd__source(text, fault);
    memset(out, 0, sizeof *out);
    const char *p = vd__skip_lws(source.start, source.end);
    p = read_bracketed(&source, p, &out->uri);
    if (p != NULL) {
        p = vd__read_params(&source, p, &out->params);
    }
    if (p != NULL && p != source.end && *p != ',') {
        p = vd__reject(&source, VD_ERR_SYNTAX, p,
                       "the value ends, or a parameter or a comma follows (RFC 3261 25.1)");
    }
    return vd__consumed(&source, p);
}
