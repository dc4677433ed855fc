/* How islands become components. A batch of islands (components_batch_first) is worked through in
 * loops over its islands, by all threads:
 *
 * 1. find_margin: with a fit, the runs of the margin around each island. read_pixels then reads
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
 * batches and threads change no bit. Results of an island are in an arena that one share of the
 * islands uses.
 *
 * Cost: a batch has at most 16384 islands and 2^21 pixels, boxes with margins counted, unless one
 * island has more. */
#include "measure/components.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/component_pixels.h"
#include "measure/flux_check.h"
#include "measure/grouped.h"

enum {
    ISLANDS_A_SHARE = 32,  /* that a thread takes at a time */
    BATCH_ISLANDS = 16384, /* most islands of a batch */
    BATCH_PIXELS = 1 << 21 /* most pixels of a batch, with margins; one island may have more */
};

/* The first of an island's pixels, jobs and components, in the arrays of the batch. */
struct firsts {
    int64_t inside, margin; /* in run_pixels */
    int64_t job, pixel;     /* of the fit */
    int64_t component, gaussian, composite;
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
    struct firsts first;
};

/* The jobs of the islands that are due. */
struct batch_jobs {
    struct fit_job *job;
    struct fit_pixel *pixels;
    int64_t n, n_large, n_pixels; /* n_large: jobs of islands with several */
};

/* Pixels of the islands, then those of the margins. */
struct batch_pixels {
    int64_t n_inside; /* pixels of the islands */
    struct run_pixels measured;
    struct run_pixels detected; /* the same, where islands were found in other pixels */
};

struct batch {
    bool (*work)(struct batch *batch, struct item *item, int64_t island); /* of for_each_island */
    const struct component_setting *setting;
    const struct segments *segments;
    struct threads *threads;
    int64_t first, n; /* islands */
    struct item *items;
    struct arena *arenas; /* of each share of the islands */
    struct batch_pixels read;
    struct batch_jobs jobs;
    struct components *components;
    /* Of the loop that failed; SRCFIND_OK after a failure: memory ran out. */
    enum srcfind_status status;
    const char *doing; /* for error_memory */
    struct error *error;
};

/* --- loops over islands --- */

static enum srcfind_status work_on_share(void *context, int share, struct error *error) {
    struct batch *b = context;
    const int64_t first = (int64_t)share * ISLANDS_A_SHARE;
    const int64_t end = first + ISLANDS_A_SHARE < b->n ? first + ISLANDS_A_SHARE : b->n;
    for (int64_t i = first; i < end; i++)
        if (!b->work(b, &b->items[i], b->first + i))
            return error_memory(error, b->doing);
    return SRCFIND_OK;
}

/* The arena of an island; one share of the islands uses it. */
static struct arena *arena_of(const struct batch *b, const struct item *item) {
    return &b->arenas[(item - b->items) / ISLANDS_A_SHARE];
}

static int count_shares(const struct batch *b) {
    return (int)((b->n + ISLANDS_A_SHARE - 1) / ISLANDS_A_SHARE);
}

