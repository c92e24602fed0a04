/* test_parse.c - the start line, the split into header fields, and Content-Length.
 *
 * Covered: start lines good and bad; names, white space and folds of header fields; control
 * characters in every place; what appears twice; Content-Length on datagrams and streams; every
 * limit at its edge; messages cut short; what is still read after a fault. Every input ends at an
 * unreadable page. Not covered: values (test_message.c, test_values.c), whole messages of the RFCs
 * (test_torture.c), finding messages in a stream (test_frame.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/message.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "guard.h"
#include "run_suite.h"

#define HEADERS 64

static struct guard guard;
static struct vd_header headers[HEADERS];
static struct vd_message message;

/* The end of a message whose header fields were just written. */
#define NO_BODY "Content-Length: 0\r\n\r\n"
#define REQUEST "OPTIONS sip:bob@example.com SIP/2.0\r\n"

static int parse_bytes(const char *bytes, size_t size, enum vd_framing framing,
                       const struct vd_limits *limits)
{
    return vd_message_parse(&message, guard_place(&guard, bytes, size), size, framing, limits);
}

static int parse(const char *text, enum vd_framing framing)
{
    return parse_bytes(text, strlen(text), framing, NULL);
}

/* REQUEST, a header field or more, and NO_BODY. */
static int parse_header(const char *lines, enum vd_framing framing)
{
    char text[2048];
    snprintf(text, sizeof text, REQUEST "%s\r\n" NO_BODY, lines);
    return parse(text, framing);
}

static bool equal(struct vd_str text, const char *wanted)
{
    return vd_str_equal(text, vd_str_from(wanted));
}

static void request_line_is_taken_apart(void)
{
    CU_ASSERT(parse("INVITE sip:bob@example.com;x=y SIP/2.0\r\n" NO_BODY, VD_FRAMING_DATAGRAM) > 0);
    CU_ASSERT_TRUE(message.is_request);
    CU_ASSERT_EQUAL(message.method_id, VD_METHOD_INVITE);
    CU_ASSERT(equal(message.method, "INVITE"));
    CU_ASSERT(equal(message.request_uri, "sip:bob@example.com;x=y"));
    CU_ASSERT_EQUAL(message.status, 0);
    CU_ASSERT_EQUAL(message.reason.n, 0);

    CU_ASSERT(parse("invite tel:+1 sIp/2.0\r\n\r\n", VD_FRAMING_DATAGRAM) > 0);
    CU_ASSERT_EQUAL(message.method_id, VD_METHOD_OTHER);
    CU_ASSERT(equal(message.method, "invite"));
}

static void status_line_is_taken_apart(void)
{
    CU_ASSERT(parse("SIP/2.0 486 Busy  Here\xc3\xa9\xff\r\n" NO_BODY, VD_FRAMING_DATAGRAM) > 0);
    CU_ASSERT_FALSE(message.is_request);
    CU_ASSERT_EQUAL(message.status, 486);
    CU_ASSERT(equal(message.reason, "Busy  Here\xc3\xa9\xff"));
    CU_ASSERT_EQUAL(message.method.n, 0);
    CU_ASSERT_EQUAL(message.method_id, VD_METHOD_OTHER);

    CU_ASSERT(parse("sip/2.0 100 \r\n\r\n", VD_FRAMING_STREAM) > 0);
    CU_ASSERT_EQUAL(message.status, 100);
    CU_ASSERT_EQUAL(message.reason.n, 0);
    CU_ASSERT(parse("SIP/2.0 699 x\r\n\r\n", VD_FRAMING_STREAM) > 0);
    CU_ASSERT_EQUAL(message.status, 699);
}

