/* viaduct/message.h - a SIP message, parsed in place.
 *
 * vd_message_parse reads a message once, from start to end, and leaves views over the caller's
 * buffer: nothing is copied and nothing is allocated. Typed values are decoded when they are first
 * asked for and are remembered. RFC 3261 7 and 25.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_MESSAGE_H
#define VIADUCT_MESSAGE_H

#include <viaduct/base.h>
#include <viaduct/error.h>
#include <viaduct/header.h>
#include <viaduct/mem.h>
#include <viaduct/params.h>
#include <viaduct/uri.h>
#include <viaduct/values.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a parser takes. A limit of 0 is not allowed. */
struct vd_limits {
    size_t message_size; /* bytes of a message with its body; default 65535 */
    size_t header_size;  /* bytes of the start line and all header fields; default 32768 */
    size_t line_size; /* bytes of the start line, of a header field with its folds; default 16384 */
    size_t uri_size;  /* bytes of the Request-URI; default 4096 */
    uint16_t headers; /* header fields in a message; default 256 */
    uint16_t params;  /* parameters of one value; default 64, at most 1024 */
};

/* Fills in the defaults. */
VD_API void vd_limits_init(struct vd_limits *limits);

/* One header field. name is as spelled, without white space; value is without the white space round
 * it and keeps its folds (folded is set then; vd_header_unfold makes one line of it). next is the
 * index plus one of the next header field with the same id, 0 for none. */
struct vd_header {
    struct vd_str name;
    struct vd_str value;
    uint16_t next;
    uint8_t id; /* enum vd_header_id */
    bool folded;
};

/* A message. Read the first part as you like; the second is the parser's own. It is valid as long
 * as the bytes that it was parsed from, which must not change. */
struct vd_message {
    struct vd_str raw;  /* from the start line to the end of the body */
    struct vd_str body; /* after Content-Length was applied */
    bool is_request;
    uint8_t method_id;    /* enum vd_method; of a response: 0 until its CSeq was decoded */
    uint16_t status;      /* 100 to 699; 0 in a request */
    struct vd_str method; /* empty in a response */
    struct vd_str request_uri;
    struct vd_str reason; /* empty in a request; may be empty in a response */
    struct vd_header *headers;
    uint16_t header_count;
    uint16_t header_capacity;
    bool has_content_length;
    uint32_t content_length; /* as stated; body.n when there is none */
    struct vd_fault fault;   /* where the last error of a function on this message was */

    uint16_t params_limit;
    bool via_refused; /* a Via was not stored, so the first one here may not be the top one */
    uint16_t first[VD_HEADER_COUNT]; /* index plus one of the first header field of each id */
    uint16_t last[VD_HEADER_COUNT];
    bool decoded[8]; /* for each remembered value */
    struct vd_uri request_uri_value;
    struct vd_via top_via_value;
    struct vd_nameaddr from_value;
    struct vd_nameaddr to_value;
    struct vd_nameaddr contact_value;
    uint32_t top_via_length; /* bytes of the value in its header field */
    uint32_t contact_length;
    struct vd_cseq cseq_value;
    struct vd_str call_id_value;
    uint32_t max_forwards_value;
};

/* Prepares message to hold up to capacity header fields in headers, which the caller owns. Once
 * prepared, a message may be used for any number of parses, one after the other. */
VD_API void vd_message_init(struct vd_message *message, struct vd_header *headers,
                            uint16_t capacity);

/* Where the bytes come from: it decides what a missing or wrong Content-Length means (RFC
 * 3261 18.3, 20.14). */
enum vd_framing {
    VD_FRAMING_DATAGRAM, /* bytes is one datagram; what is past Content-Length is ignored */
    VD_FRAMING_STREAM    /* bytes is the front of a stream; no Content-Length means no body */
};

/* Parses the message at the start of bytes. CRLFs in front of the start line are skipped (RFC 3261
 * 7.5). limits may be NULL for the defaults.
 *
 * Returns how many bytes the message takes, with the skipped CRLFs; with VD_FRAMING_DATAGRAM that
 * is all of bytes. Otherwise:
 * - VD_ERR_INCOMPLETE (streams): the message does not end within bytes; when its header fields do,
 *   message->raw.n is the size that it will have, else 0;
 * - VD_ERR_NOT_SIP: no start line of SIP;
 * - VD_ERR_VERSION, VD_ERR_SYNTAX, VD_ERR_DUPLICATE, VD_ERR_RANGE, VD_ERR_TRUNCATED,
 *   VD_ERR_TOO_MANY, VD_ERR_TOO_LARGE, VD_ERR_URI_TOO_LONG: as viaduct/error.h says.
 *
 * After an error message->fault has the offset and the rule, and message holds what was read up to
 * it, so that a request can still be answered: after every error but NOT_SIP and INCOMPLETE the
 * parser reads on to the end of the header fields if it can, and reports the first fault.
 *
 * Checked here: the start line, the form of each header field (a colon, no bare CR or LF, no
 * control characters but in a quoted-pair), that those that may appear once do so, and
 * Content-Length. Bytes from 0x80 on are taken as they are in values and in the reason phrase, also
 * where they are not UTF-8. */
VD_API int vd_message_parse(struct vd_message *message, const char *bytes, size_t size,
                            enum vd_framing framing, const struct vd_limits *limits);

