/* test_impair.c - the worse network.
 *
 * Covered: each impairment by itself, at probability 1 and in between; when what was held back is
 * delivered, and in which order; that one seed gives one sequence and another another; that what is
 * still held back is freed. Not covered: runs over it (test_run.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "impair.h"

#include "run_suite.h"

#include <stdio.h>
#include <string.h>

static struct vd_stack *stack;
static struct impair impair;

/* Datagrams are OPTIONS whose Call-IDs are numbers; these are the ones that came, in order. */
enum { MOST = 4096 };
static unsigned arrived[MOST];
static unsigned arrived_count;

static void on_request(struct vd_stack *where, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context)
{
    unsigned number = 0;
    struct vd_str id = vd_message_header(request, VD_HEADER_CALL_ID)->value;
    (void)where;
    (void)transaction;
    (void)flow;
    (void)context;
    for (size_t i = 0; i < id.n; i++) {
        number = 10 * number + (unsigned)(id.p[i] - '0');
    }
    if (arrived_count < MOST) {
        arrived[arrived_count++] = number;
    }
}

static void begin(struct impairment impairment)
{
    struct vd_stack_config config;
    uint32_t endpoint;
    vd_stack_config_init(&config);
    config.callbacks.on_request = on_request;
    CU_ASSERT_EQUAL_FATAL(vd_stack_new(&stack, &config), 0);
    vd_stack_add_endpoint(stack, VD_TRANSPORT_UDP, VD_STR("127.0.0.1:5060"), &endpoint);
    impair_init(&impair, &impairment, 1);
    arrived_count = 0;
}

static void end(void)
{
    impair_free(&impair);
    vd_stack_free(stack);
}

/* Each copy has a branch of its own, so that the stack takes none for a retransmission. */
static bool pass(unsigned number, vd_time now)
{
    static char text[512];
    struct vd_flow flow = {0};
    vd_addr_parse(VD_STR("127.0.0.1"), 5070, &flow.remote);
    int size = snprintf(text, sizeof text,
                        "OPTIONS sip:127.0.0.1 SIP/2.0\r\n"
                        "Via: SIP/2.0/UDP 127.0.0.1:5070;branch=z9hG4bK-%u\r\n"
                        "Max-Forwards: 70\r\n"
                        "From: <sip:a@127.0.0.1>;tag=1\r\n"
                        "To: <sip:b@127.0.0.1>\r\n"
                        "Call-ID: %u\r\n"
                        "CSeq: 1 OPTIONS\r\n"
                        "Content-Length: 0\r\n\r\n",
                        number, number);
    bool passes = impair_passes(&impair, &flow, vd_str(text, (size_t)size), now);
    memset(text, 'x', sizeof text); /* what is held back is a copy */
    return passes;
}

static void nothing_happens_without_impairment(void)
{
    begin((struct impairment){.seed = 1});
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT(pass(i, i));
    }
    CU_ASSERT_EQUAL(impair_deadline(&impair), VD_TIME_NEVER);
    CU_ASSERT_EQUAL(impair.lost + impair.repeated + impair.overtaken, 0);
    end();
}

static void all_are_lost_with_probability_one(void)
{
    begin((struct impairment){.loss = 1, .duplicate = 1, .reorder = 1, .seed = 1});
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT_FALSE(pass(i, i));
    }
    CU_ASSERT_EQUAL(impair.lost, 100);
    CU_ASSERT_EQUAL(impair_deadline(&impair), VD_TIME_NEVER);
    end();
}

static void probability_is_kept_to(void)
{
    begin((struct impairment){.loss = 0.25, .seed = 3});
    unsigned passed = 0;
    for (unsigned i = 0; i < 10000; i++) {
        passed += pass(i, i);
    }
    /* Five standard deviations. */
    CU_ASSERT(passed > 7500 - 217 && passed < 7500 + 217);
    CU_ASSERT_EQUAL(impair.lost, 10000 - passed);
    end();
}

