/* test_build.c - the builder.
 *
 * Covered: each function's bytes; that no CR, LF or NUL of a caller reaches the wire, wherever it
 * stands; folds; the error that sticks; the order of calls; buffers of every size too small and of
 * just the right one; growing, and growing that fails; random values that read back as built. Not
 * covered: messages as the stack builds them (the transaction tests).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/build.h>
#include <viaduct/values.h>

#include "guard.h"
#include "run_suite.h"
#include "test_random.h"

#include <stdio.h>
#include <stdlib.h>

static char data[4096];
static struct guard guard;

static struct vd_builder started(void)
{
    struct vd_builder builder;
    vd_builder_init(&builder, data, sizeof data);
    vd_build_request_line(&builder, VD_STR("OPTIONS"), VD_STR("sip:a"));
    return builder;
}

#define START "OPTIONS sip:a SIP/2.0\r\n"

static bool holds(const struct vd_builder *builder, const char *expected)
{
    struct vd_str text = vd_str(builder->data, builder->length);
    bool equal = vd_str_equal(text, vd_str_from(expected));
    if (!equal) {
        printf("\n  \"%.*s\" is not \"%s\"\n", (int)text.n, text.p, expected);
    }
    return equal;
}

static int build_request(struct vd_builder *builder)
{
    vd_build_request_line(builder, VD_STR("MESSAGE"), VD_STR("sip:bob@example.com;x=y"));
    vd_build_header(builder, VD_HEADER_VIA, VD_STR("SIP/2.0/UDP a\r\n ;branch=z9hG4bK1"));
    vd_build_nameaddr(builder, VD_HEADER_FROM, VD_STR("A \"b\" \\ \xc3\xa9 \x01"),
                      VD_STR("sip:a@b;c"), VD_STR("t1"));
    vd_build_nameaddr(builder, VD_HEADER_TO, VD_STR(""), VD_STR("sip:b"), VD_STR(""));
    vd_build_cseq(builder, 2147483647, VD_STR("MESSAGE"));
    vd_build_number(builder, VD_HEADER_MAX_FORWARDS, 0);
    vd_build_number(builder, VD_HEADER_EXPIRES, UINT32_MAX);
    vd_build_header_named(builder, VD_STR("X-One"), VD_STR(""));
    vd_build_begin_header(builder, VD_HEADER_WARNING);
    vd_build_text(builder, VD_STR("399 a "));
    vd_build_quoted(builder, VD_STR("\""));
    vd_build_text(builder, VD_STR(";n="));
    vd_build_text_number(builder, UINT64_MAX);
    vd_build_end_header(builder);
    return vd_build_end(builder, VD_STR("text/plain"), VD_STR("a\0\r\nb"));
}

#define REQUEST                                                                                    \
    "MESSAGE sip:bob@example.com;x=y SIP/2.0\r\n"                                                  \
    "Via: SIP/2.0/UDP a ;branch=z9hG4bK1\r\n"                                                      \
    "From: \"A \\\"b\\\" \\\\ \xc3\xa9 \\\x01\" <sip:a@b;c>;tag=t1\r\n"                            \
    "To: <sip:b>\r\n"                                                                              \
    "CSeq: 2147483647 MESSAGE\r\n"                                                                 \
    "Max-Forwards: 0\r\n"                                                                          \
    "Expires: 4294967295\r\n"                                                                      \
    "X-One: \r\n"                                                                                  \
    "Warning: 399 a \"\\\"\";n=18446744073709551615\r\n"                                           \
    "Content-Type: text/plain\r\n"                                                                 \
    "Content-Length: 5\r\n"                                                                        \
    "\r\n"                                                                                         \
    "a\0\r\nb"

#define REQUEST_SIZE (sizeof(REQUEST) - 1)

static void request_is_written_to_the_byte(void)
{
    struct vd_builder builder;
    vd_builder_init(&builder, data, sizeof data);
    CU_ASSERT_EQUAL(build_request(&builder), 0);
    CU_ASSERT(vd_str_equal(vd_str(builder.data, builder.length), VD_STR(REQUEST)));
    CU_ASSERT(builder.ended);
    CU_ASSERT_EQUAL(builder.cseq_method, VD_METHOD_MESSAGE);
    static const enum vd_header_id ids[] = {
        VD_HEADER_VIA,          VD_HEADER_FROM,           VD_HEADER_TO,
        VD_HEADER_CSEQ,         VD_HEADER_EXPIRES,        VD_HEADER_WARNING,
        VD_HEADER_CONTENT_TYPE, VD_HEADER_CONTENT_LENGTH, VD_HEADER_MAX_FORWARDS};
    uint64_t written = 0;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        written |= UINT64_C(1) << ids[i];
    }
    CU_ASSERT_EQUAL(builder.written, written);
}

static void response_is_written_to_the_byte(void)
{
    struct vd_builder builder;
    vd_builder_init(&builder, data, sizeof data);
    CU_ASSERT_EQUAL(vd_build_status_line(&builder, 699, VD_STR("\xc3\x84 no")), 0);
    CU_ASSERT_EQUAL(vd_build_end(&builder, VD_STR(""), VD_STR("")), 0);
    CU_ASSERT(holds(&builder, "SIP/2.0 699 \xc3\x84 no\r\nContent-Length: 0\r\n\r\n"));
    vd_builder_init(&builder, data, sizeof data);
    CU_ASSERT_EQUAL(vd_build_status_line(&builder, 200, VD_STR("")), 0);
    CU_ASSERT(holds(&builder, "SIP/2.0 200 OK\r\n"));
}

/* ---- Injection ---- */

