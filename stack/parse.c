/* parse.c - one pass over a message: lines, header fields, Content-Length (RFC 3261 7 and 18.3).
 *
 * Only CRLF ends a line, so the header fields end at the first CR LF CR LF behind the start line,
 * whatever else stands there: the framer relies on that. Bytes from 0x80 on are taken in any header
 * field as they are, also where they are no UTF-8: it is for whoever shows them to make sense of
 * them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "message_internal.h"

#include <limits.h>

#include "header_table.h"
#include "lex.h"
#include "scan.h"

static const char rule_control[] =
    "no control character outside a quoted-pair, CR and LF only as CRLF (RFC 3261 25.1)";

/* What is being read. end is where the header fields must have ended: of the bytes that are there,
 * as many as the limit allows. */
struct reader {
    struct vd_message *message;
    const struct vd_limits *limits;
    const char *start;
    const char *end;
    uint16_t capacity;
};

/* Notes a fault unless there was one before: the first is reported. */
__attribute__((cold)) static void refuse(struct reader *reader, int error, const char *at,
                                         const char *rule)
{
    if (reader->message->fault.error == 0) {
        vd__message_fault(reader->message, error, at, rule);
    }
}

static void reset(struct vd_message *message, const char *start, const struct vd_limits *limits)
{
    message->raw = vd_str(start, 0);
    message->body = vd_str(start, 0);
    message->is_request = false;
    message->method_id = VD_METHOD_OTHER;
    message->status = 0;
    message->method = vd_str(start, 0);
    message->request_uri = vd_str(start, 0);
    message->reason = vd_str(start, 0);
    message->header_count = 0;
    message->has_content_length = false;
    message->via_refused = false;
    message->content_length = 0;
    message->fault = (struct vd_fault){0, 0, ""};
    message->params_limit = limits->params;
    memset(message->first, 0, sizeof message->first);
    memset(message->decoded, 0, sizeof message->decoded);
}

/* Puts a header field at the end of the list of those with the same number. */
static void store(struct reader *reader, enum vd_header_id id, struct vd_str name,
                  struct vd_str value, bool folded)
{
    struct vd_message *message = reader->message;
    if (message->header_count >= reader->capacity) {
        refuse(reader, VD_ERR_TOO_MANY, name.p, "header fields within the configured number");
        return;
    }
    struct vd_header *header = &message->headers[message->header_count++];
    header->name = name;
    header->value = value;
    header->next = 0;
    header->id = (uint8_t)id;
    header->folded = folded;

    if (message->first[id] == 0) {
        message->first[id] = message->header_count;
    } else {
        message->headers[message->last[id] - 1].next = message->header_count;
        if (vd_header_info(id)->form == VD_HEADER_SINGLE) {
            refuse(reader, VD_ERR_DUPLICATE, name.p,
                   "a header field that is no list appears once (RFC 3261 7.3.1)");
        }
    }
    message->last[id] = message->header_count;
}

/* Finds the end of a header field that has control characters other than its CRLF and folds. A
 * quoted-pair within a quoted string or a comment may hold one (RFC 3261 25.1), but neither CR nor
 * LF. *folded tells of folds, *bad is the first character that may not be there, else NULL. Returns
 * NULL when the field does not end. */
__attribute__((cold)) static const char *find_end(const char *p, const char *end, bool *folded,
                                                  const char **bad)
{
    bool quoted = false;
    size_t comments = 0;
    bool in_value = false;
    for (; p < end; p++) {
        if (*p == '\r' && end - p > 1 && p[1] == '\n') {
            if (end - p == 2 || !vd__is_wsp(p[2])) {
                return p;
            }
            *folded = true;
            p += 2;
        } else if (*p == '\\' && (quoted || comments > 0) && end - p > 1 && p[1] != '\r' &&
                   p[1] != '\n') {
            p++;
        } else if (vd__is_control(*p)) {
            if (*bad == NULL) {
                *bad = p;
            }
        } else if (*p == '"' && in_value && comments == 0) {
            quoted = !quoted;
        } else if (*p == '(' && in_value && !quoted) {
            comments++;
        } else if (*p == ')' && comments > 0 && !quoted) {
            comments--;
        } else if (*p == ':') {
            in_value = true;
        }
    }
    return NULL;
}

