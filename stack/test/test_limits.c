/* test_limits.c - what happens at a limit, one below it and one past it.
 *
 * Covered: the number of transactions of each side and of requests that wait for an answer (RFC
 * 3261 21.5.4, 8.2.7), and that all is well again below them; the sizes and counts that a message
 * may have, by the response to a request past them; the wrap of a record's generation; how much
 * memory a lingering transaction takes.
 * Not covered: running out of memory (test_out_of_memory.c), the parser's limits by themselves
 * (test_parse.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

#include "harness.h"
#include "run_suite.h"

#include <stdio.h>
#include <stdlib.h>

static struct vd_stack_config limited(void)
{
    struct vd_stack_config config;
    vd_stack_config_init(&config);
    return config;
}

/* The latest message that was sent is a response with this status to this method. */
static bool answered(const struct harness *harness, int status, const char *method)
{
    const struct harness_sent *sent = harness_sent(harness, 0);
    if (sent == NULL || strncmp(sent->text, "SIP/2.0 ", 8) != 0) {
        return false;
    }
    return atoi(sent->text + 8) == status && strstr(harness_value(sent->text, "CSeq", 0), method);
}

static void a_request_past_the_transaction_limit_gets_503_and_no_transaction(void)
{
    struct harness harness;
    struct vd_stack_config config = limited();
    config.max_server_transactions = 2;
    config.retry_after = 17;
    harness_init(&harness, &config);
    harness_receive_method(&harness, "OPTIONS");
    vd_transaction first = harness.server;
    harness_fresh(&harness);
    harness_receive_method(&harness, "INVITE");
    CU_ASSERT_EQUAL(harness.sent_count, 0);

    for (unsigned i = 0; i < 3; i++) {
        harness_fresh(&harness);
        harness.server = 0;
        harness_receive_method(&harness, i == 1 ? "INVITE" : "REGISTER");
        CU_ASSERT_EQUAL(harness.server, 0);
        CU_ASSERT(answered(&harness, 503, i == 1 ? "INVITE" : "REGISTER"));
        CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "Retry-After", 0),
                               "17");
    }
    /* 8.2.7: stateless, so a copy is refused again, with the same To tag; and the ACK goes nowhere.
     */
    char *to = strdup(harness_value(harness_sent(&harness, 0)->text, "To", 0));
    harness_receive_method(&harness, "REGISTER");
    CU_ASSERT(answered(&harness, 503, "REGISTER"));
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "To", 0), to);
    free(to);
    struct vd_stack_counters counters = harness_counters(&harness);
    CU_ASSERT_EQUAL(counters.live_server_transactions, 2);
    CU_ASSERT_EQUAL(counters.overloads, 4);
    CU_ASSERT_EQUAL(counters.sent_responses, 4);

    /* Those that were there go on, and their end makes room. */
    CU_ASSERT_EQUAL(vd_respond(harness.stack, first, 200, vd_str(NULL, 0), harness.now), 0);
    harness_until(&harness, harness_at(&harness, 31.9));
    harness_fresh(&harness);
    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT(answered(&harness, 503, "OPTIONS"));
    harness_until(&harness, harness_at(&harness, 32.1));
    harness.server = 0;
    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT_NOT_EQUAL(harness.server, 0);
    CU_ASSERT(harness_free(&harness));
}

static void no_retry_after_when_it_is_0(void)
{
    struct harness harness;
    struct vd_stack_config config = limited();
    config.max_server_transactions = 0;
    config.retry_after = 0;
    harness_init(&harness, &config);
    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT(answered(&harness, 503, "OPTIONS"));
    CU_ASSERT_STRING_EQUAL(harness_value(harness_sent(&harness, 0)->text, "Retry-After", 0), "");
    CU_ASSERT(harness_free(&harness));
}