static int use_method(struct vd_builder *builder, struct vd_str text)
{
    builder->length = 0;
    return vd_build_request_line(builder, text, VD_STR("sip:a"));
}

static int use_uri(struct vd_builder *builder, struct vd_str text)
{
    builder->length = 0;
    return vd_build_request_line(builder, VD_STR("A"), text);
}

static int use_reason(struct vd_builder *builder, struct vd_str text)
{
    builder->length = 0;
    return vd_build_status_line(builder, 200, text);
}

static int use_value(struct vd_builder *builder, struct vd_str text)
{
    return vd_build_header(builder, VD_HEADER_SUBJECT, text);
}

static int use_named_value(struct vd_builder *builder, struct vd_str text)
{
    return vd_build_header_named(builder, VD_STR("X"), text);
}

static int use_name(struct vd_builder *builder, struct vd_str text)
{
    return vd_build_header_named(builder, text, VD_STR("x"));
}

static int use_cseq_method(struct vd_builder *builder, struct vd_str text)
{
    return vd_build_cseq(builder, 1, text);
}

static int use_display(struct vd_builder *builder, struct vd_str text)
{
    return vd_build_nameaddr(builder, VD_HEADER_TO, text, VD_STR("sip:a"), VD_STR(""));
}

static int use_address(struct vd_builder *builder, struct vd_str text)
{
    return vd_build_nameaddr(builder, VD_HEADER_TO, VD_STR("x"), text, VD_STR(""));
}

static int use_tag(struct vd_builder *builder, struct vd_str text)
{
    return vd_build_nameaddr(builder, VD_HEADER_TO, VD_STR("x"), VD_STR("sip:a"), text);
}

static int use_text(struct vd_builder *builder, struct vd_str text)
{
    vd_build_begin_header(builder, VD_HEADER_SUBJECT);
    return vd_build_text(builder, text);
}

static int use_quoted(struct vd_builder *builder, struct vd_str text)
{
    vd_build_begin_header(builder, VD_HEADER_SUBJECT);
    return vd_build_quoted(builder, text);
}

static int use_content_type(struct vd_builder *builder, struct vd_str text)
{
    return vd_build_end(builder, text, VD_STR("x"));
}

typedef int (*use)(struct vd_builder *builder, struct vd_str text);

static const use uses[] = {use_method, use_uri,     use_reason,      use_value, use_named_value,
                           use_name,   use_display, use_address,     use_tag,   use_cseq_method,
                           use_text,   use_quoted,  use_content_type};

