/* test_siphash.c - the keyed hash.
 *
 * Covered: SipHash-1-3 with 128 bits out against a plain byte-wise model, for every length up to 80
 * and every way to feed it in two or in single pieces; lower case; two words. The model takes the
 * numbers of rounds, and is itself checked against published results of SipHash-2-4.
 * Not covered: that the hash is hard to predict.
 *
 * SPDX-License-Identifier: MIT
 */
#include "siphash.h"

#include "run_suite.h"
#include "test_random.h"

#include <stdio.h>

#define LONGEST 80

/* ---- The model ---- */

struct model {
    uint64_t v[4];
    int rounds;
    int final_rounds;
};

static uint64_t turn_left(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void model_rounds(struct model *m, int count)
{
    uint64_t *v = m->v;
    for (int i = 0; i < count; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = turn_left(v[1], 13);
        v[3] = turn_left(v[3], 16);
        v[1] ^= v[0];
        v[3] ^= v[2];
        v[0] = turn_left(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = turn_left(v[1], 17);
        v[3] = turn_left(v[3], 21);
        v[1] ^= v[2];
        v[3] ^= v[0];
        v[2] = turn_left(v[2], 32);
    }
}

static uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word = 0;
    for (int i = 7; i >= 0; i--) {
        word = word << 8 | bytes[i];
    }
    return word;
}

/* Absorbs the padded message: its bytes, zeros, and its length in the last byte of the last word.
 */
static void model_absorb(struct model *m, const unsigned char *bytes, size_t size)
{
    unsigned char padded[LONGEST + 8] = {0};
    memcpy(padded, bytes, size);
    size_t words = size / 8 + 1;
    padded[words * 8 - 1] = (unsigned char)size;
    for (size_t i = 0; i < words; i++) {
        uint64_t word = word_at(padded + 8 * i);
        m->v[3] ^= word;
        model_rounds(m, m->rounds);
        m->v[0] ^= word;
    }
}

static void model_start(struct model *m, const struct vd__key *key)
{
    m->v[0] = key->k0 ^ word_at((const unsigned char *)"uespemos");
    m->v[1] = key->k1 ^ word_at((const unsigned char *)"modnarod");
    m->v[2] = key->k0 ^ word_at((const unsigned char *)"arenegyl");
    m->v[3] = key->k1 ^ word_at((const unsigned char *)"setybdet");
}

static uint64_t model_result(struct model *m)
{
    model_rounds(m, m->final_rounds);
    return m->v[0] ^ m->v[1] ^ m->v[2] ^ m->v[3];
}

static uint64_t model_64(int rounds, int final_rounds, const struct vd__key *key,
                         const unsigned char *bytes, size_t size)
{
    struct model m = {.rounds = rounds, .final_rounds = final_rounds};
    model_start(&m, key);
    model_absorb(&m, bytes, size);
    m.v[2] ^= 0xff;
    return model_result(&m);
}

static void model_128(int rounds, int final_rounds, const struct vd__key *key,
                      const unsigned char *bytes, size_t size, uint64_t out[2])
{
    struct model m = {.rounds = rounds, .final_rounds = final_rounds};
    model_start(&m, key);
    m.v[1] ^= 0xee;
    model_absorb(&m, bytes, size);
    m.v[2] ^= 0xee;
    out[0] = model_result(&m);
    m.v[1] ^= 0xdd;
    out[1] = model_result(&m);
}

/* ---- Tests ---- */

/* The key and the bytes of the published results: 0, 1, 2 ... */
static struct vd__key counting_key(void)
{
    return (struct vd__key){UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
}

static void model_gives_the_published_results(void)
{
    struct vd__key key = counting_key();
    unsigned char bytes[15];
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)i;
    }
    CU_ASSERT_EQUAL(model_64(2, 4, &key, bytes, 15), UINT64_C(0xa129ca6149be45e5));

    uint64_t out[2];
    model_128(2, 4, &key, bytes, 0, out);
    CU_ASSERT_EQUAL(out[0], word_at((const unsigned char *)"\xa3\x81\x7f\x04\xba\x25\xa8\xe6"));
    CU_ASSERT_EQUAL(out[1], word_at((const unsigned char *)"\x6d\xf6\x72\x14\xc7\x55\x02\x93"));
}

static void fill(struct test_random *random, unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (unsigned char)test_random_next(random);
    }
}

static bool same(const uint64_t a[2], const uint64_t b[2])
{
    return a[0] == b[0] && a[1] == b[1];
}

static void hash_equals_the_model_for_every_length(void)
{
    struct test_random random = {1};
    unsigned char bytes[LONGEST];
    for (size_t size = 0; size <= LONGEST; size++) {
        struct vd__key key = {test_random_next(&random), test_random_next(&random)};
        fill(&random, bytes, size);
        uint64_t expected[2];
        uint64_t actual[2];
        struct vd__siphash hash;
        model_128(1, 3, &key, bytes, size, expected);
        vd__siphash_init(&hash, &key);
        vd__siphash_update(&hash, (const char *)bytes, size);
        vd__siphash_final(&hash, actual);
        CU_ASSERT(same(actual, expected));
    }
}

