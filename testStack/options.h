/* options.h - the command line: testStack's own options and those of reSIProcate's testStack.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_OPTIONS_H
#define TESTSTACK_OPTIONS_H

#include <viaduct/addr.h>
#include <viaduct/base.h>

struct options {
    bool invite;          /* a call of six messages instead of a REGISTER and its 200 */
    bool common;          /* both sides in one loop instead of a loop and a thread each */
    uint32_t ports;       /* sockets a side */
    uint32_t window;      /* exchanges outstanding at a time */
    uint64_t runs;        /* exchanges to count; not used when duration is set */
    vd_time duration;     /* to count for; 0: count runs */
    vd_time warmup;       /* before the counting starts */
    vd_time longest_wait; /* of a turn of a loop; VD_TIME_NEVER: no limit, 0: it never sleeps */
    uint32_t base_port;   /* the sender's ports from here up, then the receiver's */
    struct vd_addr bind;  /* port 0 */
    uint32_t verbose;     /* 0 to 3 */
    const char *json;     /* file name, "-" for stdout, NULL for none */
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

/* options->bind with a port. */
struct vd_addr options_address(const struct options *options, uint32_t port);

#endif
