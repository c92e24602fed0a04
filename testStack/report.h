/* report.h - prints a result: for people, as JSON, as CSV.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_REPORT_H
#define TESTSTACK_REPORT_H

#include "options.h"
#include "result.h"

#include <stdio.h>

/* One JSON object in one line (RFC 8259). A value that is not known is null. */
void report_json(FILE *file, const struct options *options, const struct result *result);

/* A header line and one row; a value that is not known is empty. */
void report_csv(FILE *file, const struct options *options, const struct result *result);

/* Some lines of text, the rate in the last one. */
void report_summary(FILE *file, const struct options *options, const struct result *result);

#endif
