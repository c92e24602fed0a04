/* build.c - the builder: start lines, header fields and the end of a message.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/build.h>
#include <viaduct/values.h>

#include "build_text.h"
#include "lex.h"

void vd_builder_init(struct vd_builder *builder, char *data, size_t capacity)
{
    memset(builder, 0, sizeof *builder);
    builder->data = data;
    builder->capacity = capacity;
}

_Static_assert(VD_HEADER_COUNT <= 64, "vd_builder.written has a bit for each header field");

/* True when a start line or a header field may begin here; if not, the error sticks. */
static bool at_line(struct vd_builder *builder, bool first)
{
    if (builder->error != 0) {
        return false;
    }
    if (builder->ended || builder->in_header || (builder->length == 0) != first) {
        vd__build_fail(builder, VD_ERR_STATE);
        return false;
    }
    return true;
}

static bool is_token(struct vd_str text)
{
    return text.n != 0 && vd__skip(text.p, text.p + text.n, VD__TOKEN) == text.p + text.n;
}

/* True for what may stand between spaces or in brackets: no white space, control character or
 * bracket. */
static bool is_uri(struct vd_str text)
{
    if (text.n == 0) {
        return false;
    }
    const char *end = text.p + text.n;
    for (const char *p = vd__skip(text.p, end, VD__URI); p < end; p++) {
        unsigned char c = (unsigned char)*p;
        if (c <= ' ' || c == 0x7f || c == '<' || c == '>') {
            return false;
        }
    }
    return true;
}

int vd_build_request_line(struct vd_builder *builder, struct vd_str method, struct vd_str uri)
{
    if (!at_line(builder, true)) {
        return vd__build_result(builder);
    }
    if (!is_token(method) || !is_uri(uri)) {
        return vd__build_fail(builder, VD_ERR_INVALID);
    }
    char *p = vd__build_room(builder, method.n + uri.n + 12);
    if (p == NULL) {
        return builder->error;
    }
    p = vd__build_put(p, method);
    *p++ = ' ';
    p = vd__build_put(p, uri);
    p = vd__build_put(p, VD_STR(" SIP/2.0\r\n"));
    return vd__build_advance(builder, p);
}

int vd_build_status_line(struct vd_builder *builder, int status, struct vd_str reason)
{
    if (!at_line(builder, true)) {
        return vd__build_result(builder);
    }
    if (status < 100 || status > 699) {
        return vd__build_fail(builder, VD_ERR_INVALID);
    }
    if (reason.n == 0) {
        reason = vd_reason_phrase(status);
    }
    char *p = vd__build_room(builder, reason.n + 14);
    if (p == NULL) {
        return builder->error;
    }
    p = vd__build_put(p, VD_STR("SIP/2.0 "));
    *p++ = (char)('0' + status / 100);
    *p++ = (char)('0' + status / 10 % 10);
    *p++ = (char)('0' + status % 10);
    *p++ = ' ';
    for (size_t i = 0; i < reason.n; i++) {
        if (reason.p[i] == '\r' || reason.p[i] == '\n' || reason.p[i] == '\0') {
            return vd__build_fail(builder, VD_ERR_INVALID);
        }
    }
    p = vd__build_put(p, reason);
    p = vd__build_put(p, VD_STR("\r\n"));
    return vd__build_advance(builder, p);
}

/* True for a number that has a name and is not written by vd_build_end. */
static bool may_build(enum vd_header_id id)
{
    return id > VD_HEADER_OTHER && id < VD_HEADER_COUNT && id != VD_HEADER_CONTENT_LENGTH;
}

/* "Name: value" and the line end in one go. */
static int put_header(struct vd_builder *builder, struct vd_str name, struct vd_str value)
{
    char *p = vd__build_room_checked(builder, value, name.n + 4);
    if (p == NULL) {
        return builder->error;
    }
    p = vd__build_put(p, name);
    *p++ = ':';
    *p++ = ' ';
    p = vd__build_put_checked(p, value);
    if (p == NULL) {
        return vd__build_fail(builder, VD_ERR_INVALID);
    }
    *p++ = '\r';
    *p++ = '\n';
    return vd__build_advance(builder, p);
}

