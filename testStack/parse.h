/* parse.h - the values of options: numbers, times, probabilities.
 *
 * Each function returns 0, or -1 after saying what is wrong with text. name is the option as it was
 * spelled.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_PARSE_H
#define TESTSTACK_PARSE_H

#include <viaduct/base.h>

int parse_count(uint64_t *value, const char *name, const char *text, uint64_t least, uint64_t most);
int parse_count32(uint32_t *value, const char *name, const char *text, uint32_t least,
                  uint32_t most);

/* A number of seconds, at most a day. */
int parse_seconds(vd_time *time, const char *name, const char *text, double least);

/* A number from 0 to 1. */
int parse_probability(double *value, const char *name, const char *text);

#endif
