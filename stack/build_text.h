/* build_text.h - appends bytes to a builder whose room was made first.
 *
 * Each vd__build_put function writes at p, where there is room, and returns what is behind what it
 * wrote.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_BUILD_TEXT_H
#define VIADUCT_STACK_BUILD_TEXT_H

#include <viaduct/build.h>

/* Makes an error stick, and returns it. */
static inline int vd__build_fail(struct vd_builder *builder, int error)
{
    /* A message that was ended is done; a call too many does not take it back. */
    if (!builder->ended) {
        builder->error = error;
    }
    return error;
}

/* What a function returns that may not append. */
static inline int vd__build_result(const struct vd_builder *builder)
{
    return builder->error != 0 ? builder->error : VD_ERR_STATE;
}

/* The rest of vd__build_room. */
char *vd__build_grow(struct vd_builder *builder, size_t size);

/* Where size more bytes may be written; NULL when there is no room, and the error sticks. */
static inline char *vd__build_room(struct vd_builder *builder, size_t size)
{
    if (size <= builder->capacity - builder->length) {
        return builder->data + builder->length;
    }
    return vd__build_grow(builder, size);
}

/* The message now goes up to p. */
static inline int vd__build_advance(struct vd_builder *builder, const char *p)
{
    builder->length = (size_t)(p - builder->data);
    return 0;
}

/* The bytes of text as they are. */
static inline char *vd__build_put(char *p, struct vd_str text)
{
    if (text.n != 0) {
        memcpy(p, text.p, text.n);
    }
    return p + text.n;
}

/* A number in decimal, and how many digits it has. */
char *vd__build_put_number(char *p, uint64_t number);
size_t vd__build_number_size(uint64_t number);

/* Text of a header field: at most text.n bytes, each fold as one space. NULL when it holds NUL, or
 * a CR or LF that is part of no fold. */
char *vd__build_put_checked(char *p, struct vd_str text);

/* Room for that text and `more` bytes. */
char *vd__build_room_checked(struct vd_builder *builder, struct vd_str text, size_t more);

/* Text as a quoted-string, and how many bytes that is. NULL when it holds NUL, CR, LF or what is no
 * UTF-8. */
char *vd__build_put_quoted(char *p, struct vd_str text);
size_t vd__build_quoted_size(struct vd_str text);

#endif
