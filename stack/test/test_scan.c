/* test_scan.c - the vector code does what the plain code does, and reads nothing past the end.
 *
 * Covered: every byte at every place of texts of every length up to five steps, at an unreadable
 * page; the empty line at every place; addresses and what is nearly one; names in any case with one
 * byte changed to any other. Not covered: how fast it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "guard.h"
#include "run_suite.h"
#include "test_random.h"

#define LONGEST (5 * VD__SCAN_STEP)

static struct guard guard;

static bool control(int byte)
{
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

/* Calls check for texts of dots with one byte changed, and another after it. */
static void each_text(void (*check)(const char *text, size_t size, size_t at, int byte))
{
    char text[LONGEST];
    for (size_t size = 0; size <= LONGEST; size++) {
        for (size_t at = 0; at < size; at++) {
            for (int byte = 0; byte < 256; byte++) {
                memset(text, '.', size);
                if (at + 5 < size) {
                    text[at + 5] = '\n';
                }
                text[at] = (char)byte;
                check(guard_place(&guard, text, size), size, at, byte);
            }
        }
    }
}

/* Where the first byte that stops a scan is, given whether the changed byte does. */
static size_t expected(size_t size, size_t at, bool stops)
{
    return stops ? at : at + 5 < size ? at + 5 : size;
}

static void check_control(const char *text, size_t size, size_t at, int byte)
{
    const char *end = text + size;
    const char *wanted = text + expected(size, at, control(byte));
    if (vd__scan_control(text, end) != wanted || vd__scan_control_plain(text, end) != wanted) {
        CU_FAIL("a control character is not found where it is");
    }
}

static void check_space(const char *text, size_t size, size_t at, int byte)
{
    const char *end = text + size;
    bool stops = control(byte) || byte == ' ' || byte == '\t';
    const char *wanted = text + expected(size, at, stops);
    if (vd__scan_space(text, end) != wanted || vd__scan_space_plain(text, end) != wanted) {
        CU_FAIL("white space is not found where it is");
    }
}

static void check_header(const char *text, size_t size, size_t at, int byte)
{
    const char *colon = text;
    const char *wanted = text + expected(size, at, control(byte));
    if (vd__scan_header(text, text + size, &colon) != wanted) {
        CU_FAIL("the end of a header line is not found where it is");
    }
    /* A colon may be left to the caller to find, but none is made up. */
    if (colon != NULL && (byte != ':' || colon != text + at)) {
        CU_FAIL("a colon is not found where it is");
    }
}

static void what_ends_a_scan_is_found_where_it_is(void)
{
    each_text(check_control);
    each_text(check_space);
    each_text(check_header);
    const char *nothing = guard_place(&guard, "", 0);
    CU_ASSERT_PTR_EQUAL(vd__scan_control(nothing, nothing), nothing);
    CU_ASSERT_PTR_EQUAL(vd__scan_space(nothing, nothing), nothing);
}

static void tabs_are_no_control_characters(void)
{
    char text[LONGEST];
    memset(text, '\t', sizeof text);
    const char *place = guard_place(&guard, text, sizeof text);
    CU_ASSERT_PTR_EQUAL(vd__scan_control(place, place + sizeof text), place + sizeof text);
    text[LONGEST - 20] = '\r';
    place = guard_place(&guard, text, sizeof text);
    CU_ASSERT_PTR_EQUAL(vd__scan_control(place, place + sizeof text), place + LONGEST - 20);
}

static void an_empty_line_is_found_where_it_is(void)
{
    static const char *const near[] = {"\r\n\r\n", "\r\n\r.",  "\r\n.\n",  "\r.\r\n",
                                       ".\n\r\n",  "\r\r\n\r", "\n\r\n\r", "\r\r\r\n"};
    char text[LONGEST];
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        for (size_t size = 4; size <= LONGEST; size++) {
            for (size_t at = 0; at + 4 <= size; at++) {
                memset(text, '.', size);
                memcpy(text + at, near[i], 4);
                const char *place = guard_place(&guard, text, size);
                const char *found = vd__scan_empty_line(place, place + size);
                if (found != (i == 0 ? place + at : NULL)) {
                    CU_FAIL("an empty line is not found where it is");
                }
            }
        }
    }
    const char *place = guard_place(&guard, "\r\n\r", 3);
    CU_ASSERT_PTR_NULL(vd__scan_empty_line(place, place + 3));
    CU_ASSERT_PTR_NULL(vd__scan_empty_line(place, place));
}