static void start_lines_are_judged(void)
{
    static const struct {
        const char *line;
        int error;
        size_t offset;
    } cases[] = {
        /* Not SIP at all: dropped. */
        {"NOTIFY * HTTP/1.1", VD_ERR_NOT_SIP, 0},
        {"M-SEARCH * HTTP/1.1", VD_ERR_NOT_SIP, 0},
        {"HTTP/1.1 200 OK", VD_ERR_NOT_SIP, 0},
        {"GET / HTTP/1.0", VD_ERR_NOT_SIP, 0},
        {"OPTIONS sip:bob@example.com", VD_ERR_NOT_SIP, 0},
        {"OPTIONS", VD_ERR_NOT_SIP, 0},
        {"OPTIONS sip:a SIP2.0", VD_ERR_NOT_SIP, 0},
        {"OPTIONS sip:a SIP/2", VD_ERR_NOT_SIP, 0},
        {"OPTIONS sip:a SIP/.0", VD_ERR_NOT_SIP, 0},
        {"OPTIONS sip:a SIP/2.", VD_ERR_NOT_SIP, 0},
        {"OPTIONS sip:a SIP/2.0x", VD_ERR_NOT_SIP, 0},
        {"OPTIONS sip:aSIP/2.0", VD_ERR_NOT_SIP, 0},
        {"x", VD_ERR_NOT_SIP, 0},
        {" OPTIONS sip:a SIP/2.0", VD_ERR_NOT_SIP, 0},
        {"\x16\x03\x01", VD_ERR_NOT_SIP, 0},
        {"\x80OPTIONS sip:a SIP/2.0", VD_ERR_NOT_SIP, 0},
        /* Another version (RFC 3261 7.1, RFC 4475 3.1.2.16). */
        {"OPTIONS sip:a SIP/7.0", VD_ERR_VERSION, 14},
        {"OPTIONS sip:a SIP/2.1", VD_ERR_VERSION, 14},
        {"OPTIONS sip:a SIP/2.00", VD_ERR_VERSION, 14},
        {"OPTIONS sip:a SIP/12.0", VD_ERR_VERSION, 14},
        {"OPTIONS sip:a sip/99999999999999999999.0", VD_ERR_VERSION, 14},
        {"SIP/3.0 200 OK", VD_ERR_VERSION, 0},
        /* Spaces where there are none, or too many (RFC 4475 3.1.2.8 to 3.1.2.10). */
        {"OPTIONS  sip:a SIP/2.0", VD_ERR_SYNTAX, 9},
        {"OPTIONS sip:a  SIP/2.0", VD_ERR_SYNTAX, 8},
        {"OPTIONS\tsip:a SIP/2.0", VD_ERR_SYNTAX, 8},
        {"OPTIONS sip:a\tSIP/2.0", VD_ERR_SYNTAX, 8},
        {"OPTIONS sip:a SIP/2.0 ", VD_ERR_SYNTAX, 8},
        {"OPTIONS sip:a SIP/2.0\t", VD_ERR_SYNTAX, 8},
        {"OPTIONS sip:a; lr SIP/2.0", VD_ERR_SYNTAX, 8},
        {"OPTIONS sip:a;\tlr SIP/2.0", VD_ERR_SYNTAX, 8},
        {"OPTIONS  SIP/2.0", VD_ERR_SYNTAX, 7},
        {"OPTIONS SIP/2.0", VD_ERR_SYNTAX, 7},
        {"O(TIONS sip:a SIP/2.0", VD_ERR_SYNTAX, 0},
        {"O\xc3\xa9 sip:a SIP/2.0", VD_ERR_SYNTAX, 0},
        /* Control characters. */
        {"OPTIONS sip:a\x01 SIP/2.0", VD_ERR_SYNTAX, 13},
        {"OPTIONS sip:a SIP/2.0\r", VD_ERR_SYNTAX, 21},
        {"OPTIONS sip:a SIP/2.0\nVia: x", VD_ERR_SYNTAX, 21},
        {"SIP/2.0 200 O\x7fK", VD_ERR_SYNTAX, 13},
        /* Status codes (RFC 3261 7.2, RFC 4475 3.1.2.19). */
        {"SIP/2.0 200", VD_ERR_SYNTAX, 7},
        {"SIP/2.0 20 OK", VD_ERR_SYNTAX, 7},
        {"SIP/2.0 2000 OK", VD_ERR_SYNTAX, 7},
        {"SIP/2.0 4294967301 OK", VD_ERR_SYNTAX, 7},
        {"SIP/2.0 -20 OK", VD_ERR_SYNTAX, 7},
        {"SIP/2.0  200 OK", VD_ERR_SYNTAX, 7},
        {"SIP/2.0\t200 OK", VD_ERR_SYNTAX, 7},
        {"SIP/2.0 200\tOK", VD_ERR_SYNTAX, 7},
        {"SIP/2.0 ", VD_ERR_SYNTAX, 7},
        {"SIP/x.0 200 OK", VD_ERR_SYNTAX, 0},
        {"SIP/2.0 099 OK", VD_ERR_RANGE, 8},
        {"SIP/2.0 700 OK", VD_ERR_RANGE, 8},
        {"SIP/2.0 999 OK", VD_ERR_RANGE, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s\r\n" NO_BODY, cases[i].line);
        for (int framing = VD_FRAMING_DATAGRAM; framing <= VD_FRAMING_STREAM; framing++) {
            int rc = parse(text, (enum vd_framing)framing);
            if (rc != cases[i].error || message.fault.offset != cases[i].offset) {
                printf("\n    \"%s\": %d at %zu", cases[i].line, rc, message.fault.offset);
            }
            CU_ASSERT_EQUAL(rc, cases[i].error);
            CU_ASSERT_EQUAL(message.fault.error, cases[i].error);
            CU_ASSERT_EQUAL(message.fault.offset, cases[i].offset);
            if (rc != VD_ERR_NOT_SIP) {
                CU_ASSERT_EQUAL(message.header_count, 1);
            }
        }
    }
}

static void header_fields_are_taken_apart(void)
{
    static const struct {
        const char *line;
        enum vd_header_id id;
        const char *name;
        const char *value;
        bool folded;
    } cases[] = {
        {"Via: SIP/2.0/UDP a", VD_HEADER_VIA, "Via", "SIP/2.0/UDP a", false},
        {"v:x", VD_HEADER_VIA, "v", "x", false},
        {"vIA   :   x", VD_HEADER_VIA, "vIA", "x", false},
        {"V \t :\t x \t", VD_HEADER_VIA, "V", "x", false},
        {"Subject:", VD_HEADER_SUBJECT, "Subject", "", false},
        {"Subject: \t ", VD_HEADER_SUBJECT, "Subject", "", false},
        {"Subject:\r\n ", VD_HEADER_SUBJECT, "Subject", "", true},
        {"Subject: a:b\t:c", VD_HEADER_SUBJECT, "Subject", "a:b\t:c", false},
        {"Subject:\r\n a", VD_HEADER_SUBJECT, "Subject", "a", true},
        {"Subject: a\r\n b\r\n\tc", VD_HEADER_SUBJECT, "Subject", "a\r\n b\r\n\tc", true},
        {"Subject: a \r\n \r\n ", VD_HEADER_SUBJECT, "Subject", "a", true},
        {"Subject: \xc3\xa9 \xff\x80", VD_HEADER_SUBJECT, "Subject", "\xc3\xa9 \xff\x80", false},
        {"Authentication-Info: x", VD_HEADER_AUTHENTICATION_INFO, "Authentication-Info", "x",
         false},
        {"Proxy-Authorization \t: x", VD_HEADER_PROXY_AUTHORIZATION, "Proxy-Authorization", "x",
         false},
        {"X-Odd: ;;,,;;,;", VD_HEADER_OTHER, "X-Odd", ";;,,;;,;", false},
        {"A.!%*_+`'~-1 : \"open", VD_HEADER_OTHER, "A.!%*_+`'~-1", "\"open", false},
        {"Vi: x", VD_HEADER_OTHER, "Vi", "x", false},
        {"C%6Fntact: x", VD_HEADER_OTHER, "C%6Fntact", "x", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int framing = VD_FRAMING_DATAGRAM; framing <= VD_FRAMING_STREAM; framing++) {
            CU_ASSERT(parse_header(cases[i].line, (enum vd_framing)framing) > 0);
            CU_ASSERT_EQUAL_FATAL(message.header_count, 2);
            CU_ASSERT_EQUAL(headers[0].id, cases[i].id);
            CU_ASSERT(equal(headers[0].name, cases[i].name));
            CU_ASSERT(equal(headers[0].value, cases[i].value));
            CU_ASSERT_EQUAL(headers[0].folded, cases[i].folded);
        }
    }
}

static void broken_header_fields_are_refused(void)
{
    static const struct {
        const char *line;
        size_t offset; /* in the line */
    } cases[] = {
        {"Subject", 0},
        {": x", 0},
        {"  : x", 0},
        {"Sub ject: x", 3},
        {"Sub\xc3\xa9: x", 3},
        {"Sub\"ject: x", 3},
        {"Subject \r\n : x", 7},
        {"(Subject): x", 0},
        {"Subject: a\nb", 10},
        {"Subject: a\rb", 10},
        {"Subject: a\r\rb", 10},
        {"Subject: a\r", 10},
        {"Subject: a\n b", 10},
        {"Sub\njekt: a", 3},
        {"\nSubject: a", 0},
        {"\rSubject: a", 0},
        {"Subject: \"a\\\rb\"", 12},
        {"Subject: \"a\\\nb\"", 12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int framing = VD_FRAMING_DATAGRAM; framing <= VD_FRAMING_STREAM; framing++) {
            int rc = parse_header(cases[i].line, (enum vd_framing)framing);
            if (message.fault.offset != strlen(REQUEST) + cases[i].offset) {
                printf("\n    \"%s\": at %zu", cases[i].line,
                       message.fault.offset - strlen(REQUEST));
            }
            CU_ASSERT_EQUAL(rc, VD_ERR_SYNTAX);
            CU_ASSERT_EQUAL(message.fault.offset, strlen(REQUEST) + cases[i].offset);
            CU_ASSERT_EQUAL(message.header_count, 1); /* the one after it */
        }
    }
}

static void a_fold_after_the_start_line_is_refused(void)
{
    CU_ASSERT_EQUAL(parse_header(" Subject: x", VD_FRAMING_DATAGRAM), VD_ERR_SYNTAX);
    CU_ASSERT_EQUAL(parse_header("\tSubject: x", VD_FRAMING_STREAM), VD_ERR_SYNTAX);
}

/* RFC 3261 25.1: only a quoted-pair may hold a control character, and never CR or LF. */
static void control_characters_stand_in_quoted_pairs_only(void)
{
    static const struct {
        const char *before;
        const char *after;
        bool allowed;
    } places[] = {
        {"Sub", "ject: x", false},
        {"Subject: ", "", false},
        {"Subject: a quite long value that goes on and on ", " to here", false},
        {"Subject: x\r\n y", "z", false},
        {"To: \"a", "b\" <sip:a@example.com>", false},
        {"To: \"a\\", "b\" <sip:a@example.com>", true},
        {"To: \"\\\\\\", "b\" <sip:a@example.com>", true},
        {"To: \"\\\\", "b\" <sip:a@example.com>", false},
        {"To: \"a\r\n \\", "b\" <sip:a@example.com>", true},
        {"To: \"a\" \\", " <sip:a@example.com>", false},
        {"To: \"a\\\" \\", "\" <sip:a@example.com>", true},
        {"User-Agent: one (two\\", ")", true},
        {"User-Agent: one (two (three) \\", ")", true},
        {"User-Agent: one (two) \\", "", false},
        {"User-Agent: one (two", ")", false},
        {"User-Agent: one (\" \\", "\")", true},
        {"\"\\", "\": x", false},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        for (int c = 0; c < 256; c++) {
            if ((c >= 0x20 && c != 0x7f) || c == '\t') {
                continue;
            }
            char text[512];
            size_t n = (size_t)snprintf(text, sizeof text, REQUEST "%s", places[i].before);
            text[n++] = (char)c;
            n += (size_t)snprintf(text + n, sizeof text - n, "%s\r\n" NO_BODY, places[i].after);
            bool allowed = places[i].allowed && c != '\r' && c != '\n';
            int rc = parse_bytes(text, n, VD_FRAMING_DATAGRAM, NULL);
            if ((rc > 0) != allowed) {
                printf("\n    \"%s\" %02x: %d", places[i].before, (unsigned)c, rc);
            }
            CU_ASSERT_EQUAL(rc, allowed ? (int)n : VD_ERR_SYNTAX);
            CU_ASSERT_EQUAL(message.header_count, allowed ? 2 : 1);
        }
    }
}

/* RFC 3261 7.3.1: only what is a list may appear twice, in whatever form its name is written. */
static void header_fields_that_are_no_list_appear_once(void)
{
    for (int id = 1; id < VD_HEADER_COUNT; id++) {
        const struct vd_header_info *info = vd_header_info((enum vd_header_id)id);
        const char *first[] = {info->name.p, info->compact.p};
        bool single = info->form == VD_HEADER_SINGLE;
        for (int form = 0; form < (info->compact.n > 0 ? 4 : 1); form++) {
            char text[256];
            snprintf(text, sizeof text, REQUEST "%s: 0\r\nX: y\r\n%s : 0\r\n\r\n", first[form & 1],
                     first[form >> 1]);
            int rc = parse(text, VD_FRAMING_DATAGRAM);
            CU_ASSERT_EQUAL(rc, single ? VD_ERR_DUPLICATE : (int)strlen(text));
            CU_ASSERT_EQUAL(vd_error_status(VD_ERR_DUPLICATE), 400);
            CU_ASSERT_PTR_EQUAL(vd_message_header(&message, (enum vd_header_id)id), &headers[0]);
            CU_ASSERT_PTR_EQUAL(vd_message_header_next(&message, &headers[0]), &headers[2]);
            CU_ASSERT_PTR_NULL(vd_message_header_next(&message, &headers[2]));
        }
    }
    CU_ASSERT(parse_header("X: y\r\nX: y\r\nx : y", VD_FRAMING_DATAGRAM) > 0);
}

static void content_length_is_digits_only(void)
{
    static const struct {
        const char *value;
        int datagram; /* 0: taken */
        int stream;
        size_t body;
    } cases[] = {
        {"4", 0, 0, 4},
        {"0", 0, 0, 0},
        {"2", 0, 0, 2},
        {" \t 3 \t", 0, 0, 3},
        {"\r\n 3", 0, 0, 3},
        {"0000000000000000000000000000000000000004", 0, 0, 4},
        {"5", VD_ERR_TRUNCATED, VD_ERR_INCOMPLETE, 0},
        {"65000", VD_ERR_TRUNCATED, VD_ERR_INCOMPLETE, 0},
        {"65535", VD_ERR_TRUNCATED, VD_ERR_TOO_LARGE, 0},
        {"2147483648", VD_ERR_TRUNCATED, VD_ERR_TOO_LARGE, 0},
        {"4294967295", VD_ERR_TRUNCATED, VD_ERR_TOO_LARGE, 0},
        {"4294967296", VD_ERR_TRUNCATED, VD_ERR_TOO_LARGE, 0},
        {"4294967300", VD_ERR_TRUNCATED, VD_ERR_TOO_LARGE, 0},
        {"18446744073709551616", VD_ERR_TRUNCATED, VD_ERR_TOO_LARGE, 0},
        {"18446744073709551620", VD_ERR_TRUNCATED, VD_ERR_TOO_LARGE, 0},
        {"99999999999999999999999999999999999999999999", VD_ERR_TRUNCATED, VD_ERR_TOO_LARGE, 0},
        {"-1", VD_ERR_SYNTAX, VD_ERR_SYNTAX, 0},
        {"+4", VD_ERR_SYNTAX, VD_ERR_SYNTAX, 0},
        {"4 4", VD_ERR_SYNTAX, VD_ERR_SYNTAX, 0},
        {"4,4", VD_ERR_SYNTAX, VD_ERR_SYNTAX, 0},
        {"4;x", VD_ERR_SYNTAX, VD_ERR_SYNTAX, 0},
        {"", VD_ERR_SYNTAX, VD_ERR_SYNTAX, 0},
        {" ", VD_ERR_SYNTAX, VD_ERR_SYNTAX, 0},
        {"0x4", VD_ERR_SYNTAX, VD_ERR_SYNTAX, 0},
        {"4a", VD_ERR_SYNTAX, VD_ERR_SYNTAX, 0},
        {"bad", VD_ERR_SYNTAX, VD_ERR_SYNTAX, 0},
        {"4.0", VD_ERR_SYNTAX, VD_ERR_SYNTAX, 0},
        {"\xd9\xa4", VD_ERR_SYNTAX, VD_ERR_SYNTAX, 0},
    };
    static const char *const names[] = {"Content-Length", "l", "CONTENT-length ", "L"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, REQUEST "%s: %s\r\n\r\nbody", names[i % 4], cases[i].value);
        int rc = parse(text, VD_FRAMING_DATAGRAM);
        CU_ASSERT_EQUAL(rc, cases[i].datagram == 0 ? (int)strlen(text) : cases[i].datagram);
        CU_ASSERT(rc < 0 || (message.body.n == cases[i].body &&
                             memcmp(message.body.p, "body", cases[i].body) == 0));
        CU_ASSERT(rc < 0 || message.content_length == cases[i].body);

        size_t head = strlen(text) - 4;
        rc = parse(text, VD_FRAMING_STREAM);
        CU_ASSERT_EQUAL(rc, cases[i].stream == 0 ? (int)(head + cases[i].body) : cases[i].stream);
        CU_ASSERT(rc < 0 || message.body.n == cases[i].body);
        CU_ASSERT(rc < 0 || message.raw.n == head + cases[i].body);
    }
}

