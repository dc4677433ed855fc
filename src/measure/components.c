#include "measure/components.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "backend/moments.h"

enum {
    ISLANDS_A_PART = 32,   /* that a thread takes at a time */
    BATCH_ISLANDS = 16384, /* most islands of a batch, */
    BATCH_PIXELS = 1 << 21 /* and their pixels, with margins, unless one island has more */
};

/* An island of the batch. */
struct item {
    struct island_pixels pixels;
    struct deblended deblended;
    struct island_fit fit;
    struct fitted_sources fitted;
    int64_t first_job, first_pixel, first_component;
};

struct batch {
    const struct dividing *dividing;
    const struct segments *segments;
    int64_t first, n; /* islands */
    struct item *items;
    struct margin *margins; /* of the items, while they are read */
    struct fit_job *jobs;
    struct fit_pixel *pixels;
    int64_t n_jobs, n_large, n_pixels; /* n_large: jobs of islands with several */
    struct component *components;
    int32_t *owner; /* of the pixels of the batch; NULL if it is not kept */
    atomic_bool no_memory;
};

/* --- loops over islands --- */

struct loop {
    struct batch *batch;
    bool (*work)(struct batch *batch, struct item *item, int64_t island);
};

static void loop_part(void *context, int part) {
    const struct loop *l = context;
    struct batch *b = l->batch;
    const int64_t first = (int64_t)part * ISLANDS_A_PART;
    const int64_t end = first + ISLANDS_A_PART < b->n ? first + ISLANDS_A_PART : b->n;
    for (int64_t i = first; i < end && !b->no_memory; i++)
        if (!l->work(b, &b->items[i], b->first + i))
            b->no_memory = true;
}

/* Calls `work` for all islands of the batch. False where memory ran out. */
static bool for_each_island(struct batch *b, struct threads *threads,
                            bool (*work)(struct batch *, struct item *, int64_t)) {
    struct loop loop = {b, work};
    threads_run(threads, (int)((b->n + ISLANDS_A_PART - 1) / ISLANDS_A_PART), loop_part, &loop);
    return !b->no_memory;
}

/* --- dividing --- */

static bool allocate_pixels(struct island_pixels *p, int64_t n) {
    p->x = malloc((size_t)n * sizeof *p->x);
    p->y = malloc((size_t)n * sizeof *p->y);
    p->above = malloc((size_t)n * sizeof *p->above);
    p->rms = malloc((size_t)n * sizeof *p->rms);
    return p->x && p->y && p->above && p->rms;
}

static void clear_pixels(struct island_pixels *p) {
    free(p->x);
    free(p->y);
    free(p->above);
    free(p->rms);
    *p = (struct island_pixels){0};
}

static void add_run(const struct noise_map *map, const struct run *run, const float *values,
                    const struct noise_given *given, struct island_pixels *p) {
    struct noise_at noise[NOISE_RANGE];
    for (int64_t x = run->x0; x <= run->x1; x += NOISE_RANGE) {
        const int64_t n = run->x1 - x < NOISE_RANGE ? run->x1 - x + 1 : NOISE_RANGE,
                      at = x - run->x0;
        noise_row(map, run->y, x, n, given ? given + at : NULL, noise);
        for (int64_t i = 0; i < n; i++, p->n++) {
            p->x[p->n] = (int32_t)(x + i);
            p->y[p->n] = run->y;
            p->above[p->n] = (double)values[at + i] - noise[i].background;
            p->rms[p->n] = noise[i].rms;
        }
    }
}

static bool divide_island(struct batch *b, struct item *item, int64_t island) {
    const struct segments *s = b->segments;
    const struct dividing *d = b->dividing;
    int64_t at = s->first_value[island];
    if (!allocate_pixels(&item->pixels, s->first_value[island + 1] - at))
        return false;
    for (int64_t i = s->first_run[island]; i < s->first_run[island + 1]; i++) {
        add_run(d->noise, &s->runs[i], s->values + at, s->given ? s->given + at : NULL,
                &item->pixels);
        at += (int64_t)s->runs[i].x1 - s->runs[i].x0 + 1;
    }
    return deblend(&item->pixels, d->detection->threshold, d->contrast, &item->deblended);
}

