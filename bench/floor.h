/*
 * Private to bench/floor: the floor moves the bytes of SIP exchanges over the sockets that a SIP
 * program would use, with no SIP in them. It is a yardstick, so it includes nothing of the library.
 *
 * A loop (floor_udp.c) owns an epoll set and the queued datagrams; a sender and a receiver
 * (floor_exchange.c) own their sockets and decide what is sent; floor.c runs the threads.
 *
 * Functions that return int return 0, or -1 after they have said why on stderr.
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

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

/* What every datagram carries at its start; the rest of it only has the right length. */
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

struct floor_options {
    bool invite;      /* six messages a call instead of a request and a response */
    bool common;      /* both sides in one loop instead of a thread each */
    uint32_t ports;   /* sockets a side */
    uint32_t window;  /* exchanges outstanding at a time */
    uint64_t runs;    /* exchanges to count; not used when duration is set */
    int64_t duration; /* nanoseconds to count for, 0: count runs */
    int64_t warmup;   /* nanoseconds before the counting starts */
    uint32_t base_port;
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

/* ---- Sockets and the loop (floor_udp.c) ---- */

/* A datagram that waits to be sent. */
struct floor_datagram {
    struct floor_datagram *next;
    struct floor_address to;
    size_t length;
    unsigned char *bytes;
};

struct floor_socket;

/* Called for each datagram received. from is valid for the call only. */
typedef void (*floor_on_datagram)(void *side, struct floor_socket *socket,
                                  const struct floor_header *header,
                                  const struct floor_address *from);

struct floor_socket {
    int fd;
    bool blocked;              /* the kernel said EAGAIN: EPOLLOUT is awaited */
    bool flushing;             /* on the loop's list of sockets to flush */
    struct floor_socket *next; /* in that list */
    struct floor_datagram *first, *last;
    floor_on_datagram on_datagram;
    void *side;
};

struct floor_loop;

/*
 * The loop keeps a reference to options. Loops are not shared: one thread calls the functions of a
 * loop, except floor_loop_stop.
 */
struct floor_loop *floor_loop_new(const struct floor_options *options);
void floor_loop_free(struct floor_loop *loop);

/*
 * Opens options->ports sockets from first_port up and adds them to the loop. The caller owns the
 * array: floor_sockets_close frees it (NULL is allowed) and is called before floor_loop_free.
 */
struct floor_socket *floor_sockets_open(struct floor_loop *loop, uint32_t first_port,
                                        floor_on_datagram on_datagram, void *side);
void floor_sockets_close(struct floor_socket *sockets, uint32_t count);

/* Queues one message; it leaves with the next floor_loop_flush. */
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
    uint64_t exchanges;
    uint64_t pairs;
    uint64_t resends;
    int64_t elapsed; /* nanoseconds */
    int64_t cpu;     /* nanoseconds of the whole process */
};

struct floor_sender;

/* Opens the sender's sockets on the loop, which must outlive the sender. */
struct floor_sender *floor_sender_new(const struct floor_options *options, struct floor_loop *loop);
void floor_sender_free(struct floor_sender *sender);

/* Runs the loop until every exchange is done, or until *interrupted is not 0. */
int floor_sender_run(struct floor_sender *sender, const volatile sig_atomic_t *interrupted);

/* True when every exchange was done and the run was not interrupted. */
bool floor_sender_result(const struct floor_sender *sender, struct floor_result *result);

struct floor_receiver;

/* Opens the receiver's sockets on the loop, which must outlive the receiver. */
struct floor_receiver *floor_receiver_new(const struct floor_options *options,
                                          struct floor_loop *loop);
void floor_receiver_free(struct floor_receiver *receiver);

#endif
