/* test_buffer.c - buffers for outgoing messages.
 *
 * Covered: room and waste of every size, that no two buffers share bytes, references, reuse,
 * compaction, the use of what is left of a chunk, allocation failure, no memory left.
 * Not covered: the flow and the message in a buffer, which are the business of who takes it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "buffer.h"

#include "counting_mem.h"
#include "run_suite.h"
#include "test_random.h"

#include <stdio.h>

#define LARGEST 66560
#define COUNT   300

struct fixture {
    struct counting_mem counting;
    struct vd__buffers buffers;
};

static void set_up(struct fixture *f)
{
    counting_mem_init(&f->counting);
    vd__buffers_init(&f->buffers, &f->counting.mem);
}

static void tear_down(struct fixture *f)
{
    vd__buffers_free(&f->buffers);
    CU_ASSERT(counting_mem_is_clean(&f->counting));
}

static void buffer_has_room_for_every_size_and_wastes_little(void)
{
    struct fixture f;
    bool good = true;
    set_up(&f);
    for (size_t size = 0; size <= LARGEST; size += size < 3000 ? 1 : 97) {
        struct vd__buffer *buffer = vd__buffer_take(&f.buffers, size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
        good &= buffer->size >= size && buffer->references == 1 && buffer->length == 0;
        /* Less than 64 bytes up to 512, about the size of the message at worst from there on. */
        good &= size <= 512 ? buffer->size <= size + 64 : buffer->size <= 2 * size + 1024;
        good &= (uintptr_t)buffer % sizeof(void *) == 0;
        memset(buffer->data, 0x55, buffer->size);
        vd__buffer_unref(&f.buffers, buffer);
    }
    CU_ASSERT(good);
    tear_down(&f);
}

static void message_too_large_for_any_class_gets_no_buffer(void)
{
    struct fixture f;
    set_up(&f);
    struct vd__buffer *buffer = vd__buffer_take(&f.buffers, LARGEST);
    CU_ASSERT_PTR_NOT_NULL(buffer);
    CU_ASSERT_PTR_NULL(vd__buffer_take(&f.buffers, LARGEST + 1));
    CU_ASSERT_PTR_NULL(vd__buffer_take(&f.buffers, (size_t)UINT32_MAX + 65));
    CU_ASSERT_PTR_NULL(vd__buffer_take(&f.buffers, SIZE_MAX));
    vd__buffer_unref(&f.buffers, buffer);
    tear_down(&f);
}

static size_t random_size(struct test_random *random)
{
    return (size_t)(test_random_next(random) % LARGEST) >> test_random_below(random, 12);
}

static bool holds_only(const struct vd__buffer *buffer, char mark)
{
    for (uint32_t i = 0; i < buffer->size; i++) {
        if (buffer->data[i] != mark) {
            return false;
        }
    }
    return true;
}

/* Takes and gives at random; each buffer is filled with a mark of its own while it is held. */
static bool churn(struct fixture *f, uint64_t seed, int steps)
{
    struct test_random random = {seed};
    struct vd__buffer *held[COUNT] = {NULL};
    bool good = true;
    for (int step = 0; step < steps; step++) {
        size_t i = (size_t)test_random_below(&random, COUNT);
        char mark = (char)(i % 127);
        if (held[i] != NULL) {
            good &= holds_only(held[i], mark);
            vd__buffer_unref(&f->buffers, held[i]);
            held[i] = NULL;
        } else {
            held[i] = vd__buffer_take(&f->buffers, random_size(&random));
            if (held[i] == NULL) {
                good = false;
                break;
            }
            memset(held[i]->data, mark, held[i]->size);
        }
    }
    for (size_t i = 0; i < COUNT; i++) {
        good &= held[i] == NULL || holds_only(held[i], (char)(i % 127));
        vd__buffer_unref(&f->buffers, held[i]);
    }
    return good;
}

