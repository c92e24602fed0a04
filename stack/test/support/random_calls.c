/* random_calls.c - applications that behave at random, and the rules that the stacks must keep.
 *
 * SPDX-License-Identifier: MIT
 */
#include "random_calls.h"

#include <stdio.h>
#include <stdlib.h>

static void begin_call(struct calls *calls, unsigned from, unsigned to);

void calls_check(struct calls *calls, bool condition, const char *rule)
{
    if (!condition && calls->broken == NULL) {
        calls->broken = rule;
    }
}

static unsigned below(struct calls *calls, unsigned limit)
{
    return (unsigned)test_random_below(&calls->network.random, limit);
}

static bool chance(struct calls *calls, unsigned thousandths)
{
    return network_chance(&calls->network, thousandths);
}

/* The client's side. */

static void write_request(struct call *call, struct vd_builder *builder, const char *method,
                          unsigned cseq)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%u.call@192.0.2.1", call->id);
    vd_build_nameaddr(builder, VD_HEADER_FROM, VD_STR("Caller"), VD_STR("sip:caller@192.0.2.1"),
                      VD_STR("caller"));
    vd_build_nameaddr(builder, VD_HEADER_TO, vd_str(NULL, 0), VD_STR("sip:callee@192.0.2.2"),
                      vd_str(NULL, 0));
    vd_build_header(builder, VD_HEADER_CALL_ID, vd_str(text, (size_t)n));
    vd_build_cseq(builder, cseq, vd_str_from(method));
    vd_build_number(builder, VD_HEADER_MAX_FORWARDS, 70);
}

static void send_request(struct call *call)
{
    static const char *const methods[] = {"OPTIONS", "REGISTER", "MESSAGE", "BYE", "NEWFANGLED"};
    struct calls *calls = call->calls;
    struct party *party = &calls->parties[call->from];
    const char *method = call->invite ? "INVITE" : methods[call->id % 5];
    struct vd_flow flow = network_flow(&calls->network, call->from, call->to, call->endpoint);
    struct vd_builder builder;
    int rc = vd_request_begin(party->stack, &builder, vd_str_from(method),
                              VD_STR("sip:callee@192.0.2.2"), &flow);
    calls_check(calls, rc == 0, "a request can be begun");
    write_request(call, &builder, method, 1 + call->id);
    if (chance(calls, 100)) {
        static char body[3000];
        memset(body, 'b', sizeof body);
        vd_build_end(&builder, VD_STR("text/plain"), vd_str(body, below(calls, sizeof body)));
    }
    if (chance(calls, 30)) {
        vd_request_abort(party->stack, &builder);
        call->client_ended = true;
        return;
    }
    rc = vd_request_send(party->stack, &builder, call, calls->network.now, &call->client);
    calls_check(calls, rc == 0 && call->client != 0, "a request can be sent");
    call->sent = true;
    party->sent++;
}

static void act_begin(struct network *network, void *context, uint64_t value)
{
    struct calls *calls = context;
    (void)network;
    if (!calls->closing) {
        begin_call(calls, (unsigned)value, 1 - (unsigned)value);
    }
}

/* Cancels, and knows what that must return. */
static void cancel(struct call *call)
{
    struct calls *calls = call->calls;
    int expected = 0;
    if (call->client_ended) {
        expected = VD_ERR_GONE;
    } else if (!call->invite) {
        expected = VD_ERR_INVALID;
    } else if (call->succeeded || call->concluded || call->failed || call->cancelled) {
        expected = VD_ERR_STATE;
    }
    int rc = vd_request_cancel(calls->parties[call->from].stack, call->client, calls->network.now);
    calls_check(calls, rc == expected, "vd_request_cancel returns what the state says");
    call->cancelled |= rc == 0;
}

static void act_cancel(struct network *network, void *context, uint64_t value)
{
    struct call *call = context;
    (void)network;
    if (!call->sent) {
        return;
    }
    for (uint64_t i = 0; i < value; i++) {
        cancel(call);
    }
}

