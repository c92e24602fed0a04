/* udp_uring.c - the UDP sockets of a loop that waits on io_uring.
 *
 * Receiving: each socket has one multishot recvmsg, and all of them take their buffers from one
 * ring of buffers, which get the datagrams of a turn and are given back at its end. A request that
 * ends, because no buffer was left or because of an error, is made anew.
 *
 * Sending: a socket that has one message to send puts it into the submission queue, so that the
 * call that waits sends the messages of all sockets; the kernel sends each before that call
 * returns, and only a failure gives a completion. What follows on the same socket waits until the
 * one before was submitted, so messages keep their order, and a failure is handled as that of a
 * sendmmsg. Several messages of one socket leave by sendmmsg (udp_send.c), which is as cheap.
 *
 * SPDX-License-Identifier: MIT
 */
#include "udp_internal.h"

#include <errno.h>
#include <poll.h>

#include "uring.h"

enum {
    /* Each buffer takes its turn, so more of them than are needed only spoil the processor's
     * caches: as many as were needed in one turn are in use. Powers of two. */
    BUFFERS_FIRST = 128,
    BUFFERS = 1024,
    BUFFER_GROUP = 0,
    SLOTS = 1024,
    DATAGRAM_MAX = 65535,
    /* So long that the control data behind it are aligned. */
    NAME_SIZE = (sizeof(union vd__sockaddr) + 7) / 8 * 8,
    CONTROL_SIZE = CMSG_SPACE(sizeof(uint32_t)), /* the kernel's count of dropped datagrams */
    HEADER_SIZE = sizeof(struct io_uring_recvmsg_out) + NAME_SIZE + CONTROL_SIZE,
    /* As between the buffers of udp_receive.c. What no datagram reaches takes no memory. */
    STRIDE = 65536 + 17 * 64,
    PAGE = 4096,
    KIND_BITS = 3,
    CANCEL_WAITS = 100
};

static const vd_time CANCEL_WAIT = 10 * VD_MSEC;

/* A datagram in a buffer. */
struct received {
    struct vd__udp_socket *socket;
    uint32_t size; /* with the header */
    uint32_t buffer;
};

/* A message that is in the submission queue, or whose result is not known yet. */
struct slot {
    struct vd_send message;
    struct vd__udp_socket *socket;
    union vd__sockaddr to;
    int system_error;
};

/* A FIFO of sockets, each in one at most. */
struct socket_list {
    struct vd__udp_socket *first;
    struct vd__udp_socket *last;
};

struct vd__udp_uring {
    struct vd__udp *udp;
    struct vd__uring *ring;

    char *buffers;
    void *buffer_ring_memory;
    struct io_uring_buf_ring *buffer_ring;
    uint32_t buffer_count;  /* in use */
    struct msghdr template; /* how much of each buffer is for the name and the control data */
    struct received received[BUFFERS];
    size_t received_count;

    size_t receiving;         /* requests that the kernel has */
    struct socket_list idle;  /* sockets whose request is to be made */
    struct socket_list ended; /* sockets whose request has ended */

    struct slot slots[SLOTS];
    size_t slot_count;
};

/* The user_data of a socket's request to receive. */
static uint64_t name_request(const struct vd__udp_socket *socket)
{
    return (uint64_t)(uintptr_t)socket | VD__URING_RECEIVE;
}

static void append(struct socket_list *list, struct vd__udp_socket *socket)
{
    socket->next_receive = NULL;
    if (list->first == NULL) {
        list->first = socket;
    } else {
        list->last->next_receive = socket;
    }
    list->last = socket;
}

static struct vd__udp_socket *take(struct socket_list *list)
{
    struct vd__udp_socket *socket = list->first;

    if (socket != NULL) {
        list->first = socket->next_receive;
    }
    return socket;
}

/* ---- Completions ---- */