static void no_line_end_and_no_nul_of_a_caller_is_written(void)
{
    static const struct vd_str parts[] = {{"\r", 1},   {"\n", 1},    {"\0", 1},      {"\r\n", 2},
                                          {"\n\r", 2}, {"\r\nX", 3}, {"\r\n\r\n", 4}};
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            /* Every place in texts of every length up to three words, for the copying loop. */
            for (size_t n = parts[k].n; n < 24; n++) {
                for (size_t at = 0; at + parts[k].n <= n; at++) {
                    char text[24];
                    memset(text, 'a', n);
                    memcpy(text + at, parts[k].p, parts[k].n);
                    struct vd_builder builder = started();
                    int error = uses[i](&builder, vd_str(guard_place(&guard, text, n), n));
                    CU_ASSERT_EQUAL(error, VD_ERR_INVALID);
                    CU_ASSERT_EQUAL(builder.error, VD_ERR_INVALID);
                    CU_ASSERT_EQUAL(vd_build_end(&builder, VD_STR(""), VD_STR("")), VD_ERR_INVALID);
                }
            }
        }
    }
}

static void text_without_them_is_written(void)
{
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        for (size_t n = 1; n < 24; n++) {
            char text[24];
            memset(text, 'a', n);
            struct vd_builder builder = started();
            CU_ASSERT_EQUAL(uses[i](&builder, vd_str(guard_place(&guard, text, n), n)), 0);
        }
    }
}

static void fold_is_written_as_one_space(void)
{
    static const char *const cases[][2] = {
        {"a\r\n b", "a b"},
        {"a\r\n\tb", "a b"},
        {"a\r\n   \t b", "a b"},
        {"a\r\n \r\n b", "a b"},
        {"\r\n b", " b"},
        {"a\r\n ", "a "},
        {"12345678\r\n 12345678\r\n\t1", "12345678 12345678 1"},
        {"a\tb", "a\tb"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[128];
        size_t n = strlen(cases[i][0]);
        struct vd_builder builder = started();
        struct vd_str text = vd_str(guard_place(&guard, cases[i][0], n), n);
        CU_ASSERT_EQUAL(vd_build_header(&builder, VD_HEADER_SUBJECT, text), 0);
        snprintf(expected, sizeof expected, START "Subject: %s\r\n", cases[i][1]);
        CU_ASSERT(holds(&builder, expected));
        /* The buffer may be just as large as what is written. */
        size_t size = builder.length;
        vd_builder_init(&builder, data, size);
        vd_build_request_line(&builder, VD_STR("OPTIONS"), VD_STR("sip:a"));
        CU_ASSERT_EQUAL(vd_build_header(&builder, VD_HEADER_SUBJECT, text), 0);
        CU_ASSERT_EQUAL(builder.length, size);
    }
}

/* ---- What is refused ---- */

static void argument_out_of_its_range_is_refused(void)
{
    struct vd_str x = VD_STR("x");
    struct vd_str none = VD_STR("");
    struct vd_builder b;
#define REFUSED(call)                                                                              \
    b = started();                                                                                 \
    CU_ASSERT_EQUAL(call, VD_ERR_INVALID);                                                         \
    CU_ASSERT_EQUAL(b.error, VD_ERR_INVALID)
    REFUSED(vd_build_header(&b, VD_HEADER_OTHER, x));
    REFUSED(vd_build_header(&b, VD_HEADER_COUNT, x));
    REFUSED(vd_build_header(&b, VD_HEADER_CONTENT_LENGTH, VD_STR("0")));
    REFUSED(vd_build_header(&b, VD_HEADER_CSEQ, VD_STR("x")));
    REFUSED(vd_build_header_named(&b, none, x));
    REFUSED(vd_build_header_named(&b, VD_STR("a b"), x));
    REFUSED(vd_build_header_named(&b, VD_STR("a:"), x));
    REFUSED(vd_build_header_named(&b, VD_STR("content-LENGTH"), VD_STR("0")));
    REFUSED(vd_build_header_named(&b, VD_STR("l"), VD_STR("0")));
    REFUSED(vd_build_number(&b, VD_HEADER_CONTENT_LENGTH, 0));
    REFUSED(vd_build_number(&b, VD_HEADER_CSEQ, 0));
    REFUSED(vd_build_cseq(&b, 2147483648, x));
    REFUSED(vd_build_cseq(&b, 1, none));
    REFUSED(vd_build_cseq(&b, 1, VD_STR("a b")));
    REFUSED(vd_build_nameaddr(&b, VD_HEADER_TO, none, none, none));
    REFUSED(vd_build_nameaddr(&b, VD_HEADER_TO, none, VD_STR("sip:a>"), none));
    REFUSED(vd_build_nameaddr(&b, VD_HEADER_TO, none, VD_STR("<sip:a"), none));
    REFUSED(vd_build_nameaddr(&b, VD_HEADER_TO, none, VD_STR("sip: a"), none));
    REFUSED(vd_build_nameaddr(&b, VD_HEADER_TO, none, VD_STR("sip:a"), VD_STR("a;b")));
    REFUSED(vd_build_nameaddr(&b, VD_HEADER_TO, VD_STR("\xff"), VD_STR("sip:a"), none));
    REFUSED(vd_build_nameaddr(&b, VD_HEADER_OTHER, none, VD_STR("sip:a"), none));
    REFUSED(vd_build_begin_header(&b, VD_HEADER_OTHER));
    REFUSED(vd_build_begin_header(&b, VD_HEADER_CONTENT_LENGTH));
    REFUSED(vd_build_begin_header(&b, VD_HEADER_CSEQ));
    REFUSED(vd_build_end(&b, none, x));
#undef REFUSED
    static const int statuses[] = {-1, 0, 99, 700, 1000};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        vd_builder_init(&b, data, sizeof data);
        CU_ASSERT_EQUAL(vd_build_status_line(&b, statuses[i], x), VD_ERR_INVALID);
    }
    static const char *const uris[] = {"", "sip: a", "<sip:a>", "sip:a\t", "sip:a\x7f"};
    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
        vd_builder_init(&b, data, sizeof data);
        CU_ASSERT_EQUAL(vd_build_request_line(&b, x, vd_str_from(uris[i])), VD_ERR_INVALID);
    }
    vd_builder_init(&b, data, sizeof data);
    CU_ASSERT_EQUAL(vd_build_request_line(&b, VD_STR("A B"), x), VD_ERR_INVALID);
    vd_builder_init(&b, data, sizeof data);
    CU_ASSERT_EQUAL(vd_build_request_line(&b, none, x), VD_ERR_INVALID);
}

