/* How an island goes to the fit and back.
 *
 * 1. island_fit_make: pixels of the island, then of its margin without blanks and without other
 *    islands, relative to the highest pixel and in units of the rms there. fit_parts.c divides
 *    sources and pixels into parts.
 * 2. island_fit_make_jobs: a job (backend/fit.h) for each part, which starts with the beam's shape
 *    at each peak. Widths are bounded by the box of its pixels.
 * 3. The fits of several parts see each other through `others`: island_fit_add_to_others adds the
 *    model of a part to the pixels of all other parts, island_fit_set_pixels subtracts it
 *    (sweeps.c).
 * 4. island_fit_finish: components become Gaussians in pixels and the map's unit. A source of the
 *    division without a component stays as its pixels, unless Gaussians of others hold its flux.
 *    Each pixel goes to the source whose Gaussian is highest there; sources are sorted by peak.
 *
 * Always: a row that was not fitted keeps its pixels. `others` of a pixel has the models of all
 * parts but its own, added and subtracted in a fixed order.
 *
 * Cost: 48 bytes a pixel of island and margin; a Gaussian is evaluated only where it reaches, to 6
 * sigma. */
#include "measure/island_fit.h"

#include <stdlib.h>

/* --- pixels --- */

static void add_island_pixels(struct island_fit *f) {
    const struct island_pixels *island = f->island;
    for (int64_t i = 0; i < island->n; i++)
        f->pixels[f->n_pixels++] = (struct fit_pixel){island_above(island, i) / f->rms,
                                                      island->x[i] - f->x, island->y[i] - f->y};
    f->n_inside = f->n_pixels;
}

/* Whether a pixel is above `threshold` x its rms, and so belongs to an island. */
static bool is_exceeded(const struct run_pixels *pixels, int64_t at, double threshold) {
    const struct noise_at noise = {pixels->background[at], pixels->rms[at]};
    return noise_is_exceeded(noise, threshold, pixels->value[at]);
}

static void add_margin_pixels(struct island_fit *f, const struct margin_pixels *m,
                              double threshold) {
    int64_t at = m->first;
    for (int64_t i = 0; i < m->margin->n_runs; i++) {
        const struct run *run = &m->margin->runs[i];
        for (int64_t x = run->x0; x <= run->x1; x++, at++) {
            const double above = (double)m->measured->value[at] - m->measured->background[at];
            if (isfinite(above) && !is_exceeded(m->detected, at, threshold))
                f->pixels[f->n_pixels++] =
                    (struct fit_pixel){above / f->rms, (int32_t)(x - f->x), run->y - f->y};
        }
    }
}

static bool allocate(struct island_fit *f, int64_t n_pixels, int64_t n_sources,
                     struct arena *arena) {
    f->pixels = arena_take(arena, (size_t)n_pixels, sizeof *f->pixels);
    f->parts.order = arena_take(arena, (size_t)n_pixels, sizeof *f->parts.order);
    f->parts.part_of = arena_take(arena, (size_t)n_pixels, sizeof *f->parts.part_of);
    f->parts.sources = arena_take(arena, (size_t)n_sources, sizeof *f->parts.sources);
    f->parts.part = arena_take(arena, (size_t)n_sources, sizeof *f->parts.part);
    return f->pixels && f->parts.order && f->parts.part_of && f->parts.sources && f->parts.part;
}

bool island_fit_make(struct island_fit *fit, const struct island_pixels *island,
                     const struct deblended *deblended, const struct margin_pixels *margin,
                     double threshold, struct arena *arena) {
    const int32_t highest = deblended->peak[0];
    *fit = (struct island_fit){.island = island,
                               .deblended = deblended,
                               .x = island->x[highest],
                               .y = island->y[highest],
                               .rms = island->rms[highest],
                               .widest = INFINITY};
    const int64_t n = island->n + margin->margin->n_pixels;
    if (n > INT32_MAX || !allocate(fit, n, deblended->n, arena))
        return false;
    add_island_pixels(fit);
    add_margin_pixels(fit, margin, threshold);
    return fit_parts_make(fit, arena);
}

/* --- jobs --- */

