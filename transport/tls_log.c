/* tls_log.c - log events about certificates and handshakes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tls_internal.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdio.h>

/* A line that is cut off when it gets too long. */
struct line {
    char bytes[1024];
    size_t size;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    size_t room = sizeof line->bytes - line->size;
    va_list arguments;

    va_start(arguments, format);
    int size = vsnprintf(line->bytes + line->size, room, format, arguments);
    va_end(arguments);
    if (size > 0) {
        line->size += (size_t)size < room ? (size_t)size : room - 1;
    }
}

/* Bytes of a peer's choice: what is not printable becomes a question mark. */
static void add_foreign(struct line *line, const unsigned char *bytes, int size)
{
    for (int i = 0; i < size; i++) {
        add(line, "%c", bytes[i] > ' ' && bytes[i] < 0x7f ? bytes[i] : '?');
    }
}

static void add_subject(struct line *line, const X509 *certificate)
{
    BIO *out = BIO_new(BIO_s_mem());
    char *text;

    if (out != NULL &&
        X509_NAME_print_ex(out, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) >= 0) {
        long size = BIO_get_mem_data(out, &text);
        add(line, "subject %.*s", (int)size, text);
    }
    BIO_free(out);
}

static void add_alternative_names(struct line *line, const X509 *certificate)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);

    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        add(line, i == 0 ? ", subjectAltName " : " ");
        if (name->type == GEN_URI || name->type == GEN_DNS) {
            add(line, name->type == GEN_URI ? "URI:" : "DNS:");
            add_foreign(line, ASN1_STRING_get0_data(name->d.ia5), ASN1_STRING_length(name->d.ia5));
        } else {
            add(line, "(other)");
        }
    }
    GENERAL_NAMES_free(names);
}

static void log_peer(const struct vd__connection *connection, const char *text,
                     const struct line *line)
{
    struct vd_flow flow = {
        .endpoint = connection->endpoint->number,
        .connection = connection->number,
        .remote = connection->remote,
    };

    vd__loop_log(vd__streams_of(connection)->loop, &(struct vd_log_event){
                                                       .level = VD_LOG_WARNING,
                                                       .error = VD_ERR_TRANSPORT,
                                                       .system_error = connection->system_error,
                                                       .text = text,
                                                       .flow = &flow,
                                                       .data = vd_str(line->bytes, line->size),
                                                   });
}

void vd__tls_log_refusal(const struct vd__connection *connection, const X509 *certificate,
                         const char *reason)
{
    struct vd__tls_state *state = vd__tls_state(connection);
    struct line line = {.size = 0};

    vd__tls_endpoint(connection)->counters.certificates_refused++;
    state->refused = true;
    add(&line, "%s; ", reason);
    if (certificate != NULL) {
        add_subject(&line, certificate);
        add_alternative_names(&line, certificate);
    }
    if (state->host.n > 0) {
        add(&line, ", expected %.*s", (int)state->host.n, state->host.p);
    }
    log_peer(connection, "the certificate of a peer was refused", &line);
}

/* OpenSSL's reason, from its error queue; the first error is the cause of the others. */
static const char *openssl_reason(void)
{
    unsigned long error = ERR_peek_error();
    const char *reason = ERR_reason_error_string(error);

    if (reason != NULL) {
        return reason;
    }
    return ERR_SYSTEM_ERROR(error) ? "the system refuses" : "no reason is known";
}

void vd__tls_log_failure(const struct vd__connection *connection, const char *text)
{
    struct line line = {.size = 0};

    add(&line, "%s", openssl_reason());
    log_peer(connection, text, &line);
}

void vd__tls_log_config(const struct vd_tls_config *config, int error, const char *name,
                        const char *detail)
{
    struct line line = {.size = 0};
    unsigned long reason = ERR_peek_error();

    if (config->log == NULL) {
        return;
    }
    add(&line, "%s: %s", name, detail != NULL ? detail : openssl_reason());
    config->log(&(struct vd_log_event){.level = VD_LOG_ERROR,
                                       .error = error,
                                       .system_error =
                                           ERR_SYSTEM_ERROR(reason) ? ERR_GET_REASON(reason) : 0,
                                       .text = "a TLS context cannot be made",
                                       .data = vd_str(line.bytes, line.size)},
                config->log_context);
}
