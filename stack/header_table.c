/* header_table.c - what the stack knows of each header field, one row each.
 *
 * docs/adding_a_header.md says how a row is added.
 *
 * SPDX-License-Identifier: MIT
 */
#include "header_table.h"

/* clang-format off */
#define TEXT(literal) {literal, sizeof(literal) - 1}
#define ROW(name, compact, form, reference) {name, {TEXT(name), TEXT(compact), form, reference}}

const struct vd__header_row vd__header_rows[VD_HEADER_COUNT] = {
    [VD_HEADER_OTHER]               = ROW("",                    "",  VD_HEADER_MULTI,  ""),
    [VD_HEADER_ACCEPT]              = ROW("Accept",              "",  VD_HEADER_LIST,   "RFC 3261 20.1"),
    [VD_HEADER_ACCEPT_ENCODING]     = ROW("Accept-Encoding",     "",  VD_HEADER_LIST,   "RFC 3261 20.2"),
    [VD_HEADER_ACCEPT_LANGUAGE]     = ROW("Accept-Language",     "",  VD_HEADER_LIST,   "RFC 3261 20.3"),
    [VD_HEADER_ALERT_INFO]          = ROW("Alert-Info",          "",  VD_HEADER_LIST,   "RFC 3261 20.4"),
    [VD_HEADER_ALLOW]               = ROW("Allow",               "",  VD_HEADER_LIST,   "RFC 3261 20.5"),
    [VD_HEADER_AUTHENTICATION_INFO] = ROW("Authentication-Info", "",  VD_HEADER_MULTI,  "RFC 3261 20.6"),
    [VD_HEADER_AUTHORIZATION]       = ROW("Authorization",       "",  VD_HEADER_MULTI,  "RFC 3261 20.7"),
    [VD_HEADER_CALL_ID]             = ROW("Call-ID",             "i", VD_HEADER_SINGLE, "RFC 3261 20.8"),
    [VD_HEADER_CALL_INFO]           = ROW("Call-Info",           "",  VD_HEADER_LIST,   "RFC 3261 20.9"),
    [VD_HEADER_CONTACT]             = ROW("Contact",             "m", VD_HEADER_LIST,   "RFC 3261 20.10"),
    [VD_HEADER_CONTENT_DISPOSITION] = ROW("Content-Disposition", "",  VD_HEADER_SINGLE, "RFC 3261 20.11"),
    [VD_HEADER_CONTENT_ENCODING]    = ROW("Content-Encoding",    "e", VD_HEADER_LIST,   "RFC 3261 20.12"),
    [VD_HEADER_CONTENT_LANGUAGE]    = ROW("Content-Language",    "",  VD_HEADER_LIST,   "RFC 3261 20.13"),
    [VD_HEADER_CONTENT_LENGTH]      = ROW("Content-Length",      "l", VD_HEADER_SINGLE, "RFC 3261 20.14"),
    [VD_HEADER_CONTENT_TYPE]        = ROW("Content-Type",        "c", VD_HEADER_SINGLE, "RFC 3261 20.15"),
    [VD_HEADER_CSEQ]                = ROW("CSeq",                "",  VD_HEADER_SINGLE, "RFC 3261 20.16"),
    [VD_HEADER_DATE]                = ROW("Date",                "",  VD_HEADER_SINGLE, "RFC 3261 20.17"),
    [VD_HEADER_ERROR_INFO]          = ROW("Error-Info",          "",  VD_HEADER_LIST,   "RFC 3261 20.18"),
    [VD_HEADER_EXPIRES]             = ROW("Expires",             "",  VD_HEADER_SINGLE, "RFC 3261 20.19"),
    [VD_HEADER_FROM]                = ROW("From",                "f", VD_HEADER_SINGLE, "RFC 3261 20.20"),
    [VD_HEADER_IN_REPLY_TO]         = ROW("In-Reply-To",         "",  VD_HEADER_LIST,   "RFC 3261 20.21"),
    [VD_HEADER_MAX_FORWARDS]        = ROW("Max-Forwards",        "",  VD_HEADER_SINGLE, "RFC 3261 20.22"),
    [VD_HEADER_MIME_VERSION]        = ROW("MIME-Version",        "",  VD_HEADER_SINGLE, "RFC 3261 20.24"),
    [VD_HEADER_MIN_EXPIRES]         = ROW("Min-Expires",         "",  VD_HEADER_SINGLE, "RFC 3261 20.23"),
    [VD_HEADER_ORGANIZATION]        = ROW("Organization",        "",  VD_HEADER_SINGLE, "RFC 3261 20.25"),
    [VD_HEADER_PRIORITY]            = ROW("Priority",            "",  VD_HEADER_SINGLE, "RFC 3261 20.26"),
    [VD_HEADER_PROXY_AUTHENTICATE]  = ROW("Proxy-Authenticate",  "",  VD_HEADER_MULTI,  "RFC 3261 20.27"),
    [VD_HEADER_PROXY_AUTHORIZATION] = ROW("Proxy-Authorization", "",  VD_HEADER_MULTI,  "RFC 3261 20.28"),
    [VD_HEADER_PROXY_REQUIRE]       = ROW("Proxy-Require",       "",  VD_HEADER_LIST,   "RFC 3261 20.29"),
    [VD_HEADER_RECORD_ROUTE]        = ROW("Record-Route",        "",  VD_HEADER_LIST,   "RFC 3261 20.30"),
    [VD_HEADER_REPLY_TO]            = ROW("Reply-To",            "",  VD_HEADER_SINGLE, "RFC 3261 20.31"),
    [VD_HEADER_REQUIRE]             = ROW("Require",             "",  VD_HEADER_LIST,   "RFC 3261 20.32"),
    [VD_HEADER_RETRY_AFTER]         = ROW("Retry-After",         "",  VD_HEADER_SINGLE, "RFC 3261 20.33"),
    [VD_HEADER_ROUTE]               = ROW("Route",               "",  VD_HEADER_LIST,   "RFC 3261 20.34"),
    [VD_HEADER_SERVER]              = ROW("Server",              "",  VD_HEADER_SINGLE, "RFC 3261 20.35"),
    [VD_HEADER_SUBJECT]             = ROW("Subject",             "s", VD_HEADER_SINGLE, "RFC 3261 20.36"),
    [VD_HEADER_SUPPORTED]           = ROW("Supported",           "k", VD_HEADER_LIST,   "RFC 3261 20.37"),
    [VD_HEADER_TIMESTAMP]           = ROW("Timestamp",           "",  VD_HEADER_SINGLE, "RFC 3261 20.38"),
    [VD_HEADER_TO]                  = ROW("To",                  "t", VD_HEADER_SINGLE, "RFC 3261 20.39"),
    [VD_HEADER_UNSUPPORTED]         = ROW("Unsupported",         "",  VD_HEADER_LIST,   "RFC 3261 20.40"),
    [VD_HEADER_USER_AGENT]          = ROW("User-Agent",          "",  VD_HEADER_SINGLE, "RFC 3261 20.41"),
    [VD_HEADER_VIA]                 = ROW("Via",                 "v", VD_HEADER_LIST,   "RFC 3261 20.42"),
    [VD_HEADER_WARNING]             = ROW("Warning",             "",  VD_HEADER_LIST,   "RFC 3261 20.43"),
    [VD_HEADER_WWW_AUTHENTICATE]    = ROW("WWW-Authenticate",    "",  VD_HEADER_MULTI,  "RFC 3261 20.44"),
};
/* clang-format on */

