/* Measures how long each stage of a search takes (--bench), on one device after another.
 *
 * Three things are timed, each several times: the stages, by srcfind_bench_file; the command as a
 * process, from its start to its end, which does the same search by the same options; and many
 * images at a time, with one finder for each worker. Large images are not searched many at a time.
 *
 * bench_report.c makes medians of the times, and writes them. A time that cannot be measured is
 * NaN, and its reason a message; the others are reported all the same. */
#define _GNU_SOURCE /* asprintf, environ */
#include "cli/bench.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/finder.h"
#include "cli/bench_report.h"
#include "cli/command_line.h"
#include "cli/exit_status.h"
#include "cli/messages.h"
#include "cli/targets.h"
#include "common/clock.h"
#include "common/threads.h"
#include "options/options.h"

/* --- the command as a process --- */

enum { PROCESSES = 9, MOST_OPTIONS = 64, MOST_ARGUMENTS = MOST_OPTIONS + 6 };

/* The arguments of a child process, which does the same search, of one image, on one device. */
struct arguments {
    char *text[MOST_OPTIONS];
    const char *list[MOST_ARGUMENTS];
};

static void free_arguments(struct arguments *arguments) {
    for (int i = 0; i < MOST_OPTIONS; i++)
        free(arguments->text[i]);
}

static bool make_arguments(const struct options *options, const char *image, struct arguments *a) {
    int n = 0;
    *a = (struct arguments){0};
    a->list[n++] = "srcfind";
    for (int i = 0; i < MOST_OPTIONS && options_describe(i); i++) {
        const struct srcfind_option *o = options_describe(i);
        char text[OPTIONS_TEXT];
        const char *value = options_get(options, o->name, text);
        if (!*value)
            continue;
        if (asprintf(&a->text[i], "--%s%s%s", o->name, o->argument ? "=" : "",
                     o->argument ? value : "") < 0) {
            a->text[i] = NULL;
            return false;
        }
        a->list[n++] = a->text[i];
    }
    a->list[n++] = "--quiet";
    a->list[n++] = "--format=csv";
    a->list[n++] = "--";
    a->list[n++] = image;
    a->list[n] = NULL;
    return true;
}

/* Seconds from the start of a process to its end; NaN if it failed. */
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

/* The median time of n processes, which write to the file `catalogue`; NaN if one failed. */
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
    return isfinite(median) ? bench_report_median(seconds, n) : NAN;
}

/* The median time of the command as a process, in seconds; NaN if it cannot be measured. */
static double bench_process(const struct options *options, int rounds, const char *image) {
    struct arguments arguments;
    FILE *catalogue = tmpfile();
    double seconds = NAN;
    if (make_arguments(options, image, &arguments) && catalogue)
        seconds = time_processes(&arguments, rounds < PROCESSES ? rounds : PROCESSES, catalogue);
    if (catalogue)
        fclose(catalogue);
    free_arguments(&arguments);
    return seconds;
}

/* --- many images at a time --- */

/* Images larger than MOST_BYTES are not measured this way. */
enum { IMAGES_A_WORKER = 16, MOST_BYTES = 1 << 28 };

struct many {
    const char *image;
    struct srcfind **finders;
    int64_t n;
    atomic_llong begun;
    atomic_bool failed;
};

static void search_many(void *context, int worker) {
    struct many *m = context;
    struct srcfind *finder = m->finders[worker];
    FILE *null_device = fopen("/dev/null", "w");
    while (null_device && !m->failed && atomic_fetch_add(&m->begun, 1) < m->n) {
        struct srcfind_catalogue *catalogue;
        enum srcfind_status status = srcfind_find_file(finder, m->image, &catalogue);
        if (status == SRCFIND_OK)
            status = srcfind_catalogue_write(finder, catalogue, NULL, null_device);
        srcfind_catalogue_destroy(catalogue);
        if (status != SRCFIND_OK)
            m->failed = true;
    }
    if (!null_device)
        m->failed = true;
    else
        fclose(null_device);
}

/* Seconds per image; NaN if one failed. The first of two rounds only prepares devices and memory.
 */
static double time_many(struct many *m, int n_workers) {
    struct threads *threads = threads_create(n_workers);
    double start = 0;
    for (int i = 0; threads && i < 2; i++) {
        m->begun = 0;
        start = clock_seconds();
        threads_run(threads, n_workers, search_many, m);
    }
    m->failed = m->failed || !threads;
    threads_destroy(threads);
    return m->failed ? NAN : (clock_seconds() - start) / (double)m->n;
}

