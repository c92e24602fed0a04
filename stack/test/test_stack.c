/* test_stack.c - making, driving and freeing a stack, its ends, its timers and its counters.
 *
 * Covered: the ranges of the configuration, local ends, the application's timers (vd_timer_*)
 * beside those of transactions, time that runs backwards or jumps, vd_stack_next_deadline, what
 * vd_stack_free does to what is still alive, counters over a whole call, queues larger than one
 * pull, log events.
 * Not covered: a stack that gets no memory (test_out_of_memory.c), memory on the message path
 * (test_no_allocation.c), the timers of transactions (test_transaction_timers.c), the wheel itself
 * (test_wheel.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"
#include "run_suite.h"
#include "test_random.h"

#include <stdio.h>
#include <stdlib.h>

static int try_config(const struct vd_stack_config *config)
{
    struct vd_stack *stack = NULL;
    int rc = vd_stack_new(&stack, config);
    CU_ASSERT_EQUAL(rc == 0, stack != NULL);
    vd_stack_free(stack);
    return rc;
}

static void configuration_is_checked_against_its_ranges(void)
{
    static const size_t intervals[] = {
        offsetof(struct vd_stack_config, t2), offsetof(struct vd_stack_config, t4),
        offsetof(struct vd_stack_config, timer_d), offsetof(struct vd_stack_config, trying_delay)};
    struct vd_stack_config config;
    for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
        static const struct {
            vd_time value;
            int rc;
        } cases[] = {{0, VD_ERR_INVALID},
                     {VD_MSEC - 1, VD_ERR_INVALID},
                     {VD_MSEC, 0},
                     {3600 * VD_SEC, 0},
                     {3600 * VD_SEC + 1, VD_ERR_INVALID},
                     {VD_TIME_NEVER, VD_ERR_INVALID}};
        for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
            vd_stack_config_init(&config);
            config.t1 = VD_MSEC;
            *(vd_time *)(void *)((char *)&config + intervals[i]) = cases[k].value;
            CU_ASSERT_EQUAL(try_config(&config), cases[k].rc);
        }
    }
    vd_stack_config_init(&config);
    CU_ASSERT_EQUAL(try_config(&config), 0);
    config.t1 = VD_MSEC - 1;
    CU_ASSERT_EQUAL(try_config(&config), VD_ERR_INVALID);
    config.t1 = config.t2;
    CU_ASSERT_EQUAL(try_config(&config), 0);
    config.t1 = config.t2 + 1;
    CU_ASSERT_EQUAL(try_config(&config), VD_ERR_INVALID);

    vd_stack_config_init(&config);
    config.max_client_transactions = UINT32_MAX;
    CU_ASSERT_EQUAL(try_config(&config), VD_ERR_INVALID);
    vd_stack_config_init(&config);
    config.max_server_transactions = UINT32_MAX;
    CU_ASSERT_EQUAL(try_config(&config), VD_ERR_INVALID);
    vd_stack_config_init(&config);
    config.limits.headers = 0;
    CU_ASSERT_EQUAL(try_config(&config), VD_ERR_INVALID);
    vd_stack_config_init(&config);
    config.limits.message_size = 65536;
    CU_ASSERT_EQUAL(try_config(&config), VD_ERR_INVALID);
    vd_stack_config_init(&config);
    config.limits.params = 1025;
    CU_ASSERT_EQUAL(try_config(&config), VD_ERR_INVALID);
    vd_stack_config_init(&config);
    config.server = VD_STR("x\r\nEvil: yes");
    CU_ASSERT_EQUAL(try_config(&config), VD_ERR_INVALID);
}

static int no_random(void *out, size_t size, void *context)
{
    (void)out, (void)size;
    CU_ASSERT_STRING_EQUAL(context, "mine");
    return VD_ERR_SYSTEM;
}

static void error_of_the_random_source_is_that_of_vd_stack_new(void)
{
    struct vd_stack_config config;
    char context[] = "mine";
    vd_stack_config_init(&config);
    config.random = no_random;
    config.context = context;
    CU_ASSERT_EQUAL(try_config(&config), VD_ERR_SYSTEM);
}

/* Nobody who knows the branches of one stack can tell those of another. */
static void two_stacks_write_different_branches_and_tags(void)
{
    struct vd_stack_config config;
    struct vd_stack *stacks[2];
    char via[2][200];
    vd_stack_config_init(&config);
    for (int i = 0; i < 2; i++) {
        uint32_t endpoint;
        struct vd_builder builder;
        struct vd_flow flow = {.endpoint = 0};
        CU_ASSERT_EQUAL_FATAL(vd_stack_new(&stacks[i], &config), 0);
        vd_stack_add_endpoint(stacks[i], VD_TRANSPORT_UDP, VD_STR("192.0.2.20"), &endpoint);
        CU_ASSERT_EQUAL(
            vd_request_begin(stacks[i], &builder, VD_STR("OPTIONS"), VD_STR("sip:x@y"), &flow), 0);
        snprintf(via[i], sizeof via[i], "%.*s", (int)builder.length, builder.data);
        vd_request_abort(stacks[i], &builder);
        vd_stack_free(stacks[i]);
    }
    CU_ASSERT_STRING_NOT_EQUAL(via[0], via[1]);
}

