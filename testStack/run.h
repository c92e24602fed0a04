/* run.h - makes a run: opens both sides, turns their loops, measures.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_RUN_H
#define TESTSTACK_RUN_H

#include "latency.h"
#include "options.h"
#include "side.h"

/* What a side used. cpu is -1 when it cannot be told apart from the other side's. */
struct side_result {
    int64_t cpu; /* nanoseconds while it counted */
    size_t engine_bytes;
    struct side_counters counters;
};

/* What was done while it counted; the counters of the sides cover all of the run. */
struct result {
    bool complete; /* every exchange was completed */
    bool interrupted;
    uint64_t exchanges;       /* completed: registrations or calls */
    uint64_t pairs;           /* of a request and its final response; two in a call */
    int64_t elapsed;          /* nanoseconds */
    int64_t cpu;              /* nanoseconds of the whole process */
    uint64_t retransmissions; /* of requests and responses, by both sides */
    uint64_t timeouts;
    uint64_t failures;
    struct side_result sender;
    struct side_result receiver;
    struct latency latency; /* microseconds */
};

/* Makes a run. progress: keep a line on stderr up to date. Returns 0 when the run came to its end,
 * also when exchanges failed or it was interrupted; -1 after saying why it could not be made. */
int run_make(const struct options *options, bool progress, struct result *result);

/* Ends the run that is being made, or the next one as soon as it begins. From a signal handler. */
void run_interrupt(void);

#endif
