/* floor_uring_absent.c - in the place of floor_uring.c in a build without liburing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "floor_uring.h"

bool floor_uring_is_available(void)
{
    floor_fail("--selector io_uring: floor was built without it");
    return false;
}

struct floor_uring *floor_uring_new(struct floor_loop *loop)
{
    (void)loop;
    return NULL;
}

void floor_uring_free(struct floor_uring *uring)
{
    (void)uring;
}

int floor_uring_watch(struct floor_uring *uring, struct floor_socket *socket)
{
    (void)uring;
    (void)socket;
    return -1;
}

int floor_uring_queue(struct floor_uring *uring, struct floor_socket *socket)
{
    (void)uring;
    (void)socket;
    return -1;
}

int floor_uring_await_writable(struct floor_socket *socket)
{
    (void)socket;
    return -1;
}

int floor_uring_wait(struct floor_uring *uring, int timeout)
{
    (void)uring;
    (void)timeout;
    return -1;
}

int floor_uring_receive(struct floor_uring *uring)
{
    (void)uring;
    return -1;
}
