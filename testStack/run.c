/* run.c - makes a run in this process: opens the sides, turns their loops, measures.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "run.h"

#include "fail.h"
#include "receiver.h"
#include "sender.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const vd_time PROGRESS_INTERVAL = 500 * VD_MSEC;

/* current is the side whose loop must be woken to see that it is interrupted. It is set under the
 * lock, lest another thread stop a side that is gone. */
static atomic_bool interrupted;
static _Atomic(struct side *) current;
static pthread_mutex_t current_lock = PTHREAD_MUTEX_INITIALIZER;

/* What the clocks said when the counting began. */
struct clocks {
    int64_t time;
    int64_t process;
    int64_t sender;
    int64_t receiver;
};

struct run {
    const struct options *options;
    const struct run_link *link;
    struct run_shared *shared; /* the link's, or own */
    struct run_shared own;
    struct result *result;
    struct sender *sender;
    struct receiver *receiver;
    struct side sender_side;
    struct side receiver_side;
    struct side *first; /* the one whose loop this thread turns */
    pthread_t thread;   /* of the receiver, with a loop a side */
    bool has_thread;
    enum sender_phase phase;
    struct clocks began;
    vd_time next_progress;
    bool stuck; /* a side cannot go on; why was said */

    /* The receiver's counters when the counting began: noted by the thread that owns them, in its
     * first turn after the sender has set the flag. */
    bool base_noted;
    uint64_t base_timeouts;
    struct vd_stack_counters receiver_base;
    struct vd_stack_counters sender_base;
};

static bool sends(const struct run *run)
{
    return run->options->role != ROLE_RECEIVER;
}

static bool receives(const struct run *run)
{
    return run->options->role != ROLE_SENDER;
}

static bool shares_loop(const struct run *run)
{
    return run->options->role == ROLE_BOTH && run->options->threads == THREADS_COMMON;
}

/* ---- Interruption ---- */

void run_interrupt(void)
{
    struct side *side = atomic_load(&current);
    atomic_store(&interrupted, true);
    if (side != NULL) {
        side_stop(side);
    }
}

void run_stop(void)
{
    pthread_mutex_lock(&current_lock);
    run_interrupt();
    pthread_mutex_unlock(&current_lock);
}

bool run_is_interrupted(void)
{
    return atomic_load(&interrupted);
}

static void set_current(struct side *side)
{
    pthread_mutex_lock(&current_lock);
    atomic_store(&current, side);
    pthread_mutex_unlock(&current_lock);
}

/* ---- Clocks ---- */

static int64_t read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The sender reads the clock of the receiver's thread or process as well. */
static void read_clocks(const struct run *run, struct clocks *clocks)
{
    clockid_t other;
    *clocks = (struct clocks){
        .time = read_clock(CLOCK_MONOTONIC),
        .process = read_clock(CLOCK_PROCESS_CPUTIME_ID),
    };
    if (run->has_thread && pthread_getcpuclockid(run->thread, &other) == 0) {
        clocks->sender = read_clock(CLOCK_THREAD_CPUTIME_ID);
        clocks->receiver = read_clock(other);
    } else if (run->link != NULL && run->link->receiver != 0 &&
               clock_getcpuclockid(run->link->receiver, &other) == 0) {
        clocks->sender = clocks->process;
        clocks->receiver = read_clock(other);
        clocks->process += clocks->receiver;
    } else if (run->options->role == ROLE_SENDER) {
        clocks->sender = clocks->process;
    } else if (run->options->role == ROLE_RECEIVER) {
        clocks->receiver = clocks->process;
    }
}

/* ---- Counting ---- */

static void begin_counting(struct run *run)
{
    vd_stack_get_counters(run->sender_side.stack, &run->sender_base);
    atomic_store(&run->shared->counting, true);
    read_clocks(run, &run->began);
}

static void end_clocks(struct run *run)
{
    struct result *result = run->result;
    struct clocks now;
    read_clocks(run, &now);
    result->began = run->began.time;
    result->ended = now.time;
    result->cpu = now.process - run->began.process;
    if (now.sender > 0) {
        result->sender.cpu = now.sender - run->began.sender;
    }
    if (now.receiver > 0) {
        result->receiver.cpu = now.receiver - run->began.receiver;
    }
}

