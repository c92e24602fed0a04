/* fuzz_message.c - any bytes as a message: both framings, all that can be asked of a message.
 *
 * What must hold: every view lies within the input; a message takes no more bytes than there are; a
 * fault lies within the message and names its rule; what was remembered, and what a copy decodes
 * anew, is what was decoded first.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/message.h>

#include <stdlib.h>

#define HEADERS 128

/* The bytes that views must lie in. */
struct area {
    const char *p;
    size_t n;
};

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static void inside(const struct area *area, struct vd_str view)
{
    if (view.n == 0) {
        return;
    }
    must(view.p >= area->p && view.n <= area->n && view.p + view.n <= area->p + area->n);
}

/* Params are walked to the end: as many as were counted, each can be found, unquoted, unescaped. */
static void see_params(const struct area *area, const struct vd_params *params)
{
    size_t position = 0;
    size_t count = 0;
    struct vd_param param;
    char out[256];
    inside(area, params->raw);
    while (vd_params_next(params, &position, &param)) {
        struct vd_str value;
        inside(area, param.name);
        inside(area, param.value);
        must(param.has_value || param.value.n == 0);
        must(vd_params_get(params, param.name, &value) == 0);
        must(vd_unquote(param.value, out, sizeof out) <= (int)sizeof out);
        must(vd_unescape(param.value, out, sizeof out) <= (int)sizeof out);
        count++;
    }
    must(count == params->count);
}

static void see_uri(const struct area *area, const struct vd_uri *uri)
{
    inside(area, uri->raw);
    inside(area, uri->scheme_name);
    inside(area, uri->opaque);
    inside(area, uri->user);
    inside(area, uri->password);
    inside(area, uri->host);
    see_params(area, &uri->params);
    see_params(area, &uri->headers);
    must(vd_uri_equal(uri, uri));
    (void)vd_uri_is_loose_router(uri);
}

static void see_address(const struct area *area, const struct vd_nameaddr *address)
{
    char out[256];
    inside(area, address->display);
    inside(area, address->tag);
    inside(area, address->q);
    inside(area, address->expires);
    see_params(area, &address->params);
    if (!address->star) {
        see_uri(area, &address->uri);
    }
    must(vd_unquote(address->display, out, sizeof out) <= (int)sizeof out);
}

static void see_via(const struct area *area, const struct vd_via *via)
{
    inside(area, via->raw);
    inside(area, via->transport);
    inside(area, via->sent_by);
    inside(area, via->host);
    inside(area, via->branch);
    inside(area, via->received);
    inside(area, via->maddr);
    see_params(area, &via->params);
    (void)vd_via_has_cookie(via);
}

static void see_token(const struct area *area, const struct vd_token *token)
{
    inside(area, token->value);
    inside(area, token->type);
    inside(area, token->subtype);
    inside(area, token->q);
    see_params(area, &token->params);
}

/* An error is one that the functions may return, and was noted. */
static int see_error(const struct vd_message *message, int error)
{
    must(error <= 0);
    if (error != 0 && error != VD_ERR_NOT_FOUND) {
        must(message->fault.error == error);
        must(message->fault.offset <= message->raw.n);
        must(message->fault.rule != NULL && message->fault.rule[0] != '\0');
        must(vd_error_status(error) >= 400);
    }
    return error;
}

static void see_lists(const struct area *area, struct vd_message *message)
{
    for (int id = 0; id < VD_HEADER_COUNT; id++) {
        struct vd_value_iterator iterator;
        struct vd_via via;
        struct vd_nameaddr address;
        struct vd_token token;
        struct vd_info info;
        struct vd_auth auth;
        struct vd_warning warning;
        enum vd_header_id number = (enum vd_header_id)id;
        int rc;
        vd_value_iterator_init(&iterator, message, number);
        while ((rc = vd_via_next(&iterator, &via)) > 0) {
            see_via(area, &via);
        }
        see_error(message, rc);
        vd_value_iterator_init(&iterator, message, number);
        while ((rc = vd_nameaddr_next(&iterator, &address)) > 0) {
            see_address(area, &address);
        }
        see_error(message, rc);
        vd_value_iterator_init(&iterator, message, number);
        while ((rc = vd_token_next(&iterator, &token)) > 0) {
            see_token(area, &token);
        }
        see_error(message, rc);
        vd_value_iterator_init(&iterator, message, number);
        while ((rc = vd_info_next(&iterator, &info)) > 0) {
            inside(area, info.uri);
            see_params(area, &info.params);
        }
        see_error(message, rc);
        vd_value_iterator_init(&iterator, message, number);
        while ((rc = vd_auth_next(&iterator, &auth)) > 0) {
            inside(area, auth.scheme);
            see_params(area, &auth.params);
        }
        see_error(message, rc);
        vd_value_iterator_init(&iterator, message, number);
        while ((rc = vd_warning_next(&iterator, &warning)) > 0) {
            inside(area, warning.agent);
            inside(area, warning.text);
        }
        see_error(message, rc);
    }
}