static void sent_by_is_a_host_with_an_optional_port(void)
{
    static const struct {
        const char *sent_by;
        bool good;
    } cases[] = {
        {"192.0.2.20", true},
        {"192.0.2.20:5060", true},
        {"host.example.com:1", true},
        {"[2001:db8::1]", true},
        {"[::1]:65535", true},
        {"a", true},
        {"", false},
        {" a", false},
        {"a ", false},
        {"a b", false},
        {"a;x=y", false},
        {"a,b", false},
        {"a:", false},
        {"a:65536", false},
        {"a:-1", false},
        {"[::1", false},
        {"::1", false},
        {"a\r\nX: y", false},
        {"<sip:a>", false},
        {"a/b", false},
        {"user@host", false},
    };
    struct vd_stack_config config;
    struct vd_stack *stack;
    uint32_t expected = 0;
    vd_stack_config_init(&config);
    CU_ASSERT_EQUAL_FATAL(vd_stack_new(&stack, &config), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t endpoint = 77;
        int rc = vd_stack_add_endpoint(stack, (enum vd_transport)(i % 3),
                                       vd_str_from(cases[i].sent_by), &endpoint);
        CU_ASSERT_EQUAL(rc, cases[i].good ? 0 : VD_ERR_INVALID);
        CU_ASSERT_EQUAL(endpoint, cases[i].good ? expected : 77);
        expected += cases[i].good;
    }
    uint32_t none;
    CU_ASSERT_EQUAL(vd_stack_add_endpoint(stack, (enum vd_transport)(VD_TRANSPORT_TLS + 1),
                                          VD_STR("192.0.2.20"), &none),
                    VD_ERR_INVALID);
    vd_stack_free(stack);
}

static void what_comes_on_an_unknown_end_is_refused(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    struct harness_request request = {.method = "OPTIONS"};
    char *text = harness_request_text(&harness, &request);
    static const uint32_t numbers[] = {HARNESS_ENDPOINTS, HARNESS_ENDPOINTS + 1, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        struct vd_flow flow = harness.flow;
        flow.endpoint = numbers[i];
        CU_ASSERT_EQUAL(vd_stack_receive(harness.stack, &flow, text, strlen(text), harness.now),
                        VD_ERR_INVALID);
    }
    harness_drain(&harness);
    CU_ASSERT(harness_saw(&harness, ""));
    free(text);
    CU_ASSERT(harness_free(&harness));
}

/* A response may come back on another end than the request left by; its sent-by is still ours. */
static void response_may_come_on_any_end(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "OPTIONS", NULL, NULL);
    harness_use(&harness, HARNESS_UDP6);
    harness_receive_response(&harness, 200, "OPTIONS");
    CU_ASSERT(harness_saw(&harness, "0.000 out OPTIONS\n0.000 up 200 OPTIONS\n"));
    CU_ASSERT(harness_free(&harness));
}

struct alarm {
    struct vd_timer timer; /* first */
    struct harness *harness;
    char name;
    int fired;
    vd_time again; /* arms itself again so much later; 0: it does not */
    struct alarm *victim;
};

