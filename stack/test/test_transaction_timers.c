/* test_transaction_timers.c - the exact instants of every timer of RFC 3261 table 4, RFC 6026 and
 * RFC 4320, in one table.
 *
 * Each row is a transaction at some T1, T2, T4 and Timer D, and on a transport: what is done to it,
 * and the instants in microseconds at which it acts. The test walks from vd_stack_next_deadline to
 * vd_stack_next_deadline, sees that nothing happens a microsecond before one, and compares.
 * Not covered: what goes out at an instant (the tests of the machines look at that).
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"
#include "run_suite.h"

#include <stdio.h>
#include <stdlib.h>

enum timing { DEFAULT, LAN, FLAT, STEEP, ODD };

/* In microseconds. */
static const struct {
    vd_time t1, t2, t4, timer_d, trying;
} timings[] = {
    [DEFAULT] = {500000, 4000000, 5000000, 32000000, 200000},
    [LAN] = {50000, 400000, 500000, 40000000, 20000},
    [FLAT] = {1000000, 1000000, 700000, 33000000, 200000}, /* T1 is T2 */
    [STEEP] = {2000, 3600000000, 3000, 3600000000, 1000},  /* T2 is never reached */
    [ODD] = {300001, 1000003, 4999999, 32000001, 123457},  /* T2 is no multiple of T1 */
};

/* What is done, before time goes on by itself. Times are those of the row's own stimuli. */
enum scene {
    CLIENT_INVITE,            /* an INVITE of ours without any response: A, B */
    CLIENT_INVITE_REFUSED,    /* 486 at 0: D */
    CLIENT_INVITE_ACCEPTED,   /* 200 at 0: M */
    CLIENT_INVITE_CANCELLED,  /* 180 and the application's CANCEL at 0, 200 for the CANCEL: 64*T1 */
    CLIENT_INVITE_PROCEEDING, /* 180 at 0: nothing */
    CLIENT,                   /* a request of ours without any response: E, F */
    CLIENT_PROCEEDING,        /* 100 at 0: E at T2, F */
    CLIENT_ANSWERED,          /* 200 at 0: K */
    SERVER_INVITE,            /* an INVITE that the TU does not answer: the 100 of 17.2.1 */
    SERVER_INVITE_REFUSED,    /* 486 at 0: G, H */
    SERVER_INVITE_ACKED,      /* 486 and the ACK at 0: I */
    SERVER_INVITE_ACCEPTED,   /* 200 at 0: L */
    SERVER,         /* a request that the TU does not answer: 100 of RFC 4320, F of the client */
    SERVER_ANSWERED /* 200 at 0: J */
};

