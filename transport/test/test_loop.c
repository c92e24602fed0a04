/* test_loop.c - turns of a loop.
 *
 * Covered: what a turn does and in which order, what wakes it and what does not, stopping it from a
 * callback, a thread and a signal handler, what is left when memory or file descriptors run out.
 * Not covered: how fast it is; sockets, which test_udp.c and its neighbours have.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/loop.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <viaduct/timer.h>

#include "clock.h"
#include "exchange.h"
#include "loop_internal.h"
#include "over_selectors.h"

static uint64_t turns_of(const struct vd_loop *loop)
{
    struct vd_loop_counters counters;

    vd_loop_get_counters(loop, &counters);
    return counters.turns;
}

static uint64_t ready_of(const struct vd_loop *loop)
{
    struct vd_loop_counters counters;

    vd_loop_get_counters(loop, &counters);
    return counters.ready;
}

/* The lowest file descriptor that is not in use. */
static int free_fd(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

/* ---- What wakes it ---- */

static void a_loop_with_nothing_to_do_waits_once_until_its_deadline(void)
{
    struct side side;

    CU_ASSERT_FATAL(side_init(&side));
    vd_time deadline = vd_loop_now(side.loop) + 20 * VD_MSEC;
    vd_loop_set_deadline(side.loop, deadline);
    CU_ASSERT_EQUAL(vd_loop_run_once(side.loop, VD_TIME_NEVER), 0);
    CU_ASSERT(vd_loop_now(side.loop) >= deadline);
    CU_ASSERT_EQUAL(turns_of(side.loop), 1);
    CU_ASSERT_EQUAL(side.turns, 1);
    CU_ASSERT_TRUE(side_free(&side));
}

/* Were the first deadline still there, the second wait would end at once. */
static void a_deadline_holds_once(void)
{
    struct side side;

    CU_ASSERT_FATAL(side_init(&side));
    vd_loop_set_deadline(side.loop, vd_loop_now(side.loop));
    CU_ASSERT_EQUAL(vd_loop_run_once(side.loop, VD_TIME_NEVER), 0);
    vd_time before = vd_loop_now(side.loop);
    CU_ASSERT_EQUAL(vd_loop_run_once(side.loop, 2 * VD_MSEC), 0);
    CU_ASSERT(vd_loop_now(side.loop) >= before + 2 * VD_MSEC);
    CU_ASSERT_TRUE(side_free(&side));
}

static void no_wait_is_longer_than_max_wait(void)
{
    struct side side;

    CU_ASSERT_FATAL(side_init(&side));
    vd_loop_set_deadline(side.loop, vd_loop_now(side.loop) + 3600 * VD_SEC);
    CU_ASSERT_EQUAL(vd_loop_run_once(side.loop, 0), 0);
    CU_ASSERT_EQUAL(vd_loop_run_once(side.loop, VD_MSEC), 0);
    vd_loop_set_deadline(side.loop, VD_TIME_NEVER);
    CU_ASSERT_EQUAL(vd_loop_run_once(side.loop, VD_MSEC), 0);
    CU_ASSERT_TRUE(side_free(&side));
}

struct fired {
    struct vd_timer timer; /* first */
    vd_time at;
};

static void fire(struct vd_timer *timer, vd_time now)
{
    ((struct fired *)timer)->at = now;
}

static void a_timer_of_any_stack_wakes_the_loop(void)
{
    struct side side;
    struct vd_stack *second;
    struct vd_stack_config config;
    struct fired fired = {.at = 0};

    CU_ASSERT_FATAL(side_init(&side));
    vd_stack_config_init(&config);
    CU_ASSERT_EQUAL_FATAL(vd_stack_new(&second, &config), 0);
    CU_ASSERT_EQUAL(vd_loop_add_stack(side.loop, second), 0);

    vd_time deadline = vd_loop_now(side.loop) + 5 * VD_MSEC;
    vd_timer_init(&fired.timer, fire);
    vd_timer_arm(second, &fired.timer, deadline);
    for (int i = 0; i < TURNS_MAX && fired.at == 0; i++) {
        CU_ASSERT_EQUAL(vd_loop_run_once(side.loop, VD_TIME_NEVER), 0);
    }
    CU_ASSERT(fired.at >= deadline);
    /* A stack may name a time before the timer's, but this is far from asking again and again. */
    CU_ASSERT(turns_of(side.loop) <= 10);
    CU_ASSERT_TRUE(side_free(&side));
    vd_stack_free(second);
}

static void a_stack_is_driven_by_a_loop_once(void)
{
    struct side side;

    CU_ASSERT_FATAL(side_init(&side));
    CU_ASSERT_EQUAL(vd_loop_add_stack(side.loop, side.stack), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_loop_add_stack(side.loop, NULL), VD_ERR_INVALID);
    CU_ASSERT_TRUE(side_free(&side));
}

/* ---- What a turn does ---- */

static struct exchange *in_turn; /* for the hooks below */

static void let_time_pass(struct side *side)
{
    while (vd__clock_now() == side->now) {
    }
    CU_ASSERT_EQUAL(vd_loop_now(side->loop), side->now);
}

static void everything_in_a_turn_happens_at_one_time(void)
{
    struct side side;

    CU_ASSERT_FATAL(side_init(&side));
    vd_time before = vd_loop_now(side.loop);
    side.on_turn = let_time_pass;
    CU_ASSERT_EQUAL(vd_loop_run_once(side.loop, 0), 0);
    CU_ASSERT(side.now >= before);
    CU_ASSERT(vd_loop_now(side.loop) > side.now);
    CU_ASSERT_TRUE(side_free(&side));
}

static void send_three(struct side *side)
{
    if (side->turns == 1) {
        for (uint32_t i = 0; i < 3; i++) {
            CU_ASSERT_EQUAL(side_request(side, &in_turn->server.addr, i), 0);
        }
    }
}

static void what_on_turn_starts_leaves_in_the_same_turn_together(void)
{
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();

    CU_ASSERT_FATAL(exchange_init(&exchange, &bind, NULL));
    in_turn = &exchange;
    exchange.client.on_turn = send_three;
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange.client.loop, 0), 0);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).sent_datagrams, 3);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).send_calls, 1);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void stop_in_turn(struct side *side)
{
    send_three(side);
    vd_loop_stop(side->loop);
}

