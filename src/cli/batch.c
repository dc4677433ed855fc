#include "cli/batch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <threads.h>
#include <unistd.h>

#include "api/maps.h"
#include "cli/exit_status.h"
#include "cli/notes.h"
#include "cli/plural.h"
#include "cli/signals.h"
#include "cli/targets.h"
#include "common/clock.h"
#include "common/threads.h"
#include "input/own_map.h"
#include "output/save.h"

int batch_exit_status(enum srcfind_status status) {
    switch (status) {
    case SRCFIND_OK:
        return EXIT_OK;
    case SRCFIND_ERROR_OPTIONS:
        return EXIT_USAGE;
    case SRCFIND_ERROR_DEVICE:
        return EXIT_DEVICE;
    case SRCFIND_ERROR_INPUT:
    case SRCFIND_ERROR_OUTPUT:
    case SRCFIND_ERROR_MEMORY:
        return EXIT_IMAGE;
    }
    return EXIT_IMAGE;
}

/* The result of an image. */
struct outcome {
    bool done, skipped;
    bool is_own_map; /* skipped, since srcfind made it */
    bool unusable;   /* it failed because no device can be used any more */
    int status;      /* an exit status */
    int64_t sources;
    char *text; /* messages for standard error */
};

struct batch {
    const struct cli *cli;
    const struct targets *targets;
    struct srcfind **finders; /* one for each worker */
    mtx_t lock;               /* protects all that follows, and standard error */
    cnd_t turn;               /* signalled when an image has been reported */
    int64_t begun, reported;  /* numbers of images, in the order of the command line */
    bool ended;               /* an image failed, with --fail-fast: report no others */
    bool given_up;            /* no device can be used any more: begin no others */
    int64_t n_unusable;
    int64_t n_own_maps;
    const char *own_map; /* the first of them */
    int worst;
    struct totals totals;
    struct report report;
    struct outcome *outcomes; /* one for each image */
};

/* --- images in their order --- */

/* Begins the next image; false if there is none left or the run ends early. */
static bool begin_image(struct batch *b, int64_t *i) {
    mtx_lock(&b->lock);
    const bool more = b->begun < b->targets->n && !b->ended && !b->given_up;
    if (more) {
        *i = b->begun++;
        report_next(&b->report, *i, b->targets->n, b->targets->target[*i].image);
    }
    mtx_unlock(&b->lock);
    return more;
}

/* With --fail-fast, no catalogue is saved after an image that failed: waits until all earlier
 * images have been reported. False if one of them failed. */
static bool may_save(struct batch *b, int64_t i) {
    if (!b->cli->fail_fast)
        return true;
    mtx_lock(&b->lock);
    while (!b->ended && b->reported < i)
        cnd_wait(&b->turn, &b->lock);
    const bool may = !b->ended;
    mtx_unlock(&b->lock);
    return may;
}

/* Adds an image to the totals and prints its messages. Of the images that failed because no device
 * can be used, only the first one is counted and reported here. */
static void report_outcome(struct batch *b, const struct outcome *o) {
    if (o->unusable && ++b->n_unusable > 1)
        return;
    const bool failed = o->status != EXIT_OK;
    b->totals.images++;
    b->totals.sources += o->sources;
    b->totals.skipped += o->skipped;
    b->totals.failed += failed;
    b->worst = o->status > b->worst ? o->status : b->worst;
    b->ended = failed && b->cli->fail_fast;
    if (o->is_own_map && b->n_own_maps++ == 0)
        b->own_map = b->targets->target[o - b->outcomes].image;
    if (o->text)
        report_text(&b->report, o->text);
}

/* Stores the outcome of an image, and reports all images that are next in the order of the command
 * line. */
static void end_image(struct batch *b, int64_t i, const struct outcome *outcome) {
    mtx_lock(&b->lock);
    b->outcomes[i] = *outcome;
    b->outcomes[i].done = true;
    b->given_up = b->given_up || outcome->unusable;
    while (!b->ended && b->reported < b->begun && b->outcomes[b->reported].done)
        report_outcome(b, &b->outcomes[b->reported++]);
    cnd_broadcast(&b->turn);
    mtx_unlock(&b->lock);
}

/* --- one image --- */

/* Holds signals back while a file is saved, so that no temporary file stays. A pipe or a device has
 * no temporary file, and writing to it may block for ever. */
static enum srcfind_status save_catalogue(struct srcfind *finder,
                                          const struct srcfind_catalogue *catalogue,
                                          const char *format, const char *path) {
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return srcfind_catalogue_save(finder, catalogue, format, path);
    signals_hold();
    const enum srcfind_status status = srcfind_catalogue_save(finder, catalogue, format, path);
    signals_release();
    return status;
}

