/* test_sockaddr.c - addresses of the stack to addresses of the kernel and back.
 *
 * Covered: both families there and back, with port and scope; what is no address; wildcards.
 * Not covered: text, which is the stack's.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sockaddr.h"

#include "run_suite.h"

static const struct vd_addr addresses[] = {
    {.family = VD_FAMILY_IP4, .port = 0, .ip = {127, 0, 0, 1}},
    {.family = VD_FAMILY_IP4, .port = 5060, .ip = {192, 0, 2, 255}},
    {.family = VD_FAMILY_IP4, .port = 65535, .ip = {255, 255, 255, 255}},
    {.family = VD_FAMILY_IP6, .port = 5061, .ip = {[15] = 1}},
    {.family = VD_FAMILY_IP6, .port = 256, .scope = 7, .ip = {0xfe, 0x80, [15] = 0x42}},
    {.family = VD_FAMILY_IP6, .port = 1, .ip = {0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
};

static void an_address_is_the_same_after_a_way_there_and_back(void)
{
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        union vd__sockaddr sockaddr;
        struct vd_addr back;
        socklen_t length = vd__sockaddr_from_addr(&sockaddr, &addresses[i]);
        vd__sockaddr_to_addr(&back, &sockaddr, length);
        CU_ASSERT(vd_addr_equal(&back, &addresses[i]));
        CU_ASSERT_EQUAL(back.scope, addresses[i].scope);
    }
}

static void ports_and_addresses_are_in_network_order_for_the_kernel(void)
{
    union vd__sockaddr sockaddr;

    CU_ASSERT_EQUAL(vd__sockaddr_from_addr(&sockaddr, &addresses[1]), sizeof sockaddr.ip4);
    CU_ASSERT_EQUAL(sockaddr.ip4.sin_family, AF_INET);
    CU_ASSERT_EQUAL(sockaddr.ip4.sin_port, htons(5060));
    CU_ASSERT_EQUAL(sockaddr.ip4.sin_addr.s_addr, htonl(0xc00002ff));

    CU_ASSERT_EQUAL(vd__sockaddr_from_addr(&sockaddr, &addresses[4]), sizeof sockaddr.ip6);
    CU_ASSERT_EQUAL(sockaddr.ip6.sin6_family, AF_INET6);
    CU_ASSERT_EQUAL(sockaddr.ip6.sin6_port, htons(256));
    CU_ASSERT_EQUAL(sockaddr.ip6.sin6_scope_id, 7);
}

static void what_is_no_ip_address_has_no_family(void)
{
    union vd__sockaddr sockaddr;
    struct vd_addr addr = {.family = VD_FAMILY_NONE};

    CU_ASSERT_EQUAL(vd__sockaddr_from_addr(&sockaddr, &addr), 0);

    /* Too short by one byte, and of another family. */
    socklen_t length = vd__sockaddr_from_addr(&sockaddr, &addresses[1]);
    vd__sockaddr_to_addr(&addr, &sockaddr, length - 1);
    CU_ASSERT_EQUAL(addr.family, VD_FAMILY_NONE);
    length = vd__sockaddr_from_addr(&sockaddr, &addresses[4]);
    vd__sockaddr_to_addr(&addr, &sockaddr, length - 1);
    CU_ASSERT_EQUAL(addr.family, VD_FAMILY_NONE);
    sockaddr.any.sa_family = AF_UNIX;
    vd__sockaddr_to_addr(&addr, &sockaddr, sizeof sockaddr);
    CU_ASSERT_EQUAL(addr.family, VD_FAMILY_NONE);
}

static void only_the_all_zero_address_is_a_wildcard(void)
{
    struct vd_addr addr = {.family = VD_FAMILY_IP4, .port = 5060};

    CU_ASSERT_TRUE(vd__addr_is_wildcard(&addr));
    addr.ip[3] = 1;
    CU_ASSERT_FALSE(vd__addr_is_wildcard(&addr));

    addr = (struct vd_addr){.family = VD_FAMILY_IP6, .port = 5060};
    CU_ASSERT_TRUE(vd__addr_is_wildcard(&addr));
    addr.ip[15] = 1;
    CU_ASSERT_FALSE(vd__addr_is_wildcard(&addr));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"an address is the same after a way there and back",
         an_address_is_the_same_after_a_way_there_and_back},
        {"ports and addresses are in network order for the kernel",
         ports_and_addresses_are_in_network_order_for_the_kernel},
        {"what is no IP address has no family", what_is_no_ip_address_has_no_family},
        {"only the all-zero address is a wildcard", only_the_all_zero_address_is_a_wildcard},
        CU_TEST_INFO_NULL,
    };
    return run_suite("sockaddr", tests);
}
