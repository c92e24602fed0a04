/* tls_certificate.c - certificates made in memory, for one test each.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tls_certificate.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

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

static bool fill(X509 *certificate, EVP_PKEY *key, const struct tls_certificate_plan *plan)
{
    static long serial = 0;
    const long day = 24 * 3600;
    X509_NAME *subject = X509_get_subject_name(certificate);

    bool done = X509_set_version(certificate, X509_VERSION_3) == 1 &&
                ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial) == 1 &&
                X509_gmtime_adj(X509_getm_notBefore(certificate), -2 * day) != NULL &&
                X509_gmtime_adj(X509_getm_notAfter(certificate), plan->expired ? -day : day) &&
                X509_set_pubkey(certificate, key) == 1;
    if (done && plan->common_name != NULL) {
        done = X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                          (const unsigned char *)plan->common_name, -1, -1, 0) == 1;
    }
    const X509 *issuer = plan->issuer != NULL ? plan->issuer->certificate : certificate;
    done = done && X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1;
    if (done && plan->alternative != NULL) {
        done = add_extension(certificate, NID_subject_alt_name, plan->alternative);
    }
    if (done && plan->authority) {
        done = add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
    }
    EVP_PKEY *signer = plan->issuer != NULL ? plan->issuer->key : key;
    return done && X509_sign(certificate, signer, EVP_sha256()) > 0;
}

static char *text_of(BIO *memory)
{
    char *bytes;
    long size = BIO_get_mem_data(memory, &bytes);
    char *text = malloc((size_t)size + 1);

    if (text != NULL) {
        memcpy(text, bytes, (size_t)size);
        text[size] = '\0';
    }
    return text;
}

bool tls_certificate_make(struct tls_certificate *out, const struct tls_certificate_plan *plan)
{
    BIO *certificate_out = BIO_new(BIO_s_mem());
    BIO *key_out = BIO_new(BIO_s_mem());

    memset(out, 0, sizeof *out);
    out->key = EVP_EC_gen("P-256");
    out->certificate = X509_new();
    bool done = out->key != NULL && out->certificate != NULL &&
                fill(out->certificate, out->key, plan) &&
                PEM_write_bio_X509(certificate_out, out->certificate) == 1 &&
                PEM_write_bio_PrivateKey(key_out, out->key, NULL, NULL, 0, NULL, NULL) == 1;
    if (done) {
        out->certificate_pem = text_of(certificate_out);
        out->key_pem = text_of(key_out);
    }
    BIO_free(certificate_out);
    BIO_free(key_out);
    return done && out->certificate_pem != NULL && out->key_pem != NULL;
}

void tls_certificate_free(struct tls_certificate *certificate)
{
    X509_free(certificate->certificate);
    EVP_PKEY_free(certificate->key);
    free(certificate->certificate_pem);
    free(certificate->key_pem);
    memset(certificate, 0, sizeof *certificate);
}
