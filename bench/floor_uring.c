/* floor_uring.c - the floor's UDP sockets on io_uring in the place of epoll: a multishot recvmsg a
 * socket with buffers shared by all, and sends that leave with the call that waits.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "floor_uring.h"

#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SUBMISSIONS = 1024,
    COMPLETIONS = 16384,
    BUFFERS_LEAST = 128,
    BUFFERS_MOST = 4096,
    PAGE = 4096,
    NAME_ROOM = sizeof(struct sockaddr_in6),
    HEADER_ROOM = sizeof(struct io_uring_recvmsg_out) + NAME_ROOM,
    CACHE_LINE = 64,
};

/* What a completion is for: user_data is one of these, or a socket that receives, or one plus
 * SENDING. */
enum { SENDING = 1, WOKEN = 2 };

struct floor_uring {
    struct floor_loop *loop;
    struct io_uring ring;
    bool enabled;
    bool watches_stop;
    struct msghdr template;
    struct io_uring_buf_ring *buffer_ring;
    unsigned char *buffers;
    size_t buffer_count;
    size_t buffer_size;
    struct floor_socket **idle; /* sockets whose request is to be made */
    size_t idle_count;
    struct floor_socket *queued[SUBMISSIONS]; /* sockets with a message in the ring */
    size_t queued_count;
};

/* ---- Making and freeing ---- */

static int make_ring(struct io_uring *ring)
{
    struct io_uring_params params = {
        .flags = IORING_SETUP_R_DISABLED | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER |
                 IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
        .cq_entries = COMPLETIONS,
    };
    return io_uring_queue_init_params(SUBMISSIONS, ring, &params);
}

bool floor_uring_is_available(void)
{
    struct io_uring ring;
    int error = make_ring(&ring);
    if (error < 0) {
        floor_fail("--selector io_uring: the kernel or this container has or allows no such thing "
                   "(it takes Linux 6.1): %s",
                   strerror(-error));
        return false;
    }
    io_uring_queue_exit(&ring);
    return true;
}

static void give_buffer(struct floor_uring *uring, unsigned buffer, int offset)
{
    io_uring_buf_ring_add(uring->buffer_ring, uring->buffers + buffer * uring->buffer_size,
                          (unsigned)uring->buffer_size, (unsigned short)buffer,
                          io_uring_buf_ring_mask((unsigned)uring->buffer_count), offset);
}