static void a_request_waits_until_its_final_response_and_no_longer(void)
{
    struct harness harness;
    struct vd_stack_config config = limited();
    config.max_pending_requests = 2;
    harness_init(&harness, &config);
    harness_receive_method(&harness, "INVITE");
    vd_transaction invite = harness.server;
    harness_fresh(&harness);
    harness_receive_method(&harness, "OPTIONS");
    harness_respond(&harness, 200);
    harness_fresh(&harness);
    harness_receive_method(&harness, "OPTIONS");
    harness_fresh(&harness);
    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT(answered(&harness, 503, "OPTIONS"));
    CU_ASSERT_EQUAL(harness_counters(&harness).live_server_transactions, 3);

    /* A provisional response changes nothing; a final one does, though its ACK is still to come. */
    CU_ASSERT_EQUAL(vd_respond(harness.stack, invite, 180, vd_str(NULL, 0), harness.now), 0);
    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT(answered(&harness, 503, "OPTIONS"));
    CU_ASSERT_EQUAL(vd_respond(harness.stack, invite, 486, vd_str(NULL, 0), harness.now), 0);
    harness.server = 0;
    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT_NOT_EQUAL(harness.server, 0);
    harness_fresh(&harness);
    harness_receive_method(&harness, "OPTIONS");
    CU_ASSERT(answered(&harness, 503, "OPTIONS"));

    /* What the application never answers stops waiting with its transaction. */
    harness_run_out(&harness);
    CU_ASSERT_EQUAL(harness_counters(&harness).live_server_transactions, 0);
    for (unsigned i = 0; i < 2; i++) {
        harness_fresh(&harness);
        harness.server = 0;
        harness_receive_method(&harness, "OPTIONS");
        CU_ASSERT_NOT_EQUAL(harness.server, 0);
    }
    CU_ASSERT(harness_free(&harness));
}

static void a_request_of_ours_past_the_limit_is_overload(void)
{
    struct harness harness;
    struct vd_stack_config config = limited();
    config.max_client_transactions = 2;
    harness_init(&harness, &config);
    vd_transaction invite = 0;
    CU_ASSERT_EQUAL(harness_send_request(&harness, "INVITE", NULL, &invite), 0);
    CU_ASSERT_EQUAL(harness_send_request(&harness, "OPTIONS", NULL, NULL), 0);
    CU_ASSERT_EQUAL(harness_send_request(&harness, "OPTIONS", NULL, NULL), VD_ERR_OVERLOAD);
    CU_ASSERT_EQUAL(harness_send_request(&harness, "INVITE", NULL, NULL), VD_ERR_OVERLOAD);

    /* The CANCEL is a transaction, too. */
    harness_receive_response(&harness, 180, "INVITE");
    CU_ASSERT_EQUAL(vd_request_cancel(harness.stack, invite, harness.now), VD_ERR_OVERLOAD);
    harness_receive_response(&harness, 200, "OPTIONS");
    CU_ASSERT_EQUAL(vd_request_cancel(harness.stack, invite, harness.now), VD_ERR_OVERLOAD);
    harness_until(&harness, harness_at(&harness, 5.1)); /* Timer K */
    CU_ASSERT_EQUAL(vd_request_cancel(harness.stack, invite, harness.now), 0);
    CU_ASSERT_EQUAL(harness_counters(&harness).overloads, 4);
    CU_ASSERT_EQUAL(harness_counters(&harness).live_client_transactions, 2);
    harness_run_out(&harness);
    CU_ASSERT_EQUAL(harness_counters(&harness).live_client_transactions, 0);
    CU_ASSERT_EQUAL(harness_send_request(&harness, "OPTIONS", NULL, NULL), 0);
    CU_ASSERT(harness_free(&harness));
}

