/* parse.c - the values of options: numbers, times, probabilities.
 *
 * SPDX-License-Identifier: MIT
 */
#include "parse.h"

#include "fail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int parse_count(uint64_t *value, const char *name, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || parsed < least ||
        parsed > most) {
        return fail("%s: '%s' is not a number from %llu to %llu", name, text,
                    (unsigned long long)least, (unsigned long long)most);
    }
    *value = parsed;
    return 0;
}

int parse_count32(uint32_t *value, const char *name, const char *text, uint32_t least,
                  uint32_t most)
{
    uint64_t wide = 0;
    if (parse_count(&wide, name, text, least, most) < 0) {
        return -1;
    }
    *value = (uint32_t)wide;
    return 0;
}

/* Digits with at most one point among them, and nothing else. */
static bool parse_decimal(double *value, const char *text)
{
    char *end;
    *value = strtod(text, &end);
    return text[strspn(text, "0123456789.")] == '\0' && end != text && *end == '\0';
}

int parse_seconds(vd_time *time, const char *name, const char *text, double least)
{
    static const double DAY = 86400;
    double seconds;
    if (!parse_decimal(&seconds, text) || seconds < least || seconds > DAY) {
        return fail("%s: '%s' is not a time from %g to %g seconds", name, text, least, DAY);
    }
    *time = (vd_time)(seconds * (double)VD_SEC);
    return 0;
}

int parse_probability(double *value, const char *name, const char *text)
{
    double parsed;
    if (!parse_decimal(&parsed, text) || parsed > 1) {
        return fail("%s: '%s' is not a number from 0 to 1", name, text);
    }
    *value = parsed;
    return 0;
}