/* Made by the test of this table, which prints it anew when a row has changed. */
/* clang-format off */
const uint8_t vd__header_slots[VD__HEADER_SLOTS] = {
     0,  0,  9,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0, 25,  0,  0,
     0,  0,  0,  0,  0, 37,  0,  0,  0,  0,  0,  0,  2, 29, 36,  0,
     0,  0,  0,  0,  0,  0,  0, 27,  0,  0,  0,  0,  0,  0,  0,  0,
     0,  0,  0,  0,  0,  0,  0,  0, 28,  0, 20,  0,  0,  0, 18,  0,
     0,  8,  0,  0,  0,  0, 38, 34,  0,  0,  0, 32,  0,  0,  0,  0,
     0,  0,  0, 40,  0, 30,  0,  0, 12,  0,  0, 42,  0,  0,  0,  0,
     0,  0,  0,  0,  0,  0, 10,  0,  0,  0,  0,  0,  0,  0,  3,  0,
     0,  0,  0,  0,  0,  1,  0,  0,  5,  7, 42,  0,  0,  0, 37,  0,
     0, 36,  0,  0, 24,  0, 22,  0,  0,  0, 43,  0,  0,  0,  0,  0,
     0,  0, 39,  0, 19,  0,  8,  0,  0,  0,  0,  0,  0,  0,  0,  0,
     0, 20, 15,  0,  0,  0, 16,  0,  0,  0, 13, 14,  0,  0,  0, 17,
     0, 10,  0, 31, 21,  0,  0,  0,  0,  0,  0,  0,  0,  0, 33, 11,
     0, 41,  0,  0,  0,  0, 12,  0,  0,  0,  4,  0,  0,  0,  0,  0,
     0, 35,  0, 23,  0,  0,  0,  0,  0,  0,  0,  0,  6,  0, 15, 26,
     0, 39,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0, 44,  0,
     0,  0, 14,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
};
/* clang-format on */