static void see_remembered(const struct area *area, struct vd_message *message)
{
    const struct vd_uri *uri;
    const struct vd_via *via;
    const struct vd_nameaddr *address;
    const struct vd_cseq *cseq;
    struct vd_str call_id;
    uint32_t number;
    if (see_error(message, vd_message_request_uri(message, &uri)) == 0) {
        see_uri(area, uri);
    }
    if (see_error(message, vd_message_top_via(message, &via)) == 0) {
        see_via(area, via);
    }
    if (see_error(message, vd_message_from(message, &address)) == 0) {
        see_address(area, address);
    }
    if (see_error(message, vd_message_to(message, &address)) == 0) {
        see_address(area, address);
    }
    if (see_error(message, vd_message_contact(message, &address)) == 0) {
        see_address(area, address);
    }
    if (see_error(message, vd_message_cseq(message, &cseq)) == 0) {
        inside(area, cseq->method);
        must(cseq->number < 0x80000000U);
    }
    if (see_error(message, vd_message_call_id(message, &call_id)) == 0) {
        inside(area, call_id);
    }
    if (see_error(message, vd_message_max_forwards(message, &number)) == 0) {
        must(number <= 255);
    }
}

static void see_others(const struct area *area, struct vd_message *message)
{
    uint32_t number;
    struct vd_token token;
    struct vd_nameaddr address;
    struct vd_date date;
    struct vd_retry_after retry_after;
    struct vd_timestamp timestamp;
    struct vd_str text;
    see_error(message, vd_message_expires(message, &number));
    see_error(message, vd_message_min_expires(message, &number));
    if (see_error(message, vd_message_content_type(message, &token)) == 0) {
        see_token(area, &token);
    }
    if (see_error(message, vd_message_content_disposition(message, &token)) == 0) {
        see_token(area, &token);
    }
    if (see_error(message, vd_message_priority(message, &token)) == 0) {
        see_token(area, &token);
    }
    if (see_error(message, vd_message_mime_version(message, &token)) == 0) {
        see_token(area, &token);
    }
    if (see_error(message, vd_message_reply_to(message, &address)) == 0) {
        see_address(area, &address);
    }
    see_error(message, vd_message_date(message, &date));
    if (see_error(message, vd_message_retry_after(message, &retry_after)) == 0) {
        see_params(area, &retry_after.params);
    }
    see_error(message, vd_message_timestamp(message, &timestamp));
    if (vd_message_text(message, VD_HEADER_SUBJECT, &text) == 0) {
        inside(area, text);
    }
}

/* Each header field is found by its number and by its name, once. */
static void see_headers(const struct area *area, const struct vd_message *message)
{
    size_t found = 0;
    for (size_t i = 0; i < message->header_count; i++) {
        const struct vd_header *header = &message->headers[i];
        char out[512];
        inside(area, header->name);
        inside(area, header->value);
        must(header->name.n > 0);
        must(vd_message_header_named(message, header->name) != NULL);
        must(vd_header_unfold(header, out, sizeof out) <= (int)sizeof out);
    }
    for (int id = 1; id < VD_HEADER_COUNT; id++) {
        const struct vd_header *header = vd_message_header(message, (enum vd_header_id)id);
        for (; header != NULL; header = vd_message_header_next(message, header)) {
            must(header->id == id);
            found++;
        }
    }
    for (size_t i = 0; i < message->header_count; i++) {
        found += message->headers[i].id == VD_HEADER_OTHER;
    }
    must(found == message->header_count);
}

static void see_message(struct vd_message *message)
{
    struct area area = {message->raw.p, message->raw.n};
    inside(&area, message->body);
    inside(&area, message->method);
    inside(&area, message->request_uri);
    inside(&area, message->reason);
    see_headers(&area, message);
    see_lists(&area, message);
    see_others(&area, message);
    see_remembered(&area, message);
    see_remembered(&area, message);
}

static void parse(const char *data, size_t size, enum vd_framing framing,
                  const struct vd_limits *limits)
{
    static struct vd_header headers[HEADERS];
    struct vd_message message;
    vd_message_init(&message, headers, HEADERS);
    int rc = vd_message_parse(&message, data, size, framing, limits);
    must(rc == message.fault.error || (rc > 0 && message.fault.error == 0));
    must(rc < 0 || (size_t)rc <= size);
    if (rc == VD_ERR_INCOMPLETE) {
        must(framing == VD_FRAMING_STREAM);
        must(message.raw.n == 0 || message.raw.n > size - (size_t)(message.raw.p - data));
        return;
    }
    must(message.raw.p >= data && message.raw.p + message.raw.n <= data + size);
    see_message(&message);

    int error = see_error(&message, vd_message_check(&message));
    struct vd_message *copy = vd_message_copy(&message, NULL);
    if (copy == NULL) {
        return;
    }
    must(vd_message_check(copy) == error);
    must(error == 0 || message.fault.offset == copy->fault.offset);
    see_message(copy);
    vd_message_free(copy, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct vd_limits narrow = {600, 400, 100, 40, 8, 3};
    const char *bytes = (const char *)data;
    parse(bytes, size, VD_FRAMING_DATAGRAM, NULL);
    parse(bytes, size, VD_FRAMING_STREAM, NULL);
    parse(bytes, size, VD_FRAMING_DATAGRAM, &narrow);
    parse(bytes, size, VD_FRAMING_STREAM, &narrow);
    return 0;
}
