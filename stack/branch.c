#include "branch.h"

#include <viaduct/error.h>
#include <viaduct/transaction.h>

/* Eight hex digits of a 32-bit value, all at once: a nibble in each byte of a word, then '0' or 'a' - 10
 * added to each. */
static void hex_write_word(char *out, uint32_t value)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t word = value;
    word = (word | word << 16) & 0x0000ffff0000ffffu;
    word = (word | word << 8) & 0x00ff00ff00ff00ffu;
    word = (word | word << 4) & 0x0f0f0f0f0f0f0f0fu;
    uint64_t letters = ((word + 6 * ones) >> 4) & ones; /* 1 in each byte that holds ten or more */
    word += '0' * ones + letters * ('a' - '0' - 10);
    for (unsigned i = 0; i < 8; i++) {
        out[i] = (char)(word >> (56 - 8 * i));
    }
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
    char worker[8];
    hex_write_word(worker, branch->worker);
    memcpy(out, worker + 6, 2);
    hex_write_word(out + 2, branch->index);
    hex_write_word(out + 10, branch->generation);
    vd__hex_write(out + 18, branch->secret);
}

/* The value of each hex digit plus one, 0 for what is none. Peers may change the case of a token (RFC 3261
 * 7.3.1). */
static const uint8_t hex_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static bool hex_read(const char *text, unsigned digits, uint64_t *out)
{
    uint64_t value = 0;
    bool good = true;
    for (unsigned i = 0; i < digits; i++) {
        unsigned digit = hex_values[(unsigned char)text[i]];
        good &= digit != 0;
        value = (value << 4) | ((digit - 1) & 15);
    }
    *out = value;
    return good;
}

bool vd__branch_read(struct vd_str text, struct vd__branch *out)
{
    if (text.n != VD__BRANCH_SIZE ||
        !vd_str_case_equal(vd_str(text.p, VD__BRANCH_COOKIE_SIZE), VD_STR(VD__BRANCH_COOKIE))) {
        return false;
    }
    const char *p = text.p + VD__BRANCH_COOKIE_SIZE;
    uint64_t worker;
    uint64_t index;
    uint64_t generation;
    if (!hex_read(p, 2, &worker) || !hex_read(p + 2, 8, &index) ||
        !hex_read(p + 10, 8, &generation) || !hex_read(p + 18, 16, &out->secret)) {
        return false;
    }
    out->worker = (uint8_t)worker;
    out->index = (uint32_t)index;
    out->generation = (uint32_t)generation;
    return true;
}

int vd_branch_worker(struct vd_str branch)
{
    struct vd__branch parts;
    return vd__branch_read(branch, &parts) ? parts.worker : VD_ERR_NOT_FOUND;
}
