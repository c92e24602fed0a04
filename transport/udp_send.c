/* udp_send.c - messages out, a batch a socket; and those that must wait.
 *
 * Messages of a batch may belong to any of the stack's sockets. They are strung together by socket,
 * in their order, and each socket sends its own with one system call.
 *
 * SPDX-License-Identifier: MIT
 */
#include "udp_internal.h"
#include "system_error.h"

#include <errno.h>

enum {
    CHUNK = 64, /* waiting messages that room is made for at a time */
    /* How often a pending error may stand in the way of one message. */
    ATTEMPTS = 8
};

/* When the system is short of buffers nothing tells that it has them again. */
#define RETRY_AFTER VD_MSEC

/* A message that waits. */
struct vd__udp_waiting {
    struct vd__udp_waiting *next;
    struct vd_send send;
};

struct vd__udp_waiting_chunk {
    struct vd__udp_waiting_chunk *next;
    struct vd__udp_waiting waiting[CHUNK];
};

struct vd__udp_sender {
    /* What one socket is about to send. */
    struct mmsghdr headers[VD__SEND_BATCH];
    struct iovec vectors[VD__SEND_BATCH];
    union vd__sockaddr destinations[VD__SEND_BATCH];
    const struct vd_send *messages[VD__SEND_BATCH];
    /* For each message of the batch, the next one of the same socket; -1 for none. */
    int16_t next[VD__SEND_BATCH];
};

struct vd__udp_sender *vd__udp_sender_new(struct vd_loop *loop)
{
    struct vd__udp_sender *sender = vd__loop_allocate(loop, sizeof *sender);

    for (size_t i = 0; sender != NULL && i < VD__SEND_BATCH; i++) {
        struct msghdr *header = &sender->headers[i].msg_hdr;
        header->msg_name = &sender->destinations[i];
        header->msg_iov = &sender->vectors[i];
        header->msg_iovlen = 1;
    }
    return sender;
}

void vd__udp_sender_free(struct vd_loop *loop, struct vd__udp_sender *sender)
{
    vd__loop_release(loop, sender, sizeof *sender);
}

/* ---- Failure ---- */

static void fail(struct vd_loop *loop, struct vd_stack *stack, const struct vd_send *message,
                 int system_error, const char *text)
{
    int error = vd__error_of_send(system_error);

    vd__loop_log(loop, &(struct vd_log_event){.level = VD_LOG_WARNING,
                                              .error = error,
                                              .system_error = system_error,
                                              .text = text,
                                              .flow = &message->flow,
                                              .data = vd_str(message->data, message->size)});
    loop->again = true;
    vd_stack_send_failed(stack, message, error, loop->now);
}

/* ---- Waiting ---- */

static struct vd__udp_waiting *take_room(struct vd__udp *udp)
{
    if (udp->unused == NULL) {
        struct vd__udp_waiting_chunk *chunk = vd__loop_allocate(udp->loop, sizeof *chunk);
        if (chunk == NULL) {
            return NULL;
        }
        chunk->next = udp->chunks;
        udp->chunks = chunk;
        for (size_t i = 0; i < CHUNK; i++) {
            chunk->waiting[i].next = udp->unused;
            udp->unused = &chunk->waiting[i];
        }
    }
    struct vd__udp_waiting *room = udp->unused;
    udp->unused = room->next;
    return room;
}

static void enqueue(struct vd__udp_socket *socket, const struct vd_send *message)
{
    struct vd__udp *udp = socket->udp;
    bool full = socket->waiting_count >= socket->waiting_limit;
    struct vd__udp_waiting *waiting = full ? NULL : take_room(udp);

    if (waiting == NULL) {
        udp->counters.queue_full++;
        fail(udp->loop, socket->stack, message, full ? EAGAIN : ENOMEM,
             full ? "the send queue of a UDP socket is full"
                  : "no memory for the send queue of a UDP socket");
        return;
    }
    waiting->send = *message;
    waiting->next = NULL;
    if (socket->waiting_first == NULL) {
        socket->waiting_first = waiting;
    } else {
        socket->waiting_last->next = waiting;
    }
    socket->waiting_last = waiting;
    socket->waiting_count++;
    udp->waiting_count++;
    udp->counters.queued++;
}

/* Takes the first of the messages that wait off the queue. It was given back to its stack. */
static void dequeue(struct vd__udp_socket *socket)
{
    struct vd__udp_waiting *waiting = socket->waiting_first;

    socket->waiting_first = waiting->next;
    socket->waiting_count--;
    socket->udp->waiting_count--;
    waiting->next = socket->udp->unused;
    socket->udp->unused = waiting;
}

void vd__udp_drop_waiting(struct vd__udp_socket *socket)
{
    while (socket->waiting_first != NULL) {
        vd_stack_send_done(socket->stack, &socket->waiting_first->send);
        dequeue(socket);
    }
}

void vd__udp_free_waiting(struct vd__udp *udp)
{
    while (udp->chunks != NULL) {
        struct vd__udp_waiting_chunk *chunk = udp->chunks;
        udp->chunks = chunk->next;
        vd__loop_release(udp->loop, chunk, sizeof *chunk);
    }
    udp->unused = NULL;
}

