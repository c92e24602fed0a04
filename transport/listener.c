/* listener.c - accepts connections, a bounded number a turn, and waits when it may not.
 *
 * When there is no file descriptor left the kernel keeps reporting a connection that cannot be
 * accepted. The selector is then no longer asked about this listener until a descriptor was freed,
 * or some time has passed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connection.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "udp_internal.h"
#include "system_error.h"

enum { BATCH = 64 };

/* Descriptors that others in the process free are not told of. */
#define RETRY_AFTER (200 * VD_MSEC)

static void log_refusal(const struct vd__stream_endpoint *listener, const struct vd_addr *remote,
                        int error, const char *text)
{
    struct vd_flow flow = {.endpoint = listener->number, .remote = *remote};

    vd__loop_log(listener->streams->loop, &(struct vd_log_event){
                                              .level = VD_LOG_NOTICE,
                                              .error = error,
                                              .text = text,
                                              .flow = &flow,
                                          });
}

/* ---- Pausing ---- */

static void pause_listener(struct vd__stream_endpoint *listener, int system_error)
{
    struct vd__streams *streams = listener->streams;
    struct vd__selector *selector = streams->loop->selector;

    vd__loop_log(streams->loop, &(struct vd_log_event){
                                    .level = VD_LOG_WARNING,
                                    .error = vd__error_of_open(system_error),
                                    .system_error = system_error,
                                    .text = "a listener waits: no connection can be accepted",
                                });
    streams->counters.accept_paused++;
    if (listener->paused || selector->ops->modify(selector, &listener->source, 0) < 0) {
        return;
    }
    listener->paused = true;
    listener->next_paused = NULL;
    if (streams->paused_first == NULL) {
        streams->paused_first = listener;
        streams->resume_at = streams->loop->now + RETRY_AFTER;
    } else {
        streams->paused_last->next_paused = listener;
    }
    streams->paused_last = listener;
}

/* Returns false when the selector refuses; the listener then waits on. */
static bool resume_first(struct vd__streams *streams)
{
    struct vd__selector *selector = streams->loop->selector;
    struct vd__stream_endpoint *listener = streams->paused_first;

    if (selector->ops->modify(selector, &listener->source, VD__READABLE) < 0) {
        return false;
    }
    listener->paused = false;
    streams->paused_first = listener->next_paused;
    return true;
}

void vd__listeners_resume(struct vd__streams *streams)
{
    bool all = streams->resume_at <= streams->loop->now;
    uint32_t count = streams->freed_descriptors;

    streams->freed_descriptors = 0;
    while (streams->paused_first != NULL && (all || count > 0)) {
        if (!resume_first(streams)) {
            streams->resume_at = streams->loop->now + RETRY_AFTER;
            return;
        }
        count -= count > 0;
    }
    if (streams->paused_first == NULL) {
        streams->resume_at = VD_TIME_NEVER;
    }
}

/* ---- Accepting ---- */

/* Whether the limits leave room for a connection from remote; *origin counts it then. */
static bool may_enter(struct vd__stream_endpoint *listener, const struct vd_addr *remote,
                      struct vd__origin **origin)
{
    struct vd__streams *streams = listener->streams;
    const struct vd_tcp_limits *limits = &streams->limits;

    *origin = vd__origin_enter(&streams->origins, remote);
    if (*origin == NULL) {
        log_refusal(listener, remote, VD_ERR_NOMEM, "no memory for a connection");
        return false;
    }
    if (limits->connections_per_source != 0 &&
        (*origin)->connections > limits->connections_per_source) {
        streams->counters.refused_per_source++;
        log_refusal(listener, remote, VD_ERR_OVERLOAD, "too many connections from one source");
        return false;
    }
    if (streams->counters.connections >= limits->connections && !vd__connection_evict(streams)) {
        streams->counters.refused_total++;
        log_refusal(listener, remote, VD_ERR_OVERLOAD, "too many connections");
        return false;
    }
    return true;
}

static void take_connection(struct vd__stream_endpoint *listener, int fd,
                            const struct vd_addr *remote)
{
    struct vd__streams *streams = listener->streams;
    struct vd__origin *origin;

    if (!may_enter(listener, remote, &origin)) {
        vd__origin_leave(&streams->origins, origin);
        close(fd);
        return;
    }
    struct vd__connection *made = vd__connection_new(listener, fd, remote, false);
    if (made == NULL) {
        vd__origin_leave(&streams->origins, origin);
        log_refusal(listener, remote, VD_ERR_NOMEM, "no memory for a connection");
        return;
    }
    streams->counters.accepted++;
    made->origin = origin;
    made->awaits_first = true;
    vd__deadline_set(&streams->waits[VD__WAIT_FIRST_MESSAGE], &made->phase, streams->loop->now);
    vd__connection_progress(made);
}

/* The kernel looks for a descriptor first, and only then for a connection. */
static bool has_waiting(const struct vd__stream_endpoint *listener)
{
    struct pollfd watched = {.fd = listener->source.fd, .events = POLLIN};

    return poll(&watched, 1, 0) == 1;
}

/* What is to be done about a failure to accept: true to go on, false to end for this turn. */
static bool accept_failed(struct vd__stream_endpoint *listener, int system_error)
{
    switch (system_error) {
    case EAGAIN:
        return false;
    case EMFILE:
    case ENFILE:
        if (!has_waiting(listener)) {
            return false;
        }
        if (vd__connection_evict(listener->streams)) {
            return true;
        }
        break;
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case EPERM:
        /* It concerns that one connection, which is gone. */
        return true;
    default:
        break;
    }
    pause_listener(listener, system_error);
    return false;
}

void vd__listener_ready(struct vd__source *source, unsigned readiness)
{
    struct vd__stream_endpoint *listener = (struct vd__stream_endpoint *)source;

    (void)readiness;
    for (int i = 0; i < BATCH; i++) {
        union vd__sockaddr sockaddr;
        struct vd_addr remote;
        socklen_t length = sizeof sockaddr;
        int fd = accept4(source->fd, &sockaddr.any, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            vd__sockaddr_to_addr(&remote, &sockaddr, length);
            take_connection(listener, fd, &remote);
        } else if (!accept_failed(listener, errno)) {
            return;
        }
    }
}