/* Splits a header field whose name the table does not have as it stands: white space may part it
 * from the colon (RFC 3261 7.3.1, HCOLON of 25.1). The name must be a token. */
static bool split_name(struct reader *reader, struct vd_str *name, enum vd_header_id *id)
{
    size_t n = name->n;
    while (n > 0 && vd__is_wsp(name->p[n - 1])) {
        n--;
    }
    if (n != name->n) {
        name->n = n;
        *id = vd_header_id(*name);
        if (*id != VD_HEADER_OTHER) {
            return true;
        }
    }
    const char *stop = vd__skip(name->p, name->p + name->n, VD__TOKEN);
    if (name->n > 0 && stop == name->p + name->n) {
        return true;
    }
    refuse(reader, VD_ERR_SYNTAX, stop, "header field name is a token (RFC 3261 25.1)");
    return false;
}

/* Takes apart the header field [line, end) and stores it. colon may be NULL when it is not known.
 */
static void split(struct reader *reader, const char *line, const char *colon, const char *end,
                  bool folded)
{
    if (colon == NULL || colon >= end) {
        colon = memchr(line, ':', (size_t)(end - line));
    }
    if (colon == NULL) {
        refuse(reader, VD_ERR_SYNTAX, line, "a colon ends the header field name (RFC 3261 7.3.1)");
        return;
    }
    struct vd_str name = vd__view(line, colon);
    enum vd_header_id id =
        reader->end - line >= VD__SCAN_STEP ? vd__header_id(name) : vd_header_id(name);
    if (id == VD_HEADER_OTHER && !split_name(reader, &name, &id)) {
        return;
    }
    if ((size_t)(end - line) > reader->limits->line_size) {
        refuse(reader, VD_ERR_TOO_LARGE, line, "header field within the configured size");
        reader->message->via_refused |= id == VD_HEADER_VIA;
        return;
    }

    /* The CR at end is no space, so what stands behind the colon can be looked at. */
    const char *value = colon + 2;
    if (colon[1] != ' ' || (unsigned char)colon[2] <= ' ') {
        value = vd__skip_lws(colon + 1, end);
    }
    const char *last = end;
    while ((unsigned char)last[-1] <= ' ' && last > value && vd__is(last[-1], VD__LWS)) {
        last--;
    }
    if (folded) {
        while (last > value && (vd__is(last[-1], VD__LWS) || last[-1] == '\n')) {
            last--;
        }
    }
    store(reader, id, name, vd__view(value, last), folded);
}

/* A header field with a control character in it is not stored; a Via that is missing must be known.
 */
static void note_refused_via(struct reader *reader, const char *line, const char *bad)
{
    const char *colon = memchr(line, ':', (size_t)(bad - line));
    if (colon == NULL) {
        return;
    }
    while (colon > line && vd__is_wsp(colon[-1])) {
        colon--;
    }
    if (vd_header_id(vd__view(line, colon)) == VD_HEADER_VIA) {
        reader->message->via_refused = true;
    }
}

/* Reads the header field at line with its folds. Returns the start of the next line, NULL when the
 * field does not end. */
static const char *read_header(struct reader *reader, const char *line)
{
    const char *const end = reader->end;
    const char *colon;
    const char *stop = vd__scan_header(line, end, &colon);
    const char *bad = NULL;
    bool folded = false;
    for (;;) {
        if (end - stop < 3 || memcmp(stop, "\r\n", 2) != 0) {
            stop = find_end(line, end, &folded, &bad);
            break;
        }
        if (!vd__is_wsp(stop[2])) {
            break;
        }
        folded = true;
        stop = vd__scan_control(stop + 3, end);
    }
    if (bad != NULL) {
        refuse(reader, VD_ERR_SYNTAX, bad, rule_control);
        note_refused_via(reader, line, bad);
    }
    if (stop == NULL) {
        return NULL;
    }
    if (bad == NULL) {
        split(reader, line, colon, stop, folded);
    }
    return stop + 2;
}

