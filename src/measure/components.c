/* How islands become components. A batch of islands (components_batch_first) is worked through in
 * loops over its islands, by all threads:
 *
 * 1. begin_island: with a fit, the runs of the margin around each island. read_pixels then reads
 *    islands and margins in one pass; with --detect-on once from each image.
 * 2. divide_island: deblend divides each island at saddles; each peak is a source.
 * 3. make_first_fit, make_jobs, run_jobs: island_fit makes a job of each part of an island. Parts
 *    of islands with several are fitted in sweeps (sweeps.c), all other jobs of the batch at once,
 *    on the CPU or a device.
 * 4. finish_fit: a fit that makes flux out of nothing (flux_check.c) is repeated from more peaks;
 *    where the second fails, too, the sources of the island are not fitted. Gaussians are then
 *    grouped to sources.
 * 5. make_components: pixels are measured per source, and Gaussians and composites copied.
 *
 * Always: each pixel of an island belongs to one source. Results depend on no other island, so
 * batches and threads change no bit. Results of an island are in the arena of the thread that
 * makes them, until the batch ends.
 *
 * Counts and places: what a batch has of pixels, jobs and components is counted in shares, and
 * placed in arrays (place), in the order of the islands.
 *
 * Cost: a batch has at most 8192 islands and 2^20 pixels, boxes with margins counted, unless one
 * island has more. The batches of an image use the same memory, one after another. */
#include "measure/components.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/component_pixels.h"
#include "measure/flux_check.h"
#include "measure/grouped.h"

enum {
    ISLANDS_A_SHARE = 32,  /* that a thread takes at a time */
    BATCH_ISLANDS = 8192,  /* most islands of a batch */
    BATCH_PIXELS = 1 << 20 /* most pixels of a batch, with margins; one island may have more */
};

/* What the arrays of a batch have of its islands: pixels of islands and of margins; jobs and pixels
 * of fits, of islands with one part and with several; and the components. */
enum part {
    INSIDE,
    MARGIN,
    JOBS,
    FIT_PIXELS,
    LARGE_JOBS,
    LARGE_FIT_PIXELS,
    COMPONENTS,
    GAUSSIANS,
    COMPOSITES,
    OF_COMPOSITES, /* their Gaussians */
    PARTS
};

/* Of each part, a number of elements, or the index of the first one. */
struct counts {
    int64_t of[PARTS];
};

/* An island of the batch. */
struct item {
    struct fit_frame frame; /* its unit circle is a point at the island's highest pixel */
    struct island_pixels pixels;
    struct island_pixels detected; /* the same pixels, where the island was found */
    struct deblended deblended;
    struct deblended more; /* the start of its second fit */
    struct island_fit fit;
    bool is_due, is_second; /* a fit is wanted; it is the second one */
    struct fitted_sources fitted;
    struct grouped_sources grouped;
    struct margin margin; /* empty without a fit */
    struct arena *arena;  /* of the thread that works on the island */
    struct counts first;  /* in the arrays of the batch */
};

/* The jobs of the islands that are due: those of islands with several parts are the first ones. */
struct batch_jobs {
    struct fit_job *job;
    struct fit_pixel *pixels;
    int64_t capacity, pixels_capacity;
};

/* Pixels of the islands, then those of the margins. */
struct batch_pixels {
    struct run_pixels measured;
    struct run_pixels detected; /* the same, where islands were found in other pixels */
    struct run_set *sets;
    int64_t sets_capacity;
};

/* The capacities of the arrays of the components. */
struct capacities {
    int64_t component, gaussian, composite, source_of_pixel;
};

/* A share, and how many pixels its fits have. */
struct fitted_share {
    int64_t n_pixels;
    int share;
};

struct thread_arena {
    struct arena arena;
    atomic_flag is_taken;
};

