/* clock.h - the time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_CLOCK_H
#define VIADUCT_TRANSPORT_CLOCK_H

#include <viaduct/base.h>

/* CLOCK_MONOTONIC in microseconds. */
vd_time vd__clock_now(void);

#endif