/* RFC 3261 18.3: a datagram ends the body, a stream does not. */
static void without_content_length_only_a_datagram_has_a_body(void)
{
    static const char text[] = REQUEST "X: y\r\n\r\nbody";
    CU_ASSERT_EQUAL(parse(text, VD_FRAMING_DATAGRAM), (int)strlen(text));
    CU_ASSERT(equal(message.body, "body"));
    CU_ASSERT_FALSE(message.has_content_length);
    CU_ASSERT_EQUAL(message.content_length, 4);
    CU_ASSERT_EQUAL(parse(text, VD_FRAMING_STREAM), (int)strlen(text) - 4);
    CU_ASSERT_EQUAL(message.body.n, 0);
    CU_ASSERT_EQUAL(message.content_length, 0);
}

static void limits_hold_at_their_edges(void)
{
    /* Start line 37 bytes, URI 19, each further line 17, the whole head 37 + 17 * 4 + 2 = 107. */
    static const char text[] = REQUEST "X-1: 0123456789\r\nX-2: 0123456789\r\nX-3: 0123456789\r\n"
                                       "Content-Length:4\r\n\r\nbody";
    static const struct {
        const char *name;
        struct vd_limits limits;
        int error;
    } cases[] = {
        {"message", {111 + 1, 1000, 1000, 1000, 10, 10}, 0},
        {"message", {111, 1000, 1000, 1000, 10, 10}, VD_ERR_TOO_LARGE},
        {"header", {1000, 108, 1000, 1000, 10, 10}, 0},
        {"header", {1000, 107, 1000, 1000, 10, 10}, VD_ERR_TOO_LARGE},
        {"header", {1000, 50, 1000, 1000, 10, 10}, VD_ERR_TOO_LARGE},
        {"header", {1000, 30, 1000, 1000, 10, 10}, VD_ERR_TOO_LARGE},
        {"header", {1000, 1, 1000, 1000, 10, 10}, VD_ERR_TOO_LARGE},
        {"line", {1000, 1000, 35, 1000, 10, 10}, 0},
        {"line", {1000, 1000, 34, 1000, 10, 10}, VD_ERR_TOO_LARGE},
        {"line", {1000, 1000, 14, 1000, 10, 10}, VD_ERR_TOO_LARGE},
        {"uri", {1000, 1000, 1000, 19, 10, 10}, 0},
        {"uri", {1000, 1000, 1000, 18, 10, 10}, VD_ERR_URI_TOO_LONG},
        {"headers", {1000, 1000, 1000, 1000, 4, 10}, 0},
        {"headers", {1000, 1000, 1000, 1000, 3, 10}, VD_ERR_TOO_MANY},
    };
    size_t size = strlen(text);
    CU_ASSERT_EQUAL(size, 112);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct vd_limits *limits = &cases[i].limits;
        for (int framing = VD_FRAMING_DATAGRAM; framing <= VD_FRAMING_STREAM; framing++) {
            int rc = parse_bytes(text, size, (enum vd_framing)framing, limits);
            int wanted = cases[i].error;
            /* A start line that does not end cannot be told from something else in a datagram. */
            if (limits->header_size < 37 && framing == VD_FRAMING_DATAGRAM) {
                wanted = VD_ERR_NOT_SIP;
            }
            if (rc != (wanted == 0 ? (int)size : wanted)) {
                printf("\n    %s %zu: %d", cases[i].name, i, rc);
            }
            CU_ASSERT_EQUAL(rc, wanted == 0 ? (int)size : wanted);
        }
    }
}

