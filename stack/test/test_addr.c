/* test_addr.c - IP addresses as text and back, and names of transports.
 *
 * Covered: the literals of RFC 3261 25.1 and RFC 4291 2.2; the spelling of RFC 5952 with its
 * examples; what is no address; comparison, IPv4-mapped addresses too; random addresses in random
 * spellings; no byte read past the end, no text longer than VD_ADDR_TEXT_SIZE. Not covered: a third
 * colon, which hosts of URIs may have (test_uri.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/addr.h>
#include <viaduct/error.h>

#include "guard.h"
#include "run_suite.h"
#include "test_random.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static struct guard guard;

static int parse(const char *text, uint16_t port, struct vd_addr *out)
{
    size_t n = strlen(text);
    return vd_addr_parse(vd_str(guard_place(&guard, text, n), n), port, out);
}

static void ip4_addresses_are_read_and_written(void)
{
    static const struct {
        const char *text;
        uint8_t ip[4];
        const char *written;
    } cases[] = {
        {"192.0.2.1", {192, 0, 2, 1}, "192.0.2.1"},
        {"0.0.0.0", {0, 0, 0, 0}, "0.0.0.0"},
        {"255.255.255.255", {255, 255, 255, 255}, "255.255.255.255"},
        {"010.001.000.099", {10, 1, 0, 99}, "10.1.0.99"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static const uint8_t zeros[12];
        struct vd_addr addr;
        char text[VD_ADDR_TEXT_SIZE];
        CU_ASSERT_EQUAL_FATAL(parse(cases[i].text, 5060, &addr), 0);
        CU_ASSERT_EQUAL(addr.family, VD_FAMILY_IP4);
        CU_ASSERT_EQUAL(addr.port, 5060);
        CU_ASSERT_EQUAL(addr.scope, 0);
        CU_ASSERT_EQUAL(memcmp(addr.ip, cases[i].ip, 4), 0);
        CU_ASSERT_EQUAL(memcmp(addr.ip + 4, zeros, 12), 0);
        CU_ASSERT_EQUAL(vd_addr_format_ip(&addr, text), strlen(cases[i].written));
        CU_ASSERT_STRING_EQUAL(text, cases[i].written);
    }
}

/* RFC 5952 4 and 5, among them its examples. */
static void ip6_addresses_are_written_as_rfc_5952_says(void)
{
    static const char *const cases[][2] = {
        {"::", "::"},
        {"::1", "::1"},
        {"1::", "1::"},
        {"0:0:0:0:0:0:0:0", "::"},
        {"2001:0db8::0001", "2001:db8::1"},
        {"2001:db8:0:0:0:0:2:1", "2001:db8::2:1"},
        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
        {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        {"2001:DB8::AbCd", "2001:db8::abcd"},
        {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
        {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
        {"1:0:0:4:5:6:7:8", "1::4:5:6:7:8"},
        {"1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"},
        {"0:0:3:4:5:6:7:8", "::3:4:5:6:7:8"},
        {"::ffff:c000:201", "::ffff:192.0.2.1"},
        {"::FFFF:192.0.2.1", "::ffff:192.0.2.1"},
        {"1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:c000:201"},
        {"2001:db8::192.0.2.1", "2001:db8::c000:201"},
        {"[2001:db8::1]", "2001:db8::1"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_addr addr;
        char text[VD_ADDR_TEXT_SIZE];
        CU_ASSERT_EQUAL_FATAL(parse(cases[i][0], 1, &addr), 0);
        CU_ASSERT_EQUAL(addr.family, VD_FAMILY_IP6);
        CU_ASSERT_EQUAL(vd_addr_format_ip(&addr, text), strlen(cases[i][1]));
        CU_ASSERT_STRING_EQUAL(text, cases[i][1]);
    }
}

static void port_is_written_behind_the_address(void)
{
    struct vd_addr addr;
    char text[VD_ADDR_TEXT_SIZE];
    CU_ASSERT_EQUAL(parse("192.0.2.1", 5060, &addr), 0);
    CU_ASSERT_EQUAL(vd_addr_format(&addr, text), 14);
    CU_ASSERT_STRING_EQUAL(text, "192.0.2.1:5060");
    CU_ASSERT_EQUAL(parse("2001:db8::1", 0, &addr), 0);
    CU_ASSERT_EQUAL(vd_addr_format(&addr, text), 15);
    CU_ASSERT_STRING_EQUAL(text, "[2001:db8::1]:0");
    CU_ASSERT_EQUAL(parse("1111:2222:3333:4444:5555:6666:7777:8888", 65535, &addr), 0);
    CU_ASSERT(vd_addr_format(&addr, text) < VD_ADDR_TEXT_SIZE);
    CU_ASSERT_STRING_EQUAL(text, "[1111:2222:3333:4444:5555:6666:7777:8888]:65535");
}

static void text_that_is_no_address_is_refused(void)
{
    static const char *const texts[] = {
        "",
        "a",
        "example.com",
        "1",
        "1.2.3",
        "1.2.3.4.5",
        "1.2.3.256",
        "1.2.3.1000",
        "1.2.3.",
        ".1.2.3",
        "1..2.3",
        "1.2.3.4 ",
        " 1.2.3.4",
        "1.2.3.4:5",
        "0x1.2.3.4",
        "-1.2.3.4",
        ":",
        ":::",
        "1:",
        ":1",
        "1::2::3",
        "1:::2",
        "12345::",
        "1:2:3:4:5:6:7",
        "g::",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8",
        "1:2:3:4:5:6:7:1.2.3.4",
        "::1.2.3",
        "::1.2.3.4:1",
        "1.2.3.4::",
        "::1.2.3.256",
        "[",
        "[]",
        "[::1",
        "::1]",
        "[1.2.3.4]",
        "[[::1]]",
        "fe80::1%eth0",
        "::1 ",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct vd_addr addr = {.port = 7};
        int error = parse(texts[i], 1, &addr);
        if (error != VD_ERR_SYNTAX) {
            printf("\n  \"%s\" was taken\n", texts[i]);
        }
        CU_ASSERT_EQUAL(error, VD_ERR_SYNTAX);
        CU_ASSERT_EQUAL(addr.port, 7);
    }
}

static void mapped_address_is_the_ip4_address(void)
{
    struct vd_addr a;
    struct vd_addr b;
    struct vd_addr c;
    CU_ASSERT_EQUAL(parse("192.0.2.1", 1, &a), 0);
    CU_ASSERT_EQUAL(parse("::ffff:192.0.2.1", 2, &b), 0);
    CU_ASSERT_EQUAL(parse("::192.0.2.1", 1, &c), 0);
    CU_ASSERT(vd_addr_same_ip(&a, &b));
    CU_ASSERT(vd_addr_same_ip(&b, &a));
    CU_ASSERT(vd_addr_same_ip(&b, &b));
    CU_ASSERT_FALSE(vd_addr_same_ip(&a, &c));
    CU_ASSERT_FALSE(vd_addr_same_ip(&c, &b));
    CU_ASSERT(vd_addr_same_ip(&c, &c));
    CU_ASSERT_EQUAL(parse("192.0.2.2", 1, &c), 0);
    CU_ASSERT_FALSE(vd_addr_same_ip(&a, &c));
    CU_ASSERT_FALSE(vd_addr_same_ip(&b, &c));
}

static void equal_addresses_have_the_same_ip_port_and_scope(void)
{
    struct vd_addr a;
    struct vd_addr b;
    CU_ASSERT_EQUAL(parse("2001:db8::1", 1, &a), 0);
    CU_ASSERT_EQUAL(parse("2001:db8:0::1", 1, &b), 0);
    CU_ASSERT(vd_addr_equal(&a, &b));
    b.port = 2;
    CU_ASSERT_FALSE(vd_addr_equal(&a, &b));
    CU_ASSERT(vd_addr_same_ip(&a, &b));
    b.port = 1;
    b.scope = 3;
    CU_ASSERT_FALSE(vd_addr_equal(&a, &b));
    CU_ASSERT_EQUAL(parse("32.1.13.184", 1, &b), 0);
    CU_ASSERT_FALSE(vd_addr_equal(&a, &b));
}

/* The system's own reader and writer are the model. */
static void random_address_reads_back_and_agrees_with_the_system(void)
{
    struct test_random numbers = test_random_start();
    for (int round = 0; round < 50000; round++) {
        struct vd_addr addr = {.family = VD_FAMILY_IP6, .port = 5060};
        struct vd_addr back;
        char text[VD_ADDR_TEXT_SIZE];
        uint8_t model[16];
        uint64_t zeros = test_random_next(&numbers) & test_random_next(&numbers);
        for (unsigned i = 0; i < 16; i++) {
            if ((zeros >> (i / 2) & 1) == 0) {
                addr.ip[i] =
                    (uint8_t)(test_random_next(&numbers) >> test_random_below(&numbers, 8));
            }
        }
        size_t n = vd_addr_format_ip(&addr, text);
        CU_ASSERT_EQUAL(n, strlen(text));
        CU_ASSERT_EQUAL_FATAL(inet_pton(AF_INET6, text, model), 1);
        CU_ASSERT_EQUAL(memcmp(model, addr.ip, 16), 0);
        CU_ASSERT_EQUAL(parse(text, 5060, &back), 0);
        CU_ASSERT(vd_addr_equal(&addr, &back));
        CU_ASSERT_PTR_NOT_NULL(inet_ntop(AF_INET6, addr.ip, text, sizeof text));
        CU_ASSERT_EQUAL(parse(text, 5060, &back), 0);
        CU_ASSERT(vd_addr_equal(&addr, &back));
    }
}

static void random_text_is_an_address_when_the_system_says_so(void)
{
    static const char characters[] = "0123af::::..";
    struct test_random numbers = test_random_start();
    for (int round = 0; round < 300000; round++) {
        char text[40];
        struct vd_addr addr;
        uint8_t model[16];
        size_t n = (size_t)test_random_below(&numbers, 24);
        for (size_t i = 0; i < n; i++) {
            text[i] = characters[test_random_below(&numbers, sizeof characters - 1)];
        }
        text[n] = '\0';
        /* Systems differ on leading zeros in IPv4 addresses, so only IPv6 is compared. */
        bool read = parse(text, 0, &addr) == 0 && addr.family == VD_FAMILY_IP6;
        bool zeros = strchr(text, '.') != NULL && strstr(text, "0") != NULL;
        if (zeros) {
            continue;
        }
        CU_ASSERT_EQUAL(read, inet_pton(AF_INET6, text, model) == 1);
        if (read) {
            CU_ASSERT_EQUAL(memcmp(model, addr.ip, 16), 0);
        }
    }
}

static void transports_have_the_names_of_via(void)
{
    CU_ASSERT(vd_str_equal(vd_transport_name(VD_TRANSPORT_UDP), VD_STR("UDP")));
    CU_ASSERT(vd_str_equal(vd_transport_name(VD_TRANSPORT_TCP), VD_STR("TCP")));
    CU_ASSERT(vd_str_equal(vd_transport_name(VD_TRANSPORT_TLS), VD_STR("TLS")));
    CU_ASSERT_FALSE(vd_transport_reliable(VD_TRANSPORT_UDP));
    CU_ASSERT(vd_transport_reliable(VD_TRANSPORT_TCP));
    CU_ASSERT(vd_transport_reliable(VD_TRANSPORT_TLS));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"ip4_addresses_are_read_and_written", ip4_addresses_are_read_and_written},
        {"ip6_addresses_are_written_as_rfc_5952_says", ip6_addresses_are_written_as_rfc_5952_says},
        {"port_is_written_behind_the_address", port_is_written_behind_the_address},
        {"text_that_is_no_address_is_refused", text_that_is_no_address_is_refused},
        {"mapped_address_is_the_ip4_address", mapped_address_is_the_ip4_address},
        {"equal_addresses_have_the_same_ip_port_and_scope",
         equal_addresses_have_the_same_ip_port_and_scope},
        {"random_address_reads_back_and_agrees_with_the_system",
         random_address_reads_back_and_agrees_with_the_system},
        {"random_text_is_an_address_when_the_system_says_so",
         random_text_is_an_address_when_the_system_says_so},
        {"transports_have_the_names_of_via", transports_have_the_names_of_via},
        CU_TEST_INFO_NULL,
    };
    if (!guard_init(&guard, 4096)) {
        return 1;
    }
    int status = run_suite("addr", tests);
    guard_free(&guard);
    return status;
}
