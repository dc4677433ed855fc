/* How the quality of an image is found:
 *
 * 1. Shares of sources are counted by their flags, and with a fit by residual and size.
 * 2. The percentiles of the background are known from the search (noise_describe).
 * 3. The sample of the pixels (input/sampled.c) gives the share of zeros. It is divided into a grid
 *    of at most 8 x 8 cells, none smaller than a box of local noise. The values of each cell are
 *    clipped at 3 sigma; the rms of 4 cells or more give two percentiles.
 *
 * The image is not read again. A figure that cannot be found is NaN. */
#include "api/quality.h"

#include <math.h>
#include <stdlib.h>

#include "api/noise.h"
#include "common/threads.h"

/* The noise is compared between the cells of a grid. */
enum {
    MOST_CELLS = 8,  /* along an axis */
    LEAST_CELLS = 4, /* cells with noise, in all */
    LEAST_PIXELS = 64,
    KAPPA = 3
};

enum { LEAST_ROWS = 4096 }; /* that are worth a thread */

/* --- the pixels --- */

/* The share of zeros among the pixels that are not blank. */
static double share_of_zeros(const struct sampled *s) {
    int64_t n = 0, n_zeros = 0;
    for (int64_t r = 0; r < s->n_rows; r++) {
        for (int64_t c = 0; c < s->n_columns; c++) {
            const float v = sampled_value(s, r, c);
            n += isfinite(v) != 0;
            n_zeros += v == 0;
        }
    }
    return (double)n_zeros / (double)n;
}

/* Part of the sample: the rows [top, bottom) and the columns [left, right). */
struct cell {
    int64_t top, bottom, left, right;
};

/* Copies the values of a cell, but for blanks and for zeros, which may be padding. Returns their
 * number. */
static int64_t take_values(const struct sampled *s, const struct cell *cell, float *values) {
    int64_t n = 0;
    for (int64_t r = cell->top; r < cell->bottom; r++) {
        for (int64_t c = cell->left; c < cell->right; c++) {
            const float v = sampled_value(s, r, c);
            values[n] = v;
            n += isfinite(v) && v != 0;
        }
    }
    return n;
}

/* The standard deviation of n values, clipped about their mean. Each round is one pass: it drops
 * the values outside the limits of the round before, and sums the others less its mean. */
static double clip_values(float *values, int64_t n) {
    double mean = (double)values[0], rms = INFINITY;
    for (bool first = true;; first = false) {
        double sum = 0, square = 0;
        int64_t n_kept = 0;
        for (int64_t i = 0; i < n; i++) {
            const float v = values[i];
            const double d = (double)v - mean, kept = fabs(d) < KAPPA * rms ? d : 0;
            values[n_kept] = v;
            n_kept += fabs(d) < KAPPA * rms;
            sum += kept;
            square += kept * kept;
        }
        if ((n_kept == n && !first) || n_kept == 0)
            return rms;
        n = n_kept;
        const double shift = sum / (double)n;
        rms = sqrt(fmax(square / (double)n - shift * shift, 0));
        mean += shift;
    }
}

