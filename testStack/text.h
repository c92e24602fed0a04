/* text.h - the constant text of the messages, made once, and the few digits that change.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_TEXT_H
#define TESTSTACK_TEXT_H

#include <viaduct/addr.h>
#include <viaduct/base.h>

/* Digits of a number that text_hex writes. */
enum { TEXT_HEX = 16 };

/* Writes value as 16 lower-case hexadecimal digits, without a NUL. */
void text_hex(char *out, uint64_t value);

/* Reads what text_hex wrote. False when text is anything else. */
bool text_parse_hex(struct vd_str text, uint64_t *out);

/* Room for constant text; what was added stays where it is until the arena is freed. */
struct text_arena {
    char *bytes;
    size_t size;
    size_t capacity;
};

/* Returns 0, or -1 when there is no memory. */
int text_arena_init(struct text_arena *arena, size_t capacity);
void text_arena_free(struct text_arena *arena);

/* Adds formatted text. The caller may overwrite its characters. What does not fit gives an empty
 * view. */
struct vd_str text_add(struct text_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the session description of a side: one audio stream at its address. */
struct vd_str text_add_sdp(struct text_arena *arena, const struct vd_addr *address);

/* What a URI ends with so that it is reached over transport (RFC 3261 19.1.1). */
const char *text_uri_transport(enum vd_transport transport);

#endif
