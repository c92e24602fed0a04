/* uring_absent.c - in the place of selector_uring.c, uring.c and udp_uring.c in a library that is
 * built without liburing.
 *
 * No selector is made, so what belongs to it is never called with one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>

#include "selector.h"
#include "udp_internal.h"

struct vd__selector *vd__selector_uring_new(const struct vd_mem *mem, struct vd__uring **ring)
{
    (void)mem;
    (void)ring;
    errno = ENOSYS;
    return NULL;
}

bool vd__selector_uring_is_barred(int system_error)
{
    return system_error == ENOSYS;
}

struct vd__udp_uring *vd__udp_uring_new(struct vd__udp *udp, struct vd__uring *ring)
{
    (void)udp;
    (void)ring;
    return NULL;
}

void vd__udp_uring_free(struct vd__udp_uring *uring)
{
    (void)uring;
}

void vd__udp_uring_watch(struct vd__udp_socket *socket)
{
    (void)socket;
}

int vd__udp_uring_queue(struct vd__udp_socket *socket, const struct vd_send *message)
{
    (void)socket;
    (void)message;
    return ENOSYS;
}

void vd__udp_uring_flush(struct vd__udp_uring *uring)
{
    (void)uring;
}

void vd__udp_uring_prepare(struct vd__udp_uring *uring)
{
    (void)uring;
}

void vd__udp_uring_complete(struct vd__udp_uring *uring)
{
    (void)uring;
}

bool vd__udp_uring_is_pending(const struct vd__udp_uring *uring)
{
    (void)uring;
    return false;
}