/* Reads the header fields from line on. Returns the start of the body, NULL when no empty line ends
 * them. */
static const char *read_headers(struct reader *reader, const char *line)
{
    while (line != NULL && reader->end - line >= 2) {
        if (memcmp(line, "\r\n", 2) == 0) {
            return line + 2;
        }
        line = read_header(reader, line);
    }
    return NULL;
}

/* Reads the start line. Returns the start of the next one; NULL when the line does not end, or is
 * not SIP's (*error is then VD_ERR_NOT_SIP). */
static const char *read_start_line(struct reader *reader, int *error)
{
    const char *line = reader->start;
    const char *next = vd__status_line(reader->message, line, reader->end, reader->limits);
    if (next == NULL) {
        next = vd__request_line(reader->message, line, reader->end, reader->limits);
    }
    if (next != NULL) {
        return next;
    }

    const char *stop = vd__scan_control(line, reader->end);
    const char *crlf = stop;
    while (reader->end - crlf >= 2 && (crlf[0] != '\r' || crlf[1] != '\n')) {
        crlf++;
    }
    *error = vd__is(*line, VD__TOKEN) ? 0 : VD_ERR_NOT_SIP;
    if (reader->end - crlf < 2 || *error != 0) {
        return NULL;
    }

    /* Up to a control character the line may be SIP's, or with it when it ends as a request line.
     */
    struct vd_fault fault = {0, 0, NULL};
    *error = vd__start_line(reader->message, line, stop, reader->limits, &fault);
    if (*error != 0 && crlf - stop > 8 && vd__scan_control(crlf - 8, crlf) == crlf) {
        *error = vd__start_line(reader->message, line, crlf, reader->limits, &fault);
    }
    if (*error != 0) {
        return NULL;
    }

    if (stop != crlf) {
        refuse(reader, VD_ERR_SYNTAX, stop, rule_control);
    } else if (fault.error != 0) {
        refuse(reader, fault.error, line + fault.offset, fault.rule);
    } else if ((size_t)(crlf - line) > reader->limits->line_size) {
        refuse(reader, VD_ERR_TOO_LARGE, line, "start line within the configured size");
    }
    return crlf + 2;
}

/* Reads Content-Length: digits and nothing else (RFC 3261 20.14). A number that does not fit reads
 * as the largest that does, which is longer than any message may be. */
static void read_content_length(struct reader *reader)
{
    struct vd_message *message = reader->message;
    uint16_t first = message->first[VD_HEADER_CONTENT_LENGTH];
    if (first == 0) {
        return;
    }
    struct vd_str value = message->headers[first - 1].value;
    uint64_t length = 0;
    for (size_t i = 0; i < value.n; i++) {
        if (!vd__is(value.p[i], VD__DIGIT)) {
            refuse(reader, VD_ERR_SYNTAX, value.p + i,
                   "Content-Length is digits only (RFC 3261 20.14)");
            return;
        }
        length = length * 10 + (uint64_t)(value.p[i] - '0');
        if (length > UINT32_MAX) {
            length = UINT32_MAX;
        }
    }
    if (value.n == 0) {
        refuse(reader, VD_ERR_SYNTAX, value.p, "Content-Length has a number (RFC 3261 20.14)");
        return;
    }
    message->has_content_length = true;
    message->content_length = (uint32_t)length;
}

/* The body of a datagram: what is past Content-Length is dropped, and without one it runs to the
 * end (RFC 3261 18.3). */
static void take_datagram(struct reader *reader, const char *body, size_t available)
{
    struct vd_message *message = reader->message;
    size_t length = available;
    if (message->has_content_length && message->content_length > available) {
        refuse(reader, VD_ERR_TRUNCATED, body,
               "Content-Length within the datagram (RFC 3261 18.3)");
    } else if (message->has_content_length) {
        length = message->content_length;
    } else {
        message->content_length = (uint32_t)available;
    }
    message->body = vd_str(body, length);
    message->raw.n = (size_t)(body - reader->start) + length;
}

