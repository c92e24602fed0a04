/* uring.h - the io_uring of a loop, for selector_uring.c and udp_uring.c.
 *
 * Both submit to one ring, so that one system call a turn submits everything and waits. The ring
 * takes Linux 6.1 or later: single issuer, task work deferred to the wait, multishot recvmsg,
 * provided buffer rings, send to an address.
 *
 * It belongs to the thread that submits first, and is not submitted to before: a loop may be made
 * in another thread than the one that runs it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_URING_H
#define VIADUCT_TRANSPORT_URING_H

#include <liburing.h>

#include <viaduct/base.h>

/* What a request is for: the low bits of its user_data, the others being the owner's. */
enum vd__uring_kind {
    VD__URING_IGNORED, /* nobody asks for the result */
    VD__URING_POLL,
    VD__URING_RECEIVE,
    VD__URING_SEND,
    VD__URING_KINDS
};

enum { VD__URING_KIND_MASK = 7 };

/* Is given each completion of a kind, data without the kind. It must not submit. */
struct vd__uring_handler {
    void (*handle)(void *context, uint64_t data, int result, unsigned flags);
    void *context;
};

struct vd__uring {
    struct io_uring ring;
    struct vd__uring_handler handlers[VD__URING_KINDS];
    bool enabled;
    /* Something is left for the next turn, so that the next wait must not block. */
    bool busy;
};

/* Makes the ring. Returns 0 or -1 with errno. */
int vd__uring_init(struct vd__uring *uring);
void vd__uring_free(struct vd__uring *uring);

/* A request to be filled in; what fills up the submission queue is submitted before. NULL when the
 * kernel takes nothing for now. */
struct io_uring_sqe *vd__uring_request(struct vd__uring *uring);

/* True when everything was submitted. */
bool vd__uring_all_submitted(const struct vd__uring *uring);

/* Submits without waiting and handles what has completed. Returns 0 or -1 with errno. */
int vd__uring_submit(struct vd__uring *uring);

/* Submits, waits until something completes or timeout microseconds have passed, and handles what
 * has completed. A signal ends the wait. Returns 0 or -1 with errno. */
int vd__uring_wait(struct vd__uring *uring, vd_time timeout);

#endif