static void too_many_header_fields_for_the_caller_are_refused(void)
{
    struct vd_header two[2];
    struct vd_message small;
    static const char text[] = REQUEST "A: 1\r\nB: 2\r\nC: 3\r\n\r\n";
    vd_message_init(&small, two, 2);
    CU_ASSERT_EQUAL(vd_message_parse(&small, text, strlen(text), VD_FRAMING_STREAM, NULL),
                    VD_ERR_TOO_MANY);
    CU_ASSERT_EQUAL(small.header_count, 2);
    vd_message_init(&small, NULL, 0);
    CU_ASSERT_EQUAL(vd_message_parse(&small, text, strlen(text), VD_FRAMING_STREAM, NULL),
                    VD_ERR_TOO_MANY);
    CU_ASSERT_PTR_NULL(vd_message_header_named(&small, VD_STR("A")));
}

/* A 400 copies Via, From, To, Call-ID and CSeq, so they are read whatever is wrong before them. */
static void the_first_fault_is_reported_and_the_rest_is_read(void)
{
    static const char text[] = "OPTIONS  sip:bob@example.com SIP/2.0\r\n"
                               "no colon\r\n"
                               "Via: SIP/2.0/UDP 192.0.2.1\r\n"
                               "Subject: a\001b\r\n"
                               "From: <sip:a@example.com>\r\n"
                               "f: <sip:b@example.com>\r\n"
                               "To: <sip:a@example.com>\r\n"
                               "Call-ID: x\r\n"
                               "CSeq: 1 OPTIONS\r\n"
                               "Content-Length: -1\r\n\r\n";
    for (int framing = VD_FRAMING_DATAGRAM; framing <= VD_FRAMING_STREAM; framing++) {
        CU_ASSERT_EQUAL(parse(text, (enum vd_framing)framing), VD_ERR_SYNTAX);
        CU_ASSERT_EQUAL(message.fault.offset, 9);
        CU_ASSERT(strstr(message.fault.rule, "7.1") != NULL);
        CU_ASSERT_EQUAL(message.header_count, 7);
        CU_ASSERT_PTR_NOT_NULL(vd_message_header(&message, VD_HEADER_VIA));
        CU_ASSERT_PTR_NOT_NULL(vd_message_header(&message, VD_HEADER_CSEQ));
        CU_ASSERT(equal(message.request_uri, "sip:bob@example.com"));
        CU_ASSERT_EQUAL(message.method_id, VD_METHOD_OPTIONS);
    }
}