static void ring(struct vd_timer *timer, vd_time now)
{
    struct alarm *alarm = (struct alarm *)(void *)timer;
    CU_ASSERT_FALSE(vd_timer_is_armed(timer));
    CU_ASSERT_EQUAL(now, alarm->harness->now);
    alarm->fired++;
    harness_note(alarm->harness, "alarm %c", alarm->name);
    if (alarm->victim != NULL) {
        vd_timer_cancel(alarm->harness->stack, &alarm->victim->timer);
    }
    if (alarm->again != 0) {
        vd_timer_arm(alarm->harness->stack, timer, now + alarm->again);
    }
}

static void init_alarm(struct alarm *alarm, struct harness *harness, char name)
{
    *alarm = (struct alarm){.harness = harness, .name = name};
    vd_timer_init(&alarm->timer, ring);
}

/* Walks to at. Deadlines of the wheel may come early, so not each of them shows something. */
static void walk(struct harness *harness, vd_time at)
{
    for (int i = 0; i < 100000; i++) {
        vd_time deadline = vd_stack_next_deadline(harness->stack);
        if (deadline > at) {
            break;
        }
        if (deadline > harness->now) {
            harness->now = deadline;
        }
        vd_stack_expire(harness->stack, harness->now);
        harness_drain(harness);
    }
    harness->now = at;
    vd_stack_expire(harness->stack, at);
    harness_drain(harness);
}

static void timers_of_the_application_fire_in_order_beside_those_of_transactions(void)
{
    struct harness harness;
    struct alarm a, b, c, d;
    harness_init(&harness, NULL);
    init_alarm(&a, &harness, 'a');
    init_alarm(&b, &harness, 'b');
    init_alarm(&c, &harness, 'c');
    init_alarm(&d, &harness, 'd');
    CU_ASSERT_FALSE(vd_timer_is_armed(&a.timer));
    vd_timer_arm(harness.stack, &a.timer, harness_at(&harness, 1));
    vd_timer_arm(harness.stack, &b.timer, harness_at(&harness, 0.25));
    vd_timer_arm(harness.stack, &c.timer, harness_at(&harness, 0.1));
    vd_timer_arm(harness.stack, &d.timer, harness_at(&harness, 0.0002)); /* rounded up to 1 ms */
    vd_timer_arm(harness.stack, &c.timer, harness_at(&harness, 3));      /* anew */
    CU_ASSERT(vd_timer_is_armed(&c.timer));
    harness_send_request(&harness, "OPTIONS", NULL, NULL);
    walk(&harness, harness_at(&harness, 2));
    CU_ASSERT(harness_saw(&harness, "0.000 out OPTIONS\n"
                                    "0.001 alarm d\n"
                                    "0.250 alarm b\n"
                                    "0.500 out OPTIONS\n"
                                    "1.000 alarm a\n"
                                    "1.500 out OPTIONS\n"));
    vd_timer_cancel(harness.stack, &c.timer);
    vd_timer_cancel(harness.stack, &c.timer);
    CU_ASSERT_FALSE(vd_timer_is_armed(&c.timer));
    walk(&harness, harness_at(&harness, 4));
    CU_ASSERT(harness_saw(&harness, "3.500 out OPTIONS\n"));
    CU_ASSERT_EQUAL(a.fired + b.fired + c.fired + d.fired, 3);
    CU_ASSERT(harness_free(&harness));
}

static void timer_may_cancel_and_arm_timers_when_it_fires(void)
{
    struct harness harness;
    struct alarm first, second, cyclic;
    harness_init(&harness, NULL);
    init_alarm(&first, &harness, 'f');
    init_alarm(&second, &harness, 's');
    init_alarm(&cyclic, &harness, 'c');
    first.victim = &second;
    cyclic.again = 10 * VD_MSEC;
    /* Both at one instant: the first takes the second away. */
    vd_timer_arm(harness.stack, &first.timer, harness_at(&harness, 0.05));
    vd_timer_arm(harness.stack, &second.timer, harness_at(&harness, 0.05));
    vd_timer_arm(harness.stack, &cyclic.timer, harness_at(&harness, 0.01));
    walk(&harness, harness_at(&harness, 1));
    CU_ASSERT_EQUAL(first.fired, 1);
    CU_ASSERT_EQUAL(second.fired, 0);
    CU_ASSERT_EQUAL(cyclic.fired, 100);
    vd_timer_cancel(harness.stack, &cyclic.timer);
    CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), VD_TIME_NEVER);
    CU_ASSERT(harness_free(&harness));
}

