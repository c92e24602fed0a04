/* tls_side.c - a stack with a TLS endpoint on the loopback interface, and raw peers of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tls_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>

#include "loop_internal.h"

enum { PLAIN_MAX = 1 << 20 };

/* ---- A side ---- */

static void on_log(const struct vd_log_event *event, void *context)
{
    struct tls_side *side = context;

    if (event->level != VD_LOG_WARNING) {
        return;
    }
    side->warnings++;
    snprintf(side->warning, sizeof side->warning, "%s", event->text);
    snprintf(side->warning_data, sizeof side->warning_data, "%.*s", (int)event->data.n,
             event->data.p);
}

bool tls_side_init(struct tls_side *side)
{
    memset(side, 0, sizeof *side);
    vd_tls_config_init(&side->config);
    vd_tls_options_init(&side->options);
    if (!tcp_side_init(&side->tcp)) {
        return false;
    }
    side->tcp.loop->config.log = on_log;
    side->tcp.loop->config.log_context = side;
    side->config.mem = &side->tcp.loop_mem.mem;
    return true;
}

void tls_side_trust(struct tls_side *side, const struct tls_certificate *own,
                    const struct tls_certificate *authority)
{
    if (own != NULL) {
        side->config.certificate.text = vd_str_from(own->certificate_pem);
        side->config.key.text = vd_str_from(own->key_pem);
    }
    if (authority != NULL) {
        side->config.authorities.text = vd_str_from(authority->certificate_pem);
    }
}

bool tls_side_open(struct tls_side *side)
{
    struct vd_addr bind = raw_loopback();
    struct tcp_side *tcp = &side->tcp;

    side->options.tcp.listen = side->config.certificate.text.n > 0;
    if (!side->options.tcp.listen) {
        side->options.tcp.sent_by = VD_STR("client.example.com");
    }
    return vd_tls_context_new(&side->context, &side->config) == 0 &&
           vd_tls_open(tcp->loop, tcp->stack, &bind, side->context, &side->options,
                       &tcp->endpoint) == 0 &&
           vd_tls_local_addr(tcp->loop, tcp->stack, tcp->endpoint, &tcp->addr) == 0;
}

bool tls_side_free(struct tls_side *side)
{
    struct tcp_side *tcp = &side->tcp;

    vd_loop_free(tcp->loop);
    vd_stack_free(tcp->stack);
    vd_tls_context_free(side->context);
    return counting_mem_is_clean(&tcp->loop_mem) && counting_mem_is_clean(&tcp->stack_mem);
}

bool tls_side_expect(struct tls_side *client, const struct tls_side *server, const char *host)
{
    return vd_tls_expect_name(client->tcp.loop, client->tcp.stack, client->tcp.endpoint,
                              &server->tcp.addr, vd_str_from(host)) == 0;
}

struct vd_tls_counters tls_side_counters(const struct tls_side *side)
{
    struct vd_tls_counters counters;

    vd_tls_get_counters(side->tcp.loop, &counters);
    return counters;
}

/* ---- A raw peer ---- */

SSL_CTX *tls_peer_context(const struct tls_certificate *own)
{
    SSL_CTX *context = SSL_CTX_new(TLS_method());

    if (own != NULL && (SSL_CTX_use_certificate(context, own->certificate) != 1 ||
                        SSL_CTX_use_PrivateKey(context, own->key) != 1)) {
        SSL_CTX_free(context);
        return NULL;
    }
    return context;
}

static bool set_up(struct tls_peer *peer, SSL_CTX *context)
{
    peer->ssl = SSL_new(context);
    peer->in = BIO_new(BIO_s_mem());
    peer->out = BIO_new(BIO_s_mem());
    peer->plain = calloc(1, PLAIN_MAX);
    if (peer->ssl == NULL || peer->in == NULL || peer->out == NULL || peer->plain == NULL) {
        return false;
    }
    SSL_set_bio(peer->ssl, peer->in, peer->out);
    return true;
}

