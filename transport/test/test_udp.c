/* test_udp.c - UDP sockets: opening them, and datagrams in and out.
 *
 * Covered: what vd_udp_open refuses and with which error, and that it then leaves nothing open; the
 * sent-by; batches, counted in system calls; datagrams that are cut short or dropped by the kernel;
 * that a socket that is flooded leaves their turn to others; that the message path allocates
 * nothing. Not covered: sockets that take no more (test_udp_send.c), ICMP (test_udp_error.c), IPv6
 * (test_udp_ip6.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/udp.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "exchange.h"
#include "fake_udp.h"
#include "over_selectors.h"
#include "sockaddr.h"

static void setup(struct exchange *exchange)
{
    struct vd_addr bind = loopback_ip4();

    CU_ASSERT_FATAL(exchange_init(exchange, &bind, NULL));
}

/* ---- Opening ---- */

/* The lowest file descriptor that is not in use. */
static int free_fd(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

/* Opens a socket that must be refused, and looks for what may have been left. */
static int refused(struct side *side, const struct vd_addr *bind,
                   const struct vd_udp_options *options)
{
    uint32_t endpoint = 12345;
    int before = free_fd();
    int error = vd_udp_open(side->loop, side->stack, bind, options, &endpoint);

    CU_ASSERT_EQUAL(free_fd(), before);
    CU_ASSERT_EQUAL(endpoint, 12345);
    return error;
}

static void the_kernel_chooses_a_port_for_port_0(void)
{
    struct exchange exchange;

    setup(&exchange);
    CU_ASSERT(exchange.client.addr.port != 0);
    CU_ASSERT(exchange.server.addr.port != 0);
    CU_ASSERT(exchange.client.addr.port != exchange.server.addr.port);
    CU_ASSERT(vd_addr_same_ip(&exchange.client.addr, &exchange.server.addr));
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void an_address_in_use_is_refused_as_such(void)
{
    struct exchange exchange;

    setup(&exchange);
    CU_ASSERT_EQUAL(refused(&exchange.client, &exchange.server.addr, NULL), VD_ERR_IN_USE);
    CU_ASSERT_EQUAL(exchange.client.last_log_error, VD_ERR_IN_USE);
    CU_ASSERT_EQUAL(exchange.client.last_system_error, EADDRINUSE);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void an_address_of_another_host_is_refused(void)
{
    struct exchange exchange;
    struct vd_addr other = {.family = VD_FAMILY_IP4, .ip = {192, 0, 2, 1}};

    setup(&exchange);
    CU_ASSERT_EQUAL(refused(&exchange.client, &other, NULL), VD_ERR_SYSTEM);
    CU_ASSERT_EQUAL(exchange.client.last_system_error, EADDRNOTAVAIL);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void no_file_descriptor_left_is_told_as_such(void)
{
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();
    struct rlimit old;

    setup(&exchange);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &old), 0);
    struct rlimit none = {.rlim_cur = (rlim_t)free_fd(), .rlim_max = old.rlim_max};
    uint32_t endpoint;
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    int error = vd_udp_open(exchange.client.loop, exchange.client.stack, &bind, NULL, &endpoint);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &old), 0);
    CU_ASSERT_EQUAL(error, VD_ERR_LIMIT);
    CU_ASSERT_EQUAL(exchange.client.last_system_error, EMFILE);
    CU_ASSERT_EQUAL(
        vd_udp_open(exchange.client.loop, exchange.client.stack, &bind, NULL, &endpoint), 0);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void arguments_out_of_range_are_refused(void)
{
    struct exchange exchange;
    struct vd_addr none = {.family = VD_FAMILY_NONE, .ip = {127, 0, 0, 1}};
    struct vd_addr bind = loopback_ip4();
    struct vd_udp_options options;
    uint32_t endpoint;

    setup(&exchange);
    struct side *side = &exchange.client;
    CU_ASSERT_EQUAL(refused(side, &none, NULL), VD_ERR_INVALID);
    vd_udp_options_init(&options);
    options.receive_buffer = (uint32_t)INT_MAX + 1;
    CU_ASSERT_EQUAL(refused(side, &bind, &options), VD_ERR_INVALID);
    vd_udp_options_init(&options);
    options.send_buffer = UINT32_MAX;
    CU_ASSERT_EQUAL(refused(side, &bind, &options), VD_ERR_INVALID);
    vd_udp_options_init(&options);
    options.sent_by = VD_STR("not a host");
    CU_ASSERT_EQUAL(refused(side, &bind, &options), VD_ERR_INVALID);
    /* A stack that the loop does not drive. */
    CU_ASSERT_EQUAL(vd_udp_open(side->loop, exchange.server.stack, &bind, NULL, &endpoint),
                    VD_ERR_INVALID);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void a_wildcard_address_needs_a_sent_by(void)
{
    struct exchange exchange;
    struct vd_addr any = {.family = VD_FAMILY_IP4};
    struct vd_udp_options options;
    uint32_t endpoint;

    setup(&exchange);
    struct side *side = &exchange.client;
    CU_ASSERT_EQUAL(refused(side, &any, NULL), VD_ERR_INVALID);
    vd_udp_options_init(&options);
    options.sent_by = VD_STR("proxy.example.com");
    CU_ASSERT_EQUAL_FATAL(vd_udp_open(side->loop, side->stack, &any, &options, &endpoint), 0);
    CU_ASSERT_EQUAL(side_request_from(side, endpoint, &exchange.server.addr, 1), 0);
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &side->responses, 1));
    CU_ASSERT_STRING_EQUAL(exchange.server.sent_by, "proxy.example.com");
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void the_sent_by_is_the_address_and_port_unless_given(void)
{
    struct exchange exchange;
    char text[VD_ADDR_TEXT_SIZE];

    setup(&exchange);
    CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, 1), 0);
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, 1));
    snprintf(text, sizeof text, "127.0.0.1:%u", (unsigned)exchange.client.addr.port);
    CU_ASSERT_STRING_EQUAL(exchange.server.sent_by, text);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void only_an_opened_endpoint_has_a_local_address(void)
{
    struct exchange exchange;
    struct vd_addr addr;
    uint32_t foreign;

    setup(&exchange);
    struct side *side = &exchange.client;
    CU_ASSERT_EQUAL(
        vd_stack_add_endpoint(side->stack, VD_TRANSPORT_UDP, VD_STR("192.0.2.1"), &foreign), 0);
    CU_ASSERT_EQUAL(vd_udp_local_addr(side->loop, side->stack, foreign, &addr), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_udp_local_addr(side->loop, side->stack, 1000000, &addr), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_udp_local_addr(side->loop, exchange.server.stack, 0, &addr), VD_ERR_INVALID);
    /* Nor can anything be sent from it. */
    CU_ASSERT_EQUAL(side_request_from(side, foreign, &exchange.server.addr, 1), 0);
    CU_ASSERT_TRUE(side_turn_until(side, &side->failures, 1));
    CU_ASSERT_EQUAL(side->last_error, VD_ERR_TRANSPORT);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void a_socket_without_memory_is_no_socket_and_leaks_nothing(void)
{
    struct side side;
    struct vd_addr bind = loopback_ip4();
    int error = VD_ERR_NOMEM;
    uint64_t allocations = 0;

    CU_ASSERT_FATAL(side_init(&side));
    for (; error == VD_ERR_NOMEM && allocations < 100; allocations++) {
        counting_mem_fail_after(&side.loop_mem, allocations);
        uint32_t endpoint = 12345;
        int before = free_fd();
        error = vd_udp_open(side.loop, side.stack, &bind, NULL, &endpoint);
        CU_ASSERT(error == 0 || free_fd() == before);
        CU_ASSERT(error != 0 || endpoint == 0);
    }
    CU_ASSERT_EQUAL(error, 0);
    CU_ASSERT(allocations > 2);
    counting_mem_fail_after(&side.loop_mem, COUNTING_MEM_NEVER);
    CU_ASSERT_TRUE(side_free(&side));
}

/* ---- Messages ---- */

static void an_answer_leaves_in_the_turn_in_which_its_request_came(void)
{
    struct exchange exchange;

    setup(&exchange);
    CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, 1), 0);
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange.client.loop, 0), 0);
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange.server.loop, VD_TIME_NEVER), 0);
    CU_ASSERT_EQUAL(exchange.server.turns, 1);
    CU_ASSERT_EQUAL(side_counters(&exchange.server).received_datagrams, 1);
    CU_ASSERT_EQUAL(side_counters(&exchange.server).sent_datagrams, 1);
    CU_ASSERT_TRUE(side_turn_until(&exchange.client, &exchange.client.responses, 1));
    CU_ASSERT_EQUAL(exchange.client.failures, 0);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void many_messages_take_one_system_call_each_way(void)
{
    enum { COUNT = 50 };
    struct exchange exchange;

    setup(&exchange);
    fake_udp_install(&exchange.server);
    for (uint32_t i = 0; i < COUNT; i++) {
        CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, i), 0);
    }
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange.client.loop, 0), 0);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).send_calls, 1);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).sent_datagrams, COUNT);

    fake_udp.gather = COUNT;
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange.server.loop, VD_TIME_NEVER), 0);
    struct vd_udp_counters counters = side_counters(&exchange.server);
    CU_ASSERT_EQUAL(counters.received_datagrams, COUNT);
    CU_ASSERT_EQUAL(counters.receive_calls, 1);
    CU_ASSERT_EQUAL(counters.sent_datagrams, COUNT);
    CU_ASSERT_EQUAL(counters.send_calls, 1);
    CU_ASSERT_EQUAL(counters.received_bytes, side_counters(&exchange.client).sent_bytes);
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, COUNT));
    for (uint32_t i = 0; i < COUNT; i++) {
        CU_ASSERT_EQUAL(exchange.server.cseq[i], i);
    }
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void two_stacks_share_a_loop(void)
{
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();
    struct side *side = &exchange.client;
    struct vd_stack *server = NULL;
    struct vd_addr addr;
    uint32_t endpoint;
    struct vd_stack_config config;

    setup(&exchange);
    /* Without callbacks it answers everything with 501. */
    vd_stack_config_init(&config);
    CU_ASSERT_EQUAL_FATAL(vd_stack_new(&server, &config), 0);
    CU_ASSERT_EQUAL(vd_loop_add_stack(side->loop, server), 0);
    CU_ASSERT_EQUAL(vd_udp_open(side->loop, server, &bind, NULL, &endpoint), 0);
    CU_ASSERT_EQUAL(vd_udp_local_addr(side->loop, server, endpoint, &addr), 0);
    for (uint32_t i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(side_request(side, &addr, i), 0);
    }
    CU_ASSERT_TRUE(side_turn_until(side, &side->responses, 10));
    CU_ASSERT_TRUE(exchange_free(&exchange));
    vd_stack_free(server);
}

