/* How islands become components. A batch of islands (choose_batch) is worked through in loops over
 * its islands, by all threads:
 *
 * 1. begin_island: with a fit, the runs of the margin around each island. read_pixels then reads
 *    islands and margins in one pass; with --detect-on once from each image.
 * 2. divide_island: deblend divides each island at saddles; each peak is a source.
 * 3. batch_fits.c: make_first_fit, make_jobs, run_jobs. A job is made of each part of an island.
 *    Parts of islands with several are fitted in sweeps (sweeps.c), all other jobs of the batch at
 *    once, on the CPU or a device.
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
 * placed in arrays (batches_place), in the order of the islands.
 *
 * Cost: a batch has at most 8192 islands and 2^20 pixels, boxes with margins counted, unless one
 * island has more; with 16 threads twice as many, with 32 four times, since a loop ends with its
 * last island, which may be a crowded one. That is some 60, 120 and 220 MiB, which the batches of
 * an image use one after another. */
#include "measure/components.h"

#include <stdlib.h>

#include "measure/batch_fits.h"
#include "measure/beam_frame.h"
#include "measure/component_pixels.h"

enum {
    BATCH_ISLANDS = 8192,  /* most islands of a batch, x threads_batch_scale */
    BATCH_PIXELS = 1 << 20 /* most pixels, with margins, x the same; one island may have more */
};

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
    batches_place(b, INSIDE, MARGIN, count_pixels);
    if (!batches_each(b, make_sets))
        return false;
    b->status = read_from(b->setting->measure, b, &read->measured);
    if (b->status == SRCFIND_OK && has_two_images(b))
        b->status = read_from(b->setting->detect, b, &read->detected);
    return b->status == SRCFIND_OK;
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

/* Adds what the fit of a part leaves to the residual of a source, if it was not added before. */
static void add_residual(struct part_residual *part, int64_t source,
                         struct fit_residual *residual) {
    if (part->last == source)
        return;
    part->last = source;
    residual->square += part->residual.square;
    residual->freedom += part->residual.freedom;
}

/* Copies the Gaussians and the composite of source k of an island to component `index`. */
static void add_fit(const struct batches *b, const struct item *item, int64_t k, int64_t index,
                    struct next_fits *next) {
    static const struct fit_errors no_errors = {0};
    const struct grouped_source *source = &item->grouped.source[k];
    struct component *c = &b->components.component[index];
    c->residual_rms = item->fitted.residual_rms;
    c->residual_mean = item->fitted.residual_mean;
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
        add_residual(&item->fitted.of_part[f->part], k, &c->residual);
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
        kept[i] = (int32_t)(b->components.before + item->first.of[COMPONENTS] + source_of[i]);
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
                                           .residual_mean = NAN,
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
    batches_place(b, COMPONENTS, OF_COMPOSITES, count_components);
    all->before += all->n;
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

/* Chooses the islands of the batch that begins with island `first`. */
static void choose_batch(struct batches *b, int64_t first) {
    const struct segments *s = b->segments;
    const int64_t left = s->n - first, most = left < b->most_islands ? left : b->most_islands;
    const double room = (double)BATCH_PIXELS * threads_batch_scale(b->threads);
    double n = most_pixels(b->setting, &s->islands[first]);
    b->first = first;
    for (b->n = 1; b->n < most; b->n++) {
        n += most_pixels(b->setting, &s->islands[first + b->n]);
        if (n > room)
            break;
    }
}

struct batches *components_begin(const struct component_setting *setting,
                                 const struct segments *segments, struct threads *threads) {
    const int64_t room = (int64_t)BATCH_ISLANDS * threads_batch_scale(threads);
    const int64_t most = segments->n < room ? segments->n : room;
    struct batches *b = calloc(1, sizeof *b);
    if (!b || !arena_pool_make(&b->pool)) {
        free(b);
        return NULL;
    }
    b->most_islands = most;
    b->setting = setting;
    b->segments = segments;
    b->threads = threads;
    b->items = arrays_allocate(most, sizeof *b->items);
    b->shares = arrays_allocate(batches_shares(most), sizeof *b->shares);
    b->arenas = aligned_alloc(alignof(struct thread_arena),
                              (size_t)threads_count(threads) * sizeof *b->arenas);
    if (!b->items || !b->shares || !b->arenas) {
        components_end(b);
        return NULL;
    }
    for (int i = 0; i < threads_count(threads); i++)
        b->arenas[i] = (struct thread_arena){{.pool = &b->pool}, false};
    return b;
}

enum srcfind_status components_find(struct batches *b, int64_t *next,
                                    const struct components **components, struct error *error) {
    const bool is_fitted = b->setting->fitter;
    choose_batch(b, *next);
    b->doing = "dividing islands";
    b->error = error;
    b->status = SRCFIND_OK;
    const bool ok = batches_each(b, begin_island) && read_pixels(b) &&
                    batches_each(b, divide_island) && (!is_fitted || batch_fits_run(b)) &&
                    allocate_components(b) && batches_each(b, make_components);
    for (int i = 0; i < threads_count(b->threads); i++)
        arena_clear(&b->arenas[i].arena);
    *components = &b->components;
    *next = b->first + b->n;
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
