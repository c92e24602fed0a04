/* response_head.c - the header fields that every response to a request repeats (RFC 3261 8.2.6.2,
 * 18.2.1, RFC 3581 4).
 *
 * They come from a message that was parsed, so they hold no line end but folds: they are copied
 * without another look, a quoted NUL (RFC 4475 3.1.1.2) included.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

#include "build_text.h"
#include "lex.h"

/* The name and the line end of a header field, rounded up. */
#define AROUND 16

/* Room for the header fields: for their values, and what is added to them. */
static size_t head_room(const struct vd_message *request, const struct vd_header *const *single,
                        size_t count)
{
    size_t room = VD__RESPONSE_ADDED;
    const struct vd_header *via = vd_message_header(request, VD_HEADER_VIA);
    for (; via != NULL; via = vd_message_header_next(request, via)) {
        room += via->value.n + AROUND;
    }
    for (size_t i = 0; i < count; i++) {
        room += single[i] != NULL ? single[i]->value.n + AROUND : 0;
    }
    return room;
}

/* The value from its byte `from` on. */
static inline char *put_value(char *p, const struct vd_header *header, size_t from)
{
    struct vd_str rest = vd_str(header->value.p + from, header->value.n - from);
    if (!header->folded) {
        return vd__build_put(p, rest);
    }
    struct vd_header tail = *header;
    tail.value = rest;
    return p + vd_header_unfold(&tail, p, rest.n);
}

/* header may be NULL: a faulty request need not have it. */
static char *put_header(char *p, struct vd_str name, const struct vd_header *header)
{
    if (header == NULL) {
        return p;
    }
    p = vd__build_put(p, name);
    p = put_value(p, header, 0);
    return vd__build_put(p, VD_STR("\r\n"));
}

/* True when received must be added: RFC 3581 4 has it with rport in any case, RFC 3261 18.2.1 when
 * the host of sent-by is not the source address. */
static bool needs_received(const struct vd_via *via, const struct vd_addr *source)
{
    struct vd_addr host;
    return via->has_rport || vd_addr_parse(via->host, 0, &host) != 0 ||
           !vd_addr_same_ip(&host, source);
}

/* Where the name of an rport parameter without a value ends; NULL if there is none, or if it takes
 * more than a look at the semicolons to tell. */
static const char *plain_rport_end(const struct vd_via *via)
{
    const struct vd_str name = VD_STR(";rport");
    const char *p = via->params.raw.p;
    const char *end = p + via->params.raw.n;
    /* Often it is the last. What a parameter ends with is not within quotes. */
    if (via->params.raw.n >= name.n && vd__is_word(end - name.n, ";rport", 6)) {
        return end;
    }
    if (!via->has_rport || memchr(p, '"', via->params.raw.n) != NULL) {
        return NULL;
    }
    while ((p = memchr(p, ';', (size_t)(end - p))) != NULL && (size_t)(end - p) >= name.n) {
        const char *behind = p + name.n;
        if (vd_str_case_equal(vd_str(p, name.n), name) && (behind == end || *behind == ';')) {
            return behind;
        }
        p++;
    }
    return NULL;
}

static char *put_param(char *p, const struct vd_param *param)
{
    *p++ = ';';
    p = vd__build_put(p, param->name);
    if (param->has_value) {
        *p++ = '=';
        p = vd__build_put(p, param->value);
    }
    return p;
}

/* The parameters one by one: rport gets its value, and a received that is there already (no client
 * sends one) goes, since what a peer says of its own source does not count. */
static char *put_via_params(char *p, const struct vd_via *via, const struct vd_addr *source)
{
    size_t position = 0;
    struct vd_param param;
    while (vd_params_next(&via->params, &position, &param)) {
        if (vd_str_case_equal(param.name, VD_STR("received"))) {
            continue;
        }
        if (vd_str_case_equal(param.name, VD_STR("rport"))) {
            param.has_value = false;
            p = put_param(p, &param);
            *p++ = '=';
            p = vd__build_put_number(p, source->port);
        } else {
            p = put_param(p, &param);
        }
    }
    return p;
}