static enum srcfind_status write_catalogue(struct batch *b, struct srcfind *finder,
                                           const struct srcfind_catalogue *catalogue,
                                           const char *path) {
    if (path)
        return save_catalogue(finder, catalogue, b->targets->format->name, path);
    mtx_lock(&b->lock);
    report_clear(&b->report);
    mtx_unlock(&b->lock);
    return srcfind_catalogue_write(finder, catalogue, b->targets->format->name, stdout);
}

/* Removes maps that were saved before an image failed: they would stand beside an older catalogue,
 * or beside none. */
static void remove_maps(const struct target *target, unsigned saved) {
    for (int i = 0; i < MOST_MAPS; i++)
        if (saved >> i & 1)
            unlink(target->maps[i]);
}

/* Sets the bits in *saved of the maps that were saved, also on an error. */
static enum srcfind_status save_maps(struct srcfind *finder,
                                     const struct srcfind_catalogue *catalogue,
                                     const struct target *target, unsigned *saved) {
    enum srcfind_status status = SRCFIND_OK;
    *saved = 0;
    for (int i = 0; i < MOST_MAPS && status == SRCFIND_OK; i++) {
        if (!target->maps[i])
            continue;
        signals_hold();
        status = srcfind_catalogue_save_map(finder, catalogue, srcfind_map(i), target->maps[i]);
        signals_release();
        *saved |= status == SRCFIND_OK ? 1U << i : 0;
    }
    return status;
}

/* Writes the maps, and then the catalogue: where there is a catalogue, its maps are there, too. */
static enum srcfind_status write_outputs(struct batch *b, struct srcfind *finder,
                                         const struct srcfind_catalogue *catalogue,
                                         const struct target *target) {
    unsigned saved;
    enum srcfind_status status = save_maps(finder, catalogue, target, &saved);
    if (status == SRCFIND_OK)
        status = write_catalogue(b, finder, catalogue, target->catalogue);
    if (status != SRCFIND_OK)
        remove_maps(target, saved);
    return status;
}

static void batch_search(struct batch *b, struct srcfind *finder, int64_t i,
                         const struct report *report, struct outcome *outcome) {
    const struct target *target = &b->targets->target[i];
    struct srcfind_catalogue *catalogue;
    const double start = clock_seconds();
    enum srcfind_status status = srcfind_find_file(finder, target->image, &catalogue);
    if (status == SRCFIND_OK && may_save(b, i))
        status = write_outputs(b, finder, catalogue, target);
    if (status == SRCFIND_OK) {
        outcome->sources = srcfind_catalogue_size(catalogue);
        report_image(report, catalogue, clock_seconds() - start);
        notes_write(report, catalogue);
    } else {
        report_error(report, "%s", srcfind_message(finder));
    }
    srcfind_catalogue_destroy(catalogue);
    outcome->status = batch_exit_status(status);
    outcome->unusable = status == SRCFIND_ERROR_DEVICE && !srcfind_device_is_usable(finder);
}

/* Incomplete files, as after a power cut, do not count. */
static bool outputs_exist(const struct batch *b, const struct target *target) {
    bool exist = target->catalogue &&
                 save_is_whole(writer_named(b->targets->format->name), target->catalogue);
    for (int i = 0; i < MOST_MAPS && exist; i++)
        exist = !target->maps[i] || map_is_whole(i, target->maps[i]);
    return exist;
}

/* Messages are kept in memory until it is the image's turn; if memory runs out, they are printed at
 * once. */
static void process_image(struct batch *b, struct srcfind *finder, int64_t i) {
    const struct target *target = &b->targets->target[i];
    struct outcome outcome = {0};
    struct report report = report_for(b->cli);
    size_t size;
    FILE *kept = open_memstream(&outcome.text, &size);
    report.stream = kept ? kept : stderr;
    if (b->cli->skip_existing && outputs_exist(b, target)) {
        report_note(&report, "%s: skipped, since %s is already there", target->image,
                    target->catalogue);
        outcome.skipped = true;
    } else if (b->targets->n > 1 && own_map_is(target->image)) {
        outcome.skipped = outcome.is_own_map = true;
    } else {
        batch_search(b, finder, i, &report, &outcome);
    }
    if (kept)
        fclose(kept);
    end_image(b, i, &outcome);
}

/* --- all images --- */

static void work(void *context, int worker) {
    struct batch *b = context;
    for (int64_t i; begin_image(b, &i);)
        process_image(b, b->finders[worker], i);
}

static int batch_no_memory(struct batch *b) {
    report_error(&b->report, "out of memory while starting");
    return EXIT_IMAGE;
}

static void note_own_maps(const struct batch *b) {
    if (b->n_own_maps > 0)
        report_note(&b->report,
                    "%lld map%s that srcfind made %s skipped (%s%s): given "
                    "alone, a map is searched",
                    (long long)b->n_own_maps, plural(b->n_own_maps),
                    b->n_own_maps == 1 ? "is" : "are", b->own_map,
                    b->n_own_maps == 1 ? "" : ", ...");
}

