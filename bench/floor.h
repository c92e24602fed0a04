/* floor.h - the pieces of bench/floor.
 *
 * The floor moves the bytes of SIP exchanges over the sockets that a SIP program would use, with no
 * SIP in them. It is a yardstick, so it includes nothing of the library.
 *
 * A loop (floor_loop.c) owns an epoll set and the queued messages, and moves them over UDP
 * (floor_udp.c), TCP (floor_tcp.c) or TLS (floor_tls.c); a sender and a receiver (floor_exchange.c)
 * own their sockets and decide what is sent; floor_run.c runs them in threads, floor_processes.c in
 * processes.
 *
 * Functions that return int return 0, or -1 after they have said why on stderr.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* The messages of the two exchanges, in the order of their flow. */
enum floor_kind {
    FLOOR_REGISTER,
    FLOOR_REGISTER_200,
    FLOOR_INVITE,
    FLOOR_INVITE_180,
    FLOOR_INVITE_200,
    FLOOR_ACK,
    FLOOR_BYE,
    FLOOR_BYE_200,
    FLOOR_KIND_COUNT,
};

/* What every message carries at its start; the rest of it only has the right length. */
struct floor_header {
    uint32_t slot;     /* which of the sender's outstanding exchanges */
    uint32_t sequence; /* which exchange of that slot, so that a late duplicate is known */
    uint32_t kind;     /* enum floor_kind */
};

struct floor_address {
    socklen_t length;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    };
};

/* ---- The command line (floor_options.c) ---- */

enum floor_threads {
    FLOOR_EVENT,   /* a loop and a thread a side */
    FLOOR_COMMON,  /* both sides in one loop */
    FLOOR_PROCESS, /* one or more processes a side */
};

struct floor_options {
    bool tcp; /* with or without TLS */
    bool tls;
    bool uring;  /* io_uring instead of epoll; UDP only */
    bool invite; /* six messages a call instead of a request and a response */
    enum floor_threads threads;
    uint32_t processes;   /* a side, with FLOOR_PROCESS */
    uint32_t ports;       /* a side */
    uint32_t window;      /* exchanges outstanding at a time */
    uint64_t runs;        /* exchanges to count; not used when duration is set */
    int64_t duration;     /* nanoseconds to count for, 0: count runs */
    int64_t warmup;       /* nanoseconds before the counting starts */
    uint32_t sender_port; /* the first one of each side */
    uint32_t receiver_port;
    struct floor_address bind; /* port 0 */
    const char *bind_text;
    uint32_t bytes[FLOOR_KIND_COUNT]; /* payload of each kind of message */
    const char *json;                 /* file name, "-" for stdout, NULL for none */
};

enum floor_command {
    FLOOR_RUN,
    FLOOR_QUIT,  /* --help or --version was answered */
    FLOOR_USAGE, /* the command line is wrong and stderr says how */
};

/* Fills options, which borrow strings of argv. */
enum floor_command floor_options_parse(struct floor_options *options, int argc, char **argv);

/* Prints "floor: ", the text and a line end on stderr. Always returns -1. */
int floor_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- Sockets and the loop (floor_loop.c) ---- */

struct floor_socket;

/* Called for each message received. from is valid for the call only; over TCP it is NULL. */
typedef void (*floor_on_message)(void *side, struct floor_socket *socket,
                                 const struct floor_header *header,
                                 const struct floor_address *from);

struct floor_loop;

/* The loop keeps a reference to options. Loops are not shared: one thread calls the functions of a
 * loop, except floor_loop_stop. */
struct floor_loop *floor_loop_new(const struct floor_options *options);
void floor_loop_free(struct floor_loop *loop);

/* Opens a socket a port and adds them to the loop. Over UDP they are bound to first_port and those
 * after it; over TCP they listen there, or are connected to peers, a port each, when that is not
 * NULL. The caller owns the array: floor_sockets_close frees it (NULL is allowed) and is called
 * before floor_loop_free. */
struct floor_socket *floor_sockets_open(struct floor_loop *loop, uint32_t first_port,
                                        const struct floor_address *peers,
                                        floor_on_message on_message, void *side);
void floor_sockets_close(struct floor_socket *sockets, uint32_t count);

/* The socket of a port. */
struct floor_socket *floor_socket_at(struct floor_socket *sockets, uint32_t index);

/* Queues one message; it leaves with the next floor_loop_flush. to may be NULL over TCP. */
int floor_loop_send(struct floor_loop *loop, struct floor_socket *socket,
                    const struct floor_address *to, const struct floor_header *header);

/* A turn is these three in this order. The wait is in milliseconds, -1 for no end. */
int floor_loop_flush(struct floor_loop *loop);
int floor_loop_wait(struct floor_loop *loop, int timeout);
int floor_loop_receive(struct floor_loop *loop);

/* Wakes the loop and makes floor_loop_stopped true. From any thread. */
void floor_loop_stop(struct floor_loop *loop);
bool floor_loop_stopped(const struct floor_loop *loop);

/* options->bind with a port. */
struct floor_address floor_address_at(const struct floor_options *options, uint32_t port);

/* ---- The two sides (floor_exchange.c) ---- */

/* What was done while it counted. */
struct floor_result {
    bool complete; /* every exchange was done and the run was not interrupted */
    uint64_t exchanges;
    uint64_t pairs;
    uint64_t resends;
    int64_t began; /* nanoseconds of CLOCK_MONOTONIC */
    int64_t ended;
    int64_t cpu; /* nanoseconds of all processes */
};

struct floor_sender;

/* Opens the sender's sockets on the loop, which must outlive the sender. receiver is the process
 * whose CPU time is counted beside that of this one; 0 for none. */
struct floor_sender *floor_sender_new(const struct floor_options *options, struct floor_loop *loop,
                                      pid_t receiver);
void floor_sender_free(struct floor_sender *sender);

/* Runs the loop until every exchange is done, or until *interrupted is not 0. */
int floor_sender_run(struct floor_sender *sender, const volatile sig_atomic_t *interrupted);

void floor_sender_result(const struct floor_sender *sender, struct floor_result *result);

struct floor_receiver;

/* Opens the receiver's sockets on the loop, which must outlive the receiver. */
struct floor_receiver *floor_receiver_new(const struct floor_options *options,
                                          struct floor_loop *loop);
void floor_receiver_free(struct floor_receiver *receiver);

/* Runs a receiver's loop until it is stopped or fails. */
void floor_receiver_run(struct floor_loop *loop);

/* ---- Runs ---- */

/* Both sides in this process, in a thread each or in one (floor_run.c). */
int floor_run(const struct floor_options *options, const volatile sig_atomic_t *interrupted,
              struct floor_result *result);

/* Raises the limit of descriptors as far as needed and allowed, and turns to as many processes as
 * it takes when it is not enough (floor_processes.c). */
int floor_processes_plan(struct floor_options *options);

/* Each side in options->processes processes. */
int floor_processes_run(const struct floor_options *options,
                        const volatile sig_atomic_t *interrupted, struct floor_result *result);

#endif
