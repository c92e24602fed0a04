/* ports.c - free ports of the loopback address for a test.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST_PORT = 21000, LAST_PORT = 31000 };

static int bind_socket(int fd, const struct vd_addr *address)
{
    if (address->family == VD_FAMILY_IP6) {
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(address->port)};
        memcpy(&v6.sin6_addr, address->ip, sizeof v6.sin6_addr);
        return bind(fd, (struct sockaddr *)&v6, sizeof v6);
    }
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(address->port)};
    memcpy(&v4.sin_addr, address->ip, sizeof v4.sin_addr);
    return bind(fd, (struct sockaddr *)&v4, sizeof v4);
}

int ports_bind(const struct vd_addr *address, enum vd_transport transport)
{
    bool is_stream = transport != VD_TRANSPORT_UDP;
    int one = 1;
    int fd = socket(address->family == VD_FAMILY_IP6 ? AF_INET6 : AF_INET,
                    is_stream ? SOCK_STREAM : SOCK_DGRAM, 0);
    if (fd < 0) {
        return -1;
    }
    if ((is_stream && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0) ||
        bind_socket(fd, address) < 0 || (is_stream && listen(fd, 1) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool is_free(const struct vd_addr *address)
{
    int datagram = ports_bind(address, VD_TRANSPORT_UDP);
    int stream = ports_bind(address, VD_TRANSPORT_TCP);
    if (datagram >= 0) {
        close(datagram);
    }
    if (stream >= 0) {
        close(stream);
    }
    return datagram >= 0 && stream >= 0;
}

void ports_find(struct options *options, bool ip6)
{
    struct vd_addr address;
    unsigned found = 0;
    vd_addr_parse(ip6 ? VD_STR("::1") : VD_STR("127.0.0.1"), 0, &address);
    for (unsigned port = FIRST_PORT; port < LAST_PORT; port++) {
        address.port = (uint16_t)port;
        found = is_free(&address) ? found + 1 : 0;
        if (found == 2 * options->ports) {
            address.port = (uint16_t)(port - found + 1);
            options->sender = address;
            options->receiver = options_port(&address, options->ports);
            return;
        }
    }
    abort();
}

bool ports_have_ip6(void)
{
    struct vd_addr address;
    vd_addr_parse(VD_STR("::1"), 0, &address);
    int fd = ports_bind(&address, VD_TRANSPORT_UDP);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}
