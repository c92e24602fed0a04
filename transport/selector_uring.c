/* selector_uring.c - a selector on io_uring.
 *
 * Each descriptor has a poll request of one shot, which is made anew by the wait that follows a
 * report: a multishot request tells of changes only, and what was not read must be reported again.
 * The requests of a turn are submitted by the call that waits.
 *
 * Descriptors are found by number. A completion names the descriptor and the generation of its
 * request, so that one that comes late, after modify or remove, is known as such.
 *
 * SPDX-License-Identifier: MIT
 */
#include "selector.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "uring.h"

enum { NOBODY = -1, CAPACITY_FIRST = 64, FD_SHIFT = 3, GENERATION_SHIFT = 32 };

/* Where a descriptor stands. */
enum watch_state {
    ABSENT,
    QUEUED,  /* in the list of requests to be made */
    WAITING, /* the kernel has its request */
    FIRED    /* in the list of those to be reported */
};

struct watched {
    struct vd__source *source; /* NULL: was removed, and is taken off its list in passing */
    uint32_t generation;
    int next; /* in its list: a descriptor, or NOBODY */
    uint8_t interest;
    uint8_t readiness;
    uint8_t state;
};

/* A FIFO of descriptors. */
struct watched_list {
    int first;
    int last;
};

struct uring_selector {
    struct vd__selector selector;
    const struct vd_mem *mem;
    struct vd__uring uring;
    struct watched *table; /* by descriptor */
    size_t capacity;
    struct watched_list queued;
    struct watched_list fired;
};

static struct uring_selector *from_selector(struct vd__selector *selector)
{
    return (struct uring_selector *)selector;
}

/* ---- Lists ---- */

static void append(struct uring_selector *uring, struct watched_list *list, int fd)
{
    uring->table[fd].next = NOBODY;
    if (list->first == NOBODY) {
        list->first = fd;
    } else {
        uring->table[list->last].next = fd;
    }
    list->last = fd;
}

/* Takes the first one off the list; NOBODY when it is empty. */
static int take(struct uring_selector *uring, struct watched_list *list)
{
    int fd = list->first;

    if (fd != NOBODY) {
        list->first = uring->table[fd].next;
    }
    return fd;
}

/* ---- The table ---- */

static int reserve(struct uring_selector *uring, int fd)
{
    size_t capacity = uring->capacity > 0 ? uring->capacity : CAPACITY_FIRST;

    while (capacity <= (size_t)fd) {
        capacity *= 2;
    }
    if (capacity == uring->capacity) {
        return 0;
    }
    struct watched *table = uring->mem->allocate(capacity * sizeof *table, uring->mem->context);
    if (table == NULL) {
        errno = ENOMEM;
        return -1;
    }
    memset(table, 0, capacity * sizeof *table);
    if (uring->table != NULL) {
        memcpy(table, uring->table, uring->capacity * sizeof *table);
        uring->mem->release(uring->table, uring->capacity * sizeof *table, uring->mem->context);
    }
    uring->table = table;
    uring->capacity = capacity;
    return 0;
}

/* The entry of a source that is watched; NULL with errno when it is not. */
static struct watched *find(struct uring_selector *uring, const struct vd__source *source)
{
    if (source->fd >= 0 && (size_t)source->fd < uring->capacity &&
        uring->table[source->fd].source == source) {
        return &uring->table[source->fd];
    }
    errno = ENOENT;
    return NULL;
}

static uint64_t name_request(int fd, const struct watched *watched)
{
    return (uint64_t)watched->generation << GENERATION_SHIFT | (uint64_t)fd << FD_SHIFT |
           VD__URING_POLL;
}

/* Takes the request that the kernel has back. The file is closed for good only then, so it is done
 * at once. */
static void withdraw(struct uring_selector *uring, int fd, struct watched *watched)
{
    uint64_t name = name_request(fd, watched);
    struct io_uring_sqe *request = vd__uring_request(&uring->uring);

    /* Its completion may be among those that submitting brings. */
    watched->generation++;
    if (request != NULL) {
        io_uring_prep_poll_remove(request, name);
        io_uring_sqe_set_data64(request, VD__URING_IGNORED);
        io_uring_sqe_set_flags(request, IOSQE_CQE_SKIP_SUCCESS);
        (void)vd__uring_submit(&uring->uring);
    }
}