static void end_counting(struct run *run)
{
    const struct sender_count *count = sender_count(run->sender);
    end_clocks(run);
    run->result->exchanges = count->exchanges;
    run->result->pairs = count->exchanges * options_pairs(run->options);
    run->result->latency = count->latency;
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
    if (!run->base_noted && atomic_load_explicit(&run->shared->counting, memory_order_relaxed)) {
        vd_stack_get_counters(run->receiver_side.stack, &run->receiver_base);
        run->base_timeouts = receiver_count(run->receiver)->timeouts;
        run->base_noted = true;
    }
}

/* ---- Progress ---- */

void run_print_progress(const struct options *options, int phase, uint64_t exchanges)
{
    static const char *const PHASES[] = {"warming up", "counting", "ending", "done"};
    fprintf(stderr, "\r\033[K%s: %" PRIu64 " %s", PHASES[phase], exchanges, result_noun(options));
    if (options->duration == 0 && phase == SENDER_COUNTING) {
        fprintf(stderr, " of %" PRIu64, options->runs);
    }
    fflush(stderr);
}

void run_clear_progress(void)
{
    fputs("\r\033[K", stderr);
}

/* For the parent, which prints it for all its processes, and for this process. */
static void tell_progress(struct run *run, vd_time now)
{
    const struct sender_count *count = sender_count(run->sender);
    atomic_store_explicit(&run->shared->phase, (int)run->phase, memory_order_relaxed);
    atomic_store_explicit(&run->shared->exchanges, count->exchanges, memory_order_relaxed);
    if (now >= run->next_progress) {
        run->next_progress = now + PROGRESS_INTERVAL;
        run_print_progress(run->options, (int)run->phase, count->exchanges);
    }
}

/* ---- Turns ---- */

static vd_time earlier(vd_time a, vd_time b)
{
    return a < b ? a : b;
}

/* In a turn of the sender's loop, which is the receiver's as well when there is but one. */
static bool must_stop(const struct run *run)
{
    return sender_error(run->sender) != 0 || sender_is_hopeless(run->sender) ||
           (shares_loop(run) && receiver_error(run->receiver) != 0);
}

static void turn_receiver(struct run *run, vd_time now)
{
    side_turn(&run->receiver_side, now);
    note_base(run);
}

static void receiver_turn(struct vd_loop *loop, vd_time now, void *context)
{
    struct run *run = context;
    turn_receiver(run, now);
    if (receiver_error(run->receiver) != 0) {
        side_stop(&run->receiver_side);
    }
    vd_loop_set_deadline(loop, side_deadline(&run->receiver_side));
}

static void sender_turn(struct vd_loop *loop, vd_time now, void *context)
{
    struct run *run = context;
    vd_time deadline = VD_TIME_NEVER;
    side_turn(&run->sender_side, now);
    enum sender_phase phase = sender_advance(run->sender, now);
    if (phase != run->phase) {
        change_phase(run, phase);
    }
    if (shares_loop(run)) {
        turn_receiver(run, now);
        deadline = side_deadline(&run->receiver_side);
    }
    sender_fill(run->sender, run->sender_side.stack, now);
    if (phase == SENDER_DONE || must_stop(run)) {
        side_stop(&run->sender_side);
        return;
    }
    tell_progress(run, now);
    deadline = earlier(deadline, side_deadline(&run->sender_side));
    deadline = earlier(deadline, sender_deadline(run->sender));
    vd_loop_set_deadline(loop, earlier(deadline, run->next_progress));
}

/* ---- Opening and closing ---- */

static int open_receiver(struct run *run)
{
    struct vd_stack_config config;
    run->receiver = receiver_new(run->options);
    if (run->receiver == NULL) {
        return -1;
    }
    vd_stack_config_init(&config);
    receiver_configure(run->receiver, &config);
    return side_open_stack(&run->receiver_side, &config, &run->options->receiver, true);
}

static int open_sender(struct run *run)
{
    struct vd_stack_config config;
    run->sender = sender_new(run->options);
    if (run->sender == NULL) {
        return -1;
    }
    vd_stack_config_init(&config);
    sender_configure(run->sender, &config);
    return side_open_stack(&run->sender_side, &config, &run->options->sender, run->options->listen);
}

static int open_loops(struct run *run)
{
    if (sends(run) &&
        side_open_loop(&run->sender_side, "sender", run->options, sender_turn, run) < 0) {
        return -1;
    }
    if (shares_loop(run)) {
        side_share_loop(&run->receiver_side, "receiver", &run->sender_side);
        return 0;
    }
    return receives(run)
               ? side_open_loop(&run->receiver_side, "receiver", run->options, receiver_turn, run)
               : 0;
}

