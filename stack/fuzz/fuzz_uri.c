/* fuzz_uri.c - any bytes as a URI and as the value of every header field.
 *
 * What must hold: a fault has its error, a rule and a place within the bytes; a value is read up to
 * a comma or the end; each view lies within the bytes; parameters are as many as were counted, and
 * each that is found by walking is found by name; comparison is reflexive and symmetric; undoing
 * quotes and escapes gives no more bytes than went in; what the builder takes, it writes so that it
 * reads back.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/addr.h>
#include <viaduct/build.h>
#include <viaduct/values.h>

#include <stdlib.h>

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static struct vd_str input;

static void check_view(struct vd_str view)
{
    if (view.n != 0) {
        must(view.p >= input.p && view.n <= input.n &&
             view.p - input.p <= (ptrdiff_t)(input.n - view.n));
    }
}

/* What a reader returned and noted. True when there is a value. */
static bool check_result(int result, const struct vd_fault *fault, bool list)
{
    if (result < 0) {
        must(fault->error == result && fault->rule != NULL && fault->offset <= input.n);
        return false;
    }
    must((size_t)result <= input.n);
    must((size_t)result == input.n || (list && input.p[result] == ','));
    return true;
}

/* Undoes a text's quotes and escapes into a buffer of its size. */
static void check_undone(struct vd_str text)
{
    check_view(text);
    char *out = malloc(text.n + 1);
    if (out == NULL) {
        return;
    }
    int n = vd_unquote(text, out, text.n);
    must(n >= 0 && (size_t)n <= text.n);
    n = vd_unescape(text, out, text.n);
    must(n == VD_ERR_SYNTAX || (n >= 0 && (size_t)n <= text.n));
    free(out);
}

static void check_params(const struct vd_params *params)
{
    struct vd_param param;
    size_t position = 0;
    unsigned count = 0;
    check_view(params->raw);
    while (vd_params_next(params, &position, &param)) {
        struct vd_str found;
        count++;
        must(param.name.n != 0);
        check_view(param.name);
        check_undone(param.value);
        must(vd_params_get(params, param.name, &found) == 0);
    }
    must(count == params->count);
}

static void check_uri(const struct vd_uri *uri)
{
    struct vd_addr addr;
    check_view(uri->raw);
    check_view(uri->scheme_name);
    check_view(uri->opaque);
    check_undone(uri->user);
    check_undone(uri->password);
    check_view(uri->host);
    check_params(&uri->params);
    check_params(&uri->headers);
    must(vd_uri_equal(uri, uri));
    if (uri->host_kind == VD_HOST_IP4) {
        must(vd_addr_parse(uri->host, 0, &addr) == 0 && addr.family == VD_FAMILY_IP4);
    }
}

/* Two URIs, parted by the first line feed. */
static void compare_uris(void)
{
    struct vd_uri a;
    struct vd_uri b;
    const char *feed = input.n != 0 ? memchr(input.p, '\n', input.n) : NULL;
    if (feed == NULL) {
        return;
    }
    size_t n = (size_t)(feed - input.p);
    if (vd_uri_parse(vd_str(input.p, n), &a, NULL) == 0 &&
        vd_uri_parse(vd_str(feed + 1, input.n - n - 1), &b, NULL) == 0) {
        must(vd_uri_equal(&a, &b) == vd_uri_equal(&b, &a));
    }
}

static void read_uri(void)
{
    struct vd_uri uri;
    struct vd_fault fault;
    int result = vd_uri_parse(input, &uri, &fault);
    if (!check_result(result == 0 ? (int)input.n : result, &fault, false)) {
        return;
    }
    must(vd_str_equal(uri.raw, input));
    check_uri(&uri);
}

static void read_address(bool in_list)
{
    struct vd_nameaddr value;
    struct vd_fault fault;
    if (!check_result(vd_nameaddr_parse(input, in_list, &value, &fault), &fault, in_list) ||
        value.star) {
        return;
    }
    check_undone(value.display);
    check_uri(&value.uri);
    check_params(&value.params);
    check_view(value.tag);
    check_view(value.q);
    check_view(value.expires);
}

static void read_via(void)
{
    struct vd_via via;
    struct vd_fault fault;
    struct vd_addr addr;
    if (!check_result(vd_via_parse(input, &via, &fault), &fault, true)) {
        return;
    }
    check_view(via.raw);
    check_view(via.transport);
    check_view(via.sent_by);
    check_view(via.host);
    check_params(&via.params);
    check_view(via.branch);
    check_view(via.maddr);
    check_view(via.received);
    must(via.host.n != 0 && via.transport.n != 0);
    (void)vd_via_has_cookie(&via);
    (void)vd_addr_parse(via.received, 0, &addr);
}

