/* message_values.c - typed values of a message: decoded when asked for, some of them remembered.
 *
 * SPDX-License-Identifier: MIT
 */
#include "message_internal.h"
#include "lex.h"
#include "scan.h"

int vd__message_pass_fault(struct vd_message *message, struct vd_str text,
                           const struct vd_fault *fault)
{
    return vd__message_fault(message, fault->error, text.p + fault->offset, fault->rule);
}

int vd__message_check_params(struct vd_message *message, const struct vd_params *params,
                             struct vd_str text)
{
    if (params->count <= message->params_limit) {
        return 0;
    }
    return vd__message_fault(message, VD_ERR_TOO_MANY, text.p,
                             "parameters within the configured number");
}

/* Ends the reading of a header field that is no list: all of text must have been read. */
static int end_single(struct vd_message *message, struct vd_str text, int length)
{
    if (length < 0) {
        return length;
    }
    if ((size_t)length == text.n) {
        return 0;
    }
    return vd__message_fault(message, VD_ERR_SYNTAX, text.p + length,
                             "nothing after the value of a header field that is no list");
}

/* The same for a decoder that noted a fault. */
static int end_decoded(struct vd_message *message, struct vd_str text, int length,
                       const struct vd_fault *fault)
{
    return length < 0 ? vd__message_pass_fault(message, text, fault)
                      : end_single(message, text, length);
}

/* The first header field of a number; false when there is none. */
static bool first_value(const struct vd_message *message, enum vd_header_id id,
                        struct vd_str *value)
{
    uint16_t first = message->first[id];
    if (first == 0) {
        return false;
    }
    *value = message->headers[first - 1].value;
    return true;
}

int vd_message_request_uri(struct vd_message *message, const struct vd_uri **out)
{
    *out = &message->request_uri_value;
    if (message->decoded[VD__REQUEST_URI]) {
        return 0;
    }
    if (!message->is_request) {
        return VD_ERR_NOT_FOUND;
    }

    struct vd_fault fault;
    struct vd_str text = message->request_uri;
    if (vd_uri_parse(text, &message->request_uri_value, &fault) < 0) {
        return vd__message_pass_fault(message, text, &fault);
    }
    int error = vd__message_check_params(message, &message->request_uri_value.params, text);
    if (error != 0) {
        return error;
    }
    message->decoded[VD__REQUEST_URI] = true;
    return 0;
}

int vd__message_decode_via(struct vd_message *message, struct vd_str text, struct vd_via *out)
{
    struct vd_fault fault;
    int length = vd_via_parse(text, out, &fault);
    if (length < 0) {
        return vd__message_pass_fault(message, text, &fault);
    }
    int error = vd__message_check_params(message, &out->params, text);
    return error != 0 ? error : length;
}

int vd_message_top_via(struct vd_message *message, const struct vd_via **out)
{
    *out = &message->top_via_value;
    if (message->decoded[VD__TOP_VIA]) {
        return 0;
    }
    struct vd_str text;
    if (!first_value(message, VD_HEADER_VIA, &text)) {
        return VD_ERR_NOT_FOUND;
    }
    int length = vd__message_decode_via(message, text, &message->top_via_value);
    if (length < 0) {
        return length;
    }
    message->top_via_length = (uint32_t)length;
    message->decoded[VD__TOP_VIA] = true;
    return 0;
}

int vd__message_decode_address(struct vd_message *message, struct vd_str text, enum vd_header_id id,
                               struct vd_nameaddr *out)
{
    struct vd_fault fault;
    bool in_list = vd_header_info(id)->form == VD_HEADER_LIST;
    int length = vd_nameaddr_parse(text, in_list, out, &fault);
    if (length < 0) {
        return vd__message_pass_fault(message, text, &fault);
    }
    if (out->star && id != VD_HEADER_CONTACT) {
        return vd__message_fault(message, VD_ERR_SYNTAX, text.p,
                                 "\"*\" in Contact only (RFC 3261 20.10)");
    }
    int error = vd__message_check_params(message, &out->params, text);
    if (error == 0) {
        error = vd__message_check_params(message, &out->uri.params, text);
    }
    return error != 0 ? error : length;
}

