/* test_params.c - parameters: walking and finding them, quotes, escapes; and the character table.
 *
 * Covered: every class of the character table against the grammar's own words (RFC 3261 25.1);
 * walking and finding with each of the three separators; vd_unquote and vd_unescape with every
 * byte, in a buffer that is too small, in place; no byte read past the end. Not covered: which
 * parameters a header field may have (the tests of the values).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/values.h>

#include "lex.h"

#include "fault_table.h"
#include "run_suite.h"

#include <stdio.h>

static struct guard guard;

#define ALPHANUM   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define UNRESERVED ALPHANUM "-_.!~*'()"

static void character_classes_are_those_of_the_grammar(void)
{
    static const struct {
        unsigned bit;
        const char *members;
    } classes[] = {
        {VD__DIGIT, "0123456789"},
        {VD__ALPHA, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"},
        {VD__HEX, "0123456789ABCDEFabcdef"},
        {VD__TOKEN, ALPHANUM "-.!%*_+`'~"},
        {VD__WORD, ALPHANUM "-.!%*_+`'~()<>:\\\"/[]?{}"},
        {VD__LWS, " \t\r"},
        {VD__HOST, ALPHANUM "_-."},
        {VD__LABEL, ALPHANUM "_"},
        {VD__REFERENCE, "0123456789ABCDEFabcdef:."},
        {VD__SCHEME, ALPHANUM "+-."},
        {VD__USER, UNRESERVED "&=+$,;?/"},
        {VD__PASSWORD, UNRESERVED "&=+$,"},
        {VD__PARAM, UNRESERVED "[]/:&+$"},
        {VD__HNV, UNRESERVED "[]/?:+$"},
        {VD__URI, UNRESERVED ";/?:@&=+$,%[]"},
        {VD__NO_AT, UNRESERVED ";/?:&=+$,%[]"},
        {VD__QDTEXT, ALPHANUM "\t !#$%&'()*+,-./:;<=>?@[]^_`{|}~"},
    };
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        for (int c = 0; c < 256; c++) {
            bool member = c != 0 && strchr(classes[i].members, c) != NULL;
            CU_ASSERT_EQUAL(vd__is((char)c, classes[i].bit), member);
        }
    }
}

static void params_are_walked_in_order(void)
{
    struct vd_nameaddr value;
    struct vd_param param;
    size_t position = 0;
    struct vd_str text = placed(&guard, "<sip:a> ;a ; b = c;D=\" ;x=\\\"\"\r\n ;e=;f=[::1]");
    CU_ASSERT_FATAL(vd_nameaddr_parse(text, false, &value, NULL) > 0);
    static const struct {
        const char *name;
        const char *value;
        bool has_value;
    } expected[] = {{"a", "", false},
                    {"b", "c", true},
                    {"D", "\" ;x=\\\"\"", true},
                    {"e", "", true},
                    {"f", "[::1]", true}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        CU_ASSERT_FATAL(vd_params_next(&value.params, &position, &param));
        CU_ASSERT(is_text(param.name, expected[i].name));
        CU_ASSERT(is_text(param.value, expected[i].value));
        CU_ASSERT_EQUAL(param.has_value, expected[i].has_value);
    }
    CU_ASSERT_FALSE(vd_params_next(&value.params, &position, &param));
    CU_ASSERT_FALSE(vd_params_next(&value.params, &position, &param));
    CU_ASSERT_EQUAL(value.params.count, 5);
}

static void params_are_found_in_any_case(void)
{
    struct vd_nameaddr value;
    struct vd_str found;
    CU_ASSERT_FATAL(vd_nameaddr_parse(placed(&guard, "<sip:a>;Ab=1;ab=2;c"), false, &value, NULL) >
                    0);
    CU_ASSERT_EQUAL(vd_params_get(&value.params, VD_STR("aB"), &found), 0);
    CU_ASSERT(is_text(found, "1"));
    CU_ASSERT_EQUAL(vd_params_get(&value.params, VD_STR("C"), &found), 0);
    CU_ASSERT_EQUAL(found.n, 0);
    CU_ASSERT_EQUAL(vd_params_get(&value.params, VD_STR("C"), NULL), 0);
    CU_ASSERT_EQUAL(vd_params_get(&value.params, VD_STR("a"), &found), VD_ERR_NOT_FOUND);
    CU_ASSERT_EQUAL(vd_params_get(&value.params, VD_STR("1"), &found), VD_ERR_NOT_FOUND);
    CU_ASSERT_EQUAL(vd_params_get(&value.uri.params, VD_STR("ab"), &found), VD_ERR_NOT_FOUND);
}

static void commas_and_ampersands_part_params_too(void)
{
    struct vd_auth auth;
    struct vd_uri uri;
    struct vd_param param;
    struct vd_str found;
    size_t position = 0;
    struct vd_str text = placed(&guard, "Digest a=\"1,2\" , b = 3,c=\"\"");
    CU_ASSERT_FATAL(vd_auth_parse(text, VD_HEADER_AUTHORIZATION, &auth, NULL) > 0);
    CU_ASSERT(vd_params_next(&auth.params, &position, &param));
    CU_ASSERT(is_text(param.name, "a") && is_text(param.value, "\"1,2\""));
    CU_ASSERT(vd_params_next(&auth.params, &position, &param));
    CU_ASSERT(is_text(param.name, "b") && is_text(param.value, "3"));
    CU_ASSERT(vd_params_next(&auth.params, &position, &param));
    CU_ASSERT(is_text(param.name, "c") && is_text(param.value, "\"\""));
    CU_ASSERT_FALSE(vd_params_next(&auth.params, &position, &param));

    CU_ASSERT_FATAL(vd_uri_parse(placed(&guard, "sip:a?b=?&c=&d=e"), &uri, NULL) == 0);
    CU_ASSERT_EQUAL(vd_params_get(&uri.headers, VD_STR("b"), &found), 0);
    CU_ASSERT(is_text(found, "?"));
    CU_ASSERT_EQUAL(vd_params_get(&uri.headers, VD_STR("D"), &found), 0);
    CU_ASSERT(is_text(found, "e"));
}

static void no_params_are_none(void)
{
    struct vd_params params = {{NULL, 0}, 0, ';'};
    struct vd_param param;
    size_t position = 0;
    CU_ASSERT_FALSE(vd_params_next(&params, &position, &param));
    CU_ASSERT_EQUAL(vd_params_get(&params, VD_STR("a"), NULL), VD_ERR_NOT_FOUND);
}

static void unquote_undoes_quotes_pairs_and_folds(void)
{
    static const struct {
        const char *text;
        const char *expected;
    } texts[] = {
        {"", ""},
        {"token", "token"},
        {"a b", "a b"},
        {"\"\"", ""},
        {"\"a\"", "a"},
        {"\"a \\\"b\\\" \\\\\"", "a \"b\" \\"},
        {"\"\\a\\\t\"", "a\t"},
        {"\"one\r\n two\"", "one two"},
        {"\"one \r\n \t two\"", "one  two"},
        {"\"one\r\n \r\n two\"", "one two"},
        {"\"\xc3\xa9\"", "\xc3\xa9"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char out[64];
        struct vd_str text = placed(&guard, texts[i].text);
        int n = vd_unquote(text, out, text.n);
        CU_ASSERT_FATAL(n >= 0);
        CU_ASSERT(is_text(vd_str(out, (size_t)n), texts[i].expected));
        if (n > 0) {
            CU_ASSERT_EQUAL(vd_unquote(text, out, (size_t)n - 1), VD_ERR_SPACE);
        }

        memcpy(out, texts[i].text, text.n);
        n = vd_unquote(vd_str(out, text.n), out, text.n);
        CU_ASSERT_FATAL(n >= 0);
        CU_ASSERT(is_text(vd_str(out, (size_t)n), texts[i].expected));
    }
}

static void unquote_keeps_an_escaped_nul(void)
{
    static const char text[] = "\"a\\\0b\"";
    char out[8];
    CU_ASSERT_EQUAL(vd_unquote(vd_str(text, sizeof text - 1), out, sizeof out), 3);
    CU_ASSERT_EQUAL(memcmp(out, "a\0b", 3), 0);
}

/* Quotes that no decoded value has: the length and the bounds hold all the same. */
static void unquote_stays_in_its_bounds_with_any_text(void)
{
    static const char *const texts[] = {"\"",     "\"a",      "\"\\\"", "\"a\rb\"",
                                        "\"\r\"", "\"\r\n\"", "\"\\"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char out[64];
        struct vd_str text = placed(&guard, texts[i]);
        int n = vd_unquote(text, out, sizeof out);
        CU_ASSERT(n >= 0 && (size_t)n <= text.n);
    }
}