static void read_tokens(void)
{
    for (int id = 0; id < VD_HEADER_COUNT; id++) {
        struct vd_token token;
        struct vd_fault fault;
        if (!check_result(vd_token_parse(input, (enum vd_header_id)id, &token, &fault), &fault,
                          true)) {
            continue;
        }
        check_view(token.value);
        check_view(token.type);
        check_view(token.subtype);
        check_view(token.q);
        check_params(&token.params);
    }
}

static void read_auth(enum vd_header_id id)
{
    struct vd_auth auth;
    struct vd_fault fault;
    if (!check_result(vd_auth_parse(input, id, &auth, &fault), &fault, false)) {
        return;
    }
    check_view(auth.scheme);
    check_view(auth.word);
    check_params(&auth.params);
}

static void read_others(void)
{
    struct vd_fault fault;
    struct vd_info info;
    struct vd_cseq cseq;
    struct vd_date date;
    struct vd_retry_after retry;
    struct vd_timestamp timestamp;
    struct vd_warning warning;
    uint32_t number;
    if (check_result(vd_info_parse(input, &info, &fault), &fault, true)) {
        check_view(info.uri);
        check_params(&info.params);
    }
    if (check_result(vd_cseq_parse(input, &cseq, &fault), &fault, false)) {
        check_view(cseq.method);
        must(cseq.number <= INT32_MAX);
    }
    if (check_result(vd_number_parse(input, 70, &number, &fault), &fault, false)) {
        must(number <= 70);
    }
    if (check_result(vd_date_parse(input, &date, &fault), &fault, false)) {
        must(date.month >= 1 && date.month <= 12 && date.day >= 1 && date.day <= 31);
    }
    if (check_result(vd_retry_after_parse(input, &retry, &fault), &fault, false)) {
        check_view(retry.comment);
        check_params(&retry.params);
    }
    (void)check_result(vd_timestamp_parse(input, &timestamp, &fault), &fault, false);
    if (check_result(vd_warning_parse(input, &warning, &fault), &fault, true)) {
        check_view(warning.agent);
        check_undone(warning.text);
    }
}

/* The bytes as a display name: refused, or read back as they are. */
static void build_display(void)
{
    static char room[8192];
    static char text[8192];
    struct vd_builder builder;
    struct vd_nameaddr value;
    if (input.n == 0 || input.n > 4000) {
        return;
    }
    vd_builder_init(&builder, room, sizeof room);
    vd_build_request_line(&builder, VD_STR("A"), VD_STR("sip:a"));
    size_t before = builder.length + 4; /* "To: " */
    int error = vd_build_nameaddr(&builder, VD_HEADER_TO, input, VD_STR("sip:a"), VD_STR("t"));
    if (error != 0) {
        return;
    }
    struct vd_str built = vd_str(room + before, builder.length - before - 2);
    must(memchr(built.p, '\r', built.n) == NULL && memchr(built.p, '\n', built.n) == NULL);
    must(vd_nameaddr_parse(built, false, &value, NULL) == (int)built.n);
    int n = vd_unquote(value.display, text, sizeof text);
    must(n >= 0 && vd_str_equal(vd_str(text, (size_t)n), input));
}

/* The bytes as a value: refused, or one line. */
static void build_value(void)
{
    static char room[8192];
    struct vd_builder builder;
    if (input.n > 4000) {
        return;
    }
    vd_builder_init(&builder, room, sizeof room);
    vd_build_request_line(&builder, VD_STR("A"), VD_STR("sip:a"));
    size_t before = builder.length;
    if (vd_build_header(&builder, VD_HEADER_SUBJECT, input) != 0) {
        return;
    }
    struct vd_str line = vd_str(room + before, builder.length - before - 2);
    must(memchr(line.p, '\r', line.n) == NULL && memchr(line.p, '\n', line.n) == NULL &&
         memchr(line.p, '\0', line.n) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input = vd_str((const char *)data, size);
    compare_uris();
    read_uri();
    read_address(false);
    read_address(true);
    read_via();
    read_tokens();
    read_auth(VD_HEADER_AUTHORIZATION);
    read_auth(VD_HEADER_AUTHENTICATION_INFO);
    read_others();
    build_display();
    build_value();
    return 0;
}
