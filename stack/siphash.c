/* siphash.c - SipHash-1-3, fed in pieces.
 *
 * SPDX-License-Identifier: MIT
 */
#include "siphash.h"

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
    return (x << bits) | (x >> (64 - bits));
}

static inline void round_once(struct vd__siphash *h)
{
    h->v0 += h->v1;
    h->v1 = rotate(h->v1, 13) ^ h->v0;
    h->v0 = rotate(h->v0, 32);
    h->v2 += h->v3;
    h->v3 = rotate(h->v3, 16) ^ h->v2;
    h->v0 += h->v3;
    h->v3 = rotate(h->v3, 21) ^ h->v0;
    h->v2 += h->v1;
    h->v1 = rotate(h->v1, 17) ^ h->v2;
    h->v2 = rotate(h->v2, 32);
}

static inline void compress(struct vd__siphash *h, uint64_t word)
{
    h->v3 ^= word;
    round_once(h);
    h->v0 ^= word;
}

static inline uint64_t finish_rounds(struct vd__siphash *h)
{
    round_once(h);
    round_once(h);
    round_once(h);
    return h->v0 ^ h->v1 ^ h->v2 ^ h->v3;
}

/* Eight bytes, lowest first. */
static inline uint64_t load_word(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Four bytes, lowest first. */
static inline uint64_t load_half(const char *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

/* Lower case of eight ASCII bytes at once: bit 5 is set in each byte that lies in 'A'..'Z'. The
 * sums cannot carry from byte to byte since the top bits are masked off. */
static inline uint64_t lower_word(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t low = word & (ones * 0x7f);
    uint64_t from_a = low + ones * (0x80 - 'A');
    uint64_t past_z = low + ones * (0x80 - 'Z' - 1);
    uint64_t upper = from_a & ~past_z & ~word & (ones * 0x80);
    return word | (upper >> 2);
}

void vd__siphash_init(struct vd__siphash *hash, const struct vd__key *key)
{
    hash->v0 = key->k0 ^ UINT64_C(0x736f6d6570736575);
    hash->v1 =
        key->k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee; /* 0xee: the variant with 128 bits out */
    hash->v2 = key->k0 ^ UINT64_C(0x6c7967656e657261);
    hash->v3 = key->k1 ^ UINT64_C(0x7465646279746573);
    hash->tail = 0;
    hash->total = 0;
}

/* Bytes that do not fill a word, 1 to 7 of them, lowest first: in loads that overlap. */
static inline uint64_t load_part(const char *p, size_t n)
{
    if (n >= 4) {
        return load_half(p) | load_half(p + n - 4) << (8 * (n - 4));
    }
    uint64_t word = (unsigned char)p[0] | (uint64_t)(unsigned char)p[n - 1] << (8 * (n - 1));
    return word | (uint64_t)(unsigned char)p[n / 2] << (8 * (n / 2));
}

static inline void update(struct vd__siphash *hash, const char *bytes, size_t size, bool lower)
{
    struct vd__siphash h = *hash;
    unsigned have = (unsigned)(h.total & 7) * 8;
    h.total += size;
    for (; size >= 8; size -= 8, bytes += 8) {
        uint64_t word = load_word(bytes);
        word = lower ? lower_word(word) : word;
        compress(&h, h.tail | word << have);
        h.tail = have != 0 ? word >> (64 - have) : 0;
    }
    if (size > 0) {
        uint64_t word = load_part(bytes, size);
        word = lower ? lower_word(word) : word;
        h.tail |= word << have;
        if (have + 8 * size >= 64) {
            compress(&h, h.tail);
            h.tail = have != 0 ? word >> (64 - have) : 0;
        }
    }
    *hash = h;
}

void vd__siphash_update(struct vd__siphash *hash, const char *bytes, size_t size)
{
    update(hash, bytes, size, false);
}

void vd__siphash_update_lower(struct vd__siphash *hash, const char *bytes, size_t size)
{
    update(hash, bytes, size, true);
}

void vd__siphash_final(struct vd__siphash *hash, uint64_t out[2])
{
    struct vd__siphash h = *hash;
    compress(&h, h.tail | (h.total << 56));
    h.v2 ^= 0xee;
    out[0] = finish_rounds(&h);
    h.v1 ^= 0xdd;
    out[1] = finish_rounds(&h);
}

uint64_t vd__siphash_words(const struct vd__key *key, uint64_t a, uint64_t b)
{
    struct vd__siphash h;
    vd__siphash_init(&h, key);
    compress(&h, a);
    compress(&h, b);
    compress(&h, UINT64_C(16) << 56);
    h.v2 ^= 0xee;
    return finish_rounds(&h);
}