static int put_known_header(struct vd_builder *builder, struct vd_str name, enum vd_header_id id,
                            struct vd_str value)
{
    if (!may_build(id)) {
        return vd__build_fail(builder, VD_ERR_INVALID);
    }
    if (id == VD_HEADER_CSEQ) {
        struct vd_cseq cseq;
        if (vd_cseq_parse(value, &cseq, NULL) < 0) {
            return vd__build_fail(builder, VD_ERR_INVALID);
        }
        builder->cseq_method = cseq.method_id;
    }
    builder->written |= UINT64_C(1) << id;
    return put_header(builder, name, value);
}

int vd_build_header(struct vd_builder *builder, enum vd_header_id id, struct vd_str value)
{
    if (!at_line(builder, false)) {
        return vd__build_result(builder);
    }
    return put_known_header(builder, vd_header_info(id)->name, id, value);
}

int vd_build_header_named(struct vd_builder *builder, struct vd_str name, struct vd_str value)
{
    if (!at_line(builder, false)) {
        return vd__build_result(builder);
    }
    if (!is_token(name)) {
        return vd__build_fail(builder, VD_ERR_INVALID);
    }
    enum vd_header_id id = vd_header_id(name);
    return id == VD_HEADER_OTHER ? put_header(builder, name, value)
                                 : put_known_header(builder, name, id, value);
}

int vd_build_number(struct vd_builder *builder, enum vd_header_id id, uint32_t value)
{
    if (!at_line(builder, false)) {
        return vd__build_result(builder);
    }
    if (!may_build(id) || id == VD_HEADER_CSEQ) {
        return vd__build_fail(builder, VD_ERR_INVALID);
    }
    struct vd_str name = vd_header_info(id)->name;
    char *p = vd__build_room(builder, name.n + vd__build_number_size(value) + 4);
    if (p == NULL) {
        return builder->error;
    }
    p = vd__build_put(p, name);
    p = vd__build_put(p, VD_STR(": "));
    p = vd__build_put_number(p, value);
    p = vd__build_put(p, VD_STR("\r\n"));
    builder->written |= UINT64_C(1) << id;
    return vd__build_advance(builder, p);
}

int vd_build_cseq(struct vd_builder *builder, uint32_t number, struct vd_str method)
{
    if (!at_line(builder, false)) {
        return vd__build_result(builder);
    }
    if (number > INT32_MAX || !is_token(method)) {
        return vd__build_fail(builder, VD_ERR_INVALID);
    }
    char *p = vd__build_room(builder, method.n + vd__build_number_size(number) + 9);
    if (p == NULL) {
        return builder->error;
    }
    p = vd__build_put(p, VD_STR("CSeq: "));
    p = vd__build_put_number(p, number);
    *p++ = ' ';
    p = vd__build_put(p, method);
    p = vd__build_put(p, VD_STR("\r\n"));
    builder->cseq_method = (uint8_t)vd_method_id(method);
    builder->written |= UINT64_C(1) << VD_HEADER_CSEQ;
    return vd__build_advance(builder, p);
}

int vd_build_nameaddr(struct vd_builder *builder, enum vd_header_id id, struct vd_str display,
                      struct vd_str uri, struct vd_str tag)
{
    if (!at_line(builder, false)) {
        return vd__build_result(builder);
    }
    if (!may_build(id) || id == VD_HEADER_CSEQ || !is_uri(uri) || (tag.n != 0 && !is_token(tag))) {
        return vd__build_fail(builder, VD_ERR_INVALID);
    }
    struct vd_str name = vd_header_info(id)->name;
    size_t size = name.n + uri.n + 6;
    size += display.n != 0 ? vd__build_quoted_size(display) + 1 : 0;
    size += tag.n != 0 ? tag.n + 5 : 0;
    char *p = vd__build_room(builder, size);
    if (p == NULL) {
        return builder->error;
    }
    p = vd__build_put(p, name);
    p = vd__build_put(p, VD_STR(": "));
    if (display.n != 0) {
        p = vd__build_put_quoted(p, display);
        if (p == NULL) {
            return vd__build_fail(builder, VD_ERR_INVALID);
        }
        *p++ = ' ';
    }
    *p++ = '<';
    p = vd__build_put(p, uri);
    *p++ = '>';
    if (tag.n != 0) {
        p = vd__build_put(p, VD_STR(";tag="));
        p = vd__build_put(p, tag);
    }
    p = vd__build_put(p, VD_STR("\r\n"));
    builder->written |= UINT64_C(1) << id;
    return vd__build_advance(builder, p);
}

