/* tls_pair.c - a client and a server over TLS, and the authorities that sign for them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tls_pair.h"

#include <CUnit/CUnit.h>

struct tls_certificate tls_authority;
struct tls_certificate tls_stranger;

bool tls_authorities_make(void)
{
    struct tls_certificate_plan plan = {.common_name = "authority", .authority = true};
    struct tls_certificate_plan other = {.common_name = "stranger", .authority = true};

    return tls_certificate_make(&tls_authority, &plan) &&
           tls_certificate_make(&tls_stranger, &other);
}

void tls_authorities_free(void)
{
    tls_certificate_free(&tls_authority);
    tls_certificate_free(&tls_stranger);
}

struct tls_certificate tls_named(const char *alternative)
{
    struct tls_certificate made;

    CU_ASSERT_TRUE_FATAL(
        tls_certificate_make(&made, &(struct tls_certificate_plan){.alternative = alternative,
                                                                   .issuer = &tls_authority}));
    return made;
}

void tls_pair_init(struct tls_pair *pair)
{
    CU_ASSERT_TRUE_FATAL(tls_side_init(&pair->client) && tls_side_init(&pair->server));
    tls_side_trust(&pair->client, NULL, &tls_authority);
}

void tls_pair_open(struct tls_pair *pair, const struct tls_certificate *own, const char *host)
{
    tls_side_trust(&pair->server, own, &tls_authority);
    CU_ASSERT_TRUE_FATAL(tls_side_open(&pair->server) && tls_side_open(&pair->client));
    if (host != NULL) {
        CU_ASSERT_TRUE_FATAL(tls_side_expect(&pair->client, &pair->server, host));
    }
}

void tls_pair_free(struct tls_pair *pair)
{
    CU_ASSERT_TRUE(tls_side_free(&pair->client));
    CU_ASSERT_TRUE(tls_side_free(&pair->server));
}

bool tls_pair_ask(struct tls_pair *pair, uint32_t cseq)
{
    struct tcp_side *client = &pair->client.tcp;
    unsigned ended = client->responses + client->failures;
    unsigned responses = client->responses;

    CU_ASSERT_EQUAL(tcp_side_request(client, "OPTIONS", &pair->server.tcp.addr, cseq, 0), 0);
    for (int i = 0; i < TCP_TURNS_MAX && client->responses + client->failures == ended; i++) {
        tcp_side_turn(client);
        tcp_side_turn(&pair->server.tcp);
    }
    CU_ASSERT_EQUAL(client->responses + client->failures, ended + 1);
    return client->responses > responses;
}