/* Calls `work` for all islands of the batch. */
static bool for_each_island(struct batch *b, bool (*work)(struct batch *, struct item *, int64_t)) {
    b->work = work;
    b->status = threads_try(b->threads, count_shares(b), work_on_share, b, b->error);
    return b->status == SRCFIND_OK;
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

static bool find_margin(struct batch *b, struct item *item, int64_t island) {
    const struct segments *s = b->segments;
    const struct component_setting *d = b->setting;
    const struct pixel_source *source = d->measure->source;
    item->frame = frame_at(d, &s->islands[island]);
    return margin_find(s->runs + s->first_run[island],
                       s->first_run[island + 1] - s->first_run[island],
                       margin_of(&item->frame, &s->islands[island]), source->width, source->height,
                       arena_of(b, item), &item->margin);
}

/* Makes the sets of runs of islands and margins, and sets where their pixels begin. Returns the
 * number of pixels. */
static int64_t make_sets(struct batch *b, struct run_set *sets) {
    const struct segments *s = b->segments;
    int64_t n_pixels = 0;
    for (int64_t i = 0; i < b->n; i++) {
        const int64_t island = b->first + i, first_run = s->first_run[island];
        b->items[i].first.inside = n_pixels;
        sets[i] =
            (struct run_set){s->runs + first_run, s->first_run[island + 1] - first_run, n_pixels};
        n_pixels += s->islands[island].n_pixels;
    }
    b->read.n_inside = n_pixels;
    for (int64_t i = 0; i < b->n; i++) {
        b->items[i].first.margin = n_pixels;
        sets[b->n + i] =
            (struct run_set){b->items[i].margin.runs, b->items[i].margin.n_runs, n_pixels};
        n_pixels += b->items[i].margin.n_pixels;
    }
    return n_pixels;
}

static bool has_two_images(const struct batch *b) {
    return b->setting->detect != b->setting->measure;
}

/* Reads the pixels of the batch. False on an error. */
static bool read_pixels(struct batch *b) {
    struct run_set *sets = malloc(2 * (size_t)b->n * sizeof *sets);
    if (!sets)
        return false;
    const int64_t n_pixels = make_sets(b, sets);
    b->status = run_pixels_read(b->setting->measure, sets, 2 * b->n, n_pixels, b->threads,
                                &b->read.measured, b->error);
    if (b->status == SRCFIND_OK && has_two_images(b))
        b->status = run_pixels_read(b->setting->detect, sets, 2 * b->n, n_pixels, b->threads,
                                    &b->read.detected, b->error);
    free(sets);
    return b->status == SRCFIND_OK;
}

/* The pixels of the detection image. */
static const struct run_pixels *detected_pixels(const struct batch *b) {
    return has_two_images(b) ? &b->read.detected : &b->read.measured;
}

/* The pixels of an island among the pixels of its batch. */
static struct island_pixels pixels_of(const struct item *item, const struct run_pixels *read) {
    struct island_pixels pixels = item->pixels;
    pixels.value = read->value + item->first.inside;
    pixels.background = read->background + item->first.inside;
    pixels.rms = read->rms + item->first.inside;
    return pixels;
}

/* --- dividing --- */

static bool divide_island(struct batch *b, struct item *item, int64_t island) {
    const struct segments *s = b->segments;
    const struct component_setting *d = b->setting;
    struct island_pixels *p = &item->pixels;
    const size_t n = (size_t)s->islands[island].n_pixels;
    struct arena *arena = arena_of(b, item);
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
static bool start_fit(struct batch *b, struct item *item, const struct deblended *start) {
    const struct margin_pixels margin = {&item->margin, &b->read.measured, detected_pixels(b),
                                         item->first.margin};
    item->is_due = true;
    return island_fit_make(&item->fit, &item->pixels, start, &margin, b->setting->detection->island,
                           arena_of(b, item));
}

static bool make_first_fit(struct batch *b, struct item *item, int64_t island) {
    (void)island;
    return start_fit(b, item, &item->deblended);
}

/* Makes the second fit of an island whose first fit made flux out of nothing. */
static bool make_second_fit(struct batch *b, struct item *item, int64_t island) {
    double widest;
    (void)island;
    if (!item->is_due)
        return true;
    item->is_second = true;
    if (!flux_check_add_peaks(&item->fit, &item->frame, arena_of(b, item), &item->more, &widest) ||
        !start_fit(b, item, &item->more))
        return false;
    item->fit.widest = widest;
    return true;
}

static bool make_jobs(struct batch *b, struct item *item, int64_t island) {
    (void)island;
    if (item->is_due)
        island_fit_make_jobs(&item->fit, &item->frame, item->first.pixel, b->jobs.pixels,
                             b->jobs.job + item->first.job);
    return true;
}

/* Whether the image may cut an island off, so that its Gaussians have flux outside of the pixels:
 * it is at the edge, or more than a tenth of its margin is blank. */
static bool is_cut(const struct batch *b, const struct item *item, int64_t island) {
    const struct island *whole = &b->segments->islands[island];
    const struct pixel_source *image = b->setting->measure->source;
    const int64_t n = item->margin.n_pixels;
    int64_t n_blank = 0;
    for (int64_t i = 0; whole->edge && i < n; i++)
        n_blank += !isfinite(b->read.measured.value[item->first.margin + i]);
    const bool at_edge = whole->x_min == 0 || whole->y_min == 0 ||
                         whole->x_max == image->width - 1 || whole->y_max == image->height - 1;
    return at_edge || 10 * n_blank > n;
}

/* Takes the results of an island. If its Gaussians do not describe it, it stays due; after the
 * second fit its sources are then not fitted. */
static bool finish_fit(struct batch *b, struct item *item, int64_t island) {
    const struct component_setting *d = b->setting;
    const struct flux_check check = {d->detection->threshold, d->detection->island, d->correlated};
    const double rms = item->pixels.rms[item->deblended.peak[0]];
    const struct group_rule rule = {d->group_tolerance,
                                    d->group_tolerance * d->detection->island * rms};
    struct fit_job *jobs = b->jobs.job + item->first.job;
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
    return island_fit_finish(&item->fit, &item->frame, jobs, arena_of(b, item), &item->fitted) &&
           grouped_sources_make(&item->fit, &item->frame, d->noise, jobs, &item->fitted, &rule,
                                arena_of(b, item), &item->grouped);
}

/* Gives each island that is due its jobs. Jobs of islands with several parts come first. */
static bool allocate_jobs(struct batch *b) {
    int64_t at = 0;
    free(b->jobs.job);
    free(b->jobs.pixels);
    b->jobs.n_pixels = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < b->n; i++) {
            struct item *item = &b->items[i];
            if (!item->is_due || (item->fit.parts.n > 1) != (pass == 0))
                continue;
            item->first.job = at;
            item->first.pixel = b->jobs.n_pixels;
            at += item->fit.parts.n;
            b->jobs.n_pixels += item->fit.n_pixels;
        }
        b->jobs.n_large = pass == 0 ? at : b->jobs.n_large;
    }
    b->jobs.n = at;
    b->jobs.job = arrays_allocate(b->jobs.n, sizeof *b->jobs.job);
    b->jobs.pixels = arrays_allocate(b->jobs.n_pixels, sizeof *b->jobs.pixels);
    return b->jobs.job && b->jobs.pixels;
}

