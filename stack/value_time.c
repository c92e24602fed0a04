/* value_time.c - Date, Retry-After and Timestamp (RFC 3261 20.17, 20.33, 20.38).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/values.h>

#include "parameter.h"

static const char date_rule[] =
    "a date is as in \"Sat, 13 Nov 2010 23:29:00 GMT\" (RFC 3261 20.17)";

/* Finds the three letters at p among count names of three letters; -1 when they are not there. */
static int find_name(const char *p, const char *names, int count)
{
    if (!vd__is(p[0], VD__ALPHA) || !vd__is(p[1], VD__ALPHA) || !vd__is(p[2], VD__ALPHA)) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        if (vd__is_word(p, names + (ptrdiff_t)3 * i, 3)) {
            return i;
        }
    }
    return -1;
}

/* The value of n digits. False when there are none. */
static bool digits(const char *p, int n, unsigned *value)
{
    *value = 0;
    for (int i = 0; i < n; i++) {
        if (!vd__is(p[i], VD__DIGIT)) {
            return false;
        }
        *value = *value * 10 + (unsigned)(p[i] - '0');
    }
    return true;
}

static bool is_leap(unsigned year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar. The year is counted from March, so that
 * the leap day comes last. */
static int64_t days_from_1970(unsigned year, unsigned month, unsigned day)
{
    int64_t y = (int64_t)year - (month <= 2 ? 1 : 0);
    int64_t cycle = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_cycle = y - cycle * 400;
    int64_t month_from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    int64_t day_of_cycle =
        year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    return cycle * 146097 + day_of_cycle - 719468;
}

/* Where the parts of a date stand in its 29 characters. */
#define DATE_SIZE 29

/* Reads the parts. Returns the offset of the first character that is wrong, DATE_SIZE for none. */
static int read_date(const char *p, struct vd_date *out)
{
    static const char frame[] = "---, -- --- ---- --:--:-- ---";
    unsigned day = 0;
    unsigned year = 0;
    unsigned hour = 0;
    unsigned minute = 0;
    unsigned second = 0;
    for (int i = 0; i < DATE_SIZE; i++) {
        if (frame[i] != '-' && p[i] != frame[i]) {
            return i;
        }
    }
    int weekday = find_name(p, "sunmontuewedthufrisat", 7);
    int month = find_name(p + 8, "janfebmaraprmayjunjulaugsepoctnovdec", 12);
    if (weekday < 0) {
        return 0;
    }
    if (!digits(p + 5, 2, &day)) {
        return 5;
    }
    if (month < 0) {
        return 8;
    }
    if (!digits(p + 12, 4, &year)) {
        return 12;
    }
    if (!digits(p + 17, 2, &hour) || !digits(p + 20, 2, &minute) || !digits(p + 23, 2, &second)) {
        return 17;
    }
    if (find_name(p + 26, "gmt", 1) < 0) {
        return 26;
    }
    out->weekday = (uint8_t)weekday;
    out->month = (uint8_t)(month + 1);
    out->day = (uint8_t)day;
    out->year = (uint16_t)year;
    out->hour = (uint8_t)hour;
    out->minute = (uint8_t)minute;
    out->second = (uint8_t)second;
    return DATE_SIZE;
}

/* Fills in the seconds. Returns the offset of the first number that no calendar has, DATE_SIZE for
 * none. A minute may have a 61st second. */
static int check_date(struct vd_date *out)
{
    static const uint8_t lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned last = lengths[out->month - 1] + (out->month == 2 && is_leap(out->year) ? 1U : 0U);
    if (out->day == 0 || out->day > last) {
        return 5;
    }
    if (out->hour > 23) {
        return 17;
    }
    if (out->minute > 59) {
        return 20;
    }
    if (out->second > 60) {
        return 23;
    }
    int64_t days = days_from_1970(out->year, out->month, out->day);
    if (((days + 4) % 7 + 7) % 7 != out->weekday) { /* 1970-01-01 was a Thursday */
        return 0;
    }
    out->seconds = days * 86400 + out->hour * 3600 + out->minute * 60 + out->second;
    return DATE_SIZE;
}

int vd_date_parse(struct vd_str text, struct vd_date *out, struct vd_fault *fault)
{
    struct vd__source source = vd__source(text, fault);
    const char *p = vd__skip_lws(source.start, source.end);
    size_t offset = (size_t)(p - source.start);
    if (source.end - p < DATE_SIZE) {
        return vd__fail(fault, VD_ERR_SYNTAX, text.n, date_rule);
    }
    int wrong = read_date(p, out);
    if (wrong < DATE_SIZE) {
        return vd__fail(fault, VD_ERR_SYNTAX, offset + (size_t)wrong, date_rule);
    }
    p = vd__skip_lws(p + DATE_SIZE, source.end);
    if (p != source.end) {
        return vd__fail(fault, VD_ERR_SYNTAX, (size_t)(p - source.start), date_rule);
    }
    wrong = check_date(out);
    if (wrong < DATE_SIZE) {
        return vd__fail(fault, VD_ERR_RANGE, offset + (size_t)wrong,
                        "a date is one of the calendar (RFC 1123 5.2.14)");
    }
    return vd__consumed(&source, p);
}

/* The parameters of Retry-After, of which duration is a number of seconds. */
static const char *read_retry_params(struct vd__source *source, const char *p,
                                     struct vd_retry_after *out)
{
    const char *first = p;
    while (p < source->end && *p == ';') {
        struct vd_param param;
        p = vd__read_param(source, p + 1, &param);
        if (p == NULL) {
            return NULL;
        }
        if (!vd__params_add(&out->params, first, &param)) {
            return vd__reject(source, VD_ERR_TOO_MANY, param.name.p, vd__rule_params);
        }
        if (param.name.n != 8 || !vd__is_word(param.name.p, "duration", 8)) {
            continue;
        }
        const char *last = param.value.p + param.value.n;
        if (vd__skip(param.value.p, last, VD__DIGIT) != last) {
            return vd__reject(source, VD_ERR_SYNTAX, param.value.p,
                              "duration is a number of seconds (RFC 3261 25.1)");
        }
        if (!vd__take_token(source, &param, &out->duration)) {
            return NULL;
        }
    }
    return p;
}

int vd_retry_after_parse(struct vd_str text, struct vd_retry_after *out, struct vd_fault *fault)
{
    struct vd__source source = vd__source(text, fault);
    uint64_t seconds = 0;
    memset(out, 0, sizeof *out);
    out->params.separator = ';';
    const char *p = vd__skip_lws(source.start, source.end);
    p = vd__read_number(&source, p, UINT32_MAX, &seconds,
                        "Retry-After is at most 2^32-1 seconds (RFC 3261 20.33)");
    if (p == NULL) {
        return source.error;
    }
    out->seconds = (uint32_t)seconds;
    p = vd__skip_lws(p, source.end);
    if (p < source.end && *p == '(') {
        const char *comment = p;
        p = vd__read_comment(&source, p);
        if (p == NULL) {
            return source.error;
        }
        out->comment = vd__view(comment + 1, p - 1);
        p = vd__skip_lws(p, source.end);
    }
    p = read_retry_params(&source, p, out);
    if (p != NULL && p != source.end) {
        p = vd__reject(&source, VD_ERR_SYNTAX, p,
                       "Retry-After is seconds, a comment and parameters (RFC 3261 20.33)");
    }
    return vd__consumed(&source, p);
}

/* *DIGIT [ "." *DIGIT ] in microseconds. */
static const char *read_microseconds(struct vd__source *source, const char *p, uint64_t *value)
{
    static const char rule[] = "a time is below 10^12 seconds";
    uint64_t seconds = 0;
    uint64_t rest = 0;
    const char *end = source->end;
    if (p < end && vd__is(*p, VD__DIGIT)) {
        p = vd__read_number(source, p, UINT64_C(999999999999), &seconds, rule);
        if (p == NULL) {
            return NULL;
        }
    }
    if (p < end && *p == '.') {
        uint64_t unit = 100000;
        for (p++; p < end && vd__is(*p, VD__DIGIT); p++) {
            rest += unit * (uint64_t)(*p - '0');
            unit /= 10;
        }
    }
    *value = seconds * 1000000 + rest;
    return p;
}

int vd_timestamp_parse(struct vd_str text, struct vd_timestamp *out, struct vd_fault *fault)
{
    struct vd__source source = vd__source(text, fault);
    memset(out, 0, sizeof *out);
    const char *p = vd__skip_lws(source.start, source.end);
    if (p == source.end || !vd__is(*p, VD__DIGIT)) {
        return vd__fail(fault, VD_ERR_SYNTAX, (size_t)(p - source.start),
                        "a timestamp begins with a digit (RFC 3261 25.1)");
    }
    p = read_microseconds(&source, p, &out->value);
    if (p == NULL) {
        return source.error;
    }
    const char *behind = vd__skip_lws(p, source.end);
    if (behind != p && behind != source.end) {
        out->has_delay = true;
        behind = read_microseconds(&source, behind, &out->delay);
        if (behind == NULL) {
            return source.error;
        }
        behind = vd__skip_lws(behind, source.end);
    }
    if (behind != source.end) {
        behind = vd__reject(&source, VD_ERR_SYNTAX, behind,
                            "Timestamp is one time, and a delay (RFC 3261 20.38)");
    }
    return vd__consumed(&source, behind);
}
