/* Searches the images of a run, several at a time.
 *
 * Each worker has a finder and takes the next image: it searches, writes the outputs, adds the rows
 * to the merged catalogue and a row to the report. The messages of an image wait in its outcome
 * until all images before it are reported: standard error has them in the order of the command
 * line, whatever the number of workers.
 *
 * `lock` protects the order, the tally, the messages and the outcomes. With --fail-fast an image is
 * saved only after all images before it were reported without a failure. Where no device can be
 * used any more, no image is begun, and only the first failure is counted. */
#include "cli/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <threads.h>

#include "api/finder.h"
#include "api/maps.h"
#include "cli/earlier.h"
#include "cli/exit_status.h"
#include "cli/merging.h"
#include "cli/outputs.h"
#include "cli/process.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/summary.h"
#include "cli/targets.h"
#include "cli/unused.h"
#include "common/clock.h"
#include "common/path.h"
#include "common/plural.h"
#include "common/threads.h"
#include "input/srcfind_map.h"
#include "output/catalogue.h"
#include "output/save.h"

/* The result of an image. */
struct outcome {
    bool done, skipped;
    bool is_srcfind_map; /* skipped, since srcfind made it */
    bool unusable;       /* it failed because no device can be used any more */
    bool report_failed;
    int status; /* an exit status */
    int64_t sources;
    char *text; /* messages for standard error */
};

/* Which images were begun and reported, by their numbers in the order of the command line. */
struct order {
    int64_t begun, reported;
    bool ended;    /* an image failed, with --fail-fast: report no others */
    bool given_up; /* no device can be used any more: begin no others */
};

/* What is known of the images that were reported. */
struct tally {
    struct totals totals;
    int64_t n_unusable; /* images that failed because no device can be used */
    int64_t n_srcfind_maps;
    const char *srcfind_map; /* the first of them */
    int worst;               /* exit status */
};

struct batch {
    const struct cli *cli;
    const struct targets *targets;
    struct report *report;    /* NULL: none */
    struct merging *merging;  /* NULL: none */
    struct srcfind **finders; /* one for each worker */
    int64_t last; /* the first of the last images, n_last, which are fewer than workers */
    int n_last;
    mtx_t lock; /* protects all that follows, and standard error */
    cnd_t turn; /* signalled when an image has been reported */
    struct order order;
    struct tally tally;
    struct messages messages;
    struct outcome *outcomes; /* one for each image */
};

/* --- images in their order --- */