/* The top Via with rport filled in and received added. */
static char *put_top_via(char *p, const struct vd_via *via, const struct vd_addr *source)
{
    const char *first = via->raw.p;
    const char *end = first + via->raw.n;
    const char *rport_end = via->params.count > 0 ? plain_rport_end(via) : NULL;
    if (rport_end != NULL && via->received.n == 0) {
        p = vd__build_put(p, vd_str(first, (size_t)(rport_end - first)));
        *p++ = '=';
        p = vd__build_put_number(p, source->port);
        p = vd__build_put(p, vd_str(rport_end, (size_t)(end - rport_end)));
    } else if (via->has_rport || via->received.n > 0) {
        p = vd__build_put(p, vd_str(first, (size_t)(via->params.raw.p - first)));
        p = put_via_params(p, via, source);
    } else {
        p = vd__build_put(p, via->raw);
    }
    if (needs_received(via, source)) {
        p = vd__build_put(p, VD_STR(";received="));
        p += vd_addr_format_ip(source, p);
    }
    return p;
}

/* Makes one space of each fold between first and end. */
static char *unfold_in_place(char *first, const char *end)
{
    char *out = first;
    for (const char *p = first; p < end; p++) {
        if (*p == '\r') {
            p += 2; /* behind the LF is a space or a tab */
            *out++ = ' ';
        } else {
            *out++ = *p;
        }
    }
    return out;
}

static char *put_vias(char *p, const struct vd_message *request, const struct vd_via *via,
                      const struct vd_addr *source)
{
    const struct vd_header *header = vd_message_header(request, VD_HEADER_VIA);
    p = vd__build_put(p, VD_STR("Via: "));
    char *top = p;
    p = put_top_via(p, via, source);
    if (header->folded) {
        p = unfold_in_place(top, p);
    }
    p = put_value(p, header, via->raw.n);
    p = vd__build_put(p, VD_STR("\r\n"));
    while ((header = vd_message_header_next(request, header)) != NULL) {
        p = put_header(p, VD_STR("Via: "), header);
    }
    return p;
}

/* With tag, if that is not empty, unless it has one or cannot be told to have none. */
static char *put_to(char *p, struct vd_message *request, const struct vd_header *header,
                    struct vd_str tag)
{
    const struct vd_nameaddr *to;
    if (header == NULL) {
        return p;
    }
    p = vd__build_put(p, VD_STR("To: "));
    p = put_value(p, header, 0);
    if (tag.n != 0 && vd_message_to(request, &to) == 0 && to->tag.n == 0) {
        p = vd__build_put(p, VD_STR(";tag="));
        p = vd__build_put(p, tag);
    }
    return vd__build_put(p, VD_STR("\r\n"));
}

/* source is where request came from; tag, which may be empty, goes into To when To has none. Of a
 * request that is faulty what is there is repeated as it is: only its top Via must be one (else
 * that is the error). */
int vd__response_write_head(struct vd_builder *builder, struct vd_message *request,
                            const struct vd_addr *source, struct vd_str tag)
{
    const struct vd_via *via;
    int rc = vd_message_top_via(request, &via);
    if (rc != 0) {
        return rc;
    }
    const struct vd_header *const single[] = {
        vd_message_header(request, VD_HEADER_FROM),      vd_message_header(request, VD_HEADER_TO),
        vd_message_header(request, VD_HEADER_CALL_ID),   vd_message_header(request, VD_HEADER_CSEQ),
        vd_message_header(request, VD_HEADER_TIMESTAMP),
    };
    char *p = vd__build_room(builder, head_room(request, single, sizeof single / sizeof single[0]));
    if (p == NULL) {
        return builder->error;
    }
    p = put_vias(p, request, via, source);
    p = put_header(p, VD_STR("From: "), single[0]);
    p = put_to(p, request, single[1], tag);
    p = put_header(p, VD_STR("Call-ID: "), single[2]);
    p = put_header(p, VD_STR("CSeq: "), single[3]);
    p = put_header(p, VD_STR("Timestamp: "), single[4]);
    builder->written |= UINT64_C(1) << VD_HEADER_VIA | UINT64_C(1) << VD_HEADER_FROM |
                        UINT64_C(1) << VD_HEADER_TO | UINT64_C(1) << VD_HEADER_CALL_ID |
                        UINT64_C(1) << VD_HEADER_CSEQ;
    return vd__build_advance(builder, p);
}
