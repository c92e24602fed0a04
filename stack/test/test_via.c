/* test_via.c - Via.
 *
 * Covered: sent-protocol, sent-by and the parameters of RFC 3261 20.42 and RFC 3581, with white
 * space and folds round every separator (RFC 4475 3.1.1.1); received with brackets and without (RFC
 * 5118 4.5); lists; the magic cookie; what is refused, with its place (RFC 4475 3.1.2.1, RFC
 * 5118 4.2); random values that read back as built; no byte read past the end. Not covered: which
 * address an answer goes to (the transaction tests).
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
    const char *transport;
    const char *sent_by;
    const char *host;
    enum vd_host_kind kind;
    unsigned port;
    const char *branch;
    const char *received;
    unsigned count;
    unsigned rport;
    bool has_rport;
};

static const struct value_case cases[] = {
    {"SIP/2.0/UDP a", "UDP", "a", "a", VD_HOST_NAME, 0, "", "", 0, 0, false},
    {"SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK-1;rport", "UDP", "192.0.2.10:5060", "192.0.2.10",
     VD_HOST_IP4, 5060, "z9hG4bK-1", "", 2, 0, true},
    {"SIP/2.0/UDP _a_b:5060", "UDP", "_a_b:5060", "_a_b", VD_HOST_NAME, 5060, "", "", 0, 0, false},
    {"SIP/2.0/TCP a.b.c;rport=5062;received=192.0.2.9", "TCP", "a.b.c", "a.b.c", VD_HOST_NAME, 0,
     "", "192.0.2.9", 2, 5062, true},
    {"sip/2.0/x-~1 [2001:db8::1]:5061;BRANCH=b;x", "x-~1", "[2001:db8::1]:5061", "2001:db8::1",
     VD_HOST_IP6, 5061, "b", "", 2, 0, false},
    {"SIP  /   2.0\r\n /UDP\r\n    192.0.2.2;branch=390skdjuw", "UDP", "192.0.2.2", "192.0.2.2",
     VD_HOST_IP4, 0, "390skdjuw", "", 1, 0, false},
    {"\r\n  SIP\r\n  /\r\n  2.0/TLS pump.example.com\r\n   : 5071 ;branch\r\n   = z9hG4bKtop41 ; "
     "received =192.0.2.41 ",
     "TLS", "pump.example.com\r\n   : 5071", "pump.example.com", VD_HOST_NAME, 5071, "z9hG4bKtop41",
     "192.0.2.41", 2, 0, false},
    {"SIP/2.0/ UDP a", "UDP", "a", "a", VD_HOST_NAME, 0, "", "", 0, 0, false},
    {"SIP/2.0/UDP a;received=2001:db8::a:99;rport=5066", "UDP", "a", "a", VD_HOST_NAME, 0, "",
     "2001:db8::a:99", 2, 5066, true},
    {"SIP/2.0/UDP a;received=[2001:db8::a:99] ;y", "UDP", "a", "a", VD_HOST_NAME, 0, "",
     "2001:db8::a:99", 2, 0, false},
    {"SIP/2.0/UDP a;received= ::1", "UDP", "a", "a", VD_HOST_NAME, 0, "", "::1", 1, 0, false},
    {"SIP/2.0/UDP a;received=::ffff:192.0.2.1 ", "UDP", "a", "a", VD_HOST_NAME, 0, "",
     "::ffff:192.0.2.1", 1, 0, false},
    {"SIP/2.0/UDP a;branch=z9hG4bK'~+!%*_`.-x;y=\"q;,\";z=", "UDP", "a", "a", VD_HOST_NAME, 0,
     "z9hG4bK'~+!%*_`.-x", "", 3, 0, false},
};

static void via_parts_are_those_of_the_grammar(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct value_case *c = &cases[i];
        struct vd_via via;
        struct vd_fault fault = {0, 0, ""};
        struct vd_str text = placed(&guard, c->text);
        int length = vd_via_parse(text, &via, &fault);
        CU_ASSERT_EQUAL(length, (int)text.n);
        if (length != (int)text.n) {
            printf("\n  \"%s\": %d at %zu: %s\n", c->text, length, fault.offset, fault.rule);
            continue;
        }
        CU_ASSERT(is_text(via.transport, c->transport));
        CU_ASSERT(is_text(via.sent_by, c->sent_by));
        CU_ASSERT(is_text(via.host, c->host));
        CU_ASSERT_EQUAL(via.host_kind, c->kind);
        CU_ASSERT_EQUAL(via.port, c->port);
        CU_ASSERT(is_text(via.branch, c->branch));
        CU_ASSERT(is_text(via.received, c->received));
        CU_ASSERT_EQUAL(via.params.count, c->count);
        CU_ASSERT_EQUAL(via.rport, c->rport);
        CU_ASSERT_EQUAL(via.has_rport, c->has_rport);
    }
}

static void raw_is_the_value_without_white_space_round_it(void)
{
    struct vd_via via;
    CU_ASSERT_EQUAL(vd_via_parse(placed(&guard, " SIP/2.0/UDP a ; x \t"), &via, NULL), 20);
    CU_ASSERT(is_text(via.raw, "SIP/2.0/UDP a ; x"));
    CU_ASSERT_EQUAL(vd_via_parse(placed(&guard, " SIP/2.0/UDP a : 1 , b"), &via, NULL), 19);
    CU_ASSERT(is_text(via.raw, "SIP/2.0/UDP a : 1"));
    /* Parameters, had it any, would begin where it ends. */
    CU_ASSERT_PTR_EQUAL(via.params.raw.p, via.raw.p + via.raw.n);
}

