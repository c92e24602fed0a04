/* test_selector.c - the selectors: epoll, poll and io_uring.
 *
 * Covered, for each of them: what is reported of a descriptor and what not any more after modify
 * and remove, that it is level-triggered, that a wait is never shorter than asked, signals, more
 * ready descriptors than one wait returns, descriptors that are removed and added while they are
 * ready. Not covered: the UDP requests of io_uring (test_udp_uring.c), how long a wait is beyond
 * its time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "selector.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "counting_mem.h"
#include "over_selectors.h"

struct fixture {
    struct counting_mem mem;
    struct vd__selector *selector;
    const struct vd__selector_ops *ops;
    struct vd__source source; /* one end of a pair of sockets */
    int peer;
    struct vd__ready ready[8];
};

static struct vd__selector *make_selector(const struct vd_mem *mem)
{
    struct vd__uring *ring;

    switch (tested_selector) {
    case VD_SELECTOR_POLL:
        return vd__selector_poll_new(mem);
    case VD_SELECTOR_IO_URING:
        return vd__selector_uring_new(mem, &ring);
    default:
        return vd__selector_epoll_new(mem);
    }
}

static void setup(struct fixture *f)
{
    int pair[2];

    counting_mem_init(&f->mem);
    f->selector = make_selector(&f->mem.mem);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->selector);
    f->ops = f->selector->ops;
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    f->source = (struct vd__source){.fd = pair[0]};
    f->peer = pair[1];
}

static void teardown(struct fixture *f)
{
    close(f->source.fd);
    close(f->peer);
    f->ops->free(f->selector);
    CU_ASSERT_TRUE(counting_mem_is_clean(&f->mem));
}

static int look(struct fixture *f)
{
    return f->ops->wait(f->selector, f->ready, 8, 0);
}

static void what_is_readable_is_reported_until_it_is_read(void)
{
    struct fixture f;
    char byte = 'a';

    setup(&f);
    CU_ASSERT_EQUAL(f.ops->add(f.selector, &f.source, VD__READABLE), 0);
    CU_ASSERT_EQUAL(look(&f), 0);
    CU_ASSERT_EQUAL(write(f.peer, &byte, 1), 1);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(look(&f), 1);
        CU_ASSERT_PTR_EQUAL(f.ready[0].source, &f.source);
        CU_ASSERT_EQUAL(f.ready[0].readiness, VD__READABLE);
    }
    CU_ASSERT_EQUAL(read(f.source.fd, &byte, 1), 1);
    CU_ASSERT_EQUAL(look(&f), 0);
    teardown(&f);
}

static void only_what_is_of_interest_is_reported(void)
{
    struct fixture f;

    setup(&f);
    CU_ASSERT_EQUAL(f.ops->add(f.selector, &f.source, VD__READABLE), 0);
    CU_ASSERT_EQUAL(look(&f), 0);
    CU_ASSERT_EQUAL(f.ops->modify(f.selector, &f.source, VD__READABLE | VD__WRITABLE), 0);
    CU_ASSERT_EQUAL_FATAL(look(&f), 1);
    CU_ASSERT_EQUAL(f.ready[0].readiness, VD__WRITABLE);
    CU_ASSERT_EQUAL(f.ops->modify(f.selector, &f.source, VD__READABLE), 0);
    CU_ASSERT_EQUAL(look(&f), 0);
    CU_ASSERT_EQUAL(f.ops->modify(f.selector, &f.source, VD__WRITABLE), 0);
    CU_ASSERT_EQUAL(f.ops->remove(f.selector, &f.source), 0);
    CU_ASSERT_EQUAL(look(&f), 0);
    teardown(&f);
}

static void a_fault_is_reported_unasked(void)
{
    struct fixture f;

    setup(&f);
    CU_ASSERT_EQUAL(f.ops->add(f.selector, &f.source, 0), 0);
    CU_ASSERT_EQUAL(shutdown(f.source.fd, SHUT_RDWR), 0);
    CU_ASSERT_EQUAL_FATAL(look(&f), 1);
    CU_ASSERT_EQUAL(f.ready[0].readiness, VD__FAULTY);
    teardown(&f);
}

static void a_descriptor_that_cannot_be_watched_is_an_error(void)
{
    struct fixture f;
    struct vd__source none = {.fd = -1};

    setup(&f);
    CU_ASSERT_EQUAL(f.ops->add(f.selector, &none, VD__READABLE), -1);
    CU_ASSERT_EQUAL(errno, EBADF);
    CU_ASSERT_EQUAL(f.ops->add(f.selector, &f.source, VD__READABLE), 0);
    CU_ASSERT_EQUAL(f.ops->add(f.selector, &f.source, VD__READABLE), -1);
    CU_ASSERT_EQUAL(errno, EEXIST);
    teardown(&f);
}