/* RFC 3261 7.5, 25.1: were a bare LF taken for a line end by one reader and not by the next, bytes
 * of a body could be run as a request. */
static void a_bare_line_end_hides_no_header_field(void)
{
    static const char *const lines[] = {"Subject: lunch\nl: 0", "Subject: lunch\rl: 0",
                                        "Subject: lunch\n\nl: 0", "Subject: lunch\n\r\nl: 0"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 REQUEST "%s\r\nX: y\r\n\r\nOPTIONS sip:eve@example.com SIP/2.0\r\n\r\n", lines[i]);
        CU_ASSERT_EQUAL(parse(text, VD_FRAMING_STREAM), VD_ERR_SYNTAX);
        CU_ASSERT_EQUAL(parse(text, VD_FRAMING_DATAGRAM), VD_ERR_SYNTAX);
    }
}

/* RFC 3261 7.5 */
static void empty_lines_in_front_are_skipped(void)
{
    static const char text[] = "\r\n\r\n\r\n" REQUEST NO_BODY "SIP/2.0 200 OK\r\n\r\n";
    size_t whole = strlen("\r\n\r\n\r\n" REQUEST NO_BODY);
    CU_ASSERT_EQUAL(parse(text, VD_FRAMING_STREAM), (int)whole);
    CU_ASSERT_EQUAL(message.raw.n, whole - 6);
    CU_ASSERT(memcmp(message.raw.p, "OPTIONS", 7) == 0);
    CU_ASSERT_EQUAL(parse(text, VD_FRAMING_DATAGRAM), (int)strlen(text));
    CU_ASSERT_EQUAL(message.raw.n, whole - 6);
    CU_ASSERT_EQUAL(message.body.n, 0);

    static const char *const nothing[] = {"", "\r", "\r\n", "\r\n\r", "\r\n\r\n"};
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        CU_ASSERT_EQUAL(parse(nothing[i], VD_FRAMING_STREAM), VD_ERR_INCOMPLETE);
        CU_ASSERT_EQUAL(message.raw.n, 0);
        CU_ASSERT_EQUAL(parse(nothing[i], VD_FRAMING_DATAGRAM), VD_ERR_NOT_SIP);
    }
    CU_ASSERT_EQUAL(parse("\r\n\n" REQUEST NO_BODY, VD_FRAMING_STREAM), VD_ERR_NOT_SIP);
    CU_ASSERT_EQUAL(parse("\r\r\n" REQUEST NO_BODY, VD_FRAMING_STREAM), VD_ERR_NOT_SIP);
}

