/* test_tcp_descriptors.c - a process that may open no file any more.
 *
 * Covered: listeners that cannot accept, and what lets them go on; connections that cannot be made.
 * Not covered: the limits of the library's own (test_tcp_limits.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/resource.h>
#include <unistd.h>

#include "run_suite.h"
#include "tcp_side.h"

static struct rlimit usual;

/* Leaves the process no descriptor but those that it has. */
static void take_descriptors(void)
{
    int next = dup(0);
    struct rlimit none;

    close(next);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = usual;
    none.rlim_cur = (rlim_t)next;
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static void give_descriptors(void)
{
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &usual), 0);
}

static uint64_t ready_sources(const struct tcp_side *side)
{
    struct vd_loop_counters counters;

    vd_loop_get_counters(side->loop, &counters);
    return counters.ready;
}

static void without_descriptors_a_listener_rests_until_one_is_free(void)
{
    struct raw_peer busy;
    struct raw_peer waiting;
    struct tcp_side server;

    CU_ASSERT_FATAL(tcp_side_listen(&server));
    CU_ASSERT_FATAL(raw_connect(&busy, &server.addr));
    CU_ASSERT_TRUE(raw_is_answered(&busy, &server));
    CU_ASSERT_FATAL(raw_connect(&waiting, &server.addr));
    take_descriptors();
    for (int i = 0; i < 50; i++) {
        tcp_side_turn(&server);
    }
    CU_ASSERT_EQUAL(tcp_side_counters(&server).accept_paused, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 1);
    uint64_t before = ready_sources(&server);
    for (int i = 0; i < 50; i++) {
        tcp_side_turn(&server);
    }
    CU_ASSERT_EQUAL(ready_sources(&server), before);
    CU_ASSERT_TRUE(raw_is_answered(&busy, &server));

    /* It tries again after a while, in vain. */
    tcp_side_pass(&server, VD_SEC);
    tcp_side_turn(&server);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).accept_paused, 2);

    /* A connection ends: no time has to pass. The test's own end of it must stay open. */
    raw_shut(&busy);
    CU_ASSERT_TRUE(raw_until_ended(&busy, &server));
    CU_ASSERT_TRUE(raw_is_answered(&waiting, &server));
    CU_ASSERT_EQUAL(tcp_side_counters(&server).accept_paused, 2);
    give_descriptors();
    raw_close(&busy);
    raw_close(&waiting);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void listeners_rest_until_others_free_descriptors(void)
{
    struct raw_peer waiting[3];
    struct tcp_side server;
    struct vd_addr addrs[3];
    uint32_t endpoint;

    CU_ASSERT_FATAL(tcp_side_listen(&server));
    addrs[0] = server.addr;
    for (int i = 0; i < 3; i++) {
        struct vd_addr bind = raw_loopback();
        if (i > 0) {
            CU_ASSERT_EQUAL(vd_tcp_open(server.loop, server.stack, &bind, NULL, &endpoint), 0);
            CU_ASSERT_EQUAL(vd_tcp_local_addr(server.loop, server.stack, endpoint, &addrs[i]), 0);
        }
        CU_ASSERT_FATAL(raw_connect(&waiting[i], &addrs[i]));
    }
    take_descriptors();
    tcp_side_turn(&server);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).accept_paused, 3);
    give_descriptors();
    tcp_side_turn(&server);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).connections, 0);
    tcp_side_pass(&server, VD_SEC);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_TRUE(raw_is_answered(&waiting[i], &server));
        raw_close(&waiting[i]);
    }
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void without_descriptors_a_silent_connection_makes_room(void)
{
    struct raw_peer silent;
    struct raw_peer waiting;
    struct tcp_side server;
    struct vd_addr addr;
    struct raw_peer called;
    int listener = raw_listen(&addr);

    CU_ASSERT_FATAL(tcp_side_listen(&server));
    CU_ASSERT_FATAL(raw_connect(&silent, &server.addr));
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, 1));
    CU_ASSERT_FATAL(raw_connect(&waiting, &server.addr));
    take_descriptors();
    CU_ASSERT_TRUE(raw_is_answered(&waiting, &server));
    CU_ASSERT_EQUAL(tcp_side_counters(&server).evicted, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&server).accept_paused, 0);
    CU_ASSERT_TRUE(raw_is_ended(&silent));

    /* Without one to take the place of, a connection of ours cannot be made. */
    CU_ASSERT_EQUAL(tcp_side_request(&server, "OPTIONS", &addr, 1, 0), 0);
    CU_ASSERT_TRUE(tcp_side_until(&server, &server.failures, 1));
    CU_ASSERT_EQUAL(server.last_error, VD_ERR_TRANSPORT);
    give_descriptors();
    CU_ASSERT_EQUAL(tcp_side_request(&server, "OPTIONS", &addr, 2, 0), 0);
    CU_ASSERT_FATAL(raw_accept(&called, listener, &server));
    CU_ASSERT_TRUE(raw_until(&called, &server, "OPTIONS sip:", 1));
    raw_close(&called);
    raw_close(&silent);
    raw_close(&waiting);
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"without descriptors a listener rests until one is free",
         without_descriptors_a_listener_rests_until_one_is_free},
        {"listeners rest until others free descriptors",
         listeners_rest_until_others_free_descriptors},
        {"without descriptors a silent connection makes room",
         without_descriptors_a_silent_connection_makes_room},
        CU_TEST_INFO_NULL,
    };
    return run_suite("tcp_descriptors", tests);
}