static void buffers_share_no_bytes_and_warm_ones_come_without_allocation(void)
{
    printf("seeds 1 to 20 ");
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct fixture f;
        set_up(&f);
        CU_ASSERT(churn(&f, seed, 2000));
        uint64_t allocations = f.counting.allocations;
        CU_ASSERT(allocations > 0);
        CU_ASSERT(churn(&f, seed, 2000));
        CU_ASSERT_EQUAL(f.counting.allocations, allocations);
        tear_down(&f);
    }
}

static void buffer_comes_back_with_its_last_reference(void)
{
    struct fixture f;
    set_up(&f);
    struct vd__buffer *buffer = vd__buffer_take(&f.buffers, 100);
    CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
    CU_ASSERT_PTR_EQUAL(vd__buffer_ref(buffer), buffer);
    vd__buffer_unref(&f.buffers, buffer);
    struct vd__buffer *other = vd__buffer_take(&f.buffers, 100);
    CU_ASSERT_PTR_NOT_EQUAL(other, buffer);
    vd__buffer_unref(&f.buffers, buffer);
    CU_ASSERT_PTR_EQUAL(vd__buffer_take(&f.buffers, 100), buffer);
    vd__buffer_unref(&f.buffers, NULL);
    tear_down(&f);
}

static struct vd__buffer *message(struct fixture *f, size_t room, uint32_t length)
{
    struct vd__buffer *buffer = vd__buffer_take(&f->buffers, room);
    if (buffer != NULL) {
        buffer->flow = (struct vd_flow){.endpoint = 3, .connection = 4, .remote = {.port = 5}};
        buffer->length = length;
        memset(buffer->data, 'm', buffer->size);
        memset(buffer->data + length, 'x', buffer->size - length);
    }
    return buffer;
}