static void delay_holds_all_back_and_keeps_their_order(void)
{
    begin((struct impairment){.delay = 5 * VD_MSEC, .seed = 1});
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT_FALSE(pass(i, 1000 + i / 10));
    }
    CU_ASSERT_EQUAL(impair_deadline(&impair), 1000 + 5 * VD_MSEC);
    impair_deliver(&impair, stack, 999 + 5 * VD_MSEC);
    CU_ASSERT_EQUAL(arrived_count, 0);
    impair_deliver(&impair, stack, 1004 + 5 * VD_MSEC);
    CU_ASSERT_EQUAL(arrived_count, 50);
    impair_deliver(&impair, stack, 1009 + 5 * VD_MSEC);
    CU_ASSERT_EQUAL_FATAL(arrived_count, 100);
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(arrived[i], i);
    }
    CU_ASSERT_EQUAL(impair_deadline(&impair), VD_TIME_NEVER);
    end();
}

static void repeated_datagram_passes_and_comes_again_at_once(void)
{
    begin((struct impairment){.duplicate = 1, .seed = 1});
    CU_ASSERT(pass(7, 1000));
    CU_ASSERT_EQUAL(impair_deadline(&impair), 1000);
    impair_deliver(&impair, stack, 1000);
    CU_ASSERT_EQUAL(arrived_count, 1);
    CU_ASSERT_EQUAL(arrived[0], 7);
    CU_ASSERT_EQUAL(impair.repeated, 1);
    end();
}

static void reordered_datagrams_are_held_back_for_1_to_10_ms(void)
{
    begin((struct impairment){.reorder = 1, .seed = 1});
    unsigned overtaken = 0;
    for (unsigned i = 0; i < 1000; i++) {
        CU_ASSERT_FALSE(pass(i, 1000));
    }
    impair_deliver(&impair, stack, 999 + VD_MSEC);
    CU_ASSERT_EQUAL(arrived_count, 0);
    impair_deliver(&impair, stack, 1000 + 10 * VD_MSEC);
    CU_ASSERT_EQUAL_FATAL(arrived_count, 1000);
    for (unsigned i = 1; i < 1000; i++) {
        overtaken += arrived[i] < arrived[i - 1];
    }
    CU_ASSERT(overtaken > 300);
    end();
}

static uint64_t fate_of_64(uint64_t seed, uint64_t stream)
{
    struct impairment impairment = {.loss = 0.5, .seed = seed};
    uint64_t fate = 0;
    begin(impairment);
    impair_init(&impair, &impairment, stream);
    for (unsigned i = 0; i < 64; i++) {
        fate = fate << 1 | pass(i, i);
    }
    end();
    return fate;
}

static void seed_and_stream_choose_the_sequence(void)
{
    CU_ASSERT_EQUAL(fate_of_64(5, 1), fate_of_64(5, 1));
    CU_ASSERT_NOT_EQUAL(fate_of_64(5, 1), fate_of_64(6, 1));
    CU_ASSERT_NOT_EQUAL(fate_of_64(5, 1), fate_of_64(5, 2));
}

static void what_is_held_back_at_the_end_is_freed(void)
{
    begin((struct impairment){.delay = VD_SEC, .duplicate = 1, .seed = 1});
    for (unsigned i = 0; i < 200; i++) {
        CU_ASSERT_FALSE(pass(i, i));
    }
    CU_ASSERT_EQUAL(impair.held_count, 400);
    end();
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"nothing_happens_without_impairment", nothing_happens_without_impairment},
        {"all_are_lost_with_probability_one", all_are_lost_with_probability_one},
        {"probability_is_kept_to", probability_is_kept_to},
        {"delay_holds_all_back_and_keeps_their_order", delay_holds_all_back_and_keeps_their_order},
        {"repeated_datagram_passes_and_comes_again_at_once",
         repeated_datagram_passes_and_comes_again_at_once},
        {"reordered_datagrams_are_held_back_for_1_to_10_ms",
         reordered_datagrams_are_held_back_for_1_to_10_ms},
        {"seed_and_stream_choose_the_sequence", seed_and_stream_choose_the_sequence},
        {"what_is_held_back_at_the_end_is_freed", what_is_held_back_at_the_end_is_freed},
        CU_TEST_INFO_NULL,
    };
    return run_suite("impair", tests);
}