/* ---- Stalling: a socket takes no more for now ---- */

/* With io_uring the selector knows a socket only as long as it is to become writable. */
static int ask_selector(struct vd__udp_socket *socket, bool watch)
{
    struct vd__selector *selector = socket->udp->loop->selector;

    if (socket->udp->uring == NULL) {
        unsigned interest = watch ? VD__READABLE | VD__WRITABLE : VD__READABLE;
        return selector->ops->modify(selector, &socket->source, interest);
    }
    return watch ? selector->ops->add(selector, &socket->source, VD__WRITABLE)
                 : selector->ops->remove(selector, &socket->source);
}

static int watch_writable(struct vd__udp_socket *socket, bool watch)
{
    if (socket->watching_writable == watch) {
        return 0;
    }
    if (ask_selector(socket, watch) < 0) {
        return -1;
    }
    socket->watching_writable = watch;
    return 0;
}

static void stall_for_time(struct vd__udp_socket *socket)
{
    struct vd__udp *udp = socket->udp;

    /* A socket that is writable all the time would wake the loop all the time. */
    (void)watch_writable(socket, false);
    socket->state = VD__UDP_RETRY;
    socket->next_stalled = udp->retry;
    udp->retry = socket;
    if (udp->retry_at == VD_TIME_NEVER) {
        udp->retry_at = udp->loop->now + RETRY_AFTER;
    }
}

static void stall_until_writable(struct vd__udp_socket *socket)
{
    if (watch_writable(socket, true) < 0) {
        stall_for_time(socket);
        return;
    }
    socket->state = VD__UDP_FULL;
}

static void put_on_resume_list(struct vd__udp_socket *socket)
{
    socket->state = VD__UDP_RESUMING;
    socket->next_stalled = socket->udp->resume;
    socket->udp->resume = socket;
}

void vd__udp_writable(struct vd__udp_socket *socket)
{
    if (socket->state == VD__UDP_FULL) {
        put_on_resume_list(socket);
    }
}

vd_time vd__udp_next_deadline(const struct vd__udp *udp)
{
    bool pending = udp->uring != NULL && vd__udp_uring_is_pending(udp->uring);

    return pending ? 0 : udp->retry_at;
}

/* ---- Sending ---- */

static void set_message(struct vd__udp_sender *sender, size_t i, const struct vd_send *message)
{
    struct msghdr *header = &sender->headers[i].msg_hdr;

    sender->messages[i] = message;
    header->msg_namelen = vd__sockaddr_from_addr(&sender->destinations[i], &message->flow.remote);
    /* The kernel only reads it. */
    sender->vectors[i] = (struct iovec){(void *)(uintptr_t)message->data, message->size};
}

static void finish(struct vd__udp_socket *socket, size_t from, size_t to)
{
    struct vd__udp *udp = socket->udp;

    for (size_t i = from; i < to; i++) {
        const struct vd_send *message = udp->sender->messages[i];
        udp->counters.sent_bytes += message->size;
        vd_stack_send_done(socket->stack, message);
    }
    udp->counters.sent_datagrams += to - from;
}

/* Whether an error that sending gave may have been left by an ICMP error for an earlier datagram:
 * then it has been taken away now, and sending can be tried again. It may as long as the error
 * queue holds something; and once anyway, since the kernel drops what does not fit into the queue.
 */
static bool was_pending(struct vd__udp_socket *socket, int attempt)
{
    return vd__udp_read_errors(socket) > 0 || attempt == 0;
}

/* Sends the first count messages of the sender's arrays, in order. The first of them was refused
 * already if system_error is not 0. Returns how many have been given back to the stack, sent or
 * failed: fewer than count when the socket has stalled. */
static size_t transmit(struct vd__udp_socket *socket, size_t count, int system_error)
{
    struct vd__udp *udp = socket->udp;
    size_t done = 0;
    int attempt = 0;

    for (; done < count; system_error = 0) {
        int sent = -1;
        if (system_error == 0) {
            sent = udp->ops->sendmmsg(socket->source.fd, udp->sender->headers + done,
                                      (unsigned)(count - done), 0);
            system_error = errno;
            udp->counters.send_calls++;
        }
        if (sent > 0) {
            finish(socket, done, done + (size_t)sent);
            done += (size_t)sent;
            if (done < count && udp->uring != NULL) {
                /* The kernel has taken a pending error away without telling. A selector would
                 * report what is in the error queue; here nothing else does. */
                vd__udp_read_errors(socket);
            }
            attempt = 0;
        } else if (system_error == EAGAIN || system_error == EWOULDBLOCK) {
            udp->counters.would_block++;
            stall_until_writable(socket);
            break;
        } else if (system_error == ENOBUFS || system_error == ENOMEM) {
            udp->counters.would_block++;
            stall_for_time(socket);
            break;
        } else if (attempt < ATTEMPTS && was_pending(socket, attempt)) {
            attempt++;
        } else if (system_error == ECONNREFUSED) {
            /* Errors for earlier datagrams keep coming. */
            stall_for_time(socket);
            break;
        } else {
            udp->counters.send_failed++;
            fail(udp->loop, socket->stack, udp->sender->messages[done], system_error,
                 "a message could not be sent");
            done++;
            attempt = 0;
        }
    }
    return done;
}

