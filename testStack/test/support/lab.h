/* lab.h - a sender and a receiver joined without sockets, under a virtual clock.
 *
 * What one of them sends arrives at the other one millisecond later, in order, unless the test
 * drops it. Every message sent is noted. The clock starts at an odd time and moves from one event
 * to the next.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LAB_H
#define LAB_H

#include "options.h"
#include "receiver.h"
#include "sender.h"

#define LAB_DELAY VD_MSEC

enum { LAB_SENDER, LAB_RECEIVER, LAB_SIDES };

/* A message that was sent. what is the method of a request; status and method of a response, such
 * as "200 INVITE". at counts from the beginning. */
struct lab_message {
    vd_time at;
    unsigned from; /* LAB_SENDER or LAB_RECEIVER */
    uint16_t from_port;
    uint16_t to_port;
    char what[24];
    char *bytes; /* of its own, ends with a NUL */
    size_t size;
};

struct lab {
    struct options options;
    struct sender *sender;
    struct receiver *receiver;
    struct vd_stack *stacks[LAB_SIDES];
    vd_time now;
    vd_time began_at;

    /* Decides whether a message arrives, and may change its bytes. NULL: all arrive. */
    bool (*passes)(struct lab *lab, struct lab_message *message);
    uint64_t context; /* for passes */

    struct lab_message *messages; /* all that were sent, in order */
    size_t count;
    size_t capacity;
    size_t delivered; /* of messages: these have arrived, or were dropped when they were sent */
    bool *dropped;
};

/* Options of one port pair on 127.0.0.1 with so many registrations and such a window. */
struct options lab_options(uint64_t runs, uint32_t window);

/* The receiver's ports follow the sender's. */
void lab_init(struct lab *lab, const struct options *options);
void lab_free(struct lab *lab);

/* Lets time pass until the sender is done or hopeless. Returns false when it is neither after
 * limit. */
bool lab_run(struct lab *lab, vd_time limit);

/* Lets everything happen that is to happen within duration. */
void lab_wait(struct lab *lab, vd_time duration);

/* Gives bytes to a side once more or for the first time, on its first port. */
void lab_inject(struct lab *lab, unsigned side, const char *bytes, size_t size);

/* How many messages were sent that are called what. */
unsigned lab_count(const struct lab *lab, const char *what);

/* The first message called what after the first skip ones; NULL when there is none. */
const struct lab_message *lab_find(const struct lab *lab, const char *what, unsigned skip);

/* The value of a header field in a message, up to the line's end, in a buffer of its own until the
 * next call but three. Empty when there is none. */
const char *lab_header(const struct lab_message *message, const char *name);

#endif
