/* test_tcp_memory.c - what connections take, and what happens when there is none of it.
 *
 * Covered: each allocation failing, no allocation for a message once all is warm, what an idle
 * connection takes. Not covered: limits of what may wait (test_tcp_limits.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "run_suite.h"
#include "tcp_side.h"

static char text[RAW_REQUEST_SIZE + 3000];

/* Without memory something fails, but nothing is lost, leaked or used after it was freed. */
static void every_allocation_may_fail(void)
{
    unsigned survived = 0;

    for (uint64_t allowed = 0; allowed < 60 && survived == 0; allowed++) {
        struct tcp_side client;
        struct tcp_side server;
        CU_ASSERT_FATAL(tcp_side_listen(&client) && tcp_side_init(&server));
        struct vd_addr bind = raw_loopback();
        counting_mem_fail_after(&server.loop_mem, allowed);
        int error = vd_tcp_open(server.loop, server.stack, &bind, NULL, &server.endpoint);
        CU_ASSERT_TRUE(error == 0 || error == VD_ERR_NOMEM);
        if (error == 0) {
            CU_ASSERT_EQUAL(
                vd_tcp_local_addr(server.loop, server.stack, server.endpoint, &server.addr), 0);
            CU_ASSERT_EQUAL(tcp_side_request(&client, "MESSAGE", &server.addr, 1, 60000), 0);
            CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &server.addr, 2, 0), 0);
            for (int i = 0; i < 50; i++) {
                tcp_side_turn(&client);
                tcp_side_turn(&server);
            }
            survived = client.responses == 2 && server.loop_mem.failures == 0;
        }
        counting_mem_fail_after(&server.loop_mem, COUNTING_MEM_NEVER);
        CU_ASSERT_TRUE(tcp_side_free(&server));
        CU_ASSERT_TRUE(tcp_side_free(&client));
    }
    CU_ASSERT_EQUAL(survived, 1);
}

static void once_warm_no_message_allocates(void)
{
    struct tcp_side client;
    struct tcp_side server;
    uint32_t cseq = 0;

    CU_ASSERT_FATAL(tcp_side_listen(&client) && tcp_side_listen(&server));
    for (unsigned round = 1; round <= 2; round++) {
        uint64_t before = client.loop_mem.allocations + server.loop_mem.allocations;
        for (unsigned i = 1; i <= 20; i++) {
            for (unsigned j = 0; j < 100; j++) {
                CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &server.addr, ++cseq, 0), 0);
            }
            CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.responses, cseq));
        }
        if (round == 2) {
            CU_ASSERT_EQUAL(client.loop_mem.allocations + server.loop_mem.allocations, before);
        }
    }
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void an_idle_connection_takes_less_than_a_kilobyte(void)
{
    enum { COUNT = 256 };
    static struct raw_peer peers[COUNT];
    struct tcp_side server;

    CU_ASSERT_FATAL(tcp_side_listen(&server));
    size_t before = server.loop_mem.live_bytes;
    for (unsigned i = 0; i < COUNT; i++) {
        CU_ASSERT_FATAL(raw_connect(&peers[i], &server.addr));
        size_t size = raw_request(text, "OPTIONS", "192.0.2.1", i, 3000);
        CU_ASSERT_TRUE(raw_write(&peers[i], &server, text, size / 2));
        tcp_side_turn(&server);
        CU_ASSERT_TRUE(raw_write(&peers[i], &server, text + size / 2, size - size / 2));
        CU_ASSERT_TRUE(raw_until(&peers[i], &server, "SIP/2.0 200", 1));
    }
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, COUNT);
    size_t each = (server.loop_mem.live_bytes - before) / COUNT;
    CU_ASSERT(each < 1024);
    for (unsigned i = 0; i < COUNT; i++) {
        raw_close(&peers[i]);
    }
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"every allocation may fail", every_allocation_may_fail},
        {"once warm no message allocates", once_warm_no_message_allocates},
        {"an idle connection takes less than a kilobyte",
         an_idle_connection_takes_less_than_a_kilobyte},
        CU_TEST_INFO_NULL,
    };
    return run_suite("tcp_memory", tests);
}
