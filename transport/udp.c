/* udp.c - the UDP sockets of a loop: opened, found by endpoint, closed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "udp_internal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_DEFAULT = 1 << 20, QUEUE_DEFAULT = 4096, CAPACITY_FIRST = 16 };

static int receive_now(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    return recvmmsg(fd, messages, count, flags, NULL);
}

static int send_now(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    return sendmmsg(fd, messages, count, flags);
}

static const struct vd__udp_ops system_ops = {
    .sendmmsg = send_now,
    .recvmmsg = receive_now,
    .recvmsg = recvmsg,
    .queue = vd__udp_uring_queue,
};

/* ---- All sockets ---- */

struct vd__udp *vd__udp_new(struct vd_loop *loop)
{
    struct vd__udp *udp = vd__loop_allocate(loop, sizeof *udp);

    if (udp == NULL) {
        return NULL;
    }
    udp->loop = loop;
    udp->ops = &system_ops;
    udp->retry_at = VD_TIME_NEVER;
    udp->sender = vd__udp_sender_new(loop);
    if (udp->sender == NULL) {
        vd__udp_free(udp);
        return NULL;
    }
    return udp;
}

static void free_socket(struct vd__udp_socket *opened)
{
    struct vd_loop *loop = opened->udp->loop;

    vd__udp_drop_waiting(opened);
    (void)loop->selector->ops->remove(loop->selector, &opened->source);
    close(opened->source.fd);
    vd__loop_release(loop, opened, sizeof *opened);
}

void vd__udp_free(struct vd__udp *udp)
{
    if (udp == NULL) {
        return;
    }
    /* Its requests name the sockets. */
    vd__udp_uring_free(udp->uring);
    while (udp->sockets != NULL) {
        struct vd__udp_socket *opened = udp->sockets;
        udp->sockets = opened->next;
        free_socket(opened);
    }
    vd__udp_free_waiting(udp);
    vd__udp_receiver_free(udp->loop, udp->receiver);
    vd__udp_sender_free(udp->loop, udp->sender);
    vd__loop_release(udp->loop, udp, sizeof *udp);
}

/* ---- Opening ---- */

void vd_udp_options_init(struct vd_udp_options *options)
{
    *options = (struct vd_udp_options){
        .receive_buffer = BUFFER_DEFAULT,
        .send_buffer = BUFFER_DEFAULT,
        .send_queue_limit = QUEUE_DEFAULT,
    };
}

static bool are_valid(const struct vd_addr *bind, const struct vd_udp_options *options)
{
    bool family = bind->family == VD_FAMILY_IP4 || bind->family == VD_FAMILY_IP6;
    bool named = options->sent_by.n > 0 || !vd__addr_is_wildcard(bind);

    return family && named && options->receive_buffer <= INT_MAX && options->send_buffer <= INT_MAX;
}

/* Makes room for a socket at the number endpoint. */
static int reserve_endpoint(struct vd_loop *loop, struct vd__served_stack *served, size_t endpoint)
{
    size_t capacity = served->socket_capacity;

    if (endpoint < capacity) {
        return 0;
    }
    while (capacity <= endpoint) {
        capacity = capacity > 0 ? capacity * 2 : CAPACITY_FIRST;
    }
    struct vd__udp_socket **sockets = vd__loop_allocate(loop, capacity * sizeof *sockets);
    if (sockets == NULL) {
        return VD_ERR_NOMEM;
    }
    if (served->sockets != NULL) {
        memcpy(sockets, served->sockets, served->socket_capacity * sizeof *sockets);
        vd__loop_release(loop, served->sockets, served->socket_capacity * sizeof *sockets);
    }
    served->sockets = sockets;
    served->socket_capacity = capacity;
    return 0;
}

/* The last step, since an endpoint of a stack cannot be taken back. Room for it is made before, on
 * the guess that the stack's last endpoint was opened here as well. */
static int add_endpoint(struct vd_loop *loop, struct vd__served_stack *served,
                        struct vd__udp_socket *opened, struct vd_str sent_by)
{
    char text[VD_ADDR_TEXT_SIZE];

    if (sent_by.n == 0) {
        sent_by = vd_str(text, vd_addr_format(&opened->local, text));
    }
    int error = reserve_endpoint(loop, served, served->next_endpoint);
    if (error == 0) {
        error = vd_stack_add_endpoint(served->stack, VD_TRANSPORT_UDP, sent_by, &opened->endpoint);
    }
    if (error == 0) {
        error = reserve_endpoint(loop, served, opened->endpoint);
    }
    if (error == 0) {
        served->sockets[opened->endpoint] = opened;
        served->next_endpoint = (size_t)opened->endpoint + 1;
    }
    return error;
}

