/* test_message.c - lookup, typed values, lists, vd_message_check and copies of a parsed message.
 *
 * Covered: header fields by number, by name and one after the other; that each typed value is
 * found, decoded when folded, remembered, or refused with its place in the message; lists in one
 * field and in many, empty and broken ones; every rule of vd_message_check; copies that outlive
 * their bytes, also when there is no memory; unfolding. Not covered: the grammar of single values
 * (the tests of each value), the split into header fields (test_parse.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/message.h>

#include <stdio.h>
#include <stdlib.h>

#include "counting_mem.h"
#include "run_suite.h"

#define HEADERS 64

static struct vd_header headers[HEADERS];
static struct vd_message message;
static char text[8192];

#define REQUEST "OPTIONS sip:bob@example.com SIP/2.0\r\n"
#define VIA     "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa\r\n"
#define FROM    "From: <sip:alice@example.com>;tag=a\r\n"
#define TO      "To: <sip:bob@example.com>\r\n"
#define CALL_ID "Call-ID: 1@example.com\r\n"
#define CSEQ    "CSeq: 1 OPTIONS\r\n"

/* Parses a start line and header lines, each with its CRLF. */
static void parse(const char *start, const char *lines)
{
    snprintf(text, sizeof text, "%s%s\r\n", start, lines);
    CU_ASSERT_EQUAL_FATAL(vd_message_parse(&message, text, strlen(text), VD_FRAMING_DATAGRAM, NULL),
                          (int)strlen(text));
}

static bool equal(struct vd_str value, const char *wanted)
{
    return vd_str_equal(value, vd_str_from(wanted));
}

static void header_fields_are_found_by_number_and_name(void)
{
    parse(REQUEST,
          "v: a\r\nX-One: 1\r\nVia: b\r\nX-Two: 2\r\nx-one : 3\r\nVIA: c\r\nX-Three: 4\r\n");
    const struct vd_header *header = vd_message_header(&message, VD_HEADER_VIA);
    CU_ASSERT_PTR_EQUAL(header, &headers[0]);
    CU_ASSERT_PTR_EQUAL(header = vd_message_header_next(&message, header), &headers[2]);
    CU_ASSERT_PTR_EQUAL(header = vd_message_header_next(&message, header), &headers[5]);
    CU_ASSERT_PTR_NULL(vd_message_header_next(&message, header));

    CU_ASSERT_PTR_EQUAL(vd_message_header_named(&message, VD_STR("via")), &headers[0]);
    CU_ASSERT_PTR_EQUAL(vd_message_header_named(&message, VD_STR("V")), &headers[0]);
    header = vd_message_header_named(&message, VD_STR("X-ONE"));
    CU_ASSERT_PTR_EQUAL(header, &headers[1]);
    CU_ASSERT_PTR_EQUAL(header = vd_message_header_next(&message, header), &headers[4]);
    CU_ASSERT_PTR_NULL(vd_message_header_next(&message, header));
    CU_ASSERT_PTR_EQUAL(vd_message_header_named(&message, VD_STR("x-three")), &headers[6]);

    CU_ASSERT_PTR_NULL(vd_message_header(&message, VD_HEADER_TO));
    CU_ASSERT_PTR_NULL(vd_message_header(&message, VD_HEADER_COUNT));
    CU_ASSERT_PTR_NULL(vd_message_header_named(&message, VD_STR("t")));
    CU_ASSERT_PTR_NULL(vd_message_header_named(&message, VD_STR("X-Four")));
    CU_ASSERT_PTR_NULL(vd_message_header_named(&message, VD_STR("")));
}