static void every_cut_of_a_stream_is_incomplete(void)
{
    static const char text[] =
        REQUEST "Via: SIP/2.0/TCP 192.0.2.1;branch=z9hG4bKx\r\nSubject: a\r\n b\r\n"
                "To: \"\\\001\" <sip:a@example.com>\r\nl: 4\r\n\r\nbody";
    size_t size = strlen(text);
    for (size_t n = 0; n < size; n++) {
        CU_ASSERT_EQUAL(parse_bytes(text, n, VD_FRAMING_STREAM, NULL), VD_ERR_INCOMPLETE);
        CU_ASSERT_EQUAL(message.fault.error, VD_ERR_INCOMPLETE);
        CU_ASSERT_EQUAL(message.raw.n, n < size - 4 ? 0 : size);
    }
    CU_ASSERT_EQUAL(parse_bytes(text, size, VD_FRAMING_STREAM, NULL), (int)size);
}

/* What a datagram holds is all there will be. */
static void every_cut_of_a_datagram_is_an_error(void)
{
    static const char text[] = REQUEST "Via: SIP/2.0/UDP 192.0.2.1\r\nl: 4\r\n\r\nbody";
    size_t start_line = strlen(REQUEST);
    size_t head = strlen(text) - 4;
    for (size_t n = 0; n < strlen(text); n++) {
        int rc = parse_bytes(text, n, VD_FRAMING_DATAGRAM, NULL);
        CU_ASSERT_EQUAL(rc, n < start_line ? VD_ERR_NOT_SIP
                            : n < head     ? VD_ERR_SYNTAX
                                           : VD_ERR_TRUNCATED);
    }
    /* The last header field counts when only the empty line is missing. */
    CU_ASSERT_EQUAL(parse_bytes(text, head - 2, VD_FRAMING_DATAGRAM, NULL), VD_ERR_SYNTAX);
    CU_ASSERT_EQUAL(message.header_count, 2);
}

