/* fail.h - one line on stderr for what went wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_FAIL_H
#define TESTSTACK_FAIL_H

/* Prints "testStack: ", the text and a line end on stderr. Always returns -1, which is what every
 * function of this program that returns int returns after it has said why it failed. Allowed in any
 * thread. */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
