/* json.h - finds a value in the one-line JSON objects that our programs print.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTSTACK_JSON_H
#define TESTSTACK_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* Copies the value called name of a JSON object (RFC 8259) to value, as it is written there, a
 * string without its quotes and with its escapes. group is the object in it that the value lies in,
 * NULL for the outermost. False when there is none, or when it does not fit. */
bool json_find(const char *json, const char *group, const char *name, char *value, size_t size);

/* A number, or NaN when there is none, as with null. */
double json_number(const char *json, const char *group, const char *name);

#endif
