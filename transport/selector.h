/* selector.h - waits until a file descriptor is ready.
 *
 * A selector is level-triggered: what was not read or written in one turn is reported in the next.
 * It takes the descriptors in turn when more are ready than one wait may return.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_SELECTOR_H
#define VIADUCT_TRANSPORT_SELECTOR_H

#include <stddef.h>

#include <viaduct/base.h>
#include <viaduct/mem.h>

/* What a descriptor is ready for. Errors are reported always, whether asked for or not. */
enum vd__readiness { VD__READABLE = 1, VD__WRITABLE = 2, VD__FAULTY = 4 };

/* What is watched: embedded in the object that owns the descriptor. */
struct vd__source {
    int fd;
    void (*on_ready)(struct vd__source *source, unsigned readiness);
};

/* What a wait found. */
struct vd__ready {
    struct vd__source *source;
    unsigned readiness;
};

struct vd__selector;

/* The functions of a kind of selector. Those that return int return 0 (wait: a count), or -1 with
 * errno. */
struct vd__selector_ops {
    int (*add)(struct vd__selector *selector, struct vd__source *source, unsigned interest);
    int (*modify)(struct vd__selector *selector, struct vd__source *source, unsigned interest);
    int (*remove)(struct vd__selector *selector, struct vd__source *source);
    /* Waits for at most timeout microseconds, rounded up to what the system can do; VD_TIME_NEVER
     * waits without end. Returns how many of out are filled, at most max. A signal ends the wait
     * with 0. */
    int (*wait)(struct vd__selector *selector, struct vd__ready *out, size_t max, vd_time timeout);
    void (*free)(struct vd__selector *selector);
};

/* What every kind of selector begins with. */
struct vd__selector {
    const struct vd__selector_ops *ops;
};

/* Makes a selector on epoll, which stays within one thread. Returns NULL with errno. mem must
 * outlive it. */
struct vd__selector *vd__selector_epoll_new(const struct vd_mem *mem);

/* The same on poll(2). */
struct vd__selector *vd__selector_poll_new(const struct vd_mem *mem);

struct vd__uring;

/* The same on io_uring, with the ring for other requests of the loop. The selector belongs to the
 * thread that waits first. A source must be removed before its descriptor is closed. */
struct vd__selector *vd__selector_uring_new(const struct vd_mem *mem, struct vd__uring **ring);

/* True when an errno of vd__selector_uring_new says that the library, the kernel or the
 * administrator allows no io_uring. */
bool vd__selector_uring_is_barred(int system_error);

#endif
