/* connection_time.c - what takes too long.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connection.h"

#include <errno.h>

/* An idle connection is closed once idle_time and at most this part of it more have passed, so that
 * its deadline is set anew no more often than once in that part. */
enum { IDLE_PARTS = 16 };

static void init_waits(struct vd__streams *streams)
{
    const struct vd_tcp_limits *limits = &streams->limits;
    struct vd__deadlines *waits = streams->waits;

    vd__deadlines_init(&waits[VD__WAIT_CONNECT], limits->connect_time);
    vd__deadlines_init(&waits[VD__WAIT_FIRST_MESSAGE], limits->first_message_time);
    vd__deadlines_init(&waits[VD__WAIT_MESSAGE], limits->message_time);
    vd__deadlines_init(&waits[VD__WAIT_LINGER], 2 * VD_SEC);
    vd__deadlines_init(&waits[VD__WAIT_SEND], limits->send_time);
    vd__deadlines_init(&waits[VD__WAIT_IDLE], limits->idle_time + limits->idle_time / IDLE_PARTS);
}

void vd__streams_limit(struct vd__streams *streams, const struct vd_tcp_limits *limits)
{
    streams->limits = *limits;
    init_waits(streams);
}

void vd__connection_active(struct vd__connection *connection)
{
    struct vd__streams *streams = vd__streams_of(connection);
    struct vd__deadlines *idle = &streams->waits[VD__WAIT_IDLE];
    vd_time now = streams->loop->now;

    if (now + idle->length - connection->idle.at >= streams->limits.idle_time / IDLE_PARTS) {
        vd__deadline_set(idle, &connection->idle, now);
    }
}

vd_time vd__streams_next_deadline(const struct vd__streams *streams)
{
    vd_time earliest = streams->resume_at;

    for (size_t i = 0; i < VD__WAITS; i++) {
        vd_time next = vd__deadlines_next(&streams->waits[i]);
        earliest = next < earliest ? next : earliest;
    }
    return earliest;
}

/* What becomes of a connection for which a deadline has passed. offset is the deadline's in the
 * connection. */
struct end {
    size_t offset;
    uint64_t *counter;
    int system_error;
    const char *text;
};

static void expire_one(struct vd__streams *streams, enum vd__stream_deadlines which,
                       const struct end *end)
{
    struct vd__deadlines *list = &streams->waits[which];

    while (vd__deadlines_next(list) <= streams->loop->now) {
        struct vd__connection *connection =
            (struct vd__connection *)((char *)vd__deadlines_first(list) - end->offset);
        if (end->counter != NULL) {
            ++*end->counter;
        }
        vd__connection_close(connection, VD_ERR_TRANSPORT, end->system_error, end->text);
    }
}

void vd__streams_expire(struct vd__streams *streams)
{
    struct vd_tcp_counters *counters = &streams->counters;
    size_t phase = offsetof(struct vd__connection, phase);

    expire_one(streams, VD__WAIT_CONNECT,
               &(struct end){phase, &counters->connect_timeouts, ETIMEDOUT,
                             "a connection could not be made in time"});
    expire_one(streams, VD__WAIT_FIRST_MESSAGE,
               &(struct end){phase, &counters->silent_timeouts, 0,
                             "a connection brought no message in time"});
    expire_one(
        streams, VD__WAIT_MESSAGE,
        &(struct end){phase, &counters->message_timeouts, 0, "a message was not complete in time"});
    expire_one(streams, VD__WAIT_LINGER, &(struct end){phase, NULL, 0, NULL});
    expire_one(streams, VD__WAIT_SEND,
               &(struct end){offsetof(struct vd__connection, send), &counters->send_timeouts, 0,
                             "a peer takes no bytes"});
    expire_one(streams, VD__WAIT_IDLE,
               &(struct end){offsetof(struct vd__connection, idle), &counters->idle_timeouts, 0,
                             "a connection was idle"});
}