static void a_loop_stopped_in_a_turn_finishes_the_turn(void)
{
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();

    CU_ASSERT_FATAL(exchange_init(&exchange, &bind, NULL));
    in_turn = &exchange;
    exchange.client.on_turn = stop_in_turn;
    CU_ASSERT_EQUAL(vd_loop_run(exchange.client.loop), 0);
    CU_ASSERT_EQUAL(exchange.client.turns, 1);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).sent_datagrams, 3);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

static void stop_later(struct side *side)
{
    if (side->turns == 1) {
        vd_loop_set_deadline(side->loop, vd_loop_now(side->loop) + VD_MSEC);
    } else {
        vd_loop_stop(side->loop);
    }
}

static void what_was_queued_before_a_run_leaves_in_its_first_turn(void)
{
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();

    CU_ASSERT_FATAL(exchange_init(&exchange, &bind, NULL));
    CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, 1), 0);
    exchange.client.on_turn = stop_in_turn;
    in_turn = &exchange;
    CU_ASSERT_EQUAL(vd_loop_run(exchange.client.loop), 0);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).sent_datagrams, 4);

    /* And before the wait of a single turn: nothing else would end that one. */
    CU_ASSERT_EQUAL(side_request(&exchange.client, &exchange.server.addr, 9), 0);
    exchange.client.on_turn = NULL;
    vd_loop_set_deadline(exchange.client.loop, vd_loop_now(exchange.client.loop));
    CU_ASSERT_EQUAL(vd_loop_run_once(exchange.client.loop, VD_TIME_NEVER), 0);
    CU_ASSERT_EQUAL(side_counters(&exchange.client).sent_datagrams, 5);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* An IPv4 socket cannot send to an IPv6 address. */
static void send_in_vain(struct side *side)
{
    struct vd_addr nowhere = loopback_ip6();

    nowhere.port = 5060;
    if (side->turns == 1) {
        CU_ASSERT_EQUAL(side_request(side, &nowhere, 1), 0);
    } else {
        vd_loop_stop(side->loop);
    }
}

/* Nothing else would end the wait of the second turn: with the transaction its timers are gone. */
static void a_failure_while_sending_makes_another_turn_at_once(void)
{
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();

    CU_ASSERT_FATAL(exchange_init(&exchange, &bind, NULL));
    exchange.client.on_turn = send_in_vain;
    CU_ASSERT_EQUAL(vd_loop_run(exchange.client.loop), 0);
    CU_ASSERT_EQUAL(exchange.client.turns, 2);
    CU_ASSERT_EQUAL(exchange.client.failures, 1);
    CU_ASSERT_EQUAL(exchange.client.last_error, VD_ERR_TRANSPORT);
    CU_ASSERT_TRUE(exchange_free(&exchange));
}

