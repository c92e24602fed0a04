/* test_header_table.c - header fields, methods and reason phrases by name and by number.
 *
 * Covered: every row of the table is found by its name and compact form in any case; the names of
 * RFC 3261 20 are all there with their compact forms and their forms (single, list, multi); nothing
 * close to a name is taken for it; the slots of the hash are those that the rows ask for (if not,
 * they are printed as they should be); methods and reason phrases. Not covered: the speed of the
 * lookup.
 *
 * SPDX-License-Identifier: MIT
 */
#include "header_table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "run_suite.h"
#include "test_random.h"

/* RFC 3261 20 and 7.3.3, read by hand: s once, l list, m many fields. */
static const struct {
    const char *name;
    const char *compact;
    char form;
} rfc3261[] = {
    {"Accept", "", 'l'},
    {"Accept-Encoding", "", 'l'},
    {"Accept-Language", "", 'l'},
    {"Alert-Info", "", 'l'},
    {"Allow", "", 'l'},
    {"Authentication-Info", "", 'm'},
    {"Authorization", "", 'm'},
    {"Call-ID", "i", 's'},
    {"Call-Info", "", 'l'},
    {"Contact", "m", 'l'},
    {"Content-Disposition", "", 's'},
    {"Content-Encoding", "e", 'l'},
    {"Content-Language", "", 'l'},
    {"Content-Length", "l", 's'},
    {"Content-Type", "c", 's'},
    {"CSeq", "", 's'},
    {"Date", "", 's'},
    {"Error-Info", "", 'l'},
    {"Expires", "", 's'},
    {"From", "f", 's'},
    {"In-Reply-To", "", 'l'},
    {"Max-Forwards", "", 's'},
    {"Min-Expires", "", 's'},
    {"MIME-Version", "", 's'},
    {"Organization", "", 's'},
    {"Priority", "", 's'},
    {"Proxy-Authenticate", "", 'm'},
    {"Proxy-Authorization", "", 'm'},
    {"Proxy-Require", "", 'l'},
    {"Record-Route", "", 'l'},
    {"Reply-To", "", 's'},
    {"Require", "", 'l'},
    {"Retry-After", "", 's'},
    {"Route", "", 'l'},
    {"Server", "", 's'},
    {"Subject", "s", 's'},
    {"Supported", "k", 'l'},
    {"Timestamp", "", 's'},
    {"To", "t", 's'},
    {"Unsupported", "", 'l'},
    {"User-Agent", "", 's'},
    {"Via", "v", 'l'},
    {"Warning", "", 'l'},
    {"WWW-Authenticate", "", 'm'},
};

static void every_header_of_rfc3261_has_its_row(void)
{
    for (size_t i = 0; i < sizeof rfc3261 / sizeof rfc3261[0]; i++) {
        enum vd_header_id id = vd_header_id(vd_str_from(rfc3261[i].name));
        CU_ASSERT_NOT_EQUAL_FATAL(id, VD_HEADER_OTHER);
        const struct vd_header_info *info = vd_header_info(id);
        CU_ASSERT(vd_str_equal(info->name, vd_str_from(rfc3261[i].name)));
        CU_ASSERT(vd_str_equal(info->compact, vd_str_from(rfc3261[i].compact)));
        char form = info->form == VD_HEADER_SINGLE ? 's' : info->form == VD_HEADER_LIST ? 'l' : 'm';
        CU_ASSERT_EQUAL(form, rfc3261[i].form);
        CU_ASSERT(strncmp(info->reference, "RFC 3261 20.", 12) == 0);
    }
}

/* Each name and compact form, its letters in an order of cases that changes from round to round. */
static void names_are_found_in_any_case(void)
{
    struct test_random random = {1};
    for (int id = 1; id < VD_HEADER_COUNT; id++) {
        const struct vd_header_info *info = vd_header_info((enum vd_header_id)id);
        CU_ASSERT_TRUE_FATAL(info->name.n > 1 && info->name.n < 64 && info->compact.n <= 1);
        for (int round = 0; round < 50; round++) {
            char name[64];
            for (size_t i = 0; i < info->name.n; i++) {
                int c = (unsigned char)info->name.p[i];
                name[i] = (char)(test_random_next(&random) & 1 ? toupper(c) : tolower(c));
            }
            CU_ASSERT_EQUAL(vd_header_id(vd_str(name, info->name.n)), (enum vd_header_id)id);
        }
        if (info->compact.n == 1) {
            char upper = (char)toupper((unsigned char)info->compact.p[0]);
            CU_ASSERT_EQUAL(vd_header_id(info->compact), (enum vd_header_id)id);
            CU_ASSERT_EQUAL(vd_header_id(vd_str(&upper, 1)), (enum vd_header_id)id);
        }
    }
}

/* A name with one byte changed to any other, cut off or added is another name. */
static void what_is_close_to_a_name_is_another_name(void)
{
    for (int id = 1; id < VD_HEADER_COUNT; id++) {
        struct vd_str name = vd_header_info((enum vd_header_id)id)->name;
        char text[64];
        memcpy(text, name.p, name.n);
        text[name.n] = 'x';
        CU_ASSERT_NOT_EQUAL(vd_header_id(vd_str(text, name.n + 1)), (enum vd_header_id)id);
        CU_ASSERT_NOT_EQUAL(vd_header_id(vd_str(text + 1, name.n - 1)), (enum vd_header_id)id);
        if (name.n > 2) {
            CU_ASSERT_NOT_EQUAL(vd_header_id(vd_str(text, name.n - 1)), (enum vd_header_id)id);
        }
        for (size_t i = 0; i < name.n; i++) {
            for (int byte = 0; byte < 256; byte++) {
                if (tolower(byte) == tolower((unsigned char)name.p[i])) {
                    continue;
                }
                text[i] = (char)byte;
                CU_ASSERT_NOT_EQUAL(vd_header_id(vd_str(text, name.n)), (enum vd_header_id)id);
            }
            text[i] = name.p[i];
        }
    }
    CU_ASSERT_EQUAL(vd_header_id(vd_str(NULL, 0)), VD_HEADER_OTHER);
    CU_ASSERT_EQUAL(vd_header_id(VD_STR("x")), VD_HEADER_OTHER);
    CU_ASSERT_EQUAL(vd_header_id(VD_STR("Via ")), VD_HEADER_OTHER);
}

