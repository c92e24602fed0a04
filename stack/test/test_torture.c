/* test_torture.c - one message for each rule of RFC 4475 and RFC 5118.
 *
 * Covered: each vector of torture/ is accepted or refused with the status that is due, read from a
 * buffer that ends at an unreadable page, as a datagram, as a stream, and through the framer a byte
 * at a time; of those accepted, every fact that index.tsv lists. With VIADUCT_CORPUS the messages
 * of the RFCs themselves, by the verdict listed beside them. Not covered: what is inside a body;
 * the rules of section 3.3 of RFC 4475 that a user agent, a registrar or a proxy has to apply.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/frame.h>

#include <stdio.h>
#include <stdlib.h>

#include "guard.h"
#include "message_facts.h"
#include "run_suite.h"

#define COLUMNS 11
#define HEADERS 256

static struct vd_header headers[HEADERS];

/* A file in memory. */
struct file {
    char *bytes;
    size_t size;
};

static bool file_load(struct file *file, const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "rb");
    *file = (struct file){NULL, 0};
    if (stream == NULL) {
        return false;
    }
    fseek(stream, 0, SEEK_END);
    long size = ftell(stream);
    rewind(stream);
    file->bytes = malloc((size_t)size + 1);
    file->size = fread(file->bytes, 1, (size_t)size, stream);
    file->bytes[file->size] = '\0';
    fclose(stream);
    return file->size == (size_t)size;
}

/* Cuts the line at *next into its columns, which end with NUL. Returns how many there are, 0 at the
 * end of the text. */
static size_t next_row(char **next, char *columns[COLUMNS])
{
    size_t count = 0;
    char *line = strsep(next, "\n");
    while (line != NULL && (*line == '#' || *line == '\0')) {
        line = strsep(next, "\n");
    }
    while (line != NULL && count < COLUMNS) {
        columns[count++] = strsep(&line, "\t");
    }
    return count;
}

/* What a receiver does with a message: "accept", "drop", or the status of its answer. A response is
 * never answered, nor a request without a Via. */
static void outcome(struct vd_message *message, int error, char out[16])
{
    if (error == 0) {
        snprintf(out, 16, "accept");
    } else if (error == VD_ERR_NOT_SIP || !message->is_request ||
               vd_message_header(message, VD_HEADER_VIA) == NULL) {
        snprintf(out, 16, "drop");
    } else {
        snprintf(out, 16, "%d", vd_error_status(error));
    }
}

/* True when got is one of the expected results, which vertical bars part. */
static bool is_one_of(const char *got, const char *expected)
{
    size_t n = strlen(got);
    for (const char *p = strstr(expected, got); p != NULL; p = strstr(p + 1, got)) {
        if ((p == expected || p[-1] == '|') && (p[n] == '\0' || p[n] == '|')) {
            return true;
        }
    }
    return false;
}

static int parse_and_check(struct vd_message *message, const char *bytes, size_t size,
                           enum vd_framing framing)
{
    int rc = vd_message_parse(message, bytes, size, framing, NULL);
    return rc < 0 ? rc : vd_message_check(message);
}

/* The same through the framer, a byte at a time, each time at another address. */
static int frame_and_check(struct vd_message *message, struct guard *guard, const char *bytes,
                           size_t size)
{
    struct vd_framer framer;
    struct vd_frame frame = {VD_FRAME_NONE, 0};
    vd_framer_init(&framer);
    for (size_t n = 1; n <= size; n++) {
        const char *place = guard_place(guard, bytes, n);
        int error = vd_framer_next(&framer, place, n, NULL, message, &frame);
        if (error != 0) {
            return error;
        }
        if (frame.kind == VD_FRAME_MESSAGE) {
            return vd_message_check(message);
        }
    }
    return VD_ERR_INCOMPLETE;
}

/* Puts back what README.md says is percent-encoded. */
static size_t decode(char *text)
{
    char *out = text;
    for (const char *p = text; *p != '\0'; p++) {
        char hex[3] = {0};
        if (*p == '%') {
            memcpy(hex, p + 1, 2);
            *out++ = (char)strtol(hex, NULL, 16);
            p += 2;
        } else {
            *out++ = *p;
        }
    }
    *out = '\0';
    return (size_t)(out - text);
}

