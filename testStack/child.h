/* child.h - runs another program on some of the CPUs and keeps what it prints.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_CHILD_H
#define TESTSTACK_CHILD_H

#include <viaduct/base.h>

enum {
    CHILD_ARGUMENTS = 48,
    CHILD_TEXT = 1024,
    CHILD_LINE = 200,
};

/* A command line. Two of them are the same when the first used bytes of their text are. */
struct child_command {
    const char *path;
    uint32_t cpus;         /* how many of those that this process may use; 0: all */
    char text[CHILD_TEXT]; /* the arguments one after the other, each with its NUL */
    size_t used;
    size_t count;
};

/* Begins a command; name is its first argument. path is borrowed. */
void child_command_init(struct child_command *command, const char *path, const char *name,
                        uint32_t cpus);

/* Adds an argument, formatted. What does not fit makes child_run fail. */
void child_command_add(struct child_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool child_command_equal(const struct child_command *a, const struct child_command *b);

struct child_result {
    int status;            /* of its exit, or 128 and the number of the signal that ended it */
    bool late;             /* it did not end in time and was stopped */
    bool interrupted;      /* child_interrupt was called before it ended */
    char *output;          /* all of stdout, with a NUL; freed by child_result_free */
    char line[CHILD_LINE]; /* the last line of stderr, without the name of the program */
    int64_t max_rss_kib;   /* resident memory at its most */
};

/* Runs the command to its end, limit long at most. Returns 0, or -1 after saying why it could not
 * be run. result must be freed in either case. */
int child_run(const struct child_command *command, vd_time limit, struct child_result *result);
void child_result_free(struct child_result *result);

/* Ends the child that runs, and each one that is still to be run. From a signal handler. */
void child_interrupt(void);
bool child_interrupted(void);

/* How many CPUs this process may use. */
uint32_t child_machine_cpus(void);

#endif
