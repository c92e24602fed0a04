/* text.c - the constant text of the messages, made once, and the few digits that change.
 *
 * SPDX-License-Identifier: MIT
 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void text_hex(char *out, uint64_t value)
{
    static const char DIGITS[] = "0123456789abcdef";
    for (int i = TEXT_HEX - 1; i >= 0; i--) {
        out[i] = DIGITS[value & 15];
        value >>= 4;
    }
}

bool text_parse_hex(struct vd_str text, uint64_t *out)
{
    uint64_t value = 0;
    if (text.n != TEXT_HEX) {
        return false;
    }
    for (size_t i = 0; i < TEXT_HEX; i++) {
        char c = text.p[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;
        if (digit == 16) {
            return false;
        }
        value = value << 4 | digit;
    }
    *out = value;
    return true;
}

int text_arena_init(struct text_arena *arena, size_t capacity)
{
    *arena = (struct text_arena){.bytes = malloc(capacity), .capacity = capacity};
    return arena->bytes == NULL ? -1 : 0;
}

void text_arena_free(struct text_arena *arena)
{
    free(arena->bytes);
}

struct vd_str text_add(struct text_arena *arena, const char *format, ...)
{
    va_list arguments;
    char *start = arena->bytes + arena->size;
    size_t room = arena->capacity - arena->size;
    va_start(arguments, format);
    int length = vsnprintf(start, room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= room) {
        return vd_str(NULL, 0);
    }
    arena->size += (size_t)length + 1;
    return vd_str(start, (size_t)length);
}

struct vd_str text_add_sdp(struct text_arena *arena, const struct vd_addr *address)
{
    char ip[VD_ADDR_TEXT_SIZE];
    const char *type = address->family == VD_FAMILY_IP6 ? "IP6" : "IP4";
    vd_addr_format_ip(address, ip);
    return text_add(arena,
                    "v=0\r\n"
                    "o=- 3724394400 3724394405 IN %s %s\r\n"
                    "s=-\r\n"
                    "c=IN %s %s\r\n"
                    "t=0 0\r\n"
                    "m=audio 49170 RTP/AVP 0 8 101\r\n"
                    "a=rtpmap:0 PCMU/8000\r\n"
                    "a=rtpmap:8 PCMA/8000\r\n"
                    "a=rtpmap:101 telephone-event/8000\r\n"
                    "a=fmtp:101 0-15\r\n"
                    "a=ptime:20\r\n"
                    "a=sendrecv\r\n",
                    type, ip, type, ip);
}

const char *text_uri_transport(enum vd_transport transport)
{
    switch (transport) {
    case VD_TRANSPORT_TCP:
        return ";transport=tcp";
    case VD_TRANSPORT_TLS:
        return ";transport=tls";
    default:
        return "";
    }
}
