#include "core.h"

#include "build_text.h"

/* The header fields that every response to a request repeats: RFC 3261 8.2.6.2, 18.2.1, RFC 3581 4.
 *
 * They come from a message that was parsed, so they hold no line end but folds: they are copied
 * without another look, a quoted NUL (RFC 4475 3.1.1.2) included. */

/* Bytes that are added to what the request has: names and line ends of a dozen fields at most,
 * received, the port of rport, the tag. */
#define ADDED 256

static size_t header_room(const struct vd_message *request, enum vd_header_id id)
{
    size_t room = 0;
    const struct vd_header *header = vd_message_header(request, id);
    for (; header != NULL; header = vd_message_header_next(request, header)) {
        room += header->value.n + 16;
    }
    return room;
}

/* The value from its byte `from` on. */
static char *put_value(char *p, const struct vd_header *header, size_t from)
{
    struct vd_str rest = vd_str(header->value.p + from, header->value.n - from);
    if (!header->folded) {
        return vd__build_put(p, rest);
    }
    struct vd_header tail = *header;
    tail.value = rest;
    return p + vd_header_unfold(&tail, p, rest.n);
}

static char *put_header(char *p, struct vd_str name, const struct vd_header *header)
{
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

static char *put_to(char *p, const struct vd_message *request, const struct vd_nameaddr *to,
                    struct vd_str tag)
{
    p = vd__build_put(p, VD_STR("To: "));
    p = put_value(p, vd_message_header(request, VD_HEADER_TO), 0);
    if (to->tag.n == 0) {
        p = vd__build_put(p, VD_STR(";tag="));
        p = vd__build_put(p, tag);
    }
    return vd__build_put(p, VD_STR("\r\n"));
}

/* request was checked; source is where it came from; tag goes into To when To has none. */
int vd__response_write_head(struct vd_builder *builder, struct vd_message *request,
                            const struct vd_addr *source, struct vd_str tag)
{
    const struct vd_via *via;
    const struct vd_nameaddr *to;
    const struct vd_header *timestamp = vd_message_header(request, VD_HEADER_TIMESTAMP);
    int rc = vd_message_top_via(request, &via);
    if (rc == 0) {
        rc = vd_message_to(request, &to);
    }
    if (rc != 0) {
        return rc;
    }
    size_t room = ADDED + header_room(request, VD_HEADER_VIA) +
                  header_room(request, VD_HEADER_FROM) + header_room(request, VD_HEADER_TO) +
                  header_room(request, VD_HEADER_CALL_ID) + header_room(request, VD_HEADER_CSEQ) +
                  header_room(request, VD_HEADER_TIMESTAMP);
    char *p = vd__build_room(builder, room);
    if (p == NULL) {
        return builder->error;
    }
    p = put_vias(p, request, via, source);
    p = put_header(p, VD_STR("From: "), vd_message_header(request, VD_HEADER_FROM));
    p = put_to(p, request, to, tag);
    p = put_header(p, VD_STR("Call-ID: "), vd_message_header(request, VD_HEADER_CALL_ID));
    p = put_header(p, VD_STR("CSeq: "), vd_message_header(request, VD_HEADER_CSEQ));
    if (timestamp != NULL) {
        p = put_header(p, VD_STR("Timestamp: "), timestamp);
    }
    builder->written |= 1ull << VD_HEADER_VIA | 1ull << VD_HEADER_FROM | 1ull << VD_HEADER_TO |
                        1ull << VD_HEADER_CALL_ID | 1ull << VD_HEADER_CSEQ;
    return vd__build_advance(builder, p);
}
