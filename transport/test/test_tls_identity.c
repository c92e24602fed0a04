/* test_tls_identity.c - whom a certificate names (RFC 5922 7.1, 7.2), and what a host is.
 *
 * Covered: every kind of name in a certificate, their order, comparison, texts that are hosts and
 * that are not. Not covered: whether a certificate is to be trusted at all (test_tls.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include <openssl/x509v3.h>

#include "run_suite.h"
#include "tls_certificate.h"
#include "tls_internal.h"

/* ---- Certificates ---- */

struct identity_case {
    const char *rule;
    const char *common_name;
    const char *alternative;
    const char *host;
    bool names;
};

static const struct identity_case identity_cases[] = {
    {"a sip: URI is a name", NULL, "URI:sip:example.com", "example.com", true},
    {"its host alone counts", NULL, "URI:sip:example.com:5071;transport=tls", "example.com", true},
    {"scheme and host have no case", NULL, "URI:SIP:Example.COM", "eXample.com", true},
    {"any of several URIs", NULL, "URI:sip:a.example,URI:sip:b.example", "b.example", true},
    {"another host is not it", NULL, "URI:sip:example.net", "example.com", false},
    {"a sips: URI is no name", NULL, "URI:sips:example.com", "example.com", false},
    {"nor is one of another scheme", NULL, "URI:https://example.com", "example.com", false},
    {"a URI with a user names a user", NULL, "URI:sip:bob@example.com", "example.com", false},
    {"a DNS name is a name", NULL, "DNS:example.com", "example.com", true},
    {"also in another case", NULL, "DNS:EXAMPLE.com", "example.COM", true},
    {"another DNS name is not it", NULL, "DNS:example.net", "example.com", false},
    {"DNS beside a sip: URI does not count", NULL, "URI:sip:example.net,DNS:example.com",
     "example.com", false},
    {"DNS beside a URI that is no name counts", NULL, "URI:sip:bob@example.net,DNS:example.com",
     "example.com", true},
    {"DNS beside a sips: URI counts", NULL, "URI:sips:example.net,DNS:example.com", "example.com",
     true},
    {"there are no wildcards", NULL, "DNS:*.example.com", "sip.example.com", false},
    {"not in a URI either", NULL, "URI:sip:*.example.com", "sip.example.com", false},
    {"not as a common name either", "*.example.com", NULL, "sip.example.com", false},
    {"a domain does not speak for those below it", NULL, "DNS:example.com", "sip.example.com",
     false},
    {"nor for the one above it", NULL, "DNS:sip.example.com", "example.com", false},
    {"a common name counts without a subjectAltName", "example.com", NULL, "Example.com", true},
    {"another common name is not it", "example.net", NULL, "example.com", false},
    {"it does not count beside a DNS name", "example.com", "DNS:example.net", "example.com", false},
    {"nor beside a subjectAltName without a name", "example.com", "email:bob@example.com",
     "example.com", false},
    {"an address in a sip: URI is a name", NULL, "URI:sip:192.0.2.1", "192.0.2.1", true},
    {"an IPv6 address is one by its value", NULL, "URI:sip:[2001:db8:0::1]", "2001:db8::1", true},
    {"another address is not it", NULL, "URI:sip:192.0.2.2", "192.0.2.1", false},
    {"an IP entry is no name", NULL, "IP:192.0.2.1", "192.0.2.1", false},
    {"nothing at all is no name", NULL, NULL, "example.com", false},
};

static void a_certificate_names_who_rfc_5922_7_1_says(void)
{
    for (size_t i = 0; i < sizeof identity_cases / sizeof identity_cases[0]; i++) {
        const struct identity_case *it = &identity_cases[i];
        struct tls_certificate made;
        CU_ASSERT_FATAL(tls_certificate_make(
            &made, &(struct tls_certificate_plan){.common_name = it->common_name,
                                                  .alternative = it->alternative}));
        const char *reason = vd__tls_identity_refuses(made.certificate, vd_str_from(it->host));
        if ((reason == NULL) != it->names) {
            CU_FAIL(it->rule);
            fprintf(stderr, "%s: %s\n", it->rule, reason != NULL ? reason : "named");
        } else {
            CU_PASS(it->rule);
        }
        tls_certificate_free(&made);
    }
}

/* A name with a NUL in it once passed for the part before. */
static void a_nul_in_a_name_does_not_end_it(void)
{
    static const char text[] = "example.com\0.example.net";
    static const int types[] = {GEN_DNS, GEN_URI};

    for (size_t i = 0; i < 2; i++) {
        char value[64] = "sip:";
        size_t skip = types[i] == GEN_URI ? 4 : 0;
        memcpy(value + skip, text, sizeof text - 1);

        X509 *certificate = X509_new();
        GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
        GENERAL_NAME *name = GENERAL_NAME_new();
        ASN1_IA5STRING *string = ASN1_IA5STRING_new();
        CU_ASSERT_EQUAL_FATAL(ASN1_STRING_set(string, value, (int)(skip + sizeof text - 1)), 1);
        GENERAL_NAME_set0_value(name, types[i], string);
        CU_ASSERT_FATAL(sk_GENERAL_NAME_push(names, name) > 0);
        CU_ASSERT_EQUAL_FATAL(X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0), 1);
        CU_ASSERT_PTR_NOT_NULL(vd__tls_identity_refuses(certificate, VD_STR("example.com")));
        GENERAL_NAMES_free(names);
        X509_free(certificate);
    }
}