struct batches {
    const struct component_setting *setting;
    const struct segments *segments;
    struct threads *threads;
    /* The batch: islands [first, first + n). */
    int64_t first, n;
    struct item *items;
    struct thread_arena *arenas; /* as many as threads */
    struct counts *shares;       /* what each share has, or the first that it has */
    struct fitted_share *order;  /* of the shares in the loop; NULL: that of the islands */
    struct counts total;         /* what the batch has */
    struct arena_pool pool;      /* of the arenas */
    struct batch_pixels read;
    struct batch_jobs jobs;
    struct components components;
    struct capacities capacities;
    /* The loop over islands: what it does, or counts in which parts. */
    bool (*work)(struct batches *batch, struct item *item, int64_t island);
    void (*count)(const struct batches *batch, const struct item *item, int64_t island,
                  int64_t *counts);
    enum part from, to;
    /* Of the loop that failed; SRCFIND_OK after a failure: memory ran out. */
    enum srcfind_status status;
    const char *doing; /* for error_memory */
    struct error *error;
};

/* --- loops over islands --- */

/* The islands of a share, as indices in the batch. */
static int64_t share_first(int share) {
    return (int64_t)share * ISLANDS_A_SHARE;
}

static int64_t share_end(const struct batches *b, int share) {
    const int64_t end = share_first(share) + ISLANDS_A_SHARE;
    return end < b->n ? end : b->n;
}

static int count_shares(int64_t n_islands) {
    return (int)((n_islands + ISLANDS_A_SHARE - 1) / ISLANDS_A_SHARE);
}

/* Takes an arena that no other thread has. */
static struct thread_arena *take_arena(const struct batches *b) {
    const int n = threads_count(b->threads);
    int i = 0;
    while (atomic_flag_test_and_set(&b->arenas[i].is_taken))
        i = (i + 1) % n;
    return &b->arenas[i];
}

static enum srcfind_status work_on_share(void *context, int i_share, struct error *error) {
    struct batches *b = context;
    const int share = b->order ? b->order[i_share].share : i_share;
    struct thread_arena *own = take_arena(b);
    bool ok = true;
    for (int64_t i = share_first(share); ok && i < share_end(b, share); i++) {
        b->items[i].arena = &own->arena;
        ok = b->work(b, &b->items[i], b->first + i);
    }
    atomic_flag_clear(&own->is_taken);
    return ok ? SRCFIND_OK : error_memory(error, b->doing);
}

/* Calls `work` for all islands of the batch. */
static bool for_each_island(struct batches *b,
                            bool (*work)(struct batches *, struct item *, int64_t)) {
    b->work = work;
    b->status = threads_try(b->threads, count_shares(b->n), work_on_share, b, b->error);
    return b->status == SRCFIND_OK;
}

/* Counts what a share has. */
static void count_share(void *context, int share) {
    const struct batches *b = context;
    struct counts all = {{0}};
    for (int64_t i = share_first(share); i < share_end(b, share); i++) {
        struct counts own = {{0}};
        b->count(b, &b->items[i], b->first + i, own.of);
        for (int k = b->from; k <= (int)b->to; k++)
            all.of[k] += own.of[k];
    }
    b->shares[share] = all;
}

/* Sets where the islands of a share begin. */
static void place_share(void *context, int share) {
    const struct batches *b = context;
    struct counts at = b->shares[share];
    for (int64_t i = share_first(share); i < share_end(b, share); i++) {
        struct item *item = &b->items[i];
        struct counts own = {{0}};
        b->count(b, item, b->first + i, own.of);
        for (int k = b->from; k <= (int)b->to; k++) {
            item->first.of[k] = at.of[k];
            at.of[k] += own.of[k];
        }
    }
}

/* Sets the first of each island's elements of the parts from ... to, and their totals. `count`
 * counts those of an island. */
static void place(struct batches *b, enum part from, enum part to,
                  void (*count)(const struct batches *, const struct item *, int64_t, int64_t *)) {
    const int n = count_shares(b->n);
    b->from = from;
    b->to = to;
    b->count = count;
    threads_run(b->threads, n, count_share, b);
    for (int k = from; k <= (int)to; k++) {
        b->total.of[k] = 0;
        for (int share = 0; share < n; share++) {
            const int64_t own = b->shares[share].of[k];
            b->shares[share].of[k] = b->total.of[k];
            b->total.of[k] += own;
        }
    }
    threads_run(b->threads, n, place_share, b);
}

/* --- reading --- */

/* A bound of an island's pixels with a margin: those of its box. */
static double count_in_box(const struct island *island, double margin) {
    const double more = 1 + 2 * margin;
    return (island->x_max - island->x_min + more) * (island->y_max - island->y_min + more);
}

