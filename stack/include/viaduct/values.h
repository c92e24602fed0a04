/* viaduct/values.h - the typed values of the header fields of RFC 3261 section 20.
 *
 * A vd_X_parse function decodes one value that stands at the start of text, skips the white space
 * after it, and returns how many bytes it read: all of text, or up to the comma that starts the
 * next value of a list. On an error it returns a negative number, and fault (which may be NULL)
 * gets the offset within text and the rule; what *out holds is then not specified. Every result is
 * made of views over text. A value is never empty: the empty text is VD_ERR_SYNTAX.
 *
 * Most programs do not call these but the functions of viaduct/message.h, which find the header
 * field as well.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_VALUES_H
#define VIADUCT_VALUES_H

#include <viaduct/base.h>
#include <viaduct/error.h>
#include <viaduct/header.h>
#include <viaduct/params.h>
#include <viaduct/uri.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From, To, Contact, Route, Record-Route, Reply-To (RFC 3261 20.10): name-addr or addr-spec with
 * parameters.
 *
 * display is the display name as it stands, with its quotes if it has them (vd_unquote removes
 * them). Without angle brackets every parameter belongs to the header field (RFC 3261 20). star is
 * true for "*", which only Contact may hold. tag, q and expires are parameters that params has too;
 * they are empty when absent. */
struct vd_nameaddr {
    struct vd_str display;
    struct vd_uri uri;
    struct vd_params params;
    struct vd_str tag;
    struct vd_str q;
    struct vd_str expires;
    bool star;
    bool brackets;
};

/* One name-addr or addr-spec. In a value of From or To (in_list false) a comma never ends it.
 * Errors: VD_ERR_SYNTAX, VD_ERR_RANGE, VD_ERR_TOO_MANY. */
VD_API int vd_nameaddr_parse(struct vd_str text, bool in_list, struct vd_nameaddr *out,
                             struct vd_fault *fault);

/* Via (RFC 3261 20.42, RFC 3581). transport is the token as it stands; host is without the brackets
 * of an IPv6 reference; port is 0 when there is none. has_rport tells an rport parameter without a
 * value (rport is 0 then) from no rport. branch, received and maddr are empty when absent, received
 * without brackets (RFC 5118 4.5). sent_by is host and port as they stand. */
struct vd_via {
    struct vd_str raw;
    struct vd_str transport;
    struct vd_str sent_by;
    struct vd_str host;
    struct vd_params params;
    struct vd_str branch;
    struct vd_str received;
    struct vd_str maddr;
    uint16_t port;
    uint16_t rport;
    uint8_t host_kind; /* enum vd_host_kind */
    uint8_t ttl;       /* 0 when absent */
    bool has_rport;
};

/* One via-parm. Errors: VD_ERR_SYNTAX, VD_ERR_RANGE, VD_ERR_TOO_MANY, VD_ERR_VERSION. */
VD_API int vd_via_parse(struct vd_str text, struct vd_via *out, struct vd_fault *fault);

/* True when the branch begins with the magic cookie "z9hG4bK" (any case) and has more after it: the
 * sender follows RFC 3261 (17.2.3, 8.1.1.7). */
VD_API bool vd_via_has_cookie(const struct vd_via *via);

/* CSeq (RFC 3261 20.16). number is below 2^31. */
struct vd_cseq {
    uint32_t number;
    uint8_t method_id; /* enum vd_method */
    struct vd_str method;
};

/* Errors: VD_ERR_SYNTAX, VD_ERR_RANGE. */
VD_API int vd_cseq_parse(struct vd_str text, struct vd_cseq *out, struct vd_fault *fault);

/* A decimal number of digits only: Content-Length, Max-Forwards, Expires, Min-Expires. White space
 * round it is skipped; a sign, a hex number, nothing at all are VD_ERR_SYNTAX; over limit is
 * VD_ERR_RANGE, out then holds limit. */
VD_API int vd_number_parse(struct vd_str text, uint32_t limit, uint32_t *out,
                           struct vd_fault *fault);

