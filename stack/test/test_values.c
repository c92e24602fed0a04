/* test_values.c - the typed values besides addresses and Via.
 *
 * Covered: CSeq, numbers, tokens and media types, Alert-Info and its kin, the authentication
 * fields, Date, Retry-After, Timestamp, Warning: what they hold, what is refused and where (RFC
 * 3261 20, RFC 4475 3.1.2.3 to 3.1.2.5, 3.1.2.12, 3.3.7), numbers at their limits, every day of
 * some centuries; no byte read past the end. Not covered: finding the header field in a message.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/values.h>

#include "fault_table.h"
#include "run_suite.h"

#include <stdio.h>

static struct guard guard;

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* ---- CSeq ---- */

static int read_cseq(struct vd_str text, struct vd_fault *fault)
{
    struct vd_cseq cseq;
    return vd_cseq_parse(text, &cseq, fault);
}

static void cseq_has_a_number_and_a_method(void)
{
    static const struct {
        const char *text;
        uint32_t number;
        const char *method;
        enum vd_method id;
    } cases[] = {
        {"0 A", 0, "A", VD_METHOD_OTHER},
        {"1 INVITE", 1, "INVITE", VD_METHOD_INVITE},
        {"1 invite", 1, "invite", VD_METHOD_OTHER},
        {"2147483647 ACK", 2147483647, "ACK", VD_METHOD_ACK},
        {"0000000000000000000000009\r\n  INVITE ", 9, "INVITE", VD_METHOD_INVITE},
        {"\t12\t\tMESSAGE", 12, "MESSAGE", VD_METHOD_MESSAGE},
        {"2 %Odd.method-0+9*_!`'~", 2, "%Odd.method-0+9*_!`'~", VD_METHOD_OTHER},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct vd_cseq cseq;
        struct vd_str text = placed(&guard, cases[i].text);
        CU_ASSERT_EQUAL(vd_cseq_parse(text, &cseq, NULL), (int)text.n);
        CU_ASSERT_EQUAL(cseq.number, cases[i].number);
        CU_ASSERT(is_text(cseq.method, cases[i].method));
        CU_ASSERT_EQUAL(cseq.method_id, cases[i].id);
    }
}

static void cseq_number_is_below_2_31_and_never_wraps(void)
{
    static const struct fault_case cases[] = {
        {"2147483648 ACK", VD_ERR_RANGE, 0},
        {"4294967295 ACK", VD_ERR_RANGE, 0},
        {" 4294967296 ACK", VD_ERR_RANGE, 1},
        {"9999999999999999999 ACK", VD_ERR_RANGE, 0},
        {"18446744073709551617 ACK", VD_ERR_RANGE, 0},
        {"36893488147419103232 ACK", VD_ERR_RANGE, 0},
        {"100000000000000000000000000000000000000000000001 ACK", VD_ERR_RANGE, 0},
        {"", VD_ERR_SYNTAX, 0},
        {"-1 ACK", VD_ERR_SYNTAX, 0},
        {"+1 ACK", VD_ERR_SYNTAX, 0},
        {"0x10 ACK", VD_ERR_SYNTAX, 1},
        {"1.0 ACK", VD_ERR_SYNTAX, 1},
        {"ACK", VD_ERR_SYNTAX, 0},
        {"1ACK", VD_ERR_SYNTAX, 1},
        {"1", VD_ERR_SYNTAX, 1},
        {"1 ", VD_ERR_SYNTAX, 2},
        {"1 ACK ACK", VD_ERR_SYNTAX, 6},
        {"1 ACK,2 ACK", VD_ERR_SYNTAX, 5},
        {"1 A/B", VD_ERR_SYNTAX, 3},
    };
    check_faults(&guard, read_cseq, cases, COUNT(cases));
}

/* ---- Numbers ---- */

static int read_number(struct vd_str text, struct vd_fault *fault)
{
    uint32_t number;
    return vd_number_parse(text, 255, &number, fault);
}