static void on_receive(void *context, uint64_t data, int result, unsigned flags)
{
    struct vd__udp_uring *uring = context;
    struct vd__udp_socket *socket = (struct vd__udp_socket *)(uintptr_t)data;

    if ((flags & IORING_CQE_F_BUFFER) != 0) {
        /* Never more than there are buffers: they are given back after this list was read. */
        uring->received[uring->received_count++] = (struct received){
            .socket = socket,
            .size = result > 0 ? (uint32_t)result : 0,
            .buffer = flags >> IORING_CQE_BUFFER_SHIFT,
        };
    }
    if ((flags & IORING_CQE_F_MORE) == 0) {
        uring->receiving--;
        socket->receive_error = result < 0 ? -result : 0;
        append(&uring->ended, socket);
    }
}

static void on_send(void *context, uint64_t data, int result, unsigned flags)
{
    struct vd__udp_uring *uring = context;

    (void)flags;
    if (result < 0) {
        uring->slots[data >> KIND_BITS].system_error = -result;
    }
}

/* ---- Making and freeing ---- */

static void give_buffer(struct vd__udp_uring *uring, uint32_t buffer, int offset)
{
    io_uring_buf_ring_add(uring->buffer_ring, uring->buffers + (size_t)buffer * STRIDE,
                          HEADER_SIZE + DATAGRAM_MAX, (unsigned short)buffer,
                          io_uring_buf_ring_mask(BUFFERS), offset);
}

/* Puts more buffers into use: count of them at last. */
static void use_buffers(struct vd__udp_uring *uring, uint32_t count)
{
    int added = 0;

    for (uint32_t i = uring->buffer_count; i < count; i++) {
        give_buffer(uring, i, added++);
    }
    io_uring_buf_ring_advance(uring->buffer_ring, added);
    uring->buffer_count = count;
}

enum { BUFFER_RING_SIZE = BUFFERS * sizeof(struct io_uring_buf) + PAGE };

