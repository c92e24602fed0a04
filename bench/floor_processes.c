/* floor_processes.c - the floor's two sides in processes of their own.
 *
 * Process n of the sender's side sends to process n of the receiver's. Each is forked before
 * anything is open. It writes a byte to a pipe when its ports are open, a sender its result as
 * well; senders begin when the last byte has come and the parent closes the pipe that they read.
 * Receivers run until they are killed.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "floor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PROCESSES = 64, WAIT_MS = 250 };

/* Standard streams, the JSON file, epoll and event descriptors, pipes. */
static const rlim_t OTHERS = 16;

struct process {
    pid_t pid;
    int fd; /* what it writes */
    bool sends;
};

struct processes {
    const struct floor_options *options;
    const volatile sig_atomic_t *interrupted;
    struct process all[2 * MOST_PROCESSES]; /* the receivers, then the senders */
    uint32_t count;
    int begin[2]; /* the pipe whose end lets senders begin */
    struct floor_result *result;
};

/* ---- How many ---- */

static rlim_t raise_limit(rlim_t needed)
{
    struct rlimit limit = {0};
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= needed) {
        return limit.rlim_cur;
    }
    /* Past the hard limit only a privileged process gets. */
    rlim_t hard = limit.rlim_max > needed ? limit.rlim_max : needed;
    struct rlimit raised = {.rlim_cur = needed, .rlim_max = hard};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
        return needed;
    }
    raised = (struct rlimit){.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? limit.rlim_max : limit.rlim_cur;
}

int floor_processes_plan(struct floor_options *options)
{
    rlim_t of_receiver = options->tcp ? 2 : 1;
    rlim_t together = of_receiver + (options->threads == FLOOR_PROCESS ? 0 : 1);
    rlim_t needed = options->ports * together + OTHERS;
    rlim_t allowed = raise_limit(needed);
    if (allowed >= needed) {
        return 0;
    }
    rlim_t ports = allowed > OTHERS ? (allowed - OTHERS) / of_receiver : 0;
    rlim_t processes = ports > 0 ? (options->ports + ports - 1) / ports : MOST_PROCESSES + 1;
    if (processes > MOST_PROCESSES) {
        return floor_fail("%u ports a side need %" PRIuMAX " descriptors, %" PRIuMAX " are allowed",
                          options->ports, (uintmax_t)needed, (uintmax_t)allowed);
    }
    floor_fail("%u ports a side need %" PRIuMAX " descriptors, %" PRIuMAX
               " are allowed in a process: taking %" PRIuMAX " process%s a side",
               options->ports, (uintmax_t)needed, (uintmax_t)allowed, (uintmax_t)processes,
               processes > 1 ? "es" : "");
    options->threads = FLOOR_PROCESS;
    options->processes = (uint32_t)processes;
    if (options->window < processes) {
        options->window = (uint32_t)processes;
    }
    return 0;
}

static uint64_t share_of(uint64_t whole, uint32_t index, uint32_t processes)
{
    return whole / processes * index + whole % processes * index / processes;
}

static struct floor_options share(const struct floor_options *options, uint32_t index)
{
    struct floor_options part = *options;
    uint32_t count = options->processes;
    uint32_t first = (uint32_t)share_of(options->ports, index, count);
    part.ports = (uint32_t)share_of(options->ports, index + 1, count) - first;
    part.sender_port += first;
    part.receiver_port += first;
    part.runs = share_of(options->runs, index + 1, count) - share_of(options->runs, index, count);
    part.window = (uint32_t)(share_of(options->window, index + 1, count) -
                             share_of(options->window, index, count));
    return part;
}

/* ---- The child ---- */

static int write_all(int fd, const void *data, size_t size)
{
    const char *bytes = data;
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno != EINTR) {
            return -1;
        }
        bytes += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/* -1 when it ends before all has come. */
