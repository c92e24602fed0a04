/* json.c - finds a value in the one-line JSON objects that our programs print.
 *
 * SPDX-License-Identifier: MIT
 */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A piece of the text: of a string what is between its quotes. */
struct token {
    const char *start;
    size_t length;
    bool string;
};

/* Takes the next token, a mark such as { or a scalar, and returns what follows; NULL at the end. */
static const char *next_token(const char *p, struct token *token)
{
    p += strspn(p, " \t\r\n");
    *token = (struct token){.start = p, .length = 1};
    if (*p == '\0') {
        return NULL;
    }
    if (*p == '"') {
        token->string = true;
        token->start = ++p;
        while (*p != '\0' && *p != '"') {
            p += p[0] == '\\' && p[1] != '\0' ? 2 : 1;
        }
        token->length = (size_t)(p - token->start);
        return *p == '"' ? p + 1 : NULL;
    }
    if (strchr("{}[]:,", *p) == NULL) {
        token->length = strcspn(p, "{}[]:, \t\r\n\"");
    }
    return p + token->length;
}

static bool is_mark(const struct token *token, char mark)
{
    return !token->string && token->length == 1 && *token->start == mark;
}

static bool is_named(const struct token *token, const char *name)
{
    return token->string && token->length == strlen(name) &&
           memcmp(token->start, name, token->length) == 0;
}

static bool copy(const struct token *token, char *value, size_t size)
{
    if (token->length >= size) {
        return false;
    }
    memcpy(value, token->start, token->length);
    value[token->length] = '\0';
    return true;
}

bool json_find(const char *json, const char *group, const char *name, char *value, size_t size)
{
    struct token before = {0}; /* what may be a name */
    struct token token;
    unsigned depth = 0;
    bool inside = false; /* the group */
    const unsigned wanted = group == NULL ? 1 : 2;
    while ((json = next_token(json, &token)) != NULL) {
        if (is_mark(&token, ':')) {
            json = next_token(json, &token);
            if (json == NULL) {
                return false;
            }
            bool opens = is_mark(&token, '{') || is_mark(&token, '[');
            if (!opens && depth == wanted && (group == NULL || inside) && is_named(&before, name)) {
                return copy(&token, value, size);
            }
            if (opens && depth == 1) {
                inside = group != NULL && is_named(&before, group);
            }
        }
        if (is_mark(&token, '{') || is_mark(&token, '[')) {
            depth++;
        } else if (is_mark(&token, '}') || is_mark(&token, ']')) {
            depth -= depth > 0;
        }
        before = token;
    }
    return false;
}

double json_number(const char *json, const char *group, const char *name)
{
    char text[40];
    char *end;
    if (!json_find(json, group, name, text, sizeof text)) {
        return (double)NAN;
    }
    double number = strtod(text, &end);
    return end == text || *end != '\0' ? (double)NAN : number;
}