/* The last one is the most specific one. */
static void of_several_common_names_the_last_counts(void)
{
    X509 *certificate = X509_new();
    X509_NAME *subject = X509_get_subject_name(certificate);

    CU_ASSERT_EQUAL_FATAL(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                                     (const unsigned char *)"a.example", -1, -1, 0),
                          1);
    CU_ASSERT_EQUAL_FATAL(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                                     (const unsigned char *)"b.example", -1, -1, 0),
                          1);
    CU_ASSERT_PTR_NOT_NULL(vd__tls_identity_refuses(certificate, VD_STR("a.example")));
    CU_ASSERT_PTR_NULL(vd__tls_identity_refuses(certificate, VD_STR("b.example")));
    X509_free(certificate);
}

/* Two of them, or one that does not decode: the common name must not come to its place. */
static void a_subject_alt_name_that_cannot_be_read_is_no_reason_to_take_the_common_name(void)
{
    struct tls_certificate made;
    static const unsigned char garbage[] = {0x30, 0x05, 0x01};

    CU_ASSERT_FATAL(
        tls_certificate_make(&made, &(struct tls_certificate_plan){.common_name = "example.com"}));
    ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
    CU_ASSERT_EQUAL_FATAL(ASN1_OCTET_STRING_set(value, garbage, sizeof garbage), 1);
    X509_EXTENSION *extension = X509_EXTENSION_create_by_NID(NULL, NID_subject_alt_name, 0, value);
    CU_ASSERT_EQUAL_FATAL(X509_add_ext(made.certificate, extension, -1), 1);
    CU_ASSERT_PTR_NOT_NULL(vd__tls_identity_refuses(made.certificate, VD_STR("example.com")));
    CU_ASSERT_EQUAL_FATAL(X509_add_ext(made.certificate, extension, -1), 1);
    CU_ASSERT_PTR_NOT_NULL(vd__tls_identity_refuses(made.certificate, VD_STR("example.com")));
    X509_EXTENSION_free(extension);
    ASN1_OCTET_STRING_free(value);
    tls_certificate_free(&made);
}

/* ---- Hosts ---- */

static void a_host_is_a_name_or_an_address_and_nothing_else(void)
{
    static const struct {
        const char *text;
        const char *host; /* NULL for none */
    } cases[] = {
        {"example.com", "example.com"}, {"example.com.", "example.com"},
        {"192.0.2.1", "192.0.2.1"},     {"[2001:db8::1]", "2001:db8::1"},
        {"2001:db8::1", "2001:db8::1"}, {"", NULL},
        {"example.com:5061", NULL},     {"bob@example.com", NULL},
        {"example.com;lr", NULL},       {"*.example.com", NULL},
        {"sip:example.com", NULL},      {"example com", NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_str host;
        bool is_host = vd__tls_host(vd_str_from(cases[i].text), &host);
        CU_ASSERT_EQUAL(is_host, cases[i].host != NULL);
        if (is_host && cases[i].host != NULL) {
            CU_ASSERT_TRUE(vd_str_equal(host, vd_str_from(cases[i].host)));
        }
    }
    char text[300];
    struct vd_str host;
    memset(text, 'a', sizeof text);
    CU_ASSERT_TRUE(vd__tls_host(vd_str(text, 255), &host));
    CU_ASSERT_FALSE(vd__tls_host(vd_str(text, 256), &host));
}

static void hosts_are_compared_without_case_and_addresses_by_value(void)
{
    CU_ASSERT_TRUE(vd__tls_same_host(VD_STR("example.com"), VD_STR("EXAMPLE.com.")));
    CU_ASSERT_TRUE(vd__tls_same_host(VD_STR("2001:db8::1"), VD_STR("2001:0db8:0::1")));
    CU_ASSERT_FALSE(vd__tls_same_host(VD_STR("example.com"), VD_STR("example.co")));
    CU_ASSERT_FALSE(vd__tls_same_host(VD_STR("192.0.2.1"), VD_STR("example.com")));
    CU_ASSERT_FALSE(vd__tls_same_host(VD_STR(""), VD_STR("example.com")));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"a certificate names who rfc 5922 7 1 says", a_certificate_names_who_rfc_5922_7_1_says},
        {"a nul in a name does not end it", a_nul_in_a_name_does_not_end_it},
        {"of several common names the last counts", of_several_common_names_the_last_counts},
        {"a subject alt name that cannot be read is no reason to take the common name",
         a_subject_alt_name_that_cannot_be_read_is_no_reason_to_take_the_common_name},
        {"a host is a name or an address and nothing else",
         a_host_is_a_name_or_an_address_and_nothing_else},
        {"hosts are compared without case and addresses by value",
         hosts_are_compared_without_case_and_addresses_by_value},
        CU_TEST_INFO_NULL,
    };
    return run_suite("tls identity", tests);
}