void vd__udp_send_refused(struct vd__udp_socket *socket, const struct vd_send *message,
                          int system_error)
{
    set_message(socket->udp->sender, 0, message);
    if (transmit(socket, 1, system_error) == 0) {
        enqueue(socket, message);
    }
}

/* With io_uring. Queues a message that is the only one of its socket in the batch. Returns false
 * when it is not, or the socket takes none: then nothing of the socket is on its way any more. */
static bool send_by_uring(struct vd__udp_socket *socket, const struct vd_send *message, bool only)
{
    struct vd__udp *udp = socket->udp;

    if (socket->sending) {
        vd__udp_uring_flush(udp->uring);
    }
    if (!only || socket->state != VD__UDP_OPEN) {
        return false;
    }
    int system_error = udp->ops->queue(socket, message);
    if (system_error != 0) {
        vd__udp_send_refused(socket, message, system_error);
    }
    return true;
}

/* Sends what the socket has in the batch. What it does not take waits. */
static void send_batch(struct vd__udp_socket *socket, const struct vd_send *sends)
{
    struct vd__udp_sender *sender = socket->udp->sender;
    int16_t i = socket->batch_first;
    size_t count = 0;

    socket->batch_first = -1;
    if (socket->udp->uring != NULL && send_by_uring(socket, &sends[i], sender->next[i] < 0)) {
        return;
    }
    if (socket->state != VD__UDP_OPEN) {
        for (; i >= 0; i = sender->next[i]) {
            enqueue(socket, &sends[i]);
        }
        return;
    }
    for (; i >= 0; i = sender->next[i]) {
        set_message(sender, count++, &sends[i]);
    }
    for (size_t j = transmit(socket, count, 0); j < count; j++) {
        enqueue(socket, sender->messages[j]);
    }
}

static struct vd__udp_socket *find_socket(const struct vd__served_stack *served, uint32_t endpoint)
{
    return endpoint < served->socket_capacity ? served->sockets[endpoint] : NULL;
}

/* Strings the batch's messages together by socket. Returns the sockets that have any. */
static struct vd__udp_socket *sort_by_socket(struct vd__udp *udp,
                                             const struct vd__served_stack *served,
                                             const struct vd_send *sends, size_t count)
{
    int16_t *next = udp->sender->next;
    struct vd__udp_socket *touched = NULL;

    for (size_t i = 0; i < count; i++) {
        struct vd__udp_socket *socket = find_socket(served, sends[i].flow.endpoint);
        if (socket == NULL) {
            udp->counters.send_failed++;
            fail(udp->loop, served->stack, &sends[i], 0, "the endpoint has no socket");
            continue;
        }
        if (socket->batch_first < 0) {
            socket->batch_first = (int16_t)i;
            socket->next_touched = touched;
            touched = socket;
        } else {
            next[socket->batch_last] = (int16_t)i;
        }
        socket->batch_last = (int16_t)i;
        next[i] = -1;
    }
    return touched;
}

void vd__udp_send(struct vd__udp *udp, const struct vd__served_stack *served,
                  const struct vd_send *sends, size_t count)
{
    struct vd__udp_socket *socket = sort_by_socket(udp, served, sends, count);

    while (socket != NULL) {
        struct vd__udp_socket *following = socket->next_touched;
        send_batch(socket, sends);
        socket = following;
    }
}

/* ---- Resuming ---- */

/* Sends what waits for the socket, until it stalls again. */
static void resume(struct vd__udp_socket *socket)
{
    struct vd__udp_sender *sender = socket->udp->sender;

    socket->state = VD__UDP_OPEN;
    while (socket->waiting_first != NULL && socket->state == VD__UDP_OPEN) {
        const struct vd__udp_waiting *waiting = socket->waiting_first;
        size_t count = 0;
        for (; waiting != NULL && count < VD__SEND_BATCH; waiting = waiting->next) {
            set_message(sender, count++, &waiting->send);
        }
        for (size_t done = transmit(socket, count, 0); done > 0; done--) {
            dequeue(socket);
        }
    }
    if (socket->state == VD__UDP_OPEN && watch_writable(socket, false) < 0) {
        /* It cannot be helped now; the next turn, which comes at once, tries again. */
        socket->state = VD__UDP_FULL;
    }
}

void vd__udp_resume(struct vd__udp *udp)
{
    if (udp->retry_at <= udp->loop->now) {
        struct vd__udp_socket *retry = udp->retry;
        udp->retry = NULL;
        udp->retry_at = VD_TIME_NEVER;
        while (retry != NULL) {
            struct vd__udp_socket *following = retry->next_stalled;
            put_on_resume_list(retry);
            retry = following;
        }
    }
    while (udp->resume != NULL) {
        struct vd__udp_socket *socket = udp->resume;
        udp->resume = socket->next_stalled;
        resume(socket);
    }
}