static void on_ready(struct vd__source *source, unsigned readiness)
{
    struct vd__udp_socket *opened = (struct vd__udp_socket *)source;

    if ((readiness & VD__WRITABLE) != 0) {
        vd__udp_writable(opened);
    }
    if ((readiness & VD__FAULTY) != 0) {
        vd__udp_read_errors(opened);
    }
    /* Receiving also takes a pending error away that has left nothing in the error queue. */
    if ((readiness & (VD__READABLE | VD__FAULTY)) != 0) {
        vd__udp_receive(opened, opened->udp->loop->receive_quota);
    }
}

/* What the first socket needs and the others share. */
static bool make_receiver(struct vd__udp *udp)
{
    if (udp->receiver == NULL) {
        udp->receiver = vd__udp_receiver_new(udp->loop);
    }
    if (udp->loop->uring == NULL) {
        return udp->receiver != NULL;
    }
    if (udp->uring == NULL) {
        udp->uring = vd__udp_uring_new(udp, udp->loop->uring);
    }
    return udp->receiver != NULL && udp->uring != NULL;
}

static struct vd__udp_socket *new_socket(struct vd__udp *udp, struct vd_stack *stack,
                                         const struct vd_udp_options *options)
{
    if (!make_receiver(udp)) {
        return NULL;
    }
    struct vd__udp_socket *made = vd__loop_allocate(udp->loop, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    made->source.on_ready = on_ready;
    made->udp = udp;
    made->stack = stack;
    made->batch_first = -1;
    made->batch_last = -1;
    made->waiting_limit = options->send_queue_limit;
    made->filter = options->filter;
    made->filter_context = options->filter_context;
    return made;
}

static int watch(struct vd_loop *loop, struct vd__udp_socket *opened)
{
    if (loop->udp->uring != NULL) {
        return 0; /* once it is an endpoint */
    }
    if (loop->selector->ops->add(loop->selector, &opened->source, VD__READABLE) < 0) {
        vd__loop_log(loop, &(struct vd_log_event){.level = VD_LOG_ERROR,
                                                  .error = VD_ERR_SYSTEM,
                                                  .system_error = errno,
                                                  .text = "cannot watch a UDP socket"});
        return VD_ERR_SYSTEM;
    }
    return 0;
}

int vd_udp_open(struct vd_loop *loop, struct vd_stack *stack, const struct vd_addr *bind,
                const struct vd_udp_options *options, uint32_t *endpoint)
{
    struct vd__served_stack *served = vd__loop_find_stack(loop, stack);
    struct vd_udp_options defaults;

    if (options == NULL) {
        vd_udp_options_init(&defaults);
        options = &defaults;
    }
    if (served == NULL || !are_valid(bind, options)) {
        return VD_ERR_INVALID;
    }
    struct vd__udp_socket *opened = new_socket(loop->udp, stack, options);
    if (opened == NULL) {
        return VD_ERR_NOMEM;
    }
    int error = vd__udp_socket_open(loop, bind, options, &opened->source.fd, &opened->local);
    if (error != 0) {
        vd__loop_release(loop, opened, sizeof *opened);
        return error;
    }
    error = watch(loop, opened);
    if (error == 0) {
        error = add_endpoint(loop, served, opened, options->sent_by);
    }
    if (error != 0) {
        free_socket(opened);
        return error;
    }
    if (loop->udp->uring != NULL) {
        vd__udp_uring_watch(opened);
    }
    opened->next = loop->udp->sockets;
    loop->udp->sockets = opened;
    *endpoint = opened->endpoint;
    return 0;
}

/* ---- What the application may ask ---- */

int vd_udp_local_addr(const struct vd_loop *loop, const struct vd_stack *stack, uint32_t endpoint,
                      struct vd_addr *out)
{
    const struct vd__served_stack *served = vd__loop_find_stack(loop, stack);

    if (served == NULL || endpoint >= served->socket_capacity ||
        served->sockets[endpoint] == NULL) {
        return VD_ERR_INVALID;
    }
    *out = served->sockets[endpoint]->local;
    return 0;
}

void vd_udp_get_counters(const struct vd_loop *loop, struct vd_udp_counters *out)
{
    *out = loop->udp->counters;
}

uint64_t vd_udp_waiting(const struct vd_loop *loop)
{
    return loop->udp->waiting_count;
}
