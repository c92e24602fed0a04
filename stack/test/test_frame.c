/* test_frame.c - messages and keep-alives in a stream.
 *
 * Covered: a stream of messages and CRLFs gives the same frames whole, a byte at a time and cut at
 * random, each piece at an unreadable page and at a new address; pings and pongs however they are
 * cut; a message that follows at once; bodies that look like messages; every error and that it
 * stays; that a header block past its limit is refused when the limit is reached and garbage at its
 * first byte; that what was searched is not searched again. Not covered: what makes a message good
 * or bad (test_parse.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/frame.h>

#include <stdio.h>
#include <stdlib.h>

#include "guard.h"
#include "run_suite.h"
#include "test_random.h"

#define HEADERS 32

static struct guard guard;
static struct vd_header headers[HEADERS];
static struct vd_message message;

/* What a stream was found to hold: 'M' and the Call-ID of a message, '!' for a ping, '.' for a
 * pong, or the error that ended it. */
struct trace {
    char text[512];
    size_t length;
    int error;
};

static void note(struct trace *trace, const struct vd_frame *frame)
{
    struct vd_str call_id = {"", 0};
    if (frame->kind == VD_FRAME_MESSAGE) {
        vd_message_text(&message, VD_HEADER_CALL_ID, &call_id);
    }
    const char *kind = frame->kind == VD_FRAME_MESSAGE ? "M"
                       : frame->kind == VD_FRAME_PING  ? "!"
                                                       : ".";
    trace->length +=
        (size_t)snprintf(trace->text + trace->length, sizeof trace->text - trace->length, "%s%.*s",
                         kind, (int)call_id.n, call_id.p);
}

/* Feeds a stream in pieces of at most `most` bytes, or of `most` exactly when random is NULL. */
static void feed(struct trace *trace, const char *bytes, size_t size, size_t most,
                 struct test_random *random)
{
    struct vd_framer framer;
    vd_framer_init(&framer);
    *trace = (struct trace){0};
    size_t done = 0;
    size_t received = 0;
    while (received < size) {
        size_t piece = random != NULL ? 1 + test_random_below(random, most) : most;
        received += piece < size - received ? piece : size - received;
        struct vd_frame frame;
        do {
            const char *place = guard_place(&guard, bytes + done, received - done);
            trace->error = vd_framer_next(&framer, place, received - done, NULL, &message, &frame);
            if (trace->error != 0) {
                CU_ASSERT_EQUAL(frame.kind, VD_FRAME_NONE);
                return;
            }
            CU_ASSERT((frame.kind == VD_FRAME_NONE) == (frame.consumed == 0));
            CU_ASSERT_FATAL(frame.consumed <= received - done);
            done += frame.consumed;
            if (frame.kind != VD_FRAME_NONE) {
                note(trace, &frame);
            }
        } while (frame.kind != VD_FRAME_NONE);
    }
}

static void feed_text(struct trace *trace, const char *text, size_t most)
{
    feed(trace, text, strlen(text), most, NULL);
}

#define MESSAGE(id) "OPTIONS sip:a@example.com SIP/2.0\r\nCall-ID: " id "\r\n"

/* Message 1 has a body; 2 has none; 3 has folds, and a body of CRLFs; 4 has no Content-Length; the
 * body of 5 is a message. */
static const char stream[] = MESSAGE("1") "l: 5\r\n\r\nhello" MESSAGE(
    "2") "l: 0\r\n\r\n\r\n" MESSAGE("3") "Subject: a\r\n \r\n\tb\r\nContent-Length : "
                                         "04\r\n\r\n\r\n\r\n" MESSAGE("4") "To: \"\\\001\" "
                                                                           "<sip:a>\r\n\r\n"
                                                                           "SIP/2.0 200 "
                                                                           "OK\r\nCall-ID: 5\r\nl: "
                                                                           "39\r\n\r\nOPTIONS "
                                                                           "sip:x@example.com "
                                                                           "SIP/2.0\r\n\r\n\r\n"
                                                                           "\r\n\r\n\r\n\r\n\r"
                                                                           "\n" MESSAGE("6") "\r\n";

static void messages_are_told_apart_however_the_stream_is_cut(void)
{
    struct trace trace;
    feed_text(&trace, stream, sizeof stream);
    CU_ASSERT_EQUAL(trace.error, 0);
    CU_ASSERT_STRING_EQUAL(trace.text, "M1M2.M3M4M5!!.M6");
    feed_text(&trace, stream, 1);
    CU_ASSERT_STRING_EQUAL(trace.text, "M1M2.M3M4M5.!.!.M6");

    struct test_random random = {7};
    for (int round = 0; round < 500; round++) {
        feed(&trace, stream, strlen(stream), 1 + test_random_below(&random, 200), &random);
        CU_ASSERT_EQUAL(trace.error, 0);
        /* Pongs depend on the cuts; messages and pings do not. */
        char text[sizeof trace.text];
        size_t n = 0;
        for (const char *p = trace.text; *p != '\0'; p++) {
            if (*p != '.') {
                text[n++] = *p;
            }
        }
        text[n] = '\0';
        CU_ASSERT_STRING_EQUAL(text, "M1M2M3M4M5!!M6");
    }
}

