#include "branch.h"

#include <viaduct/error.h>
#include <viaduct/transaction.h>

void vd__hex_write(char *out, uint64_t value, unsigned digits)
{
    static const char hex[16] = "0123456789abcdef";
    while (digits-- > 0) {
        *out++ = hex[(value >> (4 * digits)) & 15];
    }
}

void vd__branch_write(char *out, const struct vd__branch *branch)
{
    memcpy(out, VD__BRANCH_COOKIE, VD__BRANCH_COOKIE_SIZE);
    out += VD__BRANCH_COOKIE_SIZE;
    vd__hex_write(out, branch->worker, 2);
    vd__hex_write(out + 2, branch->index, 8);
    vd__hex_write(out + 10, branch->generation, 8);
    vd__hex_write(out + 18, branch->secret, 16);
}

/* -1 for a byte that is no hex digit. Peers may change the case of a token (RFC 3261 7.3.1). */
static int hex_value(unsigned char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hex_read(const char *text, unsigned digits, uint64_t *out)
{
    uint64_t value = 0;
    int bad = 0;
    for (unsigned i = 0; i < digits; i++) {
        int digit = hex_value((unsigned char)text[i]);
        bad |= digit;
        value = (value << 4) | ((unsigned)digit & 15);
    }
    *out = value;
    return bad >= 0;
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
