/* micro_report.c - prints the figures.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "micro.h"

void micro_report_json(FILE *file, const struct micro_results *results, unsigned rounds)
{
    fprintf(file, "{\"rounds\": %u, \"results\": [", rounds);
    for (size_t i = 0; i < results->count; i++) {
        const struct micro_result *result = &results->results[i];
        fprintf(file, "%s\n  {\"key\": \"%s\", \"ns\": %.2f, ", i > 0 ? "," : "", result->work->key,
                result->nanoseconds);
        if (result->ratio > 0) {
            fprintf(file, "\"sofia_parse_ns\": %.2f, \"ratio\": %.3f}", result->sofia,
                    result->ratio);
        } else {
            fputs("\"sofia_parse_ns\": null, \"ratio\": null}", file);
        }
    }
    fputs("\n]}\n", file);
}

static const struct micro_result *find(const struct micro_results *results, const char *key)
{
    for (size_t i = 0; i < results->count; i++) {
        if (strcmp(results->results[i].work->key, key) == 0) {
            return &results->results[i];
        }
    }
    return NULL;
}

/* The ratios in words. */
static void print_conclusion(const struct micro_results *results)
{
    static const struct {
        const char *key;
        const char *text;
    } lines[] = {
        {"parse_invite", "parse INVITE: %.1f times as fast as Sofia-SIP\n"},
        {"parse_register", "parse REGISTER: %.1f times as fast as Sofia-SIP\n"},
        {"parse_200", "parse 200: %.1f times as fast as Sofia-SIP\n"},
        {"lanes_0", "timer arm and cancel: 1/%.0f of Sofia-SIP's parse of the INVITE\n"},
        {"lanes_5000000", "timer arm and cancel, 5,000,000 pending: 1/%.0f of it\n"},
        {"lanes_5000000_random",
         "timer arm and cancel, 5,000,000 pending, at random: 1/%.0f of it\n"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const struct micro_result *result = find(results, lines[i].key);
        if (result != NULL) {
            printf(lines[i].text, result->ratio);
        }
    }
}

void micro_report_table(const struct micro_results *results)
{
    bool sofia = results->count > 0 && results->results[0].ratio > 0;
    printf("%-50s %10s%s\n", "", "ns", sofia ? "  Sofia parse, ns    ratio" : "");
    for (size_t i = 0; i < results->count; i++) {
        const struct micro_result *result = &results->results[i];
        printf("%-50s %10.1f", result->work->title, result->nanoseconds);
        if (sofia) {
            printf(" %16.1f %8.2f", result->sofia, result->ratio);
        }
        putchar('\n');
    }
    if (sofia) {
        print_conclusion(results);
    } else {
        puts("Built without Sofia-SIP: there is nothing to compare with.");
    }
}