static void send_ack(struct call *call)
{
    struct calls *calls = call->calls;
    struct vd_stack *stack = calls->parties[call->from].stack;
    struct vd_flow flow = network_flow(&calls->network, call->from, call->to, call->endpoint);
    struct vd_builder builder;
    int rc =
        vd_request_begin(stack, &builder, VD_STR("ACK"), VD_STR("sip:callee@192.0.2.2"), &flow);
    write_request(call, &builder, "ACK", 1 + call->id);
    if (rc == 0) {
        rc = vd_ack_send(stack, &builder, calls->network.now);
    }
    calls_check(calls, rc == 0, "an ACK can be sent");
}

static void on_response(struct vd_stack *stack, vd_transaction transaction,
                        struct vd_message *response, void *user, void *context)
{
    struct party *party = context;
    struct calls *calls = party->calls;
    struct call *call = user;
    bool final_before = call->succeeded || call->concluded;
    calls_check(calls, call->client == transaction && call->from == party->node,
                "on_response has the user pointer of its transaction");
    calls_check(calls, !call->failed && !call->client_ended, "no response after the end");
    if (response->status < 200) {
        calls_check(calls, !final_before, "no provisional response after a final one");
    } else if (call->invite && response->status < 300) {
        calls_check(calls, !call->concluded, "no 2xx after another final response");
        call->succeeded = true;
        if (call->acknowledges) {
            send_ack(call);
        }
    } else {
        calls_check(calls, !final_before, "one final response");
        call->concluded = true;
    }
    if (response->status >= 200 && !final_before && call->chains) {
        act_begin(&calls->network, calls, party->node);
    }
    if (chance(calls, 50)) {
        cancel(call);
    }
    calls_check(calls, vd_transaction_state(stack, transaction) != VD_TRANSACTION_TERMINATED,
                "a transaction is alive in on_response");
}

/* The server's side. */

static struct call *find_server(struct calls *calls, unsigned node, vd_transaction transaction)
{
    for (unsigned i = 0; i < calls->count; i++) {
        struct call *call = &calls->calls[i];
        if (call->to == node && call->server == transaction && call->deliveries > 0) {
            return call;
        }
    }
    return NULL;
}

/* What a response of this status must return now. */
static bool is_right(const struct call *call, int status, int rc)
{
    if (call->server_ended) {
        return rc == VD_ERR_GONE;
    }
    if (call->server_failed && !call->invite) {
        return rc == VD_ERR_STATE;
    }
    if (call->invite) {
        bool open = call->final == 0 || (call->final / 100 == 2 && status / 100 == 2);
        return rc == (open ? 0 : VD_ERR_STATE);
    }
    if (status == 100) {
        return rc == VD_ERR_STATE || (rc == 0 && call->final == 0);
    }
    bool open = call->final == 0 && status >= 200 && status != 408;
    return rc == (open ? 0 : VD_ERR_STATE);
}

static void respond(struct call *call, int status)
{
    struct calls *calls = call->calls;
    struct vd_stack *stack = calls->parties[call->to].stack;
    vd_time now = calls->network.now;
    struct vd_builder builder;
    if (chance(calls, 50)) {
        if (vd_response_begin(stack, &builder, call->server, status, vd_str(NULL, 0)) == 0) {
            vd_response_abort(stack, &builder);
        }
    }
    int rc = 0;
    if (chance(calls, 500)) {
        rc = vd_respond(stack, call->server, status, vd_str(NULL, 0), now);
    } else {
        rc = vd_response_begin(stack, &builder, call->server, status, VD_STR("Because"));
        if (rc == 0) {
            vd_build_header(&builder, VD_HEADER_CONTACT, VD_STR("<sip:callee@192.0.2.2>"));
            rc = vd_response_send(stack, &builder, now);
        }
    }
    calls_check(calls, is_right(call, status, rc), "a response returns what the state says");
    if (rc == 0 && status >= 200 && call->final == 0) {
        call->final = status;
    }
}

