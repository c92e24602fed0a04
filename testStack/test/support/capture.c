/* capture.c - what is written to stderr or stdout while something runs.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char text[65536];
static FILE *kept;
static int captured;
static int original;

/* A test that cannot capture proves nothing. */
static void give_up(void)
{
    perror("capture");
    exit(EXIT_FAILURE);
}

void capture_begin(int fd)
{
    fflush(NULL);
    kept = tmpfile();
    captured = fd;
    original = dup(fd);
    if (kept == NULL || original < 0 || dup2(fileno(kept), fd) < 0) {
        give_up();
    }
}

const char *capture_end(void)
{
    fflush(NULL);
    if (dup2(original, captured) < 0 || lseek(fileno(kept), 0, SEEK_SET) < 0) {
        give_up();
    }
    close(original);
    ssize_t size = read(fileno(kept), text, sizeof text - 1);
    text[size > 0 ? size : 0] = '\0';
    fclose(kept);
    return text;
}

unsigned capture_lines(const char *lines)
{
    unsigned count = 0;
    const char *p = lines;
    for (; *p != '\0'; p++) {
        count += *p == '\n';
    }
    return count + (p > lines && p[-1] != '\n');
}
