/* fake_udp.h - a kernel that refuses, delays and reports as a test wants it.
 *
 * It stands in the place of the system calls of one side's sockets. What it does not refuse it does
 * for real. There is one of it a process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef FAKE_UDP_H
#define FAKE_UDP_H

#include <sys/socket.h>

#include "exchange.h"

struct fake_udp {
    /* The errno with which a message to a destination is refused, 0 to send it. As sendmmsg does,
     * it ends a call at the first one refused, and only tells the errno when that is the call's
     * first message. NULL refuses nothing. */
    int (*refuse)(const struct vd_addr *to);
    unsigned refusals; /* calls that returned an errno */
    /* What is not refused is not sent either, but lost on its way. */
    bool swallow;
    /* How many messages the socket still takes before its buffer is full. */
    unsigned limit;

    /* The errno of the next receive call, 0 for none. */
    int receive_error;
    /* The next receive call waits until this many datagrams have come and returns all of them; 0
     * receives what there is. */
    unsigned gather;
    /* What the next receive calls set in the flags of each datagram. */
    int receive_flags;
    /* As if this many datagrams more were there, all like the last one received. */
    unsigned echoes;

    /* The error queue: given out one by one. */
    const struct fake_error *errors;
    unsigned error_count;

    /* The last message sent. */
    char sent[2048];
    size_t sent_size;
};

/* An entry of the error queue. */
struct fake_error {
    uint8_t origin;
    uint8_t type;
    uint8_t code;
    int system_error;
    struct vd_addr destination;
    struct vd_str quoted;
};

extern struct fake_udp fake_udp;

/* Puts a fake that does everything for real in the place of the side's system calls. */
void fake_udp_install(struct side *side);

/* The private object of the side's first socket. */
struct vd__udp_socket *fake_udp_socket(const struct side *side);

#endif
