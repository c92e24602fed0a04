/* method.c - methods by name and by number.
 *
 * SPDX-License-Identifier: MIT
 */
#include <viaduct/header.h>

/* clang-format off */
#define TEXT(literal) {literal, sizeof(literal) - 1}
/* clang-format on */

static const struct vd_str methods[VD_METHOD_COUNT] = {
    [VD_METHOD_OTHER] = TEXT(""),
    [VD_METHOD_INVITE] = TEXT("INVITE"),
    [VD_METHOD_ACK] = TEXT("ACK"),
    [VD_METHOD_BYE] = TEXT("BYE"),
    [VD_METHOD_CANCEL] = TEXT("CANCEL"),
    [VD_METHOD_OPTIONS] = TEXT("OPTIONS"),
    [VD_METHOD_REGISTER] = TEXT("REGISTER"),
    [VD_METHOD_PRACK] = TEXT("PRACK"),
    [VD_METHOD_SUBSCRIBE] = TEXT("SUBSCRIBE"),
    [VD_METHOD_NOTIFY] = TEXT("NOTIFY"),
    [VD_METHOD_PUBLISH] = TEXT("PUBLISH"),
    [VD_METHOD_INFO] = TEXT("INFO"),
    [VD_METHOD_REFER] = TEXT("REFER"),
    [VD_METHOD_MESSAGE] = TEXT("MESSAGE"),
    [VD_METHOD_UPDATE] = TEXT("UPDATE"),
};

/* Few names share a first letter, so that letter leaves one or two to compare. */
enum vd_method vd_method_id(struct vd_str name)
{
    if (name.n < 3) {
        return VD_METHOD_OTHER;
    }

    enum vd_method method = VD_METHOD_OTHER;
    switch (name.p[0]) {
    case 'A':
        method = VD_METHOD_ACK;
        break;
    case 'B':
        method = VD_METHOD_BYE;
        break;
    case 'C':
        method = VD_METHOD_CANCEL;
        break;
    case 'I':
        method = name.n == 4 ? VD_METHOD_INFO : VD_METHOD_INVITE;
        break;
    case 'M':
        method = VD_METHOD_MESSAGE;
        break;
    case 'N':
        method = VD_METHOD_NOTIFY;
        break;
    case 'O':
        method = VD_METHOD_OPTIONS;
        break;
    case 'P':
        method = name.n == 5 ? VD_METHOD_PRACK : VD_METHOD_PUBLISH;
        break;
    case 'R':
        method = name.n == 5 ? VD_METHOD_REFER : VD_METHOD_REGISTER;
        break;
    case 'S':
        method = VD_METHOD_SUBSCRIBE;
        break;
    case 'U':
        method = VD_METHOD_UPDATE;
        break;
    default:
        break;
    }
    return vd_str_equal(name, methods[method]) ? method : VD_METHOD_OTHER;
}

struct vd_str vd_method_name(enum vd_method method)
{
    return (unsigned)method < VD_METHOD_COUNT ? methods[method] : methods[VD_METHOD_OTHER];
}
