/* certificate.c - a throw-away certificate, made in memory and trusted for itself.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "certificate.h"

#include "fail.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds. It begins to be valid in the past, since clocks may be wrong. */
static const long HOUR = 3600;
static const long DAY = 24 * 3600;

static bool add_extension(X509 *certificate, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool done = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return done;
}

/* RFC 5922 7.1 takes the host of a SIP URI; other programs look for an address. */
static bool add_names(X509 *certificate, const struct vd_addr *host)
{
    char ip[VD_ADDR_TEXT_SIZE];
    char value[2 * VD_ADDR_TEXT_SIZE + 32];
    bool ip6 = host->family == VD_FAMILY_IP6;
    vd_addr_format_ip(host, ip);
    /* A SIP URI has an IPv6 address in brackets (RFC 3261 25.1), an address entry has none. */
    size_t skip = ip[0] == '[';
    int length = (int)(strlen(ip) - 2 * skip);
    snprintf(value, sizeof value, "URI:sip:%s%.*s%s,IP:%.*s", ip6 ? "[" : "", length, ip + skip,
             ip6 ? "]" : "", length, ip + skip);
    return add_extension(certificate, NID_subject_alt_name, value);
}

/* A day may see many of them, so the number is a random one (RFC 5280 4.1.2.2). */
static bool set_number(X509 *certificate)
{
    uint64_t number;
    if (RAND_bytes((unsigned char *)&number, sizeof number) != 1) {
        return false;
    }
    return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), number >> 1 | 1) == 1;
}

static bool fill(X509 *certificate, EVP_PKEY *key, const struct vd_addr *host)
{
    static const unsigned char NAME[] = "testStack";
    X509_NAME *name = X509_get_subject_name(certificate);
    return X509_set_version(certificate, X509_VERSION_3) == 1 && set_number(certificate) &&
           X509_gmtime_adj(X509_getm_notBefore(certificate), -HOUR) != NULL &&
           X509_gmtime_adj(X509_getm_notAfter(certificate), DAY) != NULL &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, NAME, -1, -1, 0) == 1 &&
           X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1 &&
           add_names(certificate, host) &&
           add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE") &&
           X509_sign(certificate, key, EVP_sha256()) > 0;
}

static char *take_text(BIO *memory)
{
    char *bytes;
    long size = BIO_get_mem_data(memory, &bytes);
    return size > 0 ? strndup(bytes, (size_t)size) : NULL;
}

static void write_texts(struct certificate *out, X509 *certificate, EVP_PKEY *key)
{
    BIO *text = BIO_new(BIO_s_mem());
    BIO *key_text = BIO_new(BIO_s_secmem());
    if (text != NULL && key_text != NULL && PEM_write_bio_X509(text, certificate) == 1 &&
        PEM_write_bio_PrivateKey(key_text, key, NULL, NULL, 0, NULL, NULL) == 1) {
        out->text = take_text(text);
        out->key = take_text(key_text);
    }
    BIO_free(text);
    BIO_free(key_text);
}

int certificate_make(struct certificate *out, const struct vd_addr *host)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    *out = (struct certificate){0};
    if (key != NULL && certificate != NULL && fill(certificate, key, host)) {
        write_texts(out, certificate, key);
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
    return out->text == NULL || out->key == NULL ? fail("no certificate could be made") : 0;
}

void certificate_free(struct certificate *certificate)
{
    if (certificate->key != NULL) {
        OPENSSL_cleanse(certificate->key, strlen(certificate->key));
    }
    free(certificate->key);
    free(certificate->text);
    *certificate = (struct certificate){0};
}
