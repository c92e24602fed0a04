/* test_partial.c - the kept fronts of messages.
 *
 * Covered: what is kept, sizes of buffers, the pool, missing memory. Not covered: when a connection
 * keeps something (test_tcp_stream.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "counting_mem.h"
#include "loop_internal.h"
#include "partial.h"
#include "run_suite.h"

static struct counting_mem memory;
static struct vd_loop *loop;
static struct vd__partial_pool pool;
static char text[200000];

static void begin(void)
{
    counting_mem_init(&memory);
    loop = calloc(1, sizeof *loop);
    loop->config.mem = &memory.mem;
    pool = (struct vd__partial_pool){.loop = loop};
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (char)('a' + i % 23);
    }
}

static void end(void)
{
    vd__partial_pool_free(&pool);
    CU_ASSERT_TRUE(counting_mem_is_clean(&memory));
    free(loop);
}

static void a_part_is_kept_in_a_buffer_of_about_its_size(void)
{
    static const size_t sizes[] = {1, 511, 512, 513, 1024, 5000, 65535, 200000};

    begin();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct vd__partial partial = {0};
        CU_ASSERT_TRUE(vd__partial_keep(&pool, &partial, text, sizes[i], 0));
        CU_ASSERT_EQUAL(partial.size, sizes[i]);
        CU_ASSERT(partial.capacity >= sizes[i]);
        CU_ASSERT(partial.capacity <= 512 || partial.capacity < 2 * sizes[i]);
        CU_ASSERT_EQUAL(memcmp(partial.bytes, text, sizes[i]), 0);
        vd__partial_drop(&pool, &partial);
        CU_ASSERT_PTR_NULL(partial.bytes);
    }
    end();
}

static void room_is_made_without_losing_what_is_there(void)
{
    struct vd__partial partial = {0};

    begin();
    CU_ASSERT_TRUE(vd__partial_keep(&pool, &partial, text, 300, 0));
    for (size_t size = 400; size < 100000; size *= 3) {
        CU_ASSERT_TRUE(vd__partial_reserve(&pool, &partial, size));
        CU_ASSERT(partial.capacity >= size);
        CU_ASSERT_EQUAL(partial.size, 300);
        CU_ASSERT_EQUAL(memcmp(partial.bytes, text, 300), 0);
    }
    vd__partial_drop(&pool, &partial);
    end();
}

static void a_part_of_a_part_may_be_kept(void)
{
    struct vd__partial partial = {0};

    begin();
    CU_ASSERT_TRUE(vd__partial_keep(&pool, &partial, text, 5000, 0));
    CU_ASSERT_TRUE(vd__partial_keep(&pool, &partial, partial.bytes + 100, 4900, 0));
    CU_ASSERT_EQUAL(memcmp(partial.bytes, text + 100, 4900), 0);
    CU_ASSERT_TRUE(vd__partial_keep(&pool, &partial, partial.bytes + 4800, 100, 0));
    CU_ASSERT_EQUAL(partial.capacity, 512);
    CU_ASSERT_EQUAL(memcmp(partial.bytes, text + 4900, 100), 0);
    CU_ASSERT_TRUE(vd__partial_keep(&pool, &partial, partial.bytes, 0, 0));
    CU_ASSERT_PTR_NULL(partial.bytes);
    end();
}

static void buffers_are_used_again_but_not_hoarded(void)
{
    enum { COUNT = 200 };
    static struct vd__partial partials[COUNT];

    begin();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            CU_ASSERT_TRUE(vd__partial_keep(&pool, &partials[i], text, 600, 0));
        }
        for (int i = 0; i < COUNT; i++) {
            vd__partial_drop(&pool, &partials[i]);
        }
    }
    CU_ASSERT_EQUAL(memory.live_blocks, 64);
    CU_ASSERT_EQUAL(memory.allocations, COUNT + COUNT - 64);
    end();
}

static void without_memory_nothing_changes(void)
{
    struct vd__partial partial = {0};

    begin();
    CU_ASSERT_TRUE(vd__partial_keep(&pool, &partial, text, 500, 0));
    counting_mem_fail_after(&memory, 0);
    CU_ASSERT_FALSE(vd__partial_reserve(&pool, &partial, 600));
    CU_ASSERT_FALSE(vd__partial_reserve(&pool, &partial, SIZE_MAX));
    CU_ASSERT_EQUAL(partial.size, 500);
    CU_ASSERT_EQUAL(memcmp(partial.bytes, text, 500), 0);
    vd__partial_drop(&pool, &partial);
    end();
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a part is kept in a buffer of about its size",
         a_part_is_kept_in_a_buffer_of_about_its_size},
        {"room is made without losing what is there", room_is_made_without_losing_what_is_there},
        {"a part of a part may be kept", a_part_of_a_part_may_be_kept},
        {"buffers are used again but not hoarded", buffers_are_used_again_but_not_hoarded},
        {"without memory nothing changes", without_memory_nothing_changes},
        CU_TEST_INFO_NULL,
    };
    return run_suite("partial", tests);
}
