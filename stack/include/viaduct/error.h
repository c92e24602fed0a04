/* viaduct/error.h - errors are values.
 *
 * A function that can fail returns 0 (or a count) when it did what it says, and one of these
 * negative numbers when it did not. An error leaves its object as it was, unless the function's
 * comment says otherwise.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_ERROR_H
#define VIADUCT_ERROR_H

#include <viaduct/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum vd_error {
    /* The caller's fault. */
    VD_ERR_INVALID = -1, /* an argument is out of range, or holds what may not be sent */
    VD_ERR_STATE = -2,   /* not possible in the present state (a second final response, ...) */
    VD_ERR_GONE = -3,    /* the transaction that is named no longer exists */
    VD_ERR_SPACE = -4,   /* the caller's buffer is too small */

    /* Resources. */
    VD_ERR_NOMEM = -10,    /* the allocator gave nothing */
    VD_ERR_OVERLOAD = -11, /* a configured limit is reached: 503 */

    /* Nothing wrong, but nothing there. */
    VD_ERR_NOT_FOUND = -20,  /* the header field or parameter is absent */
    VD_ERR_INCOMPLETE = -21, /* more bytes are needed (streams) */

    /* The peer's fault: a message that is not as the RFC has it. */
    VD_ERR_SYNTAX = -30,       /* does not follow the grammar: 400 */
    VD_ERR_DUPLICATE = -31,    /* a header field that may appear once appears again: 400 */
    VD_ERR_MISSING = -32,      /* a mandatory header field is absent: 400 */
    VD_ERR_RANGE = -33,        /* a number is outside what the RFC allows: 400 */
    VD_ERR_MISMATCH = -34,     /* start line and CSeq name different methods: 400 */
    VD_ERR_TRUNCATED = -35,    /* a datagram shorter than its Content-Length: 400 */
    VD_ERR_VERSION = -36,      /* a SIP version other than 2.0: 505 */
    VD_ERR_URI_SCHEME = -37,   /* a URI scheme that is not understood: 416 */
    VD_ERR_URI_TOO_LONG = -38, /* the Request-URI is longer than the configured limit: 414 */
    VD_ERR_TOO_LARGE = -39,    /* the message is larger than the configured limits: 513 */
    VD_ERR_TOO_MANY = -40, /* more header fields or parameters than the configured limits: 400 */
    VD_ERR_NOT_SIP = -41,  /* the bytes do not begin as a SIP message does: dropped */
    VD_ERR_METHOD = -42,   /* a method that is not understood: 501 */

    /* The network's fault. */
    VD_ERR_TIMEOUT = -50,     /* Timer B, F or H fired: counts as 408 */
    VD_ERR_TRANSPORT = -51,   /* the message could not be sent: counts as 503 */
    VD_ERR_REFUSED = -52,     /* the peer refuses: connection refused, ICMP port unreachable */
    VD_ERR_UNREACHABLE = -53, /* no route, network or host unreachable */
    VD_ERR_CANCELLED = -54,  /* cancelled, and no final response came within 64*T1 (RFC 3261 9.1) */
    VD_ERR_SYSTEM = -55,     /* the operating system refused; the log event has the errno */
    VD_ERR_IN_USE = -56,     /* the address and port are taken */
    VD_ERR_LIMIT = -57,      /* more file descriptors are needed than the process may open */
    VD_ERR_UNSUPPORTED = -58 /* the system, or this build of the library, does not have it */
};

/* A short English text for an error, without a full stop, such as "does not follow the grammar".
 * The string is static; a number that is no vd_error gives "unknown error". */
VD_API const char *vd_strerror(int error);

/* The name of an error as it stands in the source, such as "VD_ERR_SYNTAX". The string is static;
 * a number that is no vd_error gives "VD_ERR_?". */
VD_API const char *vd_error_name(int error);

/* The status code that tells a peer of the error: 400, 408, 414, 416, 481, 500, 501, 503, 505 or
 * 513. An error of the caller's own, and a number that is no vd_error, gives 500; 0 or a
 * positive number gives 200. */
VD_API int vd_error_status(int error);

/* Where and why a message was refused. rule is a static text that names the rule that was broken
 * and where it stands, such as "CSeq number below 2^31 (RFC 3261 8.1.1.5)"; offset counts bytes
 * from the start of the message. */
struct vd_fault {
    int error;
    size_t offset;
    const char *rule;
};

#ifdef __cplusplus
}
#endif

#endif