static void act_resend(struct network *network, void *context, uint64_t value)
{
    struct call *call = context;
    struct calls *calls = call->calls;
    struct vd_stack *stack = calls->parties[call->to].stack;
    int expected = call->invite && call->final / 100 == 2 ? 0 : VD_ERR_STATE;
    int rc = vd_response_resend(stack, call->server, network->now);
    (void)value;
    calls_check(calls, rc == (call->server_ended ? VD_ERR_GONE : expected),
                "vd_response_resend returns what the state says");
}

static void answer(struct call *call)
{
    struct calls *calls = call->calls;
    respond(call, call->status);
    if (call->twice) {
        respond(call, chance(calls, 500) ? 200 : 486);
    }
    if (call->resends) {
        network_after(&calls->network, below(calls, 40) * VD_SEC, act_resend, call, 0);
    }
}

static void answer_late(struct vd_timer *timer, vd_time now)
{
    struct call *call = (struct call *)(void *)((char *)timer - offsetof(struct call, timer));
    (void)now;
    if (call->provisionals > 0) {
        call->provisionals--;
        respond(call, chance(call->calls, 300) ? 100 : 180);
        vd_timer_arm(call->calls->parties[call->to].stack, timer,
                     now + below(call->calls, 4000) * VD_MSEC);
    } else {
        answer(call);
    }
}

static struct call *call_of(struct calls *calls, struct vd_message *request)
{
    struct vd_str call_id;
    if (vd_message_call_id(request, &call_id) != 0 || call_id.n < 2) {
        return NULL;
    }
    unsigned id = (unsigned)strtoul(call_id.p, NULL, 10);
    return id < calls->count ? &calls->calls[id] : NULL;
}

static void on_request(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context)
{
    struct party *party = context;
    struct calls *calls = party->calls;
    struct call *call = call_of(calls, request);
    party->requests++;
    calls_check(calls, call != NULL && call->to == party->node && flow->endpoint == call->endpoint,
                "a request comes where it was sent to");
    if (calls->broken != NULL) {
        return;
    }
    call->deliveries++;
    calls_check(calls, call->deliveries == 1, "a request is delivered once");
    call->server = transaction;
    if (!call->forgets) {
        calls_check(calls, vd_transaction_set_user(stack, transaction, call) == 0,
                    "vd_transaction_set_user in on_request");
    }
    struct vd_str tag;
    calls_check(calls, vd_transaction_local_tag(stack, transaction, &tag) == 0 && tag.n > 0,
                "a request without To tag gets one of ours");
    if (call->answer == CALL_ANSWER_AT_ONCE) {
        for (unsigned i = 0; i < call->provisionals; i++) {
            respond(call, 183);
        }
        answer(call);
    } else if (call->answer == CALL_ANSWER_LATER) {
        vd_timer_arm(stack, &call->timer, vd_stack_now(stack) + below(calls, 8000) * VD_MSEC);
    }
    if (chance(calls, 50)) {
        act_begin(&calls->network, calls, party->node);
    }
}

static void on_cancel(struct vd_stack *stack, vd_transaction invite, struct vd_message *message,
                      void *user, void *context)
{
    struct party *party = context;
    struct calls *calls = party->calls;
    struct call *call = find_server(calls, party->node, invite);
    (void)stack;
    (void)message;
    calls_check(calls, call != NULL && call->invite && !call->server_ended && call->final == 0,
                "on_cancel comes for an INVITE without final response");
    if (call == NULL) {
        return;
    }
    calls_check(calls, user == (call->forgets ? NULL : call), "on_cancel has the user pointer");
    calls_check(calls, ++call->cancels == 1, "on_cancel comes once");
    if (call->on_cancel != 0) {
        respond(call, call->on_cancel);
    }
}

