/* over_selectors.c - runs the tests of a program once for each selector that the system has.
 *
 * SPDX-License-Identifier: MIT
 */
#include "over_selectors.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum vd_selector tested_selector = VD_SELECTOR_EPOLL;

enum { SELECTORS = VD_SELECTOR_IO_URING + 1 };

static int use_epoll(void)
{
    tested_selector = VD_SELECTOR_EPOLL;
    return 0;
}

static int use_poll(void)
{
    tested_selector = VD_SELECTOR_POLL;
    return 0;
}

static int use_uring(void)
{
    tested_selector = VD_SELECTOR_IO_URING;
    return 0;
}

static int try_uring(void)
{
    struct vd_loop_config config;
    struct vd_loop *loop;

    vd_loop_config_init(&config);
    config.selector = VD_SELECTOR_IO_URING;
    int error = vd_loop_new(&loop, &config);
    vd_loop_free(loop);
    return error;
}

/* In a process of its own: the end of a ring interrupts a later wait of the process that had it,
 * and some tests count turns. */
bool has_uring(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        _exit(try_uring() == VD_ERR_UNSUPPORTED ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == EXIT_SUCCESS;
}

int run_over_selectors(const char *name, CU_TestInfo *tests)
{
    char names[SELECTORS][64];
    static const char *const suffixes[SELECTORS] = {"epoll", "poll", "io_uring"};
    CU_SuiteInfo suites[] = {
        {.pName = names[0], .pInitFunc = use_epoll, .pTests = tests},
        {.pName = names[1], .pInitFunc = use_poll, .pTests = tests},
        {.pName = names[2], .pInitFunc = use_uring, .pTests = tests},
        CU_SUITE_INFO_NULL,
    };

    for (int i = 0; i < SELECTORS; i++) {
        snprintf(names[i], sizeof names[i], "%s on %s", name, suffixes[i]);
    }
    if (!has_uring()) {
        puts("skipped on io_uring: the system has or allows none");
        suites[VD_SELECTOR_IO_URING] = (CU_SuiteInfo)CU_SUITE_INFO_NULL;
    }
    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS) {
        fprintf(stderr, "%s: %s\n", name, CU_get_error_msg());
        return EXIT_FAILURE;
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    bool passed = CU_get_number_of_asserts() > 0 && CU_get_number_of_failure_records() == 0;
    CU_cleanup_registry();
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