/* RFC 5626 3.5.1 */
static void a_ping_is_two_line_ends_however_they_are_cut(void)
{
    static const struct {
        const char *bytes;
        const char *whole;
        const char *cut;
    } cases[] = {
        {"\r\n", ".", "."},
        {"\r\n\r\n", "!", ".!"},
        {"\r\n\r\n\r\n", "!.", ".!."},
        {"\r\n\r\n\r\n\r\n", "!!", ".!.!"},
        {"\r", "", ""},
        {"\r\n\r", ".", "."},
        {"\r\n" MESSAGE("1") "\r\n", ".M1", ".M1"},
        {"\r\n\r\n" MESSAGE("1") "\r\n\r\n", "!M1.", ".!M1."},
        {MESSAGE("1") "\r\n\r\n" MESSAGE("2") "\r\n\r\n", "M1.M2.", "M1.M2."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace trace;
        feed_text(&trace, cases[i].bytes, 1000);
        CU_ASSERT_EQUAL(trace.error, 0);
        CU_ASSERT_STRING_EQUAL(trace.text, cases[i].whole);
        feed_text(&trace, cases[i].bytes, 1);
        CU_ASSERT_EQUAL(trace.error, 0);
        CU_ASSERT_STRING_EQUAL(trace.text, cases[i].cut);
    }
    /* One segment with half a ping, then one with the rest. */
    struct trace trace;
    feed_text(&trace, "\r\n\r\n", 3);
    CU_ASSERT_STRING_EQUAL(trace.text, ".!");
}

static void errors_end_the_stream(void)
{
    static const struct {
        const char *bytes;
        const char *trace;
        int error;
    } cases[] = {
        {"\rOPTIONS", "", VD_ERR_NOT_SIP},
        {"\r\r\n", "", VD_ERR_NOT_SIP},
        {"\r\n\rX", ".", VD_ERR_NOT_SIP},
        {"\nOPTIONS", "", VD_ERR_NOT_SIP},
        {"\026\003\001", "", VD_ERR_NOT_SIP},
        {"GET / HTTP/1.1\r\n\r\n", "", VD_ERR_NOT_SIP},
        {MESSAGE("1") "\r\nx: y\r\n\r\n", "M1", VD_ERR_NOT_SIP},
        {MESSAGE("1") "l: 3\r\n\r\nhel{}" MESSAGE("2") "\r\n", "M1", VD_ERR_NOT_SIP},
        {" OPTIONS", "", VD_ERR_NOT_SIP},
        {MESSAGE("1") "l: -1\r\n\r\n" MESSAGE("2") "\r\n", "", VD_ERR_SYNTAX},
        {MESSAGE("1") "l: +5\r\n\r\nhello", "", VD_ERR_SYNTAX},
        {MESSAGE("1") "l: 5 5\r\n\r\nhello", "", VD_ERR_SYNTAX},
        {MESSAGE("1") "l:\r\n\r\nhello", "", VD_ERR_SYNTAX},
        {MESSAGE("1") "l: 0\r\nContent-Length: 0\r\n\r\n", "", VD_ERR_DUPLICATE},
        {MESSAGE("1") "l: 4294967296\r\n\r\n", "", VD_ERR_TOO_LARGE},
        {MESSAGE("1") "Subject: lunch\nl: 0\r\nl: 33\r\n\r\n" MESSAGE("2") "\r\n", "",
         VD_ERR_SYNTAX},
        {MESSAGE("1") "Subject: lunch\rl: 0\r\nl: 33\r\n\r\n" MESSAGE("2") "\r\n", "",
         VD_ERR_SYNTAX},
        {"OPTIONS sip:a SIP/3.0\r\n\r\n", "", VD_ERR_VERSION},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace trace;
        size_t piece = sizeof stream;
        for (int round = 0; round < 2; round++, piece = 1) {
            feed_text(&trace, cases[i].bytes, piece);
            if (trace.error != cases[i].error) {
                printf("\n    %s: %d", cases[i].bytes, trace.error);
            }
            CU_ASSERT_EQUAL(trace.error, cases[i].error);
            CU_ASSERT_STRING_EQUAL(trace.text, cases[i].trace);
        }
    }
}

/* What follows a fault could be anything. */
static void nothing_is_read_after_an_error(void)
{
    static const char good[] = MESSAGE("1") "\r\n";
    struct vd_framer framer;
    struct vd_frame frame;
    vd_framer_init(&framer);
    const char *bad = "OPTIONS sip:a SIP/3.0\r\n\r\n";
    CU_ASSERT_EQUAL(vd_framer_next(&framer, bad, strlen(bad), NULL, &message, &frame),
                    VD_ERR_VERSION);
    for (int round = 0; round < 3; round++) {
        frame = (struct vd_frame){VD_FRAME_MESSAGE, 1};
        CU_ASSERT_EQUAL(vd_framer_next(&framer, good, strlen(good), NULL, &message, &frame),
                        VD_ERR_VERSION);
        CU_ASSERT(frame.kind == VD_FRAME_NONE && frame.consumed == 0);
    }
    vd_framer_init(&framer);
    CU_ASSERT_EQUAL(vd_framer_next(&framer, good, strlen(good), NULL, &message, &frame), 0);
    CU_ASSERT_EQUAL(frame.kind, VD_FRAME_MESSAGE);
}

/* A peer that never ends its header fields gets no more than header_size bytes of buffer. */
static void an_endless_header_block_is_refused_at_the_limit(void)
{
    struct vd_limits limits;
    vd_limits_init(&limits);
    limits.header_size = 500;
    char bytes[600];
    size_t n = (size_t)snprintf(bytes, sizeof bytes, MESSAGE("1") "X: ");
    memset(bytes + n, 'x', sizeof bytes - n);

    struct vd_framer framer;
    struct vd_frame frame;
    vd_framer_init(&framer);
    for (size_t size = 1; size < limits.header_size; size++) {
        const char *place = guard_place(&guard, bytes, size);
        CU_ASSERT_EQUAL(vd_framer_next(&framer, place, size, &limits, &message, &frame), 0);
        CU_ASSERT_EQUAL(frame.kind, VD_FRAME_NONE);
    }
    CU_ASSERT_EQUAL(vd_framer_next(&framer, bytes, 500, &limits, &message, &frame),
                    VD_ERR_TOO_LARGE);
    CU_ASSERT_PTR_NOT_NULL(vd_message_header(&message, VD_HEADER_CALL_ID));

    vd_framer_init(&framer);
    CU_ASSERT_EQUAL(vd_framer_next(&framer, bytes, 600, &limits, &message, &frame),
                    VD_ERR_TOO_LARGE);
}

/* Were the bytes of earlier calls searched again, the empty line put there would be found. */
static void no_byte_is_searched_twice(void)
{
    char bytes[400];
    size_t n = (size_t)snprintf(bytes, sizeof bytes, MESSAGE("1") "X: ");
    memset(bytes + n, 'x', sizeof bytes - n);
    struct vd_framer framer;
    struct vd_frame frame;
    vd_framer_init(&framer);
    CU_ASSERT_EQUAL(vd_framer_next(&framer, bytes, 300, NULL, &message, &frame), 0);
    CU_ASSERT_EQUAL(framer.scanned, 297);
    memcpy(bytes + 293, "\r\n\r\n", 4);
    CU_ASSERT_EQUAL(vd_framer_next(&framer, bytes, 399, NULL, &message, &frame), 0);
    CU_ASSERT_EQUAL(frame.kind, VD_FRAME_NONE);
    memcpy(bytes + 396, "\r\n\r\n", 4);
    CU_ASSERT_EQUAL(vd_framer_next(&framer, bytes, 400, NULL, &message, &frame), 0);
    CU_ASSERT_EQUAL(frame.kind, VD_FRAME_MESSAGE);
}

/* While a body is awaited the header fields are not read again. */
static void a_body_is_awaited_without_reading_the_header_fields(void)
{
    char bytes[256];
    size_t n = (size_t)snprintf(bytes, sizeof bytes, MESSAGE("1") "l: 10\r\n\r\n12345");
    struct vd_framer framer;
    struct vd_frame frame;
    vd_framer_init(&framer);
    CU_ASSERT_EQUAL(vd_framer_next(&framer, bytes, n, NULL, &message, &frame), 0);
    CU_ASSERT_EQUAL(frame.kind, VD_FRAME_NONE);
    CU_ASSERT_EQUAL(framer.needed, n + 5);
    char first = bytes[0];
    bytes[0] = '\0';
    CU_ASSERT_EQUAL(vd_framer_next(&framer, bytes, n + 4, NULL, &message, &frame), 0);
    CU_ASSERT_EQUAL(frame.kind, VD_FRAME_NONE);
    bytes[0] = first;
    CU_ASSERT_EQUAL(vd_framer_next(&framer, bytes, n + 50, NULL, &message, &frame), 0);
    CU_ASSERT_EQUAL(frame.kind, VD_FRAME_MESSAGE);
    CU_ASSERT_EQUAL(frame.consumed, n + 5);
    CU_ASSERT_EQUAL(message.body.n, 10);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"messages_are_told_apart_however_the_stream_is_cut",
         messages_are_told_apart_however_the_stream_is_cut},
        {"a_ping_is_two_line_ends_however_they_are_cut",
         a_ping_is_two_line_ends_however_they_are_cut},
        {"errors_end_the_stream", errors_end_the_stream},
        {"nothing_is_read_after_an_error", nothing_is_read_after_an_error},
        {"an_endless_header_block_is_refused_at_the_limit",
         an_endless_header_block_is_refused_at_the_limit},
        {"no_byte_is_searched_twice", no_byte_is_searched_twice},
        {"a_body_is_awaited_without_reading_the_header_fields",
         a_body_is_awaited_without_reading_the_header_fields},
        CU_TEST_INFO_NULL,
    };
    if (!guard_init(&guard, 4096)) {
        return EXIT_FAILURE;
    }
    vd_message_init(&message, headers, HEADERS);
    int status = run_suite("frame", tests);
    guard_free(&guard);
    return status;
}
