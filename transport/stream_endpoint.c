/* stream_endpoint.c - the local ends of streams: opened, found by number, closed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connection.h"

#include <errno.h>
#include <unistd.h>

enum { CAPACITY_FIRST = 16 };

/* ---- Freeing ---- */

static void free_endpoint(struct vd__stream_endpoint *endpoint)
{
    struct vd_loop *loop = endpoint->streams->loop;

    if (endpoint->source.fd >= 0) {
        (void)loop->selector->ops->remove(loop->selector, &endpoint->source);
        close(endpoint->source.fd);
    }
    if (endpoint->channel_context != NULL) {
        endpoint->channel->free_context(loop, endpoint->channel_context);
    }
    vd__loop_release(loop, endpoint, sizeof *endpoint);
}

static void free_owner(struct vd_loop *loop, struct vd__stream_stack *owner)
{
    if (owner != NULL) {
        vd__loop_release(loop, owner->endpoints, owner->capacity * sizeof *owner->endpoints);
        vd__loop_release(loop, owner->headers, owner->limits->headers * sizeof *owner->headers);
        vd__loop_release(loop, owner, sizeof *owner);
    }
}

void vd__stream_endpoints_free(struct vd__streams *streams)
{
    while (streams->endpoints != NULL) {
        struct vd__stream_endpoint *endpoint = streams->endpoints;
        streams->endpoints = endpoint->next;
        free_endpoint(endpoint);
    }
    for (struct vd__served_stack *served = streams->loop->first; served != NULL;
         served = served->next) {
        free_owner(streams->loop, served->streams);
        served->streams = NULL;
    }
}

/* ---- Opening ---- */

static int reserve_endpoint(struct vd_loop *loop, struct vd__stream_stack *owner, size_t endpoint)
{
    size_t capacity = owner->capacity;

    if (endpoint < capacity) {
        return 0;
    }
    while (capacity <= endpoint) {
        capacity = capacity > 0 ? capacity * 2 : CAPACITY_FIRST;
    }
    struct vd__stream_endpoint **endpoints = vd__loop_allocate(loop, capacity * sizeof *endpoints);
    if (endpoints == NULL) {
        return VD_ERR_NOMEM;
    }
    if (owner->endpoints != NULL) {
        memcpy(endpoints, owner->endpoints, owner->capacity * sizeof *endpoints);
        vd__loop_release(loop, owner->endpoints, owner->capacity * sizeof *endpoints);
    }
    owner->endpoints = endpoints;
    owner->capacity = capacity;
    return 0;
}

static struct vd__stream_stack *owner_of(struct vd_loop *loop, struct vd__served_stack *served)
{
    if (served->streams != NULL) {
        return served->streams;
    }
    struct vd__stream_stack *owner = vd__loop_allocate(loop, sizeof *owner);
    if (owner == NULL) {
        return NULL;
    }
    owner->stack = served->stack;
    owner->limits = vd_stack_limits(served->stack);
    owner->headers = vd__loop_allocate(loop, owner->limits->headers * sizeof *owner->headers);
    if (owner->headers == NULL) {
        vd__loop_release(loop, owner, sizeof *owner);
        return NULL;
    }
    vd_message_init(&owner->message, owner->headers, owner->limits->headers);
    served->streams = owner;
    return owner;
}

static struct vd__stream_endpoint *new_endpoint(struct vd__streams *streams,
                                                struct vd__served_stack *served)
{
    const struct vd_mem *mem = streams->loop->config.mem;
    struct vd__stream_stack *owner = owner_of(streams->loop, served);

    if (streams->buffer == NULL) {
        /* Not zeroed: what no bytes reach takes no memory. */
        streams->buffer = mem->allocate(VD__STREAM_BUFFER_SIZE, mem->context);
    }
    struct vd__stream_endpoint *made = vd__loop_allocate(streams->loop, sizeof *made);
    if (owner == NULL || made == NULL || streams->buffer == NULL) {
        vd__loop_release(streams->loop, made, sizeof *made);
        return NULL;
    }
    made->source = (struct vd__source){-1, vd__listener_ready};
    made->streams = streams;
    made->owner = owner;
    return made;
}