/* Compares the facts of a row with the message. Returns how many were compared. */
static size_t compare_facts(struct vd_message *message, const char *name, char *facts)
{
    static char got[MESSAGE_FACT_SIZE];
    size_t compared = 0;
    char *fact;
    while ((fact = strsep(&facts, ";")) != NULL) {
        char *value = fact;
        char *key = strsep(&value, "=");
        if (value == NULL) {
            continue;
        }
        struct vd_str wanted = vd_str(value, decode(value));
        size_t length = 0;
        enum message_fact_result result =
            message_fact(message, vd_str(key, decode(key)), got, &length);
        bool equal = vd_str_equal(wanted, vd_str(got, length));
        if (result == MESSAGE_FACT_UNREAD) {
            continue;
        }
        if (result == MESSAGE_FACT_UNKNOWN || !equal) {
            printf("\n    %s: %s is \"%.*s\", not \"%.*s\"", name, key, (int)length, got,
                   (int)wanted.n, wanted.p);
        }
        CU_ASSERT(result == MESSAGE_FACT_KNOWN && equal);
        compared++;
    }
    return compared;
}

/* Checks one row of index.tsv, whose columns README.md names. Returns how many facts it compared.
 */
static size_t check_vector(struct guard *guard, const struct file *file, char *columns[COLUMNS])
{
    const char *name = columns[0];
    const char *expected = columns[6];
    struct vd_message message;
    char got[16];
    vd_message_init(&message, headers, HEADERS);

    if (strcmp(columns[5], "any") == 0) {
        outcome(&message, frame_and_check(&message, guard, file->bytes, file->size), got);
        if (!is_one_of(got, expected)) {
            printf("\n    %s: framed: %s, not %s", name, got, expected);
        }
        CU_ASSERT(is_one_of(got, expected));
    }
    const char *bytes = guard_place(guard, file->bytes, file->size);
    int error = parse_and_check(&message, bytes, file->size, VD_FRAMING_DATAGRAM);
    outcome(&message, error, got);
    if (!is_one_of(got, expected)) {
        printf("\n    %s: %s (%s at %zu), not %s", name, got, message.fault.rule,
               message.fault.offset, expected);
    }
    CU_ASSERT(is_one_of(got, expected));
    if (error != 0) {
        return 0;
    }

    bool request = strcmp(columns[4], "request") == 0;
    CU_ASSERT_EQUAL(message.is_request, request);
    if (request) {
        CU_ASSERT(vd_str_equal(message.method, vd_str_from(columns[7])));
    } else {
        CU_ASSERT_EQUAL(message.status, atoi(columns[7]));
    }
    CU_ASSERT_EQUAL(message.header_count, atoi(columns[8]));
    CU_ASSERT_EQUAL(message.body.n, (size_t)atoi(columns[9]));
    return compare_facts(&message, name, columns[10]);
}

static void each_vector_gets_what_its_rfc_says(void)
{
    static const char folder[] = VIADUCT_TEST_FOLDER "/torture";
    struct file index;
    CU_ASSERT_TRUE_FATAL(file_load(&index, folder, "index.tsv"));
    char *next = index.bytes;
    char *columns[COLUMNS];
    size_t count;
    size_t rows = 0;
    size_t facts = 0;
    while ((count = next_row(&next, columns)) != 0) {
        struct file file;
        struct guard guard;
        CU_ASSERT_EQUAL_FATAL(count, COLUMNS);
        CU_ASSERT_TRUE_FATAL(file_load(&file, folder, columns[0]));
        CU_ASSERT_TRUE_FATAL(guard_init(&guard, file.size));
        facts += check_vector(&guard, &file, columns);
        guard_free(&guard);
        free(file.bytes);
        rows++;
    }
    CU_ASSERT_TRUE(rows > 100 && facts > 1000);
    free(index.bytes);
}

/* Each prefix, at the unreadable page, is parsed without a byte being read past its end, and a
 * stream that is cut short is never taken for a whole message. */
