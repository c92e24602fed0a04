/* sockaddr.c - from addresses of the stack to addresses of the kernel and back.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sockaddr.h"

#include <string.h>

socklen_t vd__sockaddr_from_addr(union vd__sockaddr *out, const struct vd_addr *addr)
{
    switch (addr->family) {
    case VD_FAMILY_IP4:
        out->ip4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(addr->port)};
        memcpy(&out->ip4.sin_addr, addr->ip, sizeof out->ip4.sin_addr);
        return sizeof out->ip4;
    case VD_FAMILY_IP6:
        out->ip6 = (struct sockaddr_in6){
            .sin6_family = AF_INET6,
            .sin6_port = htons(addr->port),
            .sin6_scope_id = addr->scope,
        };
        memcpy(&out->ip6.sin6_addr, addr->ip, sizeof out->ip6.sin6_addr);
        return sizeof out->ip6;
    default:
        return 0;
    }
}

void vd__sockaddr_to_addr(struct vd_addr *out, const union vd__sockaddr *sockaddr, socklen_t length)
{
    *out = (struct vd_addr){.family = VD_FAMILY_NONE};
    if (length >= sizeof sockaddr->ip4 && sockaddr->any.sa_family == AF_INET) {
        out->family = VD_FAMILY_IP4;
        out->port = ntohs(sockaddr->ip4.sin_port);
        memcpy(out->ip, &sockaddr->ip4.sin_addr, sizeof sockaddr->ip4.sin_addr);
    } else if (length >= sizeof sockaddr->ip6 && sockaddr->any.sa_family == AF_INET6) {
        out->family = VD_FAMILY_IP6;
        out->port = ntohs(sockaddr->ip6.sin6_port);
        out->scope = sockaddr->ip6.sin6_scope_id;
        memcpy(out->ip, &sockaddr->ip6.sin6_addr, sizeof sockaddr->ip6.sin6_addr);
    }
}

bool vd__addr_is_wildcard(const struct vd_addr *addr)
{
    static const uint8_t zero[sizeof addr->ip];

    /* The bytes behind an IPv4 address are zero. */
    return memcmp(addr->ip, zero, sizeof zero) == 0;
}

int vd__sockaddr_bind(int fd, const struct vd_addr *addr, struct vd_addr *local)
{
    union vd__sockaddr sockaddr;
    socklen_t length = vd__sockaddr_from_addr(&sockaddr, addr);

    if (bind(fd, &sockaddr.any, length) < 0) {
        return -1;
    }
    length = sizeof sockaddr;
    if (getsockname(fd, &sockaddr.any, &length) < 0) {
        return -1;
    }
    vd__sockaddr_to_addr(local, &sockaddr, length);
    return 0;
}