static void ttl_and_maddr_are_found(void)
{
    struct vd_via via;
    CU_ASSERT(vd_via_parse(placed(&guard, "SIP/2.0/UDP a;ttl=255;maddr=239.0.0.1"), &via, NULL) >
              0);
    CU_ASSERT_EQUAL(via.ttl, 255);
    CU_ASSERT(is_text(via.maddr, "239.0.0.1"));
    CU_ASSERT(vd_via_parse(placed(&guard, "SIP/2.0/UDP a;MADDR=[ff02::1];TTL=0"), &via, NULL) > 0);
    CU_ASSERT_EQUAL(via.ttl, 0);
    CU_ASSERT(is_text(via.maddr, "[ff02::1]"));
    CU_ASSERT(vd_via_parse(placed(&guard, "SIP/2.0/UDP a;maddr=host.example"), &via, NULL) > 0);
    CU_ASSERT(is_text(via.maddr, "host.example"));
}

static void comma_ends_a_via(void)
{
    struct vd_via via;
    CU_ASSERT_EQUAL(vd_via_parse(placed(&guard, "SIP/2.0/UDP a,SIP/2.0/UDP b"), &via, NULL), 13);
    CU_ASSERT_EQUAL(vd_via_parse(placed(&guard, "SIP/2.0/UDP a;x=\",\" ,"), &via, NULL), 20);
}

static int read_via(struct vd_str text, struct vd_fault *fault)
{
    struct vd_via via;
    return vd_via_parse(text, &via, fault);
}

