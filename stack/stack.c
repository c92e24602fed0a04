/* stack.c - makes and frees a stack; its local ends, its timers and its log.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core.h"

#include <sys/random.h>

static int system_random(void *out, size_t size, void *context)
{
    (void)context;
    return getentropy(out, size) == 0 ? 0 : VD_ERR_SYSTEM;
}

void vd_stack_config_init(struct vd_stack_config *config)
{
    *config = (struct vd_stack_config){
        .t1 = 500 * VD_MSEC,
        .t2 = 4 * VD_SEC,
        .t4 = 5 * VD_SEC,
        .timer_d = 32 * VD_SEC,
        .trying_delay = 200 * VD_MSEC,
        .max_client_transactions = 16000000,
        .max_server_transactions = 16000000,
        .max_pending_requests = 1000000,
        .retry_after = 5,
        .datagram_request_size = 1300,
        .log_level = VD_LOG_NOTICE,
    };
    vd_limits_init(&config->limits);
}

static bool is_interval(vd_time t)
{
    return t >= VD_MSEC && t <= 3600 * VD_SEC;
}

/* Fit for a header field: no line end, no NUL. */
static bool is_text(struct vd_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\r' || text.p[i] == '\n' || text.p[i] == '\0') {
            return false;
        }
    }
    return true;
}

static bool config_is_valid(const struct vd_stack_config *config)
{
    const struct vd_limits *limits = &config->limits;
    return is_interval(config->t1) && is_interval(config->t2) && is_interval(config->t4) &&
           is_interval(config->timer_d) && is_interval(config->trying_delay) &&
           config->t1 <= config->t2 && config->max_client_transactions <= INT32_MAX &&
           config->max_server_transactions <= INT32_MAX && limits->message_size > 0 &&
           limits->message_size <= 65535 && limits->header_size > 0 && limits->line_size > 0 &&
           limits->uri_size > 0 && limits->headers > 0 && limits->params > 0 &&
           limits->params <= 1024 && is_text(config->server);
}

/* RFC 4320 4.1: how long a client's Timer E takes until it is reset to T2. */
static vd_time time_to_t2(vd_time t1, vd_time t2)
{
    vd_time total = 0;
    for (vd_time interval = t1; interval < t2; interval *= 2) {
        total += interval;
    }
    return total > 0 ? total : t1;
}

static void init_lanes(struct vd_stack *stack)
{
    const struct vd_stack_config *config = &stack->config;
    for (unsigned i = 0; i < VD__BACKOFF_STEPS; i++) {
        vd__lane_init(&stack->lanes[VD__LANE_BACKOFF + i], config->t1 << i);
    }
    vd__lane_init(&stack->lanes[VD__LANE_ZERO], 0);
    vd__lane_init(&stack->lanes[VD__LANE_T2], config->t2);
    vd__lane_init(&stack->lanes[VD__LANE_T4], config->t4);
    vd__lane_init(&stack->lanes[VD__LANE_64T1], 64 * config->t1);
    vd__lane_init(&stack->lanes[VD__LANE_D], config->timer_d);
    vd__lane_init(&stack->lanes[VD__LANE_TRYING_INVITE], config->trying_delay);
    vd__lane_init(&stack->lanes[VD__LANE_TRYING], time_to_t2(config->t1, config->t2));
}

static struct vd_header *new_headers(struct vd_stack *stack, struct vd_message *message)
{
    uint16_t count = stack->config.limits.headers;
    struct vd_header *headers = stack->mem.allocate(count * sizeof *headers, stack->mem.context);
    if (headers != NULL) {
        vd_message_init(message, headers, count);
    }
    return headers;
}

static int copy_server(struct vd_stack *stack)
{
    struct vd_str *server = &stack->config.server;
    if (server->n == 0) {
        return 0;
    }
    stack->server = stack->mem.allocate(server->n, stack->mem.context);
    if (stack->server == NULL) {
        return VD_ERR_NOMEM;
    }
    memcpy(stack->server, server->p, server->n);
    server->p = stack->server;
    return 0;
}

