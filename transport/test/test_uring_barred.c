/* test_uring_barred.c - a system that allows no io_uring, as many containers do.
 *
 * Covered: the error of vd_loop_new for each errno that a filter of system calls gives, and that
 * nothing is left behind. Not covered: a kernel without io_uring, a library built without it (the
 * result is the same).
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <viaduct/loop.h>

#include "counting_mem.h"
#include "run_suite.h"

/* From here on the process cannot make a ring: the call gives system_error. Of several filters the
 * kernel takes the last one's errno. False when the system allows no such filter. */
static bool bar_uring(unsigned system_error)
{
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
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

static void on_log(const struct vd_log_event *event, void *context)
{
    *(int *)context = event->error;
}

static int make_loop(struct counting_mem *mem, enum vd_selector selector, int *logged)
{
    struct vd_loop_config config;
    struct vd_loop *loop;

    counting_mem_init(mem);
    vd_loop_config_init(&config);
    config.selector = selector;
    config.mem = &mem->mem;
    config.log = on_log;
    config.log_context = logged;
    int error = vd_loop_new(&loop, &config);
    CU_ASSERT_EQUAL(loop == NULL, error != 0);
    vd_loop_free(loop);
    return error;
}

static void a_loop_on_io_uring_is_refused_as_unsupported(void)
{
    static const unsigned errors[] = {ENOSYS, EPERM, EACCES};

    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        struct counting_mem mem;
        int logged = 0;
        if (!bar_uring(errors[i])) {
            CU_PASS("no filters of system calls here");
            return;
        }
        CU_ASSERT_EQUAL(make_loop(&mem, VD_SELECTOR_IO_URING, &logged), VD_ERR_UNSUPPORTED);
        CU_ASSERT_EQUAL(logged, VD_ERR_UNSUPPORTED);
        CU_ASSERT_TRUE(counting_mem_is_clean(&mem));
        CU_ASSERT_EQUAL(make_loop(&mem, VD_SELECTOR_EPOLL, &logged), 0);
        CU_ASSERT_TRUE(counting_mem_is_clean(&mem));
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a loop on io_uring is refused as unsupported",
         a_loop_on_io_uring_is_refused_as_unsupported},
        CU_TEST_INFO_NULL,
    };
    return run_suite("uring_barred", tests);
}