/* The bound of the widths, from the longer diagonal of the box of a job's pixels. */
static double widest_of(const struct fit_frame *frame, const struct fit_pixel *pixels, int64_t n) {
    int32_t low_x = INT32_MAX, high_x = INT32_MIN, low_y = INT32_MAX, high_y = INT32_MIN;
    for (int64_t i = 0; i < n; i++) {
        low_x = pixels[i].x < low_x ? pixels[i].x : low_x;
        high_x = pixels[i].x > high_x ? pixels[i].x : high_x;
        low_y = pixels[i].y < low_y ? pixels[i].y : low_y;
        high_y = pixels[i].y > high_y ? pixels[i].y : high_y;
    }
    if (n == 0)
        return 1;
    const double width = (double)high_x - low_x, height = (double)high_y - low_y;
    return fit_widest(frame->ux * width + fabs(frame->uy) * height, frame->vy * height);
}

/* The start: a component of the beam's shape at each peak. */
static void start_set(const struct island_fit *f, const struct fit_frame *frame,
                      const struct fit_part *part, struct fit_set *set) {
    set->n = (int32_t)part->n_sources;
    for (int32_t i = 0; i < set->n; i++) {
        const int32_t pixel = f->deblended->peak[f->parts.sources[part->first_source + i]];
        const struct fit_pixel *p = &f->pixels[pixel];
        const double c[FIT_PARAMETERS] = {
            p->value, frame->ux * p->x + frame->uy * p->y, frame->vy * p->y, 1, 0, 1};
        memcpy(set->value[i], c, sizeof c);
        set->is_free[i] = frame->shapes != FIT_SHAPES_BEAM;
        set->source[i] = i;
    }
}

void island_fit_make_jobs(const struct island_fit *fit, const struct fit_frame *frame,
                          int64_t first, struct fit_pixel *pixels, struct fit_job *jobs) {
    for (int64_t k = 0; k < fit->parts.n; k++) {
        const struct fit_part *part = &fit->parts.part[k];
        struct fit_job *job = &jobs[k];
        *job = (struct fit_job){.frame = *frame,
                                .first = first + part->first_pixel,
                                .limits = fit_parts_effort(fit).limits,
                                .only_free = fit->parts.n > 1};
        for (int64_t i = 0; i < part->n_pixels; i++) {
            const int32_t pixel = fit->parts.order[part->first_pixel + i];
            pixels[job->first + i] = fit->pixels[pixel];
            job->n_inside += pixel < fit->n_inside;
        }
        job->n_pixels = part->n_pixels <= FIT_MOST_PIXELS ? (int32_t)part->n_pixels : 0;
        job->widest = fmin(widest_of(frame, pixels + job->first, job->n_pixels), fit->widest);
        start_set(fit, frame, part, &job->set);
    }
}

/* --- components over pixels --- */