/* An address of a header field that appears once. */
static int single_address(struct vd_message *message, enum vd_header_id id, struct vd_nameaddr *out)
{
    struct vd_str text;
    if (!first_value(message, id, &text)) {
        return VD_ERR_NOT_FOUND;
    }
    int length = vd__message_decode_address(message, text, id, out);
    return end_single(message, text, length);
}

int vd_message_from(struct vd_message *message, const struct vd_nameaddr **out)
{
    *out = &message->from_value;
    if (message->decoded[VD__FROM]) {
        return 0;
    }
    int error = single_address(message, VD_HEADER_FROM, &message->from_value);
    message->decoded[VD__FROM] = error == 0;
    return error;
}

int vd_message_to(struct vd_message *message, const struct vd_nameaddr **out)
{
    *out = &message->to_value;
    if (message->decoded[VD__TO]) {
        return 0;
    }
    int error = single_address(message, VD_HEADER_TO, &message->to_value);
    message->decoded[VD__TO] = error == 0;
    return error;
}

int vd_message_contact(struct vd_message *message, const struct vd_nameaddr **out)
{
    *out = &message->contact_value;
    if (message->decoded[VD__CONTACT]) {
        return 0;
    }
    struct vd_str text;
    if (!first_value(message, VD_HEADER_CONTACT, &text)) {
        return VD_ERR_NOT_FOUND;
    }
    int length =
        vd__message_decode_address(message, text, VD_HEADER_CONTACT, &message->contact_value);
    if (length < 0) {
        return length;
    }
    message->contact_length = (uint32_t)length;
    message->decoded[VD__CONTACT] = true;
    return 0;
}

int vd_message_reply_to(struct vd_message *message, struct vd_nameaddr *out)
{
    return single_address(message, VD_HEADER_REPLY_TO, out);
}

int vd_message_cseq(struct vd_message *message, const struct vd_cseq **out)
{
    *out = &message->cseq_value;
    if (message->decoded[VD__CSEQ]) {
        return 0;
    }
    struct vd_str text;
    if (!first_value(message, VD_HEADER_CSEQ, &text)) {
        return VD_ERR_NOT_FOUND;
    }
    struct vd_fault fault;
    int length = vd_cseq_parse(text, &message->cseq_value, &fault);
    int error = end_decoded(message, text, length, &fault);
    if (error != 0) {
        return error;
    }
    if (!message->is_request) {
        message->method_id = message->cseq_value.method_id;
    }
    message->decoded[VD__CSEQ] = true;
    return 0;
}

int vd_message_call_id(struct vd_message *message, struct vd_str *out)
{
    *out = message->call_id_value;
    if (message->decoded[VD__CALL_ID]) {
        return 0;
    }
    struct vd_str text;
    if (!first_value(message, VD_HEADER_CALL_ID, &text)) {
        return VD_ERR_NOT_FOUND;
    }

    /* callid = word [ "@" word ] (RFC 3261 25.1) */
    const char *end = text.p + text.n;
    const char *stop = vd__skip(vd__scan_alphanumeric(text.p, end), end, VD__WORD);
    bool valid = stop != text.p;
    if (valid && stop != end && *stop == '@') {
        const char *host = stop + 1;
        stop = vd__skip(vd__scan_alphanumeric(host, end), end, VD__WORD);
        valid = stop != host;
    }
    if (!valid || stop != end) {
        return vd__message_fault(message, VD_ERR_SYNTAX, stop,
                                 "Call-ID is one word, or two with \"@\" between (RFC 3261 25.1)");
    }
    message->call_id_value = text;
    message->decoded[VD__CALL_ID] = true;
    *out = text;
    return 0;
}