static void on_ack(struct vd_stack *stack, vd_transaction transaction, struct vd_message *ack,
                   const struct vd_flow *flow, void *context)
{
    struct party *party = context;
    struct calls *calls = party->calls;
    struct call *call = call_of(calls, ack);
    (void)stack;
    (void)flow;
    calls_check(calls, call != NULL && call->to == party->node,
                "an ACK comes where it was sent to");
    if (call != NULL && transaction != 0) {
        calls_check(calls, call->server == transaction && call->final / 100 == 2,
                    "an ACK of a transaction acknowledges its 2xx");
    }
}

static void on_failure(struct vd_stack *stack, vd_transaction transaction, int error, void *user,
                       void *context)
{
    struct party *party = context;
    struct calls *calls = party->calls;
    struct call *call = find_server(calls, party->node, transaction);
    (void)stack;
    if (call != NULL) {
        calls_check(calls, !call->server_ended, "no on_failure after the end");
        calls_check(calls, user == (call->forgets ? NULL : call),
                    "on_failure of a server has the user pointer");
        call->server_failed |= error == VD_ERR_TIMEOUT;
        return;
    }
    call = user;
    calls_check(calls, call != NULL && call->client == transaction, "on_failure has its call");
    if (call == NULL) {
        return;
    }
    calls_check(calls, !call->failed && !call->client_ended, "one on_failure");
    calls_check(calls, !call->succeeded && (!call->concluded || error != VD_ERR_TIMEOUT),
                "on_failure comes instead of a final response");
    calls_check(calls, error != VD_ERR_CANCELLED || call->cancelled, "CANCELLED was cancelled");
    call->failed = true;
    if (call->chains) {
        act_begin(&calls->network, calls, party->node);
    }
}

static void on_terminated(struct vd_stack *stack, vd_transaction transaction, void *user,
                          void *context)
{
    struct party *party = context;
    struct calls *calls = party->calls;
    struct call *call = find_server(calls, party->node, transaction);
    party->terminations++;
    calls_check(calls,
                vd_transaction_state(stack, transaction) == VD_TRANSACTION_TERMINATED &&
                    vd_respond(stack, transaction, 200, vd_str(NULL, 0), vd_stack_now(stack)) ==
                        VD_ERR_GONE &&
                    vd_transaction_set_user(stack, transaction, NULL) == VD_ERR_GONE,
                "the name of a transaction means nothing once it has ended");
    if (call != NULL) {
        calls_check(calls, !call->server_ended, "one on_terminated of a server transaction");
        call->server_ended = true;
        call->server_end_epoch = calls->network.epoch;
        vd_timer_cancel(stack, &call->timer);
        return;
    }
    call = user;
    calls_check(calls, call != NULL && call->client == transaction && !call->client_ended,
                "one on_terminated of a client transaction");
    if (call != NULL) {
        call->client_ended = true;
        call->client_end_epoch = calls->network.epoch;
        if (call->chains && chance(calls, 500)) {
            network_after(&calls->network, 0, act_begin, calls, party->node);
        }
    }
}

/* A message of a transaction leaves before it has ended, or in the same turn. */
static void on_send(struct network *network, unsigned node, const struct vd_send *send)
{
    struct calls *calls = network->context;
    for (unsigned i = 0; i < calls->count; i++) {
        const struct call *call = &calls->calls[i];
        bool client = call->from == node && call->client == send->token && call->client_ended;
        bool server = call->to == node && call->server == send->token && call->server_ended;
        calls_check(calls,
                    send->token == 0 || (!client || call->client_end_epoch == network->epoch),
                    "nothing is sent for a client transaction that has ended");
        calls_check(calls,
                    send->token == 0 || (!server || call->server_end_epoch == network->epoch),
                    "nothing is sent for a server transaction that has ended");
    }
}

/* The raw peer: no magic cookie, no tag, no Max-Forwards. */