/* The frame in which an island is fitted. */
static struct fit_frame frame_at(const struct component_setting *d, const struct island *island) {
    return psf_frame(&d->psf, d->grid, &d->of_image, (double)island->x_peak,
                     (double)island->y_peak);
}

/* The width of an island's margin, in pixels. Around islands that could not be fitted in one part
 * with a wide margin, though without it, the margin stays narrow. */
static double margin_of(const struct fit_frame *frame, const struct island *island) {
    const double narrow = beam_frame_margin(frame, 0);
    const double wide = fmin(beam_frame_margin(frame, island->n_pixels), MARGIN_MOST);
    const bool has_room = count_in_box(island, wide) <= FIT_MOST_PIXELS;
    return has_room || island->n_pixels > FIT_MOST_PIXELS ? wide : fmin(narrow, MARGIN_MOST);
}

/* Begins with an island: finds its margin, if it is to be fitted. */
static bool begin_island(struct batches *b, struct item *item, int64_t island) {
    const struct segments *s = b->segments;
    const struct component_setting *d = b->setting;
    *item = (struct item){.arena = item->arena};
    if (!d->fitter)
        return true;
    const struct pixel_source *source = d->measure->source;
    item->frame = frame_at(d, &s->islands[island]);
    return margin_find(s->runs + s->first_run[island],
                       s->first_run[island + 1] - s->first_run[island],
                       margin_of(&item->frame, &s->islands[island]), source->width, source->height,
                       item->arena, &item->margin);
}

static void count_pixels(const struct batches *b, const struct item *item, int64_t island,
                         int64_t *counts) {
    counts[INSIDE] = b->segments->islands[island].n_pixels;
    counts[MARGIN] = item->margin.n_pixels;
}

/* Makes the sets of runs of an island and its margin. */
static bool make_sets(struct batches *b, struct item *item, int64_t island) {
    const struct segments *s = b->segments;
    const int64_t i = island - b->first, first_run = s->first_run[island];
    item->first.of[MARGIN] += b->total.of[INSIDE];
    b->read.sets[i] = (struct run_set){s->runs + first_run, s->first_run[island + 1] - first_run,
                                       item->first.of[INSIDE]};
    b->read.sets[b->n + i] =
        (struct run_set){item->margin.runs, item->margin.n_runs, item->first.of[MARGIN]};
    return true;
}

static bool has_two_images(const struct batches *b) {
    return b->setting->detect != b->setting->measure;
}

static enum srcfind_status read_from(const struct run_source *from, const struct batches *b,
                                     struct run_pixels *pixels) {
    return run_pixels_read(from, b->read.sets, 2 * b->n, b->total.of[INSIDE] + b->total.of[MARGIN],
                           b->threads, pixels, b->error);
}

/* Reads the pixels of the batch. False on an error. */
static bool read_pixels(struct batches *b) {
    struct batch_pixels *read = &b->read;
    if (!RESERVE(read->sets, read->sets_capacity, 2 * b->n))
        return false;
    place(b, INSIDE, MARGIN, count_pixels);
    if (!for_each_island(b, make_sets))
        return false;
    b->status = read_from(b->setting->measure, b, &read->measured);
    if (b->status == SRCFIND_OK && has_two_images(b))
        b->status = read_from(b->setting->detect, b, &read->detected);
    return b->status == SRCFIND_OK;
}

/* The pixels of the detection image. */
static const struct run_pixels *detected_pixels(const struct batches *b) {
    return has_two_images(b) ? &b->read.detected : &b->read.measured;
}

/* The pixels of an island among the pixels of its batch. */
static struct island_pixels pixels_of(const struct item *item, const struct run_pixels *read) {
    struct island_pixels pixels = item->pixels;
    pixels.value = read->value + item->first.of[INSIDE];
    pixels.background = read->background + item->first.of[INSIDE];
    pixels.rms = read->rms + item->first.of[INSIDE];
    return pixels;
}

/* --- dividing --- */

