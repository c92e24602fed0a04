/* options_client.c - sends one OPTIONS and prints what comes back.
 *
 *     options_client ADDRESS PORT
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/loop.h>
#include <viaduct/transaction.h>
#include <viaduct/udp.h>

#include <stdio.h>
#include <stdlib.h>

struct client {
    struct vd_loop *loop;
    int status; /* the final response's, or 0 */
};

static void on_response(struct vd_stack *stack, vd_transaction transaction,
                        struct vd_message *response, void *user, void *context)
{
    struct client *client = context;
    struct vd_value_iterator allow;
    struct vd_token method;
    (void)stack;
    (void)transaction;
    (void)user;
    printf("%u %.*s\n", response->status, (int)response->reason.n, response->reason.p);
    vd_value_iterator_init(&allow, response, VD_HEADER_ALLOW);
    while (vd_token_next(&allow, &method) > 0) {
        printf("allows %.*s\n", (int)method.value.n, method.value.p);
    }
    if (response->status >= 200) {
        client->status = response->status;
        vd_loop_stop(client->loop);
    }
}

static void on_failure(struct vd_stack *stack, vd_transaction transaction, int error, void *user,
                       void *context)
{
    struct client *client = context;
    (void)stack;
    (void)transaction;
    (void)user;
    fprintf(stderr, "options_client: no response: %s\n", vd_strerror(error));
    vd_loop_stop(client->loop);
}

static int send_options(struct vd_stack *stack, uint32_t endpoint, const struct vd_addr *peer,
                        vd_time now)
{
    struct vd_flow flow = {.endpoint = endpoint, .remote = *peer};
    struct vd_builder request;
    char address[VD_ADDR_TEXT_SIZE];
    char uri[VD_ADDR_TEXT_SIZE + 4];

    vd_addr_format(peer, address);
    int n = snprintf(uri, sizeof uri, "sip:%s", address);
    struct vd_str target = vd_str(uri, (size_t)n);
    int rc = vd_request_begin(stack, &request, VD_STR("OPTIONS"), target, &flow);
    if (rc != 0) {
        return rc;
    }
    vd_build_number(&request, VD_HEADER_MAX_FORWARDS, 70);
    vd_build_nameaddr(&request, VD_HEADER_FROM, vd_str(NULL, 0), VD_STR("sip:client@example.com"),
                      VD_STR("1928301774"));
    vd_build_nameaddr(&request, VD_HEADER_TO, vd_str(NULL, 0), target, vd_str(NULL, 0));
    vd_build_header(&request, VD_HEADER_CALL_ID, VD_STR("a84b4c76e66710@example.com"));
    vd_build_cseq(&request, 1, VD_STR("OPTIONS"));
    return vd_request_send(stack, &request, NULL, now, NULL);
}

int main(int argc, char **argv)
{
    struct client client = {0};
    struct vd_stack *stack = NULL;
    struct vd_stack_config config;
    struct vd_addr peer;
    struct vd_addr bind;
    uint32_t endpoint;

    if (argc != 3 ||
        vd_addr_parse(vd_str_from(argv[1]), (uint16_t)strtoul(argv[2], NULL, 10), &peer) != 0 ||
        vd_addr_parse(VD_STR("127.0.0.1"), 0, &bind) != 0) {
        fprintf(stderr, "usage: options_client ADDRESS PORT\n");
        return 2;
    }
    vd_stack_config_init(&config);
    config.context = &client;
    config.callbacks.on_response = on_response;
    config.callbacks.on_failure = on_failure;

    int rc = vd_stack_new(&stack, &config);
    if (rc == 0) {
        rc = vd_loop_new(&client.loop, NULL);
    }
    if (rc == 0) {
        rc = vd_loop_add_stack(client.loop, stack);
    }
    if (rc == 0) {
        rc = vd_udp_open(client.loop, stack, &bind, NULL, &endpoint);
    }
    if (rc == 0) {
        rc = send_options(stack, endpoint, &peer, vd_loop_now(client.loop));
    }
    if (rc == 0) {
        rc = vd_loop_run(client.loop);
    }
    if (rc != 0) {
        fprintf(stderr, "options_client: %s\n", vd_strerror(rc));
    }
    vd_loop_free(client.loop);
    vd_stack_free(stack);
    return rc == 0 && client.status == 200 ? 0 : 1;
}
