/* test_uri.c - URIs: reading them, comparing them.
 *
 * Covered: every part of sip and sips URIs with each character that RFC 3261 25.1 allows there,
 * escapes, the three kinds of host, ports, parameters and headers; tel; the characters of other
 * schemes; what is refused, with its place; the examples and rules of RFC 3261 19.1.4; random URIs
 * that read back as built; no byte read past the end.
 * Not covered: URIs inside header fields (test_nameaddr.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/uri.h>

#include "fault_table.h"
#include "run_suite.h"
#include "test_random.h"

#include <stdio.h>

static struct guard guard;

struct sip_case {
    const char *text;
    const char *user;
    const char *password;
    const char *host;
    const char *params;
    const char *headers;
    unsigned params_count;
    unsigned headers_count;
    enum vd_host_kind kind;
    uint16_t port;
    bool has_user;
    bool has_password;
};

#define UNRESERVED_MARKS "-_.!~*'()"

static const struct sip_case sip_cases[] = {
    {"sip:a", "", "", "a", "", "", 0, 0, VD_HOST_NAME, 0, false, false},
    {"sip:alice@example.com", "alice", "", "example.com", "", "", 0, 0, VD_HOST_NAME, 0, true,
     false},
    {"sip:alice:@example.com", "alice", "", "example.com", "", "", 0, 0, VD_HOST_NAME, 0, true,
     true},
    {"sip:alice:s&=+$,%40@example.com:5070", "alice", "s&=+$,%40", "example.com", "", "", 0, 0,
     VD_HOST_NAME, 5070, true, true},
    {"sip:" UNRESERVED_MARKS "&=+$,;?/%20@h", UNRESERVED_MARKS "&=+$,;?/%20", "", "h", "", "", 0, 0,
     VD_HOST_NAME, 0, true, false},
    {"sip:user;par=u%40example.net@example.com", "user;par=u%40example.net", "", "example.com", "",
     "", 0, 0, VD_HOST_NAME, 0, true, false},
    {"sip:a?b;c=d@example.com;e", "a?b;c=d", "", "example.com", ";e", "", 1, 0, VD_HOST_NAME, 0,
     true, false},
    {"sip:host.name@host.name:1@x", NULL, NULL, NULL, NULL, NULL, 0, 0, VD_HOST_NONE, 0, false,
     false},
    {"sip:%00@192.0.2.1", "%00", "", "192.0.2.1", "", "", 0, 0, VD_HOST_IP4, 0, true, false},
    {"sip:192.0.2.1:5060;lr", "", "", "192.0.2.1", ";lr", "", 1, 0, VD_HOST_IP4, 5060, false,
     false},
    {"sip:1.2.3.4.example.com.", "", "", "1.2.3.4.example.com.", "", "", 0, 0, VD_HOST_NAME, 0,
     false, false},
    {"sip:a--b.3-c.d9", "", "", "a--b.3-c.d9", "", "", 0, 0, VD_HOST_NAME, 0, false, false},
    {"sip:my_sip-1_0.compose_net:5060", "", "", "my_sip-1_0.compose_net", "", "", 0, 0,
     VD_HOST_NAME, 5060, false, false},
    {"sip:u@_", "u", "", "_", "", "", 0, 0, VD_HOST_NAME, 0, true, false},
    {"sip:192.000.002.001:00001", "", "", "192.000.002.001", "", "", 0, 0, VD_HOST_IP4, 1, false,
     false},
    {"sip:a@[2001:db8::1]:65535;x=y;z?a=b&c=", "a", "", "2001:db8::1", ";x=y;z", "?a=b&c=", 2, 2,
     VD_HOST_IP6, 65535, true, false},
    {"sip:[::]", "", "", "::", "", "", 0, 0, VD_HOST_IP6, 0, false, false},
    {"sip:[::FFFF:192.0.2.9]", "", "", "::FFFF:192.0.2.9", "", "", 0, 0, VD_HOST_IP6, 0, false,
     false},
    {"sip:[2001:db8:::192.0.2.1]", "", "", "2001:db8:::192.0.2.1", "", "", 0, 0, VD_HOST_IP6, 0,
     false, false},
    {"sip:h;[]/:&+$" UNRESERVED_MARKS "%41=[]/:&+$" UNRESERVED_MARKS "%00", "", "", "h",
     ";[]/:&+$" UNRESERVED_MARKS "%41=[]/:&+$" UNRESERVED_MARKS "%00", "", 1, 0, VD_HOST_NAME, 0,
     false, false},
    {"sip:h?[]/?:+$" UNRESERVED_MARKS "%3D=[]/?:+$%26&x=", "", "", "h", "",
     "?[]/?:+$" UNRESERVED_MARKS "%3D=[]/?:+$%26&x=", 0, 2, VD_HOST_NAME, 0, false, false},
    {"SiP:Bob@Example.COM;LR", "Bob", "", "Example.COM", ";LR", "", 1, 0, VD_HOST_NAME, 0, true,
     false},
};

static void sip_uri_parts_are_those_of_the_grammar(void)
{
    for (size_t i = 0; i < sizeof sip_cases / sizeof sip_cases[0]; i++) {
        const struct sip_case *c = &sip_cases[i];
        struct vd_uri uri;
        struct vd_str text = placed(&guard, c->text);
        if (c->host == NULL) {
            CU_ASSERT_EQUAL(vd_uri_parse(text, &uri, NULL), VD_ERR_SYNTAX);
            continue;
        }
        CU_ASSERT_EQUAL_FATAL(vd_uri_parse(text, &uri, NULL), 0);
        CU_ASSERT(vd_str_equal(uri.raw, text));
        CU_ASSERT_EQUAL(uri.scheme, VD_URI_SIP);
        CU_ASSERT(is_text(uri.user, c->user));
        CU_ASSERT(is_text(uri.password, c->password));
        CU_ASSERT(is_text(uri.host, c->host));
        CU_ASSERT(is_text(uri.params.raw, c->params));
        CU_ASSERT(is_text(uri.headers.raw, c->headers));
        CU_ASSERT_EQUAL(uri.params.count, c->params_count);
        CU_ASSERT_EQUAL(uri.headers.count, c->headers_count);
        CU_ASSERT_EQUAL(uri.host_kind, c->kind);
        CU_ASSERT_EQUAL(uri.port, c->port);
        CU_ASSERT_EQUAL(uri.has_user, c->has_user);
        CU_ASSERT_EQUAL(uri.has_password, c->has_password);
        CU_ASSERT(vd_uri_equal(&uri, &uri));
    }
}

static void sips_is_a_scheme_of_its_own(void)
{
    struct vd_uri uri;
    CU_ASSERT_EQUAL(vd_uri_parse(placed(&guard, "sips:alice@example.com"), &uri, NULL), 0);
    CU_ASSERT_EQUAL(uri.scheme, VD_URI_SIPS);
    CU_ASSERT(is_text(uri.scheme_name, "sips"));
    CU_ASSERT(is_text(uri.host, "example.com"));
}

static void tel_has_a_number_and_parameters(void)
{
    struct vd_uri uri;
    CU_ASSERT_EQUAL(vd_uri_parse(placed(&guard, "tel:+1-(555).0100;ext=7;isub=a%20b"), &uri, NULL),
                    0);
    CU_ASSERT_EQUAL(uri.scheme, VD_URI_TEL);
    CU_ASSERT(is_text(uri.user, "+1-(555).0100"));
    CU_ASSERT_EQUAL(uri.params.count, 2);
    CU_ASSERT_EQUAL(uri.host_kind, VD_HOST_NONE);
    CU_ASSERT_EQUAL(vd_uri_parse(placed(&guard, "tel:*21#0aF;phone-context=+49"), &uri, NULL), 0);
    CU_ASSERT(is_text(uri.user, "*21#0aF"));
}

static void other_schemes_keep_all_behind_the_colon(void)
{
    struct vd_uri uri;
    CU_ASSERT_EQUAL(vd_uri_parse(placed(&guard, "x-lamp.v2+z:any/thing?goes;here=1"), &uri, NULL),
                    0);
    CU_ASSERT_EQUAL(uri.scheme, VD_URI_OTHER);
    CU_ASSERT(is_text(uri.scheme_name, "x-lamp.v2+z"));
    CU_ASSERT(is_text(uri.opaque, "any/thing?goes;here=1"));
    CU_ASSERT_EQUAL(vd_uri_parse(placed(&guard, "http://[2001:db8::1]:80/%7e?a,b=c@d"), &uri, NULL),
                    0);
    CU_ASSERT(is_text(uri.opaque, "//[2001:db8::1]:80/%7e?a,b=c@d"));
}

static int read_uri(struct vd_str text, struct vd_fault *fault)
{
    struct vd_uri uri;
    return vd_uri_parse(text, &uri, fault);
}

static const struct fault_case invalid[] = {
    {"", VD_ERR_SYNTAX, 0},
    {":", VD_ERR_SYNTAX, 0},
    {"sip", VD_ERR_SYNTAX, 3},
    {"1sip:a", VD_ERR_SYNTAX, 0},
    {"s ip:a", VD_ERR_SYNTAX, 1},
    {"<sip:a>", VD_ERR_SYNTAX, 0},
    {"sip:", VD_ERR_SYNTAX, 4},
    {"sip: a", VD_ERR_SYNTAX, 4},
    {"sip:a ", VD_ERR_SYNTAX, 5},
    {"sip:a b", VD_ERR_SYNTAX, 5},
    {"sip:a\tb", VD_ERR_SYNTAX, 5},
    {"sip:a>", VD_ERR_SYNTAX, 5},
    {"sip:@host", VD_ERR_SYNTAX, 4},
    {"sip::pw@host", VD_ERR_SYNTAX, 4},
    {"sip:a@", VD_ERR_SYNTAX, 6},
    {"sip:a@b@c", VD_ERR_SYNTAX, 7},
    {"sip:a:b:c@d", VD_ERR_SYNTAX, 7},
    {"sip:a:b;c@d", VD_ERR_SYNTAX, 7},
    {"sip:a#b@c", VD_ERR_SYNTAX, 5},
    {"sip:a[b@c", VD_ERR_SYNTAX, 5},
    {"sip:a%@c", VD_ERR_SYNTAX, 5},
    {"sip:a%4@c", VD_ERR_SYNTAX, 5},
    {"sip:a%4g@c", VD_ERR_SYNTAX, 5},
    {"sip:\xc3\xa4@c", VD_ERR_SYNTAX, 4},
    {"sip:_.9", VD_ERR_SYNTAX, 6},
    {"sip:a_-", VD_ERR_SYNTAX, 7},
    {"sip:192.0.2.1_", VD_ERR_SYNTAX, 12},
    {"sip:-a", VD_ERR_SYNTAX, 4},
    {"sip:a-", VD_ERR_SYNTAX, 6},
    {"sip:a-.b", VD_ERR_SYNTAX, 6},
    {"sip:a..b", VD_ERR_SYNTAX, 6},
    {"sip:.a", VD_ERR_SYNTAX, 4},
    {"sip:a.9", VD_ERR_SYNTAX, 6},
    {"sip:4321", VD_ERR_SYNTAX, 4},
    {"sip:1.2.3", VD_ERR_SYNTAX, 8},
    {"sip:1.2.3.4.5", VD_ERR_SYNTAX, 12},
    {"sip:192.0.2.256", VD_ERR_SYNTAX, 12},
    {"sip:192.0.2.1000", VD_ERR_SYNTAX, 12},
    {"sip:2001:db8:0:1::5", VD_ERR_SYNTAX, 4},
    {"sip:x@2001:db8::5;lr", VD_ERR_SYNTAX, 6},
    {"sip:a@[2001:db8::5", VD_ERR_SYNTAX, 18},
    {"sip:a@[2001:db8::5;x]", VD_ERR_SYNTAX, 18},
    {"sip:[2001:db8::5]x", VD_ERR_SYNTAX, 17},
    {"sip:[]", VD_ERR_SYNTAX, 4},
    {"sip:[1.2.3.4]", VD_ERR_SYNTAX, 4},
    {"sip:[1::2::3]", VD_ERR_SYNTAX, 4},
    {"sip:[::::1]", VD_ERR_SYNTAX, 4},
    {"sip:[12345::1]", VD_ERR_SYNTAX, 4},
    {"sip:[1:2:3:4:5:6:7]", VD_ERR_SYNTAX, 4},
    {"sip:[1:2:3:4:5:6:7:8:9]", VD_ERR_SYNTAX, 4},
    {"sip:[fe80::1%25eth0]", VD_ERR_SYNTAX, 12},
    {"sip:a:", VD_ERR_SYNTAX, 6},
    {"sip:a:x", VD_ERR_SYNTAX, 6},
    {"sip:a:-1", VD_ERR_SYNTAX, 6},
    {"sip:a:50x", VD_ERR_SYNTAX, 8},
    {"sip:a:0", VD_ERR_RANGE, 6},
    {"sip:a:65536", VD_ERR_RANGE, 6},
    {"sip:a:18446744073709551617", VD_ERR_RANGE, 6},
    {"sip:a;", VD_ERR_SYNTAX, 6},
    {"sip:a;;b", VD_ERR_SYNTAX, 6},
    {"sip:a;=b", VD_ERR_SYNTAX, 6},
    {"sip:a;b=c=d", VD_ERR_SYNTAX, 9},
    {"sip:a;b=\"c\"", VD_ERR_SYNTAX, 8},
    {"sip:a;b ;c", VD_ERR_SYNTAX, 7},
    {"sip:a;b%zz", VD_ERR_SYNTAX, 7},
    {"sip:a;b;c;B=1", VD_ERR_SYNTAX, 10},
    {"sip:a;lr;%6CR", VD_ERR_SYNTAX, 9},
    {"sip:a?", VD_ERR_SYNTAX, 6},
    {"sip:a?b", VD_ERR_SYNTAX, 7},
    {"sip:a?=b", VD_ERR_SYNTAX, 6},
    {"sip:a?b=c&", VD_ERR_SYNTAX, 10},
    {"sip:a?b=c;d", VD_ERR_SYNTAX, 9},
    {"tel:", VD_ERR_SYNTAX, 4},
    {"tel:+", VD_ERR_SYNTAX, 5},
    {"tel:-", VD_ERR_SYNTAX, 5},
    {"tel:+1*2", VD_ERR_SYNTAX, 6},
    {"tel:+1;", VD_ERR_SYNTAX, 7},
    {"http:", VD_ERR_SYNTAX, 5},
    {"http://a b", VD_ERR_SYNTAX, 8},
    {"http://a\"b", VD_ERR_SYNTAX, 8},
    {"urn:\xc3\xa4", VD_ERR_SYNTAX, 4},
};

static void uri_that_breaks_the_grammar_is_refused_where_it_does(void)
{
    check_faults(&guard, read_uri, invalid, sizeof invalid / sizeof invalid[0]);
}

static void uri_takes_64_parameters_and_no_more(void)
{
    char text[1024] = "sip:a";
    size_t n = 5;
    struct vd_uri uri;
    struct vd_fault fault;
    for (int i = 0; i < 64; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, ";p%d", i);
    }
    CU_ASSERT_EQUAL(vd_uri_parse(placed(&guard, text), &uri, NULL), 0);
    CU_ASSERT_EQUAL(uri.params.count, 64);
    snprintf(text + n, sizeof text - n, ";x");
    CU_ASSERT_EQUAL(vd_uri_parse(placed(&guard, text), &uri, &fault), VD_ERR_TOO_MANY);
    CU_ASSERT_EQUAL(fault.offset, n + 1);
}

static void uri_takes_64_headers_and_no_more(void)
{
    char text[1024] = "sip:a?x=";
    size_t n = 8;
    struct vd_uri uri;
    struct vd_fault fault;
    for (int i = 1; i < 64; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "&x=");
    }
    CU_ASSERT_EQUAL(vd_uri_parse(placed(&guard, text), &uri, NULL), 0);
    CU_ASSERT_EQUAL(uri.headers.count, 64);
    CU_ASSERT(vd_uri_equal(&uri, &uri));
    snprintf(text + n, sizeof text - n, "&x=");
    CU_ASSERT_EQUAL(vd_uri_parse(placed(&guard, text), &uri, &fault), VD_ERR_TOO_MANY);
    CU_ASSERT_EQUAL(fault.offset, n + 1);
}

static void no_uri_makes_the_reader_look_past_its_end(void)
{
    const char *texts[sizeof sip_cases / sizeof sip_cases[0] + 2];
    size_t count = 0;
    for (size_t i = 0; i < sizeof sip_cases / sizeof sip_cases[0]; i++) {
        texts[count++] = sip_cases[i].text;
    }
    texts[count++] = "tel:+1-(555).0100;ext=7";
    texts[count++] = "http://a/b?c";
    check_cut_short(&guard, read_uri, texts, count);
    check_one_byte_changed(&guard, read_uri, texts, count);
}

struct pair {
    const char *a;
    const char *b;
};

/* RFC 3261 19.1.4: the examples of the text, then its rules one by one. */
static const struct pair equal_pairs[] = {
    {"sip:%61lice@atlanta.com;transport=TCP", "sip:alice@AtlanTa.CoM;Transport=tcp"},
    {"sip:carol@chicago.com", "sip:carol@chicago.com;newparam=5"},
    {"sip:carol@chicago.com", "sip:carol@chicago.com;security=on"},
    {"sip:carol@chicago.com;newparam=5", "sip:carol@chicago.com;security=on"},
    {"sip:biloxi.com;transport=tcp;method=REGISTER?to=sip:bob%40biloxi.com",
     "sip:biloxi.com;method=REGISTER;transport=tcp?to=sip:bob%40biloxi.com"},
    {"sip:alice@atlanta.com?subject=project%20x&priority=urgent",
     "sip:alice@atlanta.com?priority=urgent&subject=project%20x"},
    {"SIP:a@b", "sip:a@b"},
    {"sip:a@b;lr", "sip:a@b"},
    {"sip:a%20b@c", "sip:a%20b@c"},
    {"sip:a%3bb@c", "sip:a%3Bb@c"},
    {"sip:a:p%77@c", "sip:a:pw@c"},
    {"sip:a@b;%6Cr=X", "sip:a@b;LR=x"},
    {"sip:a@b?x=1&x=2&x=1", "sip:a@b?x=2&x=1&X=1"},
    {"sip:[2001:db8::1]", "sip:[2001:DB8:0:0::0001]"},
    {"sip:[2001:db8:::192.0.2.1]", "sip:[2001:db8::c000:201]"},
    {"sip:192.0.2.1", "sip:192.000.2.01"},
    {"tel:+1-555-0100", "tel:+1(555)01.00"},
    {"tel:0100;phone-context=+1-5;ext=7-7", "tel:01-00;ext=77;PHONE-CONTEXT=+15"},
    {"tel:7aB;phone-context=Example.com", "tel:7Ab;phone-context=example.COM"},
    {"HTTP://a/B", "http://a/B"},
};

