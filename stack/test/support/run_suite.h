/* run_suite.h - the main program of a test: one CUnit suite.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef RUN_SUITE_H
#define RUN_SUITE_H

#include <CUnit/CUnit.h>

/* Runs tests, which end with CU_TEST_INFO_NULL. Returns the exit status of the program: 0 when
 * there was at least one assertion and none failed. */
int run_suite(const char *name, CU_TestInfo *tests);

#endif