static int run_workers(struct batch *b, int n_workers) {
    const double start = clock_seconds();
    struct threads *threads = threads_create(n_workers);
    if (!threads)
        return batch_no_memory(b);
    threads_run(threads, n_workers, work, b);
    threads_destroy(threads);
    b->totals.seconds = clock_seconds() - start;
    if (b->n_unusable > 0)
        report_given_up(&b->report, b->n_unusable - 1 + b->targets->n - b->begun);
    note_own_maps(b);
    report_totals(&b->report, &b->totals);
    return b->worst;
}

/* Each thread is a worker, so that reading, searching and saving of several images overlap. To
 * limit memory, large images have fewer workers with several threads: one thread for each
 * BYTES_A_THREAD of the largest image. */
enum { BYTES_A_THREAD = 1 << 28 };

/* A worker needs file descriptors for an image, its mask and its maps of the noise, and for a file
 * that is saved and its lock; libraries that are loaded during the run need some too. */
enum { DESCRIPTORS_A_WORKER = 1 + GIVEN_KINDS + 2, DESCRIPTORS_BESIDE = 4 };

/* The number of workers, up to n_workers, for which free file descriptors suffice; 1 or more. */
static int64_t count_with_descriptors(int64_t n_workers) {
    const int64_t n_wanted = DESCRIPTORS_BESIDE + n_workers * DESCRIPTORS_A_WORKER;
    struct rlimit limit;
    int64_t n_free = 0;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return n_workers;
    for (rlim_t i = 0; i < limit.rlim_cur && n_free < n_wanted; i++)
        n_free += fcntl((int)i, F_GETFD) < 0;
    const int64_t n = (n_free - DESCRIPTORS_BESIDE) / DESCRIPTORS_A_WORKER;
    return n < 1 ? 1 : n;
}

static int count_workers(const struct targets *targets, int n_threads) {
    int64_t largest = BYTES_A_THREAD;
    for (int64_t i = 0; i < targets->n; i++)
        largest = targets->target[i].bytes > largest ? targets->target[i].bytes : largest;
    const int64_t n = n_threads / (largest / BYTES_A_THREAD);
    return (int)count_with_descriptors(n < 1 ? 1 : n < targets->n ? n : targets->n);
}

static int run_with_lock(struct batch *b, int n_workers) {
    if (mtx_init(&b->lock, mtx_plain) != thrd_success)
        return batch_no_memory(b);
    int status = EXIT_IMAGE;
    if (cnd_init(&b->turn) == thrd_success) {
        status = run_workers(b, n_workers);
        cnd_destroy(&b->turn);
    } else {
        batch_no_memory(b);
    }
    mtx_destroy(&b->lock);
    return status;
}

static int run_with_finders(struct batch *b, int n_workers) {
    int status = batch_exit_status(srcfind_create_many(b->cli->find, n_workers, b->finders));
    if (status == EXIT_OK)
        status = run_with_lock(b, n_workers);
    else
        report_error(&b->report, "%s", srcfind_message(b->finders[0]));
    for (int i = 0; i < n_workers; i++)
        srcfind_destroy(b->finders[i]);
    return status;
}

static int search_all(const struct cli *cli, const struct targets *targets) {
    const int option = atoi(srcfind_options_get(cli->find, "threads")); /* "" gives 0 */
    const int n_threads = option > 0 ? option : srcfind_available_threads();
    const int n_workers = count_workers(targets, n_threads);
    struct batch b = {.cli = cli,
                      .targets = targets,
                      .report = report_for(cli),
                      .finders = calloc((size_t)n_workers, sizeof *b.finders),
                      .outcomes = calloc((size_t)targets->n, sizeof *b.outcomes)};
    const int status =
        b.finders && b.outcomes ? run_with_finders(&b, n_workers) : batch_no_memory(&b);
    for (int64_t i = 0; b.outcomes && i < targets->n; i++)
        free(b.outcomes[i].text);
    free(b.outcomes);
    free(b.finders);
    return status;
}

/* Removes what killed runs left in the directory of all catalogues and maps. */
static void clean_directory(const struct target *target) {
    const char *path = target->catalogue;
    for (int i = 0; i < MOST_MAPS && !path; i++)
        path = target->maps[i];
    if (path)
        save_clean(path);
}

int batch_run(const struct cli *cli) {
    struct targets targets = {0};
    signals_watch();
    int status = targets_make(cli, &targets);
    if (status == EXIT_OK)
        clean_directory(&targets.target[0]);
    if (status == EXIT_OK)
        status = search_all(cli, &targets);
    targets_free(&targets);
    return status;
}
