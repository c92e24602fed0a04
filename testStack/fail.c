/* fail.c - one line on stderr for what went wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>

int fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fputs("testStack: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
    return -1;
}
