/* test_tls.c - runs over TLS on real sockets.
 *
 * Covered: registrations and calls over TLS in each thread mode, with and without listening senders
 * and with several processes, complete to the last pair, one handshake a connection; what the
 * throw-away certificate says; that certificates are verified; files instead of it, and files that
 * are of no use; the key log, and that no environment variable makes one. No figure that depends on
 * the speed of the machine is looked at. Not covered: the command line (test_options.c), the sides
 * in runs of their own, TLS itself (transport/).
 *
 * Ports are searched from 21000 up. Without IPv6 its case is left out, and the test says so.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "tls.h"

#include "certificate.h"
#include "processes.h"
#include "run.h"

#include "capture.h"
#include "ports.h"
#include "run_suite.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct result result;

static struct options make_options(bool ip6)
{
    struct options options = {
        .transport = VD_TRANSPORT_TLS,
        .processes = 1,
        .listen = true,
        .ports = 3,
        .window = 20,
        .runs = 300,
        .longest_wait = VD_TIME_NEVER,
    };
    ports_find(&options, ip6);
    return options;
}

static int run(struct options *options)
{
    struct tls *tls;
    int error = tls_new(&tls, options);
    if (error == 0) {
        error = options->threads == THREADS_PROCESS ? processes_run(options, false, &result)
                                                    : run_make(options, NULL, false, &result);
    }
    tls_free(tls);
    return error;
}

static void check_result(const struct options *options)
{
    const struct vd_tls_counters *sender = &result.sender.counters.tls;
    const struct vd_tls_counters *receiver = &result.receiver.counters.tls;
    /* A loop counts for both sides when they share it. */
    uint64_t handshakes = options->ports * (options->threads == THREADS_COMMON ? 2u : 1u);
    CU_ASSERT(result.complete);
    CU_ASSERT_EQUAL(result.exchanges, options->runs);
    CU_ASSERT_EQUAL(result.pairs, options->runs * options_pairs(options));
    CU_ASSERT_EQUAL(result.failures, 0);
    CU_ASSERT_EQUAL(result.retransmissions, 0);
    CU_ASSERT_EQUAL(sender->handshakes, handshakes);
    CU_ASSERT_EQUAL(receiver->handshakes, handshakes);
    CU_ASSERT_EQUAL(sender->handshake_failed + sender->certificates_refused, 0);
    CU_ASSERT_EQUAL(receiver->handshake_failed + receiver->certificates_refused, 0);
    CU_ASSERT_EQUAL(sender->protocol_errors + receiver->protocol_errors, 0);
}

static void every_pair_is_completed_in_every_mode(void)
{
    static const enum threads THREADS[] = {THREADS_EVENT, THREADS_COMMON, THREADS_PROCESS};
    for (unsigned mode = 0; mode < 12; mode++) {
        struct options options = make_options(false);
        options.threads = THREADS[mode % 3];
        options.processes = options.threads == THREADS_PROCESS ? 2 : 1;
        options.listen = mode / 3 % 2 == 0;
        options.method = mode / 6 == 0 ? METHOD_REGISTER : METHOD_INVITE;
        CU_ASSERT_EQUAL(run(&options), 0);
        check_result(&options);
    }
}

static void every_pair_is_completed_over_ipv6(void)
{
    if (!ports_have_ip6()) {
        printf("no IPv6: left out ");
        return;
    }
    struct options options = make_options(true);
    CU_ASSERT_EQUAL(run(&options), 0);
    check_result(&options);
}

/* ---- Certificates ---- */

/* RFC 5922 7.1: what counts is the host of a SIP URI. */
static void throw_away_certificate_names_the_host_for_a_day(void)
{
    static const struct {
        const char *address;
        const char *uri;
    } cases[] = {
        {"192.0.2.7", "sip:192.0.2.7"},
        {"2001:db8::7", "sip:[2001:db8::7]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_addr address;
        struct certificate made;
        int days = 0;
        int seconds = 0;
        CU_ASSERT_EQUAL_FATAL(vd_addr_parse(vd_str_from(cases[i].address), 5061, &address), 0);
        CU_ASSERT_EQUAL_FATAL(certificate_make(&made, &address), 0);
        BIO *text = BIO_new_mem_buf(made.text, -1);
        X509 *certificate = PEM_read_bio_X509(text, NULL, NULL, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(certificate);
        GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
        CU_ASSERT_EQUAL_FATAL(sk_GENERAL_NAME_num(names), 2);
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, 0);
        CU_ASSERT_EQUAL_FATAL(name->type, GEN_URI);
        CU_ASSERT(vd_str_equal(
            vd_str((const char *)ASN1_STRING_get0_data(name->d.uniformResourceIdentifier),
                   (size_t)ASN1_STRING_length(name->d.uniformResourceIdentifier)),
            vd_str_from(cases[i].uri)));
        CU_ASSERT_EQUAL(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(certificate),
                                       X509_get0_notAfter(certificate)),
                        1);
        CU_ASSERT_EQUAL(days, 1);
        CU_ASSERT(seconds < 2 * 3600);
        GENERAL_NAMES_free(names);
        X509_free(certificate);
        BIO_free(text);
        certificate_free(&made);
    }
}

/* A folder for files of certificates and keys. */
static char folder[64];

static const char *write_file(const char *name, const char *text)
{
    char *path = NULL;
    CU_ASSERT_FATAL(asprintf(&path, "%s/%s", folder, name) > 0);
    FILE *file = fopen(path, "we");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT(fputs(text, file) >= 0);
    CU_ASSERT_EQUAL(fclose(file), 0);
    return path;
}