/* Fits the islands that are due: islands with several parts, and then all others at once. False on
 * an error. */
static bool run_jobs(struct batch *b) {
    const struct fitter *f = b->setting->fitter;
    struct grouped_island *grouped = malloc((size_t)b->n * sizeof *grouped + 1);
    int64_t n = 0;
    for (int64_t i = 0; grouped && i < b->n; i++)
        if (b->items[i].is_due && b->items[i].fit.parts.n > 1)
            grouped[n++] =
                (struct grouped_island){&b->items[i].fit, b->jobs.job + b->items[i].first.job};
    if (!grouped)
        return false;
    if (n > 0)
        b->status = sweeps_run(grouped, n, b->jobs.pixels, f, b->threads, b->error);
    if (b->status == SRCFIND_OK)
        b->status = f->fit(f->context, b->jobs.pixels, b->jobs.job + b->jobs.n_large,
                           b->jobs.n - b->jobs.n_large, b->threads, b->error);
    free(grouped);
    return b->status == SRCFIND_OK;
}

/* Fits the islands that are due, if any. False on an error. */
static bool fit_due(struct batch *b) {
    bool is_any = false;
    for (int64_t i = 0; i < b->n; i++)
        is_any = is_any || b->items[i].is_due;
    return !is_any || (allocate_jobs(b) && for_each_island(b, make_jobs) && run_jobs(b) &&
                       for_each_island(b, finish_fit));
}

