/* micro.h - what the files of bench/micro share.
 *
 * What is timed is a work. Works that share a context are a group; each micro_*.c with something to
 * time defines its groups. micro_rounds.c takes a sample of every work in each round, so that
 * whatever disturbs the machine disturbs all of them.
 *
 * Functions that return int return 0, or -1 after they have said why on stderr.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_MICRO_H
#define BENCH_MICRO_H

#include <viaduct/base.h>

#include <stdio.h>

/* ---- The messages (micro_messages.c) ---- */

enum micro_message {
    MICRO_INVITE, /* 14 header lines and SDP */
    MICRO_REGISTER,
    MICRO_OK, /* 200 to the REGISTER */
    MICRO_MESSAGES,
};

struct vd_str micro_message(enum micro_message message);

/* ---- Works ---- */

struct micro_work {
    const char *key;   /* in the JSON report */
    const char *title; /* in the table */
    /* Does it count times; returns how often the outcome was right. message is the next member. */
    uint64_t (*run)(void *context, enum micro_message message, uint64_t count);
    enum micro_message
        message; /* what is handled, and whose parse by Sofia-SIP it is compared with */
};

struct micro_group {
    const struct micro_work *works;
    size_t work_count;
    int (*start)(void **context); /* NULL when there is no context */
    void (*end)(void *context); /* also after start failed halfway; NULL when there is no context */
};

extern const struct micro_group micro_parse_group;
extern const struct micro_group micro_match_client_group;
extern const struct micro_group micro_match_server_group;
extern const struct micro_group micro_build_group;
extern const struct micro_group micro_lanes_empty_group;
extern const struct micro_group micro_lanes_full_group;
extern const struct micro_group micro_wheel_empty_group;
extern const struct micro_group micro_wheel_full_group;

/* Only when the library is there (VIADUCT_HAVE_SOFIA). It has a work for each message, in their
 * order. */
extern const struct micro_group micro_sofia_group;

/* ---- The rounds (micro_rounds.c) ---- */

struct micro_result {
    const struct micro_work *work;
    double nanoseconds; /* the median of the rounds, for one time */
    double sofia;       /* the same of Sofia-SIP's parse of work->message; 0 without Sofia-SIP */
    double ratio; /* the median of the rounds' own ratios, Sofia-SIP's parse to this; 0 without */
};

struct micro_results {
    struct micro_result *results;
    size_t count;
};

/* Runs all works of groups, which do not include micro_sofia_group; sofia may be NULL. The caller
 * frees results->results. */
int micro_rounds_run(const struct micro_group *const *groups, size_t group_count,
                     const struct micro_group *sofia, unsigned rounds,
                     struct micro_results *results);

/* ---- The report (micro_report.c) ---- */

void micro_report_json(FILE *file, const struct micro_results *results, unsigned rounds);
void micro_report_table(const struct micro_results *results);

/* Prints "micro: ", the text and a line end on stderr. Always returns -1. */
int micro_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