/* s: something is sent, f: failure, e: end; "instant letter", the instant in microseconds. */
static const struct {
    const char *timer;
    enum scene scene;
    enum timing timing;
    bool reliable;
    const char *instants;
} rows[] = {
    {"A, B", CLIENT_INVITE, DEFAULT, false,
     "500000s 1500000s 3500000s 7500000s 15500000s 31500000s 32000000f 32000000e"},
    {"A, B", CLIENT_INVITE, LAN, false,
     "50000s 150000s 350000s 750000s 1550000s 3150000s 3200000f 3200000e"},
    {"A, B", CLIENT_INVITE, FLAT, false, /* no cap: T2 is not for Timer A */
     "1000000s 3000000s 7000000s 15000000s 31000000s 63000000s 64000000f 64000000e"},
    {"A, B", CLIENT_INVITE, STEEP, false,
     "2000s 6000s 14000s 30000s 62000s 126000s 128000f 128000e"},
    {"A, B", CLIENT_INVITE, ODD, false,
     "300001s 900003s 2100007s 4500015s 9300031s 18900063s 19200064f 19200064e"},
    {"B", CLIENT_INVITE, DEFAULT, true, "32000000f 32000000e"},
    {"B", CLIENT_INVITE, ODD, true, "19200064f 19200064e"},
    {"none", CLIENT_INVITE_PROCEEDING, DEFAULT, false, ""},
    {"none", CLIENT_INVITE_PROCEEDING, DEFAULT, true, ""},

    {"D", CLIENT_INVITE_REFUSED, DEFAULT, false, "32000000e"},
    {"D", CLIENT_INVITE_REFUSED, LAN, false, "40000000e"},
    {"D", CLIENT_INVITE_REFUSED, STEEP, false, "3600000000e"},
    {"D", CLIENT_INVITE_REFUSED, ODD, false, "32000001e"},
    {"D", CLIENT_INVITE_REFUSED, DEFAULT, true, "0e"},
    {"D", CLIENT_INVITE_REFUSED, LAN, true, "0e"},

    {"M", CLIENT_INVITE_ACCEPTED, DEFAULT, false, "32000000e"},
    {"M", CLIENT_INVITE_ACCEPTED, LAN, false, "3200000e"},
    {"M", CLIENT_INVITE_ACCEPTED, ODD, false, "19200064e"},
    {"M", CLIENT_INVITE_ACCEPTED, DEFAULT, true, "32000000e"},
    {"M", CLIENT_INVITE_ACCEPTED, LAN, true, "3200000e"},

    {"64*T1 of 9.1", CLIENT_INVITE_CANCELLED, DEFAULT, false, "32000000f 32000000e"},
    {"64*T1 of 9.1", CLIENT_INVITE_CANCELLED, ODD, false, "19200064f 19200064e"},
    {"64*T1 of 9.1", CLIENT_INVITE_CANCELLED, DEFAULT, true, "32000000f 32000000e"},
    {"64*T1 of 9.1", CLIENT_INVITE_CANCELLED, LAN, true, "3200000f 3200000e"},

    {"E, F", CLIENT, DEFAULT, false,
     "500000s 1500000s 3500000s 7500000s 11500000s 15500000s 19500000s 23500000s 27500000s "
     "31500000s 32000000f 32000000e"},
    {"E, F", CLIENT, LAN, false,
     "50000s 150000s 350000s 750000s 1150000s 1550000s 1950000s 2350000s 2750000s 3150000s "
     "3200000f 3200000e"},
    {"E, F", CLIENT, FLAT, false, /* E and F at one instant: nothing is sent any more */
     "1000000s 2000000s 3000000s 4000000s 5000000s 6000000s 7000000s 8000000s 9000000s 10000000s "
     "11000000s 12000000s 13000000s 14000000s 15000000s 16000000s 17000000s 18000000s 19000000s "
     "20000000s 21000000s 22000000s 23000000s 24000000s 25000000s 26000000s 27000000s 28000000s "
     "29000000s 30000000s 31000000s 32000000s 33000000s 34000000s 35000000s 36000000s 37000000s "
     "38000000s 39000000s 40000000s 41000000s 42000000s 43000000s 44000000s 45000000s 46000000s "
     "47000000s 48000000s 49000000s 50000000s 51000000s 52000000s 53000000s 54000000s 55000000s "
     "56000000s 57000000s 58000000s 59000000s 60000000s 61000000s 62000000s 63000000s 64000000f "
     "64000000e"},
    {"E, F", CLIENT, STEEP, false, "2000s 6000s 14000s 30000s 62000s 126000s 128000f 128000e"},
    {"E, F", CLIENT, ODD, false,
     "300001s 900003s 1900006s 2900009s 3900012s 4900015s 5900018s 6900021s 7900024s 8900027s "
     "9900030s 10900033s 11900036s 12900039s 13900042s 14900045s 15900048s 16900051s 17900054s "
     "18900057s 19200064f 19200064e"},
    {"F", CLIENT, DEFAULT, true, "32000000f 32000000e"},
    {"F", CLIENT, STEEP, true, "128000f 128000e"},
    {"E, F after a provisional", CLIENT_PROCEEDING, DEFAULT, false,
     "500000s 4500000s 8500000s 12500000s 16500000s 20500000s 24500000s 28500000s 32000000f "
     "32000000e"},
    {"E, F after a provisional", CLIENT_PROCEEDING, LAN, false,
     "50000s 450000s 850000s 1250000s 1650000s 2050000s 2450000s 2850000s 3200000f 3200000e"},
    {"E, F after a provisional", CLIENT_PROCEEDING, STEEP, false, "2000s 128000f 128000e"},
    {"F after a provisional", CLIENT_PROCEEDING, DEFAULT, true, "32000000f 32000000e"},

    {"K", CLIENT_ANSWERED, DEFAULT, false, "5000000e"},
    {"K", CLIENT_ANSWERED, FLAT, false, "700000e"},
    {"K", CLIENT_ANSWERED, ODD, false, "4999999e"},
    {"K", CLIENT_ANSWERED, DEFAULT, true, "0e"},
    {"K", CLIENT_ANSWERED, ODD, true, "0e"},

    {"100 of 17.2.1", SERVER_INVITE, DEFAULT, false, "200000s"},
    {"100 of 17.2.1", SERVER_INVITE, LAN, false, "20000s"},
    {"100 of 17.2.1", SERVER_INVITE, ODD, false, "123457s"},
    {"100 of 17.2.1", SERVER_INVITE, DEFAULT, true, "200000s"},
    {"100 of 17.2.1", SERVER_INVITE, STEEP, true, "1000s"},

    {"G, H", SERVER_INVITE_REFUSED, DEFAULT, false,
     "500000s 1500000s 3500000s 7500000s 11500000s 15500000s 19500000s 23500000s 27500000s "
     "31500000s 32000000f 32000000e"},
    {"G, H", SERVER_INVITE_REFUSED, LAN, false,
     "50000s 150000s 350000s 750000s 1150000s 1550000s 1950000s 2350000s 2750000s 3150000s "
     "3200000f 3200000e"},
    {"G, H", SERVER_INVITE_REFUSED, STEEP, false,
     "2000s 6000s 14000s 30000s 62000s 126000s 128000f 128000e"},
    {"H", SERVER_INVITE_REFUSED, DEFAULT, true, "32000000f 32000000e"},
    {"H", SERVER_INVITE_REFUSED, ODD, true, "19200064f 19200064e"},

    {"I", SERVER_INVITE_ACKED, DEFAULT, false, "5000000e"},
    {"I", SERVER_INVITE_ACKED, LAN, false, "500000e"},
    {"I", SERVER_INVITE_ACKED, STEEP, false, "3000e"},
    {"I", SERVER_INVITE_ACKED, DEFAULT, true, "0e"},
    {"I", SERVER_INVITE_ACKED, STEEP, true, "0e"},

    {"L", SERVER_INVITE_ACCEPTED, DEFAULT, false, "32000000e"},
    {"L", SERVER_INVITE_ACCEPTED, FLAT, false, "64000000e"},
    {"L", SERVER_INVITE_ACCEPTED, DEFAULT, true, "32000000e"},
    {"L", SERVER_INVITE_ACCEPTED, ODD, true, "19200064e"},

    {"100 of RFC 4320", SERVER, DEFAULT, false, "3500000s 32000000f 32000000e"},
    {"100 of RFC 4320", SERVER, LAN, false, "350000s 3200000f 3200000e"},
    {"100 of RFC 4320", SERVER, FLAT, false, "1000000s 64000000f 64000000e"},
    {"100 of RFC 4320", SERVER, ODD, false, "900003s 19200064f 19200064e"},
    {"100 of RFC 4320", SERVER, DEFAULT, true, "3500000s 32000000f 32000000e"},

    {"J", SERVER_ANSWERED, DEFAULT, false, "32000000e"},
    {"J", SERVER_ANSWERED, LAN, false, "3200000e"},
    {"J", SERVER_ANSWERED, ODD, false, "19200064e"},
    {"J", SERVER_ANSWERED, DEFAULT, true, "0e"},
    {"J", SERVER_ANSWERED, STEEP, true, "0e"},
};

