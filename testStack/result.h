/* result.h - what a run has done, and how the results of several processes add up.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_RESULT_H
#define TESTSTACK_RESULT_H

#include "latency.h"
#include "options.h"
#include "side.h"

/* What a side used. */
struct side_result {
    bool known;  /* it ran here */
    int64_t cpu; /* nanoseconds while it counted; -1 when the other side's cannot be told from it */
    int64_t rss; /* the most KiB that its processes ever had in memory; -1 as above */
    size_t engine_bytes;
    struct side_counters counters;
};

/* What was done while it counted; the counters of the sides cover all of the run. */
struct result {
    bool complete; /* every exchange was completed; of a receiver alone: it ran until it was stopped
                    */
    bool interrupted;
    bool gave_up;             /* the sender, since nothing was answered any more */
    uint64_t exchanges;       /* completed: registrations, queries or calls */
    uint64_t pairs;           /* of a request and its final response; two in a call */
    int64_t began;            /* nanoseconds of CLOCK_MONOTONIC */
    int64_t ended;            /* the same as began when there was nothing */
    int64_t cpu;              /* nanoseconds of all processes that ran here */
    uint64_t retransmissions; /* of requests and responses, by the sides that ran here */
    uint64_t timeouts;
    uint64_t failures;
    struct side_result sender;
    struct side_result receiver;
    struct latency latency; /* microseconds */
};

/* The result of nothing, to which others are added. */
void result_init(struct result *sum);

/* Adds what another pair of processes did at the same time. */
void result_add(struct result *sum, const struct result *part);

/* Adds the result of a receiver whose pairs and CPU time are in its sender's. */
void result_add_receiver(struct result *sum, const struct result *part);

/* Says on stderr, in a line for each reason, why the result is not complete. */
void result_explain(const struct result *result, const struct options *options);

/* What exchanges are called, in the plural. */
const char *result_noun(const struct options *options);

/* Nanoseconds that it took. */
int64_t result_elapsed(const struct result *result);

#endif