static void feeding_in_two_pieces_equals_feeding_whole(void)
{
    struct vd__key key = counting_key();
    struct test_random random = {2};
    unsigned char bytes[40];
    fill(&random, bytes, sizeof bytes);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        uint64_t expected[2];
        model_128(1, 3, &key, bytes, size, expected);
        for (size_t cut = 0; cut <= size; cut++) {
            struct vd__siphash hash;
            uint64_t actual[2];
            vd__siphash_init(&hash, &key);
            vd__siphash_update(&hash, (const char *)bytes, cut);
            vd__siphash_update(&hash, (const char *)bytes + cut, size - cut);
            vd__siphash_final(&hash, actual);
            CU_ASSERT(same(actual, expected));
        }
    }
}

static void feeding_in_random_pieces_equals_feeding_whole(void)
{
    struct vd__key key = counting_key();
    struct test_random random = {3};
    unsigned char bytes[LONGEST];
    for (int run = 0; run < 1000; run++) {
        fill(&random, bytes, sizeof bytes);
        uint64_t expected[2];
        uint64_t actual[2];
        struct vd__siphash hash;
        model_128(1, 3, &key, bytes, sizeof bytes, expected);
        vd__siphash_init(&hash, &key);
        for (size_t done = 0, piece; done < sizeof bytes; done += piece) {
            piece = (size_t)test_random_below(&random, 20);
            piece = piece < sizeof bytes - done ? piece : sizeof bytes - done;
            vd__siphash_update(&hash, (const char *)bytes + done, piece);
        }
        vd__siphash_final(&hash, actual);
        CU_ASSERT(same(actual, expected));
    }
}

static void lower_case_applies_to_ascii_letters_and_to_nothing_else(void)
{
    struct vd__key key = counting_key();
    /* Each byte value at each place in a word, and in the bytes after the last whole word. */
    for (unsigned value = 0; value < 256; value++) {
        for (size_t place = 0; place < 12; place++) {
            unsigned char given[12];
            unsigned char lowered[12];
            memset(given, 0xff, sizeof given);
            given[place] = (unsigned char)value;
            memcpy(lowered, given, sizeof given);
            if (value >= 'A' && value <= 'Z') {
                lowered[place] = (unsigned char)(value - 'A' + 'a');
            }
            uint64_t expected[2];
            uint64_t actual[2];
            struct vd__siphash hash;
            model_128(1, 3, &key, lowered, sizeof lowered, expected);
            vd__siphash_init(&hash, &key);
            vd__siphash_update_lower(&hash, (const char *)given, sizeof given);
            vd__siphash_final(&hash, actual);
            CU_ASSERT(same(actual, expected));
        }
    }
}

static void lower_case_works_on_all_bytes_of_a_word_at_once(void)
{
    struct vd__key key = counting_key();
    struct test_random random = {4};
    for (int run = 0; run < 1000; run++) {
        unsigned char given[35];
        unsigned char lowered[sizeof given];
        fill(&random, given, sizeof given);
        for (size_t i = 0; i < sizeof given; i++) {
            bool upper = given[i] >= 'A' && given[i] <= 'Z';
            lowered[i] = upper ? (unsigned char)(given[i] + 32) : given[i];
        }
        size_t cut = (size_t)test_random_below(&random, sizeof given);
        uint64_t expected[2];
        uint64_t actual[2];
        struct vd__siphash hash;
        model_128(1, 3, &key, lowered, sizeof lowered, expected);
        vd__siphash_init(&hash, &key);
        vd__siphash_update_lower(&hash, (const char *)given, cut);
        vd__siphash_update_lower(&hash, (const char *)given + cut, sizeof given - cut);
        vd__siphash_final(&hash, actual);
        CU_ASSERT(same(actual, expected));
    }
}

static void two_words_hash_as_their_sixteen_bytes(void)
{
    struct test_random random = {5};
    for (int run = 0; run < 100; run++) {
        struct vd__key key = {test_random_next(&random), test_random_next(&random)};
        unsigned char bytes[16];
        fill(&random, bytes, sizeof bytes);
        uint64_t expected[2];
        model_128(1, 3, &key, bytes, sizeof bytes, expected);
        CU_ASSERT_EQUAL(vd__siphash_words(&key, word_at(bytes), word_at(bytes + 8)), expected[0]);
    }
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"model_gives_the_published_results", model_gives_the_published_results},
        {"hash_equals_the_model_for_every_length", hash_equals_the_model_for_every_length},
        {"feeding_in_two_pieces_equals_feeding_whole", feeding_in_two_pieces_equals_feeding_whole},
        {"feeding_in_random_pieces_equals_feeding_whole",
         feeding_in_random_pieces_equals_feeding_whole},
        {"lower_case_applies_to_ascii_letters_and_to_nothing_else",
         lower_case_applies_to_ascii_letters_and_to_nothing_else},
        {"lower_case_works_on_all_bytes_of_a_word_at_once",
         lower_case_works_on_all_bytes_of_a_word_at_once},
        {"two_words_hash_as_their_sixteen_bytes", two_words_hash_as_their_sixteen_bytes},
        CU_TEST_INFO_NULL,
    };
    return run_suite("siphash", tests);
}
