/* branch.c - the branch parameters that this stack writes, and reads in responses.
 *
 * SPDX-License-Identifier: MIT
 */
#include "branch.h"

#include <viaduct/error.h>
#include <viaduct/transaction.h>

#include "lex.h"

static const uint64_t ones = UINT64_C(0x0101010101010101);

/* The bytes of a word in the order in which text has them. */
static inline uint64_t text_order(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

/* The hex digits, in lower case, of eight values below 16, one in each byte. */
static inline uint64_t digits_of(uint64_t nibbles)
{
    uint64_t letters = ((nibbles + 6 * ones) >> 4) & ones; /* 1 in each byte of ten or more */
    return nibbles + '0' * ones + letters * ('a' - '0' - 10);
}

/* Eight hex digits of a 32-bit value, all at once: a nibble in each byte of a word. */
static inline void hex_write_word(char *out, uint32_t value)
{
    uint64_t word = value;
    word = (word | word << 16) & UINT64_C(0x0000ffff0000ffff);
    word = (word | word << 8) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word | word << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    word = text_order(digits_of(word));
    memcpy(out, &word, sizeof word);
}

/* Two hex digits. */
static inline void hex_write_byte(char *out, uint8_t value)
{
    out[0] = "0123456789abcdef"[value >> 4];
    out[1] = "0123456789abcdef"[value & 15];
}

void vd__hex_write(char *out, uint64_t value)
{
    hex_write_word(out, (uint32_t)(value >> 32));
    hex_write_word(out + 8, (uint32_t)value);
}

void vd__branch_write(char *out, const struct vd__branch *branch)
{
    memcpy(out, VD__BRANCH_COOKIE, VD__BRANCH_COOKIE_SIZE);
    out += VD__BRANCH_COOKIE_SIZE;
    hex_write_byte(out, branch->worker);
    hex_write_word(out + 2, branch->index);
    hex_write_word(out + 10, branch->generation);
    vd__hex_write(out + 18, branch->secret);
}

/* Reads eight hex digits, all at once. Peers may change the case of a token (RFC 3261 7.3.1). */
static inline bool hex_read_word(const char *text, uint32_t *out)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    word = text_order(word);
    /* Bit 6 tells letters, of which 'a' is 10. Whatever else comes here gives a value past 15, or
     * one whose digit is another character. */
    uint64_t letters = (word >> 6) & ones;
    uint64_t nibbles = (word & (15 * ones)) + 9 * letters;
    bool good = (nibbles & (240 * ones)) == 0 && digits_of(nibbles) == (word | letters << 5);
    nibbles = (nibbles | nibbles >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    nibbles = (nibbles | nibbles >> 8) & UINT64_C(0x0000ffff0000ffff);
    *out = (uint32_t)(nibbles | nibbles >> 16);
    return good;
}

bool vd__branch_read(struct vd_str text, struct vd__branch *out)
{
    if (text.n != VD__BRANCH_SIZE ||
        !vd__is_word(text.p, VD__BRANCH_COOKIE, VD__BRANCH_COOKIE_SIZE)) {
        return false;
    }
    const char *p = text.p + VD__BRANCH_COOKIE_SIZE;
    uint32_t front; /* the worker and six digits of the index */
    uint32_t high;
    uint32_t low;
    if (!hex_read_word(p, &front) || !hex_read_word(p + 2, &out->index) ||
        !hex_read_word(p + 10, &out->generation) || !hex_read_word(p + 18, &high) ||
        !hex_read_word(p + 26, &low)) {
        return false;
    }
    out->worker = (uint8_t)(front >> 24);
    out->secret = (uint64_t)high << 32 | low;
    return true;
}

int vd_branch_worker(struct vd_str branch)
{
    struct vd__branch parts;
    return vd__branch_read(branch, &parts) ? parts.worker : VD_ERR_NOT_FOUND;
}