static int set_up(struct vd_stack *stack)
{
    int (*fill)(void *, size_t, void *) =
        stack->config.random != NULL ? stack->config.random : system_random;
    int rc = fill(&stack->key, sizeof stack->key, stack->config.context);
    if (rc == 0) {
        rc = vd__table_init(&stack->table, &stack->transactions, &stack->mem);
    }
    if (rc == 0) {
        rc = copy_server(stack);
    }
    if (rc != 0) {
        return rc;
    }
    stack->headers = new_headers(stack, &stack->message);
    stack->scratch_headers = new_headers(stack, &stack->scratch);
    bool have_all = stack->headers != NULL && stack->scratch_headers != NULL;
    return have_all ? vd__outbox_reserve(stack, 1) : VD_ERR_NOMEM;
}

int vd_stack_new(struct vd_stack **out, const struct vd_stack_config *config)
{
    if (!config_is_valid(config)) {
        return VD_ERR_INVALID;
    }
    const struct vd_mem *mem = config->mem != NULL ? config->mem : vd_mem_default();
    struct vd_stack *stack = mem->allocate(sizeof *stack, mem->context);
    if (stack == NULL) {
        return VD_ERR_NOMEM;
    }
    memset(stack, 0, sizeof *stack);
    stack->config = *config;
    stack->mem = *mem;
    /* A guess at the first messages; from then on the latest ones tell. */
    stack->request_hint = 480;
    stack->response_hint = 384;
    init_lanes(stack);
    vd__wheel_init(&stack->wheel, 0);
    vd__pool_init(&stack->transactions, &stack->mem, sizeof(struct vd__transaction));
    vd__pool_init(&stack->actives, &stack->mem, sizeof(struct vd__active));
    vd__buffers_init(&stack->buffers, &stack->mem);
    int rc = set_up(stack);
    if (rc != 0) {
        vd_stack_free(stack);
        return rc;
    }
    *out = stack;
    return 0;
}

static void release(struct vd_stack *stack, void *p, size_t size)
{
    if (p != NULL) {
        stack->mem.release(p, size, stack->mem.context);
    }
}

void vd_stack_free(struct vd_stack *stack)
{
    if (stack == NULL) {
        return;
    }
    stack->closing = true;
    for (uint32_t i = 0; i < stack->transactions.fresh; i++) {
        struct vd__transaction *transaction = vd__pool_at(&stack->transactions, i);
        if (transaction->kind != VD__KIND_NONE) {
            vd__transaction_terminate(stack, transaction);
        }
    }
    size_t headers = stack->config.limits.headers * sizeof(struct vd_header);
    for (uint32_t i = 0; i < stack->endpoint_count; i++) {
        release(stack, stack->endpoints[i].prefix, stack->endpoints[i].prefix_size);
    }
    release(stack, stack->endpoints, stack->endpoint_capacity * sizeof *stack->endpoints);
    release(stack, stack->headers, headers);
    release(stack, stack->scratch_headers, headers);
    release(stack, stack->server, stack->config.server.n);
    release(stack, stack->outbox.items, stack->outbox.capacity * sizeof *stack->outbox.items);
    vd__table_free(&stack->table);
    vd__buffers_free(&stack->buffers);
    vd__pool_free(&stack->actives);
    vd__pool_free(&stack->transactions);
    struct vd_mem mem = stack->mem;
    mem.release(stack, sizeof *stack, mem.context);
}

void *vd_stack_context(const struct vd_stack *stack)
{
    return stack->config.context;
}

const struct vd_limits *vd_stack_limits(const struct vd_stack *stack)
{
    return &stack->config.limits;
}

vd_time vd_stack_now(const struct vd_stack *stack)
{
    return stack->now;
}

void vd_stack_get_counters(const struct vd_stack *stack, struct vd_stack_counters *out)
{
    *out = stack->counters;
}

static int grow_endpoints(struct vd_stack *stack)
{
    uint32_t capacity = stack->endpoint_capacity != 0 ? stack->endpoint_capacity * 2 : 4;
    struct vd__endpoint *endpoints =
        stack->mem.allocate(capacity * sizeof *endpoints, stack->mem.context);
    if (endpoints == NULL) {
        return VD_ERR_NOMEM;
    }
    if (stack->endpoint_count > 0) {
        memcpy(endpoints, stack->endpoints, stack->endpoint_count * sizeof *endpoints);
    }
    release(stack, stack->endpoints, stack->endpoint_capacity * sizeof *endpoints);
    stack->endpoints = endpoints;
    stack->endpoint_capacity = capacity;
    return 0;
}