/* viaduct/timer.h: a deadline in the past fires at the next vd_stack_expire. */
static void deadline_in_the_past_fires_at_the_next_expire(void)
{
    static const double past[] = {0, 1, 9.9, 9.9999, 10};
    for (size_t i = 0; i < sizeof past / sizeof past[0]; i++) {
        struct harness harness;
        struct alarm alarm;
        harness_init(&harness, NULL);
        init_alarm(&alarm, &harness, 'p');
        walk(&harness, harness_at(&harness, 10));
        vd_timer_arm(harness.stack, &alarm.timer, harness_at(&harness, past[i]));
        CU_ASSERT(vd_stack_next_deadline(harness.stack) <= harness.now);
        vd_stack_expire(harness.stack, harness.now);
        CU_ASSERT_EQUAL(alarm.fired, 1);
        /* One that arms itself anew for a time that has passed does not hold vd_stack_expire up. */
        alarm.again = 1;
        vd_timer_arm(harness.stack, &alarm.timer, 0);
        vd_stack_expire(harness.stack, harness.now);
        CU_ASSERT_EQUAL(alarm.fired, 2);
        vd_timer_cancel(harness.stack, &alarm.timer);
        CU_ASSERT(harness_free(&harness));
    }
}

/* RFC 3261 17 needs elapsed time: a time that is earlier than the latest one is taken as that. */
static void time_that_runs_backwards_neither_fires_nor_freezes(void)
{
    struct harness harness;
    struct alarm alarm;
    harness_init(&harness, NULL);
    init_alarm(&alarm, &harness, 'a');
    harness_send_request(&harness, "INVITE", NULL, NULL);
    vd_timer_arm(harness.stack, &alarm.timer, harness_at(&harness, 2.5));
    walk(&harness, harness_at(&harness, 2));
    CU_ASSERT(harness_saw(&harness, "0.000 out INVITE\n0.500 out INVITE\n1.500 out INVITE\n"));

    static const vd_time earlier[] = {0, 1, 1000 * VD_SEC, 1001 * VD_SEC, 1002 * VD_SEC - 1};
    for (size_t i = 0; i < sizeof earlier / sizeof earlier[0]; i++) {
        vd_time deadline = vd_stack_next_deadline(harness.stack);
        vd_stack_expire(harness.stack, earlier[i]);
        vd_stack_receive(harness.stack, &harness.flow, "\r\n", 2, earlier[i]);
        CU_ASSERT_EQUAL(vd_stack_now(harness.stack), harness.now);
        CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), deadline);
    }
    harness_drain(&harness);
    CU_ASSERT(harness_saw(&harness, ""));

    /* Something made while time is told wrong has its full length. */
    vd_time right = harness.now;
    harness.now = 5 * VD_SEC;
    vd_transaction second;
    harness_send_request(&harness, "OPTIONS", NULL, &second);
    harness.now = right;
    harness_forget(&harness);
    walk(&harness, harness_at(&harness, 4));
    CU_ASSERT(harness_saw(&harness, "2.500 alarm a\n"
                                    "2.500 out OPTIONS\n"
                                    "3.500 out OPTIONS\n"
                                    "3.500 out INVITE\n"));
    CU_ASSERT(harness_free(&harness));
}

/* A machine that slept: each transaction that ran out ends, once; what was resent is resent once.
 */