static int compare_rms(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sets the percentiles of the rms of n cells. */
static void set_percentiles(double *rms, int64_t n, struct srcfind_quality *quality) {
    if (n < LEAST_CELLS)
        return;
    qsort(rms, (size_t)n, sizeof *rms, compare_rms);
    quality->rms_p10 = rms[(n - 1) / 10];
    quality->rms_p90 = rms[(n - 1) * 9 / 10];
}

/* The number of cells along an axis of n pixels: none is smaller than a box of local noise. */
static int64_t count_cells(int64_t n, double box) {
    const double cells = (double)n / box;
    return cells < MOST_CELLS ? (int64_t)cells : MOST_CELLS;
}

/* Compares the noise between cells. `values` has room for the sample. */
static void compare_noise(const struct sampled *s, const struct srcfind_image *image, float *values,
                          struct srcfind_quality *quality) {
    const double box = noise_wanted_box(image);
    const int64_t n_x = count_cells(image->width, box), n_y = count_cells(image->height, box);
    double rms[MOST_CELLS * MOST_CELLS];
    int64_t n = 0;
    for (int64_t j = 0; n_x > 1 && n_y > 1 && j < n_y; j++) {
        for (int64_t i = 0; i < n_x; i++) {
            const struct cell cell = {s->n_rows * j / n_y, s->n_rows * (j + 1) / n_y,
                                      s->n_columns * i / n_x, s->n_columns * (i + 1) / n_x};
            const int64_t n_values = take_values(s, &cell, values);
            rms[n] = n_values < LEAST_PIXELS ? 0 : clip_values(values, n_values);
            n += rms[n] > 0;
        }
    }
    set_percentiles(rms, n, quality);
}

/* --- the sources --- */

/* Numbers of rows. */
struct tally {
    int64_t n, single_pixel, edge, edge_or_single, narrow, high_residual, artefacts;
    int64_t off_sky, bright;
};

static void count_row(const struct srcfind_source *row, bool is_negative, struct tally *t) {
    const bool is_edge = row->flags & SRCFIND_FLAG_EDGE;
    const bool is_single = row->flags & SRCFIND_FLAG_SINGLE_PIXEL;
    t->edge += is_edge;
    t->single_pixel += is_single;
    t->edge_or_single += is_edge || is_single;
    t->narrow += (row->flags & SRCFIND_FLAG_NARROW) != 0;
    t->high_residual += row->resid_isl_rms > 2 * row->isl_rms;
    t->artefacts += (row->flags & SRCFIND_FLAG_ARTEFACT) != 0 && !is_negative;
    t->off_sky += isnan(row->lon) && isfinite(row->x);
    t->bright += row->snr > QUALITY_BRIGHT;
}

/* The tallies of shares of the rows. */
struct counting {
    const struct sources *sources;
    struct tally *of_share;
    int n_shares;
};

static void count_share(void *context, int share) {
    const struct counting *c = context;
    const int64_t n = c->sources->n, end = threads_share(n, c->n_shares, share + (int64_t)1);
    struct tally t = {0};
    for (int64_t i = threads_share(n, c->n_shares, share); i < end; i++)
        count_row(&c->sources->rows[i], i >= n - c->sources->n_negative, &t);
    c->of_share[share] = t;
}

/* Counts all rows in one pass: those of a large image are not in a cache. Artefacts are counted
 * among the sources alone, not in the negated image. False where memory ran out. */
static bool count_rows(const struct result *result, struct threads *threads, struct tally *sum) {
    const struct sources *sources = &result->sources;
    const int n_shares = threads_shares(threads, sources->n, LEAST_ROWS);
    struct counting c = {sources, malloc((size_t)n_shares * sizeof *c.of_share), n_shares};
    *sum = (struct tally){.n = sources->n};
    if (!c.of_share)
        return false;
    threads_run(threads, n_shares, count_share, &c);
    for (int i = 0; i < n_shares; i++) {
        const struct tally *t = &c.of_share[i];
        sum->edge += t->edge;
        sum->single_pixel += t->single_pixel;
        sum->edge_or_single += t->edge_or_single;
        sum->narrow += t->narrow;
        sum->high_residual += t->high_residual;
        sum->artefacts += t->artefacts;
        sum->off_sky += t->off_sky;
        sum->bright += t->bright;
    }
    free(c.of_share);
    return true;
}

static double share_of(int64_t n, const struct tally *t) {
    return (double)n / (double)t->n;
}

/* Sets the figures of sources that need a fit. */
static void compare_fits(const struct result *result, const struct tally *t,
                         struct srcfind_quality *quality) {
    if (!options_fit(&result->options) || *result->options.at)
        return;
    quality->high_residual = share_of(t->high_residual, t);
    if (!isfinite(result->image.beam.major))
        return;
    quality->narrow = share_of(t->narrow, t);
    quality->artefacts = (double)t->artefacts;
}

bool quality_find(const struct sampled *sample, struct threads *threads, struct result *result) {
    const struct srcfind_image *image = &result->image;
    struct srcfind_quality *quality = &result->quality;
    struct tally tally;
    if (!count_rows(result, threads, &tally))
        return false;
    result->numbers = (struct row_numbers){tally.off_sky, tally.bright};
    *quality = (struct srcfind_quality){
        .zeros = NAN,
        .rms_p10 = NAN,
        .rms_p90 = NAN,
        .single_pixel = share_of(tally.single_pixel, &tally),
        .edge = share_of(tally.edge, &tally),
        .beam_pixels = image->beam.minor / sqrt(image->pixel_area),
        .edge_or_single = share_of(tally.edge_or_single, &tally),
        .narrow = NAN,
        .high_residual = NAN,
        .artefacts = NAN,
        .background_p10 = quality->background_p10,
        .background_p90 = quality->background_p90,
        .psf_points = quality->psf_points,
        .psf_middle = quality->psf_middle,
        .psf_edges = quality->psf_edges,
        .widest_left_out = quality->widest_left_out > 0 ? quality->widest_left_out : (double)NAN};
    compare_fits(result, &tally, quality);
    if (!sample->bits)
        return true;
    float *values = malloc((size_t)(sample->n_rows * sample->n_columns) * sizeof *values);
    if (!values)
        return false;
    quality->zeros = share_of_zeros(sample);
    compare_noise(sample, image, values, quality);
    free(values);
    return true;
}
