/* viaduct/base.h - what every other header stands on: views, time, visibility.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_BASE_H
#define VIADUCT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define VD_API __attribute__((visibility("default")))
#else
#define VD_API
#endif

#define VD_VERSION_MAJOR 0
#define VD_VERSION_MINOR 1
#define VD_VERSION_PATCH 0
#define VD_VERSION       "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that runs, as "MAJOR.MINOR.PATCH"; compare with VD_VERSION, the
 * version of the headers. The string is static. */
VD_API const char *vd_version(void);

/* Time.
 *
 * A vd_time is a number of microseconds on a monotonic clock whose zero is the caller's choice.
 * The stack never reads a clock: each call that needs the time takes it as an argument. Time must
 * not run backwards between two calls on one stack: a value below the latest one, or above
 * VD_TIME_NEVER / 2, counts as the latest one. Wall-clock time is never used, so a step of the
 * system clock disturbs no timer. */
typedef uint64_t vd_time;

/* No deadline: later than every time. */
#define VD_TIME_NEVER UINT64_MAX

/* Microseconds in a millisecond and in a second. */
#define VD_MSEC ((vd_time)1000)
#define VD_SEC  ((vd_time)1000000)

/* A view: n bytes at p, owned by somebody else and not ended by a NUL. It is passed by value and is
 * valid only as long as the bytes under it; in a callback, that is until the callback returns. A
 * view of nothing has n == 0; p may then be anything, also NULL. */
struct vd_str {
    const char *p;
    size_t n;
};

/* A view of a string literal: VD_STR("OPTIONS"). */
#define VD_STR(literal) ((struct vd_str){"" literal, sizeof(literal) - 1})

/* A view of n bytes at p. */
static inline struct vd_str vd_str(const char *p, size_t n)
{
    return (struct vd_str){p, n};
}

/* A view of a string that ends with NUL; NULL gives an empty view. */
static inline struct vd_str vd_str_from(const char *s)
{
    return (struct vd_str){s, s != NULL ? strlen(s) : 0};
}

/* True when both views hold the same bytes. */
static inline bool vd_str_equal(struct vd_str a, struct vd_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* True when both views hold the same bytes but for the case of ASCII letters: the way in which
 * tokens, header field names and hosts are compared (RFC 3261 7.3.1). */
VD_API bool vd_str_case_equal(struct vd_str a, struct vd_str b);

#ifdef __cplusplus
}
#endif

#endif