/* A token, or type/subtype, with parameters: Accept, Accept-Encoding, Accept-Language,
 * Content-Type, Content-Disposition, Content-Encoding, Content-Language, Allow, Require,
 * Proxy-Require, Supported, Unsupported, Priority, MIME-Version, In-Reply-To. subtype is empty when
 * there is no slash. value is all before the parameters. */
struct vd_token {
    struct vd_str value;
    struct vd_str type;
    struct vd_str subtype;
    struct vd_params params;
    struct vd_str q; /* empty when absent */
};

/* One value of a list of tokens. id tells which characters it may hold (In-Reply-To holds Call-IDs)
 * and whether it has a subtype. Errors: VD_ERR_SYNTAX, VD_ERR_TOO_MANY. */
VD_API int vd_token_parse(struct vd_str text, enum vd_header_id id, struct vd_token *out,
                          struct vd_fault *fault);

/* Alert-Info, Call-Info, Error-Info (RFC 3261 20.4, 20.9, 20.18): an absolute URI in angle brackets
 * with parameters. uri is the text between the brackets. */
struct vd_info {
    struct vd_str uri;
    struct vd_params params;
};

/* Errors: VD_ERR_SYNTAX, VD_ERR_TOO_MANY. */
VD_API int vd_info_parse(struct vd_str text, struct vd_info *out, struct vd_fault *fault);

/* Authorization, Proxy-Authorization, WWW-Authenticate, Proxy-Authenticate (RFC 3261 20.7, 20.27,
 * 20.28, 20.44): a scheme and comma-separated parameters; and Authentication-Info (20.6), which has
 * no scheme. Values of params keep their quotes. word is for credentials in one word instead of
 * parameters, such as those of Bearer (RFC 7235 2.1 token68, RFC 8898); it is empty otherwise. */
struct vd_auth {
    struct vd_str scheme;
    struct vd_str word;
    struct vd_params params;
};

/* Reads all of text. Errors: VD_ERR_SYNTAX, VD_ERR_TOO_MANY. */
VD_API int vd_auth_parse(struct vd_str text, enum vd_header_id id, struct vd_auth *out,
                         struct vd_fault *fault);

/* Date (RFC 3261 20.17): an RFC 1123 date in GMT. weekday is 0 for Sunday. seconds counts from
 * 1970-01-01 00:00:00 GMT. */
struct vd_date {
    int64_t seconds;
    uint16_t year;
    uint8_t month; /* 1 to 12 */
    uint8_t day;   /* 1 to 31 */
    uint8_t hour;
    uint8_t minute;
    uint8_t second;
    uint8_t weekday;
};

/* Errors: VD_ERR_SYNTAX (a zone other than GMT, too), VD_ERR_RANGE. */
VD_API int vd_date_parse(struct vd_str text, struct vd_date *out, struct vd_fault *fault);

/* Retry-After (RFC 3261 20.33): seconds, a comment, parameters. comment is without its outer
 * parentheses, duration is empty when absent. */
struct vd_retry_after {
    uint32_t seconds;
    struct vd_str comment;
    struct vd_str duration;
    struct vd_params params;
};

/* Errors: VD_ERR_SYNTAX, VD_ERR_RANGE (a number past 2^32-1). */
VD_API int vd_retry_after_parse(struct vd_str text, struct vd_retry_after *out,
                                struct vd_fault *fault);

/* Timestamp (RFC 3261 20.38), in microseconds; digits past the sixth decimal are dropped. */
struct vd_timestamp {
    uint64_t value;
    uint64_t delay;
    bool has_delay;
};

/* Errors: VD_ERR_SYNTAX, VD_ERR_RANGE. */
VD_API int vd_timestamp_parse(struct vd_str text, struct vd_timestamp *out, struct vd_fault *fault);

/* Warning (RFC 3261 20.43). code has three digits; text keeps its quotes. */
struct vd_warning {
    uint16_t code;
    struct vd_str agent;
    struct vd_str text;
};

/* One value of a list. Errors: VD_ERR_SYNTAX, VD_ERR_RANGE. */
VD_API int vd_warning_parse(struct vd_str text, struct vd_warning *out, struct vd_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