static void the_message_path_allocates_nothing(void)
{
    struct exchange exchange;

    setup(&exchange);
    uint64_t client = exchange.client.loop_mem.allocations;
    uint64_t server = exchange.server.loop_mem.allocations;
    for (uint32_t i = 0; i < 200; i++) {
        CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, i), 0);
        CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, i + 1));
    }
    CU_ASSERT_EQUAL(exchange.client.loop_mem.allocations, client);
    CU_ASSERT_EQUAL(exchange.server.loop_mem.allocations, server);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* ---- Receiving ---- */

static void a_datagram_cut_short_is_counted_and_dropped(void)
{
    if (tested_selector == VD_SELECTOR_IO_URING) {
        CU_PASS("made up for recvmmsg: see test_udp_uring.c");
        return;
    }
    struct exchange exchange;

    setup(&exchange);
    fake_udp_install(&exchange.server);
    fake_udp.receive_flags = MSG_TRUNC;
    CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, 1), 0);
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange.client.loop, 0), 0);
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange.server.loop, VD_TIME_NEVER), 0);
    CU_ASSERT_EQUAL(side_counters(&exchange.server).truncated, 1);
    CU_ASSERT_EQUAL(side_counters(&exchange.server).received_datagrams, 0);
    CU_ASSERT_EQUAL(exchange.server.requests, 0);
    CU_ASSERT_EQUAL(exchange.server.last_log_error, VD_ERR_TOO_LARGE);

    /* The flag was that datagram's, not the buffer's. */
    fake_udp.receive_flags = 0;
    CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, 2), 0);
    CU_ASSERT_TRUE(exchange_turn_until(&exchange, &exchange.client.responses, 1));
    CU_ASSERT_EQUAL(side_counters(&exchange.server).truncated, 1);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* Whether the server gets to know of every datagram that was sent to it. The kernel's number comes
 * with the next one that finds room, so some more are sent. */
