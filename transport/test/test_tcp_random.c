/* test_tcp_random.c - peers that do anything, in any order.
 *
 * Covered: two stacks and some raw peers that connect, send messages whole, in parts and broken,
 * shut, close, reset, and stop reading, while time passes, memory runs out for a while, and the
 * selector, one of each kind, refuses now and then; what is done follows from a seed. Whatever they
 * do, each request of ours ends exactly once, each message is given back, and nothing is left. Not
 * covered: that the right thing happens, which the other tests of TCP show.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "over_selectors.h"
#include "run_suite.h"
#include "tcp_side.h"
#include "test_random.h"

enum { PEERS = 12, STEPS = 1500, SEEDS = 30 };

struct scene {
    struct test_random random;
    struct tcp_side client;
    struct tcp_side server;
    struct raw_peer peers[PEERS];
    int listener;
    struct vd_addr listener_addr;
    unsigned requests; /* that became a transaction */
    uint32_t cseq;
};

static char text[RAW_REQUEST_SIZE + 65536];

/* ---- A selector that refuses ---- */

static const struct vd__selector_ops *usual_ops;
static unsigned calls_until_refusal; /* 0 for never */

static bool is_refused(void)
{
    if (calls_until_refusal > 0 && --calls_until_refusal == 0) {
        errno = ENOSPC;
        return true;
    }
    return false;
}

static int add_or_refuse(struct vd__selector *selector, struct vd__source *source,
                         unsigned interest)
{
    return is_refused() ? -1 : usual_ops->add(selector, source, interest);
}

static int modify_or_refuse(struct vd__selector *selector, struct vd__source *source,
                            unsigned interest)
{
    return is_refused() ? -1 : usual_ops->modify(selector, source, interest);
}

static int remove_source(struct vd__selector *selector, struct vd__source *source)
{
    return usual_ops->remove(selector, source);
}

static int wait_for_sources(struct vd__selector *selector, struct vd__ready *out, size_t max,
                            vd_time timeout)
{
    return usual_ops->wait(selector, out, max, timeout);
}

static void free_selector(struct vd__selector *selector)
{
    usual_ops->free(selector);
}

static const struct vd__selector_ops refusing_ops = {
    .add = add_or_refuse,
    .modify = modify_or_refuse,
    .remove = remove_source,
    .wait = wait_for_sources,
    .free = free_selector,
};

/* ---- A scene ---- */

static size_t below(struct scene *scene, size_t limit)
{
    return (size_t)test_random_below(&scene->random, limit);
}

static void begin(struct scene *scene, uint64_t seed)
{
    struct vd_tcp_limits limits;
    struct vd_tcp_options options;
    struct vd_addr bind = raw_loopback();

    memset(scene, 0, sizeof *scene);
    scene->random.state = seed;
    tested_selector = (enum vd_selector)(seed % 3);
    vd_tcp_limits_init(&limits);
    limits.connections = (uint32_t)(4 + below(scene, 20));
    limits.connections_per_source = (uint32_t)(4 + below(scene, 20));
    limits.queue_messages = (uint32_t)(2 + below(scene, 50));
    limits.queue_bytes = (uint32_t)(1000 + below(scene, 100000));
    vd_tcp_options_init(&options);
    options.send_buffer = 4096;
    CU_ASSERT_FATAL(tcp_side_open(&scene->server, &bind, &limits, &options));
    CU_ASSERT_FATAL(tcp_side_open(&scene->client, &bind, &limits, &options));
    /* Were only one of the two barred from its selector, they would not share these. */
    CU_ASSERT_PTR_EQUAL_FATAL(scene->client.loop->selector->ops, scene->server.loop->selector->ops);
    usual_ops = scene->client.loop->selector->ops;
    scene->client.loop->selector->ops = &refusing_ops;
    scene->server.loop->selector->ops = &refusing_ops;
    scene->listener = raw_listen(&scene->listener_addr);
    for (size_t i = 0; i < PEERS; i++) {
        scene->peers[i].fd = -1;
    }
}

static void request(struct scene *scene)
{
    static const char *const methods[] = {"OPTIONS", "INVITE", "MESSAGE"};
    struct tcp_side *from = below(scene, 3) == 0 ? &scene->server : &scene->client;
    struct vd_addr nobody = {.family = VD_FAMILY_IP4, .port = 1, .ip = {127, 0, 0, 1}};
    const struct vd_addr *to[] = {&scene->server.addr, &scene->client.addr, &scene->listener_addr,
                                  &nobody, &scene->server.last_flow.remote};
    size_t choice = below(scene, 5);

    if (to[choice]->family != VD_FAMILY_NONE) {
        size_t body = below(scene, 4) == 0 ? below(scene, 50000) : 0;
        scene->requests +=
            tcp_side_request(from, methods[below(scene, 3)], to[choice], ++scene->cseq, body) == 0;
    }
}