static void send_raw(struct call *call, const char *method, const char *to_tag)
{
    char text[512];
    const char *branch = call->id % 2 == 0 ? ";branch=1" : "";
    int n = snprintf(text, sizeof text,
                     "%s sip:callee@192.0.2.2 SIP/2.0\r\n"
                     "Via: SIP/2.0/UDP 192.0.2.3%s\r\n"
                     "From: <sip:old@192.0.2.3>\r\n"
                     "To: <sip:callee@192.0.2.2>%s\r\n"
                     "Call-ID: %u.old@192.0.2.3\r\n"
                     "CSeq: 7 %s\r\n"
                     "Content-Length: 0\r\n\r\n",
                     method, branch, to_tag, call->id, method);
    network_send(&call->calls->network, call->from, call->to, text, (size_t)n);
}

static void act_raw(struct network *network, void *context, uint64_t value)
{
    struct call *call = context;
    (void)network;
    if (value == 0) {
        send_raw(call, "CANCEL", "");
    } else {
        send_raw(call, call->invite ? "INVITE" : "OPTIONS", "");
    }
}

/* Acknowledges final responses to an INVITE, each copy. */
static void on_raw(struct network *network, unsigned node, unsigned from, const char *bytes,
                   size_t size)
{
    struct calls *calls = network->context;
    struct vd_header headers[32];
    struct vd_message response;
    const struct vd_nameaddr *to;
    const struct vd_cseq *cseq;
    (void)node;
    (void)from;
    vd_message_init(&response, headers, 32);
    if (vd_message_parse(&response, bytes, size, VD_FRAMING_DATAGRAM, NULL) < 0) {
        calls_check(calls, false, "what a stack sends is a message");
        return;
    }
    struct call *call = call_of(calls, &response);
    if (call == NULL || vd_message_to(&response, &to) != 0 ||
        vd_message_cseq(&response, &cseq) != 0) {
        calls_check(calls, false, "a response has Call-ID, To and CSeq");
        return;
    }
    if (response.status >= 200 && cseq->method_id == VD_METHOD_INVITE) {
        char tag[64];
        snprintf(tag, sizeof tag, ";tag=%.*s", (int)to->tag.n, to->tag.p);
        send_raw(call, "ACK", tag);
    }
}

/* A call as chance has it. */
static struct call *new_call(struct calls *calls, unsigned from, unsigned to)
{
    static const int statuses[] = {200, 202, 302, 404, 486, 500, 503, 603};
    struct call *call = &calls->calls[calls->count];
    bool invite = chance(calls, 600);
    *call = (struct call){
        .calls = calls,
        .id = calls->count++,
        .from = from,
        .to = to,
        .endpoint = from != CALLS_RAW && chance(calls, 300) ? NETWORK_TCP : NETWORK_UDP,
        .invite = invite,
        .answer = (enum call_answer)below(calls, invite ? CALL_ANSWER_NEVER : CALL_ANSWERS),
        .provisionals = below(calls, 3),
        .status = statuses[below(calls, 8)],
        .twice = chance(calls, 200),
        .resends = chance(calls, 200),
        .forgets = chance(calls, 200),
        .on_cancel = chance(calls, 600) ? 487 : 0,
        .acknowledges = chance(calls, 800),
        .chains = chance(calls, 200),
    };
    if (!invite) {
        call->provisionals = 0;
    }
    vd_timer_init(&call->timer, answer_late);
    return call;
}

static void begin_call(struct calls *calls, unsigned from, unsigned to)
{
    struct network *network = &calls->network;
    if (calls->count == CALLS_MAX) {
        return;
    }
    struct call *call = new_call(calls, from, to);
    if (from == CALLS_RAW) {
        for (unsigned i = 0; i < 4; i++) {
            network_after(network, i * VD_SEC / 2, act_raw, call, 1);
        }
        if (call->invite && chance(calls, 300)) {
            network_after(network, below(calls, 3000) * VD_MSEC, act_raw, call, 0);
        }
        return;
    }
    send_request(call);
    if (call->invite ? chance(calls, 400) : chance(calls, 30)) {
        network_after(network, below(calls, 6000) * VD_MSEC, act_cancel, call, 1 + below(calls, 2));
    }
}

static void act_raw_begin(struct network *network, void *context, uint64_t value)
{
    (void)network;
    begin_call(context, CALLS_RAW, (unsigned)value);
}