static const struct pair unequal_pairs[] = {
    {"SIP:ALICE@AtlanTa.CoM;Transport=udp", "sip:alice@AtlanTa.CoM;Transport=UDP"},
    {"sip:bob@biloxi.com", "sip:bob@biloxi.com:5060"},
    {"sip:bob@biloxi.com", "sip:bob@biloxi.com;method=INVITE;maddr=192.0.2.1"},
    {"sip:bob@biloxi.com", "sip:bob@biloxi.com;transport=udp"},
    {"sip:bob@biloxi.com", "sip:bob@biloxi.com:6000;transport=tcp"},
    {"sip:bob@biloxi.com:6000", "sip:bob@biloxi.com:6000;transport=tcp"},
    {"sip:carol@chicago.com;newparam=5", "sip:carol@chicago.com;newparam=6"},
    {"sip:carol@chicago.com", "sip:carol@chicago.com?Subject=next%20meeting"},
    {"sip:bob@phone21.boxesbybob.com", "sip:bob@192.0.2.4"},
    {"sip:a@b", "sips:a@b"},
    {"sip:b", "sip:a@b"},
    {"sip:a@b", "sip:a:@b"},
    {"sip:a:p@b", "sip:a:P@b"},
    {"sip:a@b:5060", "sip:a@b:5061"},
    {"sip:a@b", "sip:a@c"},
    {"sip:a;b@c", "sip:a%3Bb@c"},
    {"sip:a@b;transport=udp", "sip:a@b;transport=tcp"},
    {"sip:a@b;user=ip", "sip:a@b"},
    {"sip:a@b;ttl=1", "sip:a@b"},
    {"sip:a@b;method=INVITE", "sip:a@b"},
    {"sip:a@b;maddr=c", "sip:a@b"},
    {"sip:a@b;x=1;y=2", "sip:a@b;x=1;y=3"},
    {"sip:a@b;x", "sip:a@b;x=1"},
    {"sip:a@b?x=1&x=2", "sip:a@b?x=1&x=1"},
    {"sip:a@b?x=1", "sip:a@b?x=2"},
    {"sip:a@b?Call-ID=A", "sip:a@b?call-id=a"},
    {"sip:a@b?body=A", "sip:a@b?body=a"},
    {"sip:[2001:db8::1]", "sip:[2001:db8::2]"},
    {"sip:[::ffff:192.0.2.1]", "sip:192.0.2.1"},
    {"sip:ab@c", "sip:a@c"},
    {"tel:+15550100", "tel:15550100"},
    {"tel:+1555", "tel:+15550"},
    {"tel:+1;ext=1", "tel:+1;ext=2"},
    {"tel:+1;ext=1", "tel:+1"},
    {"tel:1;phone-context=+1", "tel:1;phone-context=a"},
    {"http://a/b", "http://a/B"},
    {"http://a", "https://a"},
};

