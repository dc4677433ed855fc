/* How the islands of a batch are fitted: steps 3 and 4 of components.c. Islands that are due have
 * jobs; after the first fit some are due again. */
#include "measure/batch_fits.h"

#include <stdlib.h>

#include "measure/flux_check.h"

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
    return island_fit_finish(&item->fit, &item->frame, &d->noise_areas, jobs, item->arena,
                             &item->fitted) &&
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
    const int n = batches_shares(b->n);
    b->order = arrays_allocate(n, sizeof *b->order);
    for (int k = 0; b->order && k < n; k++) {
        const struct counts *next = k + 1 < n ? &b->shares[k + 1] : &b->total;
        b->order[k] =
            (struct fitted_share){fit_pixels_before(next) - fit_pixels_before(&b->shares[k]), k};
    }
    if (b->order)
        qsort(b->order, (size_t)n, sizeof *b->order, by_pixels);
    const bool ok = b->order && batches_each(b, finish_fit);
    free(b->order);
    b->order = NULL;
    return ok;
}

/* Fits the islands that are due, if any. False on an error. */
static bool fit_due(struct batches *b) {
    struct batch_jobs *jobs = &b->jobs;
    const int64_t *n = b->total.of;
    batches_place(b, JOBS, LARGE_FIT_PIXELS, count_jobs);
    return n[JOBS] + n[LARGE_JOBS] == 0 ||
           (RESERVE(jobs->job, jobs->capacity, n[JOBS] + n[LARGE_JOBS]) &&
            RESERVE(jobs->pixels, jobs->pixels_capacity, n[FIT_PIXELS] + n[LARGE_FIT_PIXELS]) &&
            batches_each(b, make_jobs) && run_jobs(b) && finish_fits(b));
}

bool batch_fits_run(struct batches *b) {
    b->doing = "fitting sources";
    return batches_each(b, make_first_fit) && fit_due(b) && batches_each(b, make_second_fit) &&
           fit_due(b);
}
