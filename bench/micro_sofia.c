/* micro_sofia.c - Sofia-SIP's parse, with the flags and the decoding that it has by default.
 *
 * msg_make copies the bytes, as it must: its messages own theirs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "micro.h"

#include <sofia-sip/msg.h>
#include <sofia-sip/sip.h>
#include <sofia-sip/sip_header.h>
#include <sofia-sip/sip_parser.h>

static uint64_t run_parse(void *context, enum micro_message message, uint64_t count)
{
    (void)context;
    struct vd_str text = micro_message(message);
    uint64_t right = 0;
    for (uint64_t i = 0; i < count; i++) {
        msg_t *msg = msg_make(sip_default_mclass(), 0, text.p, (ssize_t)text.n);
        const sip_t *sip = msg != NULL ? sip_object(msg) : NULL;
        if (sip != NULL && (sip->sip_flags & MSG_FLG_ERROR) == 0 && sip->sip_error == NULL &&
            sip->sip_via != NULL && sip->sip_from != NULL && sip->sip_to != NULL &&
            sip->sip_call_id != NULL && sip->sip_cseq != NULL && sip->sip_contact != NULL &&
            sip->sip_content_length != NULL) {
            right++;
        }
        if (msg != NULL) {
            msg_destroy(msg);
        }
    }
    return right;
}

static const struct micro_work WORKS[MICRO_MESSAGES] = {
    {"sofia_parse_invite", "Sofia-SIP: parse INVITE", run_parse, MICRO_INVITE},
    {"sofia_parse_register", "Sofia-SIP: parse REGISTER", run_parse, MICRO_REGISTER},
    {"sofia_parse_200", "Sofia-SIP: parse 200", run_parse, MICRO_OK},
};

const struct micro_group micro_sofia_group = {.works = WORKS, .work_count = MICRO_MESSAGES};