static void number_is_digits_and_nothing_else(void)
{
    static const struct fault_case cases[] = {
        {"", VD_ERR_SYNTAX, 0},
        {" ", VD_ERR_SYNTAX, 1},
        {"-0", VD_ERR_SYNTAX, 0},
        {"+5", VD_ERR_SYNTAX, 0},
        {"5 5", VD_ERR_SYNTAX, 2},
        {"5,5", VD_ERR_SYNTAX, 1},
        {"5;x", VD_ERR_SYNTAX, 1},
        {"0x5", VD_ERR_SYNTAX, 1},
        {"5.0", VD_ERR_SYNTAX, 1},
        {"\xd9\xa3", VD_ERR_SYNTAX, 0},
        {"256", VD_ERR_RANGE, 0},
        {" 4294967296", VD_ERR_RANGE, 1},
        {"18446744073709551616", VD_ERR_RANGE, 0},
    };
    check_faults(&guard, read_number, cases, COUNT(cases));
}

static void number_past_its_limit_reads_as_the_limit(void)
{
    static const uint32_t limits[] = {0, 1, 255, 65535, INT32_MAX, UINT32_MAX};
    for (size_t i = 0; i < COUNT(limits); i++) {
        char text[32];
        uint32_t number = 7;
        snprintf(text, sizeof text, " 000%llu ", (unsigned long long)limits[i]);
        CU_ASSERT_EQUAL(vd_number_parse(placed(&guard, text), limits[i], &number, NULL),
                        (int)strlen(text));
        CU_ASSERT_EQUAL(number, limits[i]);
        number = 7;
        snprintf(text, sizeof text, "%llu", (unsigned long long)limits[i] + 1);
        CU_ASSERT_EQUAL(vd_number_parse(placed(&guard, text), limits[i], &number, NULL),
                        VD_ERR_RANGE);
        CU_ASSERT_EQUAL(number, limits[i]);
    }
}

/* ---- Tokens ---- */

