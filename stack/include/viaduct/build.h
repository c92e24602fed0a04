/* viaduct/build.h - writes messages straight into a buffer.
 *
 * A builder appends; an error sticks, so a program may write a whole message and look once, at
 * vd_build_end. Text that a caller passes in is checked: CR, LF and NUL never reach the wire
 * (VD_ERR_INVALID), so no value can add a header field or a message of its own.
 *
 * A start line comes first, and once; calls in another order are VD_ERR_STATE. A call after
 * vd_build_end returns that too, and leaves the message as it is.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_BUILD_H
#define VIADUCT_BUILD_H

#include <viaduct/base.h>
#include <viaduct/error.h>
#include <viaduct/header.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A message in the making: length bytes are written at data, capacity is the room there. grow, when
 * it is set, is asked for more room: it makes data and capacity fit at least needed bytes and
 * returns 0 or a negative error. written has a bit for each vd_header_id that stands in the
 * message. owner and token are for who set grow. */
struct vd_builder {
    char *data;
    size_t length;
    size_t capacity;
    int error;
    bool ended;
    bool in_header;      /* between vd_build_begin_header and vd_build_end_header */
    uint8_t cseq_method; /* enum vd_method, when written has CSeq */
    uint64_t written;
    int (*grow)(struct vd_builder *builder, size_t needed);
    void *owner;
    uint64_t token;
};

/* Starts a message in data, which the caller owns; it never grows. */
VD_API void vd_builder_init(struct vd_builder *builder, char *data, size_t capacity);

/* The start line. method must be a token; uri must not be empty and must hold no white space, no
 * control character, no '<' and no '>'; status must be 100 to 699; an empty reason takes that of
 * vd_reason_phrase. Errors (here and below) stick: VD_ERR_INVALID,
 * VD_ERR_STATE, VD_ERR_SPACE, VD_ERR_NOMEM; each function returns the error that stuck, or 0. */
VD_API int vd_build_request_line(struct vd_builder *builder, struct vd_str method,
                                 struct vd_str uri);
VD_API int vd_build_status_line(struct vd_builder *builder, int status, struct vd_str reason);

/* "Name: value". id must be neither VD_HEADER_OTHER nor VD_HEADER_CONTENT_LENGTH (vd_build_end
 * writes it); name must be a token, and not Content-Length in either form; a CSeq must be one that
 * can be decoded. A fold in value (CRLF and a space or tab, as in a value that was parsed) is
 * written as one space.
 */
VD_API int vd_build_header(struct vd_builder *builder, enum vd_header_id id, struct vd_str value);
VD_API int vd_build_header_named(struct vd_builder *builder, struct vd_str name,
                                 struct vd_str value);

/* "Name: value" of a number. id is as for vd_build_header, but not VD_HEADER_CSEQ. */
VD_API int vd_build_number(struct vd_builder *builder, enum vd_header_id id, uint32_t value);

/* "CSeq: number method". number must be below 2^31 (RFC 3261 8.1.1.5), method a token. */
VD_API int vd_build_cseq(struct vd_builder *builder, uint32_t number, struct vd_str method);

/* "Name: "display" <uri>;tag=tag" for From, To, Contact, Route and so on. display is plain text: it
 * is put in quotes and escaped, and must be UTF-8; an empty one is left out. uri must not hold '<',
 * '>' or white space. tag, a token, is left out when it is empty. */
VD_API int vd_build_nameaddr(struct vd_builder *builder, enum vd_header_id id,
                             struct vd_str display, struct vd_str uri, struct vd_str tag);

/* A header field in pieces: vd_build_begin_header writes "Name: ", then any number of vd_build_text
 * (text as it stands), vd_build_text_number (decimal) and vd_build_quoted append to the value, and
 * vd_build_end_header ends the line. id is as for vd_build_header, but not VD_HEADER_CSEQ. */
VD_API int vd_build_begin_header(struct vd_builder *builder, enum vd_header_id id);
VD_API int vd_build_text(struct vd_builder *builder, struct vd_str text);
VD_API int vd_build_text_number(struct vd_builder *builder, uint64_t number);
VD_API int vd_build_end_header(struct vd_builder *builder);

/* Text as a quoted-string, with its quotes: '"', '\' and control characters are escaped (RFC 3261
 * 25.1). It must be UTF-8. */
VD_API int vd_build_quoted(struct vd_builder *builder, struct vd_str text);

/* Ends the message: Content-Type (left out when it is empty), Content-Length, the empty line and
 * the body, which may hold any bytes. A body without Content-Type is VD_ERR_INVALID (RFC
 * 3261 20.15) unless vd_build_header wrote one, and so is a second Content-Type. Nothing can be
 * appended afterwards.
 *
 * Returns 0 or the error that stuck. On success data and length are the message. */
VD_API int vd_build_end(struct vd_builder *builder, struct vd_str content_type, struct vd_str body);

#ifdef __cplusplus
}
#endif

#endif