static void set_scene(struct harness *harness, enum scene scene)
{
    bool ours = scene <= CLIENT_ANSWERED;
    bool invite = scene <= CLIENT_INVITE_PROCEEDING ||
                  (scene >= SERVER_INVITE && scene <= SERVER_INVITE_ACCEPTED);
    const char *method = invite ? "INVITE" : "OPTIONS";
    int rc = ours ? harness_send_request(harness, method, NULL, NULL)
                  : harness_receive_method(harness, method);
    CU_ASSERT_EQUAL(rc, 0);
    switch (scene) {
    case CLIENT_INVITE_REFUSED:
        harness_receive_response(harness, 486, method);
        break;
    case CLIENT_INVITE_ACCEPTED:
    case CLIENT_ANSWERED:
        harness_receive_response(harness, 200, method);
        break;
    case CLIENT_INVITE_CANCELLED:
        harness_receive_response(harness, 180, method);
        CU_ASSERT_EQUAL(vd_request_cancel(harness->stack, harness->invite, harness->now), 0);
        harness_drain(harness);
        harness_receive_response(harness, 200, "CANCEL");
        break;
    case CLIENT_INVITE_PROCEEDING:
        harness_receive_response(harness, 180, method);
        break;
    case CLIENT_PROCEEDING:
        harness_receive_response(harness, 100, method);
        break;
    case SERVER_INVITE_REFUSED:
        harness_respond(harness, 486);
        break;
    case SERVER_INVITE_ACKED:
        harness_respond(harness, 486);
        harness_receive_method(harness, "ACK");
        break;
    case SERVER_INVITE_ACCEPTED:
    case SERVER_ANSWERED:
        harness_respond(harness, 200);
        break;
    default:
        break;
    }
}

/* The counts of what the instants tell. */
struct counts {
    unsigned sent;
    int failures;
    int terminations;
};

