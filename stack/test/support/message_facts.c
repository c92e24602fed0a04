/* message_facts.c - says what a parsed message holds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "message_facts.h"

#include <stdio.h>
#include <stdlib.h>

/* The text being written. */
struct text {
    char *out;
    size_t length;
};

static void put(struct text *text, struct vd_str part)
{
    if (part.n > MESSAGE_FACT_SIZE - text->length) {
        part.n = MESSAGE_FACT_SIZE - text->length;
    }
    if (part.n != 0) {
        memcpy(text->out + text->length, part.p, part.n);
    }
    text->length += part.n;
}

static void put_number(struct text *text, unsigned long number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%lu", number);
    put(text, vd_str_from(digits));
}

static bool is(struct vd_str a, const char *b)
{
    return vd_str_equal(a, vd_str_from(b));
}

/* Takes "prefix" off the front of key. */
static bool take(struct vd_str *key, const char *prefix)
{
    size_t n = strlen(prefix);
    if (key->n < n || memcmp(key->p, prefix, n) != 0) {
        return false;
    }
    key->p += n;
    key->n -= n;
    return true;
}

/* Takes "N" or "N." off the front of key; 0 when it does not begin with a number. */
static unsigned long take_number(struct vd_str *key)
{
    unsigned long number = 0;
    while (key->n > 0 && key->p[0] >= '0' && key->p[0] <= '9') {
        number = number * 10 + (unsigned long)(key->p[0] - '0');
        key->p++;
        key->n--;
    }
    take(key, ".");
    return number;
}

static void put_param(struct text *text, const struct vd_params *params, struct vd_str name)
{
    struct vd_str value;
    if (vd_params_get(params, name, &value) == 0) {
        put(text, value);
    }
}

static void put_host(struct text *text, struct vd_str host, int kind)
{
    if (kind == VD_HOST_IP6) {
        put(text, VD_STR("["));
    }
    put(text, host);
    if (kind == VD_HOST_IP6) {
        put(text, VD_STR("]"));
    }
}

static enum message_fact_result uri_fact(const struct vd_uri *uri, struct vd_str key,
                                         struct text *text)
{
    if (is(key, "scheme")) {
        put(text, uri->scheme_name);
    } else if (is(key, "user")) {
        put(text, uri->user);
    } else if (is(key, "user.text")) {
        int n = vd_unescape(uri->user, text->out, MESSAGE_FACT_SIZE);
        text->length = n > 0 ? (size_t)n : 0;
    } else if (is(key, "password")) {
        put(text, uri->password);
    } else if (is(key, "host")) {
        put_host(text, uri->host, uri->host_kind);
    } else if (is(key, "port")) {
        if (uri->port != 0) {
            put_number(text, uri->port);
        }
    } else if (is(key, "headers")) {
        if (uri->headers.raw.n > 0) {
            put(text, vd_str(uri->headers.raw.p + 1, uri->headers.raw.n - 1));
        }
    } else if (is(key, "opaque")) {
        size_t skip = uri->scheme_name.n + 1;
        put(text, vd_str(uri->raw.p + skip, uri->raw.n - skip));
    } else if (take(&key, "param.")) {
        put_param(text, &uri->params, key);
    } else {
        return MESSAGE_FACT_UNKNOWN;
    }
    return MESSAGE_FACT_KNOWN;
}

static enum message_fact_result address_fact(const struct vd_nameaddr *address, struct vd_str key,
                                             struct text *text)
{
    if (is(key, "display")) {
        int n = vd_unquote(address->display, text->out, MESSAGE_FACT_SIZE);
        text->length = n > 0 ? (size_t)n : 0;
    } else if (is(key, "tag")) {
        put(text, address->tag);
    } else if (take(&key, "param.")) {
        put_param(text, &address->params, key);
    } else if (take(&key, "uri-param.")) {
        put_param(text, &address->uri.params, key);
    } else {
        return uri_fact(&address->uri, key, text);
    }
    return MESSAGE_FACT_KNOWN;
}