static void a_wait_is_never_shorter_than_asked(void)
{
    static const vd_time waits[] = {0, 1, 49, 999, 1000, 1001, 2500, 10000};
    struct fixture f;

    setup(&f);
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        vd_time before = vd__clock_now();
        CU_ASSERT_EQUAL(f.ops->wait(f.selector, f.ready, 8, waits[i]), 0);
        CU_ASSERT(vd__clock_now() - before >= waits[i]);
    }
    teardown(&f);
}

static void on_signal(int number)
{
    (void)number;
}

/* The signal is pending, so the wait that lets it in ends at once however long it may be. */
static void a_signal_ends_a_wait_without_an_error(void)
{
    struct fixture f;
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction old;

    setup(&f);
    CU_ASSERT_EQUAL(sigaction(SIGALRM, &action, &old), 0);
    /* Again and again until one of them meets the wait. */
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec often = {.it_value = {0, 1000000}, .it_interval = {0, 1000000}};
    CU_ASSERT_EQUAL_FATAL(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    CU_ASSERT_EQUAL(timer_settime(timer, 0, &often, NULL), 0);
    CU_ASSERT_EQUAL(f.ops->wait(f.selector, f.ready, 8, VD_TIME_NEVER), 0);
    CU_ASSERT_EQUAL(f.ops->wait(f.selector, f.ready, 8, 3600 * VD_SEC), 0);
    timer_delete(timer);
    sigaction(SIGALRM, &old, NULL);
    teardown(&f);
}

static void all_get_their_turn_when_a_wait_cannot_return_all(void)
{
    enum { PAIRS = 5 };
    struct fixture f;
    struct vd__source sources[PAIRS];
    int peers[PAIRS];
    unsigned seen[PAIRS] = {0};

    setup(&f);
    for (int i = 0; i < PAIRS; i++) {
        int pair[2];
        CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        sources[i] = (struct vd__source){.fd = pair[0]};
        peers[i] = pair[1];
        CU_ASSERT_EQUAL(f.ops->add(f.selector, &sources[i], VD__WRITABLE), 0);
    }
    for (int i = 0; i < PAIRS; i++) {
        CU_ASSERT_EQUAL_FATAL(f.ops->wait(f.selector, f.ready, 1, 0), 1);
        seen[f.ready[0].source - sources]++;
    }
    for (int i = 0; i < PAIRS; i++) {
        CU_ASSERT_EQUAL(seen[i], 1);
        close(sources[i].fd);
        close(peers[i]);
    }
    teardown(&f);
}

/* As a server does that closes connections and accepts others, which get the same descriptors. */
static void what_was_removed_is_reported_no_more(void)
{
    enum { PAIRS = 3 };
    struct fixture f;
    struct vd__source sources[PAIRS];
    struct vd__source other = {.fd = -1};
    int peers[PAIRS];

    setup(&f);
    for (int i = 0; i < PAIRS; i++) {
        int pair[2];
        CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        sources[i] = (struct vd__source){.fd = pair[0]};
        peers[i] = pair[1];
        CU_ASSERT_EQUAL(f.ops->add(f.selector, &sources[i], VD__WRITABLE), 0);
    }
    CU_ASSERT_EQUAL_FATAL(f.ops->wait(f.selector, f.ready, 1, 0), 1);
    /* All of them are removed: the one that was reported and those that a selector may have at
     * hand. One of them comes back as another source, and one is closed. */
    for (int i = 0; i < PAIRS; i++) {
        CU_ASSERT_EQUAL(f.ops->remove(f.selector, &sources[i]), 0);
        CU_ASSERT_EQUAL(f.ops->remove(f.selector, &sources[i]), -1);
    }
    close(sources[1].fd);
    other.fd = sources[2].fd;
    CU_ASSERT_EQUAL(look(&f), 0);
    CU_ASSERT_EQUAL(f.ops->add(f.selector, &other, VD__READABLE), 0);
    CU_ASSERT_EQUAL(look(&f), 0);
    CU_ASSERT_EQUAL(f.ops->modify(f.selector, &other, VD__WRITABLE), 0);
    CU_ASSERT_EQUAL_FATAL(look(&f), 1);
    CU_ASSERT_PTR_EQUAL(f.ready[0].source, &other);
    CU_ASSERT_EQUAL(f.ops->remove(f.selector, &other), 0);
    CU_ASSERT_EQUAL(f.ops->add(f.selector, &other, VD__READABLE), 0);
    CU_ASSERT_EQUAL(look(&f), 0);
    for (int i = 0; i < PAIRS; i++) {
        if (i != 1) {
            close(sources[i].fd);
        }
        close(peers[i]);
    }
    teardown(&f);
}

/* A peer sees the end of a connection as soon as it is closed, not when the next wait comes. */
static void a_removed_descriptor_is_closed_by_close(void)
{
    struct fixture f;
    char byte;

    setup(&f);
    CU_ASSERT_EQUAL(f.ops->add(f.selector, &f.source, VD__READABLE), 0);
    CU_ASSERT_EQUAL(look(&f), 0);
    CU_ASSERT_EQUAL(f.ops->remove(f.selector, &f.source), 0);
    close(f.source.fd);
    CU_ASSERT_EQUAL(recv(f.peer, &byte, 1, MSG_DONTWAIT), 0);
    f.source.fd = dup(f.peer);
    teardown(&f);
}

static void more_than_a_few_descriptors_are_watched(void)
{
    enum { COUNT = 300 };
    struct fixture f;
    static struct vd__source sources[COUNT];
    static int peers[COUNT];
    struct vd__ready ready[COUNT];

    setup(&f);
    for (int i = 0; i < COUNT; i++) {
        int pair[2];
        CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        sources[i] = (struct vd__source){.fd = pair[0]};
        peers[i] = pair[1];
        CU_ASSERT_EQUAL(f.ops->add(f.selector, &sources[i], VD__READABLE), 0);
    }
    for (int i = 0; i < COUNT; i += 3) {
        CU_ASSERT_EQUAL(write(peers[i], "a", 1), 1);
    }
    CU_ASSERT_EQUAL(f.ops->wait(f.selector, ready, COUNT, 0), COUNT / 3);
    for (int i = 0; i < COUNT; i++) {
        CU_ASSERT_EQUAL(f.ops->remove(f.selector, &sources[i]), 0);
        close(sources[i].fd);
        close(peers[i]);
    }
    teardown(&f);
}

static void no_memory_makes_no_selector(void)
{
    struct counting_mem mem;

    counting_mem_init(&mem);
    counting_mem_fail_after(&mem, 0);
    CU_ASSERT_PTR_NULL(make_selector(&mem.mem));
    CU_ASSERT_EQUAL(errno, ENOMEM);
    CU_ASSERT_TRUE(counting_mem_is_clean(&mem));
}

/* From here on the process has no epoll_pwait2: its number gives system_error. False when the
 * system allows no such filter. */
static bool take_epoll_pwait2_away(unsigned system_error)
{
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | system_error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {
        .len = sizeof instructions / sizeof instructions[0],
        .filter = instructions,
    };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* The last test on epoll: what it does cannot be undone, and leaves the others alone. Of two
 * filters the kernel takes the later one's errno. */
static void an_older_kernel_or_a_container_waits_as_long(void)
{
    static const unsigned errors[] = {ENOSYS, EPERM};

    if (tested_selector != VD_SELECTOR_EPOLL) {
        CU_PASS("about epoll_pwait2");
        return;
    }
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (!take_epoll_pwait2_away(errors[i])) {
            CU_PASS("no filters of system calls here");
            return;
        }
        a_wait_is_never_shorter_than_asked();
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"what is readable is reported until it is read",
         what_is_readable_is_reported_until_it_is_read},
        {"only what is of interest is reported", only_what_is_of_interest_is_reported},
        {"a fault is reported unasked", a_fault_is_reported_unasked},
        {"a descriptor that cannot be watched is an error",
         a_descriptor_that_cannot_be_watched_is_an_error},
        {"a wait is never shorter than asked", a_wait_is_never_shorter_than_asked},
        {"a signal ends a wait without an error", a_signal_ends_a_wait_without_an_error},
        {"all get their turn when a wait cannot return all",
         all_get_their_turn_when_a_wait_cannot_return_all},
        {"what was removed is reported no more", what_was_removed_is_reported_no_more},
        {"a removed descriptor is closed by close", a_removed_descriptor_is_closed_by_close},
        {"more than a few descriptors are watched", more_than_a_few_descriptors_are_watched},
        {"no memory makes no selector", no_memory_makes_no_selector},
        {"an older kernel, or a container, waits as long",
         an_older_kernel_or_a_container_waits_as_long},
        CU_TEST_INFO_NULL,
    };
    return run_over_selectors("selector", tests);
}
