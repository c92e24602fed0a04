/* message.c - a parsed message: its preparation, its header fields, its faults.
 *
 * SPDX-License-Identifier: MIT
 */
#include "message_internal.h"
#include "lex.h"

const struct vd_limits vd__limits_default = {
    .message_size = 65535,
    .header_size = 32768,
    .line_size = 16384,
    .uri_size = 4096,
    .headers = 256,
    .params = 64,
};

void vd_limits_init(struct vd_limits *limits)
{
    *limits = vd__limits_default;
}

void vd_message_init(struct vd_message *message, struct vd_header *headers, uint16_t capacity)
{
    memset(message, 0, sizeof *message);
    message->headers = headers;
    message->header_capacity = capacity;
    message->params_limit = vd__limits_default.params;
    message->fault.rule = "";
}

int vd__message_fault(struct vd_message *message, int error, const char *at, const char *rule)
{
    message->fault.error = error;
    message->fault.offset = (size_t)(at - message->raw.p);
    message->fault.rule = rule;
    return error;
}

const struct vd_header *vd_message_header(const struct vd_message *message, enum vd_header_id id)
{
    if ((unsigned)id >= VD_HEADER_COUNT || message->first[id] == 0) {
        return NULL;
    }
    return &message->headers[message->first[id] - 1];
}

/* The first header field from index on, counted from 1, in the list of those that the table does
 * not have, whose name it is. */
static const struct vd_header *find_other(const struct vd_message *message, uint16_t index,
                                          struct vd_str name)
{
    while (index != 0) {
        const struct vd_header *header = &message->headers[index - 1];
        if (vd_str_case_equal(header->name, name)) {
            return header;
        }
        index = header->next;
    }
    return NULL;
}

const struct vd_header *vd_message_header_named(const struct vd_message *message,
                                                struct vd_str name)
{
    enum vd_header_id id = vd_header_id(name);
    if (id != VD_HEADER_OTHER) {
        return vd_message_header(message, id);
    }
    return find_other(message, message->first[VD_HEADER_OTHER], name);
}

const struct vd_header *vd_message_header_next(const struct vd_message *message,
                                               const struct vd_header *header)
{
    if (header->next == 0) {
        return NULL;
    }
    if (header->id == VD_HEADER_OTHER) {
        return find_other(message, header->next, header->name);
    }
    return &message->headers[header->next - 1];
}

int vd_header_unfold(const struct vd_header *header, char *out, size_t capacity)
{
    const char *p = header->value.p;
    const char *end = p + header->value.n;
    size_t length = 0;
    while (p < end) {
        const char *next = vd__skip_lws(p, end);
        size_t n = next != p ? (size_t)(next - p) : 1;
        bool fold = next != p && memchr(p, '\r', n) != NULL;
        size_t written = fold ? 1 : n;
        if (capacity - length < written) {
            return VD_ERR_SPACE;
        }
        memcpy(out + length, fold ? " " : p, written);
        length += written;
        p += n;
    }
    return (int)length;
}
