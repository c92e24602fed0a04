/* wheel.c - a hierarchical timing wheel.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wheel.h"

#define DIGIT_MASK ((uint64_t)(VD__WHEEL_SLOTS - 1))

static void list_init(struct vd_timer *head)
{
    head->next = head;
    head->previous = head;
}

static inline bool list_is_empty(const struct vd_timer *head)
{
    return head->next == head;
}

static inline void list_append(struct vd_timer *head, struct vd_timer *timer)
{
    timer->next = head;
    timer->previous = head->previous;
    head->previous->next = timer;
    head->previous = timer;
}

static inline void list_remove(struct vd_timer *timer)
{
    timer->next->previous = timer->previous;
    timer->previous->next = timer->next;
    timer->next = NULL;
}

/* Moves all of from to the end of to. */
static void list_move(struct vd_timer *to, struct vd_timer *from)
{
    if (list_is_empty(from)) {
        return;
    }
    from->next->previous = to->previous;
    from->previous->next = to;
    to->previous->next = from->next;
    to->previous = from->previous;
    list_init(from);
}

static inline uint64_t tick_of(vd_time deadline)
{
    return deadline / VD_MSEC + (deadline % VD_MSEC != 0);
}

static inline unsigned lowest_bit(uint64_t bits)
{
    return (unsigned)__builtin_ctzll(bits);
}

static inline unsigned highest_bit(uint64_t bits)
{
    return 63 - (unsigned)__builtin_clzll(bits);
}

/* tick must not be before wheel->tick. */
static inline void insert(struct vd__wheel *wheel, struct vd_timer *timer, uint64_t tick)
{
    unsigned level = highest_bit((tick ^ wheel->tick) | 1) / VD__WHEEL_BITS;
    unsigned slot = (unsigned)((tick >> (level * VD__WHEEL_BITS)) & DIGIT_MASK);
    list_append(&wheel->slots[level][slot], timer);
    wheel->occupied[level] |= (uint64_t)1 << slot;
}

void vd__wheel_init(struct vd__wheel *wheel, vd_time now)
{
    memset(wheel, 0, sizeof *wheel);
    wheel->tick = now / VD_MSEC;
    for (unsigned level = 0; level < VD__WHEEL_LEVELS; level++) {
        for (unsigned slot = 0; slot < VD__WHEEL_SLOTS; slot++) {
            list_init(&wheel->slots[level][slot]);
        }
    }
    list_init(&wheel->due);
    list_init(&wheel->late);
}

void vd__wheel_cancel(struct vd__wheel *wheel, struct vd_timer *timer)
{
    struct vd_timer *next = timer->next;
    if (next == NULL) {
        return;
    }
    bool last = next == timer->previous; /* then both are the head of the list */
    list_remove(timer);
    if (last && next != &wheel->due && next != &wheel->late) {
        size_t index = (size_t)(next - &wheel->slots[0][0]);
        wheel->occupied[index / VD__WHEEL_SLOTS] &= ~((uint64_t)1 << (index % VD__WHEEL_SLOTS));
    }
}

void vd__wheel_arm(struct vd__wheel *wheel, struct vd_timer *timer, vd_time deadline)
{
    vd__wheel_cancel(wheel, timer);
    timer->deadline = deadline;
    uint64_t tick = tick_of(deadline);
    if (tick < wheel->tick) {
        list_append(&wheel->late, timer);
    } else {
        insert(wheel, timer, tick);
    }
}

/* The lowest level that holds a timer, VD__WHEEL_LEVELS when none does. *start is the first tick of
 * its first slot in use; no timer in any slot comes before it. */
static unsigned first_slot(const struct vd__wheel *wheel, uint64_t *start)
{
    unsigned level = 0;
    while (level < VD__WHEEL_LEVELS && wheel->occupied[level] == 0) {
        level++;
    }
    if (level < VD__WHEEL_LEVELS) {
        unsigned shift = level * VD__WHEEL_BITS;
        uint64_t above = wheel->tick >> shift & ~DIGIT_MASK;
        *start = (above | lowest_bit(wheel->occupied[level])) << shift;
    }
    return level;
}

/* Deals the timers of a slot, whose first tick is the wheel's, out to finer levels. */
static void cascade(struct vd__wheel *wheel, struct vd_timer *slot)
{
    struct vd_timer moved;
    list_init(&moved);
    list_move(&moved, slot);
    for (struct vd_timer *timer = moved.next, *next; timer != &moved; timer = next) {
        next = timer->next;
        insert(wheel, timer, tick_of(timer->deadline));
    }
}

/* Serves every tick before target, in order, from one slot in use to the next: the time between
 * costs nothing. A slot of a coarse level is dealt out before the wheel enters it, so that later
 * timers for the same tick line up behind its own. */
static void advance(struct vd__wheel *wheel, uint64_t target)
{
    if (target <= wheel->tick) {
        return;
    }
    uint64_t start;
    unsigned level;
    while ((level = first_slot(wheel, &start)) < VD__WHEEL_LEVELS) {
        if (start > target || (start == target && level == 0)) {
            break;
        }
        struct vd_timer *slot = &wheel->slots[level][lowest_bit(wheel->occupied[level])];
        wheel->occupied[level] &= wheel->occupied[level] - 1;
        if (level == 0) {
            list_move(&wheel->due, slot);
        } else {
            wheel->tick = start;
            cascade(wheel, slot);
        }
    }
    wheel->tick = target;
}

vd_time vd__wheel_deadline(const struct vd__wheel *wheel)
{
    if (!list_is_empty(&wheel->due) || !list_is_empty(&wheel->late)) {
        return 0;
    }
    uint64_t start;
    if (first_slot(wheel, &start) == VD__WHEEL_LEVELS || start > VD_TIME_NEVER / VD_MSEC) {
        return VD_TIME_NEVER;
    }
    return start * VD_MSEC;
}

struct vd_timer *vd__wheel_pop(struct vd__wheel *wheel, vd_time now)
{
    if (!wheel->popping) {
        list_move(&wheel->due, &wheel->late);
        advance(wheel, now / VD_MSEC + 1);
        wheel->popping = true;
    }
    if (list_is_empty(&wheel->due)) {
        wheel->popping = false;
        return NULL;
    }
    struct vd_timer *timer = wheel->due.next;
    list_remove(timer);
    return timer;
}
