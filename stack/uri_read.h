/* uri_read.h - reads a URI that stands inside a longer text.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_STACK_URI_READ_H
#define VIADUCT_STACK_URI_READ_H

#include <viaduct/uri.h>

#include "lex.h"

/* More parameters or headers than this in one URI are VD_ERR_TOO_MANY. Each name is compared with
 * all before it, so the number has a bound of its own. */
#define VD__URI_PARAMS_MAX 64

/* Reads the URI at p as far as its grammar goes. Of *out, all bytes of which are zero, it fills
 * what the URI has. Returns what is behind the URI, NULL after a fault. */
const char *vd__read_uri(struct vd__source *source, const char *p, struct vd_uri *out);

#endif
