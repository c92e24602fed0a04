/* limits.h - may the process open as many sockets as it needs?
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_LIMITS_H
#define TESTSTACK_LIMITS_H

#include "options.h"

/* Raises the limit of file descriptors as far as the ports need it and the system lets it. Returns
 * 0, or -1 after saying how many are needed and how many are allowed. */
int limits_raise(const struct options *options);

#endif