static int read_all(int fd, void *data, size_t size)
{
    char *bytes = data;
    while (size > 0) {
        ssize_t got = read(fd, bytes, size);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return -1;
        }
        bytes += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static int be_receiver(const struct floor_options *options, int fd)
{
    struct floor_loop *loop = floor_loop_new(options);
    if (loop == NULL || floor_receiver_new(options, loop) == NULL || write_all(fd, "o", 1) < 0) {
        return -1;
    }
    floor_receiver_run(loop);
    return -1; /* it runs until it is killed */
}

static int be_sender(const struct processes *processes, const struct floor_options *options,
                     pid_t receiver, int fd)
{
    struct floor_result result;
    char byte;
    struct floor_loop *loop = floor_loop_new(options);
    struct floor_sender *sender = loop != NULL ? floor_sender_new(options, loop, receiver) : NULL;
    if (sender == NULL || write_all(fd, "o", 1) < 0) {
        return -1;
    }
    (void)read_all(processes->begin[0], &byte, 1);
    if (floor_sender_run(sender, processes->interrupted) < 0) {
        return -1;
    }
    floor_sender_result(sender, &result);
    return write_all(fd, &result, sizeof result);
}

/* A terminal sends SIGINT to all; the parent sends SIGTERM on. What the child has open ends with
 * it.
 */
static _Noreturn void be_child(const struct processes *processes, bool sends, uint32_t index,
                               int fd)
{
    struct floor_options part = share(processes->options, index);
    signal(SIGINT, SIG_IGN);
    if (!sends) {
        signal(SIGTERM, SIG_DFL);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(processes->begin[1]);
    int error =
        sends ? be_sender(processes, &part, processes->all[index].pid, fd) : be_receiver(&part, fd);
    _exit(error == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ---- The parent ---- */

static int start(struct processes *processes, bool sends, uint32_t index)
{
    int ends[2];
    char byte;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return floor_fail("cannot make a pipe: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_child(processes, sends, index, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return floor_fail("cannot start a process: %s", strerror(errno));
    }
    processes->all[processes->count++] = (struct process){pid, ends[0], sends};
    return read_all(ends[0], &byte, 1);
}

static int start_all(struct processes *processes)
{
    for (uint32_t i = 0; i < 2 * processes->options->processes; i++) {
        bool sends = i >= processes->options->processes;
        if (start(processes, sends, sends ? i - processes->options->processes : i) < 0) {
            return -1;
        }
    }
    return 0;
}

static void add(struct floor_result *sum, const struct floor_result *part)
{
    bool is_first = sum->ended == 0;
    sum->complete = part->complete && (is_first || sum->complete);
    sum->exchanges += part->exchanges;
    sum->pairs += part->pairs;
    sum->resends += part->resends;
    sum->began = is_first || part->began < sum->began ? part->began : sum->began;
    sum->ended = part->ended > sum->ended ? part->ended : sum->ended;
    sum->cpu += part->cpu;
}

/* Returns whether the process has given its result, or -1. A receiver never does. */
static int take_result(struct processes *processes, struct process *process)
{
    struct floor_result part;
    if (read_all(process->fd, &part, sizeof part) < 0) {
        return -1;
    }
    add(processes->result, &part);
    close(process->fd);
    process->fd = -1;
    return 1;
}

static int take_results(struct processes *processes)
{
    struct pollfd polled[2 * MOST_PROCESSES];
    uint32_t left = processes->options->processes;
    bool told = false;
    while (left > 0) {
        if (*processes->interrupted != 0 && !told) {
            told = true;
            for (uint32_t i = processes->options->processes; i < processes->count; i++) {
                kill(processes->all[i].pid, SIGTERM);
            }
        }
        for (uint32_t i = 0; i < processes->count; i++) {
            polled[i] = (struct pollfd){.fd = processes->all[i].fd, .events = POLLIN};
        }
        (void)poll(polled, processes->count, WAIT_MS);
        for (uint32_t i = 0; i < processes->count; i++) {
            int taken = polled[i].revents != 0 ? take_result(processes, &processes->all[i]) : 0;
            if (taken < 0) {
                return -1;
            }
            left -= (uint32_t)taken;
        }
    }
    return 0;
}

static void end_all(struct processes *processes)
{
    for (uint32_t i = 0; i < processes->count; i++) {
        struct process *process = &processes->all[i];
        if (process->fd >= 0) {
            kill(process->pid, SIGKILL);
            close(process->fd);
        }
        while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
}

int floor_processes_run(const struct floor_options *options,
                        const volatile sig_atomic_t *interrupted, struct floor_result *result)
{
    struct processes processes = {.options = options, .interrupted = interrupted, .result = result};
    *result = (struct floor_result){0};
    if (pipe2(processes.begin, O_CLOEXEC) < 0) {
        return floor_fail("cannot make a pipe: %s", strerror(errno));
    }
    int error = start_all(&processes);
    close(processes.begin[0]);
    close(processes.begin[1]);
    if (error == 0) {
        error = take_results(&processes);
    }
    end_all(&processes);
    return error;
}
