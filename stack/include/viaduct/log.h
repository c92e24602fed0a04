/* viaduct/log.h - what the library has to say, as structured events.
 *
 * The library never writes to a stream of its own. Every message that it drops, refuses or cannot
 * send becomes an event.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_LOG_H
#define VIADUCT_LOG_H

#include <viaduct/addr.h>
#include <viaduct/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum vd_log_level { VD_LOG_ERROR = 0, VD_LOG_WARNING = 1, VD_LOG_NOTICE = 2, VD_LOG_DEBUG = 3 };

/* One event. text is static and says what happened; error is a VD_ERR_* or 0; flow is NULL when no
 * peer is concerned; offset is the byte of the message that broke the rule (0 when none did); data
 * is the message or datagram concerned, or a line that describes what else is (a certificate, a
 * file), empty when there is none; system_error is the errno of the operating system, 0 when there
 * is none. All of it is valid only during the callback. */
struct vd_log_event {
    enum vd_log_level level;
    int error;
    int system_error;
    const char *text;
    const struct vd_flow *flow;
    size_t offset;
    struct vd_str data;
};

/* Takes an event. It must not call back into the stack or loop that raised it. */
typedef void (*vd_log_fn)(const struct vd_log_event *event, void *context);

#ifdef __cplusplus
}
#endif

#endif
