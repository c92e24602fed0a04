/* selector.h - what the loops wait with: its name, and whether this system has it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_SELECTOR_H
#define TESTSTACK_SELECTOR_H

#include <viaduct/loop.h>

/* Finds a selector by name; false when there is none of that name. */
bool selector_find(const char *name, enum vd_selector *selector);

/* epoll, poll or io_uring. */
const char *selector_name(enum vd_selector selector);

/* Whether loops can wait with it here; if not, says so on stderr. */
bool selector_is_available(enum vd_selector selector);

#endif
