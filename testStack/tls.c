/* tls.c - certificates, trust and key log of a run over TLS.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "tls.h"

#include "certificate.h"
#include "fail.h"

#include <viaduct/tls.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct tls {
    struct vd_tls_context *context;
    const char *key_log_name;
    int key_log;        /* -1 for none */
    atomic_bool failed; /* to write it, which is said once */
    bool explained;     /* why there is no context */
};

/* ---- Key log ---- */

/* Whoever has these lines can read everything, so the file is its owner's alone. Lines of several
 * threads and processes are appended whole. */
static int open_key_log(struct tls *tls, const char *name)
{
    tls->key_log_name = name;
    if (name == NULL) {
        return 0;
    }
    tls->key_log = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    return tls->key_log < 0 ? fail("cannot write %s: %s", name, strerror(errno)) : 0;
}

static void on_key_log(const char *line, void *context)
{
    struct tls *tls = context;
    size_t length = strlen(line);
    struct iovec parts[] = {
        {.iov_base = (void *)(uintptr_t)line, .iov_len = length},
        {.iov_base = (void *)(uintptr_t) "\n", .iov_len = 1},
    };
    ssize_t written = writev(tls->key_log, parts, 2);
    if (written != (ssize_t)length + 1 && !atomic_exchange(&tls->failed, true)) {
        fail("cannot write %s: %s", tls->key_log_name,
             written < 0 ? strerror(errno) : "a line was cut off");
    }
}

/* ---- The context ---- */

static void on_log(const struct vd_log_event *event, void *context)
{
    struct tls *tls = context;
    tls->explained = true;
    fail("%s: %.*s%s%s", event->text, (int)event->data.n, event->data.p,
         event->system_error != 0 ? ": " : "",
         event->system_error != 0 ? strerror(event->system_error) : "");
}

/* Certificate and key of our own, and whom to trust: files, or one that was just made for all. */
static int choose(struct vd_tls_config *config, struct certificate *made,
                  const struct options *options)
{
    if (options->certificate != NULL || options->authorities != NULL) {
        config->certificate.file = options->certificate;
        config->key.file = options->key;
        config->authorities.file = options->authorities;
        return 0;
    }
    if (certificate_make(made, &options->receiver) < 0) {
        return -1;
    }
    config->certificate.text = vd_str_from(made->text);
    config->key.text = vd_str_from(made->key);
    config->authorities.text = vd_str_from(made->text);
    return 0;
}

static int make_context(struct tls *tls, const struct options *options)
{
    struct certificate made = {0};
    struct vd_tls_config config;
    vd_tls_config_init(&config);
    config.log = on_log;
    config.log_context = tls;
    if (tls->key_log >= 0) {
        config.on_key_log = on_key_log;
        config.context = tls;
    }
    int error = choose(&config, &made, options);
    if (error == 0) {
        int rc = vd_tls_context_new(&tls->context, &config);
        error = rc != 0 ? -1 : 0;
        if (rc != 0 && !tls->explained) {
            fail("TLS cannot be set up: %s", vd_strerror(rc));
        }
    }
    certificate_free(&made);
    return error;
}

int tls_new(struct tls **out, struct options *options)
{
    *out = NULL;
    if (options->transport != VD_TRANSPORT_TLS) {
        return 0;
    }
    struct tls *tls = calloc(1, sizeof *tls);
    if (tls == NULL) {
        return fail("out of memory");
    }
    tls->key_log = -1;
    if (open_key_log(tls, options->key_log) < 0 || make_context(tls, options) < 0) {
        tls_free(tls);
        return -1;
    }
    options->tls = tls->context;
    *out = tls;
    return 0;
}

void tls_free(struct tls *tls)
{
    if (tls == NULL) {
        return;
    }
    vd_tls_context_free(tls->context);
    if (tls->key_log >= 0) {
        close(tls->key_log);
    }
    free(tls);
}