static void numbers_out_of_range_give_the_empty_row(void)
{
    const struct vd_header_info *other = vd_header_info(VD_HEADER_OTHER);
    CU_ASSERT_EQUAL(other->name.n, 0);
    CU_ASSERT_EQUAL(other->form, VD_HEADER_MULTI);
    CU_ASSERT_PTR_EQUAL(vd_header_info(VD_HEADER_COUNT), other);
    CU_ASSERT_PTR_EQUAL(vd_header_info((enum vd_header_id)0x7fffffff), other);
}

static void put_slot(uint8_t slots[VD__HEADER_SLOTS], struct vd_str name, int id)
{
    if (name.n == 0) {
        return;
    }
    unsigned slot = vd__header_hash(name);
    while (slots[slot] != 0) {
        slot = (slot + 1) % VD__HEADER_SLOTS;
    }
    slots[slot] = (uint8_t)id;
}

static void slots_are_those_that_the_rows_ask_for(void)
{
    uint8_t slots[VD__HEADER_SLOTS] = {0};
    for (int id = 1; id < VD_HEADER_COUNT; id++) {
        const struct vd_header_info *info = vd_header_info((enum vd_header_id)id);
        put_slot(slots, info->name, id);
        put_slot(slots, info->compact, id);
    }
    bool equal = memcmp(slots, vd__header_slots, sizeof slots) == 0;
    CU_ASSERT_TRUE(equal);
    if (equal) {
        return;
    }
    printf("\nvd__header_slots in header_table.c should be:\n");
    for (size_t i = 0; i < VD__HEADER_SLOTS; i++) {
        printf("%s%2d,%s", i % 16 == 0 ? "    " : " ", slots[i], i % 16 == 15 ? "\n" : "");
    }
}

static void methods_are_compared_with_case(void)
{
    for (int method = 1; method < VD_METHOD_COUNT; method++) {
        struct vd_str name = vd_method_name((enum vd_method)method);
        char text[16];
        CU_ASSERT_TRUE_FATAL(name.n >= 3 && name.n < sizeof text);
        CU_ASSERT_EQUAL(vd_method_id(name), (enum vd_method)method);
        memcpy(text, name.p, name.n);
        for (size_t i = 0; i < name.n; i++) {
            text[i] = (char)tolower((unsigned char)text[i]);
            CU_ASSERT_EQUAL(vd_method_id(vd_str(text, name.n)), VD_METHOD_OTHER);
            CU_ASSERT_EQUAL(vd_method_id(vd_str(name.p, i)), VD_METHOD_OTHER);
            text[i] = name.p[i];
        }
        text[name.n] = 'X';
        CU_ASSERT_EQUAL(vd_method_id(vd_str(text, name.n + 1)), VD_METHOD_OTHER);
    }
    CU_ASSERT_EQUAL(vd_method_name(VD_METHOD_OTHER).n, 0);
    CU_ASSERT_EQUAL(vd_method_name(VD_METHOD_COUNT).n, 0);
}

static void reason_phrases_are_those_of_the_rfcs(void)
{
    static const struct {
        int status;
        const char *phrase;
    } cases[] = {
        {100, "Trying"},
        {180, "Ringing"},
        {200, "OK"},
        {202, "Accepted"},
        {400, "Bad Request"},
        {408, "Request Timeout"},
        {414, "Request-URI Too Long"},
        {416, "Unsupported URI Scheme"},
        {481, "Call/Transaction Does Not Exist"},
        {482, "Loop Detected"},
        {487, "Request Terminated"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {505, "Version Not Supported"},
        {513, "Message Too Large"},
        {603, "Decline"},
        {606, "Not Acceptable"},
        {199, "Early Dialog Terminated"},
        {101, "Provisional"},
        {299, "Success"},
        {399, "Redirection"},
        {499, "Client Error"},
        {599, "Server Error"},
        {699, "Global Failure"},
        {99, "Unknown"},
        {700, "Unknown"},
        {-1, "Unknown"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_str phrase = vd_reason_phrase(cases[i].status);
        CU_ASSERT(vd_str_equal(phrase, vd_str_from(cases[i].phrase)));
    }
    for (int status = 100; status <= 699; status++) {
        CU_ASSERT(vd_reason_phrase(status).n > 0);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"every_header_of_rfc3261_has_its_row", every_header_of_rfc3261_has_its_row},
        {"names_are_found_in_any_case", names_are_found_in_any_case},
        {"what_is_close_to_a_name_is_another_name", what_is_close_to_a_name_is_another_name},
        {"numbers_out_of_range_give_the_empty_row", numbers_out_of_range_give_the_empty_row},
        {"slots_are_those_that_the_rows_ask_for", slots_are_those_that_the_rows_ask_for},
        {"methods_are_compared_with_case", methods_are_compared_with_case},
        {"reason_phrases_are_those_of_the_rfcs", reason_phrases_are_those_of_the_rfcs},
        CU_TEST_INFO_NULL,
    };
    return run_suite("header_table", tests);
}