static void a_message_is_used_again_without_a_trace(void)
{
    CU_ASSERT(parse_header("Via: a\r\nVia: b\r\nX: y\r\nSubject: z", VD_FRAMING_DATAGRAM) > 0);
    CU_ASSERT_EQUAL(parse_header("no colon", VD_FRAMING_DATAGRAM), VD_ERR_SYNTAX);
    CU_ASSERT(parse("SIP/2.0 200 OK\r\nVia: c\r\n\r\n", VD_FRAMING_DATAGRAM) > 0);
    CU_ASSERT_EQUAL(message.fault.error, 0);
    CU_ASSERT_FALSE(message.is_request);
    CU_ASSERT_FALSE(message.has_content_length);
    CU_ASSERT_EQUAL(message.method_id, VD_METHOD_OTHER);
    CU_ASSERT_EQUAL(message.request_uri.n, 0);
    CU_ASSERT_EQUAL(message.header_count, 1);
    CU_ASSERT_PTR_NULL(vd_message_header(&message, VD_HEADER_SUBJECT));
    CU_ASSERT_PTR_NULL(vd_message_header(&message, VD_HEADER_OTHER));
    CU_ASSERT_PTR_NULL(vd_message_header_next(&message, &headers[0]));
}

static void defaults_are_those_of_the_header(void)
{
    struct vd_limits limits;
    vd_limits_init(&limits);
    CU_ASSERT_EQUAL(limits.message_size, 65535);
    CU_ASSERT_EQUAL(limits.header_size, 32768);
    CU_ASSERT_EQUAL(limits.line_size, 16384);
    CU_ASSERT_EQUAL(limits.uri_size, 4096);
    CU_ASSERT_EQUAL(limits.headers, 256);
    CU_ASSERT_EQUAL(limits.params, 64);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"request_line_is_taken_apart", request_line_is_taken_apart},
        {"status_line_is_taken_apart", status_line_is_taken_apart},
        {"start_lines_are_judged", start_lines_are_judged},
        {"header_fields_are_taken_apart", header_fields_are_taken_apart},
        {"broken_header_fields_are_refused", broken_header_fields_are_refused},
        {"a_fold_after_the_start_line_is_refused", a_fold_after_the_start_line_is_refused},
        {"control_characters_stand_in_quoted_pairs_only",
         control_characters_stand_in_quoted_pairs_only},
        {"header_fields_that_are_no_list_appear_once", header_fields_that_are_no_list_appear_once},
        {"content_length_is_digits_only", content_length_is_digits_only},
        {"without_content_length_only_a_datagram_has_a_body",
         without_content_length_only_a_datagram_has_a_body},
        {"limits_hold_at_their_edges", limits_hold_at_their_edges},
        {"too_many_header_fields_for_the_caller_are_refused",
         too_many_header_fields_for_the_caller_are_refused},
        {"the_first_fault_is_reported_and_the_rest_is_read",
         the_first_fault_is_reported_and_the_rest_is_read},
        {"a_bare_line_end_hides_no_header_field", a_bare_line_end_hides_no_header_field},
        {"empty_lines_in_front_are_skipped", empty_lines_in_front_are_skipped},
        {"every_cut_of_a_stream_is_incomplete", every_cut_of_a_stream_is_incomplete},
        {"every_cut_of_a_datagram_is_an_error", every_cut_of_a_datagram_is_an_error},
        {"a_message_is_used_again_without_a_trace", a_message_is_used_again_without_a_trace},
        {"defaults_are_those_of_the_header", defaults_are_those_of_the_header},
        CU_TEST_INFO_NULL,
    };
    if (!guard_init(&guard, 4096)) {
        return EXIT_FAILURE;
    }
    vd_message_init(&message, headers, HEADERS);
    int status = run_suite("parse", tests);
    guard_free(&guard);
    return status;
}