static void time_that_jumps_ahead_ends_what_has_run_out(void)
{
    struct harness harness;
    struct alarm alarm;
    harness_init(&harness, NULL);
    init_alarm(&alarm, &harness, 'a');
    vd_timer_arm(harness.stack, &alarm.timer, harness_at(&harness, 7));
    harness_send_request(&harness, "INVITE", NULL, NULL);
    harness_send_request(&harness, "OPTIONS", NULL, NULL);
    harness_receive_method(&harness, "MESSAGE");
    harness_respond(&harness, 200);
    harness_forget(&harness);
    harness.now = harness_at(&harness, 3600);
    vd_stack_expire(harness.stack, harness.now);
    harness_drain(&harness);
    CU_ASSERT_EQUAL(harness.failures, 2);
    CU_ASSERT_EQUAL(harness.terminations, 3);
    CU_ASSERT_EQUAL(alarm.fired, 1);
    struct vd_stack_counters counters = harness_counters(&harness);
    CU_ASSERT_EQUAL(counters.live_client_transactions + counters.live_server_transactions, 0);
    CU_ASSERT(counters.resent_requests <= 2);
    CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), VD_TIME_NEVER);

    /* VD_TIME_NEVER is no time; what comes afterwards works as before. */
    vd_stack_expire(harness.stack, VD_TIME_NEVER);
    CU_ASSERT_EQUAL(vd_stack_now(harness.stack), harness.now);
    harness_forget(&harness);
    harness.start = harness.now;
    CU_ASSERT(harness_play(&harness, "0.000 tu OPTIONS\n"
                                     "0.000 out OPTIONS\n"
                                     "0.500 out OPTIONS\n"
                                     "0.600 in 200 OPTIONS\n"
                                     "0.600 up 200 OPTIONS\n"
                                     "5.600 end\n"));
    CU_ASSERT(harness_free(&harness));
}

/* A late response is better than none: what comes after the deadline but before vd_stack_expire
 * counts. */
static void response_that_comes_before_a_late_expire_counts(void)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_send_request(&harness, "OPTIONS", NULL, NULL);
    harness.now = harness_at(&harness, 33);
    harness_receive_response(&harness, 200, "OPTIONS");
    harness_run_out(&harness);
    CU_ASSERT(harness_saw(&harness, "0.000 out OPTIONS\n33.000 up 200 OPTIONS\n38.000 end\n"));
    CU_ASSERT(harness_free(&harness));
}

static void next_deadline_is_that_of_the_first_timer_of_all(void)
{
    struct harness harness;
    struct alarm alarm;
    harness_init(&harness, NULL);
    init_alarm(&alarm, &harness, 'a');
    CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), VD_TIME_NEVER);
    harness_send_request(&harness, "INVITE", NULL, NULL);
    CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), harness_at(&harness, 0.5));
    harness_receive_method(&harness, "INVITE");
    CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), harness_at(&harness, 0.2));
    vd_timer_arm(harness.stack, &alarm.timer, harness_at(&harness, 0.1));
    CU_ASSERT(vd_stack_next_deadline(harness.stack) <= harness_at(&harness, 0.1));
    vd_timer_cancel(harness.stack, &alarm.timer);
    harness_respond(&harness, 200);
    CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), harness_at(&harness, 0.5));
    harness_receive_response(&harness, 404, "INVITE");
    CU_ASSERT_EQUAL(vd_stack_next_deadline(harness.stack), harness_at(&harness, 32));
    CU_ASSERT(harness_free(&harness));
}

static void busy_on_terminated(struct vd_stack *stack, vd_transaction transaction, void *user,
                               void *context)
{
    struct harness *harness = context;
    struct vd_builder builder;
    (void)user;
    CU_ASSERT_EQUAL(vd_transaction_state(stack, transaction), VD_TRANSACTION_TERMINATED);
    CU_ASSERT_EQUAL(vd_request_begin(stack, &builder, VD_STR("OPTIONS"),
                                     VD_STR("sip:bob@192.0.2.10"), &harness->flow),
                    VD_ERR_STATE);
    /* An answer on another transaction is possible, though nobody will send it. */
    int rc = vd_respond(stack, harness->server, 486, vd_str(NULL, 0), harness->now);
    CU_ASSERT(rc == 0 || rc == VD_ERR_GONE || rc == VD_ERR_STATE);
}

/* One transaction in each state of each machine, a CANCEL of each side, a request begun and not
 * sent, and messages in the outbox. */
