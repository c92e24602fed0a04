/* consumer.c - a program as somebody outside the project would write it: public headers, one call
 * into the library.
 *
 * It fails unless headers, library and package agree on the version.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/base.h>
#include <viaduct/error.h>

#include <stdio.h>

int main(void)
{
    if (!vd_str_equal(vd_str_from(vd_version()), VD_STR(VD_VERSION))) {
        fprintf(stderr, "headers %s, library %s\n", VD_VERSION, vd_version());
        return 1;
    }
    if (!vd_str_equal(vd_str_from(vd_error_name(VD_ERR_SYNTAX)), VD_STR("VD_ERR_SYNTAX"))) {
        fprintf(stderr, "vd_error_name gives %s\n", vd_error_name(VD_ERR_SYNTAX));
        return 1;
    }
    printf("viaduct %s\n", vd_version());
    return 0;
}