static void check_prefixes(struct guard *guard, const struct file *file)
{
    struct vd_message message;
    vd_message_init(&message, headers, HEADERS);
    int whole = vd_message_parse(&message, file->bytes, file->size, VD_FRAMING_STREAM, NULL);
    for (size_t n = 0; n <= file->size; n++) {
        const char *bytes = guard_place(guard, file->bytes, n);
        int rc = vd_message_parse(&message, bytes, n, VD_FRAMING_STREAM, NULL);
        CU_ASSERT(rc == whole || rc == VD_ERR_INCOMPLETE);
        CU_ASSERT(rc < 0 || (size_t)rc <= n);
        rc = parse_and_check(&message, bytes, n, VD_FRAMING_DATAGRAM);
        CU_ASSERT(rc <= 0);
    }
}

static void no_prefix_of_a_vector_is_read_past_its_end(void)
{
    static const char folder[] = VIADUCT_TEST_FOLDER "/torture";
    struct file index;
    CU_ASSERT_TRUE_FATAL(file_load(&index, folder, "index.tsv"));
    char *next = index.bytes;
    char *columns[COLUMNS];
    while (next_row(&next, columns) != 0) {
        struct file file;
        struct guard guard;
        CU_ASSERT_TRUE_FATAL(file_load(&file, folder, columns[0]));
        CU_ASSERT_TRUE_FATAL(guard_init(&guard, file.size));
        check_prefixes(&guard, &file);
        guard_free(&guard);
        free(file.bytes);
    }
    free(index.bytes);
}

/* What the RFC says of a message, by its section and verdict. */
static const char *expected_of(const char *section, const char *verdict, bool request)
{
    static const struct {
        const char *section;
        const char *expected;
    } special[] = {
        {"3.1.2.12", "accept"}, /* Date is judged when it is read */
        {"3.1.2.16", "505"},
        {"3.1.2.18", "501"},
    };
    if (strcmp(verdict, "valid") == 0) {
        return "accept";
    }
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        if (strcmp(section, special[i].section) == 0) {
            return special[i].expected;
        }
    }
    return request ? "400" : "drop";
}

/* The messages of a folder of the corpus. When their line ends are not those of the wire, none may
 * be accepted. */
static void check_corpus(const char *list, const char *folder, bool wire)
{
    const char *corpus = getenv("VIADUCT_CORPUS");
    char path[512];
    struct file index;
    snprintf(path, sizeof path, "%s/torture", corpus);
    CU_ASSERT_TRUE_FATAL(file_load(&index, path, list));
    snprintf(path, sizeof path, "%s/torture/%s", corpus, folder);

    char *next = index.bytes;
    char *columns[COLUMNS];
    while (next_row(&next, columns) != 0) {
        struct file file;
        struct guard guard;
        struct vd_message message;
        char got[16];
        CU_ASSERT_TRUE_FATAL(file_load(&file, path, columns[0]));
        CU_ASSERT_TRUE_FATAL(guard_init(&guard, file.size));
        vd_message_init(&message, headers, HEADERS);
        const char *bytes = guard_place(&guard, file.bytes, file.size);
        outcome(&message, parse_and_check(&message, bytes, file.size, VD_FRAMING_DATAGRAM), got);
        const char *expected = expected_of(columns[1], columns[2], message.is_request);
        bool good = wire ? is_one_of(got, expected) : !is_one_of(got, "accept");
        if (!good) {
            printf("\n    %s: %s (%s at %zu), not %s", columns[0], got, message.fault.rule,
                   message.fault.offset, expected);
        }
        CU_ASSERT(good);
        check_prefixes(&guard, &file);
        guard_free(&guard);
        free(file.bytes);
    }
    free(index.bytes);
}

static void the_messages_of_the_rfcs_get_what_the_rfcs_say(void)
{
    if (getenv("VIADUCT_CORPUS") == NULL) {
        printf("skipped: VIADUCT_CORPUS is not set ");
        return;
    }
    check_corpus("rfc4475.expect.tsv", "rfc4475", true);
    check_corpus("rfc5118.expect.tsv", "rfc5118_wire", true);
    check_corpus("rfc5118.expect.tsv", "rfc5118", false); /* their lines end with a bare LF */
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"each_vector_gets_what_its_rfc_says", each_vector_gets_what_its_rfc_says},
        {"no_prefix_of_a_vector_is_read_past_its_end", no_prefix_of_a_vector_is_read_past_its_end},
        {"the_messages_of_the_rfcs_get_what_the_rfcs_say",
         the_messages_of_the_rfcs_get_what_the_rfcs_say},
        CU_TEST_INFO_NULL,
    };
    return run_suite("torture", tests);
}