static bool divide_island(struct batches *b, struct item *item, int64_t island) {
    const struct segments *s = b->segments;
    const struct component_setting *d = b->setting;
    struct island_pixels *p = &item->pixels;
    const size_t n = (size_t)s->islands[island].n_pixels;
    struct arena *arena = item->arena;
    *p = (struct island_pixels){.x = arena_take(arena, n, sizeof *p->x),
                                .y = arena_take(arena, n, sizeof *p->y)};
    if (!p->x || !p->y)
        return false;
    for (int64_t i = s->first_run[island]; i < s->first_run[island + 1]; i++) {
        for (int32_t x = s->runs[i].x0; x <= s->runs[i].x1; x++) {
            p->x[p->n] = x;
            p->y[p->n++] = s->runs[i].y;
        }
    }
    *p = pixels_of(item, &b->read.measured);
    item->detected = pixels_of(item, detected_pixels(b));
    return deblend(&item->detected, d->detection->threshold, d->contrast, arena, &item->deblended);
}

/* --- fitting --- */

/* Makes the fit of an island, from the peaks of `start`. */
static bool start_fit(struct batches *b, struct item *item, const struct deblended *start) {
    const struct margin_pixels margin = {&item->margin, &b->read.measured, detected_pixels(b),
                                         item->first.of[MARGIN]};
    item->is_due = true;
    return island_fit_make(&item->fit, &item->pixels, start, &margin, b->setting->detection->island,
                           item->arena);
}

static bool make_first_fit(struct batches *b, struct item *item, int64_t island) {
    (void)island;
    return start_fit(b, item, &item->deblended);
}

/* Makes the second fit of an island whose first fit made flux out of nothing. */
static bool make_second_fit(struct batches *b, struct item *item, int64_t island) {
    double widest;
    (void)island;
    if (!item->is_due)
        return true;
    item->is_second = true;
    if (!flux_check_add_peaks(&item->fit, &item->frame, item->arena, &item->more, &widest) ||
        !start_fit(b, item, &item->more))
        return false;
    item->fit.widest = widest;
    return true;
}

static void count_jobs(const struct batches *b, const struct item *item, int64_t island,
                       int64_t *counts) {
    const struct island_fit *fit = &item->fit;
    (void)b;
    (void)island;
    if (!item->is_due)
        return;
    counts[fit->parts.n > 1 ? LARGE_JOBS : JOBS] = fit->parts.n;
    counts[fit->parts.n > 1 ? LARGE_FIT_PIXELS : FIT_PIXELS] = fit->n_pixels;
}

/* The jobs of an island that is due. */
static struct fit_job *jobs_of(const struct batches *b, const struct item *item) {
    return b->jobs.job + (item->fit.parts.n > 1 ? item->first.of[LARGE_JOBS]
                                                : b->total.of[LARGE_JOBS] + item->first.of[JOBS]);
}

/* The index of their first pixel. */
static int64_t first_fit_pixel(const struct batches *b, const struct item *item) {
    return item->fit.parts.n > 1 ? item->first.of[LARGE_FIT_PIXELS]
                                 : b->total.of[LARGE_FIT_PIXELS] + item->first.of[FIT_PIXELS];
}

static bool make_jobs(struct batches *b, struct item *item, int64_t island) {
    (void)island;
    if (item->is_due)
        island_fit_make_jobs(&item->fit, &item->frame, first_fit_pixel(b, item), b->jobs.pixels,
                             jobs_of(b, item));
    return true;
}

/* Whether the image may cut an island off, so that its Gaussians have flux outside of the pixels:
 * it is at the edge, or more than a tenth of its margin is blank. */
static bool is_cut(const struct batches *b, const struct item *item, int64_t island) {
    const struct island *whole = &b->segments->islands[island];
    const struct pixel_source *image = b->setting->measure->source;
    const int64_t n = item->margin.n_pixels;
    int64_t n_blank = 0;
    for (int64_t i = 0; whole->edge && i < n; i++)
        n_blank += !isfinite(b->read.measured.value[item->first.of[MARGIN] + i]);
    const bool at_edge = whole->x_min == 0 || whole->y_min == 0 ||
                         whole->x_max == image->width - 1 || whole->y_max == image->height - 1;
    return at_edge || 10 * n_blank > n;
}

/* Takes the results of an island. If its Gaussians do not describe it, it stays due; after the
 * second fit its sources are then not fitted. */
