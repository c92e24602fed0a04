/* system_error.c - errors of the operating system as those of the library.
 *
 * SPDX-License-Identifier: MIT
 */
#include "system_error.h"

#include <errno.h>

#include <viaduct/error.h>

int vd__error_of_open(int system_error)
{
    switch (system_error) {
    case EADDRINUSE:
        return VD_ERR_IN_USE;
    case EMFILE:
    case ENFILE:
        return VD_ERR_LIMIT;
    default:
        return VD_ERR_SYSTEM;
    }
}

int vd__error_of_send(int system_error)
{
    switch (system_error) {
    case ECONNREFUSED:
        return VD_ERR_REFUSED;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EHOSTDOWN:
        return VD_ERR_UNREACHABLE;
    default:
        return VD_ERR_TRANSPORT;
    }
}
