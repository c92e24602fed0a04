/* run.h - makes a run in this process: opens the sides, turns their loops, measures.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_RUN_H
#define TESTSTACK_RUN_H

#include "options.h"
#include "result.h"

#include <stdatomic.h>
#include <sys/types.h>

/* What a sender and a receiver in two processes, and their parent, see of each other: in memory
 * that all share. */
struct run_shared {
    atomic_bool counting;       /* the sender counts: the receiver notes its counters */
    atomic_int phase;           /* enum sender_phase */
    _Atomic uint64_t exchanges; /* completed in this phase */
};

/* Ties a run to the other processes. */
struct run_link {
    struct run_shared *shared;
    pid_t receiver; /* of a sender: the process whose CPU time is read as well; else 0 */

    /* Called when all ports are open; what it returns other than 0 ends the run, and is what
     * run_make returns. */
    int (*on_open)(void *context);
    void *context;
};

/* Makes a run of the sides that options->role names, in this process. link is NULL when it is all
 * there is. progress: keep a line on stderr up to date. Returns 0 when the run came to its end,
 * also when exchanges failed or it was interrupted; -1 after saying why it could not be made. */
int run_make(const struct options *options, const struct run_link *link, bool progress,
             struct result *result);

/* Ends the run that is being made, or the next one as soon as it begins. run_interrupt is for
 * signal handlers of the thread that makes the run, run_stop for other threads. */
void run_interrupt(void);
void run_stop(void);
bool run_is_interrupted(void);

/* The line on stderr that shows the progress: written anew, and taken away. exchanges are those of
 * the phase, which is an enum sender_phase. */
void run_print_progress(const struct options *options, int phase, uint64_t exchanges);
void run_clear_progress(void);

#endif