static bool finish_fit(struct batches *b, struct item *item, int64_t island) {
    const struct component_setting *d = b->setting;
    const struct flux_check check = {d->detection->threshold, d->detection->island, d->correlated};
    const double rms = item->pixels.rms[item->deblended.peak[0]];
    const struct group_rule rule = {d->group_tolerance,
                                    d->group_tolerance * d->detection->island * rms};
    struct fit_job *jobs = jobs_of(b, item);
    if (!item->is_due)
        return true;
    const bool is_changed = flux_check_drop_unsupported(&item->fit, &item->frame, jobs);
    const bool holds =
        is_cut(b, item, island) || flux_check_holds(&check, &item->fit, &item->frame, jobs);
    item->is_due = !holds || (is_changed && !item->is_second);
    if (item->is_due && !item->is_second)
        return true;
    for (int64_t k = 0; item->is_due && k < item->fit.parts.n; k++)
        jobs[k].is_fitted = false;
    return island_fit_finish(&item->fit, &item->frame, jobs, item->arena, &item->fitted) &&
           grouped_sources_make(&item->fit, &item->frame, d->noise, jobs, &item->fitted, &rule,
                                item->arena, &item->grouped);
}

/* Fits the parts of the islands that have several. False on an error. */
static bool run_large_jobs(struct batches *b) {
    const int64_t n_jobs = b->total.of[LARGE_JOBS];
    struct grouped_island *large = arrays_allocate(n_jobs, sizeof *large);
    int64_t n = 0;
    for (int64_t i = 0; large && n_jobs > 0 && i < b->n; i++)
        if (b->items[i].is_due && b->items[i].fit.parts.n > 1)
            large[n++] = (struct grouped_island){&b->items[i].fit, jobs_of(b, &b->items[i])};
    if (large && n > 0)
        b->status = sweeps_run(large, n, b->jobs.pixels, b->setting->fitter, b->threads, b->error);
    free(large);
    return large && b->status == SRCFIND_OK;
}

/* Fits the islands that are due: islands with several parts, and then all others at once. False on
 * an error. */
static bool run_jobs(struct batches *b) {
    const struct fitter *f = b->setting->fitter;
    if (!run_large_jobs(b))
        return false;
    b->status = f->fit(f->context, b->jobs.pixels, b->jobs.job + b->total.of[LARGE_JOBS],
                       b->total.of[JOBS], b->threads, b->error);
    return b->status == SRCFIND_OK;
}

static int by_pixels(const void *a, const void *b) {
    const struct fitted_share *p = a, *q = b;
    return p->n_pixels != q->n_pixels ? (p->n_pixels < q->n_pixels) - (p->n_pixels > q->n_pixels)
                                      : (p->share > q->share) - (p->share < q->share);
}

/* The number of pixels of the fits before a share. */
static int64_t fit_pixels_before(const struct counts *counts) {
    return counts->of[FIT_PIXELS] + counts->of[LARGE_FIT_PIXELS];
}

/* Takes the results of the fits. The shares with the largest islands come first: one of these can
 * take as long as thousands of small ones, and no thread should begin with it last. */
static bool finish_fits(struct batches *b) {
    const int n = count_shares(b->n);
    b->order = arrays_allocate(n, sizeof *b->order);
    for (int k = 0; b->order && k < n; k++) {
        const struct counts *next = k + 1 < n ? &b->shares[k + 1] : &b->total;
        b->order[k] =
            (struct fitted_share){fit_pixels_before(next) - fit_pixels_before(&b->shares[k]), k};
    }
    if (b->order)
        qsort(b->order, (size_t)n, sizeof *b->order, by_pixels);
    const bool ok = b->order && for_each_island(b, finish_fit);
    free(b->order);
    b->order = NULL;
    return ok;
}

/* Fits the islands that are due, if any. False on an error. */
static bool fit_due(struct batches *b) {
    struct batch_jobs *jobs = &b->jobs;
    const int64_t *n = b->total.of;
    place(b, JOBS, LARGE_FIT_PIXELS, count_jobs);
    return n[JOBS] + n[LARGE_JOBS] == 0 ||
           (RESERVE(jobs->job, jobs->capacity, n[JOBS] + n[LARGE_JOBS]) &&
            RESERVE(jobs->pixels, jobs->pixels_capacity, n[FIT_PIXELS] + n[LARGE_FIT_PIXELS]) &&
            for_each_island(b, make_jobs) && run_jobs(b) && finish_fits(b));
}

