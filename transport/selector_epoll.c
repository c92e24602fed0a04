/* selector_epoll.c - a selector on epoll.
 *
 * SPDX-License-Identifier: MIT
 */
#include "selector.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_MAX = 512 };

struct epoll_selector {
    struct vd__selector selector;
    const struct vd_mem *mem;
    int fd;
    bool coarse; /* there is no epoll_pwait2: waits are whole milliseconds */
    struct epoll_event events[EVENTS_MAX];
};

static struct epoll_selector *from_selector(struct vd__selector *selector)
{
    return (struct epoll_selector *)selector;
}

static int control(struct vd__selector *selector, int operation, struct vd__source *source,
                   unsigned interest)
{
    struct epoll_event event = {.data.ptr = source};

    event.events |= (interest & VD__READABLE) != 0 ? EPOLLIN : 0;
    event.events |= (interest & VD__WRITABLE) != 0 ? EPOLLOUT : 0;
    return epoll_ctl(from_selector(selector)->fd, operation, source->fd, &event);
}

static int epoll_add(struct vd__selector *selector, struct vd__source *source, unsigned interest)
{
    return control(selector, EPOLL_CTL_ADD, source, interest);
}

static int epoll_modify(struct vd__selector *selector, struct vd__source *source, unsigned interest)
{
    return control(selector, EPOLL_CTL_MOD, source, interest);
}

static int epoll_remove(struct vd__selector *selector, struct vd__source *source)
{
    return control(selector, EPOLL_CTL_DEL, source, 0);
}

/* Rounded up: a wait that ended before its time would be followed by another one, at full speed. */
static int to_milliseconds(vd_time timeout)
{
    if (timeout == VD_TIME_NEVER) {
        return -1;
    }
    vd_time milliseconds = timeout / VD_MSEC + (timeout % VD_MSEC != 0);
    return milliseconds < INT_MAX ? (int)milliseconds : INT_MAX;
}

static int wait_for_events(struct epoll_selector *epoll, int max, vd_time timeout)
{
    if (!epoll->coarse && timeout != 0 && timeout != VD_TIME_NEVER) {
        struct timespec time = {
            .tv_sec = (time_t)(timeout / VD_SEC),
            .tv_nsec = (long)(timeout % VD_SEC) * 1000,
        };
        int count = epoll_pwait2(epoll->fd, epoll->events, max, &time, NULL);
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) {
            return count;
        }
        /* Linux before 5.11, or a container whose filter does not know it. */
        epoll->coarse = true;
    }
    return epoll_wait(epoll->fd, epoll->events, max, to_milliseconds(timeout));
}

static int epoll_wait_ready(struct vd__selector *selector, struct vd__ready *out, size_t max,
                            vd_time timeout)
{
    struct epoll_selector *epoll = from_selector(selector);
    int count = wait_for_events(epoll, max < EVENTS_MAX ? (int)max : EVENTS_MAX, timeout);

    if (count < 0) {
        return errno == EINTR ? 0 : -1;
    }
    for (int i = 0; i < count; i++) {
        uint32_t events = epoll->events[i].events;
        unsigned readiness = 0;
        readiness |= (events & EPOLLIN) != 0 ? VD__READABLE : 0;
        readiness |= (events & EPOLLOUT) != 0 ? VD__WRITABLE : 0;
        readiness |= (events & (EPOLLERR | EPOLLHUP)) != 0 ? VD__FAULTY : 0;
        out[i] = (struct vd__ready){epoll->events[i].data.ptr, readiness};
    }
    return count;
}

static void epoll_free(struct vd__selector *selector)
{
    struct epoll_selector *epoll = from_selector(selector);

    close(epoll->fd);
    epoll->mem->release(epoll, sizeof *epoll, epoll->mem->context);
}

static const struct vd__selector_ops epoll_ops = {
    .add = epoll_add,
    .modify = epoll_modify,
    .remove = epoll_remove,
    .wait = epoll_wait_ready,
    .free = epoll_free,
};

struct vd__selector *vd__selector_epoll_new(const struct vd_mem *mem)
{
    struct epoll_selector *epoll = mem->allocate(sizeof *epoll, mem->context);

    if (epoll == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    epoll->selector.ops = &epoll_ops;
    epoll->mem = mem;
    epoll->coarse = false;
    epoll->fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll->fd < 0) {
        int error = errno;
        mem->release(epoll, sizeof *epoll, mem->context);
        errno = error;
        return NULL;
    }
    return &epoll->selector;
}