static void tokens_have_the_form_of_their_header_field(void)
{
    static const struct {
        enum vd_header_id id;
        const char *text;
        int length;
        const char *value;
        const char *type;
        const char *subtype;
        unsigned count;
        const char *q;
    } cases[] = {
        {VD_HEADER_ACCEPT, "*/*", 3, "*/*", "*", "*", 0, ""},
        {VD_HEADER_ACCEPT, "text / html ; level=1;q=0.5 , b/c", 28, "text / html", "text", "html",
         2, "0.5"},
        {VD_HEADER_ACCEPT_ENCODING, "gzip;q=1,x", 8, "gzip", "gzip", "", 1, "1"},
        {VD_HEADER_ACCEPT_LANGUAGE, "da, en-gb;q=0.8", 2, "da", "da", "", 0, ""},
        {VD_HEADER_CONTENT_TYPE, "application\r\n / sdp", 19, "application\r\n / sdp",
         "application", "sdp", 0, ""},
        {VD_HEADER_CONTENT_TYPE, "multipart/mixed;boundary=\"a;b,c\"", 32, "multipart/mixed",
         "multipart", "mixed", 1, ""},
        {VD_HEADER_CONTENT_DISPOSITION, "session;handling=optional", 25, "session", "session", "",
         1, ""},
        {VD_HEADER_CONTENT_ENCODING, "gzip", 4, "gzip", "gzip", "", 0, ""},
        {VD_HEADER_CONTENT_LANGUAGE, "fr , en", 3, "fr", "fr", "", 0, ""},
        {VD_HEADER_ALLOW, "INVITE, ACK", 6, "INVITE", "INVITE", "", 0, ""},
        {VD_HEADER_SUPPORTED, "100rel ,\r\n timer", 7, "100rel", "100rel", "", 0, ""},
        {VD_HEADER_REQUIRE, " a\r\n ", 5, "a", "a", "", 0, ""},
        {VD_HEADER_PRIORITY, "emergency", 9, "emergency", "emergency", "", 0, ""},
        {VD_HEADER_MIME_VERSION, "1.0", 3, "1.0", "1.0", "", 0, ""},
        {VD_HEADER_IN_REPLY_TO, "a<b>@c[], d", 8, "a<b>@c[]", "a<b>@c[]", "", 0, ""},
        {VD_HEADER_OTHER, "presence;id=7", 13, "presence", "presence", "", 1, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct vd_token token;
        struct vd_str text = placed(&guard, cases[i].text);
        CU_ASSERT_EQUAL(vd_token_parse(text, cases[i].id, &token, NULL), cases[i].length);
        CU_ASSERT(is_text(token.value, cases[i].value));
        CU_ASSERT(is_text(token.type, cases[i].type));
        CU_ASSERT(is_text(token.subtype, cases[i].subtype));
        CU_ASSERT_EQUAL(token.params.count, cases[i].count);
        CU_ASSERT(is_text(token.q, cases[i].q));
    }
}

static enum vd_header_id token_id;

static int read_token(struct vd_str text, struct vd_fault *fault)
{
    struct vd_token token;
    return vd_token_parse(text, token_id, &token, fault);
}

static void token_of_another_form_is_refused(void)
{
    static const struct {
        enum vd_header_id id;
        struct fault_case fault;
    } cases[] = {
        {VD_HEADER_ACCEPT, {"", VD_ERR_SYNTAX, 0}},
        {VD_HEADER_ACCEPT, {"text", VD_ERR_SYNTAX, 4}},
        {VD_HEADER_ACCEPT, {"text/", VD_ERR_SYNTAX, 5}},
        {VD_HEADER_ACCEPT, {"/html", VD_ERR_SYNTAX, 0}},
        {VD_HEADER_ACCEPT, {"a/b/c", VD_ERR_SYNTAX, 3}},
        {VD_HEADER_ACCEPT, {"a/b;q=2", VD_ERR_SYNTAX, 6}},
        {VD_HEADER_ACCEPT, {"a/b;q=1;q=1", VD_ERR_SYNTAX, 8}},
        {VD_HEADER_ACCEPT, {"a/b;;c", VD_ERR_SYNTAX, 4}},
        {VD_HEADER_CONTENT_TYPE, {"a/b,c/d", VD_ERR_SYNTAX, 3}},
        {VD_HEADER_CONTENT_TYPE, {"a/b c", VD_ERR_SYNTAX, 4}},
        {VD_HEADER_CONTENT_TYPE, {"a/b;c=\"d", VD_ERR_SYNTAX, 6}},
        {VD_HEADER_ALLOW, {"A;b", VD_ERR_SYNTAX, 1}},
        {VD_HEADER_ALLOW, {",A", VD_ERR_SYNTAX, 0}},
        {VD_HEADER_ALLOW, {"A B", VD_ERR_SYNTAX, 2}},
        {VD_HEADER_SUPPORTED, {"a/b", VD_ERR_SYNTAX, 1}},
        {VD_HEADER_PRIORITY, {"a,b", VD_ERR_SYNTAX, 1}},
        {VD_HEADER_MIME_VERSION, {"1", VD_ERR_SYNTAX, 1}},
        {VD_HEADER_MIME_VERSION, {"1.", VD_ERR_SYNTAX, 2}},
        {VD_HEADER_MIME_VERSION, {".1", VD_ERR_SYNTAX, 0}},
        {VD_HEADER_MIME_VERSION, {"1.0.0", VD_ERR_SYNTAX, 3}},
        {VD_HEADER_IN_REPLY_TO, {"a@", VD_ERR_SYNTAX, 2}},
        {VD_HEADER_IN_REPLY_TO, {"@a", VD_ERR_SYNTAX, 0}},
        {VD_HEADER_IN_REPLY_TO, {"a@b@c", VD_ERR_SYNTAX, 3}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        token_id = cases[i].id;
        check_faults(&guard, read_token, &cases[i].fault, 1);
    }
}

/* ---- Alert-Info and its kin ---- */

static int read_info(struct vd_str text, struct vd_fault *fault)
{
    struct vd_info info;
    return vd_info_parse(text, &info, fault);
}

static void info_is_a_uri_in_brackets(void)
{
    static const struct fault_case refused[] = {
        {"", VD_ERR_SYNTAX, 0},       {"http://a", VD_ERR_SYNTAX, 0}, {"<>", VD_ERR_SYNTAX, 1},
        {"<a>", VD_ERR_SYNTAX, 2},    {"<1:a>", VD_ERR_SYNTAX, 1},    {"<a:>", VD_ERR_SYNTAX, 3},
        {"<a:b", VD_ERR_SYNTAX, 4},   {"<a:b c>", VD_ERR_SYNTAX, 4},  {"<a:b> x", VD_ERR_SYNTAX, 6},
        {"<a:b>;", VD_ERR_SYNTAX, 6},
    };
    struct vd_info info;
    CU_ASSERT_EQUAL(
        vd_info_parse(placed(&guard, " <http://a/b?c,d=e> ;purpose=icon , <x:y>"), &info, NULL),
        34);
    CU_ASSERT(is_text(info.uri, "http://a/b?c,d=e"));
    CU_ASSERT_EQUAL(info.params.count, 1);
    check_faults(&guard, read_info, refused, COUNT(refused));
}

/* ---- The authentication fields ---- */

static enum vd_header_id auth_id = VD_HEADER_AUTHORIZATION;

static int read_auth(struct vd_str text, struct vd_fault *fault)
{
    struct vd_auth auth;
    return vd_auth_parse(text, auth_id, &auth, fault);
}

static void challenge_folded_over_lines_is_one_challenge(void)
{
    struct vd_auth auth;
    struct vd_str found;
    struct vd_str text =
        placed(&guard, "Digest\r\n\trealm=\"example.com\",nonce=\"t01-nonce\",\r\n "
                       "algorithm=MD5,\r\n  qop=\"auth\"");
    CU_ASSERT_EQUAL(vd_auth_parse(text, VD_HEADER_WWW_AUTHENTICATE, &auth, NULL), (int)text.n);
    CU_ASSERT(is_text(auth.scheme, "Digest"));
    CU_ASSERT_EQUAL(auth.params.count, 4);
    CU_ASSERT_EQUAL(vd_params_get(&auth.params, VD_STR("realm"), &found), 0);
    CU_ASSERT(is_text(found, "\"example.com\""));
    CU_ASSERT_EQUAL(vd_params_get(&auth.params, VD_STR("nonce"), &found), 0);
    CU_ASSERT(is_text(found, "\"t01-nonce\""));
    CU_ASSERT_EQUAL(vd_params_get(&auth.params, VD_STR("qop"), &found), 0);
    CU_ASSERT(is_text(found, "\"auth\""));
}

static void credentials_of_any_scheme_are_read(void)
{
    static const struct {
        const char *text;
        const char *scheme;
        const char *word;
        unsigned count;
    } cases[] = {
        {"LampKey turn=\"left, twice\", n=2", "LampKey", "", 2},
        {"Brass-Token dG9rZW4=", "Brass-Token", "dG9rZW4=", 0},
        {"Bearer a-._~+/B== ", "Bearer", "a-._~+/B==", 0},
        {"Tin level=0", "Tin", "", 1},
        {"digest a=\"\" , b=c", "digest", "", 2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct vd_auth auth;
        struct vd_str text = placed(&guard, cases[i].text);
        CU_ASSERT_EQUAL(vd_auth_parse(text, VD_HEADER_AUTHORIZATION, &auth, NULL), (int)text.n);
        CU_ASSERT(is_text(auth.scheme, cases[i].scheme));
        CU_ASSERT(is_text(auth.word, cases[i].word));
        CU_ASSERT_EQUAL(auth.params.count, cases[i].count);
    }
}

static void authentication_info_has_no_scheme(void)
{
    struct vd_auth auth;
    CU_ASSERT_EQUAL(vd_auth_parse(placed(&guard, "nextnonce=\"a\",qop=auth"),
                                  VD_HEADER_AUTHENTICATION_INFO, &auth, NULL),
                    22);
    CU_ASSERT_EQUAL(auth.scheme.n, 0);
    CU_ASSERT_EQUAL(auth.params.count, 2);
}

static void auth_that_breaks_the_grammar_is_refused_where_it_does(void)
{
    static const struct fault_case cases[] = {
        {"", VD_ERR_SYNTAX, 0},
        {"Digest", VD_ERR_SYNTAX, 6},
        {"Digest ", VD_ERR_SYNTAX, 7},
        {"Digest, a=b", VD_ERR_SYNTAX, 6},
        {"Digest realm", VD_ERR_SYNTAX, 12},
        {"Digest realm=", VD_ERR_SYNTAX, 13},
        {"Digest a=b,", VD_ERR_SYNTAX, 11},
        {"Digest a=b,,c=d", VD_ERR_SYNTAX, 11},
        {"Digest a=b c=d", VD_ERR_SYNTAX, 11},
        {"Digest a=b;c=d", VD_ERR_SYNTAX, 10},
        {"Digest a=\"b", VD_ERR_SYNTAX, 9},
        {"Digest a=b=", VD_ERR_SYNTAX, 10},
        {"Bearer a b", VD_ERR_SYNTAX, 8},
    };
    check_faults(&guard, read_auth, cases, COUNT(cases));
}

/* ---- Date ---- */

static int read_date(struct vd_str text, struct vd_fault *fault)
{
    struct vd_date date;
    return vd_date_parse(text, &date, fault);
}

static void date_is_an_rfc_1123_date_in_gmt(void)
{
    static const struct fault_case refused[] = {
        {"", VD_ERR_SYNTAX, 0},
        {"Sat, 13 Nov 2010 23:29:00 EST", VD_ERR_SYNTAX, 26},
        {"Sat, 13 Nov 2010 23:29:00 CET", VD_ERR_SYNTAX, 26},
        {"Sat, 13 Nov 2010 23:29:00", VD_ERR_SYNTAX, 25},
        {"Sat, 13 Nov 2010 23:29:00 +0000", VD_ERR_SYNTAX, 26},
        {"Sat, 13 Nov 2010 23:29:00 Gmt+1", VD_ERR_SYNTAX, 29},
        {"Sat, 3 Nov 2010 23:29:00 GMT", VD_ERR_SYNTAX, 28},
        {"Sat, 13 Nov 2010 23:29:00  GMT", VD_ERR_SYNTAX, 26},
        {"Sat, 13-Nov-10 23:29:00 GMT   ", VD_ERR_SYNTAX, 7},
        {"Sat  13 Nov 2010 23:29:00 GMT", VD_ERR_SYNTAX, 3},
        {"Sab, 13 Nov 2010 23:29:00 GMT", VD_ERR_SYNTAX, 0},
        {"Sat, 13 Nob 2010 23:29:00 GMT", VD_ERR_SYNTAX, 8},
        {"Sat, 1x Nov 2010 23:29:00 GMT", VD_ERR_SYNTAX, 5},
        {"Sat, 13 Nov 201x 23:29:00 GMT", VD_ERR_SYNTAX, 12},
        {"Sat, 13 Nov 2010 23:2x:00 GMT", VD_ERR_SYNTAX, 17},
        {"Sat, 00 Nov 2010 23:29:00 GMT", VD_ERR_RANGE, 5},
        {"Sat, 31 Nov 2010 23:29:00 GMT", VD_ERR_RANGE, 5},
        {"Sat, 29 Feb 2011 23:29:00 GMT", VD_ERR_RANGE, 5},
        {"Sat, 29 Feb 1900 23:29:00 GMT", VD_ERR_RANGE, 5},
        {"Sat, 13 Nov 2010 24:00:00 GMT", VD_ERR_RANGE, 17},
        {"Sat, 13 Nov 2010 23:60:00 GMT", VD_ERR_RANGE, 20},
        {"Sat, 13 Nov 2010 23:29:61 GMT", VD_ERR_RANGE, 23},
        {" Sun, 13 Nov 2010 23:29:00 GMT", VD_ERR_RANGE, 1},
    };
    struct vd_date date;
    CU_ASSERT_EQUAL(vd_date_parse(placed(&guard, "Sat, 13 Nov 2010 23:29:00 GMT"), &date, NULL),
                    29);
    CU_ASSERT_EQUAL(date.seconds, 1289690940);
    CU_ASSERT_EQUAL(date.year, 2010);
    CU_ASSERT_EQUAL(date.month, 11);
    CU_ASSERT_EQUAL(date.day, 13);
    CU_ASSERT_EQUAL(date.hour, 23);
    CU_ASSERT_EQUAL(date.minute, 29);
    CU_ASSERT_EQUAL(date.second, 0);
    CU_ASSERT_EQUAL(date.weekday, 6);
    CU_ASSERT_EQUAL(vd_date_parse(placed(&guard, "thu, 01 jan 1970 00:00:00 gmt "), &date, NULL),
                    30);
    CU_ASSERT_EQUAL(date.seconds, 0);
    CU_ASSERT_EQUAL(vd_date_parse(placed(&guard, "Wed, 31 Dec 1969 23:59:60 GMT"), &date, NULL),
                    29);
    CU_ASSERT_EQUAL(date.seconds, 0);
    check_faults(&guard, read_date, refused, COUNT(refused));
}

static void every_day_from_1600_to_2400_has_its_seconds_and_weekday(void)
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    static const char *const weekdays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const unsigned lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t day_number = -135140; /* days from 1600-01-01, a Saturday, to 1970-01-01 */
    unsigned weekday = 6;
    for (unsigned year = 1600; year < 2400; year++) {
        bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        for (unsigned month = 0; month < 12; month++) {
            unsigned length = lengths[month] + (month == 1 && leap ? 1 : 0);
            for (unsigned day = 1; day <= length; day++) {
                char text[64];
                struct vd_date date;
                int n = snprintf(text, sizeof text, "%s, %02u %s %04u 12:34:56 GMT",
                                 weekdays[weekday], day, months[month], year);
                CU_ASSERT_EQUAL_FATAL(vd_date_parse(vd_str(text, (size_t)n), &date, NULL), n);
                CU_ASSERT_EQUAL_FATAL(date.seconds, day_number * 86400 + 45296);
                day_number++;
                weekday = (weekday + 1) % 7;
            }
        }
    }
}

/* ---- Retry-After ---- */

static int read_retry_after(struct vd_str text, struct vd_fault *fault)
{
    struct vd_retry_after value;
    return vd_retry_after_parse(text, &value, fault);
}

static void retry_after_has_seconds_comment_and_parameters(void)
{
    static const struct fault_case refused[] = {
        {"", VD_ERR_SYNTAX, 0},
        {"x", VD_ERR_SYNTAX, 0},
        {"-1", VD_ERR_SYNTAX, 0},
        {"4294967296", VD_ERR_RANGE, 0},
        {"949302838503028349304023988", VD_ERR_RANGE, 0},
        {"1 x", VD_ERR_SYNTAX, 2},
        {"1 (x", VD_ERR_SYNTAX, 2},
        {"1 (x))", VD_ERR_SYNTAX, 5},
        {"1 (x) (y)", VD_ERR_SYNTAX, 6},
        {"1 (\xff)", VD_ERR_SYNTAX, 3},
        {"1 (\\", VD_ERR_SYNTAX, 3},
        {"1;", VD_ERR_SYNTAX, 2},
        {"1;duration=x", VD_ERR_SYNTAX, 11},
        {"1;duration=", VD_ERR_SYNTAX, 11},
        {"1;duration=1;duration=1", VD_ERR_SYNTAX, 13},
        {"1,2", VD_ERR_SYNTAX, 1},
    };
    struct vd_retry_after value;
    struct vd_str text = placed(&guard, " 4294967295 (a (b \\) \"c) \xc3\xa9) ;x;duration=36 ");
    CU_ASSERT_EQUAL(vd_retry_after_parse(text, &value, NULL), (int)text.n);
    CU_ASSERT_EQUAL(value.seconds, 4294967295);
    CU_ASSERT(is_text(value.comment, "a (b \\) \"c) \xc3\xa9"));
    CU_ASSERT(is_text(value.duration, "36"));
    CU_ASSERT_EQUAL(value.params.count, 2);
    CU_ASSERT_EQUAL(vd_retry_after_parse(placed(&guard, "18000"), &value, NULL), 5);
    CU_ASSERT_EQUAL(value.seconds, 18000);
    CU_ASSERT_EQUAL(value.comment.n, 0);
    check_faults(&guard, read_retry_after, refused, COUNT(refused));
}

/* ---- Timestamp ---- */

static int read_timestamp(struct vd_str text, struct vd_fault *fault)
{
    struct vd_timestamp value;
    return vd_timestamp_parse(text, &value, fault);
}

static void timestamp_is_in_microseconds(void)
{
    static const struct {
        const char *text;
        uint64_t value;
        uint64_t delay;
        bool has_delay;
    } cases[] = {
        {"0", 0, 0, false},
        {"54", 54000000, 0, false},
        {"54.", 54000000, 0, false},
        {"54.21", 54210000, 0, false},
        {"54.1234567890", 54123456, 0, false},
        {"54.000001 .5", 54000001, 500000, true},
        {" 54\r\n 1.25 ", 54000000, 1250000, true},
        {"999999999999.999999 999999999999", UINT64_C(999999999999999999),
         UINT64_C(999999999999000000), true},
    };
    static const struct fault_case refused[] = {
        {"", VD_ERR_SYNTAX, 0},
        {".5", VD_ERR_SYNTAX, 0},
        {"x", VD_ERR_SYNTAX, 0},
        {"-1", VD_ERR_SYNTAX, 0},
        {"1x", VD_ERR_SYNTAX, 1},
        {"1.2.3", VD_ERR_SYNTAX, 3},
        {"1 x", VD_ERR_SYNTAX, 2},
        {"1 2 3", VD_ERR_SYNTAX, 4},
        {"1,2", VD_ERR_SYNTAX, 1},
        {"1000000000000", VD_ERR_RANGE, 0},
        {"1 18446744073709551617", VD_ERR_RANGE, 2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct vd_timestamp value;
        struct vd_str text = placed(&guard, cases[i].text);
        CU_ASSERT_EQUAL(vd_timestamp_parse(text, &value, NULL), (int)text.n);
        CU_ASSERT_EQUAL(value.value, cases[i].value);
        CU_ASSERT_EQUAL(value.delay, cases[i].delay);
        CU_ASSERT_EQUAL(value.has_delay, cases[i].has_delay);
    }
    check_faults(&guard, read_timestamp, refused, COUNT(refused));
}

/* ---- Warning ---- */

static int read_warning(struct vd_str text, struct vd_fault *fault)
{
    struct vd_warning value;
    return vd_warning_parse(text, &value, fault);
}

static void warning_has_code_agent_and_text(void)
{
    static const struct {
        const char *text;
        int length;
        unsigned code;
        const char *agent;
        const char *quoted;
    } cases[] = {
        {"307 isi.edu \"a, \\\"b\\\"\"", 22, 307, "isi.edu", "\"a, \\\"b\\\"\""},
        {"301 a:5060 \"x\" , 302 b \"\"", 15, 301, "a:5060", "\"x\""},
        {" 399  [2001:db8::1]:5060\r\n \"\"", 29, 399, "[2001:db8::1]:5060", "\"\""},
        {"399 [::1] \"\"", 12, 399, "[::1]", "\"\""},
    };
    static const struct fault_case refused[] = {
        {"", VD_ERR_SYNTAX, 0},
        {"1812 overture \"x\"", VD_ERR_RANGE, 0},
        {"99999999999999999999 a \"x\"", VD_ERR_RANGE, 0},
        {"30 a \"x\"", VD_ERR_SYNTAX, 0},
        {"0301 a \"x\"", VD_ERR_SYNTAX, 0},
        {"x a \"x\"", VD_ERR_SYNTAX, 0},
        {"301a \"x\"", VD_ERR_SYNTAX, 3},
        {"301 \"x\"", VD_ERR_SYNTAX, 4},
        {"301 a", VD_ERR_SYNTAX, 5},
        {"301 a x", VD_ERR_SYNTAX, 6},
        {"301 a\"x\"", VD_ERR_SYNTAX, 5},
        {"301 a \"x", VD_ERR_SYNTAX, 6},
        {"301 a \"x\" y", VD_ERR_SYNTAX, 10},
        {"301 a:0 \"x\"", VD_ERR_RANGE, 6},
        {"301 [::1 \"x\"", VD_ERR_SYNTAX, 8},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct vd_warning value;
        CU_ASSERT_EQUAL(vd_warning_parse(placed(&guard, cases[i].text), &value, NULL),
                        cases[i].length);
        CU_ASSERT_EQUAL(value.code, cases[i].code);
        CU_ASSERT(is_text(value.agent, cases[i].agent));
        CU_ASSERT(is_text(value.text, cases[i].quoted));
    }
    check_faults(&guard, read_warning, refused, COUNT(refused));
}

static void no_value_makes_its_reader_look_past_its_end(void)
{
    static const struct {
        fault_reader read;
        enum vd_header_id id;
        const char *text;
    } cases[] = {
        {read_cseq, 0, " 12\r\n INVITE "},
        {read_number, 0, " 12 "},
        {read_token, VD_HEADER_ACCEPT, "text / html ; level = \"1\" ;q=0.5 "},
        {read_token, VD_HEADER_IN_REPLY_TO, "abc@def "},
        {read_token, VD_HEADER_MIME_VERSION, "1.0 "},
        {read_info, 0, "<http://a/b> ; c = d "},
        {read_auth, 0, "Digest a = \"b\\\"\" , c=[::1] "},
        {read_auth, 0, "Bearer abc== "},
        {read_date, 0, " Sat, 13 Nov 2010 23:29:00 GMT\r\n "},
        {read_retry_after, 0, "12 (a (b \\) \xc3\xa9) c) ; duration = 12 "},
        {read_timestamp, 0, "12.345 6.78 "},
        {read_warning, 0, "399 [::1]:5060 \"a\r\n b\" "},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        token_id = cases[i].id;
        check_cut_short(&guard, cases[i].read, &cases[i].text, 1);
        check_one_byte_changed(&guard, cases[i].read, &cases[i].text, 1);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"cseq_has_a_number_and_a_method", cseq_has_a_number_and_a_method},
        {"cseq_number_is_below_2_31_and_never_wraps", cseq_number_is_below_2_31_and_never_wraps},
        {"number_is_digits_and_nothing_else", number_is_digits_and_nothing_else},
        {"number_past_its_limit_reads_as_the_limit", number_past_its_limit_reads_as_the_limit},
        {"tokens_have_the_form_of_their_header_field", tokens_have_the_form_of_their_header_field},
        {"token_of_another_form_is_refused", token_of_another_form_is_refused},
        {"info_is_a_uri_in_brackets", info_is_a_uri_in_brackets},
        {"challenge_folded_over_lines_is_one_challenge",
         challenge_folded_over_lines_is_one_challenge},
        {"credentials_of_any_scheme_are_read", credentials_of_any_scheme_are_read},
        {"authentication_info_has_no_scheme", authentication_info_has_no_scheme},
        {"auth_that_breaks_the_grammar_is_refused_where_it_does",
         auth_that_breaks_the_grammar_is_refused_where_it_does},
        {"date_is_an_rfc_1123_date_in_gmt", date_is_an_rfc_1123_date_in_gmt},
        {"every_day_from_1600_to_2400_has_its_seconds_and_weekday",
         every_day_from_1600_to_2400_has_its_seconds_and_weekday},
        {"retry_after_has_seconds_comment_and_parameters",
         retry_after_has_seconds_comment_and_parameters},
        {"timestamp_is_in_microseconds", timestamp_is_in_microseconds},
        {"warning_has_code_agent_and_text", warning_has_code_agent_and_text},
        {"no_value_makes_its_reader_look_past_its_end",
         no_value_makes_its_reader_look_past_its_end},
        CU_TEST_INFO_NULL,
    };
    if (!guard_init(&guard, 4096)) {
        return 1;
    }
    int status = run_suite("values", tests);
    guard_free(&guard);
    return status;
}