/* --- fitting --- */

static bool find_margin(struct batch *b, struct item *item, int64_t island) {
    const struct segments *s = b->segments;
    const struct pixel_source *source = b->dividing->source;
    return margin_find(s->runs + s->first_run[island],
                       s->first_run[island + 1] - s->first_run[island], b->dividing->margin,
                       source->width, source->height, &b->margins[item - b->items]);
}

static bool make_fit(struct batch *b, struct item *item, int64_t island) {
    (void)island;
    struct margin *margin = &b->margins[item - b->items];
    const bool ok = island_fit_make(&item->fit, &item->pixels, &item->deblended, margin,
                                    b->dividing->noise, b->dividing->detection->island);
    margin_clear(margin); /* the fit has its pixels */
    return ok;
}

static bool make_jobs(struct batch *b, struct item *item, int64_t island) {
    (void)island;
    island_fit_make_jobs(&item->fit, &b->dividing->frame, item->first_pixel, b->pixels,
                         b->jobs + item->first_job);
    return true;
}

static bool finish_fit(struct batch *b, struct item *item, int64_t island) {
    (void)island;
    return island_fit_finish(&item->fit, &b->dividing->frame, b->jobs + item->first_job,
                             &item->fitted);
}

/* Gives each island its jobs; those of islands with several come first. False where memory ran out.
 */
static bool allocate_jobs(struct batch *b) {
    int64_t at = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < b->n; i++) {
            struct item *item = &b->items[i];
            if ((item->fit.n_parts > 1) != (pass == 0))
                continue;
            item->first_job = at;
            item->first_pixel = b->n_pixels;
            at += item->fit.n_parts;
            b->n_pixels += item->fit.n_pixels;
        }
        b->n_large = pass == 0 ? at : b->n_large;
    }
    b->n_jobs = at;
    b->jobs = malloc((size_t)b->n_jobs * sizeof *b->jobs + 1);
    b->pixels = malloc((size_t)b->n_pixels * sizeof *b->pixels + 1);
    return b->jobs && b->pixels;
}

/* Fits the islands of several groups, and then the others at once. */
static enum srcfind_status run_jobs(struct batch *b, struct threads *threads, struct error *error) {
    const struct fitter *f = b->dividing->fitter;
    struct grouped_island *grouped = malloc((size_t)b->n * sizeof *grouped + 1);
    int64_t n = 0;
    for (int64_t i = 0; grouped && i < b->n; i++)
        if (b->items[i].fit.n_parts > 1)
            grouped[n++] =
                (struct grouped_island){&b->items[i].fit, b->jobs + b->items[i].first_job};
    enum srcfind_status status = grouped ? SRCFIND_OK : error_memory(error, "fitting sources");
    if (status == SRCFIND_OK && n > 0)
        status = sweeps_run(grouped, n, &b->dividing->frame, b->pixels, f, threads, error);
    if (status == SRCFIND_OK)
        status = f->fit(f->context, &b->dividing->frame, b->pixels, b->jobs + b->n_large,
                        b->n_jobs - b->n_large, threads, error);
    free(grouped);
    return status;
}

static enum srcfind_status fit_islands(struct batch *b, struct threads *threads,
                                       struct error *error) {
    const struct dividing *d = b->dividing;
    b->margins = calloc((size_t)b->n, sizeof *b->margins);
    bool ok = b->margins && for_each_island(b, threads, find_margin);
    enum srcfind_status status = SRCFIND_OK;
    if (ok)
        status = margins_read(b->margins, b->n, d->source, &d->detection->maps, threads, error);
    ok = ok && status == SRCFIND_OK && for_each_island(b, threads, make_fit) && allocate_jobs(b) &&
         for_each_island(b, threads, make_jobs);
    if (ok)
        status = run_jobs(b, threads, error);
    ok = ok && status == SRCFIND_OK && for_each_island(b, threads, finish_fit);
    return ok || status != SRCFIND_OK ? status : error_memory(error, "fitting sources");
}

