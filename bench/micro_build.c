/* micro_build.c - building a request and a response into a buffer.
 *
 * SPDX-License-Identifier: MIT
 */
#include "micro.h"

#include <viaduct/build.h>

static const char SDP[] = "v=0\r\n"
                          "o=alice 2890844526 2890844526 IN IP4 192.0.2.101\r\n"
                          "s=call\r\n"
                          "c=IN IP4 192.0.2.101\r\n"
                          "t=0 0\r\n"
                          "m=audio 49172 RTP/AVP 0 8\r\n";

static void build_common(struct vd_builder *builder, struct vd_str to_tag, uint32_t number)
{
    vd_build_header(builder, VD_HEADER_VIA,
                    VD_STR("SIP/2.0/UDP 192.0.2.101:5060;branch=z9hG4bK74bf9a1c0e3d;rport"));
    vd_build_nameaddr(builder, VD_HEADER_FROM, VD_STR("Alice Liddell"),
                      VD_STR("sip:alice@atlanta.example.com"), VD_STR("9fxced76sl"));
    vd_build_nameaddr(builder, VD_HEADER_TO, VD_STR("Bob"), VD_STR("sip:bob@biloxi.example.com"),
                      to_tag);
    vd_build_header(builder, VD_HEADER_CALL_ID, VD_STR("3848276298220188511@atlanta.example.com"));
    vd_build_cseq(builder, number, VD_STR("INVITE"));
}

static uint64_t run_request(void *context, enum micro_message message, uint64_t count)
{
    (void)context;
    (void)message;
    uint64_t right = 0;
    for (uint64_t i = 0; i < count; i++) {
        char data[2048];
        struct vd_builder builder;
        vd_builder_init(&builder, data, sizeof data);
        vd_build_request_line(&builder, VD_STR("INVITE"), VD_STR("sip:bob@biloxi.example.com"));
        build_common(&builder, VD_STR(""), (uint32_t)(i & 0xffff) + 1);
        vd_build_number(&builder, VD_HEADER_MAX_FORWARDS, 70);
        vd_build_nameaddr(&builder, VD_HEADER_CONTACT, VD_STR(""),
                          VD_STR("sip:alice@192.0.2.101:5060"), VD_STR(""));
        vd_build_header(&builder, VD_HEADER_ALLOW, VD_STR("INVITE, ACK, CANCEL, OPTIONS, BYE"));
        vd_build_header(&builder, VD_HEADER_USER_AGENT, VD_STR("Bench/1.0"));
        right +=
            vd_build_end(&builder, VD_STR("application/sdp"), vd_str(SDP, sizeof SDP - 1)) == 0 &&
            builder.length > sizeof SDP;
    }
    return right;
}

static uint64_t run_response(void *context, enum micro_message message, uint64_t count)
{
    (void)context;
    (void)message;
    uint64_t right = 0;
    for (uint64_t i = 0; i < count; i++) {
        char data[2048];
        struct vd_builder builder;
        vd_builder_init(&builder, data, sizeof data);
        vd_build_status_line(&builder, 180, VD_STR(""));
        build_common(&builder, VD_STR("2493k59kd"), (uint32_t)(i & 0xffff) + 1);
        vd_build_nameaddr(&builder, VD_HEADER_CONTACT, VD_STR(""),
                          VD_STR("sip:bob@192.0.2.104:5060"), VD_STR(""));
        right += vd_build_end(&builder, VD_STR(""), VD_STR("")) == 0 && builder.length > 0;
    }
    return right;
}

static const struct micro_work WORKS[] = {
    {"build_request", "build INVITE (11 header lines, SDP)", run_request, MICRO_INVITE},
    {"build_response", "build 180 (7 header lines)", run_response, MICRO_INVITE},
};

const struct micro_group micro_build_group = {
    .works = WORKS,
    .work_count = sizeof WORKS / sizeof *WORKS,
};
