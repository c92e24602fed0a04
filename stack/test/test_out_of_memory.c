/* test_out_of_memory.c - every allocation fails once.
 *
 * Covered: a scenario of calls, cancels, large bodies and many requests at once is run again and
 * again with the allocator failing at its first, second, third ... call: once only that call, once
 * that and all later ones until the scenario is over. Each time nothing crashes and nothing leaks;
 * functions return VD_ERR_NOMEM or do their work; the failure is told of; with memory back, what
 * was under way ends, and new calls go through. Also: a CANCEL and an ACK of the stack's own for
 * which there is no memory.
 * Not covered: which message gets lost (retransmission makes up for it), other errors.
 *
 * SPDX-License-Identifier: MIT
 */
#include "counting_mem.h"
#include "pair.h"
#include "run_suite.h"

/* More transactions at once than a pool has at first. */
#define MANY 1100

struct failing {
    struct vd_mem mem;
    struct counting_mem counting;
    uint64_t calls;
    uint64_t first; /* the call that fails */
    bool for_good;  /* and all after it */
    unsigned failures;
};

static void *allocate(size_t size, void *context)
{
    struct failing *failing = context;
    uint64_t call = failing->calls++;
    if (call == failing->first || (failing->for_good && call > failing->first)) {
        failing->failures++;
        return NULL;
    }
    return failing->counting.mem.allocate(size, &failing->counting);
}

static void release(void *p, size_t size, void *context)
{
    struct failing *failing = context;
    failing->counting.mem.release(p, size, &failing->counting);
}

static void failing_init(struct failing *failing, uint64_t first, bool for_good)
{
    *failing = (struct failing){
        .mem = {.allocate = allocate, .release = release, .context = failing},
        .first = first,
        .for_good = for_good,
    };
    counting_mem_init(&failing->counting);
}

/* Requests that are begun and not sent take all records and buffers that there are. */
struct hoard {
    struct vd_builder *builders;
    size_t count;
};

static void hoard_all(struct hoard *hoard, struct pair *pair, struct failing *failing)
{
    const struct vd_flow flow = {.remote = {.family = VD_FAMILY_IP4}};
    static struct vd_builder builders[3 * MANY];
    int rc = 0;
    failing->first = 0;
    failing->for_good = true;
    *hoard = (struct hoard){builders, 0};
    while (rc == 0 && hoard->count < sizeof builders / sizeof builders[0]) {
        rc = vd_request_begin(pair->stacks[PAIR_CLIENT], &builders[hoard->count], VD_STR("OPTIONS"),
                              VD_STR("sip:b@192.0.2.2"), &flow);
        hoard->count += rc == 0;
    }
    CU_ASSERT_EQUAL(rc, VD_ERR_NOMEM);
}

static void hoard_free(struct hoard *hoard, struct pair *pair, struct failing *failing)
{
    failing->first = UINT64_MAX;
    while (hoard->count > 0) {
        vd_request_abort(pair->stacks[PAIR_CLIENT], &hoard->builders[--hoard->count]);
    }
}

/* What can be done without memory has worked, what cannot has said so. */
static bool is_right(int rc)
{
    return rc == 0 || rc == VD_ERR_NOMEM;
}

static void call_and_cancel(struct pair *pair, enum pair_endpoint endpoint)
{
    vd_transaction invite = 0;
    CU_ASSERT(is_right(pair_request(pair, endpoint, "REGISTER", "200", 0, NULL)));
    CU_ASSERT(is_right(pair_request(pair, endpoint, "INVITE", "200", 400, NULL)));
    CU_ASSERT(is_right(pair_request(pair, endpoint, "INVITE", "486", 400, NULL)));
    if (pair_request(pair, endpoint, "INVITE", "late", 20000, &invite) == 0) {
        int rc = pair_cancel(pair, invite);
        /* The stack of the server may have had no memory, and refused the INVITE. */
        CU_ASSERT(is_right(rc) || (rc == VD_ERR_STATE && pair->status == 503) ||
                  (rc == VD_ERR_GONE && pair->status == 503));
    }
    if (pair_request(pair, endpoint, "OPTIONS", "late", 60000, NULL) == 0) {
        pair_until(pair, pair->now + VD_SEC);
        pair_answer(pair, 200);
    }
}

static void scenario(struct pair *pair)
{
    call_and_cancel(pair, PAIR_UDP);
    pair_until(pair, pair->now + 40 * VD_SEC);
    call_and_cancel(pair, PAIR_TCP);
    for (unsigned i = 0; i < MANY; i++) {
        CU_ASSERT(is_right(pair_request(pair, PAIR_UDP, "OPTIONS", "200", 0, NULL)));
    }
    /* A CANCEL that waits for a provisional response, and an answer that is a long time coming. */
    vd_transaction invite = 0;
    if (pair_request(pair, PAIR_UDP, "INVITE", "late", 0, &invite) == 0) {
        pair_until(pair, pair->now + VD_SEC);
        pair_answer(pair, 500);
    }
}

/* All is as if nothing had happened. */
static void check_recovery(struct pair *pair)
{
    vd_transaction invite = 0;
    /* What the scenario has left open is open for its application. */
    pair_until(pair, pair->now + 40 * VD_SEC);
    pair->error = 0;
    CU_ASSERT_EQUAL(pair_request(pair, PAIR_UDP, "INVITE", "late", 500, &invite), 0);
    CU_ASSERT_EQUAL(pair_cancel(pair, invite), 0);
    CU_ASSERT_EQUAL(pair->status, 487);
    CU_ASSERT_EQUAL(pair_request(pair, PAIR_TCP, "INVITE", "200", 50000, NULL), 0);
    CU_ASSERT_EQUAL(pair->status, 200);
    CU_ASSERT_EQUAL(pair_request(pair, PAIR_TCP, "REGISTER", "403", 0, NULL), 0);
    CU_ASSERT_EQUAL(pair->status, 403);
    CU_ASSERT_EQUAL(pair->error, 0);
}

