/* message_facts.h - says what a parsed message holds, by the keys of torture/README.md.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef MESSAGE_FACTS_H
#define MESSAGE_FACTS_H

#include <viaduct/message.h>

/* What message_fact says of a key. */
enum message_fact_result {
    MESSAGE_FACT_KNOWN,
    MESSAGE_FACT_UNREAD, /* about the inside of a body, which the parser does not look at */
    MESSAGE_FACT_UNKNOWN /* no such key */
};

#define MESSAGE_FACT_SIZE 8192

/* Writes the value of a fact into out (MESSAGE_FACT_SIZE bytes) and its length into *length. What
 * is absent is empty. */
enum message_fact_result message_fact(struct vd_message *message, struct vd_str key, char *out,
                                      size_t *length);

#endif
