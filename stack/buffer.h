/* buffer.h - buffers for outgoing messages, shared by a transaction that may repeat the message and
 * the outbox that sends it.
 *
 * Buffers come in size classes; those that come back are reused, so a warm stack allocates none.
 * They are cut from chunks, which go back to the allocator when the stack is freed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_BUFFER_H
#define VIADUCT_STACK_BUFFER_H

#include <viaduct/addr.h>
#include <viaduct/base.h>
#include <viaduct/mem.h>

#define VD__BUFFER_CLASSES 18

/* token names the transaction to tell when the message cannot be sent, 0 for none. data is size
 * bytes of room, length of which are the message. */
struct vd__buffer {
    struct vd__buffer *next; /* in a free list */
    struct vd_flow flow;
    uint32_t references;
    uint32_t length;
    uint32_t size;
    uint8_t size_class;
    char data[];
};

struct vd__buffer_chunk {
    struct vd__buffer_chunk *next;
    size_t size;
};

struct vd__buffers {
    const struct vd_mem *mem;
    struct vd__buffer *free[VD__BUFFER_CLASSES];
    struct vd__buffer_chunk *chunks;
    char *fresh; /* the part of the newest chunk that was never handed out */
    size_t fresh_size;
};

void vd__buffers_init(struct vd__buffers *buffers, const struct vd_mem *mem);
void vd__buffers_free(struct vd__buffers *buffers);

/* A buffer with room for at least size bytes and one reference; NULL when there is no memory. */
struct vd__buffer *vd__buffer_take(struct vd__buffers *buffers, size_t size);

static inline struct vd__buffer *vd__buffer_ref(struct vd__buffer *buffer)
{
    buffer->references++;
    return buffer;
}

/* Gives a reference back; NULL is allowed. */
void vd__buffer_unref(struct vd__buffers *buffers, struct vd__buffer *buffer);

/* The buffer itself, or a smaller copy of it when that saves a size class; the caller's reference
 * moves to what is returned. */
struct vd__buffer *vd__buffer_compact(struct vd__buffers *buffers, struct vd__buffer *buffer);

#endif