static bool accounts_for_all(struct exchange *exchange)
{
    for (uint32_t i = 0; i < 100; i++) {
        vd_loop_run_once(exchange->server.loop, VD_MSEC);
        side_request(&exchange->client, &exchange->server.addr, 1000 + i);
        vd_loop_run_once(exchange->client.loop, 0);
        vd_loop_run_once(exchange->server.loop, VD_TIME_NEVER);
        struct vd_udp_counters counters = side_counters(&exchange->server);
        uint64_t known = counters.kernel_dropped + counters.received_datagrams;
        if (known == side_counters(&exchange->client).sent_datagrams) {
            return true;
        }
    }
    return false;
}

static void what_the_kernel_drops_is_counted(void)
{
    enum { FLOODS = 3, COUNT = 300 };
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();
    struct vd_udp_options options;

    vd_udp_options_init(&options);
    options.receive_buffer = 1; /* the kernel makes some thousand bytes of it */
    CU_ASSERT_FATAL(exchange_init(&exchange, &bind, &options));
    for (int flood = 0; flood < FLOODS; flood++) {
        uint64_t before = side_counters(&exchange.server).kernel_dropped;
        for (uint32_t i = 0; i < COUNT; i++) {
            CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, i), 0);
        }
        CU_ASSERT_EQUAL(vd_loop_run_once(exchange.client.loop, 0), 0);
        CU_ASSERT_TRUE(accounts_for_all(&exchange));
        CU_ASSERT(side_counters(&exchange.server).kernel_dropped > before);
    }
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void a_pending_error_keeps_no_datagram_waiting(void)
{
    if (tested_selector == VD_SELECTOR_IO_URING) {
        CU_PASS("made up for recvmmsg: see test_udp_uring.c");
        return;
    }
    struct exchange exchange;

    setup(&exchange);
    fake_udp_install(&exchange.server);
    fake_udp.receive_error = ECONNREFUSED;
    CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, 1), 0);
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange.client.loop, 0), 0);
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange.server.loop, VD_TIME_NEVER), 0);
    CU_ASSERT_EQUAL(fake_udp.receive_error, 0);
    CU_ASSERT_EQUAL(side_counters(&exchange.server).received_datagrams, 1);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void a_flooded_socket_leaves_their_turn_to_timers_and_others(void)
{
    if (tested_selector == VD_SELECTOR_IO_URING) {
        CU_PASS("made up for recvmmsg: see test_udp_uring.c");
        return;
    }
    struct exchange exchange;

    setup(&exchange);
    fake_udp_install(&exchange.server);
    fake_udp.echoes = 1000000;
    CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, 1), 0);
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange.client.loop, 0), 0);
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange.server.loop, VD_TIME_NEVER), 0);
    CU_ASSERT_EQUAL(exchange.server.turns, 1);
    CU_ASSERT_EQUAL(side_counters(&exchange.server).receive_calls, 4);
    CU_ASSERT_EQUAL(side_counters(&exchange.server).received_datagrams, 256);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void every_ready_socket_is_served_in_a_turn(void)
{
    enum { SOCKETS = 600 };
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();
    uint32_t endpoint;

    setup(&exchange);
    struct side *client = &exchange.client;
    for (uint32_t i = 0; i < SOCKETS; i++) {
        CU_ASSERT_EQUAL_FATAL(vd_udp_open(client->loop, client->stack, &bind, NULL, &endpoint), 0);
        CU_ASSERT_EQUAL(side_request_from(client, endpoint, &exchange.server.addr, i), 0);
    }
    CU_ASSERT_EQUAL(vd_loop_run_once(client->loop, 0), 0);
    bool uring = tested_selector == VD_SELECTOR_IO_URING;
    CU_ASSERT_EQUAL(side_counters(client).send_calls, uring ? 1 : SOCKETS);
    CU_ASSERT_TRUE(side_turn_until(&exchange.server, &exchange.server.requests, SOCKETS));
    CU_ASSERT_TRUE(side_turn_until(client, &client->responses, SOCKETS));
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"the kernel chooses a port for port 0", the_kernel_chooses_a_port_for_port_0},
        {"an address in use is refused as such", an_address_in_use_is_refused_as_such},
        {"an address of another host is refused", an_address_of_another_host_is_refused},
        {"no file descriptor left is told as such", no_file_descriptor_left_is_told_as_such},
        {"arguments out of range are refused", arguments_out_of_range_are_refused},
        {"a wildcard address needs a sent-by", a_wildcard_address_needs_a_sent_by},
        {"the sent-by is the address and port unless given",
         the_sent_by_is_the_address_and_port_unless_given},
        {"only an opened endpoint has a local address",
         only_an_opened_endpoint_has_a_local_address},
        {"a socket without memory is no socket and leaks nothing",
         a_socket_without_memory_is_no_socket_and_leaks_nothing},
        {"an answer leaves in the turn in which its request came",
         an_answer_leaves_in_the_turn_in_which_its_request_came},
        {"many messages take one system call each way",
         many_messages_take_one_system_call_each_way},
        {"two stacks share a loop", two_stacks_share_a_loop},
        {"the message path allocates nothing", the_message_path_allocates_nothing},
        {"a datagram cut short is counted and dropped",
         a_datagram_cut_short_is_counted_and_dropped},
        {"what the kernel drops is counted", what_the_kernel_drops_is_counted},
        {"a pending error keeps no datagram waiting", a_pending_error_keeps_no_datagram_waiting},
        {"a flooded socket leaves their turn to timers and others",
         a_flooded_socket_leaves_their_turn_to_timers_and_others},
        {"every ready socket is served in a turn", every_ready_socket_is_served_in_a_turn},
        CU_TEST_INFO_NULL,
    };
    return run_over_selectors("udp", tests);
}