static void requests_begun_at_once_do_not_get_past_the_limit(void)
{
    struct harness harness;
    struct vd_stack_config config = limited();
    struct vd_builder builders[2];
    config.max_client_transactions = 1;
    harness_init(&harness, &config);
    for (unsigned i = 0; i < 2; i++) {
        struct vd_builder *builder = &builders[i];
        CU_ASSERT_EQUAL(vd_request_begin(harness.stack, builder, VD_STR("OPTIONS"),
                                         VD_STR("sip:b@192.0.2.10"), &harness.flow),
                        0);
        vd_build_header(builder, VD_HEADER_FROM, VD_STR("<sip:a@192.0.2.20>;tag=1"));
        vd_build_header(builder, VD_HEADER_TO, VD_STR("<sip:b@192.0.2.10>"));
        vd_build_header(builder, VD_HEADER_CALL_ID, VD_STR("1"));
        vd_build_cseq(builder, 1, VD_STR("OPTIONS"));
        vd_build_number(builder, VD_HEADER_MAX_FORWARDS, 70);
    }
    CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builders[0], NULL, harness.now, NULL), 0);
    CU_ASSERT_EQUAL(vd_request_send(harness.stack, &builders[1], NULL, harness.now, NULL),
                    VD_ERR_OVERLOAD);
    harness_drain(&harness);
    CU_ASSERT_EQUAL(harness.sent_count, 1);
    CU_ASSERT_EQUAL(harness.stack->transactions.used, 1);
    CU_ASSERT(harness_free(&harness));
}

/* A record counts the transactions that it has been; after 2^32 of them it starts over. */
static void the_name_of_a_transaction_is_never_0_and_never_that_of_the_one_before(void)
{
    struct harness harness;
    vd_transaction names[4] = {0};
    harness_init(&harness, NULL);
    for (unsigned i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(harness_send_request(&harness, "OPTIONS", NULL, &names[i]), 0);
        CU_ASSERT_NOT_EQUAL(names[i], 0);
        if (i > 0) {
            CU_ASSERT_EQUAL(vd_transaction_set_user(harness.stack, names[i - 1], NULL),
                            VD_ERR_GONE);
        }
        CU_ASSERT_EQUAL(vd_transaction_set_user(harness.stack, names[i], NULL), 0);
        harness_run_out(&harness);
        struct vd__transaction *record = vd__pool_at(&harness.stack->transactions, 0);
        CU_ASSERT_EQUAL((uint32_t)names[i], 0); /* the same record each time */
        if (i == 0) {
            record->generation = UINT32_MAX;
        }
    }
    CU_ASSERT_EQUAL(names[1] >> 32, UINT32_MAX);
    CU_ASSERT_EQUAL(names[2] >> 32, 1);
    CU_ASSERT(harness_free(&harness));
}

/* A request that is large in one respect. */

enum part { PART_MESSAGE, PART_HEADER, PART_LINE, PART_URI, PART_FIELDS, PART_PARAMS, PARTS };

/* Writes a request with so much more of one part, and returns how much of it there is then. */
static size_t write_request(char *out, size_t capacity, enum part part, size_t more)
{
    char fill[PARTS][2048] = {{0}};
    static const char *const units[PARTS] = {
        [PART_MESSAGE] = "b", [PART_HEADER] = "h",        [PART_LINE] = "l",
        [PART_URI] = "u",     [PART_FIELDS] = "X: y\r\n", [PART_PARAMS] = ";p",
    };
    for (size_t i = 0; i < more; i++) {
        strcat(fill[part], units[part]);
    }
    int n = snprintf(out, capacity,
                     "OPTIONS sip:user%s@192.0.2.20 SIP/2.0\r\n"
                     "Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK-limits;rport\r\n"
                     "Subject: %s%s\r\n"
                     "From: <sip:a@192.0.2.10>;tag=1\r\n"
                     "To: <sip:b@192.0.2.20>\r\n"
                     "Contact: <sip:a@192.0.2.10>%s\r\n"
                     "Call-ID: limits@192.0.2.10\r\n"
                     "CSeq: 1 OPTIONS\r\n"
                     "Max-Forwards: 70\r\n%s\r\n%s",
                     fill[PART_URI], fill[PART_LINE], fill[PART_HEADER], fill[PART_PARAMS],
                     fill[PART_FIELDS], fill[PART_MESSAGE]);
    const size_t amounts[PARTS] = {
        [PART_MESSAGE] = (size_t)n,
        [PART_HEADER] = (size_t)n - strlen(fill[PART_MESSAGE]),
        [PART_LINE] = strlen("Subject: ") + strlen(fill[PART_LINE]),
        [PART_URI] = strlen("sip:user@192.0.2.20") + strlen(fill[PART_URI]),
        [PART_FIELDS] = 8 + (part == PART_FIELDS ? more : 0),
        [PART_PARAMS] = part == PART_PARAMS ? more : 0,
    };
    return amounts[part];
}

