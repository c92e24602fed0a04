/* selector_poll.c - a selector on poll(2): to compare, and for few descriptors.
 *
 * SPDX-License-Identifier: MIT
 */
#include "selector.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>

enum { CAPACITY_FIRST = 64 };

struct poll_selector {
    struct vd__selector selector;
    const struct vd_mem *mem;
    /* What is watched, without gaps, and whose it is. */
    struct pollfd *polled;
    struct vd__source **sources;
    size_t count;
    size_t capacity;
    size_t next; /* where the search for what is ready begins, so that all get their turn */
    /* By descriptor, one more than where it is; 0 for nowhere. */
    uint32_t *places;
    size_t place_capacity;
};

static struct poll_selector *from_selector(struct vd__selector *selector)
{
    return (struct poll_selector *)selector;
}

/* ---- Memory ---- */

/* Makes *array larger, the new part zeroed. */
static bool grow(const struct vd_mem *mem, void **array, size_t size, size_t capacity,
                 size_t new_capacity)
{
    char *grown = mem->allocate(new_capacity * size, mem->context);

    if (grown == NULL) {
        errno = ENOMEM;
        return false;
    }
    memset(grown, 0, new_capacity * size);
    if (*array != NULL) {
        memcpy(grown, *array, capacity * size);
        mem->release(*array, capacity * size, mem->context);
    }
    *array = grown;
    return true;
}

static int reserve_place(struct poll_selector *poller, int fd)
{
    size_t capacity = poller->place_capacity > 0 ? poller->place_capacity : CAPACITY_FIRST;
    void *places = poller->places;

    while (capacity <= (size_t)fd) {
        capacity *= 2;
    }
    if (capacity == poller->place_capacity) {
        return 0;
    }
    if (!grow(poller->mem, &places, sizeof *poller->places, poller->place_capacity, capacity)) {
        return -1;
    }
    poller->places = places;
    poller->place_capacity = capacity;
    return 0;
}

static int reserve_entry(struct poll_selector *poller)
{
    size_t capacity = poller->capacity > 0 ? poller->capacity * 2 : CAPACITY_FIRST;
    void *polled = poller->polled;
    void *sources = NULL;

    if (poller->count < poller->capacity) {
        return 0;
    }
    if (!grow(poller->mem, &sources, sizeof *poller->sources, 0, capacity)) {
        return -1;
    }
    if (!grow(poller->mem, &polled, sizeof *poller->polled, poller->capacity, capacity)) {
        poller->mem->release(sources, capacity * sizeof *poller->sources, poller->mem->context);
        return -1;
    }
    if (poller->sources != NULL) {
        size_t size = poller->capacity * sizeof *poller->sources;
        memcpy(sources, poller->sources, size);
        poller->mem->release(poller->sources, size, poller->mem->context);
    }
    poller->polled = polled;
    poller->sources = sources;
    poller->capacity = capacity;
    return 0;
}

/* ---- The functions of a selector ---- */

static short events_of(unsigned interest)
{
    short events = 0;

    events |= (interest & VD__READABLE) != 0 ? POLLIN : 0;
    events |= (interest & VD__WRITABLE) != 0 ? POLLOUT : 0;
    return events;
}

/* Where the source is; poller->count, with errno, when it is not watched. */
static size_t find(const struct poll_selector *poller, const struct vd__source *source)
{
    if (source->fd >= 0 && (size_t)source->fd < poller->place_capacity &&
        poller->places[source->fd] != 0 &&
        poller->sources[poller->places[source->fd] - 1] == source) {
        return poller->places[source->fd] - 1;
    }
    errno = ENOENT;
    return poller->count;
}

static int poll_add(struct vd__selector *selector, struct vd__source *source, unsigned interest)
{
    struct poll_selector *poller = from_selector(selector);

    if (fcntl(source->fd, F_GETFD) < 0 || reserve_place(poller, source->fd) < 0 ||
        reserve_entry(poller) < 0) {
        return -1;
    }
    if (poller->places[source->fd] != 0) {
        errno = EEXIST;
        return -1;
    }
    poller->polled[poller->count] =
        (struct pollfd){.fd = source->fd, .events = events_of(interest)};
    poller->sources[poller->count] = source;
    poller->places[source->fd] = (uint32_t)++poller->count;
    return 0;
}

static int poll_modify(struct vd__selector *selector, struct vd__source *source, unsigned interest)
{
    struct poll_selector *poller = from_selector(selector);
    size_t place = find(poller, source);

    if (place == poller->count) {
        return -1;
    }
    poller->polled[place].events = events_of(interest);
    return 0;
}

/* The last one takes the place. */
static int poll_remove(struct vd__selector *selector, struct vd__source *source)
{
    struct poll_selector *poller = from_selector(selector);
    size_t place = find(poller, source);

    if (place == poller->count) {
        return -1;
    }
    size_t last = --poller->count;
    poller->places[poller->polled[last].fd] = (uint32_t)place + 1;
    poller->places[source->fd] = 0;
    poller->polled[place] = poller->polled[last];
    poller->sources[place] = poller->sources[last];
    return 0;
}

static struct vd__ready ready_of(const struct poll_selector *poller, size_t place)
{
    short events = poller->polled[place].revents;
    unsigned readiness = 0;

    readiness |= (events & POLLIN) != 0 ? VD__READABLE : 0;
    readiness |= (events & POLLOUT) != 0 ? VD__WRITABLE : 0;
    readiness |= (events & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? VD__FAULTY : 0;
    return (struct vd__ready){poller->sources[place], readiness};
}

static int poll_wait_ready(struct vd__selector *selector, struct vd__ready *out, size_t max,
                           vd_time timeout)
{
    struct poll_selector *poller = from_selector(selector);
    struct timespec time = {
        .tv_sec = (time_t)(timeout / VD_SEC),
        .tv_nsec = (long)(timeout % VD_SEC) * 1000,
    };
    int found = ppoll(poller->polled, poller->count, timeout != VD_TIME_NEVER ? &time : NULL, NULL);
    size_t filled = 0;

    if (found < 0) {
        return errno == EINTR ? 0 : -1;
    }
    size_t most = (size_t)found < max ? (size_t)found : max;
    size_t place = poller->next < poller->count ? poller->next : 0;
    for (size_t looked = 0; looked < poller->count && filled < most; looked++) {
        if (poller->polled[place].revents != 0) {
            out[filled++] = ready_of(poller, place);
        }
        place = place + 1 < poller->count ? place + 1 : 0;
    }
    poller->next = place;
    return (int)filled;
}

static void poll_free(struct vd__selector *selector)
{
    struct poll_selector *poller = from_selector(selector);
    const struct vd_mem *mem = poller->mem;

    if (poller->polled != NULL) {
        mem->release(poller->polled, poller->capacity * sizeof *poller->polled, mem->context);
        mem->release(poller->sources, poller->capacity * sizeof *poller->sources, mem->context);
    }
    if (poller->places != NULL) {
        mem->release(poller->places, poller->place_capacity * sizeof *poller->places, mem->context);
    }
    mem->release(poller, sizeof *poller, mem->context);
}

static const struct vd__selector_ops poll_ops = {
    .add = poll_add,
    .modify = poll_modify,
    .remove = poll_remove,
    .wait = poll_wait_ready,
    .free = poll_free,
};

struct vd__selector *vd__selector_poll_new(const struct vd_mem *mem)
{
    struct poll_selector *poller = mem->allocate(sizeof *poller, mem->context);

    if (poller == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memset(poller, 0, sizeof *poller);
    poller->selector.ops = &poll_ops;
    poller->mem = mem;
    return &poller->selector;
}
