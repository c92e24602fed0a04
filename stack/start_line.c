/* start_line.c - the request line and the status line (RFC 3261 7.1, 7.2).
 *
 * A line is taken as SIP's when it begins with "SIP/" or ends with a SIP-Version; whatever else is
 * wrong with it is then a fault of the message, which a 400 can tell. Any other line, of HTTP or
 * SSDP say, is VD_ERR_NOT_SIP.
 *
 * SPDX-License-Identifier: MIT
 */
#include "message_internal.h"
#include "lex.h"
#include "scan.h"

/* " SIP/2.0", which ends a request line; without its space it begins a status line. */
#define VERSION_SIZE 8

/* True when the text is "SIP/2.0" (in any case: RFC 3261 7.1). */
static bool is_version_2_0(const char *p)
{
    return vd__is_word(p, "sip/2.0", VERSION_SIZE - 1);
}

/* The end of a SIP-Version of any number at p; NULL when there is none. */
static const char *skip_version(const char *p, const char *end)
{
    if (end - p < 6 || !vd__is_word(p, "sip/", 4)) {
        return NULL;
    }
    const char *dot = vd__skip(p + 4, end, VD__DIGIT);
    if (dot == p + 4 || dot == end || *dot != '.') {
        return NULL;
    }
    const char *last = vd__skip(dot + 1, end, VD__DIGIT);
    return last != dot + 1 ? last : NULL;
}

/* The fault of a request line whose three parts have been told apart, if it has one. */
static void check_request_line(const struct vd_message *message, const char *line, size_t uri_size,
                               struct vd_fault *fault)
{
    struct vd_str method = message->method;
    struct vd_str uri = message->request_uri;
    if (method.n == 0 ||
        vd__skip(method.p, method.p + method.n, VD__TOKEN) != method.p + method.n) {
        vd__fail(fault, VD_ERR_SYNTAX, 0, "Method is a token (RFC 3261 25.1)");
    } else if (uri.n == 0) {
        vd__fail(fault, VD_ERR_SYNTAX, method.n, "Request-URI after the method (RFC 3261 7.1)");
    } else if (uri.n > uri_size) {
        vd__fail(fault, VD_ERR_URI_TOO_LONG, (size_t)(uri.p - line),
                 "Request-URI within the configured size (RFC 3261 21.4.12)");
    }
}

/* A request line of any kind. Tells the three parts apart as well as it can, so that the
 * application sees what was meant, and notes what is wrong. */
static int read_request_line(struct vd_message *message, const char *line, const char *end,
                             size_t uri_size, struct vd_fault *fault)
{
    const char *last = end;
    while (last > line && vd__is_wsp(last[-1])) {
        last--;
    }
    const char *version = last;
    while (version > line && !vd__is_wsp(version[-1])) {
        version--;
    }
    if (skip_version(version, last) != last) {
        return VD_ERR_NOT_SIP;
    }

    const char *method_end = vd__scan_space(line, version);
    const char *uri = method_end;
    while (uri < version && vd__is_wsp(*uri)) {
        uri++;
    }
    const char *uri_end = version;
    while (uri_end > uri && vd__is_wsp(uri_end[-1])) {
        uri_end--;
    }

    message->is_request = true;
    message->method = vd__view(line, method_end);
    message->method_id = (uint8_t)vd_method_id(message->method);
    message->request_uri = vd__view(uri, uri_end);

    if (last - version != VERSION_SIZE - 1 || !is_version_2_0(version)) {
        vd__fail(fault, VD_ERR_VERSION, (size_t)(version - line),
                 "SIP-Version is 2.0 (RFC 3261 7.1)");
        return 0;
    }
    check_request_line(message, line, uri_size, fault);
    bool spaced = *method_end == ' ' && uri == method_end + 1 && version[-1] == ' ' &&
                  uri_end == version - 1 && last == end && vd__scan_space(uri, uri_end) == uri_end;
    if (fault->error == 0 && !spaced) {
        vd__fail(fault, VD_ERR_SYNTAX, (size_t)(uri - line),
                 "single spaces part the request line, none in the Request-URI (RFC 3261 7.1)");
    }
    return 0;
}

