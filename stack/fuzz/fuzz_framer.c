/* fuzz_framer.c - any bytes as a stream, whole and cut.
 *
 * What must hold: the same messages, pings and error are found at the same places however the
 * stream is cut; the framer and vd_message_parse say the same of each message.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/frame.h>

#include <stdlib.h>

#define HEADERS 64

static struct vd_header headers[HEADERS];

/* What a stream was found to hold, as one number, and how it ended. */
struct reading {
    uint64_t hash;
    size_t consumed;
    int error;
};

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static void mix(uint64_t *hash, uint64_t value)
{
    *hash = (*hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    *hash ^= *hash >> 29;
}

/* The parser, given the same bytes, finds the same message, and none in one byte less. */
static void compare_with_parser(const char *bytes, size_t size, size_t consumed,
                                const struct vd_message *found, const struct vd_limits *limits)
{
    struct vd_header other[HEADERS];
    struct vd_message message;
    vd_message_init(&message, other, HEADERS);
    must(vd_message_parse(&message, bytes, size, VD_FRAMING_STREAM, limits) == (int)consumed);
    must(vd_str_equal(message.raw, found->raw));
    must(vd_str_equal(message.body, found->body));
    must(message.header_count == found->header_count);
    must(vd_message_parse(&message, bytes, consumed - 1, VD_FRAMING_STREAM, limits) ==
         VD_ERR_INCOMPLETE);
}

/* Notes what a frame is and where. Pongs depend on the cuts. */
static void note(struct reading *reading, const struct vd_frame *frame,
                 const struct vd_message *message)
{
    if (frame->kind == VD_FRAME_NONE || frame->kind == VD_FRAME_PONG) {
        return;
    }
    mix(&reading->hash, (uint64_t)frame->kind);
    mix(&reading->hash, reading->consumed);
    if (frame->kind == VD_FRAME_MESSAGE) {
        mix(&reading->hash, message->raw.n);
        mix(&reading->hash, message->header_count);
    }
}

/* Reads a stream in pieces of at most `most` bytes, 0 for all at once. Each piece is a block of its
 * own, so that a read past its end is seen. */
static struct reading read_stream(const char *data, size_t size, size_t most, uint64_t seed,
                                  const struct vd_limits *limits)
{
    struct reading reading = {0, 0, 0};
    struct vd_framer framer;
    struct vd_message message;
    size_t received = 0;
    vd_framer_init(&framer);
    vd_message_init(&message, headers, HEADERS);
    while (received < size && reading.error == 0) {
        mix(&seed, received);
        size_t piece = most == 0 ? size : 1 + seed % most;
        received += piece < size - received ? piece : size - received;
        struct vd_frame frame;
        do {
            size_t left = received - reading.consumed;
            char *bytes = malloc(left + (left == 0));
            must(bytes != NULL);
            memcpy(bytes, data + reading.consumed, left);
            reading.error = vd_framer_next(&framer, bytes, left, limits, &message, &frame);
            must(reading.error <= 0 && frame.consumed <= left);
            must(reading.error == 0 || frame.kind == VD_FRAME_NONE);
            must((frame.consumed == 0) == (frame.kind == VD_FRAME_NONE));
            must(framer.scanned <= left);
            reading.consumed += frame.consumed;
            note(&reading, &frame, &message);
            if (frame.kind == VD_FRAME_MESSAGE) {
                compare_with_parser(bytes, left, frame.consumed, &message, limits);
            }
            free(bytes);
        } while (frame.kind != VD_FRAME_NONE);
    }
    return reading;
}

static void compare(const char *data, size_t size, const struct vd_limits *limits)
{
    uint64_t seed = size;
    for (size_t i = 0; i < size && i < 64; i++) {
        mix(&seed, (unsigned char)data[i]);
    }
    struct reading whole = read_stream(data, size, 0, seed, limits);
    for (size_t most = 1; most <= 256; most *= 16) {
        struct reading cut = read_stream(data, size, most, seed, limits);
        must(cut.hash == whole.hash);
        must(cut.consumed == whole.consumed);
        must(cut.error == whole.error);
    }
    if (whole.error != 0) {
        struct vd_message message;
        vd_message_init(&message, headers, HEADERS);
        must(vd_message_parse(&message, data + whole.consumed, size - whole.consumed,
                              VD_FRAMING_STREAM, limits) == whole.error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct vd_limits narrow = {600, 300, 100, 40, 8, 3};
    compare((const char *)data, size, NULL);
    compare((const char *)data, size, &narrow);
    return 0;
}
