/* viaduct/frame.h - where messages begin and end in a stream.
 *
 * The framer finds the end of the header fields, then has vd_message_parse read them: one piece of
 * code decides what a line and what Content-Length is, so framer and parser cannot disagree. It
 * holds no bytes of its own: the caller keeps the buffer. RFC 3261 7.5 and 18.3, RFC 5626 3.5.1.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_FRAME_H
#define VIADUCT_FRAME_H

#include <viaduct/base.h>
#include <viaduct/error.h>
#include <viaduct/message.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The state of one stream. */
struct vd_framer {
    size_t scanned; /* bytes already searched for the end of the header fields */
    size_t needed;  /* size of the message once its header fields were read, else 0 */
    bool crlf;      /* the last thing consumed was the first CRLF of what may become a ping */
    int error;      /* why the stream has lost its framing, else 0 */
};

enum vd_frame_kind {
    VD_FRAME_NONE,    /* nothing whole yet: read more */
    VD_FRAME_MESSAGE, /* a message: it was parsed into the caller's vd_message */
    VD_FRAME_PING,    /* CRLF CRLF between messages: answer with CRLF (RFC 5626 3.5.1) */
    VD_FRAME_PONG     /* a single CRLF between messages: the answer to our ping, or nothing */
};

/* What vd_framer_next found. consumed bytes at the front of the stream are done with. */
struct vd_frame {
    enum vd_frame_kind kind;
    size_t consumed;
};

/* Prepares a framer for the first byte of a stream. It holds no memory, so nothing frees it. */
VD_API void vd_framer_init(struct vd_framer *framer);

/* Looks at the front of a stream: size bytes that were received and not yet consumed. The bytes of
 * an earlier call that were not consumed must stand at the front again, though perhaps at another
 * address. Each byte is searched once, however the stream is cut.
 *
 * Between messages, the first CRLF is reported as VD_FRAME_PONG when it stands alone so far, and
 * the second in a row as VD_FRAME_PING, however the two are cut; CRLF CRLF that came whole is one
 * VD_FRAME_PING. A CR that is not followed by LF is an error.
 *
 * Returns 0 with *frame, or a negative error as of vd_message_parse: the stream has lost its
 * framing, nothing after it can be trusted, and the connection is to be closed; message holds what
 * was read, for a 400 response. Every later call returns the same error. limits may be NULL for the
 * defaults. */
VD_API int vd_framer_next(struct vd_framer *framer, const char *bytes, size_t size,
                          const struct vd_limits *limits, struct vd_message *message,
                          struct vd_frame *frame);

#ifdef __cplusplus
}
#endif

#endif