static int listen_on(struct vd__stream_endpoint *endpoint, const struct vd_addr *bind,
                     const struct vd_tcp_options *options)
{
    struct vd_loop *loop = endpoint->streams->loop;
    int fd;

    int error = vd__stream_listen(loop, bind, options, &fd, &endpoint->local);
    if (error != 0) {
        return error;
    }
    endpoint->source.fd = fd;
    if (loop->selector->ops->add(loop->selector, &endpoint->source, VD__READABLE) < 0) {
        vd__loop_log(loop, &(struct vd_log_event){.level = VD_LOG_ERROR,
                                                  .error = VD_ERR_SYSTEM,
                                                  .system_error = errno,
                                                  .text = "cannot watch a listener"});
        return VD_ERR_SYSTEM;
    }
    return 0;
}

/* The last step, since an endpoint of a stack cannot be taken back. Room for it is made before, on
 * the guess that the stack's last endpoint was opened here as well. */
static int add_endpoint(struct vd__stream_endpoint *endpoint, enum vd_transport transport,
                        struct vd_str sent_by)
{
    struct vd_loop *loop = endpoint->streams->loop;
    struct vd__stream_stack *owner = endpoint->owner;
    char text[VD_ADDR_TEXT_SIZE];

    if (sent_by.n == 0) {
        sent_by = vd_str(text, vd_addr_format(&endpoint->local, text));
    }
    if (sent_by.p == text && endpoint->local.port == 0) {
        sent_by.n -= 2; /* ":0" */
    }
    struct vd__stream_endpoint *last = endpoint->streams->endpoints;
    int error = reserve_endpoint(loop, owner, last != NULL ? (size_t)last->number + 1 : 0);
    if (error == 0) {
        error = vd_stack_add_endpoint(owner->stack, transport, sent_by, &endpoint->number);
    }
    if (error == 0) {
        error = reserve_endpoint(loop, owner, endpoint->number);
    }
    if (error == 0) {
        owner->endpoints[endpoint->number] = endpoint;
    }
    return error;
}

int vd__streams_open(struct vd_loop *loop, struct vd_stack *stack, enum vd_transport transport,
                     const struct vd__channel_ops *channel, void *channel_context,
                     const struct vd_addr *bind, const struct vd_tcp_options *options,
                     uint32_t *endpoint)
{
    struct vd__streams *streams = loop->streams;
    struct vd__served_stack *served = vd__loop_find_stack(loop, stack);
    int error = 0;

    if (served == NULL) {
        return VD_ERR_INVALID;
    }
    struct vd__stream_endpoint *made = new_endpoint(streams, served);
    if (made == NULL) {
        return VD_ERR_NOMEM;
    }
    made->channel = channel;
    made->channel_context = channel_context;
    made->local = *bind;
    made->id = ++streams->last_id;
    made->receive_buffer = options->receive_buffer;
    made->send_buffer = options->send_buffer;
    if (options->listen) {
        error = listen_on(made, bind, options);
    }
    if (error == 0) {
        error = add_endpoint(made, transport, options->sent_by);
    }
    if (error != 0) {
        made->channel_context = NULL; /* it stays the caller's */
        free_endpoint(made);
        return error;
    }
    made->next = streams->endpoints;
    streams->endpoints = made;
    *endpoint = made->number;
    return 0;
}

/* ---- Finding ---- */

struct vd__stream_endpoint *vd__streams_endpoint(const struct vd__served_stack *served,
                                                 uint32_t endpoint)
{
    const struct vd__stream_stack *owner = served->streams;

    return owner != NULL && endpoint < owner->capacity ? owner->endpoints[endpoint] : NULL;
}
