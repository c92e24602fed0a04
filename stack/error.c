/* error.c - what the numbers of enum vd_error mean, in words, by name and to a peer.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/error.h>

struct description {
    const char *name;
    const char *text;
    int status;
};

/* The row of an error is its number without the sign. */
static const struct description descriptions[] = {
    [-VD_ERR_INVALID] = {"VD_ERR_INVALID", "an argument is not allowed", 500},
    [-VD_ERR_STATE] = {"VD_ERR_STATE", "not possible in the present state", 500},
    [-VD_ERR_GONE] = {"VD_ERR_GONE", "the transaction no longer exists", 481},
    [-VD_ERR_SPACE] = {"VD_ERR_SPACE", "the buffer is too small", 500},
    [-VD_ERR_NOMEM] = {"VD_ERR_NOMEM", "no memory", 500},
    [-VD_ERR_OVERLOAD] = {"VD_ERR_OVERLOAD", "a configured limit is reached", 503},
    [-VD_ERR_NOT_FOUND] = {"VD_ERR_NOT_FOUND", "not there", 500},
    [-VD_ERR_INCOMPLETE] = {"VD_ERR_INCOMPLETE", "more bytes are needed", 500},
    [-VD_ERR_SYNTAX] = {"VD_ERR_SYNTAX", "does not follow the grammar", 400},
    [-VD_ERR_DUPLICATE] = {"VD_ERR_DUPLICATE", "a header field appears twice", 400},
    [-VD_ERR_MISSING] = {"VD_ERR_MISSING", "a mandatory header field is absent", 400},
    [-VD_ERR_RANGE] = {"VD_ERR_RANGE", "a number is out of its range", 400},
    [-VD_ERR_MISMATCH] = {"VD_ERR_MISMATCH", "start line and CSeq name different methods", 400},
    [-VD_ERR_TRUNCATED] = {"VD_ERR_TRUNCATED", "shorter than its Content-Length", 400},
    [-VD_ERR_VERSION] = {"VD_ERR_VERSION", "a SIP version other than 2.0", 505},
    [-VD_ERR_URI_SCHEME] = {"VD_ERR_URI_SCHEME", "the URI scheme is not understood", 416},
    [-VD_ERR_URI_TOO_LONG] = {"VD_ERR_URI_TOO_LONG", "the Request-URI is too long", 414},
    [-VD_ERR_TOO_LARGE] = {"VD_ERR_TOO_LARGE", "the message is too large", 513},
    [-VD_ERR_TOO_MANY] = {"VD_ERR_TOO_MANY", "too many header fields or parameters", 400},
    [-VD_ERR_NOT_SIP] = {"VD_ERR_NOT_SIP", "not a SIP message", 400},
    [-VD_ERR_METHOD] = {"VD_ERR_METHOD", "the method is not understood", 501},
    [-VD_ERR_TIMEOUT] = {"VD_ERR_TIMEOUT", "no answer in time", 408},
    [-VD_ERR_TRANSPORT] = {"VD_ERR_TRANSPORT", "the message could not be sent", 503},
    [-VD_ERR_REFUSED] = {"VD_ERR_REFUSED", "the peer refuses", 503},
    [-VD_ERR_UNREACHABLE] = {"VD_ERR_UNREACHABLE", "network or host unreachable", 503},
    [-VD_ERR_CANCELLED] = {"VD_ERR_CANCELLED", "cancelled, and no final response came", 408},
    [-VD_ERR_SYSTEM] = {"VD_ERR_SYSTEM", "the operating system refused", 500},
    [-VD_ERR_IN_USE] = {"VD_ERR_IN_USE", "address and port are taken", 500},
    [-VD_ERR_LIMIT] = {"VD_ERR_LIMIT", "too few file descriptors", 500},
    [-VD_ERR_UNSUPPORTED] = {"VD_ERR_UNSUPPORTED", "the system lacks or bars it", 500},
};

/* The row of an error; NULL for a number that is none. */
static const struct description *describe(int error)
{
    const int count = (int)(sizeof descriptions / sizeof descriptions[0]);
    if (error >= 0 || error <= -count || descriptions[-error].name == NULL) {
        return NULL;
    }
    return &descriptions[-error];
}

const char *vd_strerror(int error)
{
    const struct description *row = describe(error);
    return row != NULL ? row->text : "unknown error";
}

const char *vd_error_name(int error)
{
    const struct description *row = describe(error);
    return row != NULL ? row->name : "VD_ERR_?";
}

int vd_error_status(int error)
{
    if (error >= 0) {
        return 200;
    }
    const struct description *row = describe(error);
    return row != NULL ? row->status : 500;
}
