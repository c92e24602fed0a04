/* tls_verify.c - whether a peer is who it should be (RFC 5922 7.3, 7.4, RFC 5923 8.2).
 *
 * SPDX-License-Identifier: MIT
 */
#include "tls_internal.h"

int vd__tls_verify(int good, X509_STORE_CTX *store)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    const struct vd__connection *connection = SSL_get_app_data(ssl);
    const struct vd__tls_state *state = vd__tls_state(connection);
    const X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    const char *reason = NULL;

    if (good == 0) {
        reason = X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
    } else if (X509_STORE_CTX_get_error_depth(store) == 0 && state->host.n > 0) {
        reason = vd__tls_identity_refuses(certificate, state->host);
        if (reason != NULL) {
            X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
        }
    }
    if (reason != NULL) {
        vd__tls_log_refusal(connection, certificate, reason);
    }
    return reason == NULL;
}

struct vd_str vd__tls_expected(const struct vd__tls_endpoint *endpoint, const struct vd_addr *addr,
                               char text[VD_ADDR_TEXT_SIZE])
{
    struct vd_str given = vd__tls_names_host(&endpoint->names, addr);

    if (given.n == 0) {
        given = endpoint->peer_name;
    }
    return given.n > 0 ? given : vd_str(text, vd_addr_format_ip(addr, text));
}

bool vd__tls_peer_names(const struct vd__connection *connection, struct vd_str host)
{
    const struct vd__tls_state *state = vd__tls_state(connection);

    if (state == NULL || !state->verified) {
        return false;
    }
    const X509 *certificate = SSL_get0_peer_certificate(state->ssl);
    return certificate != NULL && vd__tls_identity_refuses(certificate, host) == NULL;
}

bool vd__tls_serves(const struct vd__connection *connection, const struct vd_addr *addr)
{
    const struct vd__tls_endpoint *endpoint = vd__tls_endpoint(connection);
    const struct vd__tls_state *state = vd__tls_state(connection);
    char text[VD_ADDR_TEXT_SIZE];

    if (!endpoint->context->verify) {
        return true;
    }
    struct vd_str expected = vd__tls_expected(endpoint, addr, text);
    if (state->host.n > 0 && vd__tls_same_host(state->host, expected)) {
        return true; /* it was verified for it, or will be before anything is sent */
    }
    return vd__tls_peer_names(connection, expected);
}