static enum message_fact_result via_fact(const struct vd_via *via, struct vd_str key,
                                         struct text *text)
{
    if (is(key, "transport")) {
        put(text, via->transport);
    } else if (is(key, "host")) {
        put_host(text, via->host, via->host_kind);
    } else if (is(key, "port")) {
        if (via->port != 0) {
            put_number(text, via->port);
        }
    } else if (is(key, "branch")) {
        put(text, via->branch);
    } else if (is(key, "received")) {
        put_param(text, &via->params, key);
    } else if (take(&key, "param.")) {
        put_param(text, &via->params, key);
    } else {
        return MESSAGE_FACT_UNKNOWN;
    }
    return MESSAGE_FACT_KNOWN;
}

/* "count", "top.X", "N.X" of a list whose values next reads; one reads a fact of a value. */
static enum message_fact_result via_list_fact(struct vd_message *message, struct vd_str key,
                                              struct text *text)
{
    bool counting = is(key, "count");
    unsigned long wanted = take(&key, "top.") ? 1 : counting ? 0 : take_number(&key);
    unsigned long count = 0;
    struct vd_value_iterator iterator;
    struct vd_via via;
    vd_value_iterator_init(&iterator, message, VD_HEADER_VIA);
    while (vd_via_next(&iterator, &via) > 0) {
        if (++count == wanted) {
            return via_fact(&via, key, text);
        }
    }
    if (counting) {
        put_number(text, count);
    }
    return MESSAGE_FACT_KNOWN;
}

static enum message_fact_result address_list_fact(struct vd_message *message, enum vd_header_id id,
                                                  struct vd_str key, struct text *text)
{
    bool counting = is(key, "count");
    unsigned long wanted = counting ? 0 : take_number(&key);
    unsigned long count = 0;
    struct vd_value_iterator iterator;
    struct vd_nameaddr address;
    vd_value_iterator_init(&iterator, message, id);
    while (vd_nameaddr_next(&iterator, &address) > 0) {
        if (++count == wanted) {
            return address_fact(&address, key, text);
        }
    }
    if (counting) {
        put_number(text, count);
    }
    return MESSAGE_FACT_KNOWN;
}

static enum message_fact_result token_list_fact(struct vd_message *message, enum vd_header_id id,
                                                struct vd_str key, struct text *text)
{
    bool counting = is(key, "count");
    unsigned long wanted = counting ? 0 : take_number(&key);
    unsigned long count = 0;
    struct vd_value_iterator iterator;
    struct vd_token token;
    vd_value_iterator_init(&iterator, message, id);
    while (vd_token_next(&iterator, &token) > 0) {
        if (++count == wanted) {
            put(text, token.value);
            put(text, token.params.raw);
        }
    }
    if (counting) {
        put_number(text, count);
    }
    return MESSAGE_FACT_KNOWN;
}

/* Header fields with one address, or a list of them, or a list of tokens. */
static enum message_fact_result field_fact(struct vd_message *message, struct vd_str key,
                                           struct text *text)
{
    const struct vd_nameaddr *address;
    const struct vd_uri *uri;
    if (take(&key, "ruri.")) {
        return vd_message_request_uri(message, &uri) == 0 ? uri_fact(uri, key, text)
                                                          : MESSAGE_FACT_KNOWN;
    }
    if (take(&key, "via.")) {
        return via_list_fact(message, key, text);
    }
    if (take(&key, "to.")) {
        return vd_message_to(message, &address) == 0 ? address_fact(address, key, text)
                                                     : MESSAGE_FACT_KNOWN;
    }
    if (take(&key, "from.")) {
        return vd_message_from(message, &address) == 0 ? address_fact(address, key, text)
                                                       : MESSAGE_FACT_KNOWN;
    }
    if (take(&key, "contact.")) {
        return address_list_fact(message, VD_HEADER_CONTACT, key, text);
    }
    if (take(&key, "route.")) {
        return address_list_fact(message, VD_HEADER_ROUTE, key, text);
    }
    if (take(&key, "record-route.")) {
        return address_list_fact(message, VD_HEADER_RECORD_ROUTE, key, text);
    }
    if (take(&key, "require.")) {
        return token_list_fact(message, VD_HEADER_REQUIRE, key, text);
    }
    if (take(&key, "proxy-require.")) {
        return token_list_fact(message, VD_HEADER_PROXY_REQUIRE, key, text);
    }
    if (take(&key, "supported.")) {
        return token_list_fact(message, VD_HEADER_SUPPORTED, key, text);
    }
    if (take(&key, "accept.")) {
        return token_list_fact(message, VD_HEADER_ACCEPT, key, text);
    }
    return MESSAGE_FACT_UNKNOWN;
}

