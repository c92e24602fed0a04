/* micro_parse.c - parsing: the message and the values that every element needs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "micro.h"

#include <viaduct/message.h>

enum { HEADERS = 64 };

/* Max-Forwards is in requests only. Content-Length was applied by the parse. */
static bool decode(struct vd_message *message)
{
    const struct vd_via *via;
    const struct vd_nameaddr *address;
    const struct vd_cseq *cseq;
    struct vd_str call_id;
    uint32_t max_forwards;
    return vd_message_top_via(message, &via) == 0 && via->branch.n > 0 &&
           vd_message_from(message, &address) == 0 && address->tag.n > 0 &&
           vd_message_to(message, &address) == 0 && vd_message_call_id(message, &call_id) == 0 &&
           vd_message_cseq(message, &cseq) == 0 && cseq->number > 0 &&
           vd_message_contact(message, &address) == 0 && message->has_content_length &&
           (!message->is_request || vd_message_max_forwards(message, &max_forwards) == 0);
}

static uint64_t run_parse(void *context, enum micro_message which, uint64_t count)
{
    (void)context;
    struct vd_str text = micro_message(which);
    struct vd_header headers[HEADERS];
    struct vd_message message;
    uint64_t right = 0;
    vd_message_init(&message, headers, HEADERS);
    for (uint64_t i = 0; i < count; i++) {
        int size = vd_message_parse(&message, text.p, text.n, VD_FRAMING_DATAGRAM, NULL);
        right += size == (int)text.n && decode(&message);
    }
    return right;
}

static const struct micro_work WORKS[MICRO_MESSAGES] = {
    {"parse_invite", "parse INVITE (14 header lines, SDP)", run_parse, MICRO_INVITE},
    {"parse_register", "parse REGISTER", run_parse, MICRO_REGISTER},
    {"parse_200", "parse 200", run_parse, MICRO_OK},
};

const struct micro_group micro_parse_group = {.works = WORKS, .work_count = MICRO_MESSAGES};