/* A message, a part of one, or none at all. It may get stuck when nobody reads. */
static void write_something(struct scene *scene, struct raw_peer *peer)
{
    size_t size = raw_request(text, "OPTIONS", "127.0.0.1:9", (unsigned)below(scene, 1000000),
                              below(scene, 5) == 0 ? below(scene, 60000) : 0);

    switch (below(scene, 8)) {
    case 0:
        size = below(scene, size);
        break;
    case 1:
        text[below(scene, size < 300 ? size : 300)] = (char)below(scene, 256);
        break;
    case 2:
        memcpy(text, "\r\n\r\n\r\n", 6);
        size = 1 + below(scene, 6);
        break;
    default:
        break;
    }
    (void)send(peer->fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void disturb(struct scene *scene)
{
    struct raw_peer *peer = &scene->peers[below(scene, PEERS)];

    if (peer->fd < 0) {
        if (raw_has_connection(scene->listener) && below(scene, 2) == 0) {
            (void)raw_accept(peer, scene->listener, &scene->client);
        } else {
            (void)raw_connect_with_buffer(peer, &scene->server.addr, 4096);
        }
        return;
    }
    switch (below(scene, 16)) {
    case 0:
        raw_close(peer);
        break;
    case 1:
        raw_reset(peer);
        break;
    case 2:
        raw_shut(peer);
        break;
    case 3:
    case 4:
        raw_read(peer);
        break;
    default:
        write_something(scene, peer);
        break;
    }
}

static void step(struct scene *scene)
{
    struct tcp_side *side = below(scene, 2) == 0 ? &scene->client : &scene->server;

    switch (below(scene, 40)) {
    case 0:
        tcp_side_pass(side, below(scene, 15 * VD_SEC));
        break;
    case 1:
        counting_mem_fail_after(&side->loop_mem, below(scene, 10));
        break;
    case 2:
    case 3:
        counting_mem_fail_after(&side->loop_mem, COUNTING_MEM_NEVER);
        break;
    case 4:
        side->answer = below(scene, 2) == 0 ? 0 : 200;
        break;
    case 5:
        tcp_side_answer(side, 486);
        break;
    case 6:
        calls_until_refusal = (unsigned)below(scene, 12);
        break;
    case 7:
    case 8:
    case 9:
        request(scene);
        break;
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 15:
    case 16:
    case 17:
        tcp_side_turn(side);
        break;
    default:
        disturb(scene);
        break;
    }
}

static bool is_consistent(const struct tcp_side *side)
{
    const struct vd__streams *streams = side->loop->streams;
    struct vd_tcp_counters counters = tcp_side_counters(side);
    uint32_t found = 0;
    uint32_t queued = 0;
    uint32_t by_origin = 0;

    for (uint32_t i = 0; i < streams->table.number_capacity; i++) {
        const struct vd__connection *connection = streams->table.by_number[i];
        if (connection != NULL) {
            found++;
            queued += connection->queued_messages;
            by_origin += connection->origin != NULL;
        }
    }
    uint32_t origins = 0;
    for (uint32_t i = 0; i < streams->origins.capacity; i++) {
        for (const struct vd__origin *origin = streams->origins.buckets[i]; origin != NULL;
             origin = origin->next) {
            origins += origin->connections;
        }
    }
    return found == counters.connections && queued == counters.waiting && by_origin == origins &&
           counters.connections <= streams->limits.connections &&
           counters.accepted + counters.connected - counters.closed <= counters.connections;
}

/* Everybody goes, and all timers pass. */
static void settle(struct scene *scene)
{
    counting_mem_fail_after(&scene->client.loop_mem, COUNTING_MEM_NEVER);
    counting_mem_fail_after(&scene->server.loop_mem, COUNTING_MEM_NEVER);
    calls_until_refusal = 0;
    scene->client.answer = 200;
    scene->server.answer = 200;
    for (size_t i = 0; i < PEERS; i++) {
        if (scene->peers[i].fd >= 0) {
            raw_close(&scene->peers[i]);
        }
    }
    close(scene->listener);
    tcp_side_answer(&scene->client, 486);
    tcp_side_answer(&scene->server, 486);
    for (int i = 0; i < 60; i++) {
        tcp_side_pass(&scene->client, 20 * VD_SEC);
        tcp_side_pass(&scene->server, 0);
        tcp_side_turn(&scene->client);
        tcp_side_turn(&scene->server);
    }
}

static void whatever_peers_do_nothing_is_lost_or_left(void)
{
    static struct scene scene;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(&scene, seed);
        for (unsigned i = 0; i < STEPS; i++) {
            step(&scene);
            if (!is_consistent(&scene.client) || !is_consistent(&scene.server)) {
                printf("seed %lu, step %u\n", (unsigned long)seed, i);
                CU_FAIL_FATAL("the tables disagree");
            }
        }
        settle(&scene);
        const struct tcp_side *sides[] = {&scene.client, &scene.server};
        unsigned requests = 0;
        for (size_t i = 0; i < 2; i++) {
            struct vd_stack_counters counters = tcp_side_stack_counters(sides[i]);
            requests += (unsigned)counters.client_transactions;
            CU_ASSERT_EQUAL(counters.live_client_transactions, 0);
            CU_ASSERT_EQUAL(counters.live_server_transactions, 0);
            CU_ASSERT_EQUAL(sides[i]->terminated,
                            counters.client_transactions + counters.server_transactions);
            CU_ASSERT_EQUAL(tcp_side_counters(sides[i]).connections, 0);
            CU_ASSERT_EQUAL(tcp_side_counters(sides[i]).waiting, 0);
        }
        CU_ASSERT_EQUAL(requests, scene.requests);
        CU_ASSERT_TRUE(tcp_side_free(&scene.client));
        CU_ASSERT_TRUE(tcp_side_free(&scene.server));
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"whatever peers do nothing is lost or left", whatever_peers_do_nothing_is_lost_or_left},
        CU_TEST_INFO_NULL,
    };
    return run_suite("tcp_random", tests);
}
