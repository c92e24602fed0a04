/* harness_message.c - the messages of the harness: what the peer sends, and what our application
 * does.
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* A text that grows. */
struct text {
    char *bytes;
    size_t size;
    size_t capacity;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int needed = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (text->size + (size_t)needed + 1 > text->capacity) {
        text->capacity = 2 * (text->size + (size_t)needed + 1);
        text->bytes = realloc(text->bytes, text->capacity);
        if (text->bytes == NULL) {
            abort();
        }
    }
    va_start(arguments, format);
    vsnprintf(text->bytes + text->size, text->capacity - text->size, format, arguments);
    va_end(arguments);
    text->size += (size_t)needed;
}

static const char *or_default(const char *value, const char *otherwise)
{
    return value != NULL ? value : otherwise;
}

static const char *transport_of(const struct harness *harness)
{
    static const char *const names[HARNESS_ENDPOINTS] = {[HARNESS_UDP] = "UDP",
                                                         [HARNESS_TCP] = "TCP",
                                                         [HARNESS_TLS] = "TLS",
                                                         [HARNESS_UDP6] = "UDP"};
    return names[harness->flow.endpoint];
}

static const char *sent_by_of(const struct harness *harness)
{
    static const char *const ends[HARNESS_ENDPOINTS] = {[HARNESS_UDP] = "192.0.2.10:5060",
                                                        [HARNESS_TCP] = "192.0.2.10:5060",
                                                        [HARNESS_TLS] = "192.0.2.10:5061",
                                                        [HARNESS_UDP6] = "[2001:db8::10]:5060"};
    return ends[harness->flow.endpoint];
}

static void add_via(struct text *text, const struct harness *harness,
                    const struct harness_request *request)
{
    add(text, "Via: SIP/2.0/%s %s", transport_of(harness),
        or_default(request->sent_by, sent_by_of(harness)));
    if (request->branch == NULL) {
        add(text, ";branch=z9hG4bK-%u", harness->serial);
    } else if (request->branch[0] != '\0') {
        add(text, ";branch=%s", request->branch);
    }
    add(text, "%s\r\n", or_default(request->via, ";rport"));
}

char *harness_request_text(const struct harness *harness, const struct harness_request *request)
{
    struct text text = {0};
    unsigned serial = harness->serial;
    const char *body = or_default(request->body, "");
    add(&text, "%s %s SIP/2.0\r\n", request->method,
        or_default(request->uri, "sip:bob@example.com"));
    add_via(&text, harness, request);
    add(&text, "Max-Forwards: 70\r\n");
    if (request->from != NULL) {
        add(&text, "From: %s\r\n", request->from);
    } else {
        add(&text, "From: <sip:alice@example.com>;tag=a%u\r\n", serial);
    }
    add(&text, "To: %s\r\n", or_default(request->to, "<sip:bob@example.com>"));
    if (request->call_id != NULL) {
        add(&text, "Call-ID: %s\r\n", request->call_id);
    } else {
        add(&text, "Call-ID: %u@example.com\r\n", serial);
    }
    if (request->cseq != NULL) {
        add(&text, "CSeq: %s\r\n", request->cseq);
    } else {
        add(&text, "CSeq: 1 %s\r\n", request->method);
    }
    add(&text, "%sContent-Length: %zu\r\n\r\n%s", or_default(request->headers, ""), strlen(body),
        body);
    return text.bytes;
}

int harness_receive_request(struct harness *harness, const struct harness_request *request)
{
    char *text = harness_request_text(harness, request);
    int rc = harness_receive(harness, text);
    free(text);
    return rc;
}

int harness_receive_method(struct harness *harness, const char *method)
{
    struct harness_request request = {.method = method};
    return harness_receive_request(harness, &request);
}

const char *harness_value(const char *text, const char *name, unsigned n)
{
    static char kept[8][4096];
    static unsigned turn;
    size_t name_size = strlen(name);
    char *out = kept[turn++ % 8];
    out[0] = '\0';
    const char *line = strstr(text, "\r\n");
    for (; line != NULL && strncmp(line, "\r\n\r\n", 4) != 0; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, name_size) == 0 && line[name_size] == ':' && n-- == 0) {
            const char *value = line + name_size + 1;
            value += strspn(value, " ");
            snprintf(out, sizeof kept[0], "%.*s", (int)strcspn(value, "\r"), value);
            break;
        }
    }
    return out;
}

