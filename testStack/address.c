/* address.c - the addresses of the command line.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "address.h"

#include "fail.h"
#include "parse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union socket_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static const char *family_name(enum vd_family family)
{
    return family == VD_FAMILY_IP6 ? "IPv6" : "IPv4";
}

static bool is_wildcard(const struct vd_addr *addr)
{
    static const uint8_t ZEROS[sizeof addr->ip];
    return memcmp(addr->ip, ZEROS, sizeof ZEROS) == 0;
}

int address_parse_local(struct vd_addr *out, const char *name, const char *text,
                        enum vd_family family, uint16_t port)
{
    if (vd_addr_parse(vd_str_from(text), port, out) != 0 || out->family != family) {
        return fail("%s: '%s' is not an %s address", name, text, family_name(family));
    }
    if (is_wildcard(out)) {
        return fail("%s: '%s' is every address of the machine; one to send to is needed", name,
                    text);
    }
    return 0;
}

static void from_socket_address(struct vd_addr *out, const union socket_address *address)
{
    if (address->any.sa_family == AF_INET6) {
        *out = (struct vd_addr){.family = VD_FAMILY_IP6,
                                .port = ntohs(address->v6.sin6_port),
                                .scope = address->v6.sin6_scope_id};
        memcpy(out->ip, &address->v6.sin6_addr, sizeof address->v6.sin6_addr);
    } else {
        *out = (struct vd_addr){.family = VD_FAMILY_IP4, .port = ntohs(address->v4.sin_port)};
        memcpy(out->ip, &address->v4.sin_addr, sizeof address->v4.sin_addr);
    }
}

static socklen_t to_socket_address(union socket_address *out, const struct vd_addr *address)
{
    memset(out, 0, sizeof *out);
    if (address->family == VD_FAMILY_IP6) {
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = htons(address->port);
        out->v6.sin6_scope_id = address->scope;
        memcpy(&out->v6.sin6_addr, address->ip, sizeof out->v6.sin6_addr);
        return sizeof out->v6;
    }
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons(address->port);
    memcpy(&out->v4.sin_addr, address->ip, sizeof out->v4.sin_addr);
    return sizeof out->v4;
}

/* The host without the brackets of an IPv6 address. False when text has no host and port. */
static bool split(const char *text, char *host, size_t room, const char **port)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text) {
        return false;
    }
    size_t length = (size_t)(colon - text);
    bool bracketed = text[0] == '[' && text[length - 1] == ']';
    if (bracketed) {
        text++;
        length -= 2;
    }
    if (length == 0 || length >= room || (!bracketed && memchr(text, ':', length) != NULL)) {
        return false;
    }
    memcpy(host, text, length);
    host[length] = '\0';
    *port = colon + 1;
    return true;
}

int address_parse_peer(struct vd_addr *out, const char *name, const char *text,
                       enum vd_family family)
{
    struct addrinfo hints = {.ai_family = family == VD_FAMILY_IP6 ? AF_INET6 : AF_INET,
                             .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found;
    char host[NI_MAXHOST];
    const char *port_text;
    uint32_t port;
    if (!split(text, host, sizeof host, &port_text)) {
        return fail("%s: '%s' is not HOST:PORT", name, text);
    }
    if (parse_count32(&port, name, port_text, 1, UINT16_MAX) < 0) {
        return -1;
    }
    int error = getaddrinfo(host, NULL, &hints, &found);
    if (error != 0) {
        return fail("%s: no %s address for '%s': %s", name, family_name(family), host,
                    gai_strerror(error));
    }
    union socket_address address;
    memcpy(&address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    from_socket_address(out, &address);
    out->port = (uint16_t)port;
    return is_wildcard(out) ? fail("%s: '%s' is no address to send to", name, text) : 0;
}

int address_towards(struct vd_addr *out, const struct vd_addr *peer)
{
    union socket_address address;
    socklen_t length = to_socket_address(&address, peer);
    int fd = socket(address.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int error = fd < 0 || connect(fd, &address.any, length) < 0 ||
                        getsockname(fd, &address.any, &length) < 0
                    ? errno
                    : 0;
    if (fd >= 0) {
        close(fd);
    }
    if (error != 0) {
        char text[VD_ADDR_TEXT_SIZE];
        vd_addr_format(peer, text);
        return fail("no way to %s: %s", text, strerror(error));
    }
    from_socket_address(out, &address);
    out->port = 0;
    return 0;
}
