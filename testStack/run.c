/* run.c - makes a run: opens both sides, turns their loops, measures.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "run.h"

#include "fail.h"
#include "receiver.h"
#include "sender.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const vd_time PROGRESS_INTERVAL = 500 * VD_MSEC;

/* Set by a signal handler; current is the side whose loop must be woken to see it. */
static atomic_bool interrupted;
static _Atomic(struct side *) current;

/* What the clocks said when the counting began. */
struct clocks {
    int64_t time;
    int64_t process;
    int64_t sender;
    int64_t receiver;
};

struct run {
    const struct options *options;
    struct result *result;
    struct sender *sender;
    struct receiver *receiver;
    struct side sender_side;
    struct side receiver_side;
    pthread_t thread; /* of the receiver, with a loop a side */
    bool has_thread;
    enum sender_phase phase;
    struct clocks began;
    vd_time next_progress;
    bool stuck; /* a side cannot go on; why was said */

    /* The receiver's counters when the counting began: noted by the thread that owns them, in its
     * first turn after the sender has set the flag. */
    atomic_bool counting;
    bool base_noted;
    uint64_t base_timeouts;
    struct vd_stack_counters receiver_base;
    struct vd_stack_counters sender_base;
};

void run_interrupt(void)
{
    struct side *side = atomic_load(&current);
    atomic_store(&interrupted, true);
    if (side != NULL) {
        side_stop(side);
    }
}

/* ---- Clocks ---- */

static int64_t read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The sender's thread reads the clock of the receiver's as well. */
static void read_clocks(const struct run *run, struct clocks *clocks)
{
    clockid_t receiver;
    *clocks = (struct clocks){
        .time = read_clock(CLOCK_MONOTONIC),
        .process = read_clock(CLOCK_PROCESS_CPUTIME_ID),
    };
    if (run->has_thread && pthread_getcpuclockid(run->thread, &receiver) == 0) {
        clocks->sender = read_clock(CLOCK_THREAD_CPUTIME_ID);
        clocks->receiver = read_clock(receiver);
    }
}

/* ---- Counting ---- */

static void begin_counting(struct run *run)
{
    vd_stack_get_counters(run->sender_side.stack, &run->sender_base);
    atomic_store(&run->counting, true);
    read_clocks(run, &run->began);
}

static void end_counting(struct run *run)
{
    struct result *result = run->result;
    const struct sender_count *count = sender_count(run->sender);
    struct clocks now;
    read_clocks(run, &now);
    result->elapsed = now.time - run->began.time;
    result->cpu = now.process - run->began.process;
    if (run->has_thread) {
        result->sender.cpu = now.sender - run->began.sender;
        result->receiver.cpu = now.receiver - run->began.receiver;
    }
    result->exchanges = count->exchanges;
    result->pairs = count->exchanges * (run->options->invite ? 2 : 1);
    result->latency = count->latency;
}

static void change_phase(struct run *run, enum sender_phase phase)
{
    /* The phases come in order but may be short, so several of them may begin at once. */
    if (run->phase < SENDER_COUNTING && phase >= SENDER_COUNTING) {
        begin_counting(run);
    }
    if (run->phase < SENDER_DRAINING && phase >= SENDER_DRAINING) {
        end_counting(run);
    }
    run->phase = phase;
}

static void note_base(struct run *run)
{
    if (!run->base_noted && atomic_load_explicit(&run->counting, memory_order_relaxed)) {
        vd_stack_get_counters(run->receiver_side.stack, &run->receiver_base);
        run->base_timeouts = receiver_timeouts(run->receiver);
        run->base_noted = true;
    }
}

/* ---- Progress ---- */

static void print_progress(struct run *run, vd_time now)
{
    static const char *const PHASES[] = {"warming up", "counting", "ending", "done"};
    const struct sender_count *count = sender_count(run->sender);
    const char *what = run->options->invite ? "calls" : "registrations";
    run->next_progress = now + PROGRESS_INTERVAL;
    fprintf(stderr, "\r\033[K%s: %" PRIu64 " %s", PHASES[run->phase], count->exchanges, what);
    if (run->options->duration == 0 && run->phase == SENDER_COUNTING) {
        fprintf(stderr, " of %" PRIu64, run->options->runs);
    }
    fflush(stderr);
}

static void clear_progress(const struct run *run)
{
    if (run->next_progress != VD_TIME_NEVER) {
        fputs("\r\033[K", stderr);
    }
}

/* ---- Turns ---- */

/* In a turn of the sender's loop, which is the receiver's as well when there is but one. */
static bool must_stop(const struct run *run)
{
    return sender_error(run->sender) != 0 || sender_is_hopeless(run->sender) ||
           (run->options->common && receiver_error(run->receiver) != 0);
}

static void receiver_turn(struct vd_loop *loop, vd_time now, void *context)
{
    struct run *run = context;
    (void)loop;
    (void)now;
    note_base(run);
    if (!run->options->common && receiver_error(run->receiver) != 0) {
        side_stop(&run->receiver_side);
    }
}

static void sender_turn(struct vd_loop *loop, vd_time now, void *context)
{
    struct run *run = context;
    enum sender_phase phase = sender_advance(run->sender, now);
    if (phase != run->phase) {
        change_phase(run, phase);
    }
    if (run->options->common) {
        receiver_turn(loop, now, run);
    }
    sender_fill(run->sender, run->sender_side.stack, now);
    if (phase == SENDER_DONE || must_stop(run)) {
        side_stop(&run->sender_side);
        return;
    }
    if (now >= run->next_progress) {
        print_progress(run, now);
    }
    vd_time deadline = sender_deadline(run->sender);
    vd_loop_set_deadline(loop, deadline < run->next_progress ? deadline : run->next_progress);
}

