/* message_list.c - walks the values of header fields that hold several (RFC 3261 7.3.1).
 *
 * SPDX-License-Identifier: MIT
 */
#include "message_internal.h"
#include "lex.h"

void vd_value_iterator_init(struct vd_value_iterator *iterator, struct vd_message *message,
                            enum vd_header_id id)
{
    iterator->message = message;
    iterator->header = vd_message_header(message, id);
    iterator->position = 0;
}

/* True for the lists that may be empty (RFC 3261 25.1: "Accept", "Accept-Encoding",
 * "Accept-Language", "Allow", "Supported"). */
static bool may_be_empty(enum vd_header_id id)
{
    return id == VD_HEADER_ACCEPT || id == VD_HEADER_ACCEPT_ENCODING ||
           id == VD_HEADER_ACCEPT_LANGUAGE || id == VD_HEADER_ALLOW || id == VD_HEADER_SUPPORTED;
}

/* The text that begins with the next value; false at the end. A comma at the end of a header field
 * leaves an empty text, which no decoder takes. */
static bool next_text(struct vd_value_iterator *iterator, struct vd_str *text)
{
    const struct vd_header *header = iterator->header;
    while (header != NULL && header->value.n == 0 && may_be_empty(header->id)) {
        header = vd_message_header_next(iterator->message, header);
    }
    iterator->header = header;
    if (header == NULL) {
        return false;
    }
    *text = vd_str(header->value.p + iterator->position, header->value.n - iterator->position);
    return true;
}

int vd__value_iterator_pass(struct vd_value_iterator *iterator, size_t length)
{
    const struct vd_header *header = iterator->header;
    size_t position = iterator->position + length;
    if (position == header->value.n) {
        iterator->header = vd_message_header_next(iterator->message, header);
        iterator->position = 0;
        return 0;
    }
    const char *comma = header->value.p + position;
    const char *end = header->value.p + header->value.n;
    if (*comma != ',') {
        return vd__message_fault(iterator->message, VD_ERR_SYNTAX, comma,
                                 "a comma between the values of a list (RFC 3261 7.3.1)");
    }
    iterator->position = (size_t)(vd__skip_lws(comma + 1, end) - header->value.p);
    return 0;
}

/* Ends a step: length is what the decoder returned. An error ends the walk. */
static int step(struct vd_value_iterator *iterator, int length)
{
    int error = length < 0 ? length : vd__value_iterator_pass(iterator, (size_t)length);
    if (error == 0) {
        return 1;
    }
    iterator->header = NULL;
    return error;
}

int vd_via_next(struct vd_value_iterator *iterator, struct vd_via *out)
{
    struct vd_str text;
    if (!next_text(iterator, &text)) {
        return 0;
    }
    return step(iterator, vd__message_decode_via(iterator->message, text, out));
}

int vd_nameaddr_next(struct vd_value_iterator *iterator, struct vd_nameaddr *out)
{
    struct vd_str text;
    if (!next_text(iterator, &text)) {
        return 0;
    }
    enum vd_header_id id = iterator->header->id;
    return step(iterator, vd__message_decode_address(iterator->message, text, id, out));
}

int vd_token_next(struct vd_value_iterator *iterator, struct vd_token *out)
{
    struct vd_str text;
    if (!next_text(iterator, &text)) {
        return 0;
    }
    enum vd_header_id id = iterator->header->id;
    return step(iterator, vd__message_decode_token(iterator->message, text, id, out));
}

int vd_info_next(struct vd_value_iterator *iterator, struct vd_info *out)
{
    struct vd_str text;
    if (!next_text(iterator, &text)) {
        return 0;
    }
    struct vd_message *message = iterator->message;
    struct vd_fault fault;
    int length = vd_info_parse(text, out, &fault);
    if (length < 0) {
        return step(iterator, vd__message_pass_fault(message, text, &fault));
    }
    int error = vd__message_check_params(message, &out->params, text);
    return step(iterator, error != 0 ? error : length);
}

int vd_auth_next(struct vd_value_iterator *iterator, struct vd_auth *out)
{
    struct vd_str text;
    if (!next_text(iterator, &text)) {
        return 0;
    }
    struct vd_message *message = iterator->message;
    enum vd_header_id id = iterator->header->id;
    struct vd_fault fault;
    int length = vd_auth_parse(text, id, out, &fault);
    if (length < 0) {
        return step(iterator, vd__message_pass_fault(message, text, &fault));
    }
    int error = vd__message_check_params(message, &out->params, text);
    return step(iterator, error != 0 ? error : length);
}

int vd_warning_next(struct vd_value_iterator *iterator, struct vd_warning *out)
{
    struct vd_str text;
    if (!next_text(iterator, &text)) {
        return 0;
    }
    struct vd_fault fault;
    int length = vd_warning_parse(text, out, &fault);
    if (length < 0) {
        length = vd__message_pass_fault(iterator->message, text, &fault);
    }
    return step(iterator, length);
}
