/* tcp_side.h - a stack with TCP endpoints on the loopback interface, and raw peers of it.
 *
 * A side has a loop of its own, whose clock stands still until the test moves it. A raw peer is a
 * socket that the test reads and writes byte by byte. Ports are the kernel's choice.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TCP_SIDE_H
#define TCP_SIDE_H

#include <viaduct/loop.h>
#include <viaduct/stack.h>
#include <viaduct/tcp.h>
#include <viaduct/transaction.h>

#include "counting_mem.h"

/* More turns than anything takes: a test that needs more has failed. */
#define TCP_TURNS_MAX 20000

#define TCP_PENDING_MAX 2048

/* ---- A side ---- */

struct tcp_side {
    struct counting_mem loop_mem;
    struct counting_mem stack_mem;
    struct vd_loop *loop;
    struct vd_stack *stack;
    uint32_t endpoint;
    struct vd_addr addr;

    /* The status with which requests are answered at once; 0 keeps them in pending. */
    int answer;
    vd_transaction pending[TCP_PENDING_MAX];
    unsigned pending_count;

    unsigned requests;
    unsigned acks;
    unsigned responses; /* final ones */
    unsigned failures;
    unsigned terminated;
    int last_status;
    int last_error;                 /* of a failure */
    unsigned failures_by_error[64]; /* by the error, negated */
    struct vd_flow last_flow;       /* of the last request */
    size_t last_size;               /* of its body */
    uint32_t cseqs_in_order;        /* requests whose CSeq number is one more than the last one's */
    uint32_t last_cseq;

    unsigned log_events;
    unsigned log_errors; /* of level VD_LOG_ERROR */
};

/* The time of every side's loop. */
extern vd_time tcp_side_time;

/* A side without an endpoint; answers are 200. Its loop waits with tested_selector
 * (over_selectors.h), or with epoll where the kernel bars that. */
bool tcp_side_init(struct tcp_side *side);

/* A side with one on bind; limits and options may be NULL. */
bool tcp_side_open(struct tcp_side *side, const struct vd_addr *bind,
                   const struct vd_tcp_limits *limits, const struct vd_tcp_options *options);

/* A side with an endpoint on 127.0.0.1. */
bool tcp_side_listen(struct tcp_side *side);

/* Frees it; false when memory is missing or was given back wrongly. */
bool tcp_side_free(struct tcp_side *side);

struct vd_tcp_counters tcp_side_counters(const struct tcp_side *side);
struct vd_stack_counters tcp_side_stack_counters(const struct tcp_side *side);

/* Starts a request with a body of body bytes; ends, for an INVITE, when it is answered. */
int tcp_side_request(struct tcp_side *side, const char *method, const struct vd_addr *to,
                     uint32_t cseq, size_t body);

/* Answers the requests in pending. */
void tcp_side_answer(struct tcp_side *side, int status);

/* One turn, which does not wait. */
void tcp_side_turn(struct tcp_side *side);

/* Turns until *counter is at least target; false when it does not come to that. */
bool tcp_side_until(struct tcp_side *side, const unsigned *counter, unsigned target);

/* The same for two sides. */
bool tcp_sides_until(struct tcp_side *one, struct tcp_side *other, const unsigned *counter,
                     unsigned target);

/* Turns until the side has so many connections. */
bool tcp_side_until_connections(struct tcp_side *side, uint32_t connections);

/* Lets time pass, in one step, and turns. */
void tcp_side_pass(struct tcp_side *side, vd_time time);

/* ---- A raw peer ---- */

struct raw_peer {
    int fd;
    bool ended;  /* the stream has ended, in order or by a reset */
    int error;   /* errno of the reset */
    char *bytes; /* what has come, with a NUL */
    size_t size;
    size_t capacity;
};

struct vd_addr raw_loopback(void);

/* A listener; its address is in *addr. */
int raw_listen(struct vd_addr *addr);

/* Accepts a connection, for which it turns side. */
bool raw_accept(struct raw_peer *peer, int listener, struct tcp_side *side);

/* True when a connection waits to be accepted. */
bool raw_has_connection(int listener);

bool raw_connect(struct raw_peer *peer, const struct vd_addr *to);

/* The same, but the kernel holds only about size bytes for it. */
bool raw_connect_with_buffer(struct raw_peer *peer, const struct vd_addr *to, int size);

/* Writes, for which it turns side when the connection takes no more. */
bool raw_write(struct raw_peer *peer, struct tcp_side *side, const char *bytes, size_t size);
bool raw_send(struct raw_peer *peer, struct tcp_side *side, const char *text);

/* Reads what is there. */
void raw_read(struct raw_peer *peer);

/* Turns side until peer has received text count times; until its stream has ended. */
bool raw_until(struct raw_peer *peer, struct tcp_side *side, const char *text, unsigned count);
bool raw_until_ended(struct raw_peer *peer, struct tcp_side *side);

/* Reads; true when the stream has ended. */
bool raw_is_ended(struct raw_peer *peer);

/* Sends an OPTIONS and turns side until it is answered with 200. */
bool raw_is_answered(struct raw_peer *peer, struct tcp_side *side);

/* How often text is in what has come. */
unsigned raw_count(const struct raw_peer *peer, const char *text);

/* Forgets what has come. */
void raw_forget(struct raw_peer *peer);

/* Closes the sending half; the whole; the whole with a reset. */
void raw_shut(struct raw_peer *peer);
void raw_close(struct raw_peer *peer);
void raw_reset(struct raw_peer *peer);

/* Writes a request as a peer would: sent_by stands in its Via. Returns its size; out holds
 * RAW_REQUEST_SIZE bytes and the body. */
#define RAW_REQUEST_SIZE 1024
size_t raw_request(char *out, const char *method, const char *sent_by, unsigned number,
                   size_t body);

#endif
