/* harness_script.c - the scripts of the harness: see harness.h.
 *
 * A line that is no stimulus is an expectation and is not looked at before the end, when the whole
 * transcript is compared.
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static int error_named(const char *name)
{
    for (int error = -1; error > -100; error--) {
        if (strcmp(vd_error_name(error) + strlen("VD_ERR_"), name) == 0) {
            return error;
        }
    }
    return 0;
}

static int tu(struct harness *harness, const char *what)
{
    int rc;
    if (isdigit((unsigned char)what[0])) {
        return harness_respond(harness, atoi(what));
    }
    if (strcmp(what, "cancel") == 0) {
        rc = vd_request_cancel(harness->stack, harness->invite, harness->now);
    } else if (strcmp(what, "resend") == 0) {
        rc = vd_response_resend(harness->stack, harness->server, harness->now);
    } else {
        return harness_send_request(harness, what, NULL, NULL);
    }
    harness_drain(harness);
    return rc;
}

static int in(struct harness *harness, const char *what)
{
    int status;
    char method[32];
    if (sscanf(what, "%d %31s", &status, method) == 2) {
        return harness_receive_response(harness, status, method);
    }
    if (strcmp(what, "ACK") == 0) {
        const struct harness_sent *answer = harness_find_sent(harness, "SIP/2.0 ");
        struct harness_request ack = {
            .method = "ACK", .to = answer != NULL ? harness_value(answer->text, "To", 0) : NULL};
        return harness_receive_request(harness, &ack);
    }
    return harness_receive_method(harness, what);
}

static void live(struct harness *harness)
{
    struct vd_stack_counters counters = harness_counters(harness);
    harness_note(harness, "live %u %u", counters.live_client_transactions,
                 counters.live_server_transactions);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static void play_line(struct harness *harness, const char *line)
{
    char *rest;
    double seconds = strtod(line, &rest);
    char action[200];
    snprintf(action, sizeof action, "%s", rest + 1);
    bool is_stimulus = begins(action, "tu ") || begins(action, "in ") || begins(action, "sends ") ||
                       begins(action, "wait") || begins(action, "live");
    if (!is_stimulus) {
        return;
    }
    harness_until(harness, harness_at(harness, seconds));
    if (begins(action, "live")) {
        live(harness);
        return;
    }
    harness_note(harness, "%s", action);
    int rc = 0;
    if (begins(action, "tu ")) {
        rc = tu(harness, action + 3);
    } else if (begins(action, "in ")) {
        rc = in(harness, action + 3);
    } else if (begins(action, "sends fail ")) {
        harness->send_error = error_named(action + strlen("sends fail "));
    } else if (begins(action, "sends work")) {
        harness->send_error = 0;
    }
    if (rc != 0) {
        harness_note(harness, "= %s", vd_error_name(rc) + strlen("VD_ERR_"));
    }
}

bool harness_play(struct harness *harness, const char *script)
{
    const char *line = script;
    while (*line != '\0') {
        char text[256];
        size_t size = strcspn(line, "\n");
        snprintf(text, sizeof text, "%.*s", (int)size, line);
        play_line(harness, text);
        line += size + (line[size] == '\n');
    }
    harness_run_out(harness);
    return harness_saw(harness, script);
}

bool harness_play_alone(const struct vd_stack_config *config, enum harness_endpoint endpoint,
                        const char *script)
{
    struct harness harness;
    harness_init(&harness, config);
    harness_use(&harness, endpoint);
    bool passed = harness_play(&harness, script);
    /* The script ran until no timer was left, so there must be no transaction left. */
    struct vd_stack_counters counters = harness_counters(&harness);
    if (counters.live_client_transactions + counters.live_server_transactions != 0) {
        printf("transactions without a timer are left\n");
        passed = false;
    }
    return harness_free(&harness) && passed;
}