/* A header field that is one number. With saturate, one past limit reads as limit. */
static int number(struct vd_message *message, enum vd_header_id id, uint32_t limit, bool saturate,
                  uint32_t *out)
{
    struct vd_str text;
    if (!first_value(message, id, &text)) {
        return VD_ERR_NOT_FOUND;
    }
    struct vd_fault fault;
    int length = vd_number_parse(text, limit, out, &fault);
    if (length == VD_ERR_RANGE && saturate) {
        return 0;
    }
    return end_decoded(message, text, length, &fault);
}

int vd_message_max_forwards(struct vd_message *message, uint32_t *out)
{
    int error = 0;
    if (!message->decoded[VD__MAX_FORWARDS]) {
        /* RFC 3261 20.22: 0 to 255 */
        error = number(message, VD_HEADER_MAX_FORWARDS, 255, false, &message->max_forwards_value);
        message->decoded[VD__MAX_FORWARDS] = error == 0;
    }
    if (error == 0) {
        *out = message->max_forwards_value;
    }
    return error;
}

int vd_message_expires(struct vd_message *message, uint32_t *out)
{
    return number(message, VD_HEADER_EXPIRES, UINT32_MAX, true, out);
}

int vd_message_min_expires(struct vd_message *message, uint32_t *out)
{
    return number(message, VD_HEADER_MIN_EXPIRES, UINT32_MAX, true, out);
}

int vd__message_decode_token(struct vd_message *message, struct vd_str text, enum vd_header_id id,
                             struct vd_token *out)
{
    struct vd_fault fault;
    int length = vd_token_parse(text, id, out, &fault);
    if (length < 0) {
        return vd__message_pass_fault(message, text, &fault);
    }
    int error = vd__message_check_params(message, &out->params, text);
    return error != 0 ? error : length;
}

static int single_token(struct vd_message *message, enum vd_header_id id, struct vd_token *out)
{
    struct vd_str text;
    if (!first_value(message, id, &text)) {
        return VD_ERR_NOT_FOUND;
    }
    int length = vd__message_decode_token(message, text, id, out);
    return end_single(message, text, length);
}

int vd_message_content_type(struct vd_message *message, struct vd_token *out)
{
    return single_token(message, VD_HEADER_CONTENT_TYPE, out);
}

int vd_message_content_disposition(struct vd_message *message, struct vd_token *out)
{
    return single_token(message, VD_HEADER_CONTENT_DISPOSITION, out);
}

int vd_message_priority(struct vd_message *message, struct vd_token *out)
{
    return single_token(message, VD_HEADER_PRIORITY, out);
}

int vd_message_mime_version(struct vd_message *message, struct vd_token *out)
{
    return single_token(message, VD_HEADER_MIME_VERSION, out);
}

int vd_message_date(struct vd_message *message, struct vd_date *out)
{
    struct vd_str text;
    if (!first_value(message, VD_HEADER_DATE, &text)) {
        return VD_ERR_NOT_FOUND;
    }
    struct vd_fault fault;
    int length = vd_date_parse(text, out, &fault);
    return end_decoded(message, text, length, &fault);
}

int vd_message_retry_after(struct vd_message *message, struct vd_retry_after *out)
{
    struct vd_str text;
    if (!first_value(message, VD_HEADER_RETRY_AFTER, &text)) {
        return VD_ERR_NOT_FOUND;
    }
    struct vd_fault fault;
    int length = vd_retry_after_parse(text, out, &fault);
    int error = length < 0 ? 0 : vd__message_check_params(message, &out->params, text);
    return error != 0 ? error : end_decoded(message, text, length, &fault);
}

int vd_message_timestamp(struct vd_message *message, struct vd_timestamp *out)
{
    struct vd_str text;
    if (!first_value(message, VD_HEADER_TIMESTAMP, &text)) {
        return VD_ERR_NOT_FOUND;
    }
    struct vd_fault fault;
    int length = vd_timestamp_parse(text, out, &fault);
    return end_decoded(message, text, length, &fault);
}

int vd_message_text(const struct vd_message *message, enum vd_header_id id, struct vd_str *out)
{
    const struct vd_header *header = vd_message_header(message, id);
    if (header == NULL) {
        return VD_ERR_NOT_FOUND;
    }
    *out = header->value;
    return 0;
}
