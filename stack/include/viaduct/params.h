/* viaduct/params.h - parameters: ";name=value" after a header value or inside a URI, and
 * ", name=value" in the authentication fields.
 *
 * A struct vd_params is a view over parameters that were checked when the value in front of them
 * was decoded; walking it cannot fail. Nothing is copied.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_PARAMS_H
#define VIADUCT_PARAMS_H

#include <viaduct/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* raw is what stands from the first separator on (";tag=a;x"), empty for no parameters; for URI
 * headers ("?a=b&c=d") from the question mark. separator is ';', ',' or '&'. count is how many
 * there are. */
struct vd_params {
    struct vd_str raw;
    uint16_t count;
    char separator;
};

/* One parameter. value is empty when there is none; has_value tells ";x" from ";x=". A quoted value
 * keeps its quotes: vd_unquote removes them. */
struct vd_param {
    struct vd_str name;
    struct vd_str value;
    bool has_value;
};

/* Walks parameters: set *position to 0, then call until it returns false. */
VD_API bool vd_params_next(const struct vd_params *params, size_t *position, struct vd_param *out);

/* Finds a parameter by name (any case). Returns 0, or VD_ERR_NOT_FOUND. value may be NULL. */
VD_API int vd_params_get(const struct vd_params *params, struct vd_str name, struct vd_str *value);

/* Writes text without the quotes round it and with each quoted-pair undone (RFC 3261 25.1); a fold
 * becomes one space. Text that is not quoted is copied as it is. Returns the length, which may hold
 * NUL bytes, or VD_ERR_SPACE when out (capacity bytes) is too small; text.n bytes are always
 * enough. out may be text.p itself. */
VD_API int vd_unquote(struct vd_str text, char *out, size_t capacity);

/* Undoes each %HH escape once, never twice (RFC 3261 19.1.2; "%2541" gives "%41"). Returns the
 * length, which may hold NUL bytes; VD_ERR_SPACE when out (capacity bytes) is too small;
 * VD_ERR_SYNTAX when a percent sign is not followed by two hex digits. */
VD_API int vd_unescape(struct vd_str text, char *out, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
