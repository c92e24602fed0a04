/* message_internal.h - what the files that work on a vd_message share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_MESSAGE_INTERNAL_H
#define VIADUCT_STACK_MESSAGE_INTERNAL_H

#include <viaduct/message.h>

/* WSP of RFC 3261 25.1. */
static inline bool vd__is_wsp(char c)
{
    return c == ' ' || c == '\t';
}

/* The places of decoded in a vd_message. */
enum vd__remembered {
    VD__REQUEST_URI,
    VD__TOP_VIA,
    VD__FROM,
    VD__TO,
    VD__CONTACT,
    VD__CSEQ,
    VD__CALL_ID,
    VD__MAX_FORWARDS,
    VD__REMEMBERED_COUNT
};

_Static_assert(sizeof((struct vd_message *)0)->decoded / sizeof(bool) == VD__REMEMBERED_COUNT,
               "decoded has a place for each remembered value");

/* The limits that hold when the caller gives none. */
extern const struct vd_limits vd__limits_default;

/* Notes a fault at the byte `at` of the message and returns its error. */
__attribute__((cold)) int vd__message_fault(struct vd_message *message, int error, const char *at,
                                            const char *rule);

/* Decodes the value at the start of text, a part of a header field with number id. Returns the
 * bytes read or an error, which is noted in message->fault. */
int vd__message_decode_via(struct vd_message *message, struct vd_str text, struct vd_via *out);
int vd__message_decode_address(struct vd_message *message, struct vd_str text, enum vd_header_id id,
                               struct vd_nameaddr *out);
int vd__message_decode_token(struct vd_message *message, struct vd_str text, enum vd_header_id id,
                             struct vd_token *out);

/* Passes on what a decoder found wrong with text, a part of the message. */
__attribute__((cold)) int vd__message_pass_fault(struct vd_message *message, struct vd_str text,
                                                 const struct vd_fault *fault);

/* Refuses a value with more parameters than the limit. Returns 0 or VD_ERR_TOO_MANY. */
int vd__message_check_params(struct vd_message *message, const struct vd_params *params,
                             struct vd_str text);

/* Moves an iterator behind a value of length bytes that it stands at. Returns 0, or VD_ERR_SYNTAX
 * when no comma follows. */
int vd__value_iterator_pass(struct vd_value_iterator *iterator, size_t length);

/* Reads the usual request line at line, with its CRLF, from bytes that go on to end: a method that
 * is known and nothing wrong. Returns the start of the next line, or NULL for any other start line,
 * with message as it was. */
const char *vd__request_line(struct vd_message *message, const char *line, const char *end,
                             const struct vd_limits *limits);

/* The same for a status line with nothing wrong. */
const char *vd__status_line(struct vd_message *message, const char *line, const char *end,
                            const struct vd_limits *limits);

/* Reads any start line, [line, end), which ends before its CRLF, into message. Returns 0 or
 * VD_ERR_NOT_SIP. A line that is SIP but has a fault gives 0 as well, so that the header fields are
 * still read; *fault then has the error and the rule, its offset from the start of the line. */
int vd__start_line(struct vd_message *message, const char *line, const char *end,
                   const struct vd_limits *limits, struct vd_fault *fault);

#endif