static void content_type_stands_once_and_with_a_body(void)
{
    struct vd_builder b = started();
    vd_build_header(&b, VD_HEADER_CONTENT_TYPE, VD_STR("a/b"));
    CU_ASSERT_EQUAL(vd_build_end(&b, VD_STR(""), VD_STR("x")), 0);
    CU_ASSERT(holds(&b, START "Content-Type: a/b\r\nContent-Length: 1\r\n\r\nx"));
    b = started();
    vd_build_header_named(&b, VD_STR("c"), VD_STR("a/b"));
    CU_ASSERT_EQUAL(vd_build_end(&b, VD_STR("c/d"), VD_STR("x")), VD_ERR_INVALID);
    b = started();
    CU_ASSERT_EQUAL(vd_build_end(&b, VD_STR("c/d"), VD_STR("")), 0);
    CU_ASSERT(holds(&b, START "Content-Type: c/d\r\nContent-Length: 0\r\n\r\n"));
}

static void cseq_as_text_tells_its_method(void)
{
    struct vd_builder b = started();
    CU_ASSERT_EQUAL(vd_build_header(&b, VD_HEADER_CSEQ, VD_STR("7 ACK")), 0);
    CU_ASSERT_EQUAL(b.cseq_method, VD_METHOD_ACK);
    b = started();
    CU_ASSERT_EQUAL(vd_build_header_named(&b, VD_STR("cseq"), VD_STR("7 BYE")), 0);
    CU_ASSERT_EQUAL(b.cseq_method, VD_METHOD_BYE);
}

static void calls_in_another_order_are_refused(void)
{
    struct vd_str x = VD_STR("x");
    struct vd_builder b;
    vd_builder_init(&b, data, sizeof data);
    CU_ASSERT_EQUAL(vd_build_header(&b, VD_HEADER_SUBJECT, x), VD_ERR_STATE);
    CU_ASSERT_EQUAL(b.error, VD_ERR_STATE);
    vd_builder_init(&b, data, sizeof data);
    CU_ASSERT_EQUAL(vd_build_end(&b, VD_STR(""), VD_STR("")), VD_ERR_STATE);
    b = started();
    CU_ASSERT_EQUAL(vd_build_request_line(&b, x, x), VD_ERR_STATE);
    b = started();
    CU_ASSERT_EQUAL(vd_build_text(&b, x), VD_ERR_STATE);
    b = started();
    CU_ASSERT_EQUAL(vd_build_end_header(&b), VD_ERR_STATE);
    b = started();
    CU_ASSERT_EQUAL(vd_build_begin_header(&b, VD_HEADER_SUBJECT), 0);
    CU_ASSERT_EQUAL(vd_build_header(&b, VD_HEADER_SUBJECT, x), VD_ERR_STATE);
    b = started();
    CU_ASSERT_EQUAL(vd_build_begin_header(&b, VD_HEADER_SUBJECT), 0);
    CU_ASSERT_EQUAL(vd_build_end(&b, VD_STR(""), VD_STR("")), VD_ERR_STATE);
}

