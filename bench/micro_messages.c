/* micro_messages.c - the messages that are parsed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "micro.h"

static const char INVITE[] =
    "INVITE sip:bob@biloxi.example.com;user=phone SIP/2.0\r\n"
    "Via: SIP/2.0/UDP 192.0.2.101:5060;branch=z9hG4bK74bf9a1c0e3d;rport\r\n"
    "Max-Forwards: 70\r\n"
    "Route: <sip:proxy.atlanta.example.com;lr>\r\n"
    "From: \"Alice Liddell\" <sip:alice@atlanta.example.com>;tag=9fxced76sl\r\n"
    "To: \"Bob\" <sip:bob@biloxi.example.com>\r\n"
    "Call-ID: 3848276298220188511@atlanta.example.com\r\n"
    "CSeq: 314159 INVITE\r\n"
    "Contact: <sip:alice@192.0.2.101:5060;transport=udp>\r\n"
    "Allow: INVITE, ACK, CANCEL, OPTIONS, BYE, REFER, NOTIFY\r\n"
    "Supported: replaces, timer, 100rel\r\n"
    "User-Agent: Bench/1.0\r\n"
    "Subject: lunch at noon\r\n"
    "Content-Type: application/sdp\r\n"
    "Content-Length: 231\r\n"
    "\r\n"
    "v=0\r\n"
    "o=alice 2890844526 2890844526 IN IP4 192.0.2.101\r\n"
    "s=call\r\n"
    "c=IN IP4 192.0.2.101\r\n"
    "t=0 0\r\n"
    "m=audio 49172 RTP/AVP 0 8 101\r\n"
    "a=rtpmap:0 PCMU/8000\r\n"
    "a=rtpmap:8 PCMA/8000\r\n"
    "a=rtpmap:101 telephone-event/8000\r\n"
    "a=fmtp:101 0-15\r\n"
    "a=sendrecv\r\n";

static const char REGISTER[] =
    "REGISTER sip:registrar.biloxi.example.com SIP/2.0\r\n"
    "Via: SIP/2.0/UDP 192.0.2.104:5060;branch=z9hG4bKnashds7e21;rport\r\n"
    "Max-Forwards: 70\r\n"
    "From: \"Bob\" <sip:bob@biloxi.example.com>;tag=456248\r\n"
    "To: \"Bob\" <sip:bob@biloxi.example.com>\r\n"
    "Call-ID: 843817637684230@998sdasdh09\r\n"
    "CSeq: 1826 REGISTER\r\n"
    "Contact: <sip:bob@192.0.2.104:5060>;expires=7200\r\n"
    "User-Agent: Bench/1.0\r\n"
    "Content-Length: 0\r\n"
    "\r\n";

static const char OK[] =
    "SIP/2.0 200 OK\r\n"
    "Via: SIP/2.0/UDP 192.0.2.104:5060;branch=z9hG4bKnashds7e21;rport=5060;received=192.0.2.104\r\n"
    "From: \"Bob\" <sip:bob@biloxi.example.com>;tag=456248\r\n"
    "To: \"Bob\" <sip:bob@biloxi.example.com>;tag=2493k59kd\r\n"
    "Call-ID: 843817637684230@998sdasdh09\r\n"
    "CSeq: 1826 REGISTER\r\n"
    "Contact: <sip:bob@192.0.2.104:5060>;expires=7200\r\n"
    "Server: Bench/1.0\r\n"
    "Content-Length: 0\r\n"
    "\r\n";

struct vd_str micro_message(enum micro_message message)
{
    switch (message) {
    case MICRO_INVITE:
        return vd_str(INVITE, sizeof INVITE - 1);
    case MICRO_REGISTER:
        return vd_str(REGISTER, sizeof REGISTER - 1);
    default:
        return vd_str(OK, sizeof OK - 1);
    }
}