/* --- components --- */

/* The sources of an island, as the fit or the division left them. */
struct sources {
    const int32_t *owner; /* of each pixel */
    int64_t n;
};

static struct sources sources_of(const struct batch *b, const struct item *item) {
    return b->dividing->fitter ? (struct sources){item->fitted.owner, item->fitted.n}
                               : (struct sources){item->deblended.owner, item->deblended.n};
}

/* Extends a source by pixel i of the island. */
static void add_extent(const struct item *item, int64_t i, float value, struct component *c) {
    const int32_t x = item->pixels.x[i], y = item->pixels.y[i];
    const double *above = item->pixels.above;
    struct island *p = &c->pixels;
    if (p->n_pixels++ == 0) {
        p->x_min = p->x_max = x;
        p->y_min = y;
    }
    p->x_min = x < p->x_min ? x : p->x_min;
    p->x_max = x > p->x_max ? x : p->x_max;
    p->y_max = y;
    if (p->n_pixels == 1 || above[i] > above[c->highest]) {
        p->peak = value;
        p->x_peak = x;
        p->y_peak = y;
        c->highest = i;
    }
}

/* Adds a pixel's value - background to the moments. */
static void add_moments(const struct item *item, int64_t i, struct component *c) {
    struct island *p = &c->pixels;
    const double above = item->pixels.above[i], per_unit = ldexp(1, -p->unit);
    const int64_t x = (int64_t)item->pixels.x[i] - p->x_min, y = item->pixels.y[i] - p->y_min;
    if (p->small)
        moments_add_small_local_row(p, &above, 1, x, y, per_unit);
    else
        moments_add_local_row(p, &above, 1, x, y, per_unit);
}

/* The noise at pixel i of an island. */
static struct noise_at noise_of_pixel(const struct batch *b, const struct item *item,
                                      int64_t island, int64_t i) {
    const struct segments *s = b->segments;
    const struct noise_given *given = s->given ? s->given + s->first_value[island] + i : NULL;
    struct noise_at noise;
    noise_row(b->dividing->noise, item->pixels.y[i], item->pixels.x[i], 1, given, &noise);
    return noise;
}

/* Measures the pixels of the sources of an island that has several. */
static void measure_pixels(const struct batch *b, const struct item *item, int64_t island,
                           const struct sources *sources, struct component *components) {
    const float *values = b->segments->values + b->segments->first_value[island];
    for (int64_t i = 0; i < item->pixels.n; i++)
        add_extent(item, i, values[i], &components[sources->owner[i]]);
    for (int64_t k = 0; k < sources->n; k++) {
        struct component *c = &components[k];
        if (c->pixels.n_pixels == 0)
            continue;
        c->noise = noise_of_pixel(b, item, island, c->highest);
        c->pixels.unit = moments_local_unit(&c->pixels, item->pixels.above[c->highest]);
        c->pixels.small = moments_are_small_locally(&c->pixels);
    }
    for (int64_t i = 0; i < item->pixels.n; i++)
        add_moments(item, i, &components[sources->owner[i]]);
}

static void add_fit(const struct item *item, int64_t k, struct component *c) {
    const struct fitted_source *source = &item->fitted.source[k];
    c->residual_rms = item->fitted.residual_rms;
    c->is_fitted = source->is_fitted;
    c->has_beam_shape = source->has_beam_shape;
    c->gaussian = source->gaussian;
}

static void keep_owners(struct batch *b, const struct item *item, int64_t island,
                        const int32_t *owner) {
    const int64_t *first = b->segments->first_value;
    int32_t *kept = b->owner + (first[island] - first[b->first]);
    for (int64_t i = 0; i < item->pixels.n; i++)
        kept[i] = (int32_t)item->first_component + owner[i];
}

