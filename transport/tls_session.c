/* tls_session.c - sessions to be resumed with the hosts that we connect to (RFC 8446 2.2, RFC 5246
 * 7.3).
 *
 * A session was made with a peer that was verified for its host. So it is offered to that host
 * only, and only by the endpoint that made it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tls_internal.h"

struct vd__tls_session {
    struct vd__tls_session *next;
    SSL_SESSION *session;
    struct vd_str host;
};

/* Where the session with a host hangs; NULL hangs there when there is none. */
static struct vd__tls_session **place_of(struct vd__tls_sessions *sessions, struct vd_str host)
{
    struct vd__tls_session **at = &sessions->first;

    while (*at != NULL && !vd_str_case_equal((*at)->host, host)) {
        at = &(*at)->next;
    }
    return at;
}

static struct vd__tls_session *unlink_at(struct vd__tls_sessions *sessions,
                                         struct vd__tls_session **at)
{
    struct vd__tls_session *found = *at;

    *at = found->next;
    sessions->count--;
    return found;
}

static void link_first(struct vd__tls_sessions *sessions, struct vd__tls_session *session)
{
    session->next = sessions->first;
    sessions->first = session;
    sessions->count++;
}

static void release(struct vd__tls_sessions *sessions, struct vd__tls_session *session)
{
    SSL_SESSION_free(session->session);
    vd__tls_release(sessions->loop, session->host);
    vd__loop_release(sessions->loop, session, sizeof *session);
}

SSL_SESSION *vd__tls_sessions_take(struct vd__tls_sessions *sessions, struct vd_str host)
{
    struct vd__tls_session **at = place_of(sessions, host);

    if (*at == NULL) {
        return NULL;
    }
    struct vd__tls_session *found = unlink_at(sessions, at);
    SSL_SESSION *session = found->session;
    bool usable = SSL_SESSION_is_resumable(session) == 1;
    (void)SSL_SESSION_up_ref(session);
    if (usable && SSL_SESSION_get_protocol_version(session) < TLS1_3_VERSION) {
        link_first(sessions, found);
    } else {
        /* A ticket of TLS 1.3 is used once, lest connections can be told to belong together (RFC
         * 8446 C.4). Each connection brings a new one. */
        release(sessions, found);
    }
    if (!usable) {
        SSL_SESSION_free(session);
        return NULL;
    }
    return session;
}

bool vd__tls_sessions_put(struct vd__tls_sessions *sessions, struct vd_str host,
                          SSL_SESSION *session)
{
    struct vd__tls_session *kept;
    struct vd__tls_session **at = place_of(sessions, host);

    if (sessions->max == 0) {
        return false;
    }
    if (*at != NULL) {
        kept = unlink_at(sessions, at);
        SSL_SESSION_free(kept->session);
    } else {
        kept = vd__loop_allocate(sessions->loop, sizeof *kept);
        if (kept == NULL || !vd__tls_copy(sessions->loop, host, &kept->host)) {
            vd__loop_release(sessions->loop, kept, sizeof *kept);
            return false;
        }
    }
    kept->session = session;
    link_first(sessions, kept);
    if (sessions->count > sessions->max) {
        at = &sessions->first;
        while ((*at)->next != NULL) {
            at = &(*at)->next;
        }
        release(sessions, unlink_at(sessions, at));
    }
    return true;
}

void vd__tls_sessions_free(struct vd__tls_sessions *sessions)
{
    while (sessions->first != NULL) {
        release(sessions, unlink_at(sessions, &sessions->first));
    }
}
