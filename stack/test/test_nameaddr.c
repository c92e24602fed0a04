/* test_nameaddr.c - From, To, Contact, Route, Record-Route and Reply-To.
 *
 * Covered: display names as tokens and as quoted-strings, with folds, escapes and UTF-8; URIs with
 * and without brackets and what then belongs to the header field (RFC 3261 20, 20.10); parameters;
 * lists;
 * "*"; white space and folds at every place that has them (RFC 4475 3.1.1.1, 3.1.1.6); what is
 * refused, with its place (RFC 4475 3.1.2.1, 3.1.2.6, 3.1.2.13 to 3.1.2.15); random values that
 * read back as built; no byte read past the end. Not covered: the inside of URIs (test_uri.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/values.h>

#include "fault_table.h"
#include "run_suite.h"
#include "test_random.h"

#include <stdio.h>

static struct guard guard;

struct value_case {
    const char *text;
    const char *display;
    const char *uri;
    const char *params;
    unsigned count;
    const char *tag;
    bool brackets;
};

static const struct value_case cases[] = {
    {"<sip:a@b>", "", "sip:a@b", "", 0, "", true},
    {"sip:a@b", "", "sip:a@b", "", 0, "", false},
    {"sip:a@b;tag=1", "", "sip:a@b", ";tag=1", 1, "1", false},
    {"sip:a@b;x;tag=1 ", "", "sip:a@b", ";x;tag=1", 2, "1", false},
    {"<sip:a@b;tag=0>;TAG=1", "", "sip:a@b;tag=0", ";TAG=1", 1, "1", true},
    {"Bob <sip:b>", "Bob", "sip:b", "", 0, "", true},
    {"Bob<sip:b>", "Bob", "sip:b", "", 0, "", true},
    {"Bob  B.\tJr <sip:b>", "Bob  B.\tJr", "sip:b", "", 0, "", true},
    {"Bob\r\n B <sip:b>", "Bob\r\n B", "sip:b", "", 0, "", true},
    {"sip sip <sip:sip>", "sip sip", "sip:sip", "", 0, "", true},
    {"* <sip:b>", "*", "sip:b", "", 0, "", true},
    {"\"\" <sip:b>", "\"\"", "sip:b", "", 0, "", true},
    {"\"Doe, Jane; QA <2nd>\" <sip:jane@example.com>;tag=t", "\"Doe, Jane; QA <2nd>\"",
     "sip:jane@example.com", ";tag=t", 1, "t", true},
    {"\"a\\\"b\\\\\"<sip:b>", "\"a\\\"b\\\\\"", "sip:b", "", 0, "", true},
    {"\"bel \\\a del \\\x7f\" <sip:b>", "\"bel \\\a del \\\x7f\"", "sip:b", "", 0, "", true},
    {"\"\xc3\xa9 \xe6\xb8\xa9 \xf0\x9f\x8c\xa1\" <sip:b>",
     "\"\xc3\xa9 \xe6\xb8\xa9 \xf0\x9f\x8c\xa1\"", "sip:b", "", 0, "", true},
    {"\"one\r\n two\" <sip:b>", "\"one\r\n two\"", "sip:b", "", 0, "", true},
    {"\t\"x\"\r\n  <sip:b> \r\n  ;\ttag\r\n  =\r\n   t~1\r\n ; y = \"a;b,\\\"\" ; z", "\"x\"",
     "sip:b", ";\ttag\r\n  =\r\n   t~1\r\n ; y = \"a;b,\\\"\" ; z", 3, "t~1", true},
    {"<sip:a,b?c=d;e@f?g=h>", "", "sip:a,b?c=d;e@f?g=h", "", 0, "", true},
    {"<sip:b>;a=[2001:db8::1];b=192.0.2.1;c=host.example.com", "", "sip:b",
     ";a=[2001:db8::1];b=192.0.2.1;c=host.example.com", 3, "", true},
    {"\"Shop, main\" <https://shop.example.org/a;b?c=d,e>;tag=us", "\"Shop, main\"",
     "https://shop.example.org/a;b?c=d,e", ";tag=us", 1, "us", true},
    {"urn:example:lamp:9", "", "urn:example:lamp:9", "", 0, "", false},
    {"tel:+1-555;ext=2", "", "tel:+1-555", ";ext=2", 1, "", false},
    {"<tel:+1-555;ext=2>", "", "tel:+1-555;ext=2", "", 0, "", true},
    {"sip:alice@192.0.2.10:5060;expires=60;+sip.instance=\"<urn:uuid:0-5>\"", "",
     "sip:alice@192.0.2.10:5060", ";expires=60;+sip.instance=\"<urn:uuid:0-5>\"", 2, "", false},
    {"<sip:b>;x=", "", "sip:b", ";x=", 1, "", true},
    {"<sip:b>;'`~+_*%!.-=\"\xd1\x80\xd0\xb0\"", "", "sip:b", ";'`~+_*%!.-=\"\xd1\x80\xd0\xb0\"", 1,
     "", true},
};

static void address_parts_are_those_of_the_grammar(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct value_case *c = &cases[i];
        for (int in_list = 0; in_list < 2; in_list++) {
            struct vd_nameaddr value;
            struct vd_fault fault;
            struct vd_str text = placed(&guard, c->text);
            int length = vd_nameaddr_parse(text, in_list, &value, &fault);
            CU_ASSERT_EQUAL(length, (int)text.n);
            if (length != (int)text.n) {
                printf("\n  \"%s\": %d at %zu: %s\n", c->text, length, fault.offset, fault.rule);
                continue;
            }
            CU_ASSERT(is_text(value.display, c->display));
            CU_ASSERT(is_text(value.uri.raw, c->uri));
            CU_ASSERT(is_text(value.params.raw, c->params));
            CU_ASSERT_EQUAL(value.params.count, c->count);
            CU_ASSERT(is_text(value.tag, c->tag));
            CU_ASSERT_EQUAL(value.brackets, c->brackets);
            CU_ASSERT_FALSE(value.star);
        }
    }
}

static int read_single(struct vd_str text, struct vd_fault *fault)
{
    struct vd_nameaddr value;
    return vd_nameaddr_parse(text, false, &value, fault);
}

static int read_in_list(struct vd_str text, struct vd_fault *fault)
{
    struct vd_nameaddr value;
    return vd_nameaddr_parse(text, true, &value, fault);
}

static const struct fault_case refused[] = {
    {"", VD_ERR_SYNTAX, 0},
    {" \t", VD_ERR_SYNTAX, 2},
    {",<sip:a>", VD_ERR_SYNTAX, 0},
    {";tag=1", VD_ERR_SYNTAX, 0},
    {"alan@example.com", VD_ERR_SYNTAX, 4},
    {"Bob", VD_ERR_SYNTAX, 3},
    {"Bob sip:b", VD_ERR_SYNTAX, 3},
    {"Bell, Alex <sip:a@b>", VD_ERR_SYNTAX, 4},
    {"Bell (x) <sip:a@b>", VD_ERR_SYNTAX, 5},
    {"a@b.c <sip:a@b>", VD_ERR_SYNTAX, 1},
    {"J\xc3\xbcrg <sip:a@b>", VD_ERR_SYNTAX, 1},
    {"\"Bob <sip:a@b>;tag=1", VD_ERR_SYNTAX, 0},
    {"\"Bob\\\" <sip:a@b>;tag=1", VD_ERR_SYNTAX, 0},
    {"Bob\" <sip:a@b>", VD_ERR_SYNTAX, 3},
    {"\"a\"b\"c\" <sip:a@b>", VD_ERR_SYNTAX, 3},
    {"\"a\" \"b\" <sip:a@b>", VD_ERR_SYNTAX, 4},
    {"\"a\" sip:a@b", VD_ERR_SYNTAX, 4},
    {"\"a\"", VD_ERR_SYNTAX, 3},
    {"\"\xff\" <sip:a@b>", VD_ERR_SYNTAX, 1},
    {"\"\xc3(\" <sip:a@b>", VD_ERR_SYNTAX, 1},
    {"\"a\rb\" <sip:a@b>", VD_ERR_SYNTAX, 2},
    {"\"a\r\nb\" <sip:a@b>", VD_ERR_SYNTAX, 2},
    {"\"a\nb\" <sip:a@b>", VD_ERR_SYNTAX, 2},
    {"\"a\x01\" <sip:a@b>", VD_ERR_SYNTAX, 2},
    {"\"a\\\r\n b\" <sip:a@b>", VD_ERR_SYNTAX, 2},
    {"\"a\\\xc3\xa9\" <sip:a@b>", VD_ERR_SYNTAX, 2},
    {"< sip:a@b>", VD_ERR_SYNTAX, 1},
    {"<sip:a@b >", VD_ERR_SYNTAX, 8},
    {"<sip: a@b>", VD_ERR_SYNTAX, 5},
    {"<sip:a c@b>", VD_ERR_SYNTAX, 6},
    {"<sip:a@b", VD_ERR_SYNTAX, 8},
    {"<sip:a@b;x", VD_ERR_SYNTAX, 10},
    {"<>", VD_ERR_SYNTAX, 1},
    {"<<sip:a@b>>", VD_ERR_SYNTAX, 1},
    {"<sip:a@b>>", VD_ERR_SYNTAX, 9},
    {"<sip:a@b> x", VD_ERR_SYNTAX, 10},
    {"sip:a@b x", VD_ERR_SYNTAX, 8},
    {"sip :a@b", VD_ERR_SYNTAX, 4},
    {"sip:a@b?c=d", VD_ERR_SYNTAX, 7},
    {"sip:a?b@c", VD_ERR_SYNTAX, 5},
    {"sip:user;par=u%40c.d@example.com", VD_ERR_SYNTAX, 20},
    {"<sip:a@b>;", VD_ERR_SYNTAX, 10},
    {"<sip:a@b>;;q=1", VD_ERR_SYNTAX, 10},
    {"<sip:a@b>;,", VD_ERR_SYNTAX, 10},
    {"<sip:a@b>; ;x", VD_ERR_SYNTAX, 11},
    {"<sip:a@b>;=x", VD_ERR_SYNTAX, 10},
    {"<sip:a@b>;a b", VD_ERR_SYNTAX, 12},
    {"<sip:a@b>;a=b@c", VD_ERR_SYNTAX, 13},
    {"<sip:a@b>;a=\"b", VD_ERR_SYNTAX, 12},
    {"<sip:a@b>;a=\"b\"c", VD_ERR_SYNTAX, 15},
    {"<sip:a@b>;a=[::1", VD_ERR_SYNTAX, 16},
    {"<sip:a@b>;tag", VD_ERR_SYNTAX, 13},
    {"<sip:a@b>;tag=", VD_ERR_SYNTAX, 14},
    {"<sip:a@b>;tag=\"x\"", VD_ERR_SYNTAX, 14},
    {"<sip:a@b>;tag=x;tag=x", VD_ERR_SYNTAX, 16},
    {"<sip:a@b>;q=1.1", VD_ERR_SYNTAX, 12},
    {"<sip:a@b>;q=0.1234", VD_ERR_SYNTAX, 12},
    {"<sip:a@b>;q=2", VD_ERR_SYNTAX, 12},
    {"<sip:a@b>;q=.5", VD_ERR_SYNTAX, 12},
    {"<sip:a@b>;q=-1", VD_ERR_SYNTAX, 12},
    {"<sip:a@b>;q", VD_ERR_SYNTAX, 11},
    {"<sip:a@b>;q=1;q=1", VD_ERR_SYNTAX, 14},
    {"<sip:a@b>;expires=1;expires=2", VD_ERR_SYNTAX, 20},
    {"<sip:a@b:0>", VD_ERR_RANGE, 9},
    {"<sip:a@b:99999>", VD_ERR_RANGE, 9},
};

static void address_that_breaks_the_grammar_is_refused_where_it_does(void)
{
    const size_t count = sizeof refused / sizeof refused[0];
    check_faults(&guard, read_single, refused, count);
    check_faults(&guard, read_in_list, refused, count);
}

static void comma_parts_values_of_a_list_only(void)
{
    static const struct fault_case single[] = {
        {"<sip:a>,<sip:b>", VD_ERR_SYNTAX, 7},
        {"sip:a,b@c", VD_ERR_SYNTAX, 5},
        {"sip:a;x,sip:b", VD_ERR_SYNTAX, 7},
        {"*", VD_ERR_SYNTAX, 1},
    };
    static const struct {
        const char *text;
        int length;
    } list[] = {{"<sip:a>,<sip:b>", 7},       {"<sip:a> , <sip:b>", 8},
                {"sip:a , <sip:b>", 6},       {"sip:a,b@c", 5},
                {"sip:a;x=\",\",b", 11},      {"\"a,b\" <sip:a,b@c>,", 17},
                {"<sip:a>\r\n ;x\r\n ,b", 15}};
    check_faults(&guard, read_single, single, sizeof single / sizeof single[0]);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        CU_ASSERT_EQUAL(read_in_list(placed(&guard, list[i].text), NULL), list[i].length);
    }
}

static void star_stands_alone(void)
{
    static const struct fault_case beside[] = {
        {"*, <sip:a>", VD_ERR_SYNTAX, 1},
        {"*;q=1", VD_ERR_SYNTAX, 1},
        {"**", VD_ERR_SYNTAX, 2},
    };
    struct vd_nameaddr value;
    CU_ASSERT_EQUAL(vd_nameaddr_parse(placed(&guard, "*"), true, &value, NULL), 1);
    CU_ASSERT(value.star);
    CU_ASSERT_EQUAL(vd_nameaddr_parse(placed(&guard, " * \r\n "), true, &value, NULL), 6);
    CU_ASSERT(value.star);
    CU_ASSERT_EQUAL(value.uri.raw.n, 0);
    check_faults(&guard, read_in_list, beside, sizeof beside / sizeof beside[0]);
}

static void q_and_expires_are_found(void)
{
    static const char *const values[] = {"0", "1", "0.", "1.", "0.5", "0.123", "1.0", "1.000"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[64];
        struct vd_nameaddr value;
        snprintf(text, sizeof text, "<sip:a>;Q=%s;EXPIRES=1000000000000000000000", values[i]);
        CU_ASSERT(vd_nameaddr_parse(placed(&guard, text), true, &value, NULL) > 0);
        CU_ASSERT(is_text(value.q, values[i]));
        CU_ASSERT(is_text(value.expires, "1000000000000000000000"));
    }
}

static void value_takes_1024_parameters_and_no_more(void)
{
    static char text[8 + 1025 * 2 + 1] = "<sip:ab>";
    struct vd_nameaddr value;
    struct vd_fault fault;
    for (int i = 0; i < 1025; i++) {
        memcpy(text + 8 + 2 * (size_t)i, ";x", 2);
    }
    size_t n = 8 + 1024 * 2;
    CU_ASSERT_EQUAL(vd_nameaddr_parse(vd_str(text, n), true, &value, NULL), (int)n);
    CU_ASSERT_EQUAL(value.params.count, 1024);
    CU_ASSERT_EQUAL(vd_nameaddr_parse(vd_str(text, n + 2), true, &value, &fault), VD_ERR_TOO_MANY);
    CU_ASSERT_EQUAL(fault.offset, n + 1);
}

static void no_address_makes_the_reader_look_past_its_end(void)
{
    const char *texts[sizeof cases / sizeof cases[0]];
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        texts[i] = cases[i].text;
    }
    check_cut_short(&guard, read_single, texts, count);
    check_cut_short(&guard, read_in_list, texts, count);
    check_one_byte_changed(&guard, read_in_list, texts, count);
}

/* ---- Random values ---- */