/* Checks what every receiver must be able to rely on (RFC 3261 8.1.1, 8.2, 16.3, 18.1.2): Via,
 * From, To, Call-ID and CSeq are there; all Via values, From, To, Call-ID, CSeq, Max-Forwards,
 * Contact, Route, Record-Route and the Request-URI follow the grammar; CSeq and start line name the
 * same method; "Contact: *" stands alone, in a REGISTER with "Expires: 0"; the Request-URI has no
 * headers part (19.1.1, table 1). A request from an RFC 2543 peer without From tag or Max-Forwards
 * passes.
 *
 * Returns 0 or VD_ERR_SYNTAX, VD_ERR_RANGE, VD_ERR_MISSING, VD_ERR_MISMATCH, VD_ERR_METHOD (a
 * method that is not known and that CSeq does not repeat), VD_ERR_VERSION (of a Via),
 * VD_ERR_TOO_MANY; message->fault tells where. A Request-URI of an unknown scheme passes. */
VD_API int vd_message_check(struct vd_message *message);

/* Header fields by number and by name. The first one; NULL when there is none. name may be the
 * compact form and is compared without case. */
VD_API const struct vd_header *vd_message_header(const struct vd_message *message,
                                                 enum vd_header_id id);
VD_API const struct vd_header *vd_message_header_named(const struct vd_message *message,
                                                       struct vd_str name);

/* The next header field with the same id (with the same name for VD_HEADER_OTHER); NULL when there
 * is none. */
VD_API const struct vd_header *vd_message_header_next(const struct vd_message *message,
                                                      const struct vd_header *header);

/* Writes a value with each fold made one space (RFC 3261 7.3.1). Returns the length, or
 * VD_ERR_SPACE when out (capacity bytes) is too small; header->value.n bytes are always enough. */
VD_API int vd_header_unfold(const struct vd_header *header, char *out, size_t capacity);

/* Typed values, decoded on first use and remembered. Each returns 0 and sets *out, which stays
 * valid as long as the message does; VD_ERR_NOT_FOUND when the header field is absent; or the error
 * that decoding gave, each time that it is asked for (message->fault tells where).
 * vd_message_contact gives the first value. */
VD_API int vd_message_request_uri(struct vd_message *message, const struct vd_uri **out);
VD_API int vd_message_top_via(struct vd_message *message, const struct vd_via **out);
VD_API int vd_message_from(struct vd_message *message, const struct vd_nameaddr **out);
VD_API int vd_message_to(struct vd_message *message, const struct vd_nameaddr **out);
VD_API int vd_message_contact(struct vd_message *message, const struct vd_nameaddr **out);
VD_API int vd_message_cseq(struct vd_message *message, const struct vd_cseq **out);
VD_API int vd_message_call_id(struct vd_message *message, struct vd_str *out);
VD_API int vd_message_max_forwards(struct vd_message *message, uint32_t *out); /* 0 to 255 */

/* Values that are decoded each time. Errors as above. A number past 2^32-1 in Expires or
 * Min-Expires reads as 2^32-1 (RFC 3261 20.19, RFC 4475 3.1.2.4). */
VD_API int vd_message_expires(struct vd_message *message, uint32_t *out);
VD_API int vd_message_min_expires(struct vd_message *message, uint32_t *out);
VD_API int vd_message_content_type(struct vd_message *message, struct vd_token *out);
VD_API int vd_message_content_disposition(struct vd_message *message, struct vd_token *out);
VD_API int vd_message_priority(struct vd_message *message, struct vd_token *out);
VD_API int vd_message_mime_version(struct vd_message *message, struct vd_token *out);
VD_API int vd_message_reply_to(struct vd_message *message, struct vd_nameaddr *out);
VD_API int vd_message_date(struct vd_message *message, struct vd_date *out);
VD_API int vd_message_retry_after(struct vd_message *message, struct vd_retry_after *out);
VD_API int vd_message_timestamp(struct vd_message *message, struct vd_timestamp *out);

/* The text of a header field that has no structure: Organization, Server, Subject, User-Agent, or
 * any other. Returns 0 or VD_ERR_NOT_FOUND. The value keeps its folds. */
VD_API int vd_message_text(const struct vd_message *message, enum vd_header_id id,
                           struct vd_str *out);

/* Walks the values of a header field that may have several, in one field or in many (RFC 3261
 * 7.3.1):
 *
 *     struct vd_value_iterator it;
 *     struct vd_via via;
 *     int rc;
 *     vd_value_iterator_init(&it, message, VD_HEADER_VIA);
 *     while ((rc = vd_via_next(&it, &via)) > 0) { ... }
 *
 * Each call returns 1 with the next value, 0 at the end, or a negative error (message->fault tells
 * where); after an error it returns 0. */
struct vd_value_iterator {
    struct vd_message *message;
    const struct vd_header *header;
    size_t position;
};

VD_API void vd_value_iterator_init(struct vd_value_iterator *iterator, struct vd_message *message,
                                   enum vd_header_id id);
VD_API int vd_via_next(struct vd_value_iterator *iterator, struct vd_via *out);
VD_API int vd_nameaddr_next(struct vd_value_iterator *iterator, struct vd_nameaddr *out);
VD_API int vd_token_next(struct vd_value_iterator *iterator, struct vd_token *out);
VD_API int vd_info_next(struct vd_value_iterator *iterator, struct vd_info *out);
VD_API int vd_auth_next(struct vd_value_iterator *iterator, struct vd_auth *out);
VD_API int vd_warning_next(struct vd_value_iterator *iterator, struct vd_warning *out);

/* Copies a message with its bytes, to keep it longer than the buffer it was parsed from. mem may be
 * NULL for the default. The copy is one block; typed values are decoded anew when asked for.
 * Returns NULL when there is no memory. A message whose parsing gave VD_ERR_INCOMPLETE must not be
 * copied: its bytes are not all there. vd_message_free gives it back, with the same mem; NULL is
 * allowed. */
VD_API struct vd_message *vd_message_copy(const struct vd_message *message,
                                          const struct vd_mem *mem);
VD_API void vd_message_free(struct vd_message *message, const struct vd_mem *mem);

#ifdef __cplusplus
}
#endif

#endif
