#define _GNU_SOURCE /* environ */
#include "cli/bench.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/batch.h"
#include "cli/exit_status.h"
#include "cli/measurement.h"
#include "cli/report.h"
#include "cli/targets.h"
#include "clock.h"
#include "cpu/parallel.h"

/* --- the command as it is used --- */

enum { MOST_ARGUMENTS = 64, PROCESSES = 9 };

/* The same options without --bench, for one image, with a catalogue in a file. */
static bool make_arguments(const struct cli *cli, int device, const char *image,
                           const char *catalogue, char *const *arguments[],
                           const char *list[MOST_ARGUMENTS]) {
    static char number[16];
    int n = 0;
    if (cli->n_arguments > MOST_ARGUMENTS - 11)
        return false;
    list[n++] = "srcfind";
    for (int i = 1; i < cli->n_arguments; i++)
        if (strncmp(cli->arguments[i], "--benc", 6) != 0 && strcmp(cli->arguments[i], "--") != 0)
            list[n++] = cli->arguments[i];
    snprintf(number, sizeof number, "%d", device);
    const char *const last[] = {"-q",
                                "-f",
                                "csv",
                                "-o",
                                catalogue,
                                "--device",
                                device == SRCFIND_DEVICE_CPU ? "cpu" : number,
                                "--",
                                image,
                                NULL};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        list[n++] = last[i];
    *arguments = (char *const *)list;
    return true;
}

/* Seconds from making a process to having seen its end; NaN where it failed. */
static double time_process(char *const *arguments) {
    pid_t child;
    int status;
    const double start = clock_seconds();
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) != 0)
        return NAN;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return NAN;
    return status == 0 ? clock_seconds() - start : NAN;
}

static double bench_process(const struct cli *cli, int device, const char *image) {
    const char *directory = getenv("TMPDIR");
    char catalogue[4096];
    const char *list[MOST_ARGUMENTS];
    char *const *arguments;
    double seconds[PROCESSES];
    const int length = snprintf(catalogue, sizeof catalogue, "%s/srcfind-bench-%ld.csv",
                                directory && *directory ? directory : "/tmp", (long)getpid());
    if (length >= (int)sizeof catalogue ||
        !make_arguments(cli, device, image, catalogue, &arguments, list))
        return NAN;
    for (int i = 0; i < PROCESSES; i++)
        if (isnan(seconds[i] = time_process(arguments)))
            return NAN;
    unlink(catalogue);
    return measurement_median(seconds, PROCESSES);
}

/* --- many images at a time --- */

enum { IMAGES_A_WORKER = 16, BYTES_MOST = 1 << 28 };

struct many {
    const char *image;
    enum srcfind_format format;
    struct srcfind **finders;
    int64_t n;
    atomic_llong begun;
    atomic_bool failed;
};

static void search_many(void *context, int worker) {
    struct many *m = context;
    struct srcfind *finder = m->finders[worker];
    FILE *nowhere = fopen("/dev/null", "w");
    while (nowhere && !m->failed && atomic_fetch_add(&m->begun, 1) < m->n) {
        struct srcfind_catalogue *catalogue;
        enum srcfind_status status = srcfind_find_file(finder, m->image, &catalogue);
        if (status == SRCFIND_OK)
            status = srcfind_catalogue_write(finder, catalogue, m->format, nowhere);
        srcfind_catalogue_destroy(catalogue);
        if (status != SRCFIND_OK)
            m->failed = true;
    }
    if (!nowhere)
        m->failed = true;
    else
        fclose(nowhere);
}

/* Once to make devices and memory ready, then once for the time. */
static double time_many(struct many *m, int n_workers) {
    double start = 0;
    for (int i = 0; i < 2; i++) {
        m->begun = 0;
        start = clock_seconds();
        parallel_run(n_workers, search_many, m);
    }
    return m->failed ? NAN : (clock_seconds() - start) / (double)m->n;
}

/* Seconds for each of many images; large ones are not searched many at a time. */
static double bench_many(const struct srcfind_options *options, const char *image,
                         enum srcfind_format format, int n_workers) {
    struct many m = {.image = image,
                     .format = format,
                     .finders = calloc((size_t)n_workers, sizeof *m.finders),
                     .n = (int64_t)IMAGES_A_WORKER * n_workers};
    double seconds = NAN;
    if (m.finders && srcfind_create_many(options, n_workers, m.finders) == SRCFIND_OK)
        seconds = time_many(&m, n_workers);
    for (int i = 0; m.finders && i < n_workers; i++)
        srcfind_destroy(m.finders[i]);
    free(m.finders);
    return seconds;
}

/* --- an image --- */

static int write_measurement(const struct measurement *m, bool as_json,
                             const struct report *report) {
    bool ok = true;
    if (as_json)
        ok = measurement_write_json(m, stdout);
    else
        measurement_write_text(m, stdout);
    if (ok && fflush(stdout) == 0)
        return EXIT_OK;
    report_error(report, "standard output: %s", strerror(ok ? errno : ENOMEM));
    return EXIT_IMAGE;
}

static int bench_image(const struct cli *cli, const struct target *target, bool as_json, int device,
                       const struct report *report) {
    struct srcfind_options options = cli->find;
    struct srcfind *finder;
    struct measurement m = {.batch_seconds = NAN};
    struct srcfind_bench *bench = NULL;
    const enum srcfind_format format = SRCFIND_CSV;
    options.device = device;
    enum srcfind_status status = srcfind_create(&options, &finder);
    if (status == SRCFIND_OK)
        status = srcfind_bench_file(finder, target->image, format, cli->bench, &bench);
    if (status != SRCFIND_OK)
        report_error(report, "%s", srcfind_message(finder));
    srcfind_destroy(finder);
    int result = batch_exit_status(status);
    if (status == SRCFIND_OK) {
        m.bench = bench;
        m.n_workers = bench->catalogue->threads;
        m.process_seconds = bench_process(cli, device, target->image);
        if (target->bytes <= BYTES_MOST)
            m.batch_seconds = bench_many(&options, target->image, format, m.n_workers);
        result = write_measurement(&m, as_json, report);
    }
    srcfind_bench_destroy(bench);
    return result;
}

/* The devices to measure: the one that was asked for; or the CPU, and a GPU if there is one. */
static int choose_devices(const struct cli *cli, int devices[2]) {
    struct srcfind_options options = cli->find;
    struct srcfind *finder;
    devices[0] = cli->find.device == SRCFIND_DEVICE_ALL ? 0 : cli->find.device;
    if (cli->find.device != SRCFIND_DEVICE_AUTO)
        return 1;
    devices[0] = SRCFIND_DEVICE_CPU;
    devices[1] = options.device = 0;
    const bool has_gpu =
        srcfind_create(&options, &finder) == SRCFIND_OK && srcfind_device_is_usable(finder);
    srcfind_destroy(finder);
    return has_gpu ? 2 : 1;
}

int bench_run(const struct cli *cli) {
    struct report report = report_for(cli);
    struct targets targets = {0};
    int devices[2], worst = targets_make(cli, &targets);
    const int n_devices = worst == EXIT_OK ? choose_devices(cli, devices) : 0;
    for (int64_t i = 0; i < targets.n; i++) {
        for (int k = 0; k < n_devices; k++) {
            const int status = bench_image(cli, &targets.target[i], targets.format == SRCFIND_JSON,
                                           devices[k], &report);
            worst = status > worst ? status : worst;
        }
    }
    targets_free(&targets);
    return worst;
}
