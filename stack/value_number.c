/* value_number.c - the values that are a number: CSeq, and Content-Length, Max-Forwards, Expires
 * and Min-Expires (RFC 3261 20.14, 20.16, 20.19, 20.22, 20.23).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/values.h>

#include "lex.h"

int vd_cseq_parse(struct vd_str text, struct vd_cseq *out, struct vd_fault *fault)
{
    struct vd__source source = vd__source(text, fault);
    uint64_t number = 0;
    const char *p = vd__skip_lws(source.start, source.end);
    p = vd__read_number(&source, p, INT32_MAX, &number,
                        "a CSeq number is below 2^31 (RFC 3261 8.1.1.5)");
    if (p == NULL) {
        return source.error;
    }
    const char *method = vd__skip_lws(p, source.end);
    const char *last = vd__skip(method, source.end, VD__TOKEN);
    if (method == p || last == method) {
        return vd__fail(fault, VD_ERR_SYNTAX, (size_t)(method - source.start),
                        "CSeq is a number, white space and a method (RFC 3261 20.16)");
    }
    p = vd__skip_lws(last, source.end);
    if (p != source.end) {
        return vd__fail(fault, VD_ERR_SYNTAX, (size_t)(p - source.start),
                        "nothing follows the method in CSeq (RFC 3261 20.16)");
    }
    out->number = (uint32_t)number;
    out->method = vd__view(method, last);
    out->method_id = (uint8_t)vd_method_id(out->method);
    return vd__consumed(&source, p);
}

/* Reads text that is nothing but one to nine digits, as nearly every number is. */
static bool read_plain_number(struct vd_str text, uint32_t *out)
{
    uint32_t number = 0;
    if (text.n == 0 || text.n > 9) {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        unsigned digit = vd__digit(text.p[i]);
        if (digit > 9) {
            return false;
        }
        number = number * 10 + digit;
    }
    *out = number;
    return true;
}

int vd_number_parse(struct vd_str text, uint32_t limit, uint32_t *out, struct vd_fault *fault)
{
    uint32_t plain;
    if (read_plain_number(text, &plain) && plain <= limit) {
        *out = plain;
        return (int)text.n;
    }
    struct vd__source source = vd__source(text, fault);
    uint64_t number = 0;
    const char *first = vd__skip_lws(source.start, source.end);
    const char *last = vd__skip(first, source.end, VD__DIGIT);
    const char *p = vd__skip_lws(last, source.end);
    if (last == first || p != source.end) {
        return vd__fail(fault, VD_ERR_SYNTAX, (size_t)(p - source.start),
                        "the value is digits and nothing else (RFC 3261 25.1)");
    }
    p = vd__read_number(&source, first, limit, &number, "the number is in its range (RFC 3261 20)");
    *out = (uint32_t)number;
    return p != NULL ? vd__consumed(&source, source.end) : source.error;
}
