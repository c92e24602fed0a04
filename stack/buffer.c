/* buffer.c - buffers for outgoing messages, in size classes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "buffer.h"

/* Room for data in each class. Up to 512 bytes, which most kept responses need, steps of 64 keep
 * the waste small. */
static const uint32_t class_sizes[VD__BUFFER_CLASSES] = {
    64,  128,  192,  256,  320,  384,  448,   512,   640,
    768, 1024, 1536, 2048, 4096, 8192, 16384, 32768, 66560,
};

/* Small buffers are cut from chunks of this size, the largest class gets chunks of its own size. */
#define CHUNK_SIZE ((size_t)65536)

void vd__buffers_init(struct vd__buffers *buffers, const struct vd_mem *mem)
{
    *buffers = (struct vd__buffers){.mem = mem};
}

void vd__buffers_free(struct vd__buffers *buffers)
{
    struct vd__buffer_chunk *chunk = buffers->chunks;
    while (chunk != NULL) {
        struct vd__buffer_chunk *next = chunk->next;
        buffers->mem->release(chunk, chunk->size, buffers->mem->context);
        chunk = next;
    }
    vd__buffers_init(buffers, buffers->mem);
}

static unsigned class_of(size_t size)
{
    if (size <= 512) {
        return size == 0 ? 0 : (unsigned)((size - 1) / 64);
    }
    unsigned size_class = 8;
    while (size_class < VD__BUFFER_CLASSES && class_sizes[size_class] < size) {
        size_class++;
    }
    return size_class;
}

static size_t footprint(unsigned size_class)
{
    return (sizeof(struct vd__buffer) + class_sizes[size_class] + 15) & ~(size_t)15;
}

/* What is left of the chunk in hand is cut into buffers for the free lists, so that none of it is
 * lost. */
static void spend_rest(struct vd__buffers *buffers)
{
    for (unsigned c = VD__BUFFER_CLASSES; c-- > 0;) {
        while (buffers->fresh_size >= footprint(c)) {
            struct vd__buffer *buffer = (struct vd__buffer *)(void *)buffers->fresh;
            buffer->size = class_sizes[c];
            buffer->size_class = (uint8_t)c;
            buffer->next = buffers->free[c];
            buffers->free[c] = buffer;
            buffers->fresh += footprint(c);
            buffers->fresh_size -= footprint(c);
        }
    }
}

static bool new_chunk(struct vd__buffers *buffers, size_t wanted)
{
    size_t header = (sizeof(struct vd__buffer_chunk) + 15) & ~(size_t)15;
    size_t size = header + (wanted > CHUNK_SIZE - header ? wanted : CHUNK_SIZE - header);
    struct vd__buffer_chunk *chunk = buffers->mem->allocate(size, buffers->mem->context);
    if (chunk == NULL) {
        return false;
    }
    spend_rest(buffers);
    chunk->next = buffers->chunks;
    chunk->size = size;
    buffers->chunks = chunk;
    buffers->fresh = (char *)chunk + header;
    buffers->fresh_size = size - header;
    return true;
}

struct vd__buffer *vd__buffer_take(struct vd__buffers *buffers, size_t size)
{
    unsigned size_class = class_of(size);
    if (size_class == VD__BUFFER_CLASSES) {
        return NULL;
    }
    struct vd__buffer *buffer = buffers->free[size_class];
    if (buffer != NULL) {
        buffers->free[size_class] = buffer->next;
    } else {
        size_t bytes = footprint(size_class);
        if (buffers->fresh_size < bytes && !new_chunk(buffers, bytes)) {
            return NULL;
        }
        buffer = (struct vd__buffer *)(void *)buffers->fresh;
        buffers->fresh += bytes;
        buffers->fresh_size -= bytes;
        buffer->size = class_sizes[size_class];
        buffer->size_class = (uint8_t)size_class;
    }
    buffer->next = NULL;
    buffer->references = 1;
    buffer->length = 0;
    return buffer;
}

void vd__buffer_unref(struct vd__buffers *buffers, struct vd__buffer *buffer)
{
    if (buffer == NULL || --buffer->references > 0) {
        return;
    }
    buffer->next = buffers->free[buffer->size_class];
    buffers->free[buffer->size_class] = buffer;
}

struct vd__buffer *vd__buffer_compact(struct vd__buffers *buffers, struct vd__buffer *buffer)
{
    unsigned size_class = class_of(buffer->length);
    if (size_class >= buffer->size_class) {
        return buffer;
    }
    /* A copy for which a chunk must be allocated saves nothing, unless it frees as much. */
    bool at_hand =
        buffers->free[size_class] != NULL || buffers->fresh_size >= footprint(size_class);
    if (!at_hand && buffer->size < CHUNK_SIZE) {
        return buffer;
    }
    struct vd__buffer *small = vd__buffer_take(buffers, buffer->length);
    if (small == NULL) {
        return buffer;
    }
    small->flow = buffer->flow;
    small->length = buffer->length;
    memcpy(small->data, buffer->data, buffer->length);
    vd__buffer_unref(buffers, buffer);
    return small;
}
