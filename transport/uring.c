/* uring.c - the io_uring of a loop.
 *
 * SPDX-License-Identifier: MIT
 */
#include "uring.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SUBMISSIONS = 1024,
    /* What does not fit the kernel keeps in a list, which costs time but loses nothing. */
    COMPLETIONS = 8192
};

int vd__uring_init(struct vd__uring *uring)
{
    struct io_uring_params params = {
        .flags = IORING_SETUP_R_DISABLED | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER |
                 IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
        .cq_entries = COMPLETIONS,
    };

    memset(uring, 0, sizeof *uring);
    int error = io_uring_queue_init_params(SUBMISSIONS, &uring->ring, &params);
    if (error < 0) {
        errno = -error;
        return -1;
    }
    return 0;
}

void vd__uring_free(struct vd__uring *uring)
{
    io_uring_queue_exit(&uring->ring);
}

/* Makes the calling thread the one that submits. liburing 2.3 declares a function for it and does
 * not export it. */
static int enable(struct vd__uring *uring)
{
    if (!uring->enabled) {
        if (syscall(SYS_io_uring_register, uring->ring.ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL,
                    0) < 0) {
            return -errno;
        }
        uring->enabled = true;
    }
    return 0;
}

bool vd__uring_all_submitted(const struct vd__uring *uring)
{
    return io_uring_sq_ready(&uring->ring) == 0;
}

struct io_uring_sqe *vd__uring_request(struct vd__uring *uring)
{
    struct io_uring_sqe *request = io_uring_get_sqe(&uring->ring);

    if (request == NULL && enable(uring) == 0) {
        (void)io_uring_submit(&uring->ring);
        request = io_uring_get_sqe(&uring->ring);
    }
    return request;
}

static void handle_completions(struct vd__uring *uring)
{
    struct io_uring_cqe *completion;
    unsigned head;
    unsigned count = 0;

    io_uring_for_each_cqe(&uring->ring, head, completion)
    {
        uint64_t data = completion->user_data;
        const struct vd__uring_handler *handler = &uring->handlers[data & VD__URING_KIND_MASK];
        if (handler->handle != NULL) {
            handler->handle(handler->context, data & ~(uint64_t)VD__URING_KIND_MASK,
                            completion->res, completion->flags);
        }
        count++;
    }
    io_uring_cq_advance(&uring->ring, count);
}

/* EBUSY and EAGAIN: the kernel wants completions to be taken, or is short of memory; what it has
 * not taken is submitted the next time. */
static int finish(struct vd__uring *uring, int result)
{
    handle_completions(uring);
    while (io_uring_cq_has_overflow(&uring->ring) && io_uring_get_events(&uring->ring) >= 0) {
        handle_completions(uring);
    }
    if (result == -EBUSY || result == -EAGAIN) {
        uring->busy = true;
        return 0;
    }
    if (result < 0 && result != -ETIME && result != -EINTR) {
        errno = -result;
        return -1;
    }
    return 0;
}

int vd__uring_submit(struct vd__uring *uring)
{
    int result = enable(uring);

    if (result == 0) {
        result = io_uring_submit_and_get_events(&uring->ring);
    }
    return finish(uring, result);
}

int vd__uring_wait(struct vd__uring *uring, vd_time timeout)
{
    struct io_uring_cqe *completion;
    struct __kernel_timespec time = {
        .tv_sec = (int64_t)(timeout / VD_SEC),
        .tv_nsec = (int64_t)(timeout % VD_SEC) * 1000,
    };

    if (uring->busy || timeout == 0) {
        uring->busy = false;
        return vd__uring_submit(uring);
    }
    int result = enable(uring);
    if (result == 0) {
        result = io_uring_submit_and_wait_timeout(&uring->ring, &completion, 1,
                                                  timeout != VD_TIME_NEVER ? &time : NULL, NULL);
    }
    return finish(uring, result);
}