const struct vd_header_info *vd_header_info(enum vd_header_id id)
{
    return &vd__header_rows[(unsigned)id < VD_HEADER_COUNT ? id : VD_HEADER_OTHER].info;
}

static uint64_t load8(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static uint32_t load4(const char *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* The bits in which text differs from name other than in the case of a letter. A byte of a header
 * field name is a letter when its bit 0x40 is set, and then bit 0x20 is the case. */
static uint64_t differ8(const char *text, const char *name)
{
    uint64_t word = load8(name);
    return (load8(text) ^ word) & ~((word & UINT64_C(0x4040404040404040)) >> 1);
}

static uint32_t differ4(const char *text, const char *name)
{
    uint32_t word = load4(name);
    return (load4(text) ^ word) & ~((word & 0x40404040U) >> 1);
}

/* True when n bytes of text are name in any case. Words that overlap cover every length. */
static bool is_name(const char *text, const char *name, size_t n)
{
    if (n >= 8) {
        uint64_t differ = differ8(text + n - 8, name + n - 8);
        for (size_t i = 0; i + 8 < n; i += 8) {
            differ |= differ8(text + i, name + i);
        }
        return differ == 0;
    }
    if (n >= 4) {
        return (differ4(text, name) | differ4(text + n - 4, name + n - 4)) == 0;
    }
    for (size_t i = 0; i < n; i++) {
        if ((text[i] | 0x20) != (name[i] | 0x20)) {
            return false;
        }
    }
    return true;
}

enum vd_header_id vd_header_id(struct vd_str name)
{
    if (name.n == 0) {
        return VD_HEADER_OTHER;
    }
    unsigned slot = vd__header_hash(name);
    for (; vd__header_slots[slot] != 0; slot = (slot + 1) % VD__HEADER_SLOTS) {
        const struct vd_header_info *row = &vd__header_rows[vd__header_slots[slot]].info;
        if ((row->name.n == name.n && is_name(name.p, row->name.p, name.n)) ||
            (row->compact.n == name.n && is_name(name.p, row->compact.p, name.n))) {
            return (enum vd_header_id)vd__header_slots[slot];
        }
    }
    return VD_HEADER_OTHER;
}
