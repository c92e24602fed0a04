/* test_error.c - what errors mean in words, by name and to a peer.
 *
 * Covered: each error of the header; numbers that are no error.
 * Not covered: which function returns which error.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/error.h>

#include "run_suite.h"

#include <limits.h>
#include <string.h>

#define ROW(error, status)                                                                         \
    {                                                                                              \
        error, #error, status                                                                      \
    }

static const struct {
    int error;
    const char *name;
    int status;
} rows[] = {
    ROW(VD_ERR_INVALID, 500),     ROW(VD_ERR_STATE, 500),        ROW(VD_ERR_GONE, 481),
    ROW(VD_ERR_SPACE, 500),       ROW(VD_ERR_NOMEM, 500),        ROW(VD_ERR_OVERLOAD, 503),
    ROW(VD_ERR_NOT_FOUND, 500),   ROW(VD_ERR_INCOMPLETE, 500),   ROW(VD_ERR_SYNTAX, 400),
    ROW(VD_ERR_DUPLICATE, 400),   ROW(VD_ERR_MISSING, 400),      ROW(VD_ERR_RANGE, 400),
    ROW(VD_ERR_MISMATCH, 400),    ROW(VD_ERR_TRUNCATED, 400),    ROW(VD_ERR_VERSION, 505),
    ROW(VD_ERR_URI_SCHEME, 416),  ROW(VD_ERR_URI_TOO_LONG, 414), ROW(VD_ERR_TOO_LARGE, 513),
    ROW(VD_ERR_TOO_MANY, 400),    ROW(VD_ERR_NOT_SIP, 400),      ROW(VD_ERR_METHOD, 501),
    ROW(VD_ERR_TIMEOUT, 408),     ROW(VD_ERR_TRANSPORT, 503),    ROW(VD_ERR_REFUSED, 503),
    ROW(VD_ERR_UNREACHABLE, 503), ROW(VD_ERR_CANCELLED, 408),    ROW(VD_ERR_SYSTEM, 500),
    ROW(VD_ERR_IN_USE, 500),      ROW(VD_ERR_LIMIT, 500),        ROW(VD_ERR_UNSUPPORTED, 500),
};

#define COUNT (sizeof(rows) / sizeof(rows[0]))

static void each_error_has_its_name_and_status(void)
{
    for (size_t i = 0; i < COUNT; i++) {
        CU_ASSERT_STRING_EQUAL(vd_error_name(rows[i].error), rows[i].name);
        CU_ASSERT_EQUAL(vd_error_status(rows[i].error), rows[i].status);
    }
}

static void each_error_has_a_text_of_its_own(void)
{
    for (size_t i = 0; i < COUNT; i++) {
        const char *text = vd_strerror(rows[i].error);
        size_t n = strlen(text);
        CU_ASSERT(n > 0);
        CU_ASSERT(text[n - 1] != '.');
        CU_ASSERT_STRING_NOT_EQUAL(text, "unknown error");
        for (size_t j = 0; j < i; j++) {
            CU_ASSERT_STRING_NOT_EQUAL(text, vd_strerror(rows[j].error));
        }
    }
}

static void other_numbers_are_no_errors(void)
{
    for (int number = -1000; number < 10; number++) {
        bool known = false;
        for (size_t i = 0; i < COUNT; i++) {
            known = known || rows[i].error == number;
        }
        if (known) {
            continue;
        }
        CU_ASSERT_STRING_EQUAL(vd_error_name(number), "VD_ERR_?");
        CU_ASSERT_STRING_EQUAL(vd_strerror(number), "unknown error");
        CU_ASSERT_EQUAL(vd_error_status(number), number >= 0 ? 200 : 500);
    }
    CU_ASSERT_STRING_EQUAL(vd_error_name(INT_MIN), "VD_ERR_?");
    CU_ASSERT_STRING_EQUAL(vd_strerror(INT_MIN), "unknown error");
    CU_ASSERT_EQUAL(vd_error_status(INT_MIN), 500);
    CU_ASSERT_EQUAL(vd_error_status(INT_MAX), 200);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"each_error_has_its_name_and_status", each_error_has_its_name_and_status},
        {"each_error_has_a_text_of_its_own", each_error_has_a_text_of_its_own},
        {"other_numbers_are_no_errors", other_numbers_are_no_errors},
        CU_TEST_INFO_NULL,
    };
    return run_suite("error", tests);
}