/* False on an error. */
static bool fit_islands(struct batch *b) {
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

static struct sources sources_of(const struct batch *b, const struct item *item) {
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
static void add_fit(const struct batch *b, const struct item *item, int64_t k, int64_t index,
                    struct next_fits *next) {
    static const struct fit_errors no_errors = {0};
    const struct grouped_source *source = &item->grouped.source[k];
    struct component *c = &b->components->component[index];
    c->residual_rms = item->fitted.residual_rms;
    c->first_gaussian = next->gaussian;
    for (int64_t i = 0; i < source->n; i++) {
        const struct fitted_source *f =
            &item->fitted.source[item->grouped.members[source->first + i]];
        c->pix_snr = i == 0 ? f->pix_snr : fmax(c->pix_snr, f->pix_snr);
        if (!f->is_fitted)
            return;
        b->components->gaussian[next->gaussian++] =
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
    struct composite *composite = &b->components->composite[next->composite++];
    *composite = *source->composite;
    c->composite = composite;
}

static void keep_sources(struct batch *b, const struct item *item, const int32_t *source_of) {
    int32_t *kept = b->components->source_of_pixel + item->first.inside;
    for (int64_t i = 0; i < item->pixels.n; i++)
        kept[i] = (int32_t)item->first.component + source_of[i];
}

static bool make_components(struct batch *b, struct item *item, int64_t island) {
    const struct sources sources = sources_of(b, item);
    struct island *whole = &b->segments->islands[island];
    struct component *components = b->components->component + item->first.component;
    struct next_fits next = {item->first.gaussian, item->first.composite};
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
            add_fit(b, item, k, item->first.component + k, &next);
    }
    if (sources.n == 1)
        components[0].pixels = *whole;
    else
        component_pixels_measure(&item->pixels, &item->detected, sources.source_of, sources.n,
                                 components);
    if (b->components->source_of_pixel)
        keep_sources(b, item, sources.source_of);
    return true;
}

/* Counts the Gaussians and composites of an island. */
static void count_fits(struct item *item, struct components *all) {
    item->first.gaussian = all->n_gaussians;
    item->first.composite = all->n_composites;
    for (int64_t k = 0; k < item->fitted.n; k++)
        all->n_gaussians += item->fitted.source[k].is_fitted;
    for (int64_t k = 0; k < item->grouped.n; k++) {
        const struct grouped_source *source = &item->grouped.source[k];
        all->n_composites += source->composite != NULL;
        all->n_of_composites += source->composite ? source->n : 0;
    }
}

static bool allocate_components(struct batch *b) {
    struct components *all = b->components;
    for (int64_t i = 0; i < b->n; i++) {
        b->items[i].first.component = all->n;
        all->n += sources_of(b, &b->items[i]).n;
        count_fits(&b->items[i], all);
    }
    all->component = arrays_allocate(all->n, sizeof *all->component);
    all->gaussian = arrays_allocate(all->n_gaussians, sizeof *all->gaussian);
    all->composite = arrays_allocate(all->n_composites, sizeof *all->composite);
    if (b->setting->keeps_sources)
        all->source_of_pixel = malloc((size_t)b->read.n_inside * sizeof *all->source_of_pixel + 1);
    return all->component && all->gaussian && all->composite &&
           (all->source_of_pixel || !b->setting->keeps_sources);
}

/* --- batches --- */

static void clear_share(void *context, int share) {
    const struct batch *b = context;
    arena_clear(&b->arenas[share]);
}

static void clear_batch(struct batch *b) {
    if (b->arenas)
        threads_run(b->threads, count_shares(b), clear_share, b);
    free(b->arenas);
    free(b->items);
    free(b->jobs.job);
    free(b->jobs.pixels);
    run_pixels_clear(&b->read.measured);
    run_pixels_clear(&b->read.detected);
}

/* A bound of the pixels for which an island needs memory: its pixels or, with a fit, its box with
 * the margin. */
static double count_pixels(const struct component_setting *d, const struct island *island) {
    if (!d->fitter)
        return (double)island->n_pixels;
    const struct fit_frame frame = frame_at(d, island);
    return count_in_box(island, margin_of(&frame, island));
}

int64_t components_batch_first(const struct component_setting *setting,
                               const struct segments *segments, int64_t end) {
    int64_t first = end - 1;
    double n = count_pixels(setting, &segments->islands[first]);
    for (; first > 0 && end - first < BATCH_ISLANDS; first--) {
        n += count_pixels(setting, &segments->islands[first - 1]);
        if (n > BATCH_PIXELS)
            break;
    }
    return first;
}

enum srcfind_status components_find(const struct component_setting *setting,
                                    const struct segments *segments, int64_t first, int64_t end,
                                    struct threads *threads, struct components *components,
                                    struct error *error) {
    struct batch b = {.setting = setting,
                      .segments = segments,
                      .threads = threads,
                      .first = first,
                      .n = end - first,
                      .components = components,
                      .items = calloc((size_t)(end - first), sizeof *b.items),
                      .doing = "dividing islands",
                      .error = error};
    *components = (struct components){0};
    arrays_use_huge_pages(b.items, (size_t)b.n * sizeof *b.items);
    b.arenas = calloc((size_t)count_shares(&b), sizeof *b.arenas);
    const bool ok = b.items && b.arenas && (!setting->fitter || for_each_island(&b, find_margin)) &&
                    read_pixels(&b) && for_each_island(&b, divide_island) &&
                    (!setting->fitter || fit_islands(&b)) && allocate_components(&b) &&
                    for_each_island(&b, make_components);
    clear_batch(&b);
    return ok || b.status != SRCFIND_OK ? b.status : error_memory(error, b.doing);
}

void components_clear(struct components *components) {
    free(components->component);
    free(components->gaussian);
    free(components->composite);
    free(components->source_of_pixel);
    *components = (struct components){0};
}
