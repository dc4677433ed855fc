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
#include "bench_report.h"
#include "cli/report.h"
#include "cli/targets.h"
#include "common/clock.h"
#include "common/threads.h"

/* --- the command as it is used --- */

enum { PROCESSES = 9, MOST_ARGUMENTS = MOST_SEARCH_OPTIONS + 8, ARGUMENT = 4224 };

/* What a child is told: the same search, of one image, on one device. Texts are the caller's. */
struct arguments {
    char text[MOST_SEARCH_OPTIONS + 1][ARGUMENT];
    const char *list[MOST_ARGUMENTS];
};

static bool make_arguments(const struct cli *cli, int device, const char *image,
                           struct arguments *a) {
    int n = 0;
    bool fits = true;
    a->list[n++] = "srcfind";
    for (int i = 0; i < cli->n_search; i++) {
        const struct given_option *o = &cli->search[i];
        fits = fits && snprintf(a->text[i], ARGUMENT, "--%s=%s", o->name, o->value) < ARGUMENT;
        a->list[n++] = a->text[i];
    }
    char *where = a->text[MOST_SEARCH_OPTIONS];
    snprintf(where, ARGUMENT, device == SRCFIND_DEVICE_CPU ? "--device=cpu" : "--device=%d",
             device);
    a->list[n++] = where;
    a->list[n++] = "--quiet";
    a->list[n++] = "--format=csv";
    a->list[n++] = "--";
    a->list[n++] = image;
    a->list[n] = NULL;
    return fits;
}

/* Seconds from making a process to having seen its end; NaN where it failed. */
static double time_process(const struct arguments *arguments,
                           const posix_spawn_file_actions_t *actions) {
    pid_t child;
    int status;
    const double start = clock_seconds();
    if (posix_spawn(&child, "/proc/self/exe", actions, NULL, (char *const *)arguments->list,
                    environ) != 0)
        return NAN;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return NAN;
    return status == 0 ? clock_seconds() - start : NAN;
}

/* The median, with the catalogue going to a file, of which nothing is left. */
static double time_processes(const struct arguments *arguments, int n, FILE *catalogue) {
    posix_spawn_file_actions_t actions;
    double seconds[PROCESSES], median = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return NAN;
    if (posix_spawn_file_actions_adddup2(&actions, fileno(catalogue), STDOUT_FILENO) != 0)
        median = NAN;
    for (int i = 0; isfinite(median) && i < n; i++) {
        const int file = fileno(catalogue);
        const bool empty = ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0;
        median = seconds[i] = empty ? time_process(arguments, &actions) : NAN;
    }
    posix_spawn_file_actions_destroy(&actions);
    return isfinite(median) ? measurement_median(seconds, n) : NAN;
}

static double bench_process(const struct cli *cli, int device, const char *image) {
    struct arguments *arguments = malloc(sizeof *arguments);
    FILE *catalogue = tmpfile();
    double seconds = NAN;
    if (arguments && catalogue && make_arguments(cli, device, image, arguments))
        seconds =
            time_processes(arguments, cli->bench < PROCESSES ? cli->bench : PROCESSES, catalogue);
    if (catalogue)
        fclose(catalogue);
    free(arguments);
    return seconds;
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

/* Seconds for each of many images; NaN where one failed. */
static double bench_many(const struct srcfind_options *options, const char *image,
                         enum srcfind_format format, int rounds, int n_workers) {
    const int each = rounds < IMAGES_A_WORKER ? rounds : IMAGES_A_WORKER;
    struct many m = {.image = image,
                     .format = format,
                     .finders = calloc((size_t)n_workers, sizeof *m.finders),
                     .n = (int64_t)each * n_workers};
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
    return report_written(report, ok);
}

/* What the library does not measure itself. Large images are not searched many at a time. */
static bool measure_command(const struct cli *cli, const struct target *target,
                            const struct srcfind_options *options, struct measurement *m,
                            const struct report *report) {
    m->n_workers = m->bench->catalogue->threads;
    m->process_seconds = bench_process(cli, options->device, target->image);
    m->batch_seconds = NAN;
    if (isnan(m->process_seconds))
        report_error(report, "%s: the command as a process cannot be measured", target->image);
    if (target->bytes > BYTES_MOST)
        return !isnan(m->process_seconds);
    m->batch_seconds = bench_many(options, target->image, SRCFIND_CSV, cli->bench, m->n_workers);
    if (isnan(m->batch_seconds))
        report_error(report, "%s: many images at a time cannot be measured", target->image);
    return !isnan(m->process_seconds) && !isnan(m->batch_seconds);
}

static int bench_image(const struct cli *cli, const struct target *target, bool as_json, int device,
                       const struct report *report) {
    struct srcfind_options options = cli->find;
    struct srcfind *finder;
    struct srcfind_bench *bench = NULL;
    options.device = device;
    enum srcfind_status status = srcfind_create(&options, &finder);
    if (status == SRCFIND_OK)
        status = srcfind_bench_file(finder, target->image, SRCFIND_CSV, cli->bench, &bench);
    if (status != SRCFIND_OK)
        report_error(report, "%s", srcfind_message(finder));
    srcfind_destroy(finder);
    int result = batch_exit_status(status);
    if (status == SRCFIND_OK) {
        struct measurement m = {.bench = bench};
        const bool whole = measure_command(cli, target, &options, &m, report);
        result = write_measurement(&m, as_json, report);
        if (!whole)
            result = EXIT_IMAGE;
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
    for (int64_t i = 0; i < targets.n && !(worst != EXIT_OK && cli->fail_fast); i++) {
        for (int k = 0; k < n_devices; k++) {
            const int status = bench_image(cli, &targets.target[i], targets.format == SRCFIND_JSON,
                                           devices[k], &report);
            worst = status > worst ? status : worst;
        }
    }
    targets_free(&targets);
    return worst;
}