/* False on an error. */
static bool fit_islands(struct batches *b) {
    b->doing = "fitting sources";
    return for_each_island(b, make_first_fit) && fit_due(b) &&
           for_each_island(b, make_second_fit) && fit_due(b);
}

/* --- components --- */

/* The sources of an island, from the fit or else from the division. */
struct sources {
    const int32_t *source_of; /* of each pixel */
    int64_t n;
};

static struct sources sources_of(const struct batches *b, const struct item *item) {
    return b->setting->fitter ? (struct sources){item->fitted.source_of, item->grouped.n}
                              : (struct sources){item->deblended.source_of, item->deblended.n};
}

/* The noise at pixel i of an island, in the measured image. */
static struct noise_at noise_of_pixel(const struct item *item, int64_t i) {
    return (struct noise_at){item->pixels.background[i], item->pixels.rms[i]};
}

/* The indices of the next Gaussian and the next composite in the components. */
struct next_fits {
    int64_t gaussian, composite;
};

/* Copies the Gaussians and the composite of source k of an island to component `index`. */
static void add_fit(const struct batches *b, const struct item *item, int64_t k, int64_t index,
                    struct next_fits *next) {
    static const struct fit_errors no_errors = {0};
    const struct grouped_source *source = &item->grouped.source[k];
    struct component *c = &b->components.component[index];
    c->residual_rms = item->fitted.residual_rms;
    c->first_gaussian = next->gaussian;
    for (int64_t i = 0; i < source->n; i++) {
        const struct fitted_source *f =
            &item->fitted.source[item->grouped.members[source->first + i]];
        c->pix_snr = i == 0 ? f->pix_snr : fmax(c->pix_snr, f->pix_snr);
        if (!f->is_fitted)
            return;
        b->components.gaussian[next->gaussian++] =
            (struct component_gaussian){f->gaussian,
                                        f->has_beam_shape,
                                        f->lost,
                                        f->free,
                                        index,
                                        f->errors,
                                        f->errors ? *f->errors : no_errors};
        c->n_gaussians++;
    }
    if (!source->composite)
        return;
    struct composite *composite = &b->components.composite[next->composite++];
    *composite = *source->composite;
    c->composite = composite;
}

static void keep_sources(struct batches *b, const struct item *item, const int32_t *source_of) {
    int32_t *kept = b->components.source_of_pixel + item->first.of[INSIDE];
    for (int64_t i = 0; i < item->pixels.n; i++)
        kept[i] = (int32_t)item->first.of[COMPONENTS] + source_of[i];
}

static bool make_components(struct batches *b, struct item *item, int64_t island) {
    const struct sources sources = sources_of(b, item);
    struct island *whole = &b->segments->islands[island];
    struct component *components = b->components.component + item->first.of[COMPONENTS];
    struct next_fits next = {item->first.of[GAUSSIANS], item->first.of[COMPOSITES]};
    const int64_t highest = item->deblended.peak[0];
    const struct noise_at noise = noise_of_pixel(item, highest);
    if (has_two_images(b) || noise_sources_exist(&b->setting->measure->user))
        component_pixels_complete(b->setting, &item->pixels, &item->detected, whole);
    for (int64_t k = 0; k < sources.n; k++) {
        components[k] = (struct component){.island = island,
                                           .highest = highest,
                                           .snr = item->deblended.island_snr,
                                           .noise = noise,
                                           .island_noise = noise,
                                           .is_alone = sources.n == 1,
                                           .residual_rms = NAN,
                                           .pix_snr = NAN};
        components[k].pixels.edge = whole->edge;
        if (b->setting->fitter)
            add_fit(b, item, k, item->first.of[COMPONENTS] + k, &next);
    }
    if (sources.n == 1)
        components[0].pixels = *whole;
    else
        component_pixels_measure(&item->pixels, &item->detected, sources.source_of, sources.n,
                                 components);
    if (b->components.source_of_pixel)
        keep_sources(b, item, sources.source_of);
    return true;
}