/* What has come from the wire goes to OpenSSL. */
static void take(struct tls_peer *peer)
{
    raw_read(&peer->raw);
    if (peer->raw.size > 0) {
        BIO_write(peer->in, peer->raw.bytes, (int)peer->raw.size);
        raw_forget(&peer->raw);
    }
}

static bool shake_hands(struct tls_peer *peer, struct tls_side *side)
{
    for (int i = 0; i < TCP_TURNS_MAX; i++) {
        ERR_clear_error();
        int returned = SSL_do_handshake(peer->ssl);
        if (returned == 1) {
            return true;
        }
        if (SSL_get_error(peer->ssl, returned) != SSL_ERROR_WANT_READ || peer->raw.ended) {
            return false;
        }
        if (!tls_peer_flush(peer, side)) {
            return false;
        }
        (void)vd_loop_run_once(side->tcp.loop, 0);
        take(peer);
    }
    return false;
}

bool tls_peer_connect(struct tls_peer *peer, SSL_CTX *context, struct tls_side *side)
{
    memset(peer, 0, sizeof *peer);
    if (!raw_connect(&peer->raw, &side->tcp.addr) || !set_up(peer, context)) {
        return false;
    }
    SSL_set_connect_state(peer->ssl);
    return shake_hands(peer, side);
}

bool tls_peer_accept(struct tls_peer *peer, SSL_CTX *context, int listener, struct tls_side *side)
{
    memset(peer, 0, sizeof *peer);
    if (!raw_accept(&peer->raw, listener, &side->tcp) || !set_up(peer, context)) {
        return false;
    }
    SSL_set_accept_state(peer->ssl);
    return shake_hands(peer, side) && tls_peer_flush(peer, side);
}

bool tls_peer_write(struct tls_peer *peer, const char *bytes, size_t size)
{
    return SSL_write(peer->ssl, bytes, (int)size) == (int)size;
}

bool tls_peer_flush(struct tls_peer *peer, struct tls_side *side)
{
    char *bytes;
    long size = BIO_get_mem_data(peer->out, &bytes);
    bool done = size == 0 || raw_write(&peer->raw, &side->tcp, bytes, (size_t)size);

    (void)BIO_reset(peer->out);
    return done;
}

void tls_peer_read(struct tls_peer *peer)
{
    take(peer);
    for (;;) {
        ERR_clear_error();
        int size = SSL_read(peer->ssl, peer->plain + peer->size, (int)(PLAIN_MAX - 1 - peer->size));
        if (size <= 0) {
            int error = SSL_get_error(peer->ssl, size);
            peer->ended = peer->ended || error != SSL_ERROR_WANT_READ;
            return;
        }
        peer->size += (size_t)size;
        peer->plain[peer->size] = '\0';
    }
}

static unsigned count_of(const struct tls_peer *peer, const char *text)
{
    unsigned count = 0;

    for (const char *at = strstr(peer->plain, text); at != NULL; at = strstr(at + 1, text)) {
        count++;
    }
    return count;
}

bool tls_peer_until(struct tls_peer *peer, struct tls_side *side, const char *text, unsigned count)
{
    for (int i = 0; i < TCP_TURNS_MAX; i++) {
        tls_peer_read(peer);
        if (count_of(peer, text) >= count) {
            return true;
        }
        if (peer->ended || peer->raw.ended) {
            return false;
        }
        (void)vd_loop_run_once(side->tcp.loop, VD_MSEC);
    }
    return false;
}

bool tls_peer_until_ended(struct tls_peer *peer, struct tls_side *side)
{
    for (int i = 0; i < TCP_TURNS_MAX; i++) {
        tls_peer_read(peer);
        if (peer->ended || peer->raw.ended) {
            return true;
        }
        (void)vd_loop_run_once(side->tcp.loop, VD_MSEC);
    }
    return false;
}

void tls_peer_close(struct tls_peer *peer)
{
    SSL_free(peer->ssl);
    free(peer->plain);
    raw_close(&peer->raw);
}
