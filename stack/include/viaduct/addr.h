/* viaduct/addr.h - IP addresses, ports and flows, without a socket header.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_ADDR_H
#define VIADUCT_ADDR_H

#include <viaduct/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum vd_family { VD_FAMILY_NONE = 0, VD_FAMILY_IP4 = 4, VD_FAMILY_IP6 = 6 };

/* An IP address and a port. ip is in network byte order: 4 bytes for IPv4 (the other 12 are zero),
 * 16 for IPv6. port is in host byte order. scope is the IPv6 scope id, 0 for none. */
struct vd_addr {
    uint8_t family;
    uint16_t port;
    uint32_t scope;
    uint8_t ip[16];
};

/* Room for the longest text that vd_addr_format writes, with its NUL. */
#define VD_ADDR_TEXT_SIZE 64

/* Reads an address literal: "192.0.2.1", "2001:db8::1" or "[2001:db8::1]" (RFC 3261 25.1; the
 * brackets may be missing, as in a received parameter, RFC 5118 4.5). A number in an IPv4 address
 * is decimal. port is taken as given.
 *
 * Returns 0, or VD_ERR_SYNTAX when the text is no address literal (a host name, for example). */
VD_API int vd_addr_parse(struct vd_str text, uint16_t port, struct vd_addr *out);

/* Writes the address without its port, an IPv6 address without brackets and in the form of RFC
 * 5952, with a NUL. Returns the length without the NUL; out holds VD_ADDR_TEXT_SIZE bytes. */
VD_API size_t vd_addr_format_ip(const struct vd_addr *addr, char *out);

/* Writes "192.0.2.1:5060" or "[2001:db8::1]:5060", with a NUL. Returns the length without the NUL;
 * out holds VD_ADDR_TEXT_SIZE bytes. */
VD_API size_t vd_addr_format(const struct vd_addr *addr, char *out);

/* True when the IP addresses are the same (the port does not count). An IPv4 address equals the
 * IPv4-mapped IPv6 address that names it. */
VD_API bool vd_addr_same_ip(const struct vd_addr *a, const struct vd_addr *b);

/* True when IP address, port and scope are the same. */
VD_API bool vd_addr_equal(const struct vd_addr *a, const struct vd_addr *b);

/* A transport protocol (RFC 3261 18): datagrams over UDP, streams over TCP and TLS. */
enum vd_transport { VD_TRANSPORT_UDP = 0, VD_TRANSPORT_TCP = 1, VD_TRANSPORT_TLS = 2 };

/* True when the transport itself repeats what is lost (RFC 3261 17: "reliable transport"). */
static inline bool vd_transport_reliable(enum vd_transport transport)
{
    return transport != VD_TRANSPORT_UDP;
}

/* The name as it stands in a Via header field (RFC 3261 20.42): "UDP", "TCP" or "TLS"; empty for a
 * number that is no vd_transport. The string is static. */
VD_API struct vd_str vd_transport_name(enum vd_transport transport);

/* A flow: how bytes reach a peer. endpoint is the number that vd_stack_add_endpoint gave to the
 * local end; connection is the number that the transport layer gave to a connection, 0 for a
 * datagram or for "whatever connection reaches remote". */
struct vd_flow {
    uint32_t endpoint;
    uint32_t connection;
    struct vd_addr remote;
};

#ifdef __cplusplus
}
#endif

#endif
