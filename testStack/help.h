/* help.h - what --help prints.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_HELP_H
#define TESTSTACK_HELP_H

extern const char HELP[];

#endif