static void count_components(const struct batches *b, const struct item *item, int64_t island,
                             int64_t *counts) {
    (void)island;
    counts[COMPONENTS] = sources_of(b, item).n;
    for (int64_t k = 0; k < item->fitted.n; k++)
        counts[GAUSSIANS] += item->fitted.source[k].is_fitted;
    for (int64_t k = 0; k < item->grouped.n; k++) {
        const struct grouped_source *source = &item->grouped.source[k];
        counts[COMPOSITES] += source->composite != NULL;
        counts[OF_COMPOSITES] += source->composite ? source->n : 0;
    }
}

static bool allocate_components(struct batches *b) {
    struct components *all = &b->components;
    struct capacities *most = &b->capacities;
    place(b, COMPONENTS, OF_COMPOSITES, count_components);
    all->n = b->total.of[COMPONENTS];
    all->n_gaussians = b->total.of[GAUSSIANS];
    all->n_composites = b->total.of[COMPOSITES];
    all->n_of_composites = b->total.of[OF_COMPOSITES];
    return RESERVE(all->component, most->component, all->n) &&
           RESERVE(all->gaussian, most->gaussian, all->n_gaussians) &&
           RESERVE(all->composite, most->composite, all->n_composites) &&
           (!b->setting->keeps_sources ||
            RESERVE(all->source_of_pixel, most->source_of_pixel, b->total.of[INSIDE]));
}

/* --- batches --- */

/* A bound of the pixels for which an island needs memory: its pixels or, with a fit, its box with
 * the margin. */
static double most_pixels(const struct component_setting *d, const struct island *island) {
    if (!d->fitter)
        return (double)island->n_pixels;
    const struct fit_frame frame = frame_at(d, island);
    return count_in_box(island, margin_of(&frame, island));
}

/* Chooses the islands of the batch that ends before island `end`. */
static void choose_batch(struct batches *b, int64_t end) {
    const struct island *islands = b->segments->islands;
    double n = most_pixels(b->setting, &islands[end - 1]);
    for (b->first = end - 1; b->first > 0 && end - b->first < BATCH_ISLANDS; b->first--) {
        n += most_pixels(b->setting, &islands[b->first - 1]);
        if (n > BATCH_PIXELS)
            break;
    }
    b->n = end - b->first;
}

struct batches *components_begin(const struct component_setting *setting,
                                 const struct segments *segments, struct threads *threads) {
    const int64_t most = segments->n < BATCH_ISLANDS ? segments->n : BATCH_ISLANDS;
    struct batches *b = calloc(1, sizeof *b);
    if (!b || !arena_pool_make(&b->pool)) {
        free(b);
        return NULL;
    }
    b->setting = setting;
    b->segments = segments;
    b->threads = threads;
    b->items = arrays_allocate(most, sizeof *b->items);
    b->shares = arrays_allocate(count_shares(most), sizeof *b->shares);
    b->arenas = arrays_allocate(threads_count(threads), sizeof *b->arenas);
    if (!b->items || !b->shares || !b->arenas) {
        components_end(b);
        return NULL;
    }
    for (int i = 0; i < threads_count(threads); i++)
        b->arenas[i] = (struct thread_arena){{.pool = &b->pool}, ATOMIC_FLAG_INIT};
    return b;
}

enum srcfind_status components_find(struct batches *b, int64_t *end,
                                    const struct components **components, struct error *error) {
    const bool is_fitted = b->setting->fitter;
    choose_batch(b, *end);
    b->doing = "dividing islands";
    b->error = error;
    b->status = SRCFIND_OK;
    const bool ok = for_each_island(b, begin_island) && read_pixels(b) &&
                    for_each_island(b, divide_island) && (!is_fitted || fit_islands(b)) &&
                    allocate_components(b) && for_each_island(b, make_components);
    for (int i = 0; i < threads_count(b->threads); i++)
        arena_clear(&b->arenas[i].arena);
    *components = &b->components;
    *end = b->first;
    return ok || b->status != SRCFIND_OK ? b->status : error_memory(error, b->doing);
}

void components_end(struct batches *b) {
    if (!b)
        return;
    free(b->items);
    free(b->shares);
    free(b->arenas);
    arena_pool_clear(&b->pool);
    free(b->jobs.job);
    free(b->jobs.pixels);
    free(b->read.sets);
    run_pixels_clear(&b->read.measured);
    run_pixels_clear(&b->read.detected);
    free(b->components.component);
    free(b->components.gaussian);
    free(b->components.composite);
    free(b->components.source_of_pixel);
    free(b);
}
