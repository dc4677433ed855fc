#include "cli/batch.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <threads.h>
#include <unistd.h>

#include "signals.h"
#include "cli/exit_status.h"
#include "cli/report.h"
#include "cli/targets.h"
#include "common/clock.h"
#include "common/threads.h"

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

/* What came of an image. */
struct outcome {
    bool done, skipped;
    bool unusable; /* it failed since no device can be used any more */
    int status;    /* to exit with */
    int64_t sources;
    char *text; /* for standard error */
};

struct batch {
    const struct cli *cli;
    const struct targets *targets;
    struct srcfind **finders; /* one for each worker */
    mtx_t lock;               /* of all that follows, and of standard error */
    cnd_t turn;               /* another image has been reported */
    int64_t begun, reported;  /* images: the first ones of the command line */
    bool ended;               /* by a failure, with --fail-fast: no more are reported */
    bool given_up;            /* no more are begun */
    int64_t n_unusable;
    int worst;
    struct totals totals;
    struct report report;
    struct outcome *outcomes; /* one for each image */
};

/* --- images in their order --- */

/* The next image that nobody has begun, or false. */
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

/* Where the first failure ends the run, no catalogue is saved before all earlier images are known
 * not to have failed. Returns false if one did. */
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

/* Adds the next image to the totals, and says what came of it. Of those that failed for want of a
 * device, one says it for all. */
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
    if (o->text)
        report_text(&b->report, o->text);
}

/* Reports what can be, in the order of the command line. */
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

/* A pipe or device may take for ever, and has no file beside it. */
static enum srcfind_status save(struct srcfind *finder, const struct srcfind_catalogue *catalogue,
                                enum srcfind_format format, const char *path) {
    struct stat facts;
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
        return srcfind_catalogue_save(finder, catalogue, format, path);
    ending_hold();
    const enum srcfind_status status = srcfind_catalogue_save(finder, catalogue, format, path);
    ending_release();
    return status;
}

static enum srcfind_status write_catalogue(struct batch *b, struct srcfind *finder,
                                           const struct srcfind_catalogue *catalogue,
                                           const char *path) {
    if (path)
        return save(finder, catalogue, b->targets->format, path);
    mtx_lock(&b->lock);
    report_clear(&b->report);
    mtx_unlock(&b->lock);
    return srcfind_catalogue_write(finder, catalogue, b->targets->format, stdout);
}

static void search(struct batch *b, struct srcfind *finder, int64_t i, const struct report *report,
                   struct outcome *outcome) {
    const struct target *target = &b->targets->target[i];
    struct srcfind_catalogue *catalogue;
    const double start = clock_seconds();
    enum srcfind_status status = srcfind_find_file(finder, target->image, &catalogue);
    if (status == SRCFIND_OK && may_save(b, i))
        status = write_catalogue(b, finder, catalogue, target->catalogue);
    if (status == SRCFIND_OK) {
        outcome->sources = catalogue->n_sources;
        report_image(report, catalogue, clock_seconds() - start);
    } else {
        report_error(report, "%s", srcfind_message(finder));
    }
    srcfind_catalogue_destroy(catalogue);
    outcome->status = batch_exit_status(status);
    outcome->unusable = status == SRCFIND_ERROR_DEVICE && !srcfind_device_is_usable(finder);
}

/* Messages are kept until it is their turn; where memory has run out for that, they come at once.
 */
static void do_image(struct batch *b, struct srcfind *finder, int64_t i) {
    const struct target *target = &b->targets->target[i];
    struct outcome outcome = {0};
    struct report report = report_for(b->cli);
    size_t size;
    FILE *kept = open_memstream(&outcome.text, &size);
    report.stream = kept ? kept : stderr;
    if (b->cli->skip_existing && target->catalogue && access(target->catalogue, F_OK) == 0) {
        report_skipped(&report, target->image, target->catalogue);
        outcome.skipped = true;
    } else {
        search(b, finder, i, &report, &outcome);
    }
    if (kept)
        fclose(kept);
    end_image(b, i, &outcome);
}

/* --- all of them --- */

static void work(void *context, int worker) {
    struct batch *b = context;
    for (int64_t i; begin_image(b, &i);)
        do_image(b, b->finders[worker], i);
}

static int run_workers(struct batch *b, int n_workers) {
    const double start = clock_seconds();
    parallel_run(n_workers, work, b);
    b->totals.seconds = clock_seconds() - start;
    if (b->n_unusable > 0)
        report_given_up(&b->report, b->n_unusable - 1 + b->targets->n - b->begun);
    report_totals(&b->report, &b->totals);
    return b->worst;
}

/* A worker for each thread, so that reading, searching and saving overlap; fewer where images are
 * so large that what is listed of them would add up: an image has a thread for each of these bytes
 * that its pixels take. */
enum { BYTES_A_THREAD = 1 << 28 };

static int count_workers(const struct targets *targets, int n_threads) {
    int64_t most = BYTES_A_THREAD;
    for (int64_t i = 0; i < targets->n; i++)
        most = targets->target[i].bytes > most ? targets->target[i].bytes : most;
    const int64_t n = n_threads / (most / BYTES_A_THREAD);
    return (int)(n < 1 ? 1 : n < targets->n ? n : targets->n);
}

/* So that a device is started at once for many; how many will be skipped, nobody knows. */
static int64_t expect_pixels(const struct cli *cli, const struct targets *targets) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < targets->n && !cli->skip_existing; i++)
        bytes += targets->target[i].bytes;
    return bytes / (int64_t)sizeof(float);
}

static int no_memory(struct batch *b) {
    report_error(&b->report, "out of memory while starting");
    return EXIT_IMAGE;
}

static int run_with_lock(struct batch *b, int n_workers) {
    if (mtx_init(&b->lock, mtx_plain) != thrd_success)
        return no_memory(b);
    int status = EXIT_IMAGE;
    if (cnd_init(&b->turn) == thrd_success) {
        status = run_workers(b, n_workers);
        cnd_destroy(&b->turn);
    } else {
        no_memory(b);
    }
    mtx_destroy(&b->lock);
    return status;
}

static int run_with_finders(struct batch *b, int n_workers) {
    struct srcfind_options options = b->cli->find;
    options.expected_pixels = expect_pixels(b->cli, b->targets);
    int status = batch_exit_status(srcfind_create_many(&options, n_workers, b->finders));
    if (status == EXIT_OK)
        status = run_with_lock(b, n_workers);
    else
        report_error(&b->report, "%s", srcfind_message(b->finders[0]));
    for (int i = 0; i < n_workers; i++)
        srcfind_destroy(b->finders[i]);
    return status;
}

static int search_all(const struct cli *cli, const struct targets *targets) {
    const int n_threads = cli->find.threads ? cli->find.threads : srcfind_available_threads();
    const int n_workers = count_workers(targets, n_threads);
    struct batch b = {.cli = cli,
                      .targets = targets,
                      .report = report_for(cli),
                      .finders = calloc((size_t)n_workers, sizeof *b.finders),
                      .outcomes = calloc((size_t)targets->n, sizeof *b.outcomes)};
    const int status = b.finders && b.outcomes ? run_with_finders(&b, n_workers) : no_memory(&b);
    for (int64_t i = 0; b.outcomes && i < targets->n; i++)
        free(b.outcomes[i].text);
    free(b.outcomes);
    free(b.finders);
    return status;
}

int batch_run(const struct cli *cli) {
    struct targets targets = {0};
    ending_watch();
    int status = targets_make(cli, &targets);
    if (status == EXIT_OK)
        status = search_all(cli, &targets);
    targets_free(&targets);
    return status;
}