static void unescape_undoes_each_escape_once(void)
{
    static const struct {
        const char *text;
        const char *expected;
    } texts[] = {{"", ""},         {"abc", "abc"},         {"%61%62c", "abc"},
                 {"%2541", "%41"}, {"%4a%4A", "JJ"},       {"%25%32%35", "%25"},
                 {"a%20b", "a b"}, {"%c3%A9", "\xc3\xa9"}, {"a+b", "a+b"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char out[64];
        struct vd_str text = placed(&guard, texts[i].text);
        int n = vd_unescape(text, out, text.n);
        CU_ASSERT_FATAL(n >= 0);
        CU_ASSERT(is_text(vd_str(out, (size_t)n), texts[i].expected));
        if (n > 0) {
            CU_ASSERT_EQUAL(vd_unescape(text, out, (size_t)n - 1), VD_ERR_SPACE);
        }
    }
}

static void unescape_gives_every_byte(void)
{
    for (int c = 0; c < 256; c++) {
        char text[4];
        char out[3];
        snprintf(text, sizeof text, "%%%02x", (unsigned)c);
        CU_ASSERT_EQUAL(vd_unescape(placed(&guard, text), out, sizeof out), 1);
        CU_ASSERT_EQUAL((unsigned char)out[0], c);
    }
}

static void unescape_refuses_a_percent_sign_alone(void)
{
    static const char *const texts[] = {"%", "%4", "a%", "%g0", "%0g", "%%41", "100%", "% 1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char out[16];
        CU_ASSERT_EQUAL(vd_unescape(placed(&guard, texts[i]), out, sizeof out), VD_ERR_SYNTAX);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"character_classes_are_those_of_the_grammar", character_classes_are_those_of_the_grammar},
        {"params_are_walked_in_order", params_are_walked_in_order},
        {"params_are_found_in_any_case", params_are_found_in_any_case},
        {"commas_and_ampersands_part_params_too", commas_and_ampersands_part_params_too},
        {"no_params_are_none", no_params_are_none},
        {"unquote_undoes_quotes_pairs_and_folds", unquote_undoes_quotes_pairs_and_folds},
        {"unquote_keeps_an_escaped_nul", unquote_keeps_an_escaped_nul},
        {"unquote_stays_in_its_bounds_with_any_text", unquote_stays_in_its_bounds_with_any_text},
        {"unescape_undoes_each_escape_once", unescape_undoes_each_escape_once},
        {"unescape_gives_every_byte", unescape_gives_every_byte},
        {"unescape_refuses_a_percent_sign_alone", unescape_refuses_a_percent_sign_alone},
        CU_TEST_INFO_NULL,
    };
    if (!guard_init(&guard, 4096)) {
        return 1;
    }
    int status = run_suite("params", tests);
    guard_free(&guard);
    return status;
}
