/* tls_context.c - contexts: certificate, key, whom to trust, what of TLS is spoken.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tls_internal.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>

void vd_tls_config_init(struct vd_tls_config *config)
{
    *config = (struct vd_tls_config){.verify = true};
}

/* ---- PEM ---- */

static bool is_empty(const struct vd_tls_pem *pem)
{
    return pem->file == NULL && pem->text.n == 0;
}

static const char *name_of(const struct vd_tls_pem *pem, const char *otherwise)
{
    return pem->file != NULL ? pem->file : otherwise;
}

static BIO *open_pem(const struct vd_tls_pem *pem)
{
    if (pem->file != NULL) {
        return BIO_new_file(pem->file, "r");
    }
    return BIO_new_mem_buf(pem->text.p, (int)pem->text.n);
}

/* OpenSSL would ask at the terminal for the password of an encrypted key. */
static int no_password(char *out, int size, int writing, void *user)
{
    (void)out;
    (void)size;
    (void)writing;
    (void)user;
    return -1;
}

/* The next certificate; NULL at the end, with *bad when that is an error. */
static X509 *next_certificate(BIO *in, bool *bad)
{
    X509 *certificate = PEM_read_bio_X509(in, NULL, no_password, NULL);

    if (certificate == NULL) {
        unsigned long error = ERR_peek_last_error();
        *bad = ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE;
        if (!*bad) {
            ERR_clear_error();
        }
    }
    return certificate;
}

/* Our certificate, then the others of its chain. */
static bool read_chain(SSL_CTX *ssl, BIO *in)
{
    bool bad = false;
    X509 *certificate = PEM_read_bio_X509(in, NULL, no_password, NULL);

    if (certificate == NULL || SSL_CTX_use_certificate(ssl, certificate) != 1) {
        X509_free(certificate);
        return false;
    }
    X509_free(certificate);
    while ((certificate = next_certificate(in, &bad)) != NULL) {
        if (SSL_CTX_add0_chain_cert(ssl, certificate) != 1) {
            X509_free(certificate);
            return false;
        }
    }
    return !bad;
}

static bool read_key(SSL_CTX *ssl, BIO *in)
{
    EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, no_password, NULL);
    bool done =
        key != NULL && SSL_CTX_use_PrivateKey(ssl, key) == 1 && SSL_CTX_check_private_key(ssl) == 1;

    EVP_PKEY_free(key);
    return done;
}

/* At least one. A client that is asked for its certificate is told of them. */
static bool read_authorities(SSL_CTX *ssl, BIO *in)
{
    X509_STORE *store = SSL_CTX_get_cert_store(ssl);
    size_t count = 0;
    bool bad = false;
    X509 *certificate;

    while ((certificate = next_certificate(in, &bad)) != NULL) {
        bool done = X509_STORE_add_cert(store, certificate) == 1 &&
                    SSL_CTX_add_client_CA(ssl, certificate) == 1;
        X509_free(certificate);
        if (!done) {
            return false;
        }
        count++;
    }
    return !bad && count > 0;
}

/* Reads one source by a function. name is what the log calls it when it is no file. */
static int read_pem(struct vd_tls_context *context, const struct vd_tls_config *config,
                    const struct vd_tls_pem *pem, const char *name,
                    bool (*reader)(SSL_CTX *ssl, BIO *in))
{
    name = name_of(pem, name);
    BIO *in = open_pem(pem);
    if (in == NULL) {
        int error = pem->file != NULL ? VD_ERR_SYSTEM : VD_ERR_NOMEM;
        vd__tls_log_config(config, error, name, NULL);
        return error;
    }
    bool done = reader(context->ssl, in);
    BIO_free(in);
    if (!done) {
        vd__tls_log_config(config, VD_ERR_SYNTAX, name, ERR_peek_error() != 0 ? NULL : "empty");
        return VD_ERR_SYNTAX;
    }
    return 0;
}

/* ---- Settings ---- */

static int refuse(const struct vd_tls_config *config, const char *name, const char *detail)
{
    vd__tls_log_config(config, VD_ERR_INVALID, name, detail);
    return VD_ERR_INVALID;
}

static int check(const struct vd_tls_config *config)
{
    const struct vd_tls_pem *sources[] = {&config->certificate, &config->key, &config->authorities};

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        if (sources[i]->file != NULL && sources[i]->text.n > 0) {
            return refuse(config, sources[i]->file, "there is a text in memory as well");
        }
        if (sources[i]->text.n > INT_MAX) {
            return refuse(config, "a text in memory", "it is too long");
        }
    }
    if (is_empty(&config->certificate) != is_empty(&config->key)) {
        return refuse(config, "certificate and key", "one is there without the other");
    }
    return 0;
}

