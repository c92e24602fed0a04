/* message_check.c - what every receiver must be able to rely on (RFC 3261 8.1.1, 8.2, 16.3).
 *
 * SPDX-License-Identifier: MIT
 */
#include "message_internal.h"

/* Five header fields are in every message (RFC 3261 8.1.1). */
static int check_present(struct vd_message *message)
{
    static const struct {
        enum vd_header_id id;
        const char *rule;
    } mandatory[] = {
        {VD_HEADER_VIA, "Via is mandatory (RFC 3261 8.1.1)"},
        {VD_HEADER_FROM, "From is mandatory (RFC 3261 8.1.1)"},
        {VD_HEADER_TO, "To is mandatory (RFC 3261 8.1.1)"},
        {VD_HEADER_CALL_ID, "Call-ID is mandatory (RFC 3261 8.1.1)"},
        {VD_HEADER_CSEQ, "CSeq is mandatory (RFC 3261 8.1.1)"},
    };
    for (size_t i = 0; i < sizeof mandatory / sizeof mandatory[0]; i++) {
        if (message->first[mandatory[i].id] == 0) {
            return vd__message_fault(message, VD_ERR_MISSING, message->raw.p, mandatory[i].rule);
        }
    }
    return 0;
}

static int check_request_uri(struct vd_message *message)
{
    const struct vd_uri *uri;
    int error = vd_message_request_uri(message, &uri);
    if (error != 0) {
        return error;
    }
    if (uri->headers.raw.n != 0) {
        return vd__message_fault(message, VD_ERR_SYNTAX, uri->headers.raw.p,
                                 "Request-URI without headers (RFC 3261 19.1.1)");
    }
    return 0;
}

/* CSeq repeats the method of the request line (RFC 3261 8.1.1.5). */
static int check_cseq(struct vd_message *message)
{
    const struct vd_cseq *cseq;
    int error = vd_message_cseq(message, &cseq);
    if (error != 0 || !message->is_request) {
        return error;
    }
    if (message->method_id == VD_METHOD_OTHER) {
        if (!vd_str_equal(cseq->method, message->method)) {
            return vd__message_fault(
                message, VD_ERR_METHOD, message->method.p,
                "a method that is known, or that CSeq repeats (RFC 3261 8.2.1)");
        }
    } else if (cseq->method_id != message->method_id) {
        return vd__message_fault(message, VD_ERR_MISMATCH, cseq->method.p,
                                 "CSeq repeats the method of the request line (RFC 3261 8.1.1.5)");
    }
    return 0;
}

/* True when the first value of a list, of length bytes, is its last as well. */
static bool is_only_value(const struct vd_message *message, enum vd_header_id id, size_t length)
{
    const struct vd_header *header = &message->headers[message->first[id] - 1];
    return header->next == 0 && header->value.n == length;
}

/* The top Via is remembered; the others are read once. */
static int check_via(struct vd_message *message)
{
    const struct vd_via *top;
    int rc = vd_message_top_via(message, &top);
    if (rc != 0 || is_only_value(message, VD_HEADER_VIA, message->top_via_length)) {
        return rc;
    }
    struct vd_value_iterator iterator;
    vd_value_iterator_init(&iterator, message, VD_HEADER_VIA);
    rc = vd__value_iterator_pass(&iterator, message->top_via_length);
    struct vd_via via;
    while (rc >= 0 && iterator.header != NULL) {
        rc = vd_via_next(&iterator, &via);
    }
    return rc < 0 ? rc : 0;
}

/* "*" stands for every binding, to be removed (RFC 3261 10.2.2). */
static int check_star(struct vd_message *message)
{
    uint32_t expires = 0;
    const struct vd_header *header = vd_message_header(message, VD_HEADER_CONTACT);
    if (!message->is_request || message->method_id != VD_METHOD_REGISTER) {
        return vd__message_fault(message, VD_ERR_SYNTAX, header->value.p,
                                 "\"Contact: *\" in a REGISTER only (RFC 3261 10.2.2)");
    }
    if (header->next != 0 || header->value.n != message->contact_length) {
        return vd__message_fault(message, VD_ERR_SYNTAX, header->value.p,
                                 "\"Contact: *\" stands alone (RFC 3261 10.2.2)");
    }
    if (vd_message_expires(message, &expires) != 0 || expires != 0) {
        return vd__message_fault(message, VD_ERR_SYNTAX, header->value.p,
                                 "\"Contact: *\" needs \"Expires: 0\" (RFC 3261 10.2.2)");
    }
    return 0;
}

static int check_contact(struct vd_message *message)
{
    const struct vd_nameaddr *contact;
    int rc = vd_message_contact(message, &contact);
    if (rc != 0) {
        return rc == VD_ERR_NOT_FOUND ? 0 : rc;
    }
    if (contact->star) {
        return check_star(message);
    }
    if (is_only_value(message, VD_HEADER_CONTACT, message->contact_length)) {
        return 0;
    }

    struct vd_value_iterator iterator;
    vd_value_iterator_init(&iterator, message, VD_HEADER_CONTACT);
    rc = vd__value_iterator_pass(&iterator, message->contact_length);
    while (rc >= 0 && iterator.header != NULL) {
        struct vd_nameaddr next;
        const char *at = iterator.header->value.p + iterator.position;
        rc = vd_nameaddr_next(&iterator, &next);
        if (rc > 0 && next.star) {
            return vd__message_fault(message, VD_ERR_SYNTAX, at,
                                     "\"Contact: *\" stands alone (RFC 3261 10.2.2)");
        }
    }
    return rc < 0 ? rc : 0;
}

/* Route and Record-Route hold name-addr: their addresses stand in angle brackets (RFC 3261 25.1).
 */
static int check_route(struct vd_message *message, enum vd_header_id id)
{
    if (message->first[id] == 0) {
        return 0;
    }
    struct vd_value_iterator iterator;
    vd_value_iterator_init(&iterator, message, id);
    int rc = 1;
    while (rc > 0) {
        struct vd_nameaddr route;
        rc = vd_nameaddr_next(&iterator, &route);
        if (rc > 0 && !route.brackets) {
            return vd__message_fault(message, VD_ERR_SYNTAX, route.uri.raw.p,
                                     "Route and Record-Route have angle brackets (RFC 3261 20.34)");
        }
    }
    return rc;
}

int vd_message_check(struct vd_message *message)
{
    const struct vd_nameaddr *address;
    struct vd_str call_id;
    uint32_t max_forwards;

    int error = check_present(message);
    if (error == 0 && message->is_request) {
        error = check_request_uri(message);
    }
    if (error == 0) {
        error = check_via(message);
    }
    if (error == 0) {
        error = vd_message_from(message, &address);
    }
    if (error == 0) {
        error = vd_message_to(message, &address);
    }
    if (error == 0) {
        error = vd_message_call_id(message, &call_id);
    }
    if (error == 0) {
        error = check_cseq(message);
    }
    if (error == 0) {
        error = check_contact(message);
    }
    if (error == 0) {
        error = check_route(message, VD_HEADER_ROUTE);
    }
    if (error == 0) {
        error = check_route(message, VD_HEADER_RECORD_ROUTE);
    }
    if (error == 0 && message->first[VD_HEADER_MAX_FORWARDS] != 0) {
        error = vd_message_max_forwards(message, &max_forwards);
    }
    return error;
}
