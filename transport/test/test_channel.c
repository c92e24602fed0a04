/* test_channel.c - connections whose channel does something to the bytes.
 *
 * Covered: what a connection owes its channel, by a channel that greets before bytes pass, changes
 * every byte, hands out and takes few bytes at a time, holds bytes that the socket no longer has,
 * and is told of its end. Not covered: TCP's own channel, which all other tests of TCP use.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "run_suite.h"
#include "tcp_side.h"

enum { MASK = 0x55, READ_MAX = 700, WRITE_MAX = 900 };

static const char greeting[] = "greetings!";

/* ---- A channel ---- */

struct masked {
    size_t greeted; /* bytes of the greeting that have been sent, and that have come */
    size_t answered;
    char held[65536]; /* bytes that were taken from the socket */
    size_t first;
    size_t last;
};

static unsigned alive;
static unsigned shut_count;
static bool is_rude; /* sends another greeting */

static struct masked *masked_of(struct vd__connection *connection)
{
    if (connection->channel_state == NULL) {
        connection->channel_state = calloc(1, sizeof(struct masked));
        alive++;
    }
    return connection->channel_state;
}

/* Takes what the socket has. */
static int fill(struct vd__connection *connection, struct masked *masked)
{
    if (masked->first == masked->last) {
        masked->first = masked->last = 0;
    }
    ssize_t count = recv(connection->source.fd, masked->held + masked->last,
                         sizeof masked->held - masked->last, 0);
    if (count > 0) {
        masked->last += (size_t)count;
        return 1;
    }
    if (count < 0 && errno == EAGAIN) {
        return VD__CHANNEL_WANT_READ;
    }
    connection->system_error = count < 0 ? errno : 0;
    return count < 0 ? VD__CHANNEL_BROKEN : VD__CHANNEL_END;
}

static int masked_progress(struct vd__connection *connection)
{
    struct masked *masked = masked_of(connection);

    while (masked->greeted < sizeof greeting) {
        char byte = is_rude ? '?' : greeting[masked->greeted];
        if (send(connection->source.fd, &byte, 1, MSG_NOSIGNAL) != 1) {
            connection->system_error = errno;
            return errno == EAGAIN ? VD__CHANNEL_WANT_WRITE : VD__CHANNEL_BROKEN;
        }
        masked->greeted++;
        if (masked->greeted == sizeof greeting / 2) {
            return VD__CHANNEL_WANT_WRITE;
        }
    }
    while (masked->answered < sizeof greeting) {
        int result = masked->first < masked->last ? 1 : fill(connection, masked);
        if (result <= 0) {
            return result == VD__CHANNEL_END ? VD__CHANNEL_BROKEN : result;
        }
        if (masked->held[masked->first] != greeting[masked->answered]) {
            return VD__CHANNEL_BROKEN;
        }
        masked->first++;
        masked->answered++;
    }
    return VD__CHANNEL_END;
}

static ssize_t masked_read(struct vd__connection *connection, char *bytes, size_t size)
{
    struct masked *masked = masked_of(connection);
    size_t count = 0;

    if (masked->first == masked->last) {
        int result = fill(connection, masked);
        if (result <= 0) {
            return result;
        }
    }
    while (count < size && count < READ_MAX && masked->first < masked->last) {
        bytes[count++] = (char)(masked->held[masked->first++] ^ MASK);
    }
    return (ssize_t)count;
}

static size_t masked_pending(const struct vd__connection *connection)
{
    const struct masked *masked = connection->channel_state;

    return masked->last - masked->first;
}

static ssize_t masked_write(struct vd__connection *connection, const struct iovec *vectors,
                            int count)
{
    char bytes[WRITE_MAX];
    size_t size = 0;

    for (int i = 0; i < count; i++) {
        const char *from = vectors[i].iov_base;
        for (size_t j = 0; j < vectors[i].iov_len && size < sizeof bytes; j++) {
            bytes[size++] = (char)(from[j] ^ MASK);
        }
    }
    ssize_t written = send(connection->source.fd, bytes, size, MSG_NOSIGNAL);
    if (written < 0 && errno == EAGAIN) {
        return VD__CHANNEL_WANT_WRITE;
    }
    connection->system_error = written < 0 ? errno : 0;
    return written < 0 ? VD__CHANNEL_BROKEN : written;
}

static void masked_shut(struct vd__connection *connection)
{
    shut_count++;
    (void)shutdown(connection->source.fd, SHUT_WR);
}

static void masked_free(struct vd__connection *connection)
{
    if (connection->channel_state != NULL) {
        free(connection->channel_state);
        connection->channel_state = NULL;
        alive--;
    }
}

static const struct vd__channel_ops masked_ops = {
    .progress = masked_progress,
    .read = masked_read,
    .write = masked_write,
    .pending = masked_pending,
    .shut = masked_shut,
    .free = masked_free,
};

/* ---- Tests ---- */

static bool open_masked(struct tcp_side *side)
{
    struct vd_addr bind = raw_loopback();
    struct vd_tcp_options options;

    vd_tcp_options_init(&options);
    if (!tcp_side_init(side) ||
        vd__streams_open(side->loop, side->stack, VD_TRANSPORT_TLS, &masked_ops, NULL, &bind,
                         &options, &side->endpoint) != 0) {
        return false;
    }
    side->addr =
        vd__streams_endpoint(vd__loop_find_stack(side->loop, side->stack), side->endpoint)->local;
    return true;
}