static void free_ends_each_transaction_once(void)
{
    for (int busy = 0; busy < 2; busy++) {
        struct harness harness;
        static const int answers[] = {0, 180, 200, 486};
        struct vd_builder unsent;
        int made = 0;
        harness_init(&harness, NULL);
        for (int i = 0; i < 4; i++) {
            harness_send_request(&harness, "INVITE", NULL, NULL);
            harness_send_request(&harness, "OPTIONS", NULL, NULL);
            made += 2;
            if (answers[i] != 0) {
                harness_receive_response(&harness, answers[i], "INVITE");
                harness_receive_response(&harness, answers[i], "OPTIONS");
            }
            for (int m = 0; m < 2; m++) {
                harness_fresh(&harness);
                harness_receive_method(&harness, m == 0 ? "INVITE" : "OPTIONS");
                made++;
                if (answers[i] != 0) {
                    harness_respond(&harness, answers[i]);
                }
            }
        }
        harness_fresh(&harness);
        harness_receive_method(&harness, "INVITE");
        harness_receive_method(&harness, "CANCEL");
        harness_send_request(&harness, "INVITE", NULL, NULL);
        harness_receive_response(&harness, 180, "INVITE");
        made += 2;
        CU_ASSERT_EQUAL(vd_request_cancel(harness.stack, harness.invite, harness.now), 0);
        CU_ASSERT_EQUAL(vd_request_begin(harness.stack, &unsent, VD_STR("INFO"), VD_STR("sip:x@y"),
                                         &harness.flow),
                        0);
        CU_ASSERT_EQUAL(harness.terminations, 0);
        if (busy) {
            harness.hooks.on_terminated = busy_on_terminated;
        }
        CU_ASSERT(harness_free(&harness));
        CU_ASSERT_EQUAL(harness.terminations, made);
        CU_ASSERT_EQUAL(harness.failures, 0);
    }
    vd_stack_free(NULL);
}

static void counters_tell_of_a_whole_call(void)
{
    struct harness caller;
    struct vd_stack_counters c;
    harness_init(&caller, NULL);
    CU_ASSERT_EQUAL(vd_stack_context(caller.stack), &caller);
    harness_send_request(&caller, "INVITE", NULL, NULL);
    harness_until(&caller, harness_at(&caller, 0.6)); /* one resend */
    harness_receive_response(&caller, 180, "INVITE");
    harness_receive_response(&caller, 486, "INVITE");
    harness_receive_response(&caller, 486, "INVITE"); /* again: the ACK is repeated */
    c = harness_counters(&caller);
    CU_ASSERT_EQUAL(c.client_transactions, 1);
    CU_ASSERT_EQUAL(c.live_client_transactions, 1);
    CU_ASSERT_EQUAL(c.sent_requests, 2); /* INVITE and ACK */
    CU_ASSERT_EQUAL(c.resent_requests, 2);
    CU_ASSERT_EQUAL(c.received_responses, 3);
    CU_ASSERT_EQUAL(c.response_retransmissions, 1);
    CU_ASSERT_EQUAL(c.timeouts + c.transport_errors + c.overloads + c.stray_responses, 0);

    harness_receive_method(&caller, "INVITE");
    harness_receive_method(&caller, "INVITE"); /* absorbed */
    harness_respond(&caller, 180);
    harness_respond(&caller, 486);
    harness_receive_method(&caller, "INVITE");        /* answered again */
    harness_until(&caller, harness_at(&caller, 1.2)); /* Timer G once */
    harness_receive_method(&caller, "ACK");
    c = harness_counters(&caller);
    CU_ASSERT_EQUAL(c.received_requests, 4);
    CU_ASSERT_EQUAL(c.request_retransmissions, 2);
    CU_ASSERT_EQUAL(c.sent_responses, 2);
    CU_ASSERT_EQUAL(c.resent_responses, 2);
    CU_ASSERT_EQUAL(c.server_transactions, 1);
    CU_ASSERT_EQUAL(c.live_server_transactions, 1);
    CU_ASSERT_EQUAL(c.stray_acks, 0);
    harness_run_out(&caller);
    c = harness_counters(&caller);
    CU_ASSERT_EQUAL(c.live_client_transactions + c.live_server_transactions, 0);
    CU_ASSERT_EQUAL(c.timeouts, 0);
    CU_ASSERT(harness_free(&caller));
}

