/* sockaddr.h - from addresses of the stack to addresses of the kernel and back.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_SOCKADDR_H
#define VIADUCT_TRANSPORT_SOCKADDR_H

#include <netinet/in.h>
#include <sys/socket.h>

#include <viaduct/addr.h>

/* An address as the kernel has it; no larger than IPv6 needs. */
union vd__sockaddr {
    struct sockaddr any;
    struct sockaddr_in ip4;
    struct sockaddr_in6 ip6;
};

/* Fills out and returns its length; 0 when the address has no family. */
socklen_t vd__sockaddr_from_addr(union vd__sockaddr *out, const struct vd_addr *addr);

/* Reads length bytes of sockaddr. An address of a family other than IPv4 and IPv6, or too short for
 * its family, gives VD_FAMILY_NONE. */
void vd__sockaddr_to_addr(struct vd_addr *out, const union vd__sockaddr *sockaddr,
                          socklen_t length);

/* Binds a socket; *local is then the address and port that it has. Returns 0, or -1 with errno. */
int vd__sockaddr_bind(int fd, const struct vd_addr *addr, struct vd_addr *local);

/* True for 0.0.0.0 and ::, whatever the port. */
bool vd__addr_is_wildcard(const struct vd_addr *addr);

#endif