/* Begins the next image; false if there is none left or the run ends early. */
static bool begin_image(struct batch *b, int64_t *i) {
    mtx_lock(&b->lock);
    const bool more = b->order.begun < b->targets->n && !b->order.ended && !b->order.given_up;
    if (more) {
        *i = b->order.begun++;
        progress_show(&b->messages.progress, *i, b->targets->n, &b->tally.totals, b->messages.row,
                      target_shown(&b->targets->target[*i]));
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
    while (!b->order.ended && b->order.reported < i)
        cnd_wait(&b->turn, &b->lock);
    const bool may = !b->order.ended;
    mtx_unlock(&b->lock);
    return may;
}

/* Adds an image to the totals and prints its messages. Of the images that failed because no device
 * can be used, only the first one is counted and reported here. */
static void report_outcome(struct batch *b, struct outcome *o) {
    if (o->unusable && ++b->tally.n_unusable > 1)
        return;
    const bool failed = o->status != EXIT_OK;
    b->tally.totals.images++;
    b->tally.totals.sources += o->sources;
    b->tally.totals.skipped += o->skipped;
    b->tally.totals.failed += failed;
    b->tally.worst = o->status > b->tally.worst ? o->status : b->tally.worst;
    if (o->report_failed && b->tally.worst < EXIT_IMAGE)
        b->tally.worst = EXIT_IMAGE;
    b->order.ended = failed && b->cli->fail_fast;
    if (o->is_srcfind_map && b->tally.n_srcfind_maps++ == 0)
        b->tally.srcfind_map = b->targets->target[o - b->outcomes].image;
    if (o->text)
        messages_text(&b->messages, o->text);
    free(o->text);
    o->text = NULL;
}

/* Stores the outcome of an image, and reports all images that are next in the order of the command
 * line. */
static void end_image(struct batch *b, int64_t i, const struct outcome *outcome) {
    mtx_lock(&b->lock);
    if (outcome->status == EXIT_OK)
        signals_count_done();
    b->outcomes[i] = *outcome;
    b->outcomes[i].done = true;
    b->order.given_up = b->order.given_up || outcome->unusable;
    while (!b->order.ended && b->order.reported < b->order.begun &&
           b->outcomes[b->order.reported].done)
        report_outcome(b, &b->outcomes[b->order.reported++]);
    cnd_broadcast(&b->turn);
    mtx_unlock(&b->lock);
}

/* --- one image --- */

/* Clears the progress line, before standard output takes a catalogue. */
static void clear_progress(struct batch *b) {
    mtx_lock(&b->lock);
    progress_clear(&b->messages.progress);
    mtx_unlock(&b->lock);
}

/* Adds an image to the report. */
static void report_image(struct batch *b, const struct messages *messages,
                         const struct report_row *row, struct outcome *outcome) {
    bool first;
    if (report_add(b->report, row, &first))
        return;
    outcome->report_failed = true;
    if (first)
        messages_error(messages, "%s: the report cannot be written: %s", b->cli->report,
                       strerror(errno));
}

/* Says why an image failed; where the message begins with its path, with the plane. */
static void say_failure(const struct messages *messages, const struct target *target,
                        const char *message) {
    const char *rest = messages_without_path(message, target->image);
    if (rest == message)
        messages_error(messages, "%s", message);
    else
        messages_error(messages, "%s: %s", target_shown(target), rest);
}

static void write_notes(const struct messages *messages,
                        const struct srcfind_catalogue *catalogue) {
    const char *note;
    for (int i = 0; (note = srcfind_catalogue_note(catalogue, i)); i++)
        messages_note(messages, "%s: %s", messages->image, note);
}

/* Says which tables were written beside a catalogue that has no file of its own. */
static void say_tables(const struct messages *messages, const struct target *target) {
    for (int i = 0; i < target->n_files; i++)
        if (target->files[i].role == FILE_TABLE)
            messages_note(messages, "%s: its %s is %s", messages->image, target->files[i].what,
                          target->files[i].path);
}

/* Removes what an earlier run left beside a catalogue that was written. */
static void remove_earlier(const struct batch *b, const struct target *target,
                           const struct messages *messages) {
    const struct options *o = &b->cli->find->values;
    const char *kept[] = {target->image, o->at, o->inject, b->cli->files_from};
    const struct replaced replaced = {.catalogue = target_catalogue(target),
                                      .writer = writer_named(b->targets->format->name),
                                      .files = target->files,
                                      .n_files = target->n_files,
                                      .kept = kept,
                                      .n_kept = sizeof kept / sizeof *kept,
                                      .has_maps = true};
    earlier_remove(&replaced, messages);
}

static void batch_search(struct batch *b, struct srcfind *finder, int64_t i,
                         const struct messages *messages, struct outcome *outcome) {
    const struct target *target = &b->targets->target[i];
    struct srcfind_catalogue *catalogue;
    const double start = clock_seconds();
    enum srcfind_status status = srcfind_find_file(finder, target->image, &catalogue);
    const bool is_reported = may_save(b, i);
    if (b->targets->to_stdout)
        clear_progress(b);
    const double found = clock_seconds();
    if (status == SRCFIND_OK && is_reported)
        status = outputs_write(finder, catalogue, b->targets, target);
    if (status == SRCFIND_OK && is_reported)
        merging_add(b->merging, i, catalogue);
    const double written = clock_seconds(), seconds = written - start;
    outcome->status = exit_status_of(status);
    outcome->unusable = status == SRCFIND_ERROR_DEVICE && !srcfind_device_is_usable(finder);
    if (status == SRCFIND_OK) {
        outcome->sources = srcfind_catalogue_size(catalogue);
        summary_write(messages, catalogue, seconds, written - found);
        write_notes(messages, catalogue);
        if (is_reported)
            remove_earlier(b, target, messages);
        if (!b->cli->output)
            say_tables(messages, target);
    } else {
        say_failure(messages, target, srcfind_message(finder));
    }
    const struct report_row row = {.target = target,
                                   .result = status == SRCFIND_OK ? catalogue->table.of : NULL,
                                   .status = status == SRCFIND_OK ? "done" : "failed",
                                   .message = status == SRCFIND_OK ? "" : srcfind_message(finder),
                                   .seconds = seconds};
    if (is_reported && !outcome->unusable)
        report_image(b, messages, &row, outcome);
    srcfind_catalogue_destroy(catalogue);
}

/* Skips an image whose outputs are there. */
static void skip_image(struct batch *b, const struct srcfind *finder, int64_t i,
                       const struct messages *messages, struct outcome *outcome) {
    const struct target *target = &b->targets->target[i];
    struct error error;
    if (b->merging && !merging_add_existing(b->merging, i, finder, &error)) {
        messages_error(messages, "%s", error.text);
        outcome->status = EXIT_IMAGE;
        return;
    }
    messages_note(messages, "%s: skipped, since %s is already there", target_shown(target),
                  target_catalogue(target));
    outcome->skipped = true;
}

/* Reports an image of which no plane could be chosen. */
static void fail_image(struct batch *b, int64_t i, const struct messages *messages,
                       struct outcome *outcome) {
    const struct target *target = &b->targets->target[i];
    const struct report_row row = {
        .target = target, .status = "failed", .message = target_failure(target)};
    outcome->status = EXIT_IMAGE;
    messages_error(messages, "%s", target_failure(target));
    if (may_save(b, i))
        report_image(b, messages, &row, outcome);
}

static int count_threads(const struct cli *cli) {
    const int option = cli->find->values.threads;
    return option > 0 ? option : srcfind_available_threads();
}

/* The share of all threads that one of the last images has. */
static int threads_of_last(const struct batch *b, int64_t image) {
    const int n_threads = count_threads(b->cli);
    int64_t k = 0;
    for (int64_t i = b->last; i < image; i++)
        k += !b->targets->target[i].is_done;
    return (int)(threads_share(n_threads, b->n_last, k + 1) -
                 threads_share(n_threads, b->n_last, k));
}

/* Messages are kept in memory until it is the image's turn; if memory runs out, they are printed at
 * once. */
static void process_image(struct batch *b, struct srcfind *finder, int64_t i) {
    const struct target *target = &b->targets->target[i];
    struct outcome outcome = {0};
    struct messages messages = messages_for(b->cli);
    size_t size;
    FILE *kept = open_memstream(&outcome.text, &size);
    messages.stream = kept ? kept : stderr;
    messages.image = target_shown(target);
    finder->options.image.plane = *target_plane(b->cli, target);
    if (target->is_done) {
        skip_image(b, finder, i, &messages, &outcome);
    } else if (b->targets->n_listed > 1 && is_srcfind_map(target->image)) {
        const struct report_row row = {
            .target = target, .status = "skipped", .message = "a map that srcfind made"};
        outcome.skipped = outcome.is_srcfind_map = true;
        report_image(b, &messages, &row, &outcome);
    } else if (target_failure(target)) {
        fail_image(b, i, &messages, &outcome);
    } else {
        if (i >= b->last)
            finder_use_threads(finder, threads_of_last(b, i));
        batch_search(b, finder, i, &messages, &outcome);
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
    messages_error(&b->messages, "out of memory while starting");
    return EXIT_IMAGE;
}

static void note_srcfind_maps(const struct batch *b) {
    if (b->tally.n_srcfind_maps > 0)
        messages_note(&b->messages,
                      "%lld map%s that srcfind made %s skipped (%s%s): given "
                      "alone, a map is searched",
                      (long long)b->tally.n_srcfind_maps, plural(b->tally.n_srcfind_maps),
                      b->tally.n_srcfind_maps == 1 ? "is" : "are", b->tally.srcfind_map,
                      b->tally.n_srcfind_maps == 1 ? "" : ", ...");
}

static int run_workers(struct batch *b, int n_workers) {
    const double start = clock_seconds();
    struct threads *threads = threads_create(n_workers);
    if (!threads)
        return batch_no_memory(b);
    threads_run(threads, n_workers, work, b);
    const int merged = merging_finish(
        b->merging, b->order.reported == b->targets->n && !b->order.ended, threads, &b->messages);
    b->tally.worst = merged > b->tally.worst ? merged : b->tally.worst;
    threads_destroy(threads);
    b->tally.totals.seconds = clock_seconds() - start;
    if (b->tally.n_unusable > 0)
        messages_given_up(&b->messages, b->tally.n_unusable - 1 + b->targets->n - b->order.begun);
    note_srcfind_maps(b);
    messages_totals(&b->messages, &b->tally.totals);
    return b->tally.worst;
}

/* Each thread is a worker, so that reading, searching and saving of several images overlap. To
 * limit memory, large images have fewer workers with several threads: one thread for each
 * BYTES_A_THREAD of the largest image. */
enum { BYTES_A_THREAD = 1 << 28 };

/* A worker needs file descriptors for an image, its mask and its other maps, and for a file that
 * is saved and its lock; libraries that are loaded during the run need some too. */
enum { DESCRIPTORS_A_WORKER = 1 + USER_MAP_KINDS + 2, DESCRIPTORS_BESIDE = 4 };

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

/* The number of images that are to be searched. */
static int64_t count_to_search(const struct targets *targets) {
    int64_t n = 0;
    for (int64_t i = 0; i < targets->n; i++)
        n += !targets->target[i].is_done;
    return n;
}

/* Finds the last images. Were all images alike, these would be left when each worker has searched
 * as many of the others, and some workers would have none. As they are not, the threads of both may
 * be at work for a while. */
static void find_last(struct batch *b, int n_workers) {
    b->n_last = (int)(count_to_search(b->targets) % n_workers);
    b->last = b->targets->n;
    for (int n = b->n_last; n > 0;)
        n -= !b->targets->target[--b->last].is_done;
}

static int run_with_finders(struct batch *b, int n_workers) {
    int status = exit_status_of(srcfind_create_many(b->cli->find, n_workers, b->finders));
    if (status == EXIT_OK)
        finder_expect(b->finders[0], (double)count_to_search(b->targets));
    for (int i = 0; status == EXIT_OK && i < n_workers; i++)
        maps_expect(b->finders[i], b->cli->save.maps);
    find_last(b, n_workers);
    if (count_to_search(b->targets) > n_workers)
        process_expect_images();
    if (status == EXIT_OK)
        status = run_with_lock(b, n_workers);
    else
        messages_error(&b->messages, "%s", srcfind_message(b->finders[0]));
    for (int i = 0; i < n_workers; i++)
        srcfind_destroy(b->finders[i]);
    return status;
}

static int search_all(const struct cli *cli, const struct targets *targets, struct report *report,
                      struct merging *merging) {
    const int n_workers = count_workers(targets, count_threads(cli));
    struct batch b = {.cli = cli,
                      .targets = targets,
                      .report = report,
                      .merging = merging,
                      .messages = messages_for(cli),
                      .finders = calloc((size_t)n_workers, sizeof *b.finders),
                      .outcomes = calloc((size_t)targets->n, sizeof *b.outcomes)};
    signals_count(targets->several ? targets->n : 0, cli->output != NULL);
    const int status =
        b.finders && b.outcomes ? run_with_finders(&b, n_workers) : batch_no_memory(&b);
    signals_count(0, false);
    for (int64_t i = 0; b.outcomes && i < targets->n; i++)
        free(b.outcomes[i].text);
    free(b.outcomes);
    free(b.finders);
    return status;
}

/* Whether two paths are in one directory. */
static bool are_together(const char *a, const char *b) {
    const int length = path_directory(a);
    return length == path_directory(b) && strncmp(a, b, (size_t)length) == 0;
}

/* Removes what killed runs left in the directories of all outputs. */
static void clean_directories(const struct cli *cli, const struct targets *targets) {
    const char *last = NULL;
    if (cli->report)
        save_clean(cli->report);
    if (cli->merge)
        save_clean(cli->merge);
    for (int64_t i = 0; i < targets->n; i++) {
        const struct target *target = &targets->target[i];
        const char *path = NULL;
        for (int k = 0; k < target->n_files && !path; k++)
            path = target_file_is_output(&target->files[k]) ? target->files[k].path : NULL;
        if (path && (!last || !are_together(path, last)))
            save_clean(path);
        last = path ? path : last;
    }
}

/* Notes that a shard has no image, as one of a job array may. */
static void note_empty_shard(const struct cli *cli, const struct targets *targets) {
    const struct messages messages = messages_for(cli);
    messages_note(&messages, "--shard %lld/%lld: nothing to do: the run has %lld image%s",
                  (long long)cli->shard.k, (long long)cli->shard.n, (long long)targets->n_listed,
                  plural(targets->n_listed));
}

/* --- images that are done --- */

struct deciding {
    const struct cli *cli;
    struct targets *targets;
    const struct report *report;
};

static void decide(void *context, int i) {
    const struct deciding *d = context;
    struct target *target = &d->targets->target[i];
    struct image_choice choice = d->cli->find->values.image;
    choice.plane = *target_plane(d->cli, target);
    target->is_done = !target_failure(target) && report_allows_skipping(d->report, target) &&
                      outputs_exist(d->targets, target, &choice);
}

/* Finds the images to skip, before the first one is searched: their rows stay in the report. */
static int find_done(const struct cli *cli, struct targets *targets, const struct report *report) {
    struct deciding deciding = {cli, targets, report};
    if (!cli->skip_existing)
        return EXIT_OK;
    struct threads *threads = threads_create(count_threads(cli));
    if (!threads)
        return messages_no_memory("looking for catalogues");
    threads_run(threads, (int)targets->n, decide, &deciding);
    threads_destroy(threads);
    return EXIT_OK;
}

static int run_targets(const struct cli *cli, struct targets *targets) {
    struct report *report;
    struct merging *merging = NULL;
    int status = report_open(cli, targets, &report);
    if (status == EXIT_OK) /* after wrong usage none is left behind */
        status = targets_make_directories(cli, targets);
    if (status == EXIT_OK)
        status = find_done(cli, targets, report);
    if (status == EXIT_OK)
        status = report_begin(report);
    if (status == EXIT_OK && targets->n > 0)
        status = merging_begin(cli, targets, &merging);
    if (status == EXIT_OK && targets->n == 0)
        note_empty_shard(cli, targets);
    else if (status == EXIT_OK)
        status = search_all(cli, targets, report, merging);
    merging_end(merging);
    report_close(report);
    return status;
}

int batch_run(const struct cli *cli) {
    struct targets targets;
    signals_watch();
    int status = targets_make(cli, &targets);
    if (status == EXIT_OK) {
        const struct messages messages = messages_for(cli);
        unused_note(&messages, cli, &targets);
        clean_directories(cli, &targets);
        status = run_targets(cli, &targets);
    }
    targets_free(&targets);
    return status;
}