static const struct fault_case refused[] = {
    {"", VD_ERR_SYNTAX, 0},
    {",", VD_ERR_SYNTAX, 0},
    {"SIP", VD_ERR_SYNTAX, 3},
    {"SIPS/2.0/UDP a", VD_ERR_SYNTAX, 0},
    {"HTTP/1.1/UDP a", VD_ERR_SYNTAX, 0},
    {"SIP 2.0/UDP a", VD_ERR_SYNTAX, 4},
    {"SIP//UDP a", VD_ERR_SYNTAX, 4},
    {"SIP/3.0/UDP a", VD_ERR_VERSION, 4},
    {"SIP/2.00/UDP a", VD_ERR_VERSION, 4},
    {"SIP/2.0", VD_ERR_SYNTAX, 7},
    {"SIP/2.0/", VD_ERR_SYNTAX, 8},
    {"SIP/2.0/UDP", VD_ERR_SYNTAX, 11},
    {"SIP/2.0/UDP ", VD_ERR_SYNTAX, 12},
    {"SIP/2.0/UDP;a", VD_ERR_SYNTAX, 11},
    {"SIP/2.0/UDP a b", VD_ERR_SYNTAX, 14},
    {"SIP/2.0/UDP a/b", VD_ERR_SYNTAX, 13},
    {"SIP/2.0/UDP a;received=192.0.2.256", VD_ERR_SYNTAX, 23},
    {"SIP/2.0/UDP 2001:db8::a:1;x", VD_ERR_SYNTAX, 12},
    {"SIP/2.0/UDP 2001:db8::a:1", VD_ERR_SYNTAX, 12},
    {"SIP/2.0/UDP [2001:db8::1", VD_ERR_SYNTAX, 24},
    {"SIP/2.0/UDP a:", VD_ERR_SYNTAX, 14},
    {"SIP/2.0/UDP a:x", VD_ERR_SYNTAX, 14},
    {"SIP/2.0/UDP a:0", VD_ERR_RANGE, 14},
    {"SIP/2.0/UDP a:65536", VD_ERR_RANGE, 14},
    {"SIP/2.0/UDP a;;;", VD_ERR_SYNTAX, 14},
    {"SIP/2.0/UDP a;branch=z9;;ttl=1", VD_ERR_SYNTAX, 24},
    {"SIP/2.0/UDP a;,", VD_ERR_SYNTAX, 14},
    {"SIP/2.0/UDP a;branch", VD_ERR_SYNTAX, 20},
    {"SIP/2.0/UDP a;branch=", VD_ERR_SYNTAX, 21},
    {"SIP/2.0/UDP a;branch=\"b\"", VD_ERR_SYNTAX, 21},
    {"SIP/2.0/UDP a;branch=b;branch=b", VD_ERR_SYNTAX, 23},
    {"SIP/2.0/UDP a;branch=b@c", VD_ERR_SYNTAX, 22},
    {"SIP/2.0/UDP a;rport=", VD_ERR_SYNTAX, 20},
    {"SIP/2.0/UDP a;rport=x", VD_ERR_SYNTAX, 20},
    {"SIP/2.0/UDP a;rport=1x", VD_ERR_SYNTAX, 21},
    {"SIP/2.0/UDP a;rport=-1", VD_ERR_SYNTAX, 20},
    {"SIP/2.0/UDP a;rport=\"1\"", VD_ERR_SYNTAX, 20},
    {"SIP/2.0/UDP a;rport=0", VD_ERR_RANGE, 20},
    {"SIP/2.0/UDP a;rport=65536", VD_ERR_RANGE, 20},
    {"SIP/2.0/UDP a;rport=4294967297", VD_ERR_RANGE, 20},
    {"SIP/2.0/UDP a;rport;rport", VD_ERR_SYNTAX, 20},
    {"SIP/2.0/UDP a;ttl", VD_ERR_SYNTAX, 17},
    {"SIP/2.0/UDP a;ttl=256", VD_ERR_RANGE, 18},
    {"SIP/2.0/UDP a;ttl=1;ttl=1", VD_ERR_SYNTAX, 20},
    {"SIP/2.0/UDP a;maddr=-", VD_ERR_SYNTAX, 20},
    {"SIP/2.0/UDP a;maddr", VD_ERR_SYNTAX, 19},
    {"SIP/2.0/UDP a;maddr=a!", VD_ERR_SYNTAX, 21},
    {"SIP/2.0/UDP a;maddr=a;maddr=a", VD_ERR_SYNTAX, 22},
    {"SIP/2.0/UDP a;received", VD_ERR_SYNTAX, 14},
    {"SIP/2.0/UDP a;received=", VD_ERR_SYNTAX, 14},
    {"SIP/2.0/UDP a;received 192.0.2.1", VD_ERR_SYNTAX, 14},
    {"SIP/2.0/UDP a;received=b.c", VD_ERR_SYNTAX, 23},
    {"SIP/2.0/UDP a;received=192.0.2.300", VD_ERR_SYNTAX, 23},
    {"SIP/2.0/UDP a;received=2001:db8", VD_ERR_SYNTAX, 23},
    {"SIP/2.0/UDP a;received=\"192.0.2.1\"", VD_ERR_SYNTAX, 14},
    {"SIP/2.0/UDP a;received=192.0.2.1;received=192.0.2.1", VD_ERR_SYNTAX, 33},
};

static void via_that_breaks_the_grammar_is_refused_where_it_does(void)
{
    check_faults(&guard, read_via, refused, sizeof refused / sizeof refused[0]);
}