static void add_instants(struct harness *harness, struct counts *before, char *out, size_t size)
{
    const struct {
        int count;
        char letter;
    } seen[] = {
        {(int)(harness->sent_count - before->sent), 's'},
        {harness->failures - before->failures, 'f'},
        {harness->terminations - before->terminations, 'e'},
    };
    for (size_t i = 0; i < 3; i++) {
        for (int n = 0; n < seen[i].count; n++) {
            size_t used = strlen(out);
            snprintf(out + used, size - used, "%s%llu%c", used > 0 ? " " : "",
                     (unsigned long long)(harness->now - harness->start), seen[i].letter);
        }
    }
    *before = (struct counts){harness->sent_count, harness->failures, harness->terminations};
}

/* The CANCEL's own transaction ends without a word: a deadline at which nothing is to be seen. */
static void walk(struct harness *harness, char *out, size_t size)
{
    struct counts seen = {harness->sent_count, 0, 0};
    out[0] = '\0';
    add_instants(harness, &seen, out, size);
    for (int i = 0; i < 1000; i++) {
        vd_time deadline = vd_stack_next_deadline(harness->stack);
        if (deadline == VD_TIME_NEVER) {
            return;
        }
        if (deadline > harness->now) {
            harness->now = deadline - 1;
            vd_stack_expire(harness->stack, harness->now);
            harness_drain(harness);
            add_instants(harness, &seen, out, size);
            harness->now = deadline;
        }
        vd_stack_expire(harness->stack, harness->now);
        harness_drain(harness);
        add_instants(harness, &seen, out, size);
    }
    snprintf(out, size, "no end");
}

static void each_timer_fires_at_its_exact_instants(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct vd_stack_config config;
        struct harness harness;
        char seen[1024];
        vd_stack_config_init(&config);
        config.t1 = timings[rows[i].timing].t1;
        config.t2 = timings[rows[i].timing].t2;
        config.t4 = timings[rows[i].timing].t4;
        config.timer_d = timings[rows[i].timing].timer_d;
        config.trying_delay = timings[rows[i].timing].trying;
        harness_init(&harness, &config);
        harness_use(&harness, rows[i].reliable ? HARNESS_TCP : HARNESS_UDP);
        set_scene(&harness, rows[i].scene);
        walk(&harness, seen, sizeof seen);
        if (strcmp(seen, rows[i].instants) != 0) {
            printf("\nrow %zu, %s:\nexpected %s\nsaw      %s\n", i, rows[i].timer, rows[i].instants,
                   seen);
        }
        CU_ASSERT_STRING_EQUAL(seen, rows[i].instants);
        CU_ASSERT(harness_free(&harness));
    }
}

/* The default timings are those that the RFCs recommend. */
static void defaults_are_those_of_the_rfc(void)
{
    struct vd_stack_config config;
    vd_stack_config_init(&config);
    CU_ASSERT_EQUAL(config.t1, timings[DEFAULT].t1);
    CU_ASSERT_EQUAL(config.t2, timings[DEFAULT].t2);
    CU_ASSERT_EQUAL(config.t4, timings[DEFAULT].t4);
    CU_ASSERT_EQUAL(config.timer_d, timings[DEFAULT].timer_d);
    CU_ASSERT_EQUAL(config.trying_delay, timings[DEFAULT].trying);
}

/* A loop that comes late (by up to a second here) sends less often, never too often, and still ends
 * each transaction: no interval is shorter than the timer's length. */
static void late_expiry_never_shortens_an_interval(void)
{
    static const vd_time intervals[] = {500000, 1000000, 2000000, 4000000, 4000000, 4000000};
    for (vd_time lateness = 1; lateness < VD_SEC; lateness += 99991) {
        struct harness harness;
        harness_init(&harness, NULL);
        harness_send_request(&harness, "OPTIONS", NULL, NULL);
        vd_time last = harness.now;
        for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
            vd_time deadline = vd_stack_next_deadline(harness.stack);
            CU_ASSERT_EQUAL(deadline, last + intervals[i]);
            harness.now = deadline + lateness;
            last = harness.now;
            vd_stack_expire(harness.stack, harness.now);
            harness_drain(&harness);
            CU_ASSERT_EQUAL(harness.sent_count, i + 2);
        }
        harness_run_out(&harness);
        CU_ASSERT_EQUAL(harness.now, harness_at(&harness, 32));
        CU_ASSERT_EQUAL(harness.failures, 1);
        CU_ASSERT(harness_free(&harness));
    }
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"each_timer_fires_at_its_exact_instants", each_timer_fires_at_its_exact_instants},
        {"defaults_are_those_of_the_rfc", defaults_are_those_of_the_rfc},
        {"late_expiry_never_shortens_an_interval", late_expiry_never_shortens_an_interval},
        CU_TEST_INFO_NULL,
    };
    return run_suite("transaction_timers", tests);
}
