/* system_error.h - errors of the operating system as those of the library.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VIADUCT_TRANSPORT_SYSTEM_ERROR_H
#define VIADUCT_TRANSPORT_SYSTEM_ERROR_H

/* The VD_ERR_* for an errno met while opening a socket or a selector. */
int vd__error_of_open(int system_error);

/* The VD_ERR_* for an errno met while connecting or sending. */
int vd__error_of_send(int system_error);

#endif
