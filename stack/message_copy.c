/* message_copy.c - keeps a message longer than the buffer that it was parsed from.
 *
 * A copy is one block: the vd_message, its header fields, its bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "message_internal.h"

static size_t block_size(const struct vd_message *message)
{
    return sizeof *message + message->header_count * sizeof(struct vd_header) + message->raw.n;
}

/* The same part of the new bytes. Every view of a message that was parsed points into its bytes,
 * also an empty one. */
static struct vd_str move(struct vd_str view, const char *from, const char *to)
{
    return from != NULL ? vd_str(to + (view.p - from), view.n) : vd_str(to, 0);
}

struct vd_message *vd_message_copy(const struct vd_message *message, const struct vd_mem *mem)
{
    if (mem == NULL) {
        mem = vd_mem_default();
    }
    struct vd_message *copy = mem->allocate(block_size(message), mem->context);
    if (copy == NULL) {
        return NULL;
    }

    struct vd_header *headers = (struct vd_header *)(copy + 1);
    char *bytes = (char *)(headers + message->header_count);
    const char *from = message->raw.p;
    if (message->raw.n != 0) {
        memcpy(bytes, from, message->raw.n);
    }
    for (size_t i = 0; i < message->header_count; i++) {
        headers[i] = message->headers[i];
        headers[i].name = move(headers[i].name, from, bytes);
        headers[i].value = move(headers[i].value, from, bytes);
    }

    *copy = *message;
    copy->raw.p = bytes;
    copy->body = move(message->body, from, bytes);
    copy->method = move(message->method, from, bytes);
    copy->request_uri = move(message->request_uri, from, bytes);
    copy->reason = move(message->reason, from, bytes);
    copy->headers = headers;
    copy->header_capacity = message->header_count;
    memset(copy->decoded, 0, sizeof copy->decoded);
    return copy;
}

void vd_message_free(struct vd_message *message, const struct vd_mem *mem)
{
    if (message == NULL) {
        return;
    }
    if (mem == NULL) {
        mem = vd_mem_default();
    }
    mem->release(message, block_size(message), mem->context);
}
