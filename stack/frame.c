/* frame.c - where messages begin and end in a stream (RFC 3261 18.3, RFC 5626 3.5.1).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/frame.h>

#include "message_internal.h"
#include "lex.h"
#include "scan.h"

/* CR LF CR LF */
#define EMPTY_LINE_SIZE 4

void vd_framer_init(struct vd_framer *framer)
{
    *framer = (struct vd_framer){0};
}

/* CRLFs between messages. Returns true when it found what to report. */
static bool take_crlf(struct vd_framer *framer, const char *bytes, size_t size,
                      struct vd_frame *frame)
{
    if (size < 2 || bytes[0] != '\r' || bytes[1] != '\n') {
        return false;
    }
    bool pair = size >= 4 && bytes[2] == '\r' && bytes[3] == '\n';
    if (framer->crlf || pair) {
        frame->kind = VD_FRAME_PING;
        frame->consumed = framer->crlf ? 2 : 4;
        framer->crlf = false;
    } else {
        frame->kind = VD_FRAME_PONG;
        frame->consumed = 2;
        framer->crlf = true;
    }
    return true;
}

/* True when the front of the stream is worth a parser's look: the message that it is known to hold
 * is there, or its header fields end, or they cannot end well any more. */
static bool is_due(struct vd_framer *framer, const char *bytes, size_t size, size_t header_limit)
{
    if (framer->needed != 0) {
        return size >= framer->needed;
    }
    if (framer->scanned == 0 && !vd__is(bytes[0], VD__TOKEN) && (bytes[0] != '\r' || size > 1)) {
        return true;
    }

    size_t limit = size < header_limit ? size : header_limit;
    if (limit > framer->scanned &&
        vd__scan_empty_line(bytes + framer->scanned, bytes + limit) != NULL) {
        return true;
    }
    if (limit >= EMPTY_LINE_SIZE) {
        framer->scanned = limit - (EMPTY_LINE_SIZE - 1);
    }
    return size >= header_limit;
}

int vd_framer_next(struct vd_framer *framer, const char *bytes, size_t size,
                   const struct vd_limits *limits, struct vd_message *message,
                   struct vd_frame *frame)
{
    frame->kind = VD_FRAME_NONE;
    frame->consumed = 0;
    if (framer->error != 0) {
        return framer->error;
    }
    if (size == 0 || take_crlf(framer, bytes, size, frame)) {
        return 0;
    }

    size_t header_limit = limits != NULL ? limits->header_size : vd__limits_default.header_size;
    if (!is_due(framer, bytes, size, header_limit)) {
        return 0;
    }
    int rc = vd_message_parse(message, bytes, size, VD_FRAMING_STREAM, limits);
    if (rc == VD_ERR_INCOMPLETE) {
        framer->needed = message->raw.n;
        return 0;
    }
    if (rc < 0) {
        framer->error = rc;
        return rc;
    }
    *framer = (struct vd_framer){0};
    frame->kind = VD_FRAME_MESSAGE;
    frame->consumed = (size_t)rc;
    return 0;
}
