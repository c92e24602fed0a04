/* options.h - the command line: testStack's own options and those of reSIProcate's testStack.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_OPTIONS_H
#define TESTSTACK_OPTIONS_H

#include <viaduct/addr.h>
#include <viaduct/base.h>
#include <viaduct/loop.h>
#include <viaduct/tls.h>

/* What an exchange is: a request and its final response, or a call of six messages. */
enum method { METHOD_REGISTER, METHOD_OPTIONS, METHOD_INVITE };

enum threads {
    THREADS_EVENT,   /* a loop and a thread a side */
    THREADS_COMMON,  /* both sides in one loop */
    THREADS_PROCESS, /* one or more processes a side */
};

/* The sides that run here. */
enum role { ROLE_BOTH, ROLE_SENDER, ROLE_RECEIVER };

/* What happens to the datagrams that a side receives; probabilities are from 0 to 1. */
struct impairment {
    double loss;
    double duplicate;
    double reorder;
    vd_time delay;
    uint64_t seed;
};

struct options {
    enum vd_transport transport;
    enum method method;
    enum threads threads;
    enum vd_selector selector;
    enum role role;
    uint32_t processes;    /* a side, with THREADS_PROCESS */
    bool listen;           /* the sender's ports accept connections */
    uint32_t ports;        /* a side */
    uint32_t window;       /* exchanges outstanding at a time */
    uint64_t runs;         /* exchanges to count; not used when duration is set */
    vd_time duration;      /* to count for; 0: count runs */
    vd_time warmup;        /* before the counting starts */
    vd_time longest_wait;  /* of a turn of a loop; VD_TIME_NEVER: no limit, 0: it never sleeps */
    struct vd_addr sender; /* first port of a side; not set for the sender of a receiver's */
    struct vd_addr receiver;
    struct impairment impairment;
    const char *certificate; /* files of PEM text; NULL: one is made */
    const char *key;
    const char *authorities;
    const char *key_log;        /* file name, NULL for none */
    struct vd_str peer_host;    /* whom the peer's certificate must name; empty: its address */
    struct vd_tls_context *tls; /* set by tls_new */
    double gate;                /* the least part of the floor's rate; 0: not judged */
    uint32_t gate_cores;        /* fewer CPUs than these do not judge */
    uint32_t verbose;           /* 0 to 3 */
    const char *json;           /* file name, "-" for stdout, NULL for none */
    const char *csv;
};

enum options_result {
    OPTIONS_RUN,
    OPTIONS_QUIT,  /* --help or --version was answered on stdout */
    OPTIONS_USAGE, /* the command line is wrong and stderr says how, in one line */
};

/* Fills options, which borrow strings of argv; its order and its first string are changed. May be
 * called again and again. */
enum options_result options_parse(struct options *options, int argc, char **argv);

/* The port of a side that has the number index, from the side's first one. */
struct vd_addr options_port(const struct vd_addr *first, uint32_t index);

bool options_are_impaired(const struct options *options);

/* Pairs of a request and its final response in an exchange. */
unsigned options_pairs(const struct options *options);

#endif