static void pass_key_log(const SSL *ssl, const char *line)
{
    const struct vd_tls_context *context = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

    context->on_key_log(line, context->context);
}

static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    const struct vd__connection *connection = SSL_get_app_data(ssl);
    const struct vd__tls_state *state = vd__tls_state(connection);

    return state->host.n > 0 &&
           vd__tls_sessions_put(&vd__tls_endpoint(connection)->sessions, state->host, session);
}

static bool set_up(struct vd_tls_context *context)
{
    static const unsigned char name[] = "viaduct";
    SSL_CTX *ssl = context->ssl;

    (void)SSL_CTX_set_app_data(ssl, context);
    /* Where a message ends is said in the message, so an end without close_notify hides nothing. */
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_IGNORE_UNEXPECTED_EOF);
    /* What was not taken is offered again, but gathered anew; and an idle connection needs no
     * buffers. */
    SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(ssl, 1);
    /* Clients keep theirs by host (tls_session.c); servers put all of it into the ticket. */
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ssl, keep_session);
    SSL_CTX_set_keylog_callback(ssl, context->on_key_log != NULL ? pass_key_log : NULL);
    return SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(ssl, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_num_tickets(ssl, 1) == 1 &&
           SSL_CTX_set_session_id_context(ssl, name, sizeof name - 1) == 1;
}

static int configure(struct vd_tls_context *context, const struct vd_tls_config *config)
{
    int error = 0;

    if (config->ciphers != NULL && SSL_CTX_set_cipher_list(context->ssl, config->ciphers) != 1) {
        return refuse(config, "ciphers", NULL);
    }
    if (config->cipher_suites != NULL &&
        SSL_CTX_set_ciphersuites(context->ssl, config->cipher_suites) != 1) {
        return refuse(config, "cipher_suites", NULL);
    }
    if (context->has_certificate) {
        error = read_pem(context, config, &config->certificate, "certificate", read_chain);
        if (error == 0) {
            error = read_pem(context, config, &config->key, "key", read_key);
        }
    }
    if (error == 0 && !is_empty(&config->authorities)) {
        error = read_pem(context, config, &config->authorities, "authorities", read_authorities);
    } else if (error == 0 && SSL_CTX_set_default_verify_paths(context->ssl) != 1) {
        error = VD_ERR_NOMEM;
    }
    return error;
}

/* ---- Making and freeing ---- */

static struct vd_tls_context *allocate(const struct vd_tls_config *config)
{
    const struct vd_mem *mem = config->mem != NULL ? config->mem : vd_mem_default();
    struct vd_tls_context *made = mem->allocate(sizeof *made, mem->context);

    if (made == NULL) {
        return NULL;
    }
    *made = (struct vd_tls_context){
        .mem = *mem,
        .ssl = SSL_CTX_new(TLS_method()),
        .socket = vd__tls_socket_new(),
        .verify = config->verify,
        .has_certificate = !is_empty(&config->certificate),
        .client_certificate = config->client_certificate,
        .on_key_log = config->on_key_log,
        .context = config->context,
    };
    if (made->ssl == NULL || made->socket == NULL || !set_up(made)) {
        vd_tls_context_free(made);
        return NULL;
    }
    return made;
}

int vd_tls_context_new(struct vd_tls_context **out, const struct vd_tls_config *config)
{
    struct vd_tls_config defaults;

    *out = NULL;
    if (config == NULL) {
        vd_tls_config_init(&defaults);
        config = &defaults;
    }
    ERR_clear_error();
    int error = check(config);
    if (error != 0) {
        return error;
    }
    struct vd_tls_context *made = allocate(config);
    if (made == NULL) {
        return VD_ERR_NOMEM;
    }
    error = configure(made, config);
    ERR_clear_error();
    if (error != 0) {
        vd_tls_context_free(made);
        return error;
    }
    *out = made;
    return 0;
}

void vd_tls_context_free(struct vd_tls_context *context)
{
    if (context == NULL) {
        return;
    }
    struct vd_mem mem = context->mem;
    SSL_CTX_free(context->ssl);
    BIO_meth_free(context->socket);
    mem.release(context, sizeof *context, mem.context);
}