/* ---- Stopping ---- */

static void a_stop_before_a_run_makes_it_return_without_a_turn_once(void)
{
    struct side side;

    CU_ASSERT_FATAL(side_init(&side));
    vd_loop_stop(side.loop);
    CU_ASSERT_EQUAL(vd_loop_run(side.loop), 0);
    CU_ASSERT_EQUAL(side.turns, 0);
    side.on_turn = stop_later;
    CU_ASSERT_EQUAL(vd_loop_run(side.loop), 0);
    CU_ASSERT(side.turns >= 2);
    CU_ASSERT_TRUE(side_free(&side));
}

static void *stop_from_thread(void *loop)
{
    vd_loop_stop(loop);
    return NULL;
}

/* Whether the thread is before or after the wait: in both cases the run ends. */
static void another_thread_stops_a_loop_that_waits(void)
{
    for (int i = 0; i < 100; i++) {
        struct side side;
        pthread_t thread;

        CU_ASSERT_FATAL(side_init(&side));
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, stop_from_thread, side.loop), 0);
        CU_ASSERT_EQUAL(vd_loop_run(side.loop), 0);
        pthread_join(thread, NULL);
        CU_ASSERT_TRUE(side_free(&side));
    }
}

static struct vd_loop *stopped_by_signal;

static void on_signal(int number)
{
    (void)number;
    vd_loop_stop(stopped_by_signal);
}

static void *send_signal(void *thread)
{
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
    return NULL;
}

static void a_signal_handler_stops_a_loop_and_leaves_errno_alone(void)
{
    struct side side;
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction old;
    pthread_t self = pthread_self();
    pthread_t thread;

    CU_ASSERT_FATAL(side_init(&side));
    stopped_by_signal = side.loop;
    CU_ASSERT_EQUAL(sigaction(SIGUSR1, &action, &old), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, send_signal, &self), 0);
    CU_ASSERT_EQUAL(vd_loop_run(side.loop), 0);
    pthread_join(thread, NULL);

    /* Nobody has read the events of so many stops: another one does not fit. */
    uint64_t full = UINT64_MAX - 1;
    CU_ASSERT_EQUAL(vd_loop_run_once(side.loop, 0), 0);
    CU_ASSERT_EQUAL(write(side.loop->waker.fd, &full, sizeof full), sizeof full);
    errno = ENOTTY;
    raise(SIGUSR1);
    CU_ASSERT_EQUAL(errno, ENOTTY);
    CU_ASSERT_EQUAL(vd_loop_run(side.loop), 0);
    sigaction(SIGUSR1, &old, NULL);
    CU_ASSERT_TRUE(side_free(&side));
}

static void a_stop_ends_the_wait_of_a_single_turn(void)
{
    struct side side;

    CU_ASSERT_FATAL(side_init(&side));
    vd_loop_stop(side.loop);
    CU_ASSERT_EQUAL(vd_loop_run_once(side.loop, VD_TIME_NEVER), 0);
    CU_ASSERT_EQUAL(side.turns, 1);
    CU_ASSERT_EQUAL(vd_loop_run(side.loop), 0);
    CU_ASSERT_EQUAL(side.turns, 1);
    /* The stop woke it once. */
    CU_ASSERT_EQUAL(vd_loop_run_once(side.loop, 0), 0);
    CU_ASSERT_EQUAL(ready_of(side.loop), 1);
    CU_ASSERT_TRUE(side_free(&side));
}

/* ---- What can run out ---- */