static int make_buffers(struct floor_uring *uring)
{
    size_t count = BUFFERS_LEAST;
    while (count < uring->loop->options->window && count < BUFFERS_MOST) {
        count *= 2;
    }
    uring->buffer_count = count;
    uring->buffer_size =
        (HEADER_ROOM + uring->loop->room + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    uring->buffers = malloc(count * uring->buffer_size);
    uring->buffer_ring =
        aligned_alloc(PAGE, (count * sizeof(struct io_uring_buf) + PAGE - 1) / PAGE * PAGE);
    if (uring->buffers == NULL || uring->buffer_ring == NULL) {
        return floor_fail("out of memory");
    }
    struct io_uring_buf_reg registration = {
        .ring_addr = (uintptr_t)uring->buffer_ring,
        .ring_entries = (unsigned)count,
    };
    int error = io_uring_register_buf_ring(&uring->ring, &registration, 0);
    if (error < 0) {
        return floor_fail("cannot register buffers: %s", strerror(-error));
    }
    io_uring_buf_ring_init(uring->buffer_ring);
    for (unsigned i = 0; i < count; i++) {
        give_buffer(uring, i, (int)i);
    }
    io_uring_buf_ring_advance(uring->buffer_ring, (int)count);
    return 0;
}

struct floor_uring *floor_uring_new(struct floor_loop *loop)
{
    struct floor_uring *uring = calloc(1, sizeof *uring);
    if (uring == NULL) {
        floor_fail("out of memory");
        return NULL;
    }
    uring->loop = loop;
    uring->template.msg_namelen = NAME_ROOM;
    /* With threads common both sides have their sockets here. */
    uring->idle = calloc(2 * (size_t)loop->options->ports, sizeof *uring->idle);
    int error = make_ring(&uring->ring);
    if (error < 0 || uring->idle == NULL) {
        floor_fail("cannot set up io_uring: %s", strerror(error < 0 ? -error : ENOMEM));
        free(uring->idle);
        free(uring);
        return NULL;
    }
    if (make_buffers(uring) < 0) {
        floor_uring_free(uring);
        return NULL;
    }
    return uring;
}

void floor_uring_free(struct floor_uring *uring)
{
    if (uring == NULL) {
        return;
    }
    io_uring_queue_exit(&uring->ring);
    free(uring->buffer_ring);
    free(uring->buffers);
    free(uring->idle);
    free(uring);
}

/* ---- Requests ---- */

int floor_uring_watch(struct floor_uring *uring, struct floor_socket *socket)
{
    uring->idle[uring->idle_count++] = socket;
    return 0;
}

/* The ring belongs to the thread that enables it. */
static int enable(struct floor_uring *uring)
{
    if (!uring->enabled && syscall(SYS_io_uring_register, uring->ring.ring_fd,
                                   IORING_REGISTER_ENABLE_RINGS, NULL, 0) < 0) {
        return floor_fail("cannot enable io_uring: %s", strerror(errno));
    }
    uring->enabled = true;
    return 0;
}

static struct io_uring_sqe *request(struct floor_uring *uring)
{
    struct io_uring_sqe *made = io_uring_get_sqe(&uring->ring);
    if (made == NULL && enable(uring) == 0 && io_uring_submit(&uring->ring) >= 0) {
        made = io_uring_get_sqe(&uring->ring);
    }
    if (made == NULL) {
        floor_fail("cannot submit to io_uring");
    }
    return made;
}

static int ask_to_receive(struct floor_uring *uring)
{
    while (uring->idle_count > 0) {
        struct io_uring_sqe *asked = request(uring);
        if (asked == NULL) {
            return -1;
        }
        struct floor_socket *socket = uring->idle[--uring->idle_count];
        io_uring_prep_recvmsg_multishot(asked, socket->fd, &uring->template, 0);
        io_uring_sqe_set_flags(asked, IOSQE_BUFFER_SELECT);
        io_uring_sqe_set_data(asked, socket);
    }
    return 0;
}

static int ask_for_stop(struct floor_uring *uring)
{
    struct io_uring_sqe *asked = uring->watches_stop ? NULL : request(uring);
    if (asked != NULL) {
        io_uring_prep_poll_add(asked, uring->loop->stop_fd, POLLIN);
        io_uring_sqe_set_data64(asked, WOKEN);
        uring->watches_stop = true;
    }
    return uring->watches_stop ? 0 : -1;
}

/* The kernel has sent everything when the call returns; a failure gives a completion. */
static void settle(struct floor_uring *uring)
{
    for (size_t i = 0; i < uring->queued_count; i++) {
        floor_loop_sent(uring->loop, uring->queued[i]);
    }
    uring->queued_count = 0;
}

static int submit(struct floor_uring *uring)
{
    int error = io_uring_submit(&uring->ring);
    settle(uring);
    return error < 0 ? floor_fail("cannot submit to io_uring: %s", strerror(-error)) : 0;
}

int floor_uring_queue(struct floor_uring *uring, struct floor_socket *socket)
{
    struct floor_message *message = socket->first;
    if (uring->queued_count == SUBMISSIONS && (enable(uring) < 0 || submit(uring) < 0)) {
        return -1;
    }
    struct io_uring_sqe *asked = request(uring);
    if (asked == NULL) {
        return -1;
    }
    io_uring_prep_send(asked, socket->fd, message->bytes, message->length, MSG_DONTWAIT);
    io_uring_prep_send_set_addr(asked, &message->to.any, (uint16_t)message->to.length);
    io_uring_sqe_set_flags(asked, IOSQE_CQE_SKIP_SUCCESS);
    io_uring_sqe_set_data64(asked, (uintptr_t)socket + SENDING);
    uring->queued[uring->queued_count++] = socket;
    return 0;
}

int floor_uring_await_writable(struct floor_socket *socket)
{
    struct pollfd polled = {.fd = socket->fd, .events = POLLOUT};
    if (poll(&polled, 1, -1) < 0 && errno != EINTR) {
        return floor_fail("cannot wait for a socket: %s", strerror(errno));
    }
    return 0;
}

/* ---- A turn ---- */

int floor_uring_wait(struct floor_uring *uring, int timeout)
{
    struct io_uring_cqe *completion;
    struct __kernel_timespec time = {
        .tv_sec = timeout / 1000,
        .tv_nsec = timeout % 1000 * 1000000LL,
    };
    if (enable(uring) < 0 || ask_for_stop(uring) < 0 || ask_to_receive(uring) < 0) {
        return -1;
    }
    int error = io_uring_submit_and_wait_timeout(&uring->ring, &completion, 1,
                                                 timeout >= 0 ? &time : NULL, NULL);
    settle(uring);
    if (error < 0 && error != -ETIME && error != -EINTR) {
        return floor_fail("cannot wait: %s", strerror(-error));
    }
    return 0;
}

static void deliver(struct floor_uring *uring, struct floor_socket *socket, int result,
                    unsigned buffer)
{
    struct floor_header header;
    unsigned char *bytes = uring->buffers + buffer * uring->buffer_size;
    struct io_uring_recvmsg_out *out = io_uring_recvmsg_validate(bytes, result, &uring->template);
    size_t length = out != NULL ? (size_t)result - HEADER_ROOM : 0;
    if (length < sizeof header) {
        return;
    }
    memcpy(&header, bytes + HEADER_ROOM, sizeof header);
    if (header.kind < FLOOR_KIND_COUNT && length == uring->loop->options->bytes[header.kind]) {
        struct floor_address from = {.length = out->namelen};
        memcpy(&from.any, io_uring_recvmsg_name(out), out->namelen);
        socket->on_message(socket->side, socket, &header, &from);
    }
}

/* Returns how many buffers are to be given back. */
static int receive_one(struct floor_uring *uring, const struct io_uring_cqe *completion, int given)
{
    struct floor_socket *socket = (struct floor_socket *)(uintptr_t)completion->user_data;
    bool has_buffer = (completion->flags & IORING_CQE_F_BUFFER) != 0;
    unsigned buffer = completion->flags >> IORING_CQE_BUFFER_SHIFT;
    if (has_buffer) {
        deliver(uring, socket, completion->res, buffer);
        give_buffer(uring, buffer, given);
    }
    if ((completion->flags & IORING_CQE_F_MORE) == 0) {
        floor_uring_watch(uring, socket);
    }
    return has_buffer ? 1 : 0;
}

int floor_uring_receive(struct floor_uring *uring)
{
    struct io_uring_cqe *completion;
    unsigned head;
    unsigned seen = 0;
    int given = 0;
    int error = 0;
    io_uring_for_each_cqe(&uring->ring, head, completion)
    {
        uint64_t data = completion->user_data;
        seen++;
        if (data == WOKEN) {
            uring->watches_stop = false; /* floor_loop_stopped tells */
        } else if ((data & SENDING) != 0) {
            error = floor_fail("cannot send: %s", strerror(-completion->res));
        } else {
            given += receive_one(uring, completion, given);
        }
    }
    io_uring_cq_advance(&uring->ring, seen);
    io_uring_buf_ring_advance(uring->buffer_ring, given);
    return error;
}
