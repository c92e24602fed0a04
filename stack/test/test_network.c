/* test_network.c - two stacks and a raw peer on a network that loses, repeats, delays and reorders.
 *
 * Covered: in some thousand random runs, that whatever the network and the applications do
 * - each request is delivered once, each client transaction gets one final response (but 2xx to an
 *   INVITE may repeat), or fails, and each transaction ends with exactly one on_terminated;
 * - functions return what the state of a transaction says, and VD_ERR_GONE once it has ended;
 * - nothing is sent for a transaction after its end;
 * - both stacks come to rest by themselves, with no timer armed and no transaction, record or
 *   buffer in use, and give every byte back, also when they are freed in the middle of it all.
 * Not covered: the exact times (see the tests of the four machines), messages that are faulty (see
 * fuzz_engine.c), allocation failure (test_out_of_memory.c).
 *
 * VIADUCT_SEED is the seed of the first run (each further run takes the next number), VIADUCT_RUNS
 * how many there are. A failure prints the seed that repeats it as the only run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

#include "random_calls.h"
#include "run_suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_SEED UINT64_C(20261130)
#define DEFAULT_RUNS 10000

/* More events than any run has that comes to rest. */
#define MANY_STEPS 20000

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

/* Bytes of a stack's buffers that are neither free nor part of what is left of a chunk. */
static size_t bytes_in_use(const struct vd__buffers *buffers)
{
    size_t bytes = 0;
    for (const struct vd__buffer_chunk *chunk = buffers->chunks; chunk != NULL;
         chunk = chunk->next) {
        bytes += chunk->size - ((sizeof *chunk + 15) & ~(size_t)15);
    }
    for (unsigned i = 0; i < VD__BUFFER_CLASSES; i++) {
        for (const struct vd__buffer *buffer = buffers->free[i]; buffer != NULL;
             buffer = buffer->next) {
            bytes -= (sizeof *buffer + buffer->size + 15) & ~(size_t)15;
        }
    }
    return bytes - buffers->fresh_size;
}

/* What the runs came to see, so that none of it is left out by chance. */
struct tally {
    uint64_t succeeded;
    uint64_t concluded;
    uint64_t failed;
    uint64_t cancelled;
    uint64_t raw;
    uint64_t freed_alive;
    uint64_t request_retransmissions;
    uint64_t response_retransmissions;
    uint64_t resent_requests;
    uint64_t resent_responses;
    uint64_t stray_responses;
    uint64_t timeouts;
    uint64_t transport_errors;
};

static void count_run(struct tally *tally, const struct calls *calls)
{
    for (unsigned i = 0; i < calls->count; i++) {
        const struct call *call = &calls->calls[i];
        tally->succeeded += call->succeeded;
        tally->concluded += call->concluded;
        tally->failed += call->failed;
        tally->cancelled += call->cancels > 0;
        tally->raw += call->from == CALLS_RAW && call->final != 0;
    }
    for (unsigned i = 0; i < CALLS_END; i++) {
        struct vd_stack_counters counters;
        vd_stack_get_counters(calls->parties[i].stack, &counters);
        tally->freed_alive += counters.live_client_transactions + counters.live_server_transactions;
        tally->request_retransmissions += counters.request_retransmissions;
        tally->response_retransmissions += counters.response_retransmissions;
        tally->resent_requests += counters.resent_requests;
        tally->resent_responses += counters.resent_responses;
        tally->stray_responses += counters.stray_responses;
        tally->timeouts += counters.timeouts;
        tally->transport_errors += counters.transport_errors;
    }
}

static void check_tally(const struct tally *tally, uint64_t runs)
{
    const uint64_t *counts = &tally->succeeded;
    for (size_t i = 0; i < sizeof *tally / sizeof *counts; i++) {
        CU_ASSERT(counts[i] > runs / 100);
    }
}

