/* tls_alias.c - connections that a peer lets us reuse (RFC 5923 5, 8.2).
 *
 * A client that can be reached at the port of its sent-by says in its Via, with "alias", that
 * requests for it may as well take the connection that it made.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tls_internal.h"

#include <viaduct/message.h>
#include <viaduct/params.h>
#include <viaduct/values.h>

enum { USUAL_PORT = 5061 };

void vd__tls_add_alias(struct vd__connection *connection, const struct vd_addr *addr)
{
    /* Without a certificate of the peer's the alias could be anybody's (RFC 5923 8.2). Without
     * memory there is none. */
    if (vd__tls_state(connection)->verified) {
        (void)vd__tls_names_set_alias(&vd__tls_endpoint(connection)->names, addr,
                                      connection->number);
    }
}

void vd__tls_take_alias(struct vd__connection *connection, struct vd_message *message)
{
    struct vd__tls_state *state = vd__tls_state(connection);
    const struct vd_via *via;
    struct vd_str value;

    if (!message->is_request || vd_message_top_via(message, &via) != 0 ||
        vd_params_get(&via->params, VD_STR("alias"), &value) != 0) {
        return;
    }
    state->alias = connection->remote;
    state->alias.port = via->port != 0 ? via->port : USUAL_PORT;
    vd__tls_add_alias(connection, &state->alias);
}

struct vd__connection *vd__tls_find_alias(const struct vd__stream_endpoint *endpoint,
                                          const struct vd_addr *addr)
{
    const struct vd__tls_endpoint *tls = endpoint->channel_context;
    struct vd__connection *found = vd__connection_table_find(
        &endpoint->streams->table, vd__tls_names_alias(&tls->names, addr));

    if (found == NULL || found->state != VD__CONNECTION_OPEN || !vd__tls_serves(found, addr)) {
        return NULL;
    }
    return found;
}

static void drop(const struct vd__connection *connection, const struct vd_addr *addr)
{
    struct vd__tls_names *names = &vd__tls_endpoint(connection)->names;

    if (vd__tls_names_alias(names, addr) == connection->number) {
        (void)vd__tls_names_set_alias(names, addr, 0);
    }
}

void vd__tls_drop_alias(const struct vd__connection *connection)
{
    drop(connection, &connection->remote);
    drop(connection, &vd__tls_state(connection)->alias);
}
