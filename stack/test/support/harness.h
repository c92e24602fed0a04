/* harness.h - a stack under a virtual clock, whose every act is written down.
 *
 * The transcript is text, one line for each thing that happened, in order:
 *
 *     0.500 out INVITE             a request left the stack
 *     0.500 out 200 INVITE         a response did (status, method of its CSeq)
 *     0.000 up INVITE              on_request, on_ack, on_cancel (with what was received)
 *     0.000 up 180 INVITE          on_response
 *     0.000 stray 180 INVITE       on_stray_response
 *     32.000 failure TIMEOUT       on_failure, with the name of the error less VD_ERR_
 *     32.000 end                   on_terminated
 *     1.000 idle                   nothing happened although vd_stack_next_deadline had come
 *     1.000 early                  something follows that happened before its deadline
 *
 * Times are seconds since harness_init. A test compares whole transcripts, so it proves as well
 * that nothing else happened. Each stimulus below drains the outbox before it returns.
 *
 * harness_play runs a script: a transcript with the stimuli in it,
 *
 *     tu INVITE      the application sends a request to the peer
 *     tu 200         ... answers the latest request that came (not ACK, not CANCEL)
 *     tu cancel      ... cancels its latest INVITE
 *     tu resend      ... calls vd_response_resend
 *     in INVITE      the peer's request arrives (the same branch until harness_fresh)
 *     in 200 INVITE  the peer's response to our latest request of that method arrives
 *     sends fail REFUSED, sends work    what vd_stack_send_failed gets for what is pulled from here
 * on wait           time passes live 0 1       how many client and server transactions there are
 *
 * After a call that returned an error comes a line with it: "0.000 = STATE".
 * The script passes when the transcript that it makes is the script itself.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef HARNESS_H
#define HARNESS_H

#include "counting_mem.h"

#include <viaduct/stack.h>
#include <viaduct/timer.h>
#include <viaduct/transaction.h>

/* The local ends that harness_init makes, in this order. */
enum harness_endpoint {
    HARNESS_UDP,  /* 192.0.2.20:5060 */
    HARNESS_TCP,  /* 192.0.2.20:5060, connection 1 */
    HARNESS_TLS,  /* 192.0.2.20:5061, connection 2 */
    HARNESS_UDP6, /* [2001:db8::20]:5060 */
    HARNESS_ENDPOINTS
};

#define HARNESS_KEPT 64

/* A message that left the stack; text ends with NUL. */
struct harness_sent {
    struct vd_flow flow;
    vd_transaction transaction;
    size_t size;
    char *text;
};

struct harness {
    struct vd_stack *stack;
    struct counting_mem memory;
    vd_time start;
    vd_time now;

    /* The peer (192.0.2.10:5060, or [2001:db8::10]:5060) as reached from the endpoint in use. */
    struct vd_flow flow;

    /* Called after the callback was written down; context is the harness. */
    struct vd_stack_callbacks hooks;
    void *test; /* for the hooks */

    /* The latest transaction of each side: of ours, and of a request that came. */
    vd_transaction client;
    vd_transaction invite; /* the latest INVITE of ours */
    vd_transaction server;
    int failures;     /* calls of on_failure */
    int terminations; /* calls of on_terminated */

    int send_error;  /* when not 0, each message pulled fails with it */
    unsigned serial; /* in the branch, tags and Call-ID of the peer's requests */
    uint32_t cseq;   /* of our requests */

    struct harness_sent sent[HARNESS_KEPT];
    unsigned sent_count;

    char *transcript;
    size_t transcript_size;
    size_t transcript_capacity;
};

/* A request of the peer's. NULL takes what a plain request of the current serial has. */
struct harness_request {
    const char *method;
    const char *uri;
    const char *branch;  /* "" for a Via without a branch parameter */
    const char *sent_by; /* 192.0.2.10:5060 */
    const char
        *via; /* parameters of the top Via after the branch, such as ";rport" (the default) */
    const char *from;
    const char *to;
    const char *call_id;
    const char *cseq;    /* such as "1 INVITE" */
    const char *headers; /* more header fields, each with its CRLF */
    const char *body;
};

/* Makes a stack with the four endpoints; config may be NULL for the defaults. Its callbacks,
 * context, random and mem are the harness's. The flow in use is that of HARNESS_UDP. */
void harness_init(struct harness *harness, const struct vd_stack_config *config);

/* Frees the stack. Returns false when memory was left, or if it was not what was asked for. */
bool harness_free(struct harness *harness);

/* Uses another endpoint from here on. */
void harness_use(struct harness *harness, enum harness_endpoint endpoint);

/* The next request of the peer has a branch, tag and Call-ID of its own. */
void harness_fresh(struct harness *harness);

/* Seconds and milliseconds since the start, as a time of the stack's. */
vd_time harness_at(const struct harness *harness, double seconds);

/* Lets time pass until at, from deadline to deadline; and until no timer is left. */
void harness_until(struct harness *harness, vd_time at);
void harness_run_out(struct harness *harness);

/* Pulls and writes down all that is in the outbox. */
void harness_drain(struct harness *harness);

/* Bytes arrive on the flow in use, or on another one. The bytes are a block of their own that is
 * freed afterwards, so that a memory checker sees what outlives the call. */
int harness_receive(struct harness *harness, const char *text);
int harness_receive_on(struct harness *harness, const struct vd_flow *flow, const char *bytes,
                       size_t size);

/* Writes a request of the peer's; the result is to be freed. request may be NULL but for its
 * method. */
char *harness_request_text(const struct harness *harness, const struct harness_request *request);
int harness_receive_request(struct harness *harness, const struct harness_request *request);
int harness_receive_method(struct harness *harness, const char *method);

/* Writes a response to a request that was sent: Via, From, To, Call-ID and CSeq copied, to_tag
 * (NULL for none) added to To, headers as they are. The result is to be freed. */
char *harness_response_text(const char *request, int status, const char *to_tag,
                            const char *headers);

/* The response arrives for the latest request of ours with that method. */
int harness_receive_response(struct harness *harness, int status, const char *method);

/* Our request: to the peer in use, with From, To, Call-ID, CSeq, Max-Forwards and Contact; headers
 * (whole lines) may be NULL. Returns what vd_request_send does, *out may be NULL. */
int harness_send_request(struct harness *harness, const char *method, const char *headers,
                         vd_transaction *out);

/* Our answer to the latest request. */
int harness_respond(struct harness *harness, int status);

/* The message that was sent back messages before the latest one (0); and the latest one whose start
 * line begins with prefix, NULL when there is none. */
const struct harness_sent *harness_sent(const struct harness *harness, unsigned back);
const struct harness_sent *harness_find_sent(const struct harness *harness, const char *prefix);

/* The value of header field number n (from 0) with this name in text; "" when there is none. It
 * stays valid for the next 7 calls. */
const char *harness_value(const char *text, const char *name, unsigned n);

/* Writes a line into the transcript, with the time. */
void harness_note(struct harness *harness, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True when the transcript since the last call is exactly expected (lines that end with LF); else
 * both are printed. The transcript is empty afterwards. */
bool harness_saw(struct harness *harness, const char *expected);

/* Empties the transcript. */
void harness_forget(struct harness *harness);

/* Runs a script; true when all went as it says. */
bool harness_play(struct harness *harness, const char *script);

/* A new harness with config on endpoint, harness_play, harness_free. */
bool harness_play_alone(const struct vd_stack_config *config, enum harness_endpoint endpoint,
                        const char *script);

struct vd_stack_counters harness_counters(const struct harness *harness);

#endif