static int open_run(struct run *run)
{
    if (open_loops(run) < 0 || (receives(run) && open_receiver(run) < 0) ||
        (sends(run) && open_sender(run) < 0)) {
        return -1;
    }
    return run->link != NULL ? run->link->on_open(run->link->context) : 0;
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

static int turn_first(struct run *run)
{
    set_current(run->first);
    if (run_is_interrupted()) {
        side_stop(run->first);
    }
    int error = side_run(run->first);
    set_current(NULL);
    return error;
}

static int turn_loops(struct run *run)
{
    bool is_alone = run->options->role != ROLE_BOTH || shares_loop(run);
    if (!is_alone && start_thread(run) < 0) {
        return -1;
    }
    if (!sends(run)) {
        read_clocks(run, &run->began);
    }
    int error = turn_first(run);
    if (!sends(run)) {
        end_clocks(run);
    } else if (run->phase == SENDER_COUNTING) {
        end_counting(run);
    }
    if (run->next_progress != VD_TIME_NEVER) {
        run_clear_progress();
    }
    if (run->has_thread) {
        side_stop(&run->receiver_side);
        pthread_join(run->thread, NULL);
        run->has_thread = false;
    }
    return error < 0 || run->stuck ? -1 : 0;
}

/* ---- What was done ---- */

static int explain_error(const struct run *run)
{
    int error = sends(run) ? sender_error(run->sender) : 0;
    if (error == 0 && receives(run)) {
        error = receiver_error(run->receiver);
    }
    return error != 0 ? fail("no message could be made: %s", vd_strerror(error)) : 0;
}

static uint64_t retransmissions(const struct vd_stack_counters *end,
                                const struct vd_stack_counters *base)
{
    return end->resent_requests - base->resent_requests + end->resent_responses -
           base->resent_responses;
}

static void collect_side(const struct run *run, const struct side *side, struct side_result *result)
{
    struct rusage usage;
    result->known = true;
    result->engine_bytes = side->memory.peak;
    side_get_counters(side, &result->counters);
    if (run->options->role != ROLE_BOTH && getrusage(RUSAGE_SELF, &usage) == 0) {
        result->rss = usage.ru_maxrss;
    }
}

static void collect_sender(struct run *run)
{
    struct result *result = run->result;
    const struct sender_count *count = sender_count(run->sender);
    collect_side(run, &run->sender_side, &result->sender);
    result->retransmissions += retransmissions(&result->sender.counters.stack, &run->sender_base);
    result->timeouts += count->timeouts;
    result->failures = count->failures;
    result->gave_up = sender_is_hopeless(run->sender);
    result->interrupted = run_is_interrupted() && run->phase != SENDER_DONE;
    result->complete = run->phase == SENDER_DONE && result->failures == 0;
}

/* A receiver alone has no phases: it counts from its first request to its last. */
static void collect_receiver(struct run *run)
{
    struct result *result = run->result;
    const struct receiver_count *count = receiver_count(run->receiver);
    note_base(run);
    collect_side(run, &run->receiver_side, &result->receiver);
    result->retransmissions +=
        retransmissions(&result->receiver.counters.stack, &run->receiver_base);
    result->timeouts += count->timeouts - run->base_timeouts;
    if (!sends(run)) {
        result->complete = true;
        result->pairs = count->requests;
        result->exchanges = count->requests;
        result->began = (int64_t)count->first_at * 1000;
        result->ended = (int64_t)count->last_at * 1000;
    }
}

/* The loops stand still. */
static void collect(struct run *run)
{
    if (sends(run)) {
        collect_sender(run);
    }
    if (receives(run)) {
        collect_receiver(run);
    }
}

int run_make(const struct options *options, const struct run_link *link, bool progress,
             struct result *result)
{
    struct run run = {
        .options = options,
        .link = link,
        .result = result,
        .next_progress = progress && options->role != ROLE_RECEIVER ? 0 : VD_TIME_NEVER,
    };
    run.shared = link != NULL ? link->shared : &run.own;
    run.first = sends(&run) ? &run.sender_side : &run.receiver_side;
    result_init(result);
    result->complete = false;
    int error = open_run(&run);
    if (error == 0) {
        error = turn_loops(&run);
    }
    if (error == 0) {
        collect(&run);
        error = explain_error(&run);
    }
    close_run(&run);
    return error;
}