/* The body of a message on a stream, where only Content-Length tells its size (RFC 3261 18.3). */
static int take_stream(struct reader *reader, const char *body, size_t available, size_t size_limit)
{
    struct vd_message *message = reader->message;
    size_t head = (size_t)(body - reader->start);
    message->body = vd_str(body, 0);
    message->raw.n = head;
    if (head > size_limit || message->content_length > size_limit - head) {
        refuse(reader, VD_ERR_TOO_LARGE, body, "message within the configured size");
    }
    if (message->fault.error != 0) {
        return message->fault.error;
    }

    message->raw.n = head + message->content_length;
    if (message->content_length > available) {
        return vd__message_fault(message, VD_ERR_INCOMPLETE, body, "the body goes on");
    }
    message->body.n = message->content_length;
    return 0;
}

/* What a message is whose header fields do not end within the bytes that may hold them. */
static int end_without_body(struct reader *reader, enum vd_framing framing, const char *bytes_end)
{
    struct vd_message *message = reader->message;
    bool over_limit = (size_t)(reader->end - reader->start) >= reader->limits->header_size;
    if (framing == VD_FRAMING_STREAM && !over_limit) {
        return vd__message_fault(message, VD_ERR_INCOMPLETE, reader->end,
                                 "the header fields go on");
    }

    if (over_limit) {
        refuse(reader, VD_ERR_TOO_LARGE, reader->end, "header fields within the configured size");
    }
    refuse(reader, VD_ERR_SYNTAX, reader->end, "an empty line ends the header fields (RFC 3261 7)");
    if (framing == VD_FRAMING_DATAGRAM) {
        message->raw.n = (size_t)(bytes_end - reader->start);
    } else {
        message->raw.n = (size_t)(reader->end - reader->start);
    }
    return message->fault.error;
}

/* Past the CRLFs in front of a start line (RFC 3261 7.5). */
static const char *skip_crlf(const char *p, const char *end)
{
    while (end - p >= 2 && p[0] == '\r' && p[1] == '\n') {
        p += 2;
    }
    return p;
}

int vd_message_parse(struct vd_message *message, const char *bytes, size_t size,
                     enum vd_framing framing, const struct vd_limits *limits)
{
    if (limits == NULL) {
        limits = &vd__limits_default;
    }
    const char *end = bytes + size;
    const char *start = skip_crlf(bytes, end);
    reset(message, start, limits);

    size_t left = (size_t)(end - start);
    bool begun = left > 1 || (left == 1 && *start != '\r');
    if (!begun && framing == VD_FRAMING_STREAM) {
        return vd__message_fault(message, VD_ERR_INCOMPLETE, start, "the start line goes on");
    }
    if (!begun) {
        return vd__message_fault(message, VD_ERR_NOT_SIP, start, "a start line (RFC 3261 7)");
    }

    struct reader reader = {
        .message = message,
        .limits = limits,
        .start = start,
        .end = left < limits->header_size ? end : start + limits->header_size,
        .capacity =
            message->header_capacity < limits->headers ? message->header_capacity : limits->headers,
    };
    int error = 0;
    const char *line = read_start_line(&reader, &error);
    if (error != 0 || (line == NULL && framing == VD_FRAMING_DATAGRAM)) {
        reset(message, start, limits);
        return vd__message_fault(message, VD_ERR_NOT_SIP, start, "a start line (RFC 3261 7)");
    }
    const char *body = read_headers(&reader, line);
    if (body == NULL) {
        return end_without_body(&reader, framing, end);
    }

    read_content_length(&reader);
    size_t size_limit = limits->message_size < INT_MAX ? limits->message_size : INT_MAX;
    if (framing == VD_FRAMING_STREAM) {
        error = take_stream(&reader, body, (size_t)(end - body), size_limit);
        return error != 0 ? error : (int)(start + message->raw.n - bytes);
    }
    if (size > size_limit) {
        refuse(&reader, VD_ERR_TOO_LARGE, body, "message within the configured size");
    }
    take_datagram(&reader, body, (size_t)(end - body));
    return message->fault.error != 0 ? message->fault.error : (int)size;
}