static void begin_folder(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_tls_XXXXXX", parent != NULL ? parent : P_tmpdir);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

static void remove_file(const char *path)
{
    CU_ASSERT_EQUAL(unlink(path), 0);
    free((void *)(uintptr_t)path);
}

/* Both sides have one certificate from files; they trust it, or one that another run has made. */
static int run_with_files(struct options *options, bool trusted)
{
    struct certificate own;
    struct certificate other;
    begin_folder();
    CU_ASSERT_EQUAL_FATAL(certificate_make(&own, &options->receiver), 0);
    CU_ASSERT_EQUAL_FATAL(certificate_make(&other, &options->receiver), 0);
    options->certificate = write_file("cert.pem", own.text);
    options->key = write_file("key.pem", own.key);
    options->authorities = write_file("ca.pem", trusted ? own.text : other.text);
    int error = run(options);
    remove_file(options->certificate);
    remove_file(options->key);
    remove_file(options->authorities);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
    certificate_free(&own);
    certificate_free(&other);
    return error;
}

static void certificate_of_files_serves_as_well(void)
{
    struct options options = make_options(false);
    CU_ASSERT_EQUAL(run_with_files(&options, true), 0);
    check_result(&options);
}

static void certificate_that_nobody_trusted_signed_is_refused(void)
{
    struct options options = make_options(false);
    options.ports = 1;
    options.runs = options.window = 10;
    CU_ASSERT_EQUAL(run_with_files(&options, false), 0);
    CU_ASSERT_FALSE(result.complete);
    CU_ASSERT_EQUAL(result.pairs, 0);
    CU_ASSERT_EQUAL(result.failures, 10);
    CU_ASSERT(result.sender.counters.tls.certificates_refused > 0);
    CU_ASSERT_EQUAL(result.sender.counters.tls.handshakes, 0);
}

static void certificate_that_names_another_host_is_refused(void)
{
    struct options options = make_options(false);
    options.ports = 1;
    options.runs = options.window = 10;
    options.peer_host = VD_STR("sip.example.com");
    CU_ASSERT_EQUAL(run(&options), 0);
    CU_ASSERT_FALSE(result.complete);
    CU_ASSERT(result.sender.counters.tls.certificates_refused > 0);
}

static void file_that_is_of_no_use_ends_with_one_line(void)
{
    struct options options = make_options(false);
    options.certificate = "/nonexistent/cert.pem";
    options.key = "/nonexistent/key.pem";
    options.authorities = "/nonexistent/ca.pem";
    capture_begin(2);
    int rc = run(&options);
    const char *printed = capture_end();
    CU_ASSERT_EQUAL(rc, -1);
    CU_ASSERT_EQUAL(capture_lines(printed), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(printed, "/nonexistent/cert.pem"));
}

/* ---- Key log ---- */

/* How many lines of the file are secrets: a label, the client's random number, a secret. -1 when
 * one is not. */
static int count_secrets(const char *path)
{
    char label[64];
    char random[65];
    char secret[129];
    char line[512];
    int count = 0;
    FILE *file = fopen(path, "re");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    while (fgets(line, sizeof line, file) != NULL) {
        bool good = sscanf(line, "%63s %64[0-9a-f] %128[0-9a-f]", label, random, secret) == 3 &&
                    strlen(random) == 64 && strchr(line, '\n') != NULL;
        count = good && count >= 0 ? count + 1 : -1;
    }
    fclose(file);
    return count;
}

static void key_log_has_whole_lines_for_its_owner_alone(void)
{
    static const enum threads THREADS[] = {THREADS_EVENT, THREADS_COMMON, THREADS_PROCESS};
    begin_folder();
    for (unsigned i = 0; i < 3; i++) {
        struct options options = make_options(false);
        struct stat status;
        options.threads = THREADS[i];
        options.key_log = write_file("keys.log", "");
        CU_ASSERT_EQUAL(unlink(options.key_log), 0);
        CU_ASSERT_EQUAL(run(&options), 0);
        check_result(&options);
        /* Each side tells at least one secret in each direction of each connection. */
        CU_ASSERT(count_secrets(options.key_log) >= (int)(4 * options.ports));
        CU_ASSERT_EQUAL(stat(options.key_log, &status), 0);
        CU_ASSERT_EQUAL(status.st_mode & 0777, 0600);
        remove_file(options.key_log);
    }
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static void environment_makes_no_key_log(void)
{
    struct options options = make_options(false);
    begin_folder();
    const char *path = write_file("keys.log", "");
    CU_ASSERT_EQUAL(setenv("SSLKEYLOGFILE", path, 1), 0);
    CU_ASSERT_EQUAL(run(&options), 0);
    CU_ASSERT_EQUAL(unsetenv("SSLKEYLOGFILE"), 0);
    check_result(&options);
    CU_ASSERT_EQUAL(count_secrets(path), 0);
    remove_file(path);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"every_pair_is_completed_in_every_mode", every_pair_is_completed_in_every_mode},
        {"every_pair_is_completed_over_ipv6", every_pair_is_completed_over_ipv6},
        {"throw_away_certificate_names_the_host_for_a_day",
         throw_away_certificate_names_the_host_for_a_day},
        {"certificate_of_files_serves_as_well", certificate_of_files_serves_as_well},
        {"certificate_that_nobody_trusted_signed_is_refused",
         certificate_that_nobody_trusted_signed_is_refused},
        {"certificate_that_names_another_host_is_refused",
         certificate_that_names_another_host_is_refused},
        {"file_that_is_of_no_use_ends_with_one_line", file_that_is_of_no_use_ends_with_one_line},
        {"key_log_has_whole_lines_for_its_owner_alone",
         key_log_has_whole_lines_for_its_owner_alone},
        {"environment_makes_no_key_log", environment_makes_no_key_log},
        CU_TEST_INFO_NULL,
    };
    return run_suite("tls", tests);
}