static void check_alphanumeric(const char *text, size_t size, size_t at, int byte)
{
    char letters[LONGEST];
    memset(letters, 'x', size);
    letters[at] = (char)byte;
    const char *place = guard_place(&guard, letters, size);
    const char *end = place + size;
    const char *found = vd__scan_alphanumeric(place, end);
    const char *wanted = byte < 128 && isalnum(byte) ? end : place + at;
    /* The last bytes may be left to the caller, but none is passed that is no letter or digit. */
    if (found > wanted || (found < wanted && end - found >= VD__SCAN_STEP)) {
        CU_FAIL("the end of letters and digits is not found where it is");
    }
    (void)text;
}

static void letters_and_digits_are_passed(void)
{
    each_text(check_alphanumeric);
    const char *nothing = guard_place(&guard, "", 0);
    CU_ASSERT_PTR_EQUAL(vd__scan_alphanumeric(nothing, nothing), nothing);
}

/* The length of the IPv4 address that text begins with, if no other digit or dot follows. */
static size_t ip4_length(const char *text)
{
    unsigned part[4];
    int n = 0;
    size_t digits = strspn(text, "0123456789.");
    int found = sscanf(text, "%3u.%3u.%3u.%3u%n", &part[0], &part[1], &part[2], &part[3], &n);
    if (found != 4 || (size_t)n != digits) {
        return 0;
    }
    for (int i = 0; i < 4; i++) {
        if (part[i] > 255) {
            return 0;
        }
    }
    return digits;
}

/* Addresses, and what is nearly one, in front of and behind other text, up to an unreadable page.
 */
static void ip4_addresses_are_found_where_they_end(void)
{
    struct test_random random = {5};
    for (int run = 0; run < 200000; run++) {
        char text[64];
        size_t front = test_random_below(&random, 3) * 8;
        size_t n = front;
        memset(text, '7', front);
        for (unsigned part = 0; part < 4 || test_random_below(&random, 16) == 0; part++) {
            static const unsigned ranges[] = {10, 100, 256, 260, 1100};
            unsigned number = (unsigned)test_random_below(&random, ranges[run % 5]);
            const char *dot = part == 0 ? "" : test_random_below(&random, 50) == 0 ? ".." : ".";
            n += (size_t)sprintf(text + n, "%s%u", dot, number);
            if (n > 40) {
                break;
            }
        }
        n += (size_t)sprintf(text + n, "%s", run % 3 == 0 ? ":1;x" : run % 3 == 1 ? ">" : "");
        size_t wanted = n < VD__SCAN_STEP ? 0 : ip4_length(text + front);
        const char *place = guard_place(&guard, text, n);
        size_t length = vd__scan_ip4(place, place + front, place + n);
        if (length != wanted && VD__SCAN_SSE2) {
            CU_FAIL("an IPv4 address is not found");
        }
    }
}

static void names_are_compared_without_case(void)
{
    static const char name[] = "Max-Forwards-01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    char text[VD__SCAN_STEP];
    for (size_t n = 1; n < VD__SCAN_STEP; n++) {
        for (size_t at = 0; at < n; at++) {
            for (int byte = 0; byte < 256; byte++) {
                memset(text, '?', sizeof text);
                memcpy(text, name, n);
                text[at] = (char)byte;
                bool equal = tolower(byte) == tolower((unsigned char)name[at]);
                const char *place = guard_place(&guard, text, sizeof text);
                if (vd__scan_is_name(place, name, n) != equal) {
                    CU_FAIL("names are compared wrongly");
                }
            }
        }
    }
    CU_ASSERT_TRUE(vd__scan_is_name("mAX-fORWARDS-01:", name, 15));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"what_ends_a_scan_is_found_where_it_is", what_ends_a_scan_is_found_where_it_is},
        {"tabs_are_no_control_characters", tabs_are_no_control_characters},
        {"an_empty_line_is_found_where_it_is", an_empty_line_is_found_where_it_is},
        {"letters_and_digits_are_passed", letters_and_digits_are_passed},
        {"ip4_addresses_are_found_where_they_end", ip4_addresses_are_found_where_they_end},
        {"names_are_compared_without_case", names_are_compared_without_case},
        CU_TEST_INFO_NULL,
    };
    if (!guard_init(&guard, LONGEST)) {
        return EXIT_FAILURE;
    }
    int status = run_suite("scan", tests);
    guard_free(&guard);
    return status;
}