/* ---- Opening and closing ---- */

static int open_stacks(struct run *run)
{
    struct vd_stack_config config;
    const struct options *options = run->options;
    run->receiver = receiver_new(options);
    run->sender = sender_new(options);
    if (run->receiver == NULL || run->sender == NULL) {
        return -1;
    }
    vd_stack_config_init(&config);
    receiver_configure(run->receiver, &config);
    if (side_open_stack(&run->receiver_side, &config, options->base_port + options->ports) < 0) {
        return -1;
    }
    vd_stack_config_init(&config);
    sender_configure(run->sender, &config);
    return side_open_stack(&run->sender_side, &config, options->base_port);
}

static int open_run(struct run *run)
{
    if (side_open_loop(&run->sender_side, "sender", run->options, sender_turn, run) < 0) {
        return -1;
    }
    if (run->options->common) {
        side_share_loop(&run->receiver_side, "receiver", &run->sender_side);
    } else if (side_open_loop(&run->receiver_side, "receiver", run->options, receiver_turn, run) <
               0) {
        return -1;
    }
    return open_stacks(run);
}

static void close_run(struct run *run)
{
    side_close_loop(&run->receiver_side);
    side_close_loop(&run->sender_side);
    if (run->receiver != NULL) {
        receiver_stop(run->receiver);
    }
    if (run->sender != NULL) {
        sender_stop(run->sender);
    }
    side_close_stack(&run->receiver_side);
    side_close_stack(&run->sender_side);
    receiver_free(run->receiver);
    sender_free(run->sender);
}

/* ---- Running ---- */

static void *receiver_thread(void *argument)
{
    struct run *run = argument;
    run->stuck = side_run(&run->receiver_side) < 0;
    /* When it was not the sender that asked for the end, the sender must know of it. */
    side_stop(&run->sender_side);
    return NULL;
}

static int start_thread(struct run *run)
{
    sigset_t all;
    sigset_t before;
    /* Signals are for the sender's thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&run->thread, NULL, receiver_thread, run);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    run->has_thread = error == 0;
    return error != 0 ? fail("cannot start a thread: %s", strerror(error)) : 0;
}

static int turn_loops(struct run *run)
{
    if (!run->options->common && start_thread(run) < 0) {
        return -1;
    }
    atomic_store(&current, &run->sender_side);
    if (atomic_load(&interrupted)) {
        side_stop(&run->sender_side);
    }
    int error = side_run(&run->sender_side);
    atomic_store(&current, NULL);
    if (run->phase == SENDER_COUNTING) {
        end_counting(run);
    }
    clear_progress(run);
    if (run->has_thread) {
        side_stop(&run->receiver_side);
        pthread_join(run->thread, NULL);
        run->has_thread = false;
    }
    return error < 0 || run->stuck ? -1 : 0;
}

static int explain_end(const struct run *run)
{
    const char *what = run->options->invite ? "calls" : "registrations";
    int error = sender_error(run->sender);
    error = error != 0 ? error : receiver_error(run->receiver);
    if (error != 0) {
        return fail("no message could be made: %s", vd_strerror(error));
    }
    if (run->result->failures > 0) {
        fail("%" PRIu64 " %s failed%s", run->result->failures, what,
             sender_is_hopeless(run->sender) ? ", a whole window in a row: gave up" : "");
    }
    if (run->result->interrupted) {
        fail("interrupted; this is what was done until then");
    }
    return 0;
}

static uint64_t retransmissions(const struct vd_stack_counters *end,
                                const struct vd_stack_counters *base)
{
    return end->resent_requests - base->resent_requests + end->resent_responses -
           base->resent_responses;
}

/* Both loops stand still. */
static void collect(struct run *run)
{
    struct result *result = run->result;
    const struct sender_count *count = sender_count(run->sender);
    uint64_t unacknowledged = receiver_timeouts(run->receiver);
    note_base(run);
    side_get_counters(&run->sender_side, &result->sender.counters);
    side_get_counters(&run->receiver_side, &result->receiver.counters);
    result->sender.engine_bytes = run->sender_side.memory.peak;
    result->receiver.engine_bytes = run->receiver_side.memory.peak;
    result->retransmissions =
        retransmissions(&result->sender.counters.stack, &run->sender_base) +
        retransmissions(&result->receiver.counters.stack, &run->receiver_base);
    result->timeouts = count->timeouts + unacknowledged - run->base_timeouts;
    result->failures = count->failures;
    result->interrupted = atomic_load(&interrupted) && run->phase != SENDER_DONE;
    result->complete = run->phase == SENDER_DONE && result->failures == 0;
}

int run_make(const struct options *options, bool progress, struct result *result)
{
    struct run run = {
        .options = options,
        .result = result,
        .next_progress = progress ? 0 : VD_TIME_NEVER,
    };
    memset(result, 0, sizeof *result);
    result->sender.cpu = -1;
    result->receiver.cpu = -1;
    int error = open_run(&run);
    if (error == 0) {
        error = turn_loops(&run);
    }
    if (error == 0) {
        collect(&run);
        error = explain_end(&run);
    }
    close_run(&run);
    return error;
}
