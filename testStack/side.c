/* side.c - one side of the test: a loop, an engine, and the sockets that join them.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "side.h"

#include "fail.h"

#include <stdio.h>
#include <string.h>

enum {
    VERBOSE_NOTICES = 2,
    VERBOSE_DEBUG = 3,
    QUEUE_AT_LEAST = 4096,
    QUEUE_A_SLOT = 4, /* messages of an exchange that may wait for a socket at a time */
};

/* Room for a whole window on one socket. The kernel cuts it to net.core.rmem_max and takes no
 * memory before there are datagrams. */
static const uint32_t RECEIVE_BUFFER = 4u << 20;

/* ---- The log ---- */

static void print_event(const struct side *side, const struct vd_log_event *event)
{
    char peer[VD_ADDR_TEXT_SIZE] = "";
    if (event->flow != NULL) {
        vd_addr_format(&event->flow->remote, peer);
    }
    fail("%s: %s%s%s%s%s%s%s", side->name, event->text, event->error != 0 ? ": " : "",
         event->error != 0 ? vd_strerror(event->error) : "", event->system_error != 0 ? ": " : "",
         event->system_error != 0 ? strerror(event->system_error) : "",
         event->flow != NULL ? ", peer " : "", peer);
}

static void on_log(const struct vd_log_event *event, void *context)
{
    struct side *side = context;
    if (event->level == VD_LOG_ERROR && event->system_error != 0) {
        side->system_error = event->system_error;
    }
    if (side->options->verbose >= VERBOSE_NOTICES) {
        print_event(side, event);
    }
}

static enum vd_log_level log_level(const struct options *options)
{
    return options->verbose >= VERBOSE_DEBUG ? VD_LOG_DEBUG : VD_LOG_NOTICE;
}

/* What an error of a loop or a socket means; the system's own words say more where there are any.
 */
static const char *explain(const struct side *side, int error)
{
    return error == VD_ERR_SYSTEM && side->system_error != 0 ? strerror(side->system_error)
                                                             : vd_strerror(error);
}

/* ---- Opening and closing ---- */

int side_open_loop(struct side *side, const char *name, const struct options *options,
                   side_turn_fn on_turn, void *context)
{
    struct vd_loop_config config;
    side->name = name;
    side->options = options;
    side->owns_loop = true;
    vd_loop_config_init(&config);
    config.on_turn = on_turn;
    config.context = context;
    config.log = on_log;
    config.log_context = side;
    config.log_level = log_level(options);
    int rc = vd_loop_new(&side->loop, &config);
    return rc != 0 ? fail("cannot make a loop: %s", explain(side, rc)) : 0;
}

void side_share_loop(struct side *side, const char *name, const struct side *other)
{
    side->name = name;
    side->options = other->options;
    side->loop = other->loop;
}

static int open_socket(struct side *side, uint32_t port)
{
    struct vd_udp_options udp;
    struct vd_addr address = options_address(side->options, port);
    char text[VD_ADDR_TEXT_SIZE];
    uint32_t endpoint;
    vd_udp_options_init(&udp);
    udp.receive_buffer = RECEIVE_BUFFER;
    udp.send_queue_limit = side->options->window * QUEUE_A_SLOT + QUEUE_AT_LEAST;
    int rc = vd_udp_open(side->loop, side->stack, &address, &udp, &endpoint);
    if (rc != 0) {
        vd_addr_format(&address, text);
        return fail("cannot bind %s: %s", text, explain(side, rc));
    }
    return 0;
}

int side_open_stack(struct side *side, struct vd_stack_config *config, uint32_t first_port)
{
    memory_count_init(&side->memory);
    config->mem = &side->memory.mem;
    config->log = on_log;
    config->log_context = side;
    config->log_level = log_level(side->options);
    int rc = vd_stack_new(&side->stack, config);
    if (rc == 0) {
        rc = vd_loop_add_stack(side->loop, side->stack);
    }
    if (rc != 0) {
        return fail("cannot make a stack: %s", vd_strerror(rc));
    }
    for (uint32_t i = 0; i < side->options->ports; i++) {
        if (open_socket(side, first_port + i) < 0) {
            return -1;
        }
    }
    return 0;
}

void side_close_loop(struct side *side)
{
    if (side->owns_loop) {
        vd_loop_free(side->loop);
    }
    side->loop = NULL;
}

void side_close_stack(struct side *side)
{
    vd_stack_free(side->stack);
    side->stack = NULL;
}

/* ---- Running ---- */

int side_run(struct side *side)
{
    vd_time wait = side->options->longest_wait;
    int rc = 0;
    if (wait == VD_TIME_NEVER) {
        rc = vd_loop_run(side->loop);
    }
    while (wait != VD_TIME_NEVER && rc == 0 && !atomic_load(&side->stopped)) {
        rc = vd_loop_run_once(side->loop, wait);
    }
    return rc != 0 ? fail("%s: %s", side->name, explain(side, rc)) : 0;
}

void side_stop(struct side *side)
{
    atomic_store(&side->stopped, true);
    vd_loop_stop(side->loop);
}

void side_get_counters(const struct side *side, struct side_counters *out)
{
    vd_stack_get_counters(side->stack, &out->stack);
    vd_loop_get_counters(side->loop, &out->loop);
    vd_udp_get_counters(side->loop, &out->udp);
}
