/* latency.h - a log-linear histogram of latencies in microseconds.
 *
 * Values below 256 are counted exactly. Above, each power of two is cut into 128 equal buckets, so
 * a percentile is too high by less than 1/128 (0.8 %); it is never too low. The largest value is
 * exact. Adding one takes constant time and no memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_LATENCY_H
#define TESTSTACK_LATENCY_H

#include <stddef.h>
#include <stdint.h>

enum {
    LATENCY_EXACT = 256,
    LATENCY_PARTS = LATENCY_EXACT / 2,
    LATENCY_BUCKETS = LATENCY_EXACT + (64 - 8) * LATENCY_PARTS,
};

struct latency {
    uint64_t count;
    uint64_t max;
    uint64_t buckets[LATENCY_BUCKETS];
};

/* Forgets what was added. A struct of zeros is empty as well. */
void latency_reset(struct latency *latency);

void latency_add(struct latency *latency, uint64_t value);

/* Adds what another histogram has counted. */
void latency_merge(struct latency *latency, const struct latency *other);

/* The value that at least part/whole of all values are not above: latency_percentile(l, 999, 1000)
 * is the 99.9th percentile. part is at least 1 and at most whole. 0 when nothing was added. */
uint64_t latency_percentile(const struct latency *latency, uint32_t part, uint32_t whole);

/* The bucket that counts a value, and the largest value that a bucket counts. */
size_t latency_bucket(uint64_t value);
uint64_t latency_bucket_top(size_t bucket);

#endif
