/* plan.c - how many processes a side the ports need, and what each of them does.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "plan.h"

#include "fail.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

enum { MOST_PROCESSES = 64 };

/* Standard streams, report files, what joins processes, and for each loop a selector and what wakes
 * it. */
static const rlim_t OTHERS = 16;

/* Descriptors for a port: a socket; over TCP a connection, and a listener if there is one. */
static rlim_t of_port(const struct options *options, enum role role)
{
    bool is_stream = options->transport != VD_TRANSPORT_UDP;
    rlim_t sender = is_stream && options->listen ? 2 : 1;
    rlim_t receiver = is_stream ? 2 : 1;
    return (role != ROLE_RECEIVER ? sender : 0) + (role != ROLE_SENDER ? receiver : 0);
}

/* Makes it at least needed, if it may be; returns what it is then, 0 after an error. */
static rlim_t raise_limit(rlim_t needed)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
        fail("cannot read the limit of descriptors: %s", strerror(errno));
        return 0;
    }
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

/* So many processes a side that none needs more than allowed descriptors; 0 when there is no such
 * number. */
static uint32_t count_processes(const struct options *options, rlim_t allowed)
{
    rlim_t sender = options->role != ROLE_RECEIVER ? of_port(options, ROLE_SENDER) : 0;
    rlim_t receiver = options->role != ROLE_SENDER ? of_port(options, ROLE_RECEIVER) : 0;
    rlim_t most = sender > receiver ? sender : receiver;
    if (allowed < OTHERS + most) {
        return 0;
    }
    rlim_t ports = (allowed - OTHERS) / most;
    rlim_t processes = (options->ports + ports - 1) / ports;
    return processes <= MOST_PROCESSES ? (uint32_t)processes : 0;
}

static int take_processes(struct options *options, rlim_t needed, rlim_t allowed)
{
    uint32_t processes = count_processes(options, allowed);
    if (processes == 0) {
        return fail("%u ports a side need %" PRIuMAX " descriptors, %" PRIuMAX " are allowed",
                    options->ports, (uintmax_t)needed, (uintmax_t)allowed);
    }
    if (options->threads == THREADS_PROCESS && processes == 1) {
        return 0;
    }
    fail("%u ports a side need %" PRIuMAX " descriptors, %" PRIuMAX
         " are allowed in a process: taking %u process%s a side",
         options->ports, (uintmax_t)needed, (uintmax_t)allowed, processes,
         processes > 1 ? "es" : "");
    options->threads = THREADS_PROCESS;
    options->processes = processes;
    if (options->window < processes) {
        fail("the window is %u: one for each process", processes);
        options->window = processes;
    }
    return 0;
}

int plan_make(struct options *options)
{
    enum role together = options->role;
    if (together == ROLE_BOTH && options->threads == THREADS_PROCESS) {
        together = ROLE_RECEIVER; /* no side needs more than a receiver */
    }
    rlim_t needed = options->ports * of_port(options, together) + OTHERS;
    rlim_t allowed = raise_limit(needed);
    if (allowed == 0) {
        return -1;
    }
    return allowed < needed ? take_processes(options, needed, allowed) : 0;
}

/* The first of whole things that falls to a process. */
static uint64_t share_of(uint64_t whole, uint32_t index, uint32_t processes)
{
    return whole / processes * index + whole % processes * index / processes;
}

struct options plan_share(const struct options *options, enum role role, uint32_t index)
{
    struct options share = *options;
    uint32_t count = options->processes;
    uint32_t first = (uint32_t)share_of(options->ports, index, count);
    share.role = role;
    share.ports = (uint32_t)share_of(options->ports, index + 1, count) - first;
    share.sender = options_port(&options->sender, first);
    share.receiver = options_port(&options->receiver, first);
    share.runs = share_of(options->runs, index + 1, count) - share_of(options->runs, index, count);
    share.window = (uint32_t)(share_of(options->window, index + 1, count) -
                              share_of(options->window, index, count));
    return share;
}
