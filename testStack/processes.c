/* processes.c - makes a run with each side in one or more processes of its own.
 *
 * Process n of the sender's side sends to process n of the receiver's. Each is forked before
 * anything is open and is joined to its parent by a socket: up go a byte when all its ports are
 * open, and its result; down goes a byte when a sender may begin, and another when it is to stop. A
 * socket that ends means that the other process is gone, and stops a child as well, so that none is
 * left behind.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "processes.h"

#include "fail.h"
#include "plan.h"
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 250 };

/* The bytes that go up and down. */
static const char OPENED = 'o';
static const char BEGIN = 'b';
static const char STOP = 's';

struct process {
    pid_t pid;
    int fd; /* -1 when the process has said all */
    enum role role;
    uint32_t index; /* in its side */
};

struct processes {
    const struct options *options;
    struct process *all; /* the receivers, then the senders */
    uint32_t count;
    uint32_t senders; /* that run */
    struct run_shared *shared;
    struct result *result;
    bool stopping;
};

/* ---- The socket ---- */

static int send_all(int fd, const void *data, size_t size)
{
    const char *bytes = data;
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return -1;
        }
        bytes += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
    return 0;
}

/* -1 when it ends before all has come. */
static int receive_all(int fd, void *data, size_t size)
{
    char *bytes = data;
    while (size > 0) {
        ssize_t received = recv(fd, bytes, size, 0);
        if (received == 0 || (received < 0 && errno != EINTR)) {
            return -1;
        }
        bytes += received > 0 ? received : 0;
        size -= received > 0 ? (size_t)received : 0;
    }
    return 0;
}

/* ---- The child ---- */

static void *wait_for_stop(void *argument)
{
    int *fd = argument;
    char byte;
    (void)receive_all(*fd, &byte, sizeof byte);
    run_stop();
    return NULL;
}

static int watch_for_stop(struct process *process)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, wait_for_stop, &process->fd);
    if (error != 0) {
        return fail("cannot start a thread: %s", strerror(error));
    }
    pthread_detach(thread);
    return 0;
}

/* All ports are open. A sender waits until those of its receiver are open too. */
static int on_open(void *context)
{
    struct process *process = context;
    char byte = STOP;
    if (send_all(process->fd, &OPENED, sizeof OPENED) < 0) {
        return -1;
    }
    if (process->role == ROLE_SENDER &&
        (receive_all(process->fd, &byte, sizeof byte) < 0 || byte != BEGIN)) {
        return -1;
    }
    return watch_for_stop(process);
}

/* Signals are for the parent: a terminal sends them to all. */
static void ignore_signals(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
}