static void queue_ack(struct harness *harness, uint32_t number)
{
    struct vd_builder builder;
    CU_ASSERT_EQUAL_FATAL(vd_request_begin(harness->stack, &builder, VD_STR("ACK"),
                                           VD_STR("sip:bob@192.0.2.10"), &harness->flow),
                          0);
    vd_build_header(&builder, VD_HEADER_FROM, VD_STR("<sip:carol@example.com>;tag=c1"));
    vd_build_header(&builder, VD_HEADER_TO, VD_STR("<sip:bob@example.com>;tag=1"));
    vd_build_header(&builder, VD_HEADER_CALL_ID, VD_STR("x"));
    vd_build_cseq(&builder, number, VD_STR("ACK"));
    vd_build_number(&builder, VD_HEADER_MAX_FORWARDS, 70);
    CU_ASSERT_EQUAL(vd_ack_send(harness->stack, &builder, harness->now), 0);
}

/* Pulls up to count and sees that they are those from *next on. */
static void pull(struct harness *harness, size_t count, uint32_t *next)
{
    struct vd_send sends[256];
    size_t n = vd_stack_poll_send(harness->stack, sends, count);
    for (size_t i = 0; i < n; i++) {
        char text[1000];
        snprintf(text, sizeof text, "%.*s", (int)sends[i].size, sends[i].data);
        CU_ASSERT_EQUAL((uint32_t)atoi(harness_value(text, "CSeq", 0)), *next);
        (*next)++;
    }
    while (n > 0) { /* they may be given back in any order */
        vd_stack_send_done(harness->stack, &sends[--n]);
    }
}

static void outbox_gives_messages_in_order_however_many_are_pulled(void)
{
    static const size_t pulls[] = {0, 1, 2, 7, 63, 64, 65, 200};
    struct test_random random = {5};
    struct harness harness;
    uint32_t queued = 0;
    uint32_t next = 1;
    harness_init(&harness, NULL);
    for (int round = 0; round < 200; round++) {
        for (uint64_t more = test_random_below(&random, 90); more > 0; more--) {
            queue_ack(&harness, ++queued);
        }
        pull(&harness, pulls[test_random_below(&random, 8)], &next);
    }
    while (next <= queued) {
        pull(&harness, 256, &next);
    }
    CU_ASSERT(queued > 1000);
    CU_ASSERT_EQUAL(next, queued + 1);
    pull(&harness, 1, &next);
    CU_ASSERT_EQUAL(next, queued + 1);
    CU_ASSERT(harness_free(&harness));
}

/* viaduct/stack.h: the loop tells by flow.connection where a message went that named no connection.
 */
static void connection_of_a_sent_request_is_remembered(void)
{
    struct harness harness;
    struct vd_send send;
    vd_transaction transaction;
    harness_init(&harness, NULL);
    harness_use(&harness, HARNESS_TCP);
    harness.flow.connection = 0;
    struct vd_builder builder;
    CU_ASSERT_EQUAL(vd_request_begin(harness.stack, &builder, VD_STR("OPTIONS"),
                                     VD_STR("sip:bob@192.0.2.10"), &harness.flow),
                    0);
    vd_build_header(&builder, VD_HEADER_FROM, VD_STR("<sip:carol@example.com>;tag=c1"));
    vd_build_header(&builder, VD_HEADER_TO, VD_STR("<sip:bob@example.com>"));
    vd_build_header(&builder, VD_HEADER_CALL_ID, VD_STR("x"));
    vd_build_cseq(&builder, 1, VD_STR("OPTIONS"));
    vd_build_number(&builder, VD_HEADER_MAX_FORWARDS, 70);
    CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builder, &harness, harness.now, &transaction),
                    0);
    CU_ASSERT_EQUAL_FATAL(vd_stack_poll_send(harness.stack, &send, 1), 1);
    send.flow.connection = 17;
    vd_stack_send_done(harness.stack, &send);
    struct vd_flow closed = harness.flow;
    closed.connection = 16;
    vd_stack_flow_closed(harness.stack, &closed, VD_ERR_TRANSPORT, harness.now);
    CU_ASSERT(harness_saw(&harness, ""));
    closed.connection = 17;
    vd_stack_flow_closed(harness.stack, &closed, VD_ERR_TRANSPORT, harness.now);
    CU_ASSERT(harness_saw(&harness, "0.000 failure TRANSPORT\n0.000 end\n"));
    CU_ASSERT(harness_free(&harness));
}