/* Whether text is "host" or "host:port": it is read as part of a Via. */
static bool is_sent_by(struct vd_str sent_by)
{
    char text[300] = "SIP/2.0/UDP ";
    const size_t front = 12;
    struct vd_via via;
    if (sent_by.n == 0 || sent_by.n > sizeof text - front) {
        return false;
    }
    memcpy(text + front, sent_by.p, sent_by.n);
    struct vd_str value = vd_str(text, front + sent_by.n);
    int rc = vd_via_parse(value, &via, NULL);
    return rc >= 0 && (size_t)rc == value.n && vd_str_equal(via.sent_by, sent_by);
}

int vd_stack_add_endpoint(struct vd_stack *stack, enum vd_transport transport,
                          struct vd_str sent_by, uint32_t *endpoint)
{
    struct vd_str name = vd_transport_name(transport);
    const struct vd_str version = VD_STR("SIP/2.0/");
    const struct vd_str branch = VD_STR(";branch=");
    if (name.n == 0 || !is_sent_by(sent_by)) {
        return VD_ERR_INVALID;
    }
    if (stack->endpoint_count == stack->endpoint_capacity && grow_endpoints(stack) != 0) {
        return VD_ERR_NOMEM;
    }
    size_t offset = version.n + name.n + 1;
    size_t size = offset + sent_by.n + branch.n;
    char *prefix = stack->mem.allocate(size, stack->mem.context);
    if (prefix == NULL) {
        return VD_ERR_NOMEM;
    }
    memcpy(prefix, version.p, version.n);
    memcpy(prefix + version.n, name.p, name.n);
    prefix[offset - 1] = ' ';
    memcpy(prefix + offset, sent_by.p, sent_by.n);
    memcpy(prefix + offset + sent_by.n, branch.p, branch.n);
    stack->endpoints[stack->endpoint_count] = (struct vd__endpoint){
        .prefix = prefix,
        .prefix_size = (uint32_t)size,
        .sent_by_offset = (uint16_t)offset,
        .sent_by_size = (uint16_t)sent_by.n,
        .transport = (uint8_t)transport,
        .stream = VD__POOL_NONE,
    };
    *endpoint = stack->endpoint_count++;
    return 0;
}

void vd__advance(struct vd_stack *stack, vd_time now)
{
    /* VD_TIME_NEVER is later than every time, so it is none; below half of it no deadline
     * overflows. */
    if (now > stack->now && now <= VD_TIME_NEVER / 2) {
        stack->now = now;
    }
}

/* Whether the timers of a lane stand in struct vd__active, not in the record itself. */
static bool lane_is_retransmission(unsigned lane)
{
    return (lane >= VD__LANE_BACKOFF && lane <= VD__LANE_T2) || lane == VD__LANE_TRYING_INVITE ||
           lane == VD__LANE_TRYING;
}

static void fire_retransmission(struct vd_stack *stack, struct vd__lane_timer *timer)
{
    struct vd__active *active =
        (struct vd__active *)(void *)((char *)timer - offsetof(struct vd__active, retransmit));
    struct vd__transaction *transaction = vd__pool_at(&stack->transactions, active->owner);
    switch (transaction->kind) {
    case VD__KIND_CLIENT_INVITE:
        vd__client_invite_timer(stack, transaction);
        break;
    case VD__KIND_CLIENT:
        vd__client_timer(stack, transaction);
        break;
    case VD__KIND_SERVER_INVITE:
        vd__server_invite_timer(stack, transaction);
        break;
    default:
        vd__server_timer(stack, transaction);
        break;
    }
}

static void fire_long(struct vd_stack *stack, struct vd__lane_timer *timer)
{
    struct vd__transaction *transaction =
        (struct vd__transaction *)(void *)((char *)timer - offsetof(struct vd__transaction, timer));
    switch (transaction->kind) {
    case VD__KIND_CLIENT_INVITE:
        vd__client_invite_expire(stack, transaction);
        break;
    case VD__KIND_CLIENT:
        vd__client_expire(stack, transaction);
        break;
    case VD__KIND_SERVER_INVITE:
        vd__server_invite_expire(stack, transaction);
        break;
    default:
        vd__server_expire(stack, transaction);
        break;
    }
}

/* What is about to end was last used long ago, and lies anywhere in memory. So while one
 * transaction ends, what the end of a later one will touch is fetched: this is how many later. */
#define FETCH_AHEAD 6

