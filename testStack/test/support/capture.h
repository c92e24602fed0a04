/* capture.h - what is written to stderr or stdout while something runs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CAPTURE_H
#define CAPTURE_H

/* Until capture_end, what goes to file descriptor fd (1 or 2) is kept instead. One at a time. */
void capture_begin(int fd);

/* Returns what was written; it is valid until the next call. */
const char *capture_end(void);

/* How many lines a text has; a line that does not end counts as well. */
unsigned capture_lines(const char *text);

#endif
