/* viaduct/header.h - the header fields and methods that the stack knows by number.
 *
 * Every header field of RFC 3261 section 20 has a number; others are VD_HEADER_OTHER and are kept
 * and found by name. docs/adding_a_header.md says how one is added: it is one row of one table.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_HEADER_H
#define VIADUCT_HEADER_H

#include <viaduct/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum vd_header_id {
    VD_HEADER_OTHER = 0, /* a header field that the table does not have */
    VD_HEADER_ACCEPT,
    VD_HEADER_ACCEPT_ENCODING,
    VD_HEADER_ACCEPT_LANGUAGE,
    VD_HEADER_ALERT_INFO,
    VD_HEADER_ALLOW,
    VD_HEADER_AUTHENTICATION_INFO,
    VD_HEADER_AUTHORIZATION,
    VD_HEADER_CALL_ID,
    VD_HEADER_CALL_INFO,
    VD_HEADER_CONTACT,
    VD_HEADER_CONTENT_DISPOSITION,
    VD_HEADER_CONTENT_ENCODING,
    VD_HEADER_CONTENT_LANGUAGE,
    VD_HEADER_CONTENT_LENGTH,
    VD_HEADER_CONTENT_TYPE,
    VD_HEADER_CSEQ,
    VD_HEADER_DATE,
    VD_HEADER_ERROR_INFO,
    VD_HEADER_EXPIRES,
    VD_HEADER_FROM,
    VD_HEADER_IN_REPLY_TO,
    VD_HEADER_MAX_FORWARDS,
    VD_HEADER_MIME_VERSION,
    VD_HEADER_MIN_EXPIRES,
    VD_HEADER_ORGANIZATION,
    VD_HEADER_PRIORITY,
    VD_HEADER_PROXY_AUTHENTICATE,
    VD_HEADER_PROXY_AUTHORIZATION,
    VD_HEADER_PROXY_REQUIRE,
    VD_HEADER_RECORD_ROUTE,
    VD_HEADER_REPLY_TO,
    VD_HEADER_REQUIRE,
    VD_HEADER_RETRY_AFTER,
    VD_HEADER_ROUTE,
    VD_HEADER_SERVER,
    VD_HEADER_SUBJECT,
    VD_HEADER_SUPPORTED,
    VD_HEADER_TIMESTAMP,
    VD_HEADER_TO,
    VD_HEADER_UNSUPPORTED,
    VD_HEADER_USER_AGENT,
    VD_HEADER_VIA,
    VD_HEADER_WARNING,
    VD_HEADER_WWW_AUTHENTICATE,
    VD_HEADER_COUNT /* how many numbers there are */
};

/* How often a header field may appear, and how its values are parted. */
enum vd_header_form {
    VD_HEADER_SINGLE, /* once in a message (RFC 3261 7.3.1) */
    VD_HEADER_LIST,   /* a comma-separated list, in one field or in many */
    VD_HEADER_MULTI /* many fields, but a comma does not part values (the authentication fields) */
};

/* What the table says of a header field. The strings are static; compact is empty when there is no
 * compact form. reference is the section that defines it, such as "RFC 3261 20.10". */
struct vd_header_info {
    struct vd_str name;
    struct vd_str compact;
    enum vd_header_form form;
    const char *reference;
};

/* The row of a header field. id runs from VD_HEADER_OTHER (an empty row of form VD_HEADER_MULTI) to
 * VD_HEADER_COUNT - 1; any other value gives the row of VD_HEADER_OTHER. */
VD_API const struct vd_header_info *vd_header_info(enum vd_header_id id);

/* The number of a header field by its name or compact form, in any case; VD_HEADER_OTHER when the
 * table does not have it. */
VD_API enum vd_header_id vd_header_id(struct vd_str name);

/* The methods known by number: RFC 3261 and the extensions that are in use. Method names are
 * case-sensitive (RFC 3261 7.1). */
enum vd_method {
    VD_METHOD_OTHER = 0, /* a method that the table does not have */
    VD_METHOD_INVITE,
    VD_METHOD_ACK,
    VD_METHOD_BYE,
    VD_METHOD_CANCEL,
    VD_METHOD_OPTIONS,
    VD_METHOD_REGISTER,
    VD_METHOD_PRACK,     /* RFC 3262 */
    VD_METHOD_SUBSCRIBE, /* RFC 6665 */
    VD_METHOD_NOTIFY,    /* RFC 6665 */
    VD_METHOD_PUBLISH,   /* RFC 3903 */
    VD_METHOD_INFO,      /* RFC 6086 */
    VD_METHOD_REFER,     /* RFC 3515 */
    VD_METHOD_MESSAGE,   /* RFC 3428 */
    VD_METHOD_UPDATE,    /* RFC 3311 */
    VD_METHOD_COUNT
};

/* The number of a method; VD_METHOD_OTHER when it is not known. */
VD_API enum vd_method vd_method_id(struct vd_str name);

/* The name of a method; empty for VD_METHOD_OTHER. The string is static. */
VD_API struct vd_str vd_method_name(enum vd_method method);

/* The default reason phrase of a status code (RFC 3261 21 and later RFCs); for a code without one,
 * that of its class ("Success" and so on); for a number outside 100 to 699, "Unknown". The string
 * is static. */
VD_API struct vd_str vd_reason_phrase(int status);

#ifdef __cplusplus
}
#endif

#endif
