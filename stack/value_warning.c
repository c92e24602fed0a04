/* value_warning.c - Warning (RFC 3261 20.43).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/values.h>

#include "host.h"

static const char rule[] =
    "a warning is three digits, an agent and a quoted-string (RFC 3261 20.43)";

/* warn-agent: hostport or a pseudonym, which is a token. */
static const char *read_agent(struct vd__source *source, const char *p)
{
    const char *end = source->end;
    const char *first = p;
    uint16_t port;
    if (p < end && *p == '[') {
        struct vd_str host;
        uint8_t kind;
        p = vd__read_host(source, p, &host, &kind);
    } else {
        p = vd__skip(p, end, VD__TOKEN);
        if (p == first) {
            return vd__reject(source, VD_ERR_SYNTAX, p, rule);
        }
    }
    if (p != NULL && p < end && *p == ':') {
        p = vd__read_port(source, p + 1, &port);
    }
    return p;
}

int vd_warning_parse(struct vd_str text, struct vd_warning *out, struct vd_fault *fault)
{
    struct vd__source source = vd__source(text, fault);
    const char *end = source.end;
    uint64_t code = 0;
    const char *first = vd__skip_lws(source.start, end);
    const char *p = vd__read_number(&source, first, 999, &code,
                                    "a warning code has three digits (RFC 3261 20.43)");
    if (p == NULL) {
        return source.error;
    }
    if (p - first != 3) {
        return vd__fail(fault, VD_ERR_SYNTAX, (size_t)(first - source.start), rule);
    }
    out->code = (uint16_t)code;

    const char *agent = vd__skip_lws(p, end);
    if (agent == p) {
        return vd__fail(fault, VD_ERR_SYNTAX, (size_t)(p - source.start), rule);
    }
    p = read_agent(&source, agent);
    if (p == NULL) {
        return source.error;
    }
    out->agent = vd__view(agent, p);

    const char *quote = vd__skip_lws(p, end);
    if (quote == p || quote == end || *quote != '"') {
        return vd__fail(fault, VD_ERR_SYNTAX, (size_t)(quote - source.start), rule);
    }
    p = vd__read_quoted(&source, quote);
    if (p == NULL) {
        return source.error;
    }
    out->text = vd__view(quote, p);
    p = vd__skip_lws(p, end);
    if (p != end && *p != ',') {
        p = vd__reject(&source, VD_ERR_SYNTAX, p, rule);
    }
    return vd__consumed(&source, p);
}
