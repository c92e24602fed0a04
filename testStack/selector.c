/* selector.c - what the loops wait with: its name, and whether this system has it.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "selector.h"

#include "fail.h"

#include <string.h>

static const char *const NAMES[] = {
    [VD_SELECTOR_EPOLL] = "epoll",
    [VD_SELECTOR_POLL] = "poll",
    [VD_SELECTOR_IO_URING] = "io_uring",
};

enum { COUNT = sizeof NAMES / sizeof NAMES[0] };

bool selector_find(const char *name, enum vd_selector *selector)
{
    for (unsigned i = 0; i < COUNT; i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            *selector = (enum vd_selector)i;
            return true;
        }
    }
    return false;
}

const char *selector_name(enum vd_selector selector)
{
    return NAMES[selector];
}

/* A loop is made and freed: nothing else tells what a container lets pass. */
bool selector_is_available(enum vd_selector selector)
{
    struct vd_loop_config config;
    struct vd_loop *loop;

    vd_loop_config_init(&config);
    config.selector = selector;
    int error = vd_loop_new(&loop, &config);
    vd_loop_free(loop);
    if (error == VD_ERR_UNSUPPORTED) {
        fail(
            "--selector %s: the kernel or this container has or allows no such thing, or testStack "
            "was built without it (it takes Linux 6.1)",
            NAMES[selector]);
    }
    return error != VD_ERR_UNSUPPORTED;
}
