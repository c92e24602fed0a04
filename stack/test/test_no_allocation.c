/* test_no_allocation.c - a warm stack takes no memory from its allocator, and none behind its back.
 *
 * Covered: thousands of transactions of both sides, over UDP and TCP, with and without a body: a
 * REGISTER, an INVITE that is answered 2xx, refused, or cancelled, and the lingering and ending of
 * all of them, while their number stays what it was. Where the test program may stand in for malloc
 * (not under a sanitizer), calls of malloc, calloc and realloc count too.
 * Not covered: a load that rises (pools then grow), the transport layer.
 *
 * SPDX-License-Identifier: MIT
 */
#include "counting_mem.h"
#include "pair.h"
#include "run_suite.h"

#include <stdlib.h>

#define ROUNDS 2000 /* of 6 requests each */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifndef SANITIZED
/* The C library's own, behind the names that this program takes over. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

static unsigned long calls;

void *malloc(size_t size)
{
    calls++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    calls++;
    return __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    calls++;
    return __libc_realloc(p, size);
}

static unsigned long calls_of_malloc(void)
{
    return calls;
}
#else
static unsigned long calls_of_malloc(void)
{
    return 0;
}
#endif

/* Six requests, pause after each. Returns how many of them did not end as they should. */
static unsigned one_round(struct pair *pair, vd_time pause)
{
    static const struct {
        enum pair_endpoint endpoint;
        const char *method;
        const char *user;
        size_t body_size;
        int status;
    } requests[] = {
        {PAIR_UDP, "REGISTER", "200", 0, 200}, {PAIR_UDP, "INVITE", "200", 300, 200},
        {PAIR_UDP, "INVITE", "486", 300, 486}, {PAIR_UDP, "INVITE", "late", 1200, 487},
        {PAIR_TCP, "REGISTER", "401", 0, 401}, {PAIR_TCP, "INVITE", "late", 5000, 200},
    };
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        vd_transaction name = 0;
        pair_request(pair, requests[i].endpoint, requests[i].method, requests[i].user,
                     requests[i].body_size, &name);
        if (requests[i].status == 487) {
            pair_cancel(pair, name);
        } else if (pair->status == 0) {
            pair_answer(pair, requests[i].status);
        }
        wrong += pair->status != requests[i].status;
        pair_until(pair, pair->now + pause);
    }
    return wrong;
}

static void a_warm_stack_allocates_nothing(void)
{
    struct counting_mem counting;
    struct pair pair;
    unsigned wrong = 0;
    counting_mem_init(&counting);
    CU_ASSERT_EQUAL_FATAL(pair_init(&pair, &counting.mem), 0);

    /* Somewhat faster than later on, so that the number of lingering transactions stays below. */
    for (unsigned i = 0; i < ROUNDS; i++) {
        wrong += one_round(&pair, 19 * VD_MSEC);
    }
    CU_ASSERT(pair_live(&pair) > 1000);
    CU_ASSERT(counting.allocations > 0);

    uint64_t allocations = counting.allocations;
    size_t live_bytes = counting.live_bytes;
    unsigned long before = calls_of_malloc();
    unsigned terminations = pair.terminations;
    for (unsigned i = 0; i < ROUNDS; i++) {
        wrong += one_round(&pair, 20 * VD_MSEC);
    }
    unsigned long after = calls_of_malloc();
    CU_ASSERT_EQUAL(counting.allocations, allocations);
    CU_ASSERT_EQUAL(counting.live_bytes, live_bytes);
    CU_ASSERT_EQUAL(after, before);
    CU_ASSERT(pair.terminations - terminations > 10 * ROUNDS);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(pair.error, 0);

    pair_until(&pair, VD_TIME_NEVER);
    CU_ASSERT_EQUAL(pair_live(&pair), 0);
    CU_ASSERT_EQUAL(counting.allocations, allocations);
    pair_free(&pair);
    CU_ASSERT(counting_mem_is_clean(&counting));
}

/* The measure itself: without it the test above would prove nothing. */
static void a_cold_stack_allocates(void)
{
    struct counting_mem counting;
    struct pair pair;
    counting_mem_init(&counting);
    unsigned long before = calls_of_malloc();
    CU_ASSERT_EQUAL_FATAL(pair_init(&pair, &counting.mem), 0);
    uint64_t allocations = counting.allocations;
    one_round(&pair, 0);
    CU_ASSERT(counting.allocations > allocations);
#ifndef SANITIZED
    CU_ASSERT(calls_of_malloc() > before);
#else
    CU_ASSERT_EQUAL(calls_of_malloc(), before);
#endif
    pair_free(&pair);
    CU_ASSERT(counting_mem_is_clean(&counting));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a_cold_stack_allocates", a_cold_stack_allocates},
        {"a_warm_stack_allocates_nothing", a_warm_stack_allocates_nothing},
        CU_TEST_INFO_NULL,
    };
    return run_suite("no allocation", tests);
}