int vd_build_begin_header(struct vd_builder *builder, enum vd_header_id id)
{
    if (!at_line(builder, false)) {
        return vd__build_result(builder);
    }
    if (!may_build(id) || id == VD_HEADER_CSEQ) {
        return vd__build_fail(builder, VD_ERR_INVALID);
    }
    struct vd_str name = vd_header_info(id)->name;
    char *p = vd__build_room(builder, name.n + 2);
    if (p == NULL) {
        return builder->error;
    }
    p = vd__build_put(p, name);
    p = vd__build_put(p, VD_STR(": "));
    builder->in_header = true;
    builder->written |= UINT64_C(1) << id;
    return vd__build_advance(builder, p);
}

/* True when text of a header field may be appended; if not, the error sticks. */
static bool in_header(struct vd_builder *builder)
{
    if (builder->error != 0) {
        return false;
    }
    if (!builder->in_header) {
        vd__build_fail(builder, VD_ERR_STATE);
        return false;
    }
    return true;
}

int vd_build_text(struct vd_builder *builder, struct vd_str text)
{
    if (!in_header(builder)) {
        return vd__build_result(builder);
    }
    char *p = vd__build_room_checked(builder, text, 0);
    if (p == NULL) {
        return builder->error;
    }
    p = vd__build_put_checked(p, text);
    return p != NULL ? vd__build_advance(builder, p) : vd__build_fail(builder, VD_ERR_INVALID);
}

int vd_build_text_number(struct vd_builder *builder, uint64_t number)
{
    if (!in_header(builder)) {
        return vd__build_result(builder);
    }
    char *p = vd__build_room(builder, vd__build_number_size(number));
    if (p == NULL) {
        return builder->error;
    }
    return vd__build_advance(builder, vd__build_put_number(p, number));
}

int vd_build_quoted(struct vd_builder *builder, struct vd_str text)
{
    if (!in_header(builder)) {
        return vd__build_result(builder);
    }
    char *p = vd__build_room(builder, vd__build_quoted_size(text));
    if (p == NULL) {
        return builder->error;
    }
    p = vd__build_put_quoted(p, text);
    return p != NULL ? vd__build_advance(builder, p) : vd__build_fail(builder, VD_ERR_INVALID);
}

int vd_build_end_header(struct vd_builder *builder)
{
    if (!in_header(builder)) {
        return vd__build_result(builder);
    }
    char *p = vd__build_room(builder, 2);
    if (p == NULL) {
        return builder->error;
    }
    builder->in_header = false;
    return vd__build_advance(builder, vd__build_put(p, VD_STR("\r\n")));
}

int vd_build_end(struct vd_builder *builder, struct vd_str content_type, struct vd_str body)
{
    if (!at_line(builder, false)) {
        return vd__build_result(builder);
    }
    bool typed = (builder->written >> VD_HEADER_CONTENT_TYPE & 1) != 0;
    if (typed ? content_type.n != 0 : content_type.n == 0 && body.n != 0) {
        return vd__build_fail(builder, VD_ERR_INVALID);
    }
    if (content_type.n != 0 &&
        vd_build_header(builder, VD_HEADER_CONTENT_TYPE, content_type) != 0) {
        return builder->error;
    }
    char *p = vd__build_room(builder, body.n + vd__build_number_size(body.n) + 20);
    if (p == NULL) {
        return builder->error;
    }
    p = vd__build_put(p, VD_STR("Content-Length: "));
    p = vd__build_put_number(p, body.n);
    p = vd__build_put(p, VD_STR("\r\n\r\n"));
    p = vd__build_put(p, body);
    builder->written |= UINT64_C(1) << VD_HEADER_CONTENT_LENGTH;
    builder->ended = true;
    return vd__build_advance(builder, p);
}