/* The first of n pixels, in the order of the image, that is at (x, y) or later. */
static int64_t first_from(const struct fit_pixel *pixels, int64_t n, int64_t y, double x) {
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const struct fit_pixel *p = &pixels[middle];
        if (p->y < y || (p->y == y && p->x < x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void island_fit_for_each_pixel(const struct gaussian *g, const struct fit_pixel *pixels, int64_t n,
                               void (*add)(void *context, int64_t i, double value), void *context) {
    const double height = gaussian_height(g);
    if (n == 0)
        return;
    const double low = fmax(ceil(g->y - height), pixels[0].y);
    const double high = fmin(floor(g->y + height), pixels[n - 1].y);
    if (!(low <= high))
        return;
    for (int64_t y = (int64_t)low; y <= (int64_t)high; y++) {
        const struct gaussian_span span = gaussian_span_at(g, (double)y);
        for (int64_t i = first_from(pixels, n, y, span.centre - span.half);
             i < n && pixels[i].y == y && pixels[i].x <= span.centre + span.half; i++)
            add(context, i, gaussian_at(g, pixels[i].x, pixels[i].y));
    }
}

/* --- groups --- */

/* The model of a component that is added to the pixels of other parts. */
struct addition {
    const int32_t *part_of;
    int64_t part; /* whose component it is */
    double sign, *others;
};

static void add_other(void *context, int64_t i, double value) {
    const struct addition *a = context;
    if (a->part_of[i] != a->part)
        a->others[i] += a->sign * value;
}

void island_fit_add_to_others(const struct island_fit *fit, int64_t k, const struct fit_job *job,
                              double sign) {
    const int64_t n_inside = fit->n_inside;
    struct addition inside = {fit->parts.part_of, k, sign, fit->others};
    struct addition margin = {fit->parts.part_of + n_inside, k, sign, fit->others + n_inside};
    for (int i = 0; i < job->set.n; i++) {
        const struct gaussian g = gaussian_of_fit(&job->frame, job->set.value[i], 1, 0, 0);
        island_fit_for_each_pixel(&g, fit->pixels, n_inside, add_other, &inside);
        island_fit_for_each_pixel(&g, fit->pixels + n_inside, fit->n_pixels - n_inside, add_other,
                                  &margin);
    }
}

/* Pixel i of part k, less the models of the other parts. */
static double without_others(const struct island_fit *fit, int64_t k, int64_t i) {
    const int32_t pixel = fit->parts.order[fit->parts.part[k].first_pixel + i];
    return fit->pixels[pixel].value - fit->others[pixel];
}

double island_fit_change(const struct island_fit *fit, int64_t k, const struct fit_job *job,
                         const struct fit_pixel *pixels) {
    double most = 0;
    for (int64_t i = 0; i < job->n_pixels; i++)
        most = fmax(most, fabs(without_others(fit, k, i) - pixels[job->first + i].value));
    return most;
}

void island_fit_set_pixels(const struct island_fit *fit, int64_t k, const struct fit_job *job,
                           struct fit_pixel *pixels) {
    for (int64_t i = 0; i < fit->parts.part[k].n_pixels; i++)
        pixels[job->first + i].value = without_others(fit, k, i);
}

/* --- results --- */

static int compare_fitted(const void *a, const void *b) {
    const struct fitted_source *left = a, *right = b;
    return left->peak != right->peak
               ? (left->peak < right->peak) - (left->peak > right->peak)
               : (left->number > right->number) - (left->number < right->number);
}

enum { NOBODY = -1 };

/* What the pixels of a source of the division have, in units of the rms. */
struct share {
    double sum, model; /* of their values, and of the model there */
    int64_t n;
};

/* The results of an island's jobs. Components are counted in the order of the parts. */
struct fit_results {
    const struct island_fit *fit;
    struct fitted_source *source; /* the rows of the result; n so far */
    int64_t n;
    struct share *share; /* of each deblended source */
    int32_t
        *of_deblended; /* the row of each deblended source; NOBODY: Gaussians of others hold it */
    int32_t *row_of;   /* of each component */
    double *model;     /* at each pixel of the fit, in units of the rms */
    double *highest;   /* the highest Gaussian at each pixel of the island, and */
    int32_t *component_of; /* its component; NOBODY: none reaches the pixel */
    int32_t now;           /* the component that is added */
};

static void add_to_model(void *context, int64_t i, double value) {
    struct fit_results *f = context;
    f->model[i] += value;
    if (value > f->highest[i]) {
        f->highest[i] = value;
        f->component_of[i] = f->now;
    }
}

static void add_to_margin(void *context, int64_t i, double value) {
    struct fit_results *f = context;
    f->model[f->fit->n_inside + i] += value;
}

/* Sets the model, the highest component at each pixel, and the shares. */
static void find_model(struct fit_results *f, const struct fit_frame *frame,
                       const struct fit_job *jobs) {
    const struct island_fit *fit = f->fit;
    for (int64_t i = 0; i < fit->n_inside; i++)
        f->component_of[i] = NOBODY;
    f->now = 0;
    for (int64_t k = 0; k < fit->parts.n; k++) {
        for (int i = 0; i < jobs[k].set.n && jobs[k].is_fitted; i++, f->now++) {
            const struct gaussian g = gaussian_of_fit(frame, jobs[k].set.value[i], 1, 0, 0);
            island_fit_for_each_pixel(&g, fit->pixels, fit->n_inside, add_to_model, f);
            island_fit_for_each_pixel(&g, fit->pixels + fit->n_inside,
                                      fit->n_pixels - fit->n_inside, add_to_margin, f);
        }
    }
    for (int64_t i = 0; i < fit->n_inside; i++) {
        struct share *const share = &f->share[fit->deblended->source_of[i]];
        share->sum += fit->pixels[i].value;
        share->model += f->model[i];
        share->n++;
    }
}

/* Whether the Gaussians of others hold a source without a component: they have half of its flux or
 * more, so that its moments would count that twice. Where another image is measured than that in
 * which the source was found, it may have no flux: then nobody holds it. */
static bool is_held(const struct share *share) {
    return share->sum > (double)share->n && 2 * share->model >= share->sum;
}

/* The second moments of the free shape of component i of a job, in a fit of all pixels alike; NaN:
 * it had none. */
static struct tensor free_moments(const struct fit_job *job, int i) {
    const struct fit_before *before = &job->before[i];
    const double form[FIT_PARAMETERS] = {1, 0, 0, before->p, before->q, before->r};
    const struct gaussian g = gaussian_of_fit(&job->frame, form, 1, 0, 0);
    return before->p > 0 ? tensor_inverse(&g.form) : (struct tensor){NAN, NAN, NAN};
}

/* Adds component i of a job. lost: the flux that its free shape had more than the beam's shape,
 * which step 4 chose. deblended: the source of the division that it comes from; -1: a fit added it.
 */
static void add_fitted(struct fit_results *f, const struct fit_frame *frame,
                       const struct fit_job *job, int64_t part, int i, int32_t deblended) {
    const struct island_fit *fit = f->fit;
    const double *const c = job->set.value[i];
    const bool is_free = job->set.is_free[i];
    const struct gaussian g = gaussian_of_fit(frame, c, fit->rms, fit->x, fit->y);
    const double *const snr = fit->deblended->snr;
    f->source[f->n] = (struct fitted_source){
        .is_fitted = true,
        .has_beam_shape = !is_free,
        .lost = is_free ? 0 : fmax(job->before[i].flux / c[FIT_PEAK] - 1, 0),
        .free = free_moments(job, i),
        .gaussian = g,
        .peak = g.peak,
        .pix_snr = deblended < 0 ? fit->deblended->island_snr : snr[deblended],
        .part = (int32_t)part,
        .in_set = i,
        .number = (int32_t)f->n};
    f->row_of[f->now++] = (int32_t)f->n++;
}

/* Adds a source without a component: its pixels. */
static void add_not_fitted(struct fit_results *f, int32_t deblended) {
    const struct island_fit *fit = f->fit;
    const double peak = island_above(fit->island, fit->deblended->peak[deblended]);
    f->of_deblended[deblended] = (int32_t)f->n;
    f->source[f->n] = (struct fitted_source){
        .peak = peak, .pix_snr = fit->deblended->snr[deblended], .number = (int32_t)f->n};
    f->n++;
}

/* Whether a job has a component of source i of its part. */
static bool has_fit(const struct fit_job *job, int64_t i) {
    for (int k = 0; job->is_fitted && k < job->set.n; k++)
        if (job->set.source[k] == i)
            return true;
    return false;
}

/* Whether source i of a part is a source of the division without a component. */
static bool is_not_fitted(const struct island_fit *fit, const struct fit_part *part,
                          const struct fit_job *job, int64_t i) {
    return island_fit_divided(fit, part, i) >= 0 && !has_fit(job, i);
}

/* Adds the components of each part, then its sources without a component that nobody holds. */
static void collect(struct fit_results *f, const struct fit_frame *frame,
                    const struct fit_job *jobs) {
    f->now = 0;
    for (int32_t i = 0; i < f->fit->deblended->n; i++)
        f->of_deblended[i] = NOBODY;
    for (int64_t k = 0; k < f->fit->parts.n; k++) {
        const struct fit_set *set = &jobs[k].set;
        const struct fit_part *part = &f->fit->parts.part[k];
        for (int i = 0; i < set->n && jobs[k].is_fitted; i++) {
            const int32_t deblended = island_fit_divided(f->fit, part, set->source[i]);
            if (deblended >= 0)
                f->of_deblended[deblended] = (int32_t)f->n;
            add_fitted(f, frame, &jobs[k], k, i, deblended);
        }
        for (int64_t i = 0; i < part->n_sources; i++) {
            const int32_t deblended = f->fit->parts.sources[part->first_source + i];
            if (is_not_fitted(f->fit, part, &jobs[k], i) && !is_held(&f->share[deblended]))
                add_not_fitted(f, deblended);
        }
    }
}

static double residual_at(const struct fit_results *f, int64_t i) {
    return f->fit->pixels[i].value - f->model[i];
}

/* Sets rms and mean of the residual over the island. */
static void set_residual(const struct fit_results *f, struct fitted_sources *result) {
    const double n = (double)f->fit->n_inside;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < f->fit->n_inside; i++) {
        const double residual = residual_at(f, i);
        sum += residual;
        squares += residual * residual;
    }
    result->residual_rms = sqrt(squares / n) * f->fit->rms;
    result->residual_mean = sum / n * f->fit->rms;
}

/* Sets what the fit leaves of the pixels of each part. */
static void set_residuals_of_parts(const struct fit_results *f, const struct fit_frame *frame,
                                   const struct noise_areas *noise, const struct fit_job *jobs,
                                   struct part_residual *of_part) {
    const struct island_fit *fit = f->fit;
    for (int64_t k = 0; k < fit->parts.n; k++) {
        const struct fit_part *part = &fit->parts.part[k];
        struct fit_residual *r = &of_part[k].residual;
        of_part[k] = (struct part_residual){{0, (double)part->n_pixels}, -1};
        for (int64_t i = part->first_pixel; i < part->first_pixel + part->n_pixels; i++) {
            const double residual = residual_at(f, fit->parts.order[i]);
            r->square += residual * residual;
        }
        for (int i = 0; i < jobs[k].set.n && jobs[k].is_fitted; i++)
            r->freedom -=
                fit_freedom_taken(jobs[k].set.value[i], jobs[k].set.is_free[i], frame, noise);
    }
}

/* The row of a pixel: of its deblended source, if that has no component; else of the highest
 * component; where none reaches, of its deblended source's component or, if others hold the source,
 * of the component at its peak, or the first one. */
static int32_t row_of_pixel(const struct fit_results *f, int64_t i) {
    const struct deblended *d = f->fit->deblended;
    const int32_t own = f->of_deblended[d->source_of[i]];
    if (own != NOBODY && (!f->source[own].is_fitted || f->component_of[i] == NOBODY))
        return own;
    if (f->component_of[i] != NOBODY)
        return f->row_of[f->component_of[i]];
    const int32_t at_peak = f->component_of[d->peak[d->source_of[i]]];
    return f->row_of[at_peak == NOBODY ? 0 : at_peak];
}

/* Sorts the rows, and gives them the pixels; `rank` has room for all rows. */
static void sort_sources(struct fit_results *f, int32_t *rank, struct fitted_sources *result) {
    for (int64_t i = 0; i < f->fit->n_inside; i++)
        result->source_of[i] = row_of_pixel(f, i);
    qsort(f->source, (size_t)f->n, sizeof *f->source, compare_fitted);
    for (int64_t i = 0; i < f->n; i++)
        rank[f->source[i].number] = (int32_t)i;
    for (int64_t i = 0; i < f->fit->n_inside; i++)
        result->source_of[i] = rank[result->source_of[i]];
}

static int64_t count_components(const struct island_fit *fit, const struct fit_job *jobs) {
    int64_t n = 0;
    for (int64_t k = 0; k < fit->parts.n; k++)
        n += jobs[k].is_fitted ? jobs[k].set.n : 0;
    return n;
}

bool island_fit_finish(const struct island_fit *fit, const struct fit_frame *frame,
                       const struct noise_areas *noise, const struct fit_job *jobs,
                       struct arena *arena, struct fitted_sources *result) {
    const size_t n_parts = (size_t)fit->parts.n;
    const size_t n_inside = (size_t)fit->n_inside, n_deblended = (size_t)fit->deblended->n;
    const size_t n_components = (size_t)count_components(fit, jobs);
    const size_t most = n_components + n_deblended; /* rows */
    *result =
        (struct fitted_sources){.source = arena_take(arena, most, sizeof *result->source),
                                .source_of = arena_take(arena, n_inside, sizeof *result->source_of),
                                .of_part = arena_take(arena, n_parts, sizeof *result->of_part)};
    struct fit_results f = {.fit = fit,
                            .source = result->source,
                            .share = calloc(n_deblended, sizeof *f.share),
                            .of_deblended = malloc(n_deblended * sizeof *f.of_deblended + 1),
                            .row_of = malloc(n_components * sizeof *f.row_of + 1),
                            .model = calloc((size_t)fit->n_pixels, sizeof *f.model),
                            .highest = calloc(n_inside, sizeof *f.highest),
                            .component_of = malloc(n_inside * sizeof *f.component_of + 1)};
    int32_t *rank = malloc(most * sizeof *rank + 1);
    const bool ok = result->source && result->source_of && result->of_part && f.share &&
                    f.of_deblended && f.row_of && f.model && f.highest && f.component_of && rank;
    if (ok) {
        find_model(&f, frame, jobs);
        collect(&f, frame, jobs);
        result->n = f.n;
        set_residual(&f, result);
        set_residuals_of_parts(&f, frame, noise, jobs, result->of_part);
        sort_sources(&f, rank, result);
    }
    free(f.share);
    free(f.of_deblended);
    free(f.row_of);
    free(f.model);
    free(f.highest);
    free(f.component_of);
    free(rank);
    return ok;
}