/* Fetches for the timer behind this one, which is one of a record, and returns it; NULL when there
 * is none. The application may have ended or armed anew what timer belongs to since it was looked
 * at: then it leads elsewhere, but always to a record, or to no timer. */
static struct vd__lane_timer *fetch_next(const struct vd_stack *stack, struct vd__lane_timer *timer)
{
    struct vd__lane_timer *next = timer->next;
    if (next == NULL || next->deadline == VD_TIME_NEVER) {
        return NULL;
    }
    const struct vd__transaction *transaction =
        (struct vd__transaction *)(void *)((char *)next - offsetof(struct vd__transaction, timer));
    __builtin_prefetch(next->next, 1);
    __builtin_prefetch(transaction->message, 1);
    if ((transaction->flags & VD__FLAG_TABLED) != 0) {
        vd__table_prefetch(&stack->table, transaction->key[0]);
    }
    return next;
}

/* Keeps *ahead, where fetching has come to, that far in front of timer. */
static void fetch_ahead(const struct vd_stack *stack, struct vd__lane_timer *timer,
                        struct vd__lane_timer **ahead)
{
    unsigned steps = 1;
    if (*ahead == NULL) {
        *ahead = timer;
        steps = FETCH_AHEAD;
    }
    while (steps-- > 0 && *ahead != NULL) {
        *ahead = fetch_next(stack, *ahead);
    }
}

static unsigned earliest_lane(const struct vd_stack *stack)
{
    unsigned earliest = 0;
    vd_time deadline = vd__lane_deadline(&stack->lanes[0]);
    for (unsigned i = 1; i < VD__LANE_COUNT; i++) {
        vd_time other = vd__lane_deadline(&stack->lanes[i]);
        if (other < deadline) {
            deadline = other;
            earliest = i;
        }
    }
    return earliest;
}

/* Ends what a call has left with no time to wait: Timers D, I, J and K are zero on a reliable
 * transport. */
void vd__settle(struct vd_stack *stack)
{
    struct vd__lane *lane = &stack->lanes[VD__LANE_ZERO];
    while (lane->head.next != &lane->head) {
        struct vd__lane_timer *timer = lane->head.next;
        vd__lane_cancel(timer);
        fire_long(stack, timer);
    }
}

void vd_stack_expire(struct vd_stack *stack, vd_time now)
{
    struct vd__lane_timer *ahead[VD__LANE_COUNT] = {NULL};
    vd__advance(stack, now);
    for (;;) {
        unsigned lane = earliest_lane(stack);
        struct vd__lane_timer *timer = stack->lanes[lane].head.next;
        if (timer->deadline > stack->now) {
            break;
        }
        if (lane_is_retransmission(lane)) {
            vd__lane_cancel(timer);
            fire_retransmission(stack, timer);
        } else {
            fetch_ahead(stack, timer, &ahead[lane]);
            vd__lane_cancel(timer);
            fire_long(stack, timer);
        }
    }
    struct vd_timer *timer;
    while ((timer = vd__wheel_pop(&stack->wheel, stack->now)) != NULL) {
        timer->fire(timer, stack->now);
    }
    vd__settle(stack);
}

vd_time vd_stack_next_deadline(const struct vd_stack *stack)
{
    vd_time lane = vd__lane_deadline(&stack->lanes[earliest_lane(stack)]);
    vd_time wheel = vd__wheel_deadline(&stack->wheel);
    return lane < wheel ? lane : wheel;
}

void vd_timer_arm(struct vd_stack *stack, struct vd_timer *timer, vd_time deadline)
{
    vd__wheel_arm(&stack->wheel, timer, deadline);
}

void vd_timer_cancel(struct vd_stack *stack, struct vd_timer *timer)
{
    vd__wheel_cancel(&stack->wheel, timer);
}

void vd__tag_write(struct vd_stack *stack, char out[16])
{
    vd__hex_write(out, vd__siphash_words(&stack->key, ++stack->nonce, 1));
}

void vd__log(struct vd_stack *stack, enum vd_log_level level, int error, const char *text,
             const struct vd_flow *flow, size_t offset, struct vd_str data)
{
    if (stack->config.log == NULL || level > stack->config.log_level) {
        return;
    }
    struct vd_log_event event = {
        .level = level,
        .error = error,
        .text = text,
        .flow = flow,
        .offset = offset,
        .data = data,
    };
    stack->config.log(&event, stack->config.log_context);
}
