/* run_suite.c - the main program of a test.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run_suite.h"

#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

int run_suite(const char *name, CU_TestInfo *tests)
{
    CU_SuiteInfo suites[] = {
        {.pName = name, .pTests = tests},
        CU_SUITE_INFO_NULL,
    };
    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS) {
        fprintf(stderr, "%s: %s\n", name, CU_get_error_msg());
        return EXIT_FAILURE;
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    bool passed = CU_get_number_of_asserts() > 0 && CU_get_number_of_failure_records() == 0;
    CU_cleanup_registry();
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
