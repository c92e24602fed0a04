/* tls_identity.c - whom a certificate names (RFC 5922 7.1, 7.2).
 *
 * SPDX-License-Identifier: MIT
 */
#include "tls_internal.h"

#include <limits.h>
#include <openssl/x509v3.h>

#include <viaduct/uri.h>

enum { HOST_MAX = 255 };

/* ---- Hosts ---- */

static struct vd_str without_dot(struct vd_str host)
{
    host.n -= host.n > 1 && host.p[host.n - 1] == '.';
    return host;
}

bool vd__tls_host(struct vd_str text, struct vd_str *host)
{
    static const char scheme[] = "sip:";
    char uri_text[sizeof scheme + HOST_MAX];
    struct vd_addr addr;
    struct vd_uri uri;

    if (text.n == 0 || text.n > HOST_MAX) {
        return false;
    }
    if (vd_addr_parse(text, 0, &addr) == 0) {
        bool brackets = text.p[0] == '[';
        *host = vd_str(text.p + brackets, text.n - (brackets ? 2 : 0));
        return true;
    }
    memcpy(uri_text, scheme, sizeof scheme - 1);
    memcpy(uri_text + sizeof scheme - 1, text.p, text.n);
    if (vd_uri_parse(vd_str(uri_text, sizeof scheme - 1 + text.n), &uri, NULL) != 0 ||
        !vd_str_equal(uri.host, text)) {
        return false;
    }
    *host = without_dot(text);
    return true;
}

bool vd__tls_same_host(struct vd_str a, struct vd_str b)
{
    struct vd_addr a_addr;
    struct vd_addr b_addr;
    bool a_is_addr = vd_addr_parse(a, 0, &a_addr) == 0;
    bool b_is_addr = vd_addr_parse(b, 0, &b_addr) == 0;

    if (a_is_addr || b_is_addr) {
        return a_is_addr && b_is_addr && vd_addr_same_ip(&a_addr, &b_addr);
    }
    return vd_str_case_equal(without_dot(a), without_dot(b));
}

/* ---- Names in a certificate ---- */

static struct vd_str text_of(const ASN1_STRING *string)
{
    int length = ASN1_STRING_length(string);

    return vd_str((const char *)ASN1_STRING_get0_data(string), length > 0 ? (size_t)length : 0);
}

/* A URI is a name when its scheme is sip and it has no user; the host is. */
static bool host_of_uri(struct vd_str text, struct vd_str *host)
{
    struct vd_uri uri;

    if (vd_uri_parse(text, &uri, NULL) != 0 || uri.scheme != VD_URI_SIP || uri.has_user) {
        return false;
    }
    *host = uri.host;
    return true;
}

/* What one kind of entry in a subjectAltName says. */
struct finding {
    bool any;  /* there are such names */
    bool same; /* one is the host */
};

static struct finding look_at(const GENERAL_NAMES *names, int type, struct vd_str host)
{
    struct finding finding = {false, false};

    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        struct vd_str found;
        if (name->type != type) {
            continue;
        }
        found = text_of(name->d.ia5);
        if (type == GEN_URI && !host_of_uri(found, &found)) {
            continue;
        }
        finding.any = true;
        finding.same = finding.same || vd__tls_same_host(found, host);
    }
    return finding;
}

static const char *alternative_name_refuses(const GENERAL_NAMES *names, struct vd_str host)
{
    struct finding uris = look_at(names, GEN_URI, host);

    if (uris.any) {
        return uris.same ? NULL
                         : "no sip: URI in its subjectAltName is the expected host (RFC 5922 7.1, "
                           "7.2)";
    }
    struct finding domains = look_at(names, GEN_DNS, host);
    if (domains.any) {
        return domains.same ? NULL
                            : "no DNS name in its subjectAltName is the expected host (RFC 5922 "
                              "7.1, 7.2)";
    }
    return "its subjectAltName has neither a sip: URI without a user nor a DNS name (RFC 5922 7.1)";
}

/* Of several common names the last is the most specific one. */
static const char *common_name_refuses(const X509 *certificate, struct vd_str host)
{
    const X509_NAME *subject = X509_get_subject_name(certificate);
    int last = -1;
    int at;
    unsigned char *utf8;

    while ((at = X509_NAME_get_index_by_NID(subject, NID_commonName, last)) >= 0) {
        last = at;
    }
    if (last < 0) {
        return "it has neither a subjectAltName nor a common name (RFC 5922 7.1)";
    }
    int length =
        ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, last)));
    if (length < 0) {
        return "its common name cannot be read (RFC 5922 7.1)";
    }
    bool same = vd__tls_same_host(vd_str((const char *)utf8, (size_t)length), host);
    OPENSSL_free(utf8);
    return same ? NULL : "its common name is not the expected host (RFC 5922 7.1, 7.2)";
}

const char *vd__tls_identity_refuses(const X509 *certificate, struct vd_str host)
{
    int critical;
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, &critical, NULL);

    if (names == NULL) {
        /* -1: there is none; anything else: there is one, or several, that cannot be read. */
        return critical == -1 ? common_name_refuses(certificate, host)
                              : "its subjectAltName cannot be read (RFC 5280 4.2.1.6)";
    }
    const char *reason = alternative_name_refuses(names, host);
    GENERAL_NAMES_free(names);
    return reason;
}