/* Returns whether the allocation that was to fail was ever asked for. */
static bool run(uint64_t first, bool for_good, unsigned *told)
{
    struct failing failing;
    struct pair pair;
    failing_init(&failing, first, for_good);
    int rc = pair_init(&pair, &failing.mem);
    if (rc != 0) {
        CU_ASSERT_EQUAL(rc, VD_ERR_NOMEM);
        CU_ASSERT_PTR_NULL(pair.stacks[PAIR_CLIENT]);
        CU_ASSERT(counting_mem_is_clean(&failing.counting));
        *told += 1;
        return true;
    }
    scenario(&pair);
    bool failed = failing.failures > 0;
    *told += pair.out_of_memory > 0;
    failing.for_good = false;
    failing.first = UINT64_MAX;
    check_recovery(&pair);
    pair_free(&pair);
    CU_ASSERT(counting_mem_is_clean(&failing.counting));
    return failed;
}

static void every_failure(bool for_good)
{
    unsigned told = 0;
    uint64_t first = 0;
    while (run(first, for_good, &told)) {
        first++;
    }
    CU_ASSERT(first > 30);
    CU_ASSERT_EQUAL(told, first);
}

static void one_failed_allocation_does_no_lasting_harm(void)
{
    every_failure(false);
}

static void no_memory_from_some_moment_on_does_no_lasting_harm(void)
{
    every_failure(true);
}

/* RFC 3261 9.1: the CANCEL waits for a provisional response; then there is no memory for it. */
static void a_held_cancel_goes_when_there_is_memory_for_it(void)
{
    struct failing failing;
    struct pair pair;
    struct hoard hoard;
    vd_transaction invite = 0;
    failing_init(&failing, UINT64_MAX, false);
    CU_ASSERT_EQUAL_FATAL(pair_init(&pair, &failing.mem), 0);
    pair_request(&pair, PAIR_UDP, "OPTIONS", "200", 0, NULL); /* the server is warm */
    CU_ASSERT_EQUAL(pair_send(&pair, PAIR_UDP, "INVITE", "late", 0, &invite), 0);
    CU_ASSERT_EQUAL(vd_request_cancel(pair.stacks[PAIR_CLIENT], invite, pair.now), 0);
    hoard_all(&hoard, &pair, &failing);
    pair_until(&pair, pair.now + 3 * VD_SEC);
    CU_ASSERT_EQUAL(pair.status, 0);
    CU_ASSERT_EQUAL(vd_transaction_state(pair.stacks[PAIR_CLIENT], invite),
                    VD_TRANSACTION_PROCEEDING);
    hoard_free(&hoard, &pair, &failing);
    pair_until(&pair, pair.now + VD_SEC);
    CU_ASSERT_EQUAL(pair.status, 487);
    pair_until(&pair, VD_TIME_NEVER);
    CU_ASSERT_EQUAL(pair_live(&pair), 0);
    pair_free(&pair);
    CU_ASSERT(counting_mem_is_clean(&failing.counting));
}

/* The final response came and could not be acknowledged: the next copy is, if there is memory by
 * then, else the transaction fails when the peer has given up. */
static void an_invite_ends_though_there_is_no_memory_for_its_ack(void)
{
    for (int recovers = 0; recovers <= 1; recovers++) {
        struct failing failing;
        struct pair pair;
        struct hoard hoard;
        vd_transaction invite = 0;
        failing_init(&failing, UINT64_MAX, false);
        CU_ASSERT_EQUAL_FATAL(pair_init(&pair, &failing.mem), 0);
        CU_ASSERT_EQUAL(pair_request(&pair, PAIR_UDP, "INVITE", "late", 0, &invite), 0);
        hoard_all(&hoard, &pair, &failing);
        CU_ASSERT_EQUAL(pair_answer(&pair, 486), 0);
        CU_ASSERT_EQUAL(pair.status, 0);
        if (recovers != 0) {
            hoard_free(&hoard, &pair, &failing);
            pair_until(&pair, pair.now + VD_SEC);
            CU_ASSERT_EQUAL(pair.status, 486);
        }
        pair.error = 0;
        pair_until(&pair, VD_TIME_NEVER);
        CU_ASSERT_EQUAL(pair.error, recovers != 0 ? 0 : VD_ERR_TIMEOUT);
        CU_ASSERT_EQUAL(pair.terminations, 2);
        CU_ASSERT_EQUAL(pair_live(&pair), 0);
        hoard_free(&hoard, &pair, &failing);
        pair_free(&pair);
        CU_ASSERT(counting_mem_is_clean(&failing.counting));
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"one_failed_allocation_does_no_lasting_harm", one_failed_allocation_does_no_lasting_harm},
        {"no_memory_from_some_moment_on_does_no_lasting_harm",
         no_memory_from_some_moment_on_does_no_lasting_harm},
        {"a_held_cancel_goes_when_there_is_memory_for_it",
         a_held_cancel_goes_when_there_is_memory_for_it},
        {"an_invite_ends_though_there_is_no_memory_for_its_ack",
         an_invite_ends_though_there_is_no_memory_for_its_ack},
        CU_TEST_INFO_NULL,
    };
    return run_suite("out of memory", tests);
}