static void messages_pass_a_channel_of_any_kind(void)
{
    struct tcp_side client;
    struct tcp_side server;
    struct vd_addr addr;

    CU_ASSERT_FATAL(open_masked(&client) && open_masked(&server));
    CU_ASSERT_EQUAL(vd_tcp_local_addr(client.loop, client.stack, client.endpoint, &addr),
                    VD_ERR_INVALID);
    for (uint32_t i = 1; i <= 100; i++) {
        size_t body = i % 10 == 0 ? 20000 : i;
        CU_ASSERT_EQUAL(tcp_side_request(&client, "MESSAGE", &server.addr, i, body), 0);
    }
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.responses, 100));
    CU_ASSERT_EQUAL(server.cseqs_in_order, 100);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connected, 1);
    CU_ASSERT_EQUAL(alive, 2);
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
    CU_ASSERT_EQUAL(alive, 0);
}

/* Writes what a peer with the channel would. */
static size_t mask(char *out, const char *in, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        out[i] = (char)(in[i] ^ MASK);
    }
    return size;
}

/* The channel swallowed the bytes with those of its greeting: the selector tells nothing of them.
 */
static void what_came_with_the_last_byte_of_the_greeting_is_read_at_once(void)
{
    static char text[100 * RAW_REQUEST_SIZE];
    static char masked[sizeof text + sizeof greeting];
    struct tcp_side server;
    struct raw_peer peer;
    size_t size = 0;

    CU_ASSERT_FATAL(open_masked(&server));
    CU_ASSERT_FATAL(raw_connect(&peer, &server.addr));
    for (unsigned i = 1; i <= 50; i++) {
        size += raw_request(text + size, "OPTIONS", "192.0.2.1", i, 0);
    }
    memcpy(masked, greeting, sizeof greeting);
    size = sizeof greeting + mask(masked + sizeof greeting, text, size);
    CU_ASSERT_TRUE(raw_write(&peer, &server, masked, size));
    CU_ASSERT_TRUE(tcp_side_until(&server, &server.requests, 50));
    CU_ASSERT_EQUAL(tcp_side_stack_counters(&server).sent_responses, 50);
    raw_close(&peer);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, 0));
    CU_ASSERT_EQUAL(alive, 0);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void a_channel_that_does_not_open_fails_the_messages_that_wait(void)
{
    struct tcp_side client;
    struct tcp_side server;

    CU_ASSERT_FATAL(open_masked(&client) && open_masked(&server));
    is_rude = true;
    for (uint32_t i = 1; i <= 3; i++) {
        CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &server.addr, i, 0), 0);
    }
    CU_ASSERT_TRUE(tcp_sides_until(&client, &server, &client.failures, 3));
    is_rude = false;
    CU_ASSERT_EQUAL(client.failures_by_error[-VD_ERR_TRANSPORT], 3);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connect_failed, 1);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, 0));
    CU_ASSERT_EQUAL(alive, 0);
    CU_ASSERT_TRUE(tcp_side_free(&client));
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

static void a_greeting_that_does_not_come_is_waited_for_no_longer_than_allowed(void)
{
    struct tcp_side client;
    struct raw_peer peer;
    struct raw_peer silent;
    struct vd_addr addr;
    struct vd_tcp_limits limits;
    int listener = raw_listen(&addr);

    CU_ASSERT_FATAL(open_masked(&client));
    vd_tcp_get_limits(client.loop, &limits);
    CU_ASSERT_EQUAL(tcp_side_request(&client, "OPTIONS", &addr, 1, 0), 0);
    CU_ASSERT_FATAL(raw_accept(&peer, listener, &client));
    CU_ASSERT_TRUE(raw_until(&peer, &client, greeting, 1));
    CU_ASSERT_FATAL(raw_connect(&silent, &client.addr));
    CU_ASSERT_TRUE(raw_until(&silent, &client, greeting, 1));
    tcp_side_pass(&client, limits.connect_time);
    CU_ASSERT_EQUAL(client.failures_by_error[-VD_ERR_TRANSPORT], 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connect_timeouts, 1);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).connections, 1);
    tcp_side_pass(&client, limits.first_message_time - limits.connect_time);
    CU_ASSERT_EQUAL(tcp_side_counters(&client).silent_timeouts, 1);
    CU_ASSERT_EQUAL(alive, 0);
    raw_close(&peer);
    raw_close(&silent);
    close(listener);
    CU_ASSERT_TRUE(tcp_side_free(&client));
}

static void a_channel_is_told_that_nothing_more_is_sent(void)
{
    struct tcp_side server;
    struct raw_peer peer;
    char masked[64];

    CU_ASSERT_FATAL(open_masked(&server));
    CU_ASSERT_FATAL(raw_connect(&peer, &server.addr));
    memcpy(masked, greeting, sizeof greeting);
    size_t size = sizeof greeting + mask(masked + sizeof greeting, "GARBAGE\r\n\r\n", 11);
    CU_ASSERT_TRUE(raw_write(&peer, &server, masked, size));
    CU_ASSERT_TRUE(raw_until_ended(&peer, &server));
    CU_ASSERT_EQUAL(shut_count, 1);
    raw_close(&peer);
    CU_ASSERT_TRUE(tcp_side_until_connections(&server, 0));
    CU_ASSERT_EQUAL(alive, 0);
    CU_ASSERT_TRUE(tcp_side_free(&server));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"messages pass a channel of any kind", messages_pass_a_channel_of_any_kind},
        {"what came with the last byte of the greeting is read at once",
         what_came_with_the_last_byte_of_the_greeting_is_read_at_once},
        {"a channel that does not open fails the messages that wait",
         a_channel_that_does_not_open_fails_the_messages_that_wait},
        {"a greeting that does not come is waited for no longer than allowed",
         a_greeting_that_does_not_come_is_waited_for_no_longer_than_allowed},
        {"a channel is told that nothing more is sent",
         a_channel_is_told_that_nothing_more_is_sent},
        CU_TEST_INFO_NULL,
    };
    return run_suite("channel", tests);
}