static bool register_buffers(struct vd__udp_uring *uring)
{
    const struct vd_mem *mem = uring->udp->loop->config.mem;

    uring->buffer_ring_memory = vd__loop_allocate(uring->udp->loop, BUFFER_RING_SIZE);
    uring->buffers = mem->allocate((size_t)BUFFERS * STRIDE, mem->context);
    if (uring->buffer_ring_memory == NULL || uring->buffers == NULL) {
        return false;
    }
    uintptr_t aligned = ((uintptr_t)uring->buffer_ring_memory + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    struct io_uring_buf_reg registration = {
        .ring_addr = aligned,
        .ring_entries = BUFFERS,
        .bgid = BUFFER_GROUP,
    };
    if (io_uring_register_buf_ring(&uring->ring->ring, &registration, 0) < 0) {
        return false;
    }
    uring->buffer_ring = (struct io_uring_buf_ring *)aligned;
    io_uring_buf_ring_init(uring->buffer_ring);
    use_buffers(uring, BUFFERS_FIRST);
    return true;
}

struct vd__udp_uring *vd__udp_uring_new(struct vd__udp *udp, struct vd__uring *ring)
{
    struct vd__udp_uring *uring = vd__loop_allocate(udp->loop, sizeof *uring);

    if (uring == NULL) {
        return NULL;
    }
    uring->udp = udp;
    uring->ring = ring;
    uring->template.msg_namelen = NAME_SIZE;
    uring->template.msg_controllen = CONTROL_SIZE;
    ring->handlers[VD__URING_RECEIVE] = (struct vd__uring_handler){on_receive, uring};
    ring->handlers[VD__URING_SEND] = (struct vd__uring_handler){on_send, uring};
    if (!register_buffers(uring)) {
        vd__udp_uring_free(uring);
        return NULL;
    }
    return uring;
}

/* The kernel must not write into a buffer that is no more, and a file is closed for good only when
 * no request holds it. In another thread than the loop's nothing can be submitted; then that
 * thread has ended, and its requests with it. */
static void cancel_all(struct vd__udp_uring *uring)
{
    if (uring->receiving == 0) {
        return;
    }
    /* One by one: the kernel finds a request by its name fast, and one request to cancel them all
     * makes it look at all of them again and again. */
    for (struct vd__udp_socket *socket = uring->udp->sockets; socket != NULL;
         socket = socket->next) {
        struct io_uring_sqe *request = vd__uring_request(uring->ring);
        if (request == NULL) {
            break;
        }
        io_uring_prep_cancel64(request, name_request(socket), 0);
        io_uring_sqe_set_data64(request, VD__URING_IGNORED);
        io_uring_sqe_set_flags(request, IOSQE_CQE_SKIP_SUCCESS);
    }
    for (int i = 0; i < CANCEL_WAITS && uring->receiving > 0; i++) {
        /* A last datagram may come with each; it is lost with the socket. */
        uring->received_count = 0;
        if (vd__uring_wait(uring->ring, CANCEL_WAIT) < 0) {
            return;
        }
    }
}

void vd__udp_uring_free(struct vd__udp_uring *uring)
{
    if (uring == NULL) {
        return;
    }
    struct vd_loop *loop = uring->udp->loop;
    cancel_all(uring);
    for (size_t i = 0; i < uring->slot_count; i++) {
        vd_stack_send_done(uring->slots[i].socket->stack, &uring->slots[i].message);
    }
    uring->ring->handlers[VD__URING_RECEIVE] = (struct vd__uring_handler){NULL, NULL};
    uring->ring->handlers[VD__URING_SEND] = (struct vd__uring_handler){NULL, NULL};
    if (uring->buffer_ring != NULL) {
        (void)io_uring_unregister_buf_ring(&uring->ring->ring, BUFFER_GROUP);
    }
    vd__loop_release(loop, uring->buffer_ring_memory, BUFFER_RING_SIZE);
    vd__loop_release(loop, uring->buffers, (size_t)BUFFERS * STRIDE);
    vd__loop_release(loop, uring, sizeof *uring);
}

/* ---- Receiving ---- */

void vd__udp_uring_watch(struct vd__udp_socket *socket)
{
    append(&socket->udp->uring->idle, socket);
}

void vd__udp_uring_prepare(struct vd__udp_uring *uring)
{
    while (uring->idle.first != NULL) {
        struct io_uring_sqe *request = vd__uring_request(uring->ring);
        if (request == NULL) {
            uring->ring->busy = true;
            return;
        }
        struct vd__udp_socket *socket = take(&uring->idle);
        io_uring_prep_recvmsg_multishot(request, socket->source.fd, &uring->template, 0);
        io_uring_sqe_set_flags(request, IOSQE_BUFFER_SELECT);
        request->buf_group = BUFFER_GROUP;
        io_uring_sqe_set_data64(request, name_request(socket));
        uring->receiving++;
    }
}

static void deliver(struct vd__udp_uring *uring, const struct received *received)
{
    char *buffer = uring->buffers + (size_t)received->buffer * STRIDE;
    struct io_uring_recvmsg_out *out =
        io_uring_recvmsg_validate(buffer, (int)received->size, &uring->template);

    if (out == NULL) {
        return;
    }
    struct msghdr header = {
        .msg_name = io_uring_recvmsg_name(out),
        .msg_namelen = out->namelen,
        .msg_control = (char *)io_uring_recvmsg_name(out) + NAME_SIZE,
        .msg_controllen = out->controllen,
        .msg_flags = (int)out->flags,
    };
    vd__udp_deliver(received->socket, &header,
                    vd_str(buffer + HEADER_SIZE, received->size - HEADER_SIZE));
}

static void deliver_all(struct vd__udp_uring *uring)
{
    size_t count = 0;

    if (uring->received_count == 0) {
        return;
    }
    uring->udp->counters.receive_calls++;
    /* A callback may close a connection, which submits: more may have been received by then. */
    for (; count < uring->received_count; count++) {
        deliver(uring, &uring->received[count]);
        give_buffer(uring, uring->received[count].buffer, (int)count);
    }
    io_uring_buf_ring_advance(uring->buffer_ring, (int)count);
    uring->received_count = 0;
}

/* True when the error queue holds something, or an error is pending. A new request would not wait
 * then. */
static bool has_error(const struct vd__udp_socket *socket)
{
    struct pollfd polled = {.fd = socket->source.fd};

    return poll(&polled, 1, 0) > 0 && (polled.revents & POLLERR) != 0;
}

static bool is_error_of_socket(int system_error)
{
    switch (system_error) {
    case 0:         /* the kernel had no room for a completion */
    case ENOBUFS:   /* no buffer was left */
    case ECANCELED: /* it ended while an error was pending */
    case EAGAIN:
    case EINTR:
        return false;
    default:
        return true;
    }
}

static void resume_ended(struct vd__udp_uring *uring)
{
    struct socket_list ended = uring->ended;
    bool short_of_buffers = false;

    uring->ended.first = NULL;
    for (struct vd__udp_socket *socket = take(&ended); socket != NULL; socket = take(&ended)) {
        bool faulty = is_error_of_socket(socket->receive_error);
        short_of_buffers |= socket->receive_error == ENOBUFS;
        if (faulty || socket->receive_error == ECANCELED) {
            vd__udp_read_errors(socket);
            faulty = has_error(socket);
        }
        append(faulty ? &uring->ended : &uring->idle, socket);
    }
    if (short_of_buffers && uring->buffer_count < BUFFERS) {
        use_buffers(uring, uring->buffer_count * 2);
    }
}

/* ---- Sending ---- */

int vd__udp_uring_queue(struct vd__udp_socket *socket, const struct vd_send *message)
{
    struct vd__udp_uring *uring = socket->udp->uring;

    if (uring->slot_count == SLOTS) {
        vd__udp_uring_flush(uring);
    }
    struct io_uring_sqe *request =
        uring->slot_count < SLOTS ? vd__uring_request(uring->ring) : NULL;
    if (request == NULL) {
        return ENOBUFS;
    }
    struct slot *slot = &uring->slots[uring->slot_count];
    slot->message = *message;
    slot->socket = socket;
    slot->system_error = 0;
    socklen_t size = vd__sockaddr_from_addr(&slot->to, &message->flow.remote);
    io_uring_prep_send(request, socket->source.fd, message->data, message->size, MSG_DONTWAIT);
    io_uring_prep_send_set_addr(request, &slot->to.any, (uint16_t)size);
    io_uring_sqe_set_flags(request, IOSQE_CQE_SKIP_SUCCESS);
    io_uring_sqe_set_data64(request, (uint64_t)uring->slot_count << KIND_BITS | VD__URING_SEND);
    uring->slot_count++;
    socket->sending = true;
    return 0;
}

/* Gives back what was submitted: the kernel has sent it, unless it said otherwise. */
static void settle(struct vd__udp_uring *uring)
{
    struct vd__udp *udp = uring->udp;
    size_t count = uring->slot_count;

    if (count == 0) {
        return;
    }
    if (!vd__uring_all_submitted(uring->ring)) {
        uring->ring->busy = true;
        return;
    }
    udp->counters.send_calls++;
    for (size_t i = 0; i < count; i++) {
        struct slot *slot = &uring->slots[i];
        slot->socket->sending = false;
        if (slot->system_error != 0) {
            vd__udp_send_refused(slot->socket, &slot->message, slot->system_error);
            continue;
        }
        udp->counters.sent_datagrams++;
        udp->counters.sent_bytes += slot->message.size;
        vd_stack_send_done(slot->socket->stack, &slot->message);
    }
    uring->slot_count = 0;
}

void vd__udp_uring_flush(struct vd__udp_uring *uring)
{
    if (uring->slot_count > 0 && vd__uring_submit(uring->ring) == 0) {
        settle(uring);
    }
}

/* ---- A turn ---- */

void vd__udp_uring_complete(struct vd__udp_uring *uring)
{
    /* What has left comes first: an answer to it may be among what was received. */
    settle(uring);
    deliver_all(uring);
    resume_ended(uring);
}

bool vd__udp_uring_is_pending(const struct vd__udp_uring *uring)
{
    return uring->received_count > 0 || uring->ended.first != NULL;
}