static bool make_components(struct batch *b, struct item *item, int64_t island) {
    const struct sources sources = sources_of(b, item);
    const struct island *whole = &b->segments->islands[island];
    struct component *components = b->components + item->first_component;
    const int64_t highest = item->deblended.peak[0];
    const struct noise_at noise = noise_of_pixel(b, item, island, highest);
    for (int64_t k = 0; k < sources.n; k++) {
        components[k] = (struct component){.island = island,
                                           .highest = highest,
                                           .noise = noise,
                                           .is_alone = sources.n == 1,
                                           .residual_rms = NAN};
        components[k].pixels.edge = whole->edge;
        if (b->dividing->fitter)
            add_fit(item, k, &components[k]);
    }
    if (sources.n == 1)
        components[0].pixels = *whole;
    else
        measure_pixels(b, item, island, &sources, components);
    if (b->owner)
        keep_owners(b, item, island, sources.owner);
    return true;
}

static bool allocate_components(struct batch *b, struct components *components) {
    for (int64_t i = 0; i < b->n; i++) {
        b->items[i].first_component = components->n;
        components->n += sources_of(b, &b->items[i]).n;
    }
    components->component = malloc((size_t)components->n * sizeof *components->component + 1);
    b->components = components->component;
    if (!b->dividing->keep_owners)
        return b->components;
    const int64_t *first = b->segments->first_value;
    const size_t n_pixels = (size_t)(first[b->first + b->n] - first[b->first]);
    components->owner = malloc(n_pixels * sizeof *components->owner + 1);
    b->owner = components->owner;
    return b->components && b->owner;
}

/* --- batches --- */

static bool clear_island(struct batch *b, struct item *item, int64_t island) {
    (void)island;
    clear_pixels(&item->pixels);
    deblended_clear(&item->deblended);
    island_fit_clear(&item->fit);
    fitted_sources_clear(&item->fitted);
    if (b->margins)
        margin_clear(&b->margins[item - b->items]);
    return true;
}

static void clear_batch(struct batch *b, struct threads *threads) {
    b->no_memory = false; /* which would end the loop */
    if (b->items)
        for_each_island(b, threads, clear_island);
    free(b->items);
    free(b->margins);
    free(b->jobs);
    free(b->pixels);
}

/* A bound of the pixels that an island needs memory for: its own or, with a fit, those of its box
 * with the margin. */
static double count_pixels(const struct dividing *d, const struct island *island) {
    if (!d->fitter)
        return (double)island->n_pixels;
    const double more = 1 + 2 * fmin(d->margin, MARGIN_MOST);
    return (island->x_max - island->x_min + more) * (island->y_max - island->y_min + more);
}

int64_t components_batch_first(const struct dividing *dividing, const struct segments *segments,
                               int64_t end) {
    int64_t first = end - 1;
    double n = count_pixels(dividing, &segments->islands[first]);
    for (; first > 0 && end - first < BATCH_ISLANDS; first--) {
        n += count_pixels(dividing, &segments->islands[first - 1]);
        if (n > BATCH_PIXELS)
            break;
    }
    return first;
}

enum srcfind_status components_find(const struct dividing *dividing,
                                    const struct segments *segments, int64_t first, int64_t end,
                                    struct threads *threads, struct components *components,
                                    struct error *error) {
    struct batch b = {.dividing = dividing,
                      .segments = segments,
                      .first = first,
                      .n = end - first,
                      .items = calloc((size_t)(end - first), sizeof *b.items)};
    *components = (struct components){0};
    bool ok = b.items && for_each_island(&b, threads, divide_island);
    enum srcfind_status status = SRCFIND_OK;
    if (ok && dividing->fitter)
        status = fit_islands(&b, threads, error);
    ok = ok && status == SRCFIND_OK && allocate_components(&b, components) &&
         for_each_island(&b, threads, make_components);
    clear_batch(&b, threads);
    return ok || status != SRCFIND_OK ? status : error_memory(error, "dividing islands");
}

void components_clear(struct components *components) {
    free(components->component);
    free(components->owner);
    *components = (struct components){0};
}