/* "valid" or "invalid" for the header fields that are judged only when they are read. */
static bool judged_fact(struct vd_message *message, struct vd_str key, struct text *text)
{
    int error = 0;
    if (is(key, "date")) {
        struct vd_date date;
        error = vd_message_date(message, &date);
    } else if (is(key, "retry-after")) {
        struct vd_retry_after retry_after;
        error = vd_message_retry_after(message, &retry_after);
    } else if (is(key, "warning")) {
        struct vd_value_iterator iterator;
        struct vd_warning warning;
        vd_value_iterator_init(&iterator, message, VD_HEADER_WARNING);
        do {
            error = vd_warning_next(&iterator, &warning);
        } while (error > 0);
    } else {
        return false;
    }
    put(text, error == 0 ? VD_STR("valid") : VD_STR("invalid"));
    return true;
}

static bool number_fact(struct vd_message *message, struct vd_str key, struct text *text)
{
    uint32_t number = 0;
    int error = 0;
    const struct vd_cseq *cseq;
    if (is(key, "max-forwards")) {
        error = vd_message_max_forwards(message, &number);
    } else if (is(key, "expires")) {
        error = vd_message_expires(message, &number);
    } else if (is(key, "cseq.number")) {
        error = vd_message_cseq(message, &cseq);
        number = error == 0 ? cseq->number : 0;
    } else {
        return false;
    }
    if (error == 0) {
        put_number(text, number);
    }
    return true;
}

static bool text_fact(struct vd_message *message, struct vd_str key, struct text *text)
{
    struct vd_str value = {NULL, 0};
    struct vd_token type;
    struct vd_value_iterator iterator;
    struct vd_auth auth;
    const struct vd_cseq *cseq;
    if (is(key, "reason")) {
        value = message->reason;
    } else if (is(key, "call-id")) {
        if (vd_message_call_id(message, &value) != 0) {
            return false;
        }
    } else if (is(key, "cseq.method")) {
        if (vd_message_cseq(message, &cseq) != 0) {
            return false;
        }
        value = cseq->method;
    } else if (is(key, "subject")) {
        if (vd_message_text(message, VD_HEADER_SUBJECT, &value) != 0) {
            return false;
        }
    } else if (is(key, "content-type")) {
        if (vd_message_content_type(message, &type) != 0) {
            return false;
        }
        put(text, type.type);
        put(text, VD_STR("/"));
        value = type.subtype;
    } else if (take(&key, "content-type.param.")) {
        if (vd_message_content_type(message, &type) != 0) {
            return false;
        }
        put_param(text, &type.params, key);
    } else if (is(key, "authorization.scheme")) {
        vd_value_iterator_init(&iterator, message, VD_HEADER_AUTHORIZATION);
        if (vd_auth_next(&iterator, &auth) <= 0) {
            return false;
        }
        value = auth.scheme;
    } else {
        return false;
    }
    put(text, value);
    return true;
}

enum message_fact_result message_fact(struct vd_message *message, struct vd_str key, char *out,
                                      size_t *length)
{
    struct text text = {out, 0};
    enum message_fact_result result = MESSAGE_FACT_KNOWN;
    struct vd_str rest = key;
    if (take(&rest, "header.")) {
        const struct vd_header *header = vd_message_header_named(message, rest);
        int n = header != NULL ? vd_header_unfold(header, out, MESSAGE_FACT_SIZE) : 0;
        text.length = n > 0 ? (size_t)n : 0;
    } else if (take(&rest, "body.") || take(&rest, "sdp.")) {
        result = MESSAGE_FACT_UNREAD;
    } else if (!judged_fact(message, key, &text) && !number_fact(message, key, &text) &&
               !text_fact(message, key, &text)) {
        result = field_fact(message, key, &text);
    }
    *length = text.length;
    return result;
}
