/* options_server.c - answers every OPTIONS with 200 and every other request with 405.
 *
 *     options_server ADDRESS PORT
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/loop.h>
#include <viaduct/transaction.h>
#include <viaduct/udp.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static struct vd_loop *loop;

static void on_signal(int number)
{
    (void)number;
    vd_loop_stop(loop);
}

static void on_log(const struct vd_log_event *event, void *context)
{
    (void)context;
    fprintf(stderr, "options_server: %s (%s)\n", event->text, vd_strerror(event->error));
}

static void on_request(struct vd_stack *stack, vd_transaction transaction,
                       struct vd_message *request, const struct vd_flow *flow, void *context)
{
    struct vd_builder response;
    (void)flow;
    (void)context;
    int status = request->method_id == VD_METHOD_OPTIONS ? 200 : 405;
    int rc = vd_response_begin(stack, &response, transaction, status, vd_str(NULL, 0));
    if (rc == 0) {
        vd_build_header(&response, VD_HEADER_ALLOW, VD_STR("OPTIONS"));
        rc = vd_response_send(stack, &response, vd_stack_now(stack));
    }
    if (rc != 0) {
        fprintf(stderr, "options_server: no response: %s\n", vd_strerror(rc));
    }
}

int main(int argc, char **argv)
{
    struct vd_addr bind;
    struct vd_stack *stack = NULL;
    struct vd_stack_config config;
    struct vd_loop_config loop_config;
    uint32_t endpoint;

    if (argc != 3 ||
        vd_addr_parse(vd_str_from(argv[1]), (uint16_t)strtoul(argv[2], NULL, 10), &bind) != 0) {
        fprintf(stderr, "usage: options_server ADDRESS PORT\n");
        return 2;
    }
    vd_stack_config_init(&config);
    config.callbacks.on_request = on_request;
    config.log = on_log;
    vd_loop_config_init(&loop_config);
    loop_config.log = on_log;

    int rc = vd_stack_new(&stack, &config);
    if (rc == 0) {
        rc = vd_loop_new(&loop, &loop_config);
    }
    if (rc == 0) {
        rc = vd_loop_add_stack(loop, stack);
    }
    if (rc == 0) {
        rc = vd_udp_open(loop, stack, &bind, NULL, &endpoint);
    }
    if (rc == 0) {
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
        rc = vd_loop_run(loop);
    }
    if (rc != 0) {
        fprintf(stderr, "options_server: %s\n", vd_strerror(rc));
    }
    /* The sockets go first: what they still hold is given back to the stack. */
    vd_loop_free(loop);
    vd_stack_free(stack);
    return rc == 0 ? 0 : 1;
}