static void check_at_rest(struct calls *calls, const struct party *party)
{
    const struct vd_stack *stack = party->stack;
    struct vd_stack_counters counters;
    vd_stack_get_counters(stack, &counters);
    calls_check(calls, vd_stack_next_deadline(stack) == VD_TIME_NEVER, "no timer is left");
    calls_check(calls,
                counters.live_client_transactions == 0 && counters.live_server_transactions == 0,
                "no transaction is left");
    calls_check(calls, stack->transactions.used == 0 && stack->actives.used == 0,
                "no record is left");
    calls_check(calls, stack->table.count == 0 && stack->pending_requests == 0,
                "no request is left in the table");
    calls_check(calls, stack->outbox.count == 0, "the outbox is empty");
    /* Less than the smallest buffer is what is left over of a chunk. */
    calls_check(calls, bytes_in_use(&stack->buffers) < 64, "no buffer is left");
    calls_check(calls, counters.received_invalid == 0 && counters.received_not_sip == 0,
                "what one stack writes the other can read");
}

static void check_calls(struct calls *calls)
{
    unsigned requests = 0;
    unsigned terminations = 0;
    unsigned sent = 0;
    for (unsigned i = 0; i < CALLS_END; i++) {
        requests += calls->parties[i].requests;
        sent += calls->parties[i].sent;
        terminations += calls->parties[i].terminations;
    }
    calls_check(calls, terminations == requests + sent, "each transaction ends once");
    for (unsigned i = 0; i < calls->count; i++) {
        const struct call *call = &calls->calls[i];
        bool decided = call->succeeded || call->concluded || call->failed;
        calls_check(calls, !call->sent || call->client_ended, "each client transaction ends");
        calls_check(calls, call->deliveries == 0 || call->server_ended,
                    "each server transaction ends");
        calls_check(calls, !call->sent || decided,
                    "each request of ours gets a final response or fails");
    }
    calls_check(calls, calls->network.pulled == calls->network.given_back,
                "what is pulled is given back");
    calls_check(calls, calls->network.framing_errors == 0, "no stream loses its framing");
}

/* Returns the rule that was broken, NULL for none. */
static const char *run(uint64_t seed, struct tally *tally)
{
    static struct calls calls;
    calls_init(&calls, seed);
    struct network *network = &calls.network;
    vd_time end = network->now + (20 + test_random_below(&network->random, 60)) * VD_SEC;
    bool in_the_middle = network_chance(network, 100);
    unsigned steps = 0;

    calls_begin(&calls);
    while (calls.broken == NULL && network->now < end && network_step(network)) {
        calls_check(&calls, ++steps < MANY_STEPS, "a run comes to rest");
    }
    if (!in_the_middle) {
        end = network->now;
        calls_end(&calls);
        while (calls.broken == NULL && network_step(network)) {
            calls_check(&calls, ++steps < MANY_STEPS, "a run comes to rest");
        }
        /* The last final response leaves 53 s after the end, and Timer H ends it 32 s later. */
        calls_check(&calls, network->now <= end + 60 * VD_SEC + 3 * 32 * VD_SEC,
                    "a run comes to rest in time");
        check_at_rest(&calls, &calls.parties[0]);
        check_at_rest(&calls, &calls.parties[1]);
    }
    count_run(tally, &calls);
    calls_free(&calls);
    if (calls.broken == NULL || !in_the_middle) {
        for (unsigned i = 0; i < CALLS_END; i++) {
            calls_check(&calls, counting_mem_is_clean(&calls.parties[i].memory),
                        "every byte is given back");
        }
    }
    if (!in_the_middle) {
        check_calls(&calls);
    }
    return calls.broken;
}

static void every_transaction_ends_well_whatever_the_network_does(void)
{
    uint64_t seed = setting("VIADUCT_SEED", DEFAULT_SEED);
    uint64_t runs = setting("VIADUCT_RUNS", DEFAULT_RUNS);
    unsigned broken = 0;
    struct tally tally = {0};
    printf("\n  seed %" PRIu64 ", %" PRIu64 " runs ", seed, runs);
    for (uint64_t i = 0; i < runs && broken < 5; i++) {
        const char *rule = run(seed + i, &tally);
        if (rule != NULL) {
            broken++;
            printf("\n  not so: %s (VIADUCT_SEED=%" PRIu64 " VIADUCT_RUNS=1)\n", rule, seed + i);
        }
    }
    CU_ASSERT_EQUAL(broken, 0);
    if (runs >= 1000) {
        check_tally(&tally, runs);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"every_transaction_ends_well_whatever_the_network_does",
         every_transaction_ends_well_whatever_the_network_does},
        CU_TEST_INFO_NULL,
    };
    return run_suite("network", tests);
}