static int open_fds(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static void a_freed_loop_leaves_nothing_open(void)
{
    struct exchange exchange;
    struct vd_addr bind = loopback_ip4();
    int before = open_fds();

    CU_ASSERT_FATAL(exchange_init(&exchange, &bind, NULL));
    /* A selector, a waker and a socket each; poll(2) needs no descriptor of its own. */
    CU_ASSERT_EQUAL(open_fds(), before + (tested_selector == VD_SELECTOR_POLL ? 4 : 6));
    CU_ASSERT_TRUE(exchange_free(&exchange));
    CU_ASSERT_EQUAL(open_fds(), before);
}

static void a_loop_without_memory_is_no_loop_and_leaks_nothing(void)
{
    struct counting_mem mem;
    struct vd_loop_config config;
    struct vd_loop *loop = NULL;
    int error = VD_ERR_NOMEM;
    uint64_t allocations = 0;

    counting_mem_init(&mem);
    vd_loop_config_init(&config);
    config.selector = tested_selector;
    config.mem = &mem.mem;
    for (; error == VD_ERR_NOMEM && allocations < 100; allocations++) {
        counting_mem_fail_after(&mem, allocations);
        error = vd_loop_new(&loop, &config);
        CU_ASSERT_EQUAL(loop == NULL, error != 0);
        CU_ASSERT(error == 0 || counting_mem_is_clean(&mem));
    }
    CU_ASSERT_EQUAL(error, 0);
    CU_ASSERT(allocations > 1);

    struct vd_stack *stack;
    struct vd_stack_config stack_config;
    vd_stack_config_init(&stack_config);
    CU_ASSERT_EQUAL_FATAL(vd_stack_new(&stack, &stack_config), 0);
    counting_mem_fail_after(&mem, 0);
    CU_ASSERT_EQUAL(vd_loop_add_stack(loop, stack), VD_ERR_NOMEM);
    vd_loop_free(loop);
    vd_stack_free(stack);
    vd_loop_free(NULL);
    CU_ASSERT_TRUE(counting_mem_is_clean(&mem));
}

static void on_log(const struct vd_log_event *event, void *context)
{
    *(int *)context = event->system_error;
}

static void a_selector_that_there_is_not_is_refused(void)
{
    struct vd_loop_config config;
    struct vd_loop *loop;

    vd_loop_config_init(&config);
    CU_ASSERT_EQUAL(config.selector, VD_SELECTOR_EPOLL);
    config.selector = (enum vd_selector)(VD_SELECTOR_IO_URING + 1);
    CU_ASSERT_EQUAL(vd_loop_new(&loop, &config), VD_ERR_INVALID);
    CU_ASSERT_PTR_NULL(loop);
}

static void a_loop_without_file_descriptors_is_no_loop(void)
{
    struct rlimit old;
    struct vd_loop_config config;
    int system_error = 0;
    int lowest = free_fd();

    vd_loop_config_init(&config);
    config.selector = tested_selector;
    config.log = on_log;
    config.log_context = &system_error;
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &old), 0);
    /* Room for none, and for one of the two that it needs (with poll(2) one is enough). */
    for (int room = 0; room < (tested_selector == VD_SELECTOR_POLL ? 1 : 2); room++) {
        struct rlimit few = {.rlim_cur = (rlim_t)(lowest + room), .rlim_max = old.rlim_max};
        struct vd_loop *loop;
        system_error = 0;
        CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
        CU_ASSERT_EQUAL(vd_loop_new(&loop, &config), VD_ERR_LIMIT);
        CU_ASSERT_PTR_NULL(loop);
        CU_ASSERT_EQUAL(system_error, EMFILE);
    }
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &old), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a loop with nothing to do waits once until its deadline",
         a_loop_with_nothing_to_do_waits_once_until_its_deadline},
        {"a deadline holds once", a_deadline_holds_once},
        {"no wait is longer than max_wait", no_wait_is_longer_than_max_wait},
        {"a timer of any stack wakes the loop", a_timer_of_any_stack_wakes_the_loop},
        {"a stack is driven by a loop once", a_stack_is_driven_by_a_loop_once},
        {"everything in a turn happens at one time", everything_in_a_turn_happens_at_one_time},
        {"what on_turn starts leaves in the same turn together",
         what_on_turn_starts_leaves_in_the_same_turn_together},
        {"a loop stopped in a turn finishes the turn", a_loop_stopped_in_a_turn_finishes_the_turn},
        {"what was queued before a run leaves in its first turn",
         what_was_queued_before_a_run_leaves_in_its_first_turn},
        {"a failure while sending makes another turn at once",
         a_failure_while_sending_makes_another_turn_at_once},
        {"a stop before a run makes it return without a turn, once",
         a_stop_before_a_run_makes_it_return_without_a_turn_once},
        {"another thread stops a loop that waits", another_thread_stops_a_loop_that_waits},
        {"a signal handler stops a loop and leaves errno alone",
         a_signal_handler_stops_a_loop_and_leaves_errno_alone},
        {"a stop ends the wait of a single turn", a_stop_ends_the_wait_of_a_single_turn},
        {"a freed loop leaves nothing open", a_freed_loop_leaves_nothing_open},
        {"a loop without memory is no loop and leaks nothing",
         a_loop_without_memory_is_no_loop_and_leaks_nothing},
        {"a selector that there is not is refused", a_selector_that_there_is_not_is_refused},
        {"a loop without file descriptors is no loop", a_loop_without_file_descriptors_is_no_loop},
        CU_TEST_INFO_NULL,
    };
    return run_over_selectors("loop", tests);
}
