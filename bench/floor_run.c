/* floor_run.c - the floor's two sides in one process, in a thread each or in one.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "floor.h"

#include <pthread.h>
#include <string.h>

struct run {
    const struct floor_options *options;
    struct floor_loop *sender_loop;
    struct floor_loop *receiver_loop; /* the same when both sides are in one loop */
    struct floor_sender *sender;
    struct floor_receiver *receiver;
};

static int open_run(struct run *run)
{
    bool is_common = run->options->threads == FLOOR_COMMON;
    run->sender_loop = floor_loop_new(run->options);
    if (run->sender_loop == NULL) {
        return -1;
    }
    run->receiver_loop = is_common ? run->sender_loop : floor_loop_new(run->options);
    if (run->receiver_loop == NULL) {
        return -1;
    }
    run->receiver = floor_receiver_new(run->options, run->receiver_loop);
    if (run->receiver == NULL) {
        return -1;
    }
    run->sender = floor_sender_new(run->options, run->sender_loop, 0);
    return run->sender == NULL ? -1 : 0;
}

static void close_run(struct run *run)
{
    floor_sender_free(run->sender);
    floor_receiver_free(run->receiver);
    if (run->receiver_loop != run->sender_loop) {
        floor_loop_free(run->receiver_loop);
    }
    floor_loop_free(run->sender_loop);
}

static void *receiver_thread(void *argument)
{
    struct run *run = argument;
    floor_receiver_run(run->receiver_loop);
    /* When it was not the sender that asked for the end, the sender must know of it. */
    floor_loop_stop(run->sender_loop);
    return NULL;
}

static int run_threads(struct run *run, const volatile sig_atomic_t *interrupted)
{
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    /* Signals are for the sender's thread, which looks at the flag. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, receiver_thread, run);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        return floor_fail("cannot start a thread: %s", strerror(error));
    }
    error = floor_sender_run(run->sender, interrupted);
    floor_loop_stop(run->receiver_loop);
    pthread_join(thread, NULL);
    return error;
}

int floor_run(const struct floor_options *options, const volatile sig_atomic_t *interrupted,
              struct floor_result *result)
{
    struct run run = {.options = options};
    int error = open_run(&run);
    if (error == 0) {
        error = options->threads == FLOOR_COMMON ? floor_sender_run(run.sender, interrupted)
                                                 : run_threads(&run, interrupted);
        floor_sender_result(run.sender, result);
        result->complete = result->complete && error == 0;
    }
    close_run(&run);
    return error;
}
