/* deadline.h - deadlines of one constant length: a FIFO.
 *
 * Deadlines that are all the same time away pass in the order in which they were set, so a list is
 * enough: setting one appends, taking it away unlinks, the first one is the next to pass.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_DEADLINE_H
#define VIADUCT_TRANSPORT_DEADLINE_H

#include <viaduct/base.h>

/* Embedded in what waits. next is NULL when it is not set. */
struct vd__deadline {
    struct vd__deadline *next;
    struct vd__deadline *previous;
    vd_time at;
};

/* head.next is the first to pass; head itself never does. */
struct vd__deadlines {
    struct vd__deadline head;
    vd_time length;
};

static inline void vd__deadlines_init(struct vd__deadlines *list, vd_time length)
{
    list->head.next = &list->head;
    list->head.previous = &list->head;
    list->head.at = VD_TIME_NEVER;
    list->length = length;
}

static inline bool vd__deadline_is_set(const struct vd__deadline *deadline)
{
    return deadline->next != NULL;
}

static inline void vd__deadline_clear(struct vd__deadline *deadline)
{
    if (deadline->next != NULL) {
        deadline->next->previous = deadline->previous;
        deadline->previous->next = deadline->next;
        deadline->next = NULL;
    }
}

/* Sets deadline, anew if it is set in any list. now must not run backwards. */
static inline void vd__deadline_set(struct vd__deadlines *list, struct vd__deadline *deadline,
                                    vd_time now)
{
    vd__deadline_clear(deadline);
    deadline->at = now + list->length;
    deadline->next = &list->head;
    deadline->previous = list->head.previous;
    list->head.previous->next = deadline;
    list->head.previous = deadline;
}

/* The first one; NULL when none is set. */
static inline struct vd__deadline *vd__deadlines_first(const struct vd__deadlines *list)
{
    return list->head.next != &list->head ? list->head.next : NULL;
}

/* When the first one passes; VD_TIME_NEVER when none is set. */
static inline vd_time vd__deadlines_next(const struct vd__deadlines *list)
{
    return list->head.next->at;
}

#endif