static struct test_random numbers;

static unsigned below(unsigned limit)
{
    return (unsigned)test_random_below(&numbers, limit);
}

static void put_token(char *out, unsigned most)
{
    static const char characters[] = "abcXYZ0123456789-.!%*_+`'~";
    unsigned n = below(most) + 1;
    for (unsigned i = 0; i < n; i++) {
        out[i] = characters[below(sizeof characters - 1)];
    }
    out[n] = '\0';
}

static void put_space(char *out, bool needed)
{
    static const char *const spaces[] = {"", " ", "\t ", "\r\n ", " \r\n\t", "  "};
    strcat(out, spaces[needed ? 1 + below(5) : below(6)]);
}

static void random_address_reads_back_as_it_was_built(void)
{
    numbers = test_random_start();
    for (int round = 0; round < 20000; round++) {
        char display[128] = "";
        char tag[32];
        char name[32];
        char value[64];
        char text[512] = "";
        struct vd_nameaddr out;
        struct vd_str found;
        unsigned kind = below(3);
        put_token(tag, 20);
        put_token(name, 8);
        put_token(value, 8);
        strcat(name, "-");
        put_space(text, false);
        if (kind == 1) {
            put_token(display, 10);
        } else if (kind == 2) {
            char token[32];
            put_token(token, 10);
            snprintf(display, sizeof display, "\"%s <;,> \\\" \\\\\"", token);
        }
        strcat(text, display);
        put_space(text, false);
        strcat(text, "<sip:u@h;p?h=v>");
        put_space(text, false);
        strcat(text, ";");
        put_space(text, false);
        strcat(text, "tag");
        put_space(text, false);
        strcat(text, "=");
        put_space(text, false);
        strcat(text, tag);
        put_space(text, false);
        strcat(text, ";");
        strcat(text, name);
        strcat(text, "=");
        strcat(text, value);
        put_space(text, false);
        int length = vd_nameaddr_parse(placed(&guard, text), false, &out, NULL);
        CU_ASSERT_EQUAL_FATAL(length, (int)strlen(text));
        CU_ASSERT(is_text(out.display, display));
        CU_ASSERT(is_text(out.uri.raw, "sip:u@h;p?h=v"));
        CU_ASSERT(is_text(out.tag, tag));
        CU_ASSERT_EQUAL(out.params.count, 2);
        CU_ASSERT_EQUAL(vd_params_get(&out.params, vd_str_from(name), &found), 0);
        CU_ASSERT(is_text(found, value));
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"address_parts_are_those_of_the_grammar", address_parts_are_those_of_the_grammar},
        {"address_that_breaks_the_grammar_is_refused_where_it_does",
         address_that_breaks_the_grammar_is_refused_where_it_does},
        {"comma_parts_values_of_a_list_only", comma_parts_values_of_a_list_only},
        {"star_stands_alone", star_stands_alone},
        {"q_and_expires_are_found", q_and_expires_are_found},
        {"value_takes_1024_parameters_and_no_more", value_takes_1024_parameters_and_no_more},
        {"no_address_makes_the_reader_look_past_its_end",
         no_address_makes_the_reader_look_past_its_end},
        {"random_address_reads_back_as_it_was_built", random_address_reads_back_as_it_was_built},
        CU_TEST_INFO_NULL,
    };
    if (!guard_init(&guard, 8192)) {
        return 1;
    }
    int status = run_suite("nameaddr", tests);
    guard_free(&guard);
    return status;
}