static bool pair_equal(const struct pair *pair)
{
    struct vd_uri a;
    struct vd_uri b;
    CU_ASSERT_EQUAL_FATAL(vd_uri_parse(vd_str_from(pair->a), &a, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(vd_uri_parse(vd_str_from(pair->b), &b, NULL), 0);
    bool equal = vd_uri_equal(&a, &b);
    CU_ASSERT_EQUAL(vd_uri_equal(&b, &a), equal);
    return equal;
}

static void uris_are_compared_as_rfc_3261_19_1_4_says(void)
{
    for (size_t i = 0; i < sizeof equal_pairs / sizeof equal_pairs[0]; i++) {
        if (!pair_equal(&equal_pairs[i])) {
            printf("\n  %s\n  %s\n", equal_pairs[i].a, equal_pairs[i].b);
        }
        CU_ASSERT(pair_equal(&equal_pairs[i]));
    }
    for (size_t i = 0; i < sizeof unequal_pairs / sizeof unequal_pairs[0]; i++) {
        if (pair_equal(&unequal_pairs[i])) {
            printf("\n  %s\n  %s\n", unequal_pairs[i].a, unequal_pairs[i].b);
        }
        CU_ASSERT_FALSE(pair_equal(&unequal_pairs[i]));
    }
}

static void loose_router_is_one_with_lr(void)
{
    static const struct {
        const char *text;
        bool loose;
    } cases[] = {{"sip:a;lr", true},    {"sip:a;x;LR", true}, {"sip:a;lr=on", true},
                 {"sip:a", false},      {"sip:lr@a", false},  {"sip:a;lrx", false},
                 {"sip:a?lr=x", false}, {"tel:+1;lr", true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_uri uri;
        CU_ASSERT_EQUAL(vd_uri_parse(placed(&guard, cases[i].text), &uri, NULL), 0);
        CU_ASSERT_EQUAL(vd_uri_is_loose_router(&uri), cases[i].loose);
    }
}

/* ---- Random URIs ---- */

static struct test_random numbers;

static size_t put_random(char *out, const char *characters, size_t most)
{
    size_t n = (size_t)test_random_below(&numbers, most) + 1;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (test_random_below(&numbers, 8) == 0) {
            used +=
                (size_t)sprintf(out + used, "%%%02X", (unsigned)test_random_below(&numbers, 256));
        } else {
            out[used++] = characters[test_random_below(&numbers, strlen(characters))];
        }
    }
    out[used] = '\0';
    return used;
}

static void random_uri_reads_back_as_it_was_built(void)
{
    static const char user_characters[] = "abcXYZ019-_.!~*'()&=+$,;?/";
    static const char password_characters[] = "abcXYZ019-_.!~*'()&=+$,";
    static const char param_characters[] = "abcXYZ019-_.!~*'()[]/:&+$";
    static const char header_characters[] = "abcXYZ019-_.!~*'()[]/?:+$";
    static const char *const hosts[] = {"example.com", "a-b.c", "192.0.2.1", "[2001:db8::7]", "h."};
    numbers = test_random_start();
    for (int round = 0; round < 20000; round++) {
        char user[128];
        char password[128];
        char name[128];
        char value[128];
        char header[128];
        char text[1024];
        struct vd_uri uri;
        struct vd_str found;
        struct vd_param param;
        size_t position = 0;
        const char *host = hosts[test_random_below(&numbers, 5)];
        unsigned port = (unsigned)test_random_below(&numbers, 65535) + 1;
        put_random(user, user_characters, 20);
        put_random(password, password_characters, 10);
        put_random(name, param_characters, 8);
        put_random(value, param_characters, 12);
        put_random(header, header_characters, 8);
        snprintf(text, sizeof text, "sip:%s:%s@%s:%u;%s=%s?%s=%s", user, password, host, port, name,
                 value, header, header);
        CU_ASSERT_EQUAL_FATAL(vd_uri_parse(placed(&guard, text), &uri, NULL), 0);
        CU_ASSERT(is_text(uri.user, user));
        CU_ASSERT(is_text(uri.password, password));
        CU_ASSERT_EQUAL(uri.port, port);
        CU_ASSERT_EQUAL(vd_params_get(&uri.params, vd_str_from(name), &found), 0);
        CU_ASSERT(is_text(found, value));
        CU_ASSERT(vd_params_next(&uri.headers, &position, &param));
        CU_ASSERT(is_text(param.name, header) && is_text(param.value, header));
        CU_ASSERT_FALSE(vd_params_next(&uri.headers, &position, &param));
        CU_ASSERT(vd_uri_equal(&uri, &uri));
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"sip_uri_parts_are_those_of_the_grammar", sip_uri_parts_are_those_of_the_grammar},
        {"sips_is_a_scheme_of_its_own", sips_is_a_scheme_of_its_own},
        {"tel_has_a_number_and_parameters", tel_has_a_number_and_parameters},
        {"other_schemes_keep_all_behind_the_colon", other_schemes_keep_all_behind_the_colon},
        {"uri_that_breaks_the_grammar_is_refused_where_it_does",
         uri_that_breaks_the_grammar_is_refused_where_it_does},
        {"uri_takes_64_parameters_and_no_more", uri_takes_64_parameters_and_no_more},
        {"uri_takes_64_headers_and_no_more", uri_takes_64_headers_and_no_more},
        {"no_uri_makes_the_reader_look_past_its_end", no_uri_makes_the_reader_look_past_its_end},
        {"uris_are_compared_as_rfc_3261_19_1_4_says", uris_are_compared_as_rfc_3261_19_1_4_says},
        {"loose_router_is_one_with_lr", loose_router_is_one_with_lr},
        {"random_uri_reads_back_as_it_was_built", random_uri_reads_back_as_it_was_built},
        CU_TEST_INFO_NULL,
    };
    if (!guard_init(&guard, 4096)) {
        return 1;
    }
    int status = run_suite("uri", tests);
    guard_free(&guard);
    return status;
}