static void act_break(struct network *network, void *context, uint64_t value)
{
    (void)context;
    (void)value;
    network_break(network, 0, 1);
}

void calls_begin(struct calls *calls)
{
    struct network *network = &calls->network;
    unsigned count = 1 + below(calls, 5);
    for (unsigned i = 0; i < count; i++) {
        unsigned from = below(calls, 2);
        vd_time delay = chance(calls, 500) ? 0 : below(calls, 5000) * VD_MSEC;
        network_after(network, delay, chance(calls, 150) ? act_raw_begin : act_begin, calls, from);
    }
    if (chance(calls, 200)) {
        network_after(network, below(calls, 10000) * VD_MSEC, act_break, NULL, 0);
    }
}

static void act_finish(struct network *network, void *context, uint64_t value)
{
    struct calls *calls = context;
    (void)network;
    (void)value;
    for (unsigned i = 0; i < calls->count; i++) {
        struct call *call = &calls->calls[i];
        if (call->deliveries > 0 && !call->server_ended && call->final == 0) {
            vd_timer_cancel(calls->parties[call->to].stack, &call->timer);
            respond(call, 480);
        }
    }
    /* What was on its way meanwhile. */
    if (value > 0) {
        network_after(network, 8 * VD_SEC, act_finish, calls, value - 1);
    }
}

void calls_end(struct calls *calls)
{
    calls->closing = true;
    for (unsigned i = 0; i < calls->count; i++) {
        struct call *call = &calls->calls[i];
        if (call->sent && call->invite) {
            cancel(call);
        }
    }
    network_pump(&calls->network);
    network_after(&calls->network, 5 * VD_SEC, act_finish, calls, 6);
}

/* Keys that follow from the seed, too. */
static int fill(void *out, size_t size, void *context)
{
    struct party *party = context;
    for (size_t i = 0; i < size; i++) {
        ((unsigned char *)out)[i] = (unsigned char)below(party->calls, 256);
    }
    return 0;
}

static void new_party(struct calls *calls, unsigned node)
{
    struct party *party = &calls->parties[node];
    struct vd_stack_config config;
    *party = (struct party){.calls = calls, .node = node};
    counting_mem_init(&party->memory);
    vd_stack_config_init(&config);
    config.mem = &party->memory.mem;
    config.context = party;
    config.random = fill;
    config.callbacks = (struct vd_stack_callbacks){
        .on_request = on_request,
        .on_ack = on_ack,
        .on_cancel = on_cancel,
        .on_response = on_response,
        .on_failure = on_failure,
        .on_terminated = on_terminated,
    };
    if (vd_stack_new(&party->stack, &config) != 0) {
        fprintf(stderr, "random calls: no stack\n");
        abort();
    }
    network_add(&calls->network, party->stack);
    vd_stack_expire(party->stack, calls->network.now);
}

void calls_init(struct calls *calls, uint64_t seed)
{
    struct network *network = &calls->network;
    memset(calls, 0, sizeof *calls);
    network_init(network, seed);
    network->on_send = on_send;
    network->on_raw = on_raw;
    network->context = calls;
    new_party(calls, 0);
    new_party(calls, 1);
    network_add(network, NULL);
    /* The longest way is shorter than T1, so that no copy of a request outlives Timers J and L. */
    network->faults = (struct network_faults){
        .loss = chance(calls, 500) ? 0 : below(calls, 500),
        .duplication = chance(calls, 500) ? 0 : below(calls, 300),
        .send_failure = chance(calls, 800) ? 0 : below(calls, 100),
        .icmp = chance(calls, 800) ? 0 : below(calls, 100),
        .delay = below(calls, 50) * VD_MSEC,
        .jitter = below(calls, 400) * VD_MSEC,
    };
}

void calls_free(struct calls *calls)
{
    for (unsigned i = 0; i < CALLS_END; i++) {
        vd_stack_free(calls->parties[i].stack);
    }
    network_free(&calls->network);
}