/* A status line, which begins with "SIP/" at least. */
static void read_status_line(struct vd_message *message, const char *line, const char *end,
                             struct vd_fault *fault)
{
    const char *version = skip_version(line, end);
    if (version == NULL) {
        vd__fail(fault, VD_ERR_SYNTAX, 0, "SIP-Version is SIP/2.0 (RFC 3261 7.1)");
        return;
    }
    if (version - line != VERSION_SIZE - 1 || !is_version_2_0(line)) {
        vd__fail(fault, VD_ERR_VERSION, 0, "SIP-Version is 2.0 (RFC 3261 7.1)");
        return;
    }
    const char *code = version + 1;
    if (end - version < 5 || *version != ' ' || vd__skip(code, code + 3, VD__DIGIT) != code + 3 ||
        code[3] != ' ') {
        vd__fail(fault, VD_ERR_SYNTAX, (size_t)(version - line),
                 "Status-Code is three digits between spaces (RFC 3261 7.2)");
        return;
    }
    int status = (code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0');
    if (status < 100 || status > 699) {
        vd__fail(fault, VD_ERR_RANGE, (size_t)(code - line),
                 "Status-Code from 100 to 699 (RFC 3261 7.2)");
        return;
    }
    message->status = (uint16_t)status;
    message->reason = vd__view(code + 4, end);
}

const char *vd__request_line(struct vd_message *message, const char *line, const char *end,
                             const struct vd_limits *limits)
{
    static const char tail[] = " SIP/2.0\r\n";
    const size_t tail_size = sizeof tail - 1;
    const char *space = vd__scan_space(line, end);
    if (space == end || *space != ' ') {
        return NULL;
    }
    const char *uri = space + 1;
    const char *uri_end = vd__scan_space(uri, end);
    if (uri_end == uri || (size_t)(end - uri_end) < tail_size ||
        memcmp(uri_end, tail, tail_size) != 0) {
        return NULL;
    }

    struct vd_str method = vd__view(line, space);
    enum vd_method id = vd_method_id(method);
    if (id == VD_METHOD_OTHER || (size_t)(uri_end - uri) > limits->uri_size ||
        (size_t)(uri_end - line) + tail_size - 2 > limits->line_size) {
        return NULL;
    }
    message->is_request = true;
    message->method = method;
    message->method_id = (uint8_t)id;
    message->request_uri = vd__view(uri, uri_end);
    return uri_end + tail_size;
}

const char *vd__status_line(struct vd_message *message, const char *line, const char *end,
                            const struct vd_limits *limits)
{
    static const char head[] = "SIP/2.0 ";
    const size_t head_size = sizeof head - 1;
    if (end - line < VD__SCAN_STEP || memcmp(line, head, head_size) != 0) {
        return NULL;
    }
    const char *code = line + head_size;
    unsigned hundreds = vd__digit(code[0]);
    unsigned tens = vd__digit(code[1]);
    unsigned ones = vd__digit(code[2]);
    if (hundreds < 1 || hundreds > 6 || tens > 9 || ones > 9 || code[3] != ' ') {
        return NULL;
    }
    const char *reason = code + 4;
    const char *stop = vd__scan_control(reason, end);
    if (end - stop < 2 || stop[0] != '\r' || stop[1] != '\n' ||
        (size_t)(stop - line) > limits->line_size) {
        return NULL;
    }
    message->status = (uint16_t)(hundreds * 100 + tens * 10 + ones);
    message->reason = vd__view(reason, stop);
    return stop + 2;
}

int vd__start_line(struct vd_message *message, const char *line, const char *end,
                   const struct vd_limits *limits, struct vd_fault *fault)
{
    if (end - line < VERSION_SIZE) {
        return VD_ERR_NOT_SIP;
    }
    if (vd__is_word(line, "sip/", 4)) {
        read_status_line(message, line, end, fault);
        return 0;
    }
    return read_request_line(message, line, end, limits->uri_size, fault);
}