static void a_message_past_a_limit_is_refused_and_one_at_it_is_not(void)
{
    static const struct {
        enum part part;
        size_t limit;
        int status;
    } cases[] = {
        {PART_MESSAGE, 1000, 513}, {PART_HEADER, 900, 513}, {PART_LINE, 300, 513},
        {PART_URI, 100, 414},      {PART_FIELDS, 20, 400},  {PART_PARAMS, 7, 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_stack_config config = limited();
        size_t limit = cases[i].limit;
        switch (cases[i].part) {
        case PART_MESSAGE:
            config.limits.message_size = limit;
            break;
        case PART_HEADER:
            config.limits.header_size = limit;
            break;
        case PART_LINE:
            config.limits.line_size = limit;
            break;
        case PART_URI:
            config.limits.uri_size = limit;
            break;
        case PART_FIELDS:
            config.limits.headers = (uint16_t)limit;
            break;
        default:
            config.limits.params = (uint16_t)limit;
            break;
        }
        for (size_t past = 0; past <= 1; past++) {
            struct harness harness;
            char text[4096];
            size_t missing = limit - write_request(text, sizeof text, cases[i].part, 0);
            size_t amount = write_request(text, sizeof text, cases[i].part, missing + past);
            CU_ASSERT_EQUAL(amount, limit + past);
            harness_init(&harness, &config);
            int rc = harness_receive(&harness, text);
            CU_ASSERT_EQUAL(rc == 0, past == 0);
            CU_ASSERT_EQUAL(harness.server != 0, past == 0);
            CU_ASSERT_EQUAL(answered(&harness, cases[i].status, "OPTIONS"), past == 1);
            CU_ASSERT_EQUAL(harness_counters(&harness).received_invalid, past);
            CU_ASSERT(harness_free(&harness));
        }
    }
}

static void size_limits_are_for_what_peers_send(void)
{
    struct harness harness;
    struct vd_stack_config config = limited();
    vd_transaction invite = 0;
    config.limits.line_size = 100;
    config.limits.header_size = 900;
    harness_init(&harness, &config);
    char headers[1000];
    snprintf(headers, sizeof headers, "Subject: %0800d\r\n", 0);
    CU_ASSERT_EQUAL(harness_send_request(&harness, "INVITE", headers, &invite), 0);
    harness_receive_response(&harness, 180, "INVITE");
    CU_ASSERT_EQUAL(vd_request_cancel(harness.stack, invite, harness.now), 0);
    harness_drain(&harness);
    CU_ASSERT_PTR_NOT_NULL(harness_find_sent(&harness, "CANCEL "));
    harness_receive_response(&harness, 487, "INVITE");
    CU_ASSERT_PTR_NOT_NULL(harness_find_sent(&harness, "ACK "));
    CU_ASSERT(harness_free(&harness));
}

/* Memory of what lingers. */

#define MANY 100000

static void answer_200(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context)
{
    unsigned *count = context;
    (void)request;
    (void)flow;
    *count += vd_respond(stack, transaction, 200, vd_str(NULL, 0), vd_stack_now(stack)) == 0;
}

/* One more REGISTER comes and is answered. Returns the size of the response's buffer. */
static size_t receive_register(struct vd_stack *stack, unsigned serial)
{
    const struct vd_flow flow = {
        .remote = {.family = VD_FAMILY_IP4, .port = 5060, .ip = {192, 0, 2, 10}}};
    char text[512];
    struct vd_send send;
    int n = snprintf(text, sizeof text,
                     "REGISTER sip:192.0.2.20 SIP/2.0\r\n"
                     "Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK-%08x;rport\r\n"
                     "From: <sip:a@192.0.2.10>;tag=%08x\r\n"
                     "To: <sip:a@192.0.2.10>\r\n"
                     "Call-ID: %08x@192.0.2.10\r\n"
                     "CSeq: 1 REGISTER\r\n"
                     "Max-Forwards: 70\r\n"
                     "Contact: <sip:a@192.0.2.10>\r\n"
                     "Expires: 60\r\n\r\n",
                     serial, serial, serial);
    vd_stack_receive(stack, &flow, text, (size_t)n, 1);
    if (vd_stack_poll_send(stack, &send, 1) != 1) {
        return 0;
    }
    size_t size = send.size;
    vd_stack_send_done(stack, &send);
    return size;
}

static void a_lingering_transaction_is_its_record_and_its_response(void)
{
    struct vd_stack *stack = NULL;
    struct vd_stack_config config = limited();
    struct counting_mem memory;
    unsigned answers = 0;
    uint32_t endpoint;
    counting_mem_init(&memory);
    config.mem = &memory.mem;
    config.context = &answers;
    config.callbacks.on_request = answer_200;
    CU_ASSERT_EQUAL_FATAL(vd_stack_new(&stack, &config), 0);
    CU_ASSERT_EQUAL(vd_stack_add_endpoint(stack, VD_TRANSPORT_UDP, VD_STR("192.0.2.20"), &endpoint),
                    0);

    /* The record, and its share of the table: 64 bytes for each 4 records. */
    CU_ASSERT(sizeof(struct vd__transaction) + 64 / 4 <= 96);

    size_t response = receive_register(stack, 0);
    CU_ASSERT(response > 200 && response < 512);
    size_t before = memory.live_bytes;
    for (unsigned i = 1; i <= MANY; i++) {
        receive_register(stack, i);
    }
    size_t each = (memory.live_bytes - before) / MANY;
    CU_ASSERT_EQUAL(answers, MANY + 1);
    CU_ASSERT_EQUAL(stack->transactions.used, MANY + 1);
    CU_ASSERT_EQUAL(stack->actives.used, 0);
    /* A buffer is at most 63 bytes larger than the response in it, and is aligned to 16. */
    CU_ASSERT(each <= 96 + sizeof(struct vd__buffer) + response + 63 + 15);
    printf("\n  %zu bytes each, with a response of %zu ", each, response);

    vd_stack_expire(stack, 100 * VD_SEC);
    CU_ASSERT_EQUAL(stack->transactions.used, 0);
    CU_ASSERT_EQUAL(vd_stack_next_deadline(stack), VD_TIME_NEVER);
    vd_stack_free(stack);
    CU_ASSERT(counting_mem_is_clean(&memory));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a_request_past_the_transaction_limit_gets_503_and_no_transaction",
         a_request_past_the_transaction_limit_gets_503_and_no_transaction},
        {"no_retry_after_when_it_is_0", no_retry_after_when_it_is_0},
        {"a_request_waits_until_its_final_response_and_no_longer",
         a_request_waits_until_its_final_response_and_no_longer},
        {"a_request_of_ours_past_the_limit_is_overload",
         a_request_of_ours_past_the_limit_is_overload},
        {"requests_begun_at_once_do_not_get_past_the_limit",
         requests_begun_at_once_do_not_get_past_the_limit},
        {"the_name_of_a_transaction_is_never_0_and_never_that_of_the_one_before",
         the_name_of_a_transaction_is_never_0_and_never_that_of_the_one_before},
        {"a_message_past_a_limit_is_refused_and_one_at_it_is_not",
         a_message_past_a_limit_is_refused_and_one_at_it_is_not},
        {"size_limits_are_for_what_peers_send", size_limits_are_for_what_peers_send},
        {"a_lingering_transaction_is_its_record_and_its_response",
         a_lingering_transaction_is_its_record_and_its_response},
        CU_TEST_INFO_NULL,
    };
    return run_suite("limits", tests);
}