static void on_poll(void *context, uint64_t data, int result, unsigned flags)
{
    struct uring_selector *uring = context;
    int fd = (int)((uint32_t)data >> FD_SHIFT);
    struct watched *watched = &uring->table[fd];

    (void)flags;
    if (watched->state != WAITING || watched->generation != (uint32_t)(data >> GENERATION_SHIFT)) {
        return;
    }
    unsigned events = result >= 0 ? (unsigned)result : POLLERR;
    watched->readiness = 0;
    watched->readiness |= (events & POLLIN) != 0 ? VD__READABLE : 0;
    watched->readiness |= (events & POLLOUT) != 0 ? VD__WRITABLE : 0;
    watched->readiness |= (events & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? VD__FAULTY : 0;
    watched->state = FIRED;
    append(uring, &uring->fired, fd);
}

/* ---- The functions of a selector ---- */

static int uring_add(struct vd__selector *selector, struct vd__source *source, unsigned interest)
{
    struct uring_selector *uring = from_selector(selector);

    if (fcntl(source->fd, F_GETFD) < 0 || reserve(uring, source->fd) < 0) {
        return -1;
    }
    struct watched *watched = &uring->table[source->fd];
    if (watched->source != NULL) {
        errno = EEXIST;
        return -1;
    }
    watched->source = source;
    watched->interest = (uint8_t)interest;
    watched->generation++;
    if (watched->state != QUEUED) {
        /* In the list of those to be reported a removed one may still be: it has nothing to tell,
         * and is queued when it is met. */
        watched->readiness = 0;
        if (watched->state == ABSENT) {
            watched->state = QUEUED;
            append(uring, &uring->queued, source->fd);
        }
    }
    return 0;
}

static int uring_modify(struct vd__selector *selector, struct vd__source *source, unsigned interest)
{
    struct uring_selector *uring = from_selector(selector);
    struct watched *watched = find(uring, source);

    if (watched == NULL) {
        return -1;
    }
    if (watched->interest == interest) {
        return 0;
    }
    watched->interest = (uint8_t)interest;
    if (watched->state == WAITING) {
        withdraw(uring, source->fd, watched);
        watched->state = QUEUED;
        append(uring, &uring->queued, source->fd);
    }
    return 0;
}

static int uring_remove(struct vd__selector *selector, struct vd__source *source)
{
    struct uring_selector *uring = from_selector(selector);
    struct watched *watched = find(uring, source);

    if (watched == NULL) {
        return -1;
    }
    if (watched->state == WAITING) {
        withdraw(uring, source->fd, watched);
        watched->state = ABSENT;
    }
    watched->source = NULL;
    return 0;
}

static void queue_requests(struct uring_selector *uring)
{
    while (uring->queued.first != NOBODY) {
        int fd = take(uring, &uring->queued);
        struct watched *watched = &uring->table[fd];
        if (watched->source == NULL) {
            watched->state = ABSENT;
            continue;
        }
        struct io_uring_sqe *request = vd__uring_request(&uring->uring);
        if (request == NULL) {
            append(uring, &uring->queued, fd);
            uring->uring.busy = true;
            return;
        }
        unsigned events = 0;
        events |= (watched->interest & VD__READABLE) != 0 ? POLLIN : 0;
        events |= (watched->interest & VD__WRITABLE) != 0 ? POLLOUT : 0;
        watched->state = WAITING;
        io_uring_prep_poll_add(request, fd, events);
        io_uring_sqe_set_data64(request, name_request(fd, watched));
    }
}

/* Moves from the list of those that fired to out; what is not of interest any more only goes back
 * to those that wait. */
static size_t report(struct uring_selector *uring, struct vd__ready *out, size_t max)
{
    size_t count = 0;

    while (count < max && uring->fired.first != NOBODY) {
        int fd = take(uring, &uring->fired);
        struct watched *watched = &uring->table[fd];
        if (watched->source == NULL) {
            watched->state = ABSENT;
            continue;
        }
        unsigned readiness = watched->readiness & (watched->interest | VD__FAULTY);
        if (readiness != 0) {
            out[count++] = (struct vd__ready){watched->source, readiness};
        }
        watched->state = QUEUED;
        append(uring, &uring->queued, fd);
    }
    return count;
}

static int uring_wait(struct vd__selector *selector, struct vd__ready *out, size_t max,
                      vd_time timeout)
{
    struct uring_selector *uring = from_selector(selector);

    queue_requests(uring);
    if (uring->fired.first != NOBODY) {
        uring->uring.busy = true;
    }
    if (vd__uring_wait(&uring->uring, timeout) < 0) {
        return -1;
    }
    return (int)report(uring, out, max);
}

static void uring_free(struct vd__selector *selector)
{
    struct uring_selector *uring = from_selector(selector);
    const struct vd_mem *mem = uring->mem;

    vd__uring_free(&uring->uring);
    if (uring->table != NULL) {
        mem->release(uring->table, uring->capacity * sizeof *uring->table, mem->context);
    }
    mem->release(uring, sizeof *uring, mem->context);
}

static const struct vd__selector_ops uring_ops = {
    .add = uring_add,
    .modify = uring_modify,
    .remove = uring_remove,
    .wait = uring_wait,
    .free = uring_free,
};

struct vd__selector *vd__selector_uring_new(const struct vd_mem *mem, struct vd__uring **ring)
{
    struct uring_selector *uring = mem->allocate(sizeof *uring, mem->context);

    if (uring == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memset(uring, 0, sizeof *uring);
    if (vd__uring_init(&uring->uring) < 0) {
        int error = errno;
        mem->release(uring, sizeof *uring, mem->context);
        errno = error;
        return NULL;
    }
    uring->selector.ops = &uring_ops;
    uring->mem = mem;
    uring->queued = (struct watched_list){NOBODY, NOBODY};
    uring->fired = (struct watched_list){NOBODY, NOBODY};
    uring->uring.handlers[VD__URING_POLL] = (struct vd__uring_handler){on_poll, uring};
    *ring = &uring->uring;
    return &uring->selector;
}

/* EINVAL: a kernel that knows io_uring, but not these flags. */
bool vd__selector_uring_is_barred(int system_error)
{
    return system_error == ENOSYS || system_error == EPERM || system_error == EACCES ||
           system_error == EINVAL || system_error == EOPNOTSUPP;
}
