/* child.c - runs another program on some of the CPUs and keeps what it prints.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "child.h"

#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How often it is looked whether to go on. */
enum { SLICE_MS = 100 };

/* A child that was asked to end has so long to do it. */
static const vd_time GRACE = 5 * VD_SEC;

static volatile sig_atomic_t interrupted;

void child_interrupt(void)
{
    interrupted = 1;
}

bool child_interrupted(void)
{
    return interrupted != 0;
}

uint32_t child_machine_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) < 0 ? 1 : (uint32_t)CPU_COUNT(&set);
}

/* ---- The command ---- */

void child_command_init(struct child_command *command, const char *path, const char *name,
                        uint32_t cpus)
{
    memset(command, 0, sizeof *command);
    command->path = path;
    command->cpus = cpus;
    child_command_add(command, "%s", name);
}

void child_command_add(struct child_command *command, const char *format, ...)
{
    va_list arguments;
    size_t room = sizeof command->text - command->used;
    va_start(arguments, format);
    int length = vsnprintf(command->text + command->used, room, format, arguments);
    va_end(arguments);
    command->count++;
    if (length < 0 || (size_t)length >= room) {
        command->count = CHILD_ARGUMENTS; /* one too many */
        return;
    }
    command->used += (size_t)length + 1;
}

bool child_command_equal(const struct child_command *a, const struct child_command *b)
{
    return a->cpus == b->cpus && a->used == b->used && strcmp(a->path, b->path) == 0 &&
           memcmp(a->text, b->text, a->used) == 0;
}

/* ---- In the child ---- */

/* The first count CPUs of those that are allowed. */
static void use_cpus(uint32_t count)
{
    cpu_set_t allowed;
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    if (count == 0 || sched_getaffinity(0, sizeof allowed, &allowed) < 0) {
        return;
    }
    for (size_t cpu = 0; cpu < CPU_SETSIZE && count > 0; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_SET(cpu, &chosen);
            count--;
        }
    }
    if (sched_setaffinity(0, sizeof chosen, &chosen) < 0) {
        _exit(126);
    }
}

/* A process group of its own: the signal of a terminal reaches the sweep alone, which passes it
 * on. */
static void become(const struct child_command *command, pid_t parent, int out, int error)
{
    char *argv[CHILD_ARGUMENTS + 1];
    char text[CHILD_TEXT];
    size_t at = 0;
    memcpy(text, command->text, sizeof text);
    for (size_t i = 0; i < command->count; i++) {
        argv[i] = text + at;
        at += strlen(text + at) + 1;
    }
    argv[command->count] = NULL;
    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int null = open("/dev/null", O_RDONLY);
    if (getppid() != parent || null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(error, 2) < 0) {
        _exit(126);
    }
    use_cpus(command->cpus);
    execvp(command->path, argv);
    fprintf(stderr, "cannot run %s: %s\n", command->path, strerror(errno));
    _exit(127);
}

/* ---- What it prints ---- */

struct pipe_text {
    int fd; /* to read from, -1 when it has ended */
    int write_fd;
    char *text;
    size_t size;
    size_t capacity;
};

static int open_pipe(struct pipe_text *text)
{
    int ends[2];
    *text = (struct pipe_text){.fd = -1, .write_fd = -1};
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return fail("cannot make a pipe: %s", strerror(errno));
    }
    text->fd = ends[0];
    text->write_fd = ends[1];
    return 0;
}

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static void read_pipe(struct pipe_text *text)
{
    enum { STEP = 4096 };
    if (text->capacity - text->size < STEP + 1) {
        char *larger = realloc(text->text, text->capacity + 4 * STEP);
        if (larger == NULL) {
            close_fd(&text->fd);
            return;
        }
        text->text = larger;
        text->capacity += (size_t)4 * STEP;
    }
    ssize_t count = read(text->fd, text->text + text->size, STEP);
    if (count > 0) {
        text->size += (size_t)count;
    } else if (count == 0 || errno != EINTR) {
        close_fd(&text->fd);
    }
    text->text[text->size] = '\0';
}

/* "testStack: cannot bind" becomes "cannot bind". */
static void keep_last_line(char line[CHILD_LINE], const char *text)
{
    size_t end = text == NULL ? 0 : strlen(text);
    while (end > 0 && text[end - 1] == '\n') {
        end--;
    }
    size_t start = end;
    while (start > 0 && text[start - 1] != '\n') {
        start--;
    }
    line[0] = '\0';
    if (end == start) {
        return;
    }
    size_t word = strcspn(text + start, ": \n");
    if (strncmp(text + start + word, ": ", 2) == 0) {
        start += word + 2;
    }
    snprintf(line, CHILD_LINE, "%.*s", (int)(end - start), text + start);
}

/* ---- Running ---- */

static vd_time clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (vd_time)time.tv_sec * VD_SEC + (vd_time)(time.tv_nsec / 1000);
}

/* Asks the child to end, and after a while ends it with all that it began. */
static void stop(pid_t child, vd_time now, vd_time *kill_at)
{
    if (*kill_at == VD_TIME_NEVER) {
        kill(child, SIGTERM);
        *kill_at = now + GRACE;
    } else if (now >= *kill_at) {
        kill(-child, SIGKILL);
    }
}

/* Reads until both pipes have ended. */
static void read_both(pid_t child, vd_time limit, struct pipe_text texts[2],
                      struct child_result *result)
{
    vd_time deadline = clock_now() + limit;
    vd_time kill_at = VD_TIME_NEVER;
    while (texts[0].fd >= 0 || texts[1].fd >= 0) {
        struct pollfd ready[2] = {{.fd = texts[0].fd, .events = POLLIN},
                                  {.fd = texts[1].fd, .events = POLLIN}};
        int count = poll(ready, 2, SLICE_MS);
        vd_time now = clock_now();
        result->interrupted = result->interrupted || child_interrupted();
        result->late = result->late || now >= deadline;
        if (result->interrupted || result->late) {
            stop(child, now, &kill_at);
        }
        for (size_t i = 0; i < 2 && count > 0; i++) {
            if (ready[i].revents != 0) {
                read_pipe(&texts[i]);
            }
        }
    }
}

static void collect(pid_t child, struct child_result *result)
{
    struct rusage usage = {0};
    int status = 0;
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    result->max_rss_kib = usage.ru_maxrss;
}

int child_run(const struct child_command *command, vd_time limit, struct child_result *result)
{
    struct pipe_text texts[2];
    pid_t parent = getpid();
    pid_t child = -1;
    memset(result, 0, sizeof *result);
    if (command->count >= CHILD_ARGUMENTS) {
        return fail("the command line of %s is too long", command->path);
    }
    int error = open_pipe(&texts[0]);
    texts[1] = (struct pipe_text){.fd = -1, .write_fd = -1};
    if (error == 0) {
        error = open_pipe(&texts[1]);
    }
    if (error == 0) {
        fflush(NULL);
        child = fork();
        if (child == 0) {
            become(command, parent, texts[0].write_fd, texts[1].write_fd);
        }
        error = child < 0 ? fail("cannot start a process: %s", strerror(errno)) : 0;
    }
    close_fd(&texts[0].write_fd);
    close_fd(&texts[1].write_fd);
    if (error == 0) {
        read_both(child, limit, texts, result);
        collect(child, result);
    }
    close_fd(&texts[0].fd);
    close_fd(&texts[1].fd);
    result->output = texts[0].text;
    keep_last_line(result->line, texts[1].text);
    free(texts[1].text);
    return error;
}

void child_result_free(struct child_result *result)
{
    free(result->output);
    result->output = NULL;
}