static void compaction_moves_a_message_when_that_saves_a_class(void)
{
    static const struct {
        size_t room;
        uint32_t length;
        bool moves;
    } cases[] = {
        {LARGEST, 700, true}, {1500, 1500, false}, {1500, 1025, false}, {1500, 1024, true},
        {64, 0, false},       {128, 64, true},     {128, 65, false},    {513, 512, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        set_up(&f);
        struct vd__buffer *before = message(&f, cases[i].room, cases[i].length);
        CU_ASSERT_PTR_NOT_NULL_FATAL(before);
        struct vd__buffer *after = vd__buffer_compact(&f.buffers, before);
        CU_ASSERT_EQUAL(after != before, cases[i].moves);
        CU_ASSERT_EQUAL(after->length, cases[i].length);
        CU_ASSERT_EQUAL(after->references, 1);
        CU_ASSERT_EQUAL(after->flow.endpoint, 3);
        CU_ASSERT_EQUAL(after->flow.connection, 4);
        CU_ASSERT_EQUAL(after->flow.remote.port, 5);
        for (uint32_t k = 0; k < after->length; k++) {
            CU_ASSERT_EQUAL(after->data[k], 'm');
        }
        if (cases[i].moves) {
            CU_ASSERT_PTR_EQUAL(vd__buffer_take(&f.buffers, cases[i].room), before);
        }
        vd__buffer_unref(&f.buffers, after);
        tear_down(&f);
    }
}

static void compaction_leaves_the_other_holders_their_buffer(void)
{
    struct fixture f;
    set_up(&f);
    struct vd__buffer *outgoing = message(&f, 4096, 300);
    CU_ASSERT_PTR_NOT_NULL_FATAL(outgoing);
    struct vd__buffer *kept = vd__buffer_compact(&f.buffers, vd__buffer_ref(outgoing));
    CU_ASSERT_PTR_NOT_EQUAL(kept, outgoing);
    CU_ASSERT_EQUAL(outgoing->references, 1);
    CU_ASSERT_EQUAL(outgoing->length, 300);
    CU_ASSERT_EQUAL(memcmp(outgoing->data, kept->data, 300), 0);
    vd__buffer_unref(&f.buffers, outgoing);
    vd__buffer_unref(&f.buffers, kept);
    tear_down(&f);
}

static void compaction_without_memory_keeps_the_buffer(void)
{
    struct fixture f;
    set_up(&f);
    struct vd__buffer *buffer = message(&f, LARGEST, 300);
    CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
    counting_mem_fail_after(&f.counting, 0);
    CU_ASSERT_PTR_EQUAL(vd__buffer_compact(&f.buffers, buffer), buffer);
    CU_ASSERT_EQUAL(buffer->length, 300);
    CU_ASSERT_EQUAL(buffer->references, 1);
    CU_ASSERT_EQUAL(f.counting.failures, 1);
    vd__buffer_unref(&f.buffers, buffer);
    tear_down(&f);
}

static void rest_of_a_chunk_is_used_when_a_new_one_is_begun(void)
{
    struct fixture f;
    set_up(&f);
    CU_ASSERT_PTR_NOT_NULL(vd__buffer_take(&f.buffers, 64));
    CU_ASSERT_PTR_NOT_NULL(vd__buffer_take(&f.buffers, LARGEST)); /* takes a chunk of its own */
    CU_ASSERT_EQUAL(f.counting.allocations, 2);
    CU_ASSERT_PTR_NOT_NULL(vd__buffer_take(&f.buffers, 32768));
    CU_ASSERT_PTR_NOT_NULL(vd__buffer_take(&f.buffers, 16384));
    CU_ASSERT_PTR_NOT_NULL(vd__buffer_take(&f.buffers, 8192));
    CU_ASSERT_EQUAL(f.counting.allocations, 2);
    tear_down(&f);
}

static void failed_allocation_gives_no_buffer_and_harms_none(void)
{
    for (uint64_t fail = 0; fail < 10; fail++) {
        struct fixture f;
        struct vd__buffer *held[COUNT];
        size_t n = 0;
        bool good = true;
        set_up(&f);
        counting_mem_fail_after(&f.counting, fail);
        while (n < COUNT && (held[n] = vd__buffer_take(&f.buffers, 3000)) != NULL) {
            memset(held[n]->data, (char)(n % 127), held[n]->size);
            n++;
        }
        good &= n < COUNT && f.counting.failures == 1 && (n > 0) == (fail > 0);
        good &= vd__buffer_take(&f.buffers, 3000) == NULL;
        counting_mem_fail_after(&f.counting, COUNTING_MEM_NEVER);
        good &= vd__buffer_take(&f.buffers, 3000) != NULL;
        for (size_t i = 0; i < n; i++) {
            good &= holds_only(held[i], (char)(i % 127));
        }
        CU_ASSERT(good);
        tear_down(&f);
    }
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"buffer_has_room_for_every_size_and_wastes_little",
         buffer_has_room_for_every_size_and_wastes_little},
        {"message_too_large_for_any_class_gets_no_buffer",
         message_too_large_for_any_class_gets_no_buffer},
        {"buffers_share_no_bytes_and_warm_ones_come_without_allocation",
         buffers_share_no_bytes_and_warm_ones_come_without_allocation},
        {"buffer_comes_back_with_its_last_reference", buffer_comes_back_with_its_last_reference},
        {"compaction_moves_a_message_when_that_saves_a_class",
         compaction_moves_a_message_when_that_saves_a_class},
        {"compaction_leaves_the_other_holders_their_buffer",
         compaction_leaves_the_other_holders_their_buffer},
        {"compaction_without_memory_keeps_the_buffer", compaction_without_memory_keeps_the_buffer},
        {"rest_of_a_chunk_is_used_when_a_new_one_is_begun",
         rest_of_a_chunk_is_used_when_a_new_one_is_begun},
        {"failed_allocation_gives_no_buffer_and_harms_none",
         failed_allocation_gives_no_buffer_and_harms_none},
        CU_TEST_INFO_NULL,
    };
    return run_suite("buffer", tests);
}