/* Seconds per image when n_workers search the image many times at once; NaN if one failed. */
static double bench_many(const struct srcfind_options *options, const char *image, int rounds,
                         int n_workers) {
    const int each = rounds < IMAGES_A_WORKER ? rounds : IMAGES_A_WORKER;
    struct many m = {.image = image,
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

/* --- one image --- */

/* Measures what srcfind_bench_file does not: the process, and many images at a time. False if one
 * of them failed. */
static bool measure_command(const struct cli *cli, const struct target *target,
                            struct srcfind_options *options, struct bench_report *m,
                            const struct messages *messages) {
    m->n_workers = srcfind_catalogue_run(srcfind_bench_catalogue(m->bench))->threads;
    m->process_seconds = bench_process(&options->values, cli->bench, target->image);
    m->batch_seconds = NAN;
    if (isnan(m->process_seconds))
        messages_error(messages, "%s: the command as a process cannot be measured", target->image);
    if (target->bytes > MOST_BYTES)
        return !isnan(m->process_seconds);
    m->batch_seconds = bench_many(options, target->image, cli->bench, m->n_workers);
    if (isnan(m->batch_seconds))
        messages_error(messages, "%s: many images at a time cannot be measured", target->image);
    return !isnan(m->process_seconds) && !isnan(m->batch_seconds);
}

static int bench_image(const struct cli *cli, const struct target *target, bool as_json,
                       struct srcfind_options *options, const struct messages *messages) {
    struct srcfind *finder;
    struct srcfind_bench *bench = NULL;
    enum srcfind_status status = srcfind_create(options, &finder);
    if (status == SRCFIND_OK)
        status = srcfind_bench_file(finder, target->image, NULL, cli->bench, &bench);
    if (status != SRCFIND_OK)
        messages_error(messages, "%s", srcfind_message(finder));
    srcfind_destroy(finder);
    int result = exit_status_of(status);
    if (status == SRCFIND_OK) {
        struct bench_report m = {.bench = bench};
        const bool whole = measure_command(cli, target, options, &m, messages);
        result = messages_written(messages, bench_report_write(&m, as_json, stdout));
        if (!whole)
            result = EXIT_IMAGE;
    }
    srcfind_bench_destroy(bench);
    return result;
}

static bool has_gpu(const struct cli *cli) {
    struct srcfind_options *options = command_line_options(cli, "0");
    struct srcfind *finder = NULL;
    const bool has = options && srcfind_create(options, &finder) == SRCFIND_OK &&
                     srcfind_device_is_usable(finder);
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
    return has;
}

/* Chooses the devices to measure and returns their number: the one that the options name, or else
 * the CPU and, if there is one that can do the search, a GPU. NULL stands for the device of the
 * options. */
static int choose_devices(const struct cli *cli, const char *devices[2]) {
    devices[0] = "cpu";
    devices[1] = "0";
    if (command_line_has_device(cli, "auto"))
        return has_gpu(cli) && !command_line_is_for_cpu(cli) ? 2 : 1;
    devices[0] = command_line_has_device(cli, "all") ? "0" : NULL;
    return 1;
}

static int bench_on(const struct cli *cli, const struct target *target, bool as_json,
                    const char *device, const struct messages *messages) {
    struct srcfind_options *options = command_line_options(cli, device);
    if (!options) {
        messages_error(messages, "%s: out of memory", target->image);
        return EXIT_IMAGE;
    }
    const int status = bench_image(cli, target, as_json, options, messages);
    srcfind_options_destroy(options);
    return status;
}

int bench_run(const struct cli *cli) {
    struct messages messages = messages_for(cli);
    struct targets targets = {0};
    const char *devices[2];
    int worst = targets_make(cli, &targets);
    const int n_devices = worst == EXIT_OK ? choose_devices(cli, devices) : 0;
    for (int64_t i = 0; i < targets.n && !(worst != EXIT_OK && cli->fail_fast); i++) {
        for (int k = 0; k < n_devices; k++) {
            const int status = bench_on(cli, &targets.target[i], targets_are_json(&targets),
                                        devices[k], &messages);
            worst = status > worst ? status : worst;
        }
    }
    targets_free(&targets);
    return worst;
}
