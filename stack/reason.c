/* reason.c - default reason phrases (RFC 3261 21 and the RFCs that added status codes).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/header.h>

/* clang-format off */
#define TEXT(literal) {literal, sizeof(literal) - 1}
/* clang-format on */

struct phrase {
    uint16_t status;
    struct vd_str text;
};

/* In ascending order: it is searched by halves. */
static const struct phrase phrases[] = {
    {100, TEXT("Trying")},
    {180, TEXT("Ringing")},
    {181, TEXT("Call Is Being Forwarded")},
    {182, TEXT("Queued")},
    {183, TEXT("Session Progress")},
    {199, TEXT("Early Dialog Terminated")}, /* RFC 6228 */
    {200, TEXT("OK")},
    {202, TEXT("Accepted")},        /* RFC 6665 */
    {204, TEXT("No Notification")}, /* RFC 5839 */
    {300, TEXT("Multiple Choices")},
    {301, TEXT("Moved Permanently")},
    {302, TEXT("Moved Temporarily")},
    {305, TEXT("Use Proxy")},
    {380, TEXT("Alternative Service")},
    {400, TEXT("Bad Request")},
    {401, TEXT("Unauthorized")},
    {402, TEXT("Payment Required")},
    {403, TEXT("Forbidden")},
    {404, TEXT("Not Found")},
    {405, TEXT("Method Not Allowed")},
    {406, TEXT("Not Acceptable")},
    {407, TEXT("Proxy Authentication Required")},
    {408, TEXT("Request Timeout")},
    {410, TEXT("Gone")},
    {412, TEXT("Conditional Request Failed")}, /* RFC 3903 */
    {413, TEXT("Request Entity Too Large")},
    {414, TEXT("Request-URI Too Long")},
    {415, TEXT("Unsupported Media Type")},
    {416, TEXT("Unsupported URI Scheme")},
    {417, TEXT("Unknown Resource-Priority")}, /* RFC 4412 */
    {420, TEXT("Bad Extension")},
    {421, TEXT("Extension Required")},
    {422, TEXT("Session Interval Too Small")}, /* RFC 4028 */
    {423, TEXT("Interval Too Brief")},
    {424, TEXT("Bad Location Information")},         /* RFC 6442 */
    {425, TEXT("Bad Alert Message")},                /* RFC 8876 */
    {428, TEXT("Use Identity Header")},              /* RFC 8224 */
    {429, TEXT("Provide Referrer Identity")},        /* RFC 3892 */
    {430, TEXT("Flow Failed")},                      /* RFC 5626 */
    {433, TEXT("Anonymity Disallowed")},             /* RFC 5079 */
    {436, TEXT("Bad Identity Info")},                /* RFC 8224 */
    {437, TEXT("Unsupported Credential")},           /* RFC 8224 */
    {438, TEXT("Invalid Identity Header")},          /* RFC 8224 */
    {439, TEXT("First Hop Lacks Outbound Support")}, /* RFC 5626 */
    {440, TEXT("Max-Breadth Exceeded")},             /* RFC 5393 */
    {469, TEXT("Bad Info Package")},                 /* RFC 6086 */
    {470, TEXT("Consent Needed")},                   /* RFC 5360 */
    {480, TEXT("Temporarily Unavailable")},
    {481, TEXT("Call/Transaction Does Not Exist")},
    {482, TEXT("Loop Detected")},
    {483, TEXT("Too Many Hops")},
    {484, TEXT("Address Incomplete")},
    {485, TEXT("Ambiguous")},
    {486, TEXT("Busy Here")},
    {487, TEXT("Request Terminated")},
    {488, TEXT("Not Acceptable Here")},
    {489, TEXT("Bad Event")}, /* RFC 6665 */
    {491, TEXT("Request Pending")},
    {493, TEXT("Undecipherable")},
    {494, TEXT("Security Agreement Required")}, /* RFC 3329 */
    {500, TEXT("Server Internal Error")},
    {501, TEXT("Not Implemented")},
    {502, TEXT("Bad Gateway")},
    {503, TEXT("Service Unavailable")},
    {504, TEXT("Server Time-out")},
    {505, TEXT("Version Not Supported")},
    {513, TEXT("Message Too Large")},
    {555, TEXT("Push Notification Service Not Supported")}, /* RFC 8599 */
    {580, TEXT("Precondition Failure")},                    /* RFC 3312 */
    {600, TEXT("Busy Everywhere")},
    {603, TEXT("Decline")},
    {604, TEXT("Does Not Exist Anywhere")},
    {606, TEXT("Not Acceptable")},
    {607, TEXT("Unwanted")}, /* RFC 8197 */
    {608, TEXT("Rejected")}, /* RFC 8688 */
};

/* By the first digit of the status code (RFC 3261 7.2). */
static const struct vd_str classes[] = {
    TEXT("Unknown"),      TEXT("Provisional"),  TEXT("Success"),        TEXT("Redirection"),
    TEXT("Client Error"), TEXT("Server Error"), TEXT("Global Failure"),
};

struct vd_str vd_reason_phrase(int status)
{
    size_t low = 0;
    size_t high = sizeof phrases / sizeof phrases[0];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (phrases[middle].status < status) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < sizeof phrases / sizeof phrases[0] && phrases[low].status == status) {
        return phrases[low].text;
    }
    return status >= 100 && status <= 699 ? classes[status / 100] : classes[0];
}
