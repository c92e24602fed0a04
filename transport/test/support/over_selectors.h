/* over_selectors.h - runs the tests of a program once for each selector that the system has.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OVER_SELECTORS_H
#define OVER_SELECTORS_H

#include <CUnit/CUnit.h>

#include <viaduct/loop.h>

/* What the loops that a test makes are to wait with. */
extern enum vd_selector tested_selector;

/* True when loops can wait on io_uring here. */
bool has_uring(void);

/* As run_suite, with a suite a selector. That io_uring is left out is said on stdout. */
int run_over_selectors(const char *name, CU_TestInfo *tests);

#endif