static void count_event(const struct vd_log_event *event, void *context)
{
    unsigned *counts = context;
    counts[event->level]++;
    CU_ASSERT_PTR_NOT_NULL(event->text);
}

static void log_events_are_those_of_the_level_asked_for(void)
{
    unsigned counts[4] = {0};
    struct vd_stack_config config;
    struct harness harness;
    vd_stack_config_init(&config);
    config.log = count_event;
    config.log_context = counts;
    config.max_server_transactions = 0;
    harness_init(&harness, &config);
    harness_receive(&harness, "junk");                   /* notice */
    harness_receive_method(&harness, "OPTIONS");         /* warning: no room */
    harness_receive(&harness, "SIP/2.0 200 OK\r\n\r\n"); /* notice: no Via */
    harness_send_request(&harness, "OPTIONS", NULL, NULL);
    harness_receive_response(&harness, 200, "OPTIONS");
    harness_run_out(&harness);
    harness_receive_response(&harness, 200, "OPTIONS"); /* debug: a stray */
    CU_ASSERT_EQUAL(counts[VD_LOG_ERROR], 0);
    CU_ASSERT_EQUAL(counts[VD_LOG_WARNING], 1);
    CU_ASSERT_EQUAL(counts[VD_LOG_NOTICE], 2);
    CU_ASSERT_EQUAL(counts[VD_LOG_DEBUG], 0);
    CU_ASSERT(harness_free(&harness));
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"configuration_is_checked_against_its_ranges",
         configuration_is_checked_against_its_ranges},
        {"error_of_the_random_source_is_that_of_vd_stack_new",
         error_of_the_random_source_is_that_of_vd_stack_new},
        {"two_stacks_write_different_branches_and_tags",
         two_stacks_write_different_branches_and_tags},
        {"sent_by_is_a_host_with_an_optional_port", sent_by_is_a_host_with_an_optional_port},
        {"what_comes_on_an_unknown_end_is_refused", what_comes_on_an_unknown_end_is_refused},
        {"response_may_come_on_any_end", response_may_come_on_any_end},
        {"timers_of_the_application_fire_in_order_beside_those_of_transactions",
         timers_of_the_application_fire_in_order_beside_those_of_transactions},
        {"timer_may_cancel_and_arm_timers_when_it_fires",
         timer_may_cancel_and_arm_timers_when_it_fires},
        {"deadline_in_the_past_fires_at_the_next_expire",
         deadline_in_the_past_fires_at_the_next_expire},
        {"time_that_runs_backwards_neither_fires_nor_freezes",
         time_that_runs_backwards_neither_fires_nor_freezes},
        {"time_that_jumps_ahead_ends_what_has_run_out",
         time_that_jumps_ahead_ends_what_has_run_out},
        {"response_that_comes_before_a_late_expire_counts",
         response_that_comes_before_a_late_expire_counts},
        {"next_deadline_is_that_of_the_first_timer_of_all",
         next_deadline_is_that_of_the_first_timer_of_all},
        {"free_ends_each_transaction_once", free_ends_each_transaction_once},
        {"counters_tell_of_a_whole_call", counters_tell_of_a_whole_call},
        {"outbox_gives_messages_in_order_however_many_are_pulled",
         outbox_gives_messages_in_order_however_many_are_pulled},
        {"connection_of_a_sent_request_is_remembered", connection_of_a_sent_request_is_remembered},
        {"log_events_are_those_of_the_level_asked_for",
         log_events_are_those_of_the_level_asked_for},
        CU_TEST_INFO_NULL,
    };
    return run_suite("stack", tests);
}
