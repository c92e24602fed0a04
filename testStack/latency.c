/* latency.c - a log-linear histogram of latencies in microseconds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "latency.h"

#include <string.h>

void latency_reset(struct latency *latency)
{
    memset(latency, 0, sizeof *latency);
}

/* A value past LATENCY_EXACT is shifted until it has eight bits; the bits lost choose nothing. */
size_t latency_bucket(uint64_t value)
{
    if (value < LATENCY_EXACT) {
        return (size_t)value;
    }
    unsigned shift = 56 - (unsigned)__builtin_clzll(value);
    return LATENCY_EXACT + (size_t)(shift - 1) * LATENCY_PARTS +
           (size_t)((value >> shift) - LATENCY_PARTS);
}

uint64_t latency_bucket_top(size_t bucket)
{
    if (bucket < LATENCY_EXACT) {
        return bucket;
    }
    size_t shift = (bucket - LATENCY_EXACT) / LATENCY_PARTS + 1;
    uint64_t part = (bucket - LATENCY_EXACT) % LATENCY_PARTS + LATENCY_PARTS;
    return (part << shift) + (((uint64_t)1 << shift) - 1);
}

void latency_add(struct latency *latency, uint64_t value)
{
    latency->count++;
    latency->buckets[latency_bucket(value)]++;
    if (value > latency->max) {
        latency->max = value;
    }
}

void latency_merge(struct latency *latency, const struct latency *other)
{
    latency->count += other->count;
    latency->max = other->max > latency->max ? other->max : latency->max;
    for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
        latency->buckets[i] += other->buckets[i];
    }
}

uint64_t latency_percentile(const struct latency *latency, uint32_t part, uint32_t whole)
{
    /* count * part may not fit, so the quotient and the remainder are scaled apart. */
    uint64_t rest = latency->count % whole * part;
    uint64_t rank = latency->count / whole * part + (rest + whole - 1) / whole;
    uint64_t seen = 0;
    for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
        seen += latency->buckets[i];
        if (seen >= rank && seen > 0) {
            uint64_t top = latency_bucket_top(i);
            return top < latency->max ? top : latency->max;
        }
    }
    return 0;
}
