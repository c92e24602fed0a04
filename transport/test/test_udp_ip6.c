/* test_udp_ip6.c - what is different with IPv6.
 *
 * Covered: an exchange between IPv6 sockets, the sent-by in brackets, ICMPv6, and that an IPv6
 * socket leaves the same port to IPv4. It is skipped where the loopback interface has no IPv6. Not
 * covered: what both families have in common (the other test_udp_*.c); scopes, which need a second
 * interface.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/udp.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "exchange.h"
#include "over_selectors.h"
#include "sockaddr.h"

enum { SKIPPED = 77 };

static void setup(struct exchange *exchange)
{
    struct vd_addr bind = loopback_ip6();

    CU_ASSERT_FATAL(exchange_init(exchange, &bind, NULL));
}

static void requests_and_answers_pass_between_ip6_sockets(void)
{
    struct exchange exchange;
    char text[VD_ADDR_TEXT_SIZE];

    setup(&exchange);
    CU_ASSERT_EQUAL(exchange.client.addr.family, VD_FAMILY_IP6);
    for (uint32_t i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, i), 0);
    }
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, 100));
    CU_ASSERT_EQUAL(exchange.client.failures, 0);
    snprintf(text, sizeof text, "[::1]:%u", (unsigned)exchange.client.addr.port);
    CU_ASSERT_STRING_EQUAL(exchange.server.sent_by, text);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void a_request_to_a_closed_ip6_port_is_refused(void)
{
    struct exchange exchange;
    struct vd_addr bind = loopback_ip6();

    setup(&exchange);
    struct side *client = &exchange.client;
    struct vd_addr closed = closed_port(&bind);
    for (uint32_t i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(side_request(client, &closed, 2 * i), 0);
        CU_ASSERT_EQUAL(side_request(client, &exchange.server.addr, 2 * i + 1), 0);
    }
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &client->responses, 10));
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &client->failures, 10));
    CU_ASSERT_EQUAL(client->failures_by_error[-VD_ERR_REFUSED], 10);
    CU_ASSERT_EQUAL(client->responses, 10);
    CU_ASSERT_EQUAL(client->last_system_error, ECONNREFUSED);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void an_ip6_socket_leaves_the_port_to_ip4(void)
{
    struct exchange exchange;
    struct vd_addr any = {.family = VD_FAMILY_IP6};
    struct vd_addr same_port = loopback_ip4();
    struct vd_udp_options options;
    uint32_t endpoint;

    setup(&exchange);
    struct side *client = &exchange.client;
    vd_udp_options_init(&options);
    CU_ASSERT_EQUAL(vd_udp_open(client->loop, client->stack, &any, &options, &endpoint),
                    VD_ERR_INVALID);
    options.sent_by = VD_STR("[2001:db8::1]");
    CU_ASSERT_EQUAL_FATAL(vd_udp_open(client->loop, client->stack, &any, &options, &endpoint), 0);
    CU_ASSERT_EQUAL(vd_udp_local_addr(client->loop, client->stack, endpoint, &any), 0);
    same_port.port = any.port;
    CU_ASSERT_EQUAL(vd_udp_open(client->loop, client->stack, &same_port, NULL, &endpoint), 0);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static bool has_ip6(void)
{
    struct vd_addr addr = loopback_ip6();
    union vd__sockaddr sockaddr;
    socklen_t length = vd__sockaddr_from_addr(&sockaddr, &addr);
    int fd = socket(AF_INET6, SOCK_DGRAM, 0);
    bool bound = fd >= 0 && bind(fd, &sockaddr.any, length) == 0;

    if (fd >= 0) {
        close(fd);
    }
    return bound;
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"requests and answers pass between IPv6 sockets",
         requests_and_answers_pass_between_ip6_sockets},
        {"a request to a closed IPv6 port is refused", a_request_to_a_closed_ip6_port_is_refused},
        {"an IPv6 socket leaves the port to IPv4", an_ip6_socket_leaves_the_port_to_ip4},
        CU_TEST_INFO_NULL,
    };
    if (!has_ip6()) {
        puts("skipped: ::1 cannot be bound");
        return SKIPPED;
    }
    return run_over_selectors("udp_ip6", tests);
}