/* RFC 3261 7.3.1: a fold counts as one space. */
static void unfolding_makes_one_line(void)
{
    static const struct {
        const char *value;
        const char *unfolded;
    } cases[] = {
        {"plain", "plain"},
        {"a\r\n b", "a b"},
        {"a \t\r\n\t \tb", "a b"},
        {"a\r\n \r\n b", "a b"},
        {"a  b\r\n c  d", "a  b c  d"},
        {"\"a\\\r\n b\"", "\"a\\ b\""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[64];
        char out[64];
        snprintf(line, sizeof line, "Subject: %s\r\n", cases[i].value);
        parse(REQUEST, line);
        int n = vd_header_unfold(&headers[0], out, sizeof out);
        CU_ASSERT(n >= 0 && equal(vd_str(out, (size_t)n), cases[i].unfolded));
        CU_ASSERT_EQUAL(vd_header_unfold(&headers[0], out, (size_t)n), n);
        if (n > 0) {
            CU_ASSERT_EQUAL(vd_header_unfold(&headers[0], out, (size_t)n - 1), VD_ERR_SPACE);
        }
        CU_ASSERT_EQUAL(vd_header_unfold(&headers[0], out, headers[0].value.n), n);
    }
}

static void typed_values_are_decoded_and_remembered(void)
{
    parse("REGISTER sip:example.com SIP/2.0\r\n",
          "Via: SIP/2.0/TCP\r\n a.example.com:5070 ; branch=z9hG4bKa , SIP/2.0/UDP b\r\n"
          "From: \"A, B\"\r\n <sip:alice@example.com>\r\n ;tag=from\r\n"
          "To:\r\n sip:bob@example.com;tag=to\r\n"
          "Call-ID: x@y\r\nCSeq: 0012\r\n REGISTER\r\nMax-Forwards: 070\r\n"
          "m: <sip:c@example.com;lr>;q=0.5,\r\n <sip:d@example.com>\r\n");
    const struct vd_uri *uri;
    const struct vd_via *via;
    const struct vd_nameaddr *address;
    const struct vd_cseq *cseq;
    struct vd_str call_id;
    uint32_t max_forwards;
    CU_ASSERT_EQUAL_FATAL(vd_message_request_uri(&message, &uri), 0);
    CU_ASSERT(equal(uri->host, "example.com"));
    CU_ASSERT_EQUAL_FATAL(vd_message_top_via(&message, &via), 0);
    CU_ASSERT(equal(via->host, "a.example.com") && via->port == 5070);
    CU_ASSERT(equal(via->branch, "z9hG4bKa"));
    CU_ASSERT_EQUAL_FATAL(vd_message_from(&message, &address), 0);
    CU_ASSERT(equal(address->display, "\"A, B\"") && equal(address->tag, "from"));
    CU_ASSERT_EQUAL_FATAL(vd_message_to(&message, &address), 0);
    CU_ASSERT(equal(address->uri.user, "bob") && equal(address->tag, "to"));
    CU_ASSERT_EQUAL_FATAL(vd_message_contact(&message, &address), 0);
    CU_ASSERT(equal(address->uri.user, "c") && equal(address->q, "0.5"));
    CU_ASSERT_EQUAL_FATAL(vd_message_cseq(&message, &cseq), 0);
    CU_ASSERT(cseq->number == 12 && cseq->method_id == VD_METHOD_REGISTER);
    CU_ASSERT_EQUAL_FATAL(vd_message_call_id(&message, &call_id), 0);
    CU_ASSERT(equal(call_id, "x@y"));
    CU_ASSERT_EQUAL_FATAL(vd_message_max_forwards(&message, &max_forwards), 0);
    CU_ASSERT_EQUAL(max_forwards, 70);

    /* Had a value not been remembered, it would now be decoded from other bytes. */
    memset(text, 'x', sizeof text);
    const struct vd_via *via_again;
    const struct vd_nameaddr *contact_again;
    CU_ASSERT_EQUAL(vd_message_request_uri(&message, &uri), 0);
    CU_ASSERT(vd_message_top_via(&message, &via_again) == 0 && via_again == via);
    CU_ASSERT(vd_message_contact(&message, &contact_again) == 0);
    CU_ASSERT_EQUAL(vd_message_from(&message, &address), 0);
    CU_ASSERT_EQUAL(vd_message_to(&message, &address), 0);
    CU_ASSERT(vd_message_cseq(&message, &cseq) == 0 && cseq->number == 12);
    CU_ASSERT_EQUAL(vd_message_call_id(&message, &call_id), 0);
    CU_ASSERT_EQUAL(call_id.n, 3);
    CU_ASSERT(vd_message_max_forwards(&message, &max_forwards) == 0 && max_forwards == 70);
}

static void other_values_are_decoded_each_time(void)
{
    parse(REQUEST, "Expires: 99999999999\r\nMin-Expires: 60\r\nContent-Type: text/plain;a=b\r\n"
                   "Content-Disposition: session\r\nPriority: urgent\r\nMIME-Version: 1.0\r\n"
                   "Reply-To: <sip:r@example.com>\r\nDate: Sat, 13 Nov 2010 23:29:00 GMT\r\n"
                   "Retry-After: 18 (soon);duration=9\r\nTimestamp: 1.5 0.25\r\nSubject: s\r\n");
    uint32_t number;
    struct vd_token token;
    struct vd_nameaddr address;
    struct vd_date date;
    struct vd_retry_after retry_after;
    struct vd_timestamp timestamp;
    struct vd_str subject;
    CU_ASSERT_EQUAL(vd_message_expires(&message, &number), 0);
    CU_ASSERT_EQUAL(number, UINT32_MAX);
    CU_ASSERT_EQUAL(vd_message_min_expires(&message, &number), 0);
    CU_ASSERT_EQUAL(number, 60);
    CU_ASSERT_EQUAL(vd_message_content_type(&message, &token), 0);
    CU_ASSERT(equal(token.type, "text") && equal(token.subtype, "plain"));
    CU_ASSERT_EQUAL(vd_message_content_disposition(&message, &token), 0);
    CU_ASSERT(equal(token.value, "session"));
    CU_ASSERT_EQUAL(vd_message_priority(&message, &token), 0);
    CU_ASSERT(equal(token.value, "urgent"));
    CU_ASSERT_EQUAL(vd_message_mime_version(&message, &token), 0);
    CU_ASSERT(equal(token.value, "1.0"));
    CU_ASSERT_EQUAL(vd_message_reply_to(&message, &address), 0);
    CU_ASSERT(equal(address.uri.user, "r"));
    CU_ASSERT_EQUAL(vd_message_date(&message, &date), 0);
    CU_ASSERT_EQUAL(date.seconds, 1289690940);
    CU_ASSERT_EQUAL(vd_message_retry_after(&message, &retry_after), 0);
    CU_ASSERT(retry_after.seconds == 18 && equal(retry_after.duration, "9"));
    CU_ASSERT_EQUAL(vd_message_timestamp(&message, &timestamp), 0);
    CU_ASSERT(timestamp.value == 1500000 && timestamp.delay == 250000);
    CU_ASSERT_EQUAL(vd_message_text(&message, VD_HEADER_SUBJECT, &subject), 0);
    CU_ASSERT(equal(subject, "s"));
    CU_ASSERT_EQUAL(vd_message_text(&message, VD_HEADER_SERVER, &subject), VD_ERR_NOT_FOUND);
}

/* Calls the function for one header field; for those that are read once or not remembered. */
static int decode(enum vd_header_id id)
{
    const struct vd_via *via;
    const struct vd_nameaddr *remembered;
    const struct vd_cseq *cseq;
    struct vd_nameaddr address;
    struct vd_token token;
    struct vd_date date;
    struct vd_retry_after retry_after;
    struct vd_timestamp timestamp;
    struct vd_str string;
    uint32_t number;
    switch ((int)id) {
    case VD_HEADER_VIA:
        return vd_message_top_via(&message, &via);
    case VD_HEADER_FROM:
        return vd_message_from(&message, &remembered);
    case VD_HEADER_TO:
        return vd_message_to(&message, &remembered);
    case VD_HEADER_CONTACT:
        return vd_message_contact(&message, &remembered);
    case VD_HEADER_CSEQ:
        return vd_message_cseq(&message, &cseq);
    case VD_HEADER_CALL_ID:
        return vd_message_call_id(&message, &string);
    case VD_HEADER_MAX_FORWARDS:
        return vd_message_max_forwards(&message, &number);
    case VD_HEADER_EXPIRES:
        return vd_message_expires(&message, &number);
    case VD_HEADER_MIN_EXPIRES:
        return vd_message_min_expires(&message, &number);
    case VD_HEADER_CONTENT_TYPE:
        return vd_message_content_type(&message, &token);
    case VD_HEADER_CONTENT_DISPOSITION:
        return vd_message_content_disposition(&message, &token);
    case VD_HEADER_PRIORITY:
        return vd_message_priority(&message, &token);
    case VD_HEADER_MIME_VERSION:
        return vd_message_mime_version(&message, &token);
    case VD_HEADER_REPLY_TO:
        return vd_message_reply_to(&message, &address);
    case VD_HEADER_DATE:
        return vd_message_date(&message, &date);
    case VD_HEADER_RETRY_AFTER:
        return vd_message_retry_after(&message, &retry_after);
    default:
        return vd_message_timestamp(&message, &timestamp);
    }
}

static void broken_values_are_refused_each_time_with_their_place(void)
{
    static const struct {
        enum vd_header_id id;
        const char *value;
        int error;
    } cases[] = {
        {VD_HEADER_VIA, "", VD_ERR_SYNTAX},
        {VD_HEADER_VIA, "SIP/2.0/UDP", VD_ERR_SYNTAX},
        {VD_HEADER_FROM, "", VD_ERR_SYNTAX},
        {VD_HEADER_FROM, "*", VD_ERR_SYNTAX},
        {VD_HEADER_FROM, "<sip:a@example.com>, <sip:b@example.com>", VD_ERR_SYNTAX},
        {VD_HEADER_TO, "*", VD_ERR_SYNTAX},
        {VD_HEADER_TO, "Bell, Alexander <sip:a@example.com>", VD_ERR_SYNTAX},
        {VD_HEADER_CONTACT, ",", VD_ERR_SYNTAX},
        {VD_HEADER_REPLY_TO, "*", VD_ERR_SYNTAX},
        {VD_HEADER_CSEQ, "1", VD_ERR_SYNTAX},
        {VD_HEADER_CSEQ, "1 OPTIONS x", VD_ERR_SYNTAX},
        {VD_HEADER_CSEQ, "2147483648 OPTIONS", VD_ERR_RANGE},
        {VD_HEADER_CALL_ID, "", VD_ERR_SYNTAX},
        {VD_HEADER_CALL_ID, "a b", VD_ERR_SYNTAX},
        {VD_HEADER_CALL_ID, "@a", VD_ERR_SYNTAX},
        {VD_HEADER_CALL_ID, "a@", VD_ERR_SYNTAX},
        {VD_HEADER_CALL_ID, "a@b@c", VD_ERR_SYNTAX},
        {VD_HEADER_CALL_ID, "a,b", VD_ERR_SYNTAX},
        {VD_HEADER_MAX_FORWARDS, "256", VD_ERR_RANGE},
        {VD_HEADER_MAX_FORWARDS, "4294967297", VD_ERR_RANGE},
        {VD_HEADER_MAX_FORWARDS, "-1", VD_ERR_SYNTAX},
        {VD_HEADER_MAX_FORWARDS, "7 0", VD_ERR_SYNTAX},
        {VD_HEADER_EXPIRES, "soon", VD_ERR_SYNTAX},
        {VD_HEADER_EXPIRES, "99999999999x", VD_ERR_SYNTAX},
        {VD_HEADER_MIN_EXPIRES, "", VD_ERR_SYNTAX},
        {VD_HEADER_CONTENT_TYPE, "text", VD_ERR_SYNTAX},
        {VD_HEADER_CONTENT_TYPE, "text/plain, text/html", VD_ERR_SYNTAX},
        {VD_HEADER_CONTENT_DISPOSITION, ";x", VD_ERR_SYNTAX},
        {VD_HEADER_PRIORITY, "a b", VD_ERR_SYNTAX},
        {VD_HEADER_MIME_VERSION, "", VD_ERR_SYNTAX},
        {VD_HEADER_DATE, "Sat, 13 Nov 2010 23:29:00 EST", VD_ERR_SYNTAX},
        {VD_HEADER_RETRY_AFTER, "x", VD_ERR_SYNTAX},
        {VD_HEADER_TIMESTAMP, "x", VD_ERR_SYNTAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[256];
        snprintf(line, sizeof line, "X: y\r\n%s: %s\r\n", vd_header_info(cases[i].id)->name.p,
                 cases[i].value);
        parse(REQUEST, line);
        for (int round = 0; round < 2; round++) {
            int error = decode(cases[i].id);
            size_t start = (size_t)(headers[1].value.p - text);
            size_t end = start + headers[1].value.n;
            if (error != cases[i].error) {
                printf("\n    %s: %d", line, error);
            }
            CU_ASSERT_EQUAL(error, cases[i].error);
            CU_ASSERT_EQUAL(message.fault.error, cases[i].error);
            CU_ASSERT(message.fault.offset >= start && message.fault.offset <= end);
            CU_ASSERT(message.fault.rule[0] != '\0');
            message.fault = (struct vd_fault){0, 0, ""};
        }
        parse(REQUEST, "X: y\r\n");
        CU_ASSERT_EQUAL(decode(cases[i].id), VD_ERR_NOT_FOUND);
    }
}

/* The number of a response's method is known once its CSeq was read. */
static void a_response_takes_its_method_from_cseq(void)
{
    const struct vd_cseq *cseq;
    const struct vd_uri *uri;
    parse("SIP/2.0 200 OK\r\n", "CSeq: 7 BYE\r\n");
    CU_ASSERT_EQUAL(message.method_id, VD_METHOD_OTHER);
    CU_ASSERT_EQUAL(vd_message_cseq(&message, &cseq), 0);
    CU_ASSERT_EQUAL(message.method_id, VD_METHOD_BYE);
    CU_ASSERT_EQUAL(vd_message_request_uri(&message, &uri), VD_ERR_NOT_FOUND);

    parse(REQUEST, "CSeq: 7 BYE\r\n");
    CU_ASSERT_EQUAL(vd_message_cseq(&message, &cseq), 0);
    CU_ASSERT_EQUAL(message.method_id, VD_METHOD_OPTIONS);
}

/* Walks a list and writes what it holds with a bar between values. */
static int walk(enum vd_header_id id, char *out, size_t capacity)
{
    struct vd_value_iterator iterator;
    struct vd_via via;
    struct vd_nameaddr address;
    struct vd_token token;
    struct vd_info info;
    struct vd_auth auth;
    struct vd_warning warning;
    size_t length = 0;
    int rc;
    out[0] = '\0';
    vd_value_iterator_init(&iterator, &message, id);
    for (;;) {
        struct vd_str value;
        if (id == VD_HEADER_VIA) {
            rc = vd_via_next(&iterator, &via);
            value = via.sent_by;
        } else if (id == VD_HEADER_CONTACT || id == VD_HEADER_ROUTE) {
            rc = vd_nameaddr_next(&iterator, &address);
            value = address.star ? VD_STR("*") : address.uri.user;
        } else if (id == VD_HEADER_ALERT_INFO) {
            rc = vd_info_next(&iterator, &info);
            value = info.uri;
        } else if (id == VD_HEADER_AUTHORIZATION) {
            rc = vd_auth_next(&iterator, &auth);
            value = auth.scheme;
        } else if (id == VD_HEADER_WARNING) {
            rc = vd_warning_next(&iterator, &warning);
            value = warning.text;
        } else {
            rc = vd_token_next(&iterator, &token);
            value = token.value;
        }
        if (rc <= 0) {
            break;
        }
        length += (size_t)snprintf(out + length, capacity - length, "%.*s|", (int)value.n, value.p);
    }
    struct vd_via after;
    CU_ASSERT_EQUAL(vd_via_next(&iterator, &after), 0);
    return rc;
}

/* RFC 3261 7.3.1: values in one field and in many are one list, in order. */
static void lists_are_walked_across_header_fields(void)
{
    static const struct {
        enum vd_header_id id;
        const char *lines;
        const char *values;
        int end;
    } cases[] = {
        {VD_HEADER_VIA, "v: SIP/2.0/UDP a , SIP/2.0/TCP b\r\nX: y\r\nVia: SIP/2.0/UDP c:1;x\r\n",
         "a|b|c:1|", 0},
        {VD_HEADER_VIA, "Via: SIP/2.0/UDP a,\r\n\tSIP / 2.0 / TCP b\r\n", "a|b|", 0},
        {VD_HEADER_VIA, "Via: SIP/2.0/UDP a,\r\n", "a|", VD_ERR_SYNTAX},
        {VD_HEADER_VIA, "Via: SIP/2.0/UDP a,,SIP/2.0/UDP b\r\n", "a|", VD_ERR_SYNTAX},
        {VD_HEADER_VIA, "Via: ,SIP/2.0/UDP a\r\n", "", VD_ERR_SYNTAX},
        {VD_HEADER_VIA, "Via:\r\n", "", VD_ERR_SYNTAX},
        {VD_HEADER_VIA, "X: y\r\n", "", 0},
        {VD_HEADER_VIA, "Via: SIP/2.0/UDP a\r\nVia:\r\nVia: SIP/2.0/UDP c\r\n", "a|",
         VD_ERR_SYNTAX},
        {VD_HEADER_CONTACT, "Contact: \"x, y\" <sip:a@h;p=\",\">;q=1\r\n", "", VD_ERR_SYNTAX},
        {VD_HEADER_CONTACT, "Contact: \"x, \\\"y\" <sip:a@h>;z=\"1,2\",sip:b@h;q=1\r\nm: *\r\n",
         "a|b|*|", 0},
        {VD_HEADER_ROUTE, "Route: <sip:a@h;lr>,<sip:b@h>\r\nRoute: <sip:c@h>\r\n", "a|b|c|", 0},
        {VD_HEADER_ROUTE, "Route: *\r\n", "", VD_ERR_SYNTAX},
        {VD_HEADER_SUPPORTED, "Supported:\r\nk: a,b\r\nk:\r\n", "a|b|", 0},
        {VD_HEADER_SUPPORTED, "Supported: a b\r\n", "", VD_ERR_SYNTAX},
        {VD_HEADER_ALLOW, "Allow:\r\n", "", 0},
        {VD_HEADER_REQUIRE, "Require:\r\n", "", VD_ERR_SYNTAX},
        {VD_HEADER_ACCEPT, "Accept: text/plain;q=0.5, */*\r\nAccept: text/*\r\n",
         "text/plain|*/*|text/*|", 0},
        {VD_HEADER_ALERT_INFO, "Alert-Info: <http://a,b>;x=\",\", <http://c>\r\n",
         "http://a,b|http://c|", 0},
        {VD_HEADER_AUTHORIZATION,
         "Authorization: Digest a=\"b\", c=d\r\nAuthorization: Other x=y\r\n", "Digest|Other|", 0},
        {VD_HEADER_WARNING, "Warning: 307 a \"one, two\", 308 b \"three\"\r\n",
         "\"one, two\"|\"three\"|", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char values[256];
        parse(REQUEST, cases[i].lines);
        int end = walk(cases[i].id, values, sizeof values);
        if (end != cases[i].end || strcmp(values, cases[i].values) != 0) {
            printf("\n    %s    %s %d", cases[i].lines, values, end);
        }
        CU_ASSERT_EQUAL(end, cases[i].end);
        CU_ASSERT_STRING_EQUAL(values, cases[i].values);
    }
}

static void parameters_are_limited(void)
{
    struct vd_limits limits;
    vd_limits_init(&limits);
    limits.params = 2;
    snprintf(text, sizeof text, "%s",
             "OPTIONS sip:a@h;a;b SIP/2.0\r\nVia: SIP/2.0/UDP h;a;b, SIP/2.0/UDP h;a;b;c\r\n"
             "From: <sip:a@h>;a;b;c\r\nTo: <sip:a@h;a;b;c>\r\nRetry-After: 1;a;b;c\r\n"
             "Contact: <sip:a@h;a;b>;a;b\r\nContent-Type: a/b;a=1;b=2;c=3\r\n\r\n");
    CU_ASSERT(vd_message_parse(&message, text, strlen(text), VD_FRAMING_STREAM, &limits) > 0);
    const struct vd_uri *uri;
    char values[64];
    CU_ASSERT_EQUAL(vd_message_request_uri(&message, &uri), 0);
    CU_ASSERT_EQUAL(decode(VD_HEADER_VIA), 0);
    CU_ASSERT_EQUAL(walk(VD_HEADER_VIA, values, sizeof values), VD_ERR_TOO_MANY);
    CU_ASSERT_EQUAL(decode(VD_HEADER_FROM), VD_ERR_TOO_MANY);
    CU_ASSERT_EQUAL(decode(VD_HEADER_TO), VD_ERR_TOO_MANY);
    CU_ASSERT_EQUAL(decode(VD_HEADER_CONTACT), 0);
    CU_ASSERT_EQUAL(decode(VD_HEADER_CONTENT_TYPE), VD_ERR_TOO_MANY);
    CU_ASSERT_EQUAL(decode(VD_HEADER_RETRY_AFTER), VD_ERR_TOO_MANY);
}

static void check_finds_what_no_receiver_may_meet(void)
{
    static const struct {
        const char *start;
        const char *lines;
        int error;
    } cases[] = {
        {REQUEST, VIA FROM TO CALL_ID CSEQ, 0},
        {"SIP/2.0 200 OK\r\n", VIA FROM TO CALL_ID CSEQ, 0},
        {REQUEST, VIA FROM TO CALL_ID CSEQ "Max-Forwards: 255\r\n", 0},
        /* RFC 2543 peers (RFC 4475 3.4) */
        {REQUEST, "Via: SIP/2.0/UDP h\r\nFrom: <sip:a@h>\r\n" TO CALL_ID CSEQ, 0},
        /* mandatory header fields (RFC 3261 8.1.1) */
        {REQUEST, FROM TO CALL_ID CSEQ, VD_ERR_MISSING},
        {REQUEST, VIA TO CALL_ID CSEQ, VD_ERR_MISSING},
        {REQUEST, VIA FROM CALL_ID CSEQ, VD_ERR_MISSING},
        {REQUEST, VIA FROM TO CSEQ, VD_ERR_MISSING},
        {REQUEST, VIA FROM TO CALL_ID, VD_ERR_MISSING},
        {"SIP/2.0 200 OK\r\n", VIA FROM TO CALL_ID, VD_ERR_MISSING},
        /* the Request-URI */
        {"OPTIONS foo:bar SIP/2.0\r\n", VIA FROM TO CALL_ID CSEQ, 0},
        {"OPTIONS <sip:a@h> SIP/2.0\r\n", VIA FROM TO CALL_ID CSEQ, VD_ERR_SYNTAX},
        {"OPTIONS sip:a@h?x=y SIP/2.0\r\n", VIA FROM TO CALL_ID CSEQ, VD_ERR_SYNTAX},
        {"OPTIONS sip:a@h:65536 SIP/2.0\r\n", VIA FROM TO CALL_ID CSEQ, VD_ERR_RANGE},
        {"OPTIONS sip:2001:db8::1 SIP/2.0\r\n", VIA FROM TO CALL_ID CSEQ, VD_ERR_SYNTAX},
        {"OPTIONS * SIP/2.0\r\n", VIA FROM TO CALL_ID CSEQ, VD_ERR_SYNTAX},
        /* every Via value */
        {REQUEST, VIA "Via: SIP/2.0/UDP b , SIP/2.0/UDP c\r\n" FROM TO CALL_ID CSEQ, 0},
        {REQUEST, VIA "Via: SIP/2.0/UDP b,\r\n" FROM TO CALL_ID CSEQ, VD_ERR_SYNTAX},
        {REQUEST, VIA "Via: SIP/2.0/UDP b;;x\r\n" FROM TO CALL_ID CSEQ, VD_ERR_SYNTAX},
        {REQUEST, "Via: SIP/2.0/UDP a,;x\r\n" FROM TO CALL_ID CSEQ, VD_ERR_SYNTAX},
        {REQUEST, "Via: ,SIP/2.0/UDP a\r\n" FROM TO CALL_ID CSEQ, VD_ERR_SYNTAX},
        /* the others that must follow the grammar */
        {REQUEST, VIA "From: \"a <sip:a@h>\r\n" TO CALL_ID CSEQ, VD_ERR_SYNTAX},
        {REQUEST, VIA FROM "To: < sip:a@h>\r\n" CALL_ID CSEQ, VD_ERR_SYNTAX},
        {REQUEST, VIA FROM TO "Call-ID: a b\r\n" CSEQ, VD_ERR_SYNTAX},
        {REQUEST, VIA FROM TO CALL_ID "CSeq: 4294967296 OPTIONS\r\n", VD_ERR_RANGE},
        {REQUEST, VIA FROM TO CALL_ID CSEQ "Max-Forwards: 300\r\n", VD_ERR_RANGE},
        {REQUEST, VIA FROM TO CALL_ID CSEQ "Max-Forwards:\r\n", VD_ERR_SYNTAX},
        {REQUEST, VIA FROM TO CALL_ID CSEQ "Route: <sip:a;lr>,<sip:b>\r\n", 0},
        {REQUEST, VIA FROM TO CALL_ID CSEQ "Route: <sip:a;lr>, sip:b\r\n", VD_ERR_SYNTAX},
        {REQUEST, VIA FROM TO CALL_ID CSEQ "Record-Route: <sip:a;lr>,\r\n", VD_ERR_SYNTAX},
        {REQUEST, VIA FROM TO CALL_ID CSEQ "Contact: <sip:a>, <sip:b\r\n", VD_ERR_SYNTAX},
        {REQUEST, VIA FROM TO CALL_ID CSEQ "Contact: sip:a@h?x=y\r\n", VD_ERR_SYNTAX},
        /* not judged here: Date, Expires and whatever else */
        {REQUEST, VIA FROM TO CALL_ID CSEQ "Date: now\r\nExpires: x\r\nAccept: ;;\r\n", 0},
        /* CSeq and start line (RFC 4475 3.1.2.17, 3.1.2.18) */
        {REQUEST, VIA FROM TO CALL_ID "CSeq: 1 INVITE\r\n", VD_ERR_MISMATCH},
        {REQUEST, VIA FROM TO CALL_ID "CSeq: 1 options\r\n", VD_ERR_MISMATCH},
        {REQUEST, VIA FROM TO CALL_ID "CSeq: 1 NEW\r\n", VD_ERR_MISMATCH},
        {"NEW sip:a@h SIP/2.0\r\n", VIA FROM TO CALL_ID "CSeq: 1 NEW\r\n", 0},
        {"NEW sip:a@h SIP/2.0\r\n", VIA FROM TO CALL_ID "CSeq: 1 INVITE\r\n", VD_ERR_METHOD},
        {"NEW sip:a@h SIP/2.0\r\n", VIA FROM TO CALL_ID "CSeq: 1 NEWER\r\n", VD_ERR_METHOD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parse(cases[i].start, cases[i].lines);
        int error = vd_message_check(&message);
        if (error != cases[i].error) {
            printf("\n    %zu: %s%s    %d: %s", i, cases[i].start, cases[i].lines, error,
                   message.fault.rule);
        }
        CU_ASSERT_EQUAL(error, cases[i].error);
        CU_ASSERT_EQUAL(message.fault.error, cases[i].error);
        CU_ASSERT(message.fault.offset <= message.raw.n);
        CU_ASSERT_EQUAL(vd_message_check(&message), cases[i].error);
    }
}

/* RFC 3261 10.2.2, 10.3 step 6, 20.10 */
static void a_star_stands_alone_in_a_register_with_expires_0(void)
{
#define REGISTER "REGISTER sip:example.com SIP/2.0\r\n"
#define REST     VIA FROM TO CALL_ID "CSeq: 1 REGISTER\r\n"
    static const struct {
        const char *start;
        const char *lines;
        int error;
    } cases[] = {
        {REGISTER, REST "Contact: *\r\nExpires: 0\r\n", 0},
        {REGISTER, REST "Expires: 000\r\nm:\r\n * \r\n", 0},
        {REGISTER, REST "Contact: *\r\n", VD_ERR_SYNTAX},
        {REGISTER, REST "Contact: *\r\nExpires: 1\r\n", VD_ERR_SYNTAX},
        {REGISTER, REST "Contact: *\r\nExpires: x\r\n", VD_ERR_SYNTAX},
        {REGISTER, REST "Contact: *;expires=0\r\n", VD_ERR_SYNTAX},
        {REGISTER, REST "Contact: *, <sip:a@h>\r\nExpires: 0\r\n", VD_ERR_SYNTAX},
        {REGISTER, REST "Contact: <sip:a@h>, *\r\nExpires: 0\r\n", VD_ERR_SYNTAX},
        {REGISTER, REST "Contact: *\r\nm: *\r\nExpires: 0\r\n", VD_ERR_SYNTAX},
        {REGISTER, REST "Contact: <sip:a@h>\r\nm: *\r\nExpires: 0\r\n", VD_ERR_SYNTAX},
        {REGISTER, REST "Contact: <*>\r\nExpires: 0\r\n", VD_ERR_SYNTAX},
        {REQUEST, VIA FROM TO CALL_ID CSEQ "Contact: *\r\nExpires: 0\r\n", VD_ERR_SYNTAX},
        {"SIP/2.0 200 OK\r\n", REST "Contact: *\r\nExpires: 0\r\n", VD_ERR_SYNTAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parse(cases[i].start, cases[i].lines);
        int error = vd_message_check(&message);
        if (error != cases[i].error) {
            printf("\n    %zu: %s    %d: %s", i, cases[i].lines, error, message.fault.rule);
        }
        CU_ASSERT_EQUAL(error, cases[i].error);
    }
}

/* True when a view lies in the bytes of the message. */
static bool is_inside(const struct vd_message *owner, struct vd_str view)
{
    return view.n == 0 ||
           (view.p >= owner->raw.p && view.p + view.n <= owner->raw.p + owner->raw.n);
}

static void a_copy_outlives_the_bytes_of_its_message(void)
{
    struct counting_mem counting;
    counting_mem_init(&counting);
    static const char body[] = "Content-Length: 4\r\n\r\nbody";
    parse(REQUEST, VIA FROM TO CALL_ID CSEQ "Contact: <sip:c@h>\r\nX: y\r\n");
    size_t n = strlen(text) - 2;
    memcpy(text + n, body, sizeof body);
    n += sizeof body - 1;
    CU_ASSERT_EQUAL(vd_message_parse(&message, text, n, VD_FRAMING_STREAM, NULL), (int)n);
    CU_ASSERT_EQUAL(vd_message_check(&message), 0);

    struct vd_message *copy = vd_message_copy(&message, &counting.mem);
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    CU_ASSERT_EQUAL(counting.live_blocks, 1);
    char *before = malloc(n);
    memcpy(before, text, n);
    memset(text, 'x', sizeof text);
    memset(headers, 0xff, sizeof headers);

    CU_ASSERT(copy->raw.n == n && memcmp(copy->raw.p, before, n) == 0);
    CU_ASSERT(equal(copy->body, "body") && is_inside(copy, copy->body));
    CU_ASSERT(equal(copy->method, "OPTIONS") && is_inside(copy, copy->method));
    CU_ASSERT(is_inside(copy, copy->request_uri));
    for (size_t i = 0; i < copy->header_count; i++) {
        CU_ASSERT(is_inside(copy, copy->headers[i].name) &&
                  is_inside(copy, copy->headers[i].value));
    }
    const struct vd_nameaddr *from;
    CU_ASSERT_EQUAL(vd_message_check(copy), 0);
    CU_ASSERT_EQUAL(vd_message_from(copy, &from), 0);
    CU_ASSERT(equal(from->tag, "a") && is_inside(copy, from->tag));
    CU_ASSERT_PTR_NOT_NULL(vd_message_header_named(copy, VD_STR("x")));

    struct vd_message *second = vd_message_copy(copy, &counting.mem);
    vd_message_free(copy, &counting.mem);
    CU_ASSERT_PTR_NOT_NULL_FATAL(second);
    CU_ASSERT(memcmp(second->raw.p, before, n) == 0);
    vd_message_free(second, &counting.mem);
    free(before);
    CU_ASSERT(counting_mem_is_clean(&counting));
}

static void a_copy_of_a_response_and_of_a_refused_message_is_whole(void)
{
    static const char *const texts[] = {"SIP/2.0 200 \r\nVia: a\r\n\r\n",
                                        "SIP/2.0 200 Fine\r\nno colon\r\nVia: a\r\n\r\n",
                                        "nothing"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        vd_message_parse(&message, texts[i], strlen(texts[i]), VD_FRAMING_DATAGRAM, NULL);
        struct vd_message *copy = vd_message_copy(&message, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        CU_ASSERT(vd_str_equal(copy->raw, message.raw));
        CU_ASSERT(vd_str_equal(copy->reason, message.reason) && is_inside(copy, copy->reason));
        CU_ASSERT_EQUAL(copy->header_count, message.header_count);
        CU_ASSERT_EQUAL(copy->fault.error, message.fault.error);
        vd_message_free(copy, NULL);
    }
    vd_message_free(NULL, NULL);
}

static void no_memory_gives_no_copy(void)
{
    struct counting_mem counting;
    counting_mem_init(&counting);
    counting_mem_fail_after(&counting, 0);
    parse(REQUEST, VIA);
    CU_ASSERT_PTR_NULL(vd_message_copy(&message, &counting.mem));
    CU_ASSERT(counting_mem_is_clean(&counting));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"header_fields_are_found_by_number_and_name", header_fields_are_found_by_number_and_name},
        {"unfolding_makes_one_line", unfolding_makes_one_line},
        {"typed_values_are_decoded_and_remembered", typed_values_are_decoded_and_remembered},
        {"other_values_are_decoded_each_time", other_values_are_decoded_each_time},
        {"broken_values_are_refused_each_time_with_their_place",
         broken_values_are_refused_each_time_with_their_place},
        {"a_response_takes_its_method_from_cseq", a_response_takes_its_method_from_cseq},
        {"lists_are_walked_across_header_fields", lists_are_walked_across_header_fields},
        {"parameters_are_limited", parameters_are_limited},
        {"check_finds_what_no_receiver_may_meet", check_finds_what_no_receiver_may_meet},
        {"a_star_stands_alone_in_a_register_with_expires_0",
         a_star_stands_alone_in_a_register_with_expires_0},
        {"a_copy_outlives_the_bytes_of_its_message", a_copy_outlives_the_bytes_of_its_message},
        {"a_copy_of_a_response_and_of_a_refused_message_is_whole",
         a_copy_of_a_response_and_of_a_refused_message_is_whole},
        {"no_memory_gives_no_copy", no_memory_gives_no_copy},
        CU_TEST_INFO_NULL,
    };
    vd_message_init(&message, headers, HEADERS);
    return run_suite("message", tests);
}
