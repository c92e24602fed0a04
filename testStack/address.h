/* address.h - the addresses of the command line.
 *
 * Functions that return int return 0, or -1 after saying what is wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_ADDRESS_H
#define TESTSTACK_ADDRESS_H

#include <viaduct/addr.h>

/* Reads the literal of an address of ours, of one family; the wildcard address is none. name is the
 * option. */
int address_parse_local(struct vd_addr *out, const char *name, const char *text,
                        enum vd_family family, uint16_t port);

/* Reads "HOST:PORT", where HOST is a name, an IPv4 address, or an IPv6 address in brackets. A name
 * is looked up; its first address of the family is taken. */
int address_parse_peer(struct vd_addr *out, const char *name, const char *text,
                       enum vd_family family);

/* The address that the system sends from when it sends to peer; its port is 0. */
int address_towards(struct vd_addr *out, const struct vd_addr *peer);

#endif