static _Noreturn void be_child(const struct processes *processes, struct process *process,
                               pid_t receiver)
{
    static struct result result;
    struct options share = plan_share(processes->options, process->role, process->index);
    struct run_link link = {
        .shared = &processes->shared[process->index],
        .receiver = receiver,
        .on_open = on_open,
        .context = process,
    };
    ignore_signals();
    int error = run_make(&share, &link, false, &result);
    if (error == 0) {
        error = send_all(process->fd, &result, sizeof result);
    }
    _exit(error == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ---- The parent: start ---- */

/* The child keeps no socket of another one's, lest it not see its parent end. */
static int start(struct processes *processes, enum role role, uint32_t index)
{
    struct process *process = &processes->all[processes->count];
    const struct process *receiver = NULL;
    int ends[2];
    if (role == ROLE_SENDER && processes->options->role == ROLE_BOTH) {
        receiver = &processes->all[index];
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        return fail("cannot join processes: %s", strerror(errno));
    }
    *process = (struct process){.role = role, .index = index};
    process->pid = fork();
    if (process->pid == 0) {
        for (uint32_t i = 0; i < processes->count; i++) {
            close(processes->all[i].fd);
        }
        close(ends[0]);
        process->fd = ends[1];
        be_child(processes, process, receiver != NULL ? receiver->pid : 0);
    }
    close(ends[1]);
    if (process->pid < 0) {
        close(ends[0]);
        return fail("cannot start a process: %s", strerror(errno));
    }
    process->fd = ends[0];
    processes->count++;
    return 0;
}

/* The child has said what stands in its way. */
static int await_open(const struct process *process)
{
    char byte;
    return receive_all(process->fd, &byte, sizeof byte);
}

/* One after the other, so that what stands in the way of all is said once. */
static int start_side(struct processes *processes, enum role role)
{
    for (uint32_t i = 0; i < processes->options->processes; i++) {
        if (start(processes, role, i) < 0 ||
            await_open(&processes->all[processes->count - 1]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int start_all(struct processes *processes)
{
    enum role role = processes->options->role;
    if ((role != ROLE_SENDER && start_side(processes, ROLE_RECEIVER) < 0) ||
        (role != ROLE_RECEIVER && start_side(processes, ROLE_SENDER) < 0)) {
        return -1;
    }
    for (uint32_t i = 0; i < processes->count; i++) {
        const struct process *process = &processes->all[i];
        if (process->role == ROLE_SENDER) {
            processes->senders++;
            (void)send_all(process->fd, &BEGIN, sizeof BEGIN);
        }
    }
    return 0;
}

/* ---- The parent: until all have ended ---- */

static void stop(const struct processes *processes, enum role role)
{
    for (uint32_t i = 0; i < processes->count; i++) {
        const struct process *process = &processes->all[i];
        if (process->role == role && process->fd >= 0) {
            (void)send_all(process->fd, &STOP, sizeof STOP);
        }
    }
}

static void add(struct processes *processes, const struct process *process,
                const struct result *part)
{
    if (process->role == ROLE_RECEIVER && processes->options->role == ROLE_BOTH) {
        result_add_receiver(processes->result, part);
    } else {
        result_add(processes->result, part);
    }
}

/* When the last sender has ended, the receivers may. */
static int take_result(struct processes *processes, struct process *process)
{
    static struct result part;
    int error = receive_all(process->fd, &part, sizeof part);
    close(process->fd);
    process->fd = -1;
    if (error != 0) {
        return -1;
    }
    add(processes, process, &part);
    if (process->role == ROLE_SENDER && --processes->senders == 0) {
        stop(processes, ROLE_RECEIVER);
    }
    return 0;
}

static void print_progress(const struct processes *processes)
{
    uint64_t exchanges = 0;
    for (uint32_t i = 0; i < processes->options->processes; i++) {
        exchanges += atomic_load_explicit(&processes->shared[i].exchanges, memory_order_relaxed);
    }
    int phase = atomic_load_explicit(&processes->shared[0].phase, memory_order_relaxed);
    run_print_progress(processes->options, phase, exchanges);
}

static void heed_interruption(struct processes *processes)
{
    if (!processes->stopping && run_is_interrupted()) {
        processes->stopping = true;
        stop(processes, processes->options->role == ROLE_RECEIVER ? ROLE_RECEIVER : ROLE_SENDER);
    }
}

/* Waits a moment for results. Returns how many processes still have to give theirs, or -1. */
static int take_results(struct processes *processes, struct pollfd *polled)
{
    int left = 0;
    for (uint32_t i = 0; i < processes->count; i++) {
        polled[i] = (struct pollfd){.fd = processes->all[i].fd, .events = POLLIN};
    }
    if (poll(polled, processes->count, WAIT_MS) < 0 && errno != EINTR) {
        return fail("cannot wait for processes: %s", strerror(errno));
    }
    for (uint32_t i = 0; i < processes->count; i++) {
        if (polled[i].revents != 0 && take_result(processes, &processes->all[i]) < 0) {
            return -1;
        }
        left += processes->all[i].fd >= 0;
    }
    return left;
}

static int run_all(struct processes *processes, bool progress)
{
    struct pollfd *polled = calloc(processes->count, sizeof *polled);
    int left = polled == NULL ? fail("out of memory") : 1;
    while (left > 0) {
        heed_interruption(processes);
        left = take_results(processes, polled);
        if (progress && processes->senders > 0) {
            print_progress(processes);
        }
    }
    if (progress) {
        run_clear_progress();
    }
    free(polled);
    return left;
}

/* Those that still run see the sockets end. */
static int end_all(struct processes *processes)
{
    int error = 0;
    for (uint32_t i = 0; i < processes->count; i++) {
        if (processes->all[i].fd >= 0) {
            close(processes->all[i].fd);
        }
    }
    for (uint32_t i = 0; i < processes->count; i++) {
        int status = 0;
        while (waitpid(processes->all[i].pid, &status, 0) < 0 && errno == EINTR) {
        }
        if (WIFSIGNALED(status)) {
            error = fail("a process was ended by signal %d (%s)", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
        }
    }
    return error;
}

int processes_run(const struct options *options, bool progress, struct result *result)
{
    struct processes processes = {.options = options, .result = result};
    size_t shared_size = options->processes * sizeof *processes.shared;
    processes.shared =
        mmap(NULL, shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    processes.all = calloc(2 * (size_t)options->processes, sizeof *processes.all);
    result_init(result);
    if (processes.shared == MAP_FAILED || processes.all == NULL) {
        free(processes.all);
        return fail("out of memory");
    }
    int error = start_all(&processes);
    if (error == 0) {
        error = run_all(&processes, progress && options->role != ROLE_RECEIVER);
    }
    error |= end_all(&processes);
    munmap(processes.shared, shared_size);
    free(processes.all);
    return error;
}
