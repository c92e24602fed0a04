/* test_json.c - finding values in JSON objects.
 *
 * Covered: values of each kind, outermost and in a group, with blanks and without; names that occur
 * in another place or as a value; what is not there, null, cut off or no JSON at all. Not covered:
 * escapes, which are passed on as they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "json.h"

#include "run_suite.h"

#include <math.h>
#include <string.h>

static const char OBJECT[] =
    "{\"a\": \"text, {with} \\\"marks\\\": \", \"b\":2,\"group\": {\"b\": 3.5, \"c\": null, "
    "\"in\": "
    "{\"d\": 9}}, \"list\": [\"e\", {\"f\": 1}], \"e\": -4, \"name\": \"g\", \"t\": true}";

static void value_is_found_by_group_and_name(void)
{
    static const struct {
        const char *group;
        const char *name;
        const char *value; /* NULL: there is none */
    } cases[] = {
        {NULL, "a", "text, {with} \\\"marks\\\": "},
        {NULL, "b", "2"},
        {"group", "b", "3.5"},
        {"group", "c", "null"},
        {NULL, "c", NULL},
        {NULL, "d", NULL},
        {"group", "d", NULL},
        {"in", "d", NULL},
        {"list", "f", NULL},
        {NULL, "e", "-4"},
        {"group", "e", NULL},
        {NULL, "g", NULL},
        {NULL, "t", "true"},
        {NULL, "group", NULL},
        {"b", "b", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char value[64] = "";
        bool found = json_find(OBJECT, cases[i].group, cases[i].name, value, sizeof value);
        CU_ASSERT_EQUAL(found, cases[i].value != NULL);
        CU_ASSERT_STRING_EQUAL(value, cases[i].value != NULL ? cases[i].value : "");
    }
}

static void number_that_is_none_is_nan(void)
{
    CU_ASSERT_DOUBLE_EQUAL(json_number(OBJECT, "group", "b"), 3.5, 0);
    CU_ASSERT_DOUBLE_EQUAL(json_number(OBJECT, NULL, "e"), -4, 0);
    CU_ASSERT(isnan(json_number(OBJECT, "group", "c")));
    CU_ASSERT(isnan(json_number(OBJECT, NULL, "a")));
    CU_ASSERT(isnan(json_number(OBJECT, NULL, "t")));
    CU_ASSERT(isnan(json_number(OBJECT, NULL, "none")));
}

static void value_that_does_not_fit_is_not_found(void)
{
    char value[4] = "";
    CU_ASSERT(json_find("{\"x\": 123}", NULL, "x", value, sizeof value));
    CU_ASSERT_FALSE(json_find("{\"x\": 1234}", NULL, "x", value, sizeof value));
}

/* Each beginning of an object is looked through and never gives a wrong value. */
static void object_that_is_cut_off_ends_the_search(void)
{
    char text[sizeof OBJECT];
    char value[64];
    for (size_t length = 0; length < sizeof OBJECT; length++) {
        memcpy(text, OBJECT, length);
        text[length] = '\0';
        CU_ASSERT_FALSE(json_find(text, NULL, "none", value, sizeof value));
    }
    CU_ASSERT_FALSE(json_find("}}]\"", NULL, "x", value, sizeof value));
    CU_ASSERT_FALSE(json_find("no json: 1", NULL, "json", value, sizeof value));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"value_is_found_by_group_and_name", value_is_found_by_group_and_name},
        {"number_that_is_none_is_nan", number_that_is_none_is_nan},
        {"value_that_does_not_fit_is_not_found", value_that_does_not_fit_is_not_found},
        {"object_that_is_cut_off_ends_the_search", object_that_is_cut_off_ends_the_search},
        CU_TEST_INFO_NULL,
    };
    return run_suite("json", tests);
}