static void cookie_counts_when_more_follows(void)
{
    static const struct {
        const char *text;
        bool cookie;
    } branches[] = {
        {"SIP/2.0/UDP a;branch=z9hG4bK1", true},   {"SIP/2.0/UDP a;branch=Z9Hg4Bk-", true},
        {"SIP/2.0/UDP a;branch=z9hG4bK", false},   {"SIP/2.0/UDP a;branch=1", false},
        {"SIP/2.0/UDP a;branch=xz9hG4bK1", false}, {"SIP/2.0/UDP a", false}};
    for (size_t i = 0; i < sizeof branches / sizeof branches[0]; i++) {
        struct vd_via via;
        CU_ASSERT(vd_via_parse(placed(&guard, branches[i].text), &via, NULL) > 0);
        CU_ASSERT_EQUAL(vd_via_has_cookie(&via), branches[i].cookie);
    }
}

static void no_via_makes_the_reader_look_past_its_end(void)
{
    const char *texts[sizeof cases / sizeof cases[0]];
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        texts[i] = cases[i].text;
    }
    check_cut_short(&guard, read_via, texts, count);
    check_one_byte_changed(&guard, read_via, texts, count);
}

/* ---- Random values ---- */

static struct test_random numbers;

static unsigned below(unsigned limit)
{
    return (unsigned)test_random_below(&numbers, limit);
}

static const char *space(void)
{
    static const char *const spaces[] = {"", " ", "\t ", "\r\n ", " \r\n\t"};
    return spaces[below(5)];
}

static void random_via_reads_back_as_it_was_built(void)
{
    static const char *const hosts[] = {"example.com", "a-b.c", "192.0.2.1", "2001:db8::7"};
    numbers = test_random_start();
    for (int round = 0; round < 20000; round++) {
        char text[512];
        char branch[64];
        struct vd_via via;
        const char *host = hosts[below(4)];
        bool reference = strchr(host, ':') != NULL;
        unsigned port = below(65535) + 1;
        unsigned rport = below(65535) + 1;
        unsigned ttl = below(256);
        snprintf(branch, sizeof branch, "z9hG4bK%x.%x", below(1U << 31), below(1U << 31));
        snprintf(text, sizeof text,
                 "%sSIP%s/%s2.0%s/%sUDP %s%s%s%s%s:%s%u%s;%sbranch%s=%s%s%s;rport=%u;ttl=%s%u%s",
                 space(), space(), space(), space(), space(), space(), reference ? "[" : "", host,
                 reference ? "]" : "", space(), space(), port, space(), space(), space(), space(),
                 branch, space(), rport, space(), ttl, space());
        int length = vd_via_parse(placed(&guard, text), &via, NULL);
        CU_ASSERT_EQUAL_FATAL(length, (int)strlen(text));
        CU_ASSERT(is_text(via.host, host));
        CU_ASSERT(is_text(via.branch, branch));
        CU_ASSERT_EQUAL(via.port, port);
        CU_ASSERT_EQUAL(via.rport, rport);
        CU_ASSERT_EQUAL(via.ttl, ttl);
        CU_ASSERT(vd_via_has_cookie(&via));
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"via_parts_are_those_of_the_grammar", via_parts_are_those_of_the_grammar},
        {"raw_is_the_value_without_white_space_round_it",
         raw_is_the_value_without_white_space_round_it},
        {"ttl_and_maddr_are_found", ttl_and_maddr_are_found},
        {"comma_ends_a_via", comma_ends_a_via},
        {"via_that_breaks_the_grammar_is_refused_where_it_does",
         via_that_breaks_the_grammar_is_refused_where_it_does},
        {"cookie_counts_when_more_follows", cookie_counts_when_more_follows},
        {"no_via_makes_the_reader_look_past_its_end", no_via_makes_the_reader_look_past_its_end},
        {"random_via_reads_back_as_it_was_built", random_via_reads_back_as_it_was_built},
        CU_TEST_INFO_NULL,
    };
    if (!guard_init(&guard, 4096)) {
        return 1;
    }
    int status = run_suite("via", tests);
    guard_free(&guard);
    return status;
}