static void copy_fields(struct text *out, const char *request, const char *name)
{
    for (unsigned n = 0; harness_value(request, name, n)[0] != '\0'; n++) {
        add(out, "%s: %s\r\n", name, harness_value(request, name, n));
    }
}

char *harness_response_text(const char *request, int status, const char *to_tag,
                            const char *headers)
{
    struct text text = {0};
    add(&text, "SIP/2.0 %d Reason\r\n", status);
    copy_fields(&text, request, "Via");
    copy_fields(&text, request, "From");
    add(&text, "To: %s", harness_value(request, "To", 0));
    if (to_tag != NULL) {
        add(&text, ";tag=%s", to_tag);
    }
    add(&text, "\r\n");
    copy_fields(&text, request, "Call-ID");
    copy_fields(&text, request, "CSeq");
    add(&text, "%sContent-Length: 0\r\n\r\n", or_default(headers, ""));
    return text.bytes;
}

int harness_receive_response(struct harness *harness, int status, const char *method)
{
    char prefix[40];
    snprintf(prefix, sizeof prefix, "%s ", method);
    const struct harness_sent *request = harness_find_sent(harness, prefix);
    if (request == NULL) {
        harness_note(harness, "no %s was sent", method);
        return VD_ERR_NOT_FOUND;
    }
    char *text = harness_response_text(request->text, status, status > 100 ? "b" : NULL,
                                       "Contact: <sip:bob@192.0.2.10:5060>\r\n");
    int rc = harness_receive(harness, text);
    free(text);
    return rc;
}

/* Appends whole header fields, "Name: value" with CRLF each. */
static void build_lines(struct vd_builder *builder, const char *lines)
{
    while (lines != NULL && lines[0] != '\0') {
        size_t name = strcspn(lines, ":");
        size_t end = strcspn(lines, "\r");
        vd_build_header_named(builder, vd_str(lines, name),
                              vd_str(lines + name + 2, end - name - 2));
        lines += end + 2;
    }
}

int harness_send_request(struct harness *harness, const char *method, const char *headers,
                         vd_transaction *out)
{
    struct vd_builder builder;
    vd_transaction transaction = 0;
    int rc = vd_request_begin(harness->stack, &builder, vd_str_from(method),
                              VD_STR("sip:bob@192.0.2.10"), &harness->flow);
    if (rc != 0) {
        return rc;
    }
    vd_build_nameaddr(&builder, VD_HEADER_FROM, VD_STR("Carol"), VD_STR("sip:carol@example.com"),
                      VD_STR("c1"));
    vd_build_nameaddr(&builder, VD_HEADER_TO, VD_STR(""), VD_STR("sip:bob@example.com"),
                      VD_STR(""));
    vd_build_header(&builder, VD_HEADER_CALL_ID, VD_STR("ours@192.0.2.20"));
    vd_build_cseq(&builder, ++harness->cseq, vd_str_from(method));
    vd_build_number(&builder, VD_HEADER_MAX_FORWARDS, 70);
    vd_build_nameaddr(&builder, VD_HEADER_CONTACT, VD_STR(""), VD_STR("sip:carol@192.0.2.20:5060"),
                      VD_STR(""));
    build_lines(&builder, headers);
    rc = vd_request_send(harness->stack, &builder, harness, harness->now, &transaction);
    if (rc == 0) {
        harness->client = transaction;
        if (strcmp(method, "INVITE") == 0) {
            harness->invite = transaction;
        }
    }
    if (out != NULL) {
        *out = transaction;
    }
    harness_drain(harness);
    return rc;
}

int harness_respond(struct harness *harness, int status)
{
    int rc = vd_respond(harness->stack, harness->server, status, vd_str(NULL, 0), harness->now);
    harness_drain(harness);
    return rc;
}