static void call_after_the_end_changes_nothing(void)
{
    struct vd_str x = VD_STR("x");
    struct vd_builder b = started();
    CU_ASSERT_EQUAL(vd_build_end(&b, VD_STR(""), VD_STR("")), 0);
    size_t length = b.length;
    CU_ASSERT_EQUAL(vd_build_header(&b, VD_HEADER_SUBJECT, x), VD_ERR_STATE);
    CU_ASSERT_EQUAL(vd_build_text(&b, x), VD_ERR_STATE);
    CU_ASSERT_EQUAL(vd_build_end(&b, x, x), VD_ERR_STATE);
    CU_ASSERT_EQUAL(vd_build_status_line(&b, 200, x), VD_ERR_STATE);
    CU_ASSERT_EQUAL(b.length, length);
    CU_ASSERT_EQUAL(b.error, 0);
}

static void first_error_sticks(void)
{
    struct vd_builder b = started();
    CU_ASSERT_EQUAL(vd_build_cseq(&b, 2147483648, VD_STR("A")), VD_ERR_INVALID);
    size_t length = b.length;
    CU_ASSERT_EQUAL(vd_build_text(&b, VD_STR("x")), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_build_header(&b, VD_HEADER_SUBJECT, VD_STR("x")), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(vd_build_end(&b, VD_STR(""), VD_STR("")), VD_ERR_INVALID);
    CU_ASSERT_EQUAL(b.length, length);
}

/* ---- Room ---- */

static void buffer_of_every_smaller_size_is_too_small(void)
{
    char *room = malloc(REQUEST_SIZE + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(room);
    for (size_t size = 0; size < REQUEST_SIZE; size++) {
        struct vd_builder builder;
        memset(room, 0x5a, REQUEST_SIZE + 1);
        vd_builder_init(&builder, room, size);
        CU_ASSERT_EQUAL(build_request(&builder), VD_ERR_SPACE);
        CU_ASSERT(builder.length <= size);
        CU_ASSERT_EQUAL(room[size], 0x5a);
    }
    struct vd_builder builder;
    vd_builder_init(&builder, room, REQUEST_SIZE);
    CU_ASSERT_EQUAL(build_request(&builder), 0);
    CU_ASSERT_EQUAL(builder.length, REQUEST_SIZE);
    free(room);
}

struct growth {
    char *room;
    int left;
};

static int grow(struct vd_builder *builder, size_t needed)
{
    struct growth *growth = builder->owner;
    if (growth->left-- == 0) {
        return VD_ERR_NOMEM;
    }
    char *room = malloc(needed);
    CU_ASSERT_PTR_NOT_NULL_FATAL(room);
    if (builder->length != 0) {
        memcpy(room, builder->data, builder->length);
    }
    free(growth->room);
    growth->room = room;
    builder->data = room;
    builder->capacity = needed;
    return 0;
}

static void builder_grows_and_passes_on_why_it_can_not(void)
{
    for (int most = 0; most < 20; most++) {
        struct growth growth = {NULL, most};
        struct vd_builder builder;
        vd_builder_init(&builder, NULL, 0);
        builder.grow = grow;
        builder.owner = &growth;
        int error = build_request(&builder);
        if (error == 0) {
            CU_ASSERT(vd_str_equal(vd_str(builder.data, builder.length), VD_STR(REQUEST)));
        } else {
            CU_ASSERT_EQUAL(error, VD_ERR_NOMEM);
        }
        CU_ASSERT(most > 0 || error == VD_ERR_NOMEM);
        CU_ASSERT(most < 19 || error == 0);
        free(growth.room);
    }
}

/* ---- Random values ---- */

static void random_address_reads_back_as_it_was_built(void)
{
    static const char *const characters[] = {"a",
                                             "\"",
                                             "\\",
                                             " ",
                                             "\t",
                                             "<",
                                             ">",
                                             ",",
                                             ";",
                                             "\x01",
                                             "\x7f",
                                             "\xc3\xa9",
                                             "\xf0\x9f\x8c\xa1",
                                             "(",
                                             "z"};
    struct test_random numbers = test_random_start();
    for (int round = 0; round < 20000; round++) {
        char display[160] = "";
        char tag[24];
        char text[160];
        struct vd_nameaddr value;
        struct vd_builder b = started();
        unsigned n = (unsigned)test_random_below(&numbers, 30) + 1;
        for (unsigned i = 0; i < n; i++) {
            strcat(display, characters[test_random_below(&numbers, 15)]);
        }
        snprintf(tag, sizeof tag, "%llx", (unsigned long long)test_random_next(&numbers));
        size_t before = b.length + strlen("Contact: ");
        CU_ASSERT_EQUAL_FATAL(vd_build_nameaddr(&b, VD_HEADER_CONTACT, vd_str_from(display),
                                                VD_STR("sip:a@b;c?d=e"), vd_str_from(tag)),
                              0);
        struct vd_str built = vd_str(b.data + before, b.length - before - 2);
        CU_ASSERT_EQUAL_FATAL(vd_nameaddr_parse(built, true, &value, NULL), (int)built.n);
        int length = vd_unquote(value.display, text, sizeof text);
        CU_ASSERT_FATAL(length >= 0);
        CU_ASSERT(vd_str_equal(vd_str(text, (size_t)length), vd_str_from(display)));
        CU_ASSERT(vd_str_equal(value.tag, vd_str_from(tag)));
        CU_ASSERT(vd_str_equal(value.uri.raw, VD_STR("sip:a@b;c?d=e")));
    }
}

static void numbers_of_every_length_are_written(void)
{
    uint64_t number = 0;
    for (int digits = 0; digits < 20; digits++) {
        static const int offsets[] = {-1, 0, 1};
        for (size_t i = 0; i < 3; i++) {
            char expected[64];
            uint64_t n = number + (uint64_t)(int64_t)offsets[i];
            struct vd_builder b = started();
            vd_build_begin_header(&b, VD_HEADER_SUBJECT);
            CU_ASSERT_EQUAL(vd_build_text_number(&b, n), 0);
            snprintf(expected, sizeof expected, START "Subject: %llu", (unsigned long long)n);
            CU_ASSERT(holds(&b, expected));
        }
        number = number == 0 ? 1 : number * 10;
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"request_is_written_to_the_byte", request_is_written_to_the_byte},
        {"response_is_written_to_the_byte", response_is_written_to_the_byte},
        {"no_line_end_and_no_nul_of_a_caller_is_written",
         no_line_end_and_no_nul_of_a_caller_is_written},
        {"text_without_them_is_written", text_without_them_is_written},
        {"fold_is_written_as_one_space", fold_is_written_as_one_space},
        {"argument_out_of_its_range_is_refused", argument_out_of_its_range_is_refused},
        {"content_type_stands_once_and_with_a_body", content_type_stands_once_and_with_a_body},
        {"cseq_as_text_tells_its_method", cseq_as_text_tells_its_method},
        {"calls_in_another_order_are_refused", calls_in_another_order_are_refused},
        {"call_after_the_end_changes_nothing", call_after_the_end_changes_nothing},
        {"first_error_sticks", first_error_sticks},
        {"buffer_of_every_smaller_size_is_too_small", buffer_of_every_smaller_size_is_too_small},
        {"builder_grows_and_passes_on_why_it_can_not", builder_grows_and_passes_on_why_it_can_not},
        {"random_address_reads_back_as_it_was_built", random_address_reads_back_as_it_was_built},
        {"numbers_of_every_length_are_written", numbers_of_every_length_are_written},
        CU_TEST_INFO_NULL,
    };
    if (!guard_init(&guard, 4096)) {
        return 1;
    }
    int status = run_suite("build", tests);
    guard_free(&guard);
    return status;
}
