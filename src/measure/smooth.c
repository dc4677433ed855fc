/* How an image is smoothed and sampled, band after band.
 *
 * 1. read_band reads the next 2^21 pixels or more by all threads, less the model of all Gaussians
 *    so far (take_pixels).
 * 2. convolve_rows: whole rows are convolved along x, at the columns of samples alone
 *    (cpu/convolve.h), and wait in a ring.
 * 3. make_rows: a row of samples is made once all rows that its kernel needs are in the ring. Blank
 *    pixels count as 0, and a sample is divided by the sum of the kernel over pixels that are not
 *    blank.
 * 4. Samples go to work->put, as they are made.
 *
 * Always: each sum is one chain in float32, in the order of the kernel, so vectors, threads and a
 * device give the same bits. A sample is blank where a pixel in its middle is.
 *
 * Cost: one read; 8 sigma products a row and column of samples along x, and as many a sample along
 * y; memory for the ring: some band and kernel of rows, at the columns of samples. */
#include "measure/smooth.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "cpu/convolve.h"
#include "input/chunks.h"

/* Samples an effective beam along an axis; a fit needs no more. */
static const double SAMPLES_A_BEAM = 5;

enum { BAND_PIXELS = 1 << 21 }; /* least number of pixels that are read before they are convolved */

/* --- the kernel --- */

/* The Gaussian, of peak 1, at t pixels: 0 where it is less than 1e-40. */
static double kernel_at(double t, double sigma) {
    const double exponent = -0.5 * t * t / (sigma * sigma);
    return exponent > -92 ? gaussian_exp(exponent) : 0;
}

/* Makes the n values of a kernel, whose sum is 1. */
static float *make_kernel(int64_t n, double sigma) {
    float *kernel = malloc((size_t)n * sizeof *kernel);
    const double middle = (double)(n - 1) / 2;
    double sum = 0;
    for (int64_t t = 0; t < n; t++)
        sum += kernel_at((double)t - middle, sigma);
    for (int64_t t = 0; kernel && t < n; t++)
        kernel[t] = (float)(kernel_at((double)t - middle, sigma) / sum);
    return kernel;
}

/* The samples and the kernel along an axis of n pixels. */
struct axis {
    int64_t n_samples, first, n_kernel;
};

/* Places the samples around the middle of an axis. The kernel reaches 4 sigma from them. */
static struct axis axis_of(int64_t n, int64_t step, int64_t multiple, double sigma) {
    const int64_t radius = (int64_t)ceil(SMOOTHING_REACH * sigma), least = (n + step - 1) / step;
    const int64_t n_samples = (least + multiple - 1) / multiple * multiple;
    const int64_t twice = n - 1 - step * (n_samples - 1); /* the place of the first sample, x 2 */
    const int64_t n_kernel = 2 * radius + (twice % 2 == 0 ? 1 : 2);
    return (struct axis){n_samples, (twice - (n_kernel - 1)) / 2, n_kernel};
}

int64_t smoothing_step(double effective, int64_t width, int64_t height) {
    const int64_t shorter = width < height ? width : height;
    const int64_t step =
        (int64_t)(effective / SAMPLES_A_BEAM * (1 + 1e-6)); /* of a header's rounding */
    return step < 1 ? 1 : step < shorter ? step : shorter;
}

bool smoothing_make(struct smoothing *s, double kernel, int64_t step, int64_t multiple,
                    int64_t width, int64_t height) {
    const double sigma = kernel / FIT_FWHM;
    const struct axis x = axis_of(width, step, multiple, sigma),
                      y = axis_of(height, step, multiple, sigma);
    *s = (struct smoothing){.step = step,
                            .width = x.n_samples,
                            .height = y.n_samples,
                            .left = x.first,
                            .top = y.first,
                            .n_x = x.n_kernel,
                            .n_y = y.n_kernel,
                            .kernel_x = make_kernel(x.n_kernel, sigma),
                            .kernel_y = make_kernel(y.n_kernel, sigma)};
    return s->kernel_x && s->kernel_y;
}

void smoothing_clear(struct smoothing *s) {
    free(s->kernel_x);
    free(s->kernel_y);
    *s = (struct smoothing){0};
}

/* --- bands --- */

/* The share of a thread: some of the rows, then some of the rows of samples. */
struct smoother_share {
    struct convolver convolver;
    float *values, *ones; /* a row of pixels and of ones, both 0 where blank */
    const float **rows;   /* for each pixel of the kernel: the sums of its row, */
    const float **weights;
    float *column_weights; /* of a row of samples */
    float *inner; /* weights of a row of samples whose kernels see no blank, once they are known */
    bool has_inner;
    int64_t n_samples; /* samples that are not blank */
};

/* The pixels that were read and are not convolved yet. */
struct pixel_band {
    float *pixels; /* those of numbers [first, end): NaN is blank */
    int64_t first, end;
    int64_t n_chunks; /* that are read at a time */
};

/* Rows that are convolved along x wait here until all rows that a sample needs are there. */
struct row_ring {
    int64_t size; /* rows in the ring: row y is y % size */
    float *sums, *weights;
    const float **row_weights; /* those of a row without a blank are `full` */
    bool *is_blank;            /* of the pixels in the middle of kernels */
    float *full;
};

struct smoother {
    const struct smooth_work *work;
    const struct smoothing *smoothing;
    int64_t width, height; /* of the image */
    struct threads *threads;
    int n_shares;
    struct smoother_share *shares;
    struct pixel_band band;
    struct row_ring ring;
    int64_t n_rows;   /* of the image, which are convolved along x: rows [0, n_rows) */
    int64_t next_row; /* until where they are to be convolved now */
    float *samples;   /* the rows [n_done, next_done) of samples */
    int64_t n_done, next_done;
};

static const float *row_of(const struct smoother *m, const float *ring, int64_t y) {
    return ring + y % m->ring.size * m->smoothing->width;
}

/* --- reading --- */

/* Subtracts the model from n finite pixels of row y, in a cell that Gaussians reach. */
static void subtract_model(const struct model *model, int64_t x, int64_t y, int64_t n,
                           float *pixels) {
    double sums[MODEL_CELL];
    model_row(model, y, x, n, sums);
    for (int64_t k = 0; k < n; k++) {
        const float rest = (float)((double)pixels[k] - sums[k]);
        pixels[k] = isfinite(rest) ? rest : NAN;
    }
}

/* Copies pixels [x, x + n) of row y, less the model. */
static void take_pixels(const struct smoother *m, const struct chunk *chunk, int64_t at, int64_t x,
                        int64_t y, int64_t n) {
    const struct model *model = m->work->model;
    float *const to = m->band.pixels + (chunk->first + at - m->band.first);
    for (int64_t i = 0; i < n; i++) {
        const float value = pixel_value(chunk->pixels, at + i, m->work->source->swapped);
        to[i] = isfinite(value) ? value : NAN;
    }
    for (int64_t i = 0; i < n;) {
        const int64_t cell = (x + i) / MODEL_CELL, rest = (cell + 1) * MODEL_CELL - (x + i);
        const int64_t count = rest < n - i ? rest : n - i;
        if (model_reaching(model, cell, y / MODEL_CELL).n > 0)
            subtract_model(model, x + i, y, count, to + i);
        i += count;
    }
}

static enum srcfind_status take_chunk(void *context, int worker, const struct chunk *chunk,
                                      struct error *error) {
    const struct smoother *m = context;
    (void)worker, (void)error;
    for (int64_t i = 0; i < chunk->count;) {
        const int64_t x = (chunk->first + i) % m->width, y = (chunk->first + i) / m->width;
        const int64_t n = m->width - x < chunk->count - i ? m->width - x : chunk->count - i;
        take_pixels(m, chunk, i, x, y, n);
        i += n;
    }
    return SRCFIND_OK;
}

static bool is_wanted(void *context, int64_t first, int64_t count) {
    const struct smoother *m = context;
    (void)count;
    return first >= m->band.end &&
           first < m->band.end + m->band.n_chunks * m->work->source->chunk_pixels;
}

/* Reads the next chunks. */
static enum srcfind_status read_band(struct smoother *m, struct error *error) {
    const struct chunk_work work = {.work = take_chunk, .wanted = is_wanted, .context = m};
    const int64_t n = m->width * m->height;
    const int64_t end = m->band.end + m->band.n_chunks * m->work->source->chunk_pixels;
    const enum srcfind_status status =
        chunks_run(m->work->source, m->threads, threads_count(m->threads), &work, error);
    m->band.end = end < n ? end : n;
    return status;
}

/* --- along x --- */

/* Whether a pixel of a row is blank, or outside of the image. */
static bool is_blank_at(const struct smoother *m, const float *pixels, int64_t x) {
    return x < 0 || x >= m->width || isnan(pixels[x]);
}

static bool contains_blank(const float *pixels, int64_t n) {
    int32_t blank = 0;
    for (int64_t x = 0; x < n; x++)
        blank |= isnan(pixels[x]) != 0;
    return blank;
}

static void convolve_one(const struct smoother *m, struct smoother_share *p, int64_t y) {
    const struct smoothing *s = m->smoothing;
    const float *const pixels = m->band.pixels + (y * m->width - m->band.first);
    const int64_t slot = y % m->ring.size;
    const bool has_blank = contains_blank(pixels, m->width);
    for (int64_t i = 0; i < s->width; i++) {
        const int64_t first = s->step * i + s->left;
        m->ring.is_blank[slot * s->width + i] =
            is_blank_at(m, pixels, first + smoothing_low(s->n_x)) ||
            is_blank_at(m, pixels, first + smoothing_high(s->n_x));
    }
    m->ring.row_weights[slot] = has_blank ? m->ring.weights + slot * s->width : m->ring.full;
    if (!has_blank) {
        convolve_row(&p->convolver, pixels, m->width, m->ring.sums + slot * s->width);
        return;
    }
    for (int64_t x = 0; x < m->width; x++) {
        p->values[x] = isnan(pixels[x]) ? 0 : pixels[x];
        p->ones[x] = isnan(pixels[x]) ? 0.0F : 1.0F;
    }
    convolve_row(&p->convolver, p->values, m->width, m->ring.sums + slot * s->width);
    convolve_row(&p->convolver, p->ones, m->width, m->ring.weights + slot * s->width);
}

static void convolve_rows(void *context, int i) {
    const struct smoother *m = context;
    const int64_t n = m->next_row - m->n_rows;
    const int64_t end = m->n_rows + threads_share(n, m->n_shares, i + 1);
    for (int64_t y = m->n_rows + threads_share(n, m->n_shares, i); y < end; y++)
        convolve_one(m, &m->shares[i], y);
}

/* --- along y --- */

/* Makes the samples of a row blank whose middle is blank in row y, or all where that is outside. */
static void make_blank(const struct smoother *m, int64_t y, float *samples) {
    const struct smoothing *s = m->smoothing;
    const bool is_inside = y >= 0 && y < m->height;
    const bool *is_blank = m->ring.is_blank + (is_inside ? y % m->ring.size * s->width : 0);
    for (int64_t i = 0; i < s->width; i++)
        samples[i] = !is_inside || is_blank[i] ? NAN : samples[i];
}

/* Makes row j of samples. */
static void make_samples(const struct smoother *m, struct smoother_share *p, int64_t j) {
    const struct smoothing *s = m->smoothing;
    const int64_t first = s->step * j + s->top;
    float *const samples = m->samples + (j - m->n_done) * s->width;
    bool is_inner = true;
    for (int64_t t = 0; t < s->n_y; t++) {
        const int64_t y = first + t;
        const bool is_inside = y >= 0 && y < m->height;
        p->rows[t] = is_inside ? row_of(m, m->ring.sums, y) : NULL;
        p->weights[t] = is_inside ? m->ring.row_weights[y % m->ring.size] : NULL;
        is_inner = is_inner && p->weights[t] == m->ring.full;
    }
    p->convolver.sums(s->kernel_y, s->n_y, p->rows, s->width, samples);
    if (!is_inner || !p->has_inner)
        p->convolver.sums(s->kernel_y, s->n_y, p->weights, s->width,
                          is_inner ? p->inner : p->column_weights);
    p->has_inner = p->has_inner || is_inner;
    const float *const weights = is_inner ? p->inner : p->column_weights;
    for (int64_t i = 0; i < s->width; i++)
        samples[i] = smoothing_sample(samples[i], weights[i]);
    make_blank(m, first + smoothing_low(s->n_y), samples);
    if (s->n_y % 2 == 0)
        make_blank(m, first + smoothing_high(s->n_y), samples);
    for (int64_t i = 0; i < s->width; i++)
        p->n_samples += isfinite(samples[i]) != 0;
}

static enum srcfind_status make_rows(void *context, int i, struct error *error) {
    const struct smoother *m = context;
    const struct smooth_work *w = m->work;
    const int64_t n = m->next_done - m->n_done;
    const int64_t first = m->n_done + threads_share(n, m->n_shares, i);
    const int64_t end = m->n_done + threads_share(n, m->n_shares, i + 1);
    for (int64_t j = first; j < end; j++)
        make_samples(m, &m->shares[i], j);
    return first == end ? SRCFIND_OK
                        : w->put(w->context, first, end - first,
                                 m->samples + (first - m->n_done) * m->smoothing->width, error);
}

/* --- all --- */

/* The number of rows of samples that can be made once n_rows rows are convolved. */
static int64_t count_ready(const struct smoother *m) {
    const struct smoothing *s = m->smoothing;
    const int64_t most = m->n_rows - s->n_y - s->top;
    const int64_t ready = most < 0 ? 0 : most / s->step + 1;
    return m->n_rows == m->height || ready > s->height ? s->height : ready;
}

/* Moves the pixels of the incomplete row to the front. */
static void keep_rest(struct smoother *m) {
    const int64_t done = m->n_rows * m->width;
    memmove(m->band.pixels, m->band.pixels + (done - m->band.first),
            (size_t)(m->band.end - done) * sizeof *m->band.pixels);
    m->band.first = done;
}

static enum srcfind_status smooth_band(struct smoother *m, struct error *error) {
    enum srcfind_status status = read_band(m, error);
    if (status != SRCFIND_OK)
        return status;
    m->next_row = m->band.end / m->width;
    threads_run(m->threads, m->n_shares, convolve_rows, m);
    m->n_rows = m->next_row;
    keep_rest(m);
    m->next_done = count_ready(m);
    status = threads_try(m->threads, m->n_shares, make_rows, m, error);
    m->n_done = m->next_done;
    return status;
}

static bool make_share(struct smoother *m, struct smoother_share *p) {
    const size_t n_kernel = (size_t)m->smoothing->n_y;
    p->values = malloc((size_t)m->width * sizeof *p->values);
    p->ones = malloc((size_t)m->width * sizeof *p->ones);
    p->rows = malloc(n_kernel * sizeof *p->rows);
    p->weights = malloc(n_kernel * sizeof *p->weights);
    p->column_weights = malloc((size_t)m->smoothing->width * sizeof *p->column_weights);
    p->inner = malloc((size_t)m->smoothing->width * sizeof *p->inner);
    return convolver_make(&p->convolver, m->smoothing) && p->values && p->ones && p->rows &&
           p->weights && p->column_weights && p->inner;
}

/* The weights of a row without a blank. */
static void fill_full(struct smoother *m) {
    for (int64_t x = 0; x < m->width; x++)
        m->shares[0].ones[x] = 1;
    convolve_row(&m->shares[0].convolver, m->shares[0].ones, m->width, m->ring.full);
}

static bool allocate(struct smoother *m) {
    const struct smoothing *s = m->smoothing;
    const int64_t chunk = m->work->source->chunk_pixels;
    m->band.n_chunks = (BAND_PIXELS + chunk - 1) / chunk;
    const int64_t band_rows = m->band.n_chunks * chunk / m->width + 2;
    m->ring.size = band_rows + s->n_y + s->step;
    m->ring.size = m->ring.size < m->height ? m->ring.size : m->height;
    const int64_t n = m->width * m->height, band = m->band.n_chunks * chunk + m->width;
    m->band.pixels = arrays_allocate(band < n ? band : n, sizeof *m->band.pixels);
    m->ring.sums = arrays_allocate(m->ring.size * s->width, sizeof *m->ring.sums);
    m->ring.weights = arrays_allocate(m->ring.size * s->width, sizeof *m->ring.weights);
    m->ring.row_weights = malloc((size_t)m->ring.size * sizeof *m->ring.row_weights);
    m->ring.is_blank = malloc((size_t)(m->ring.size * s->width) * sizeof *m->ring.is_blank);
    m->ring.full = malloc((size_t)s->width * sizeof *m->ring.full);
    const int64_t n_outside = s->height - m->height / s->step; /* rows of samples, at most */
    m->samples =
        arrays_allocate((m->ring.size / s->step + 2 + n_outside) * s->width, sizeof *m->samples);
    m->shares = calloc((size_t)m->n_shares, sizeof *m->shares);
    bool ok = m->band.pixels && m->ring.sums && m->ring.weights && m->ring.row_weights &&
              m->ring.is_blank && m->ring.full && m->samples && m->shares;
    for (int i = 0; ok && i < m->n_shares; i++)
        ok = make_share(m, &m->shares[i]);
    return ok;
}

static void clear(struct smoother *m) {
    for (int i = 0; m->shares && i < m->n_shares; i++) {
        struct smoother_share *p = &m->shares[i];
        convolver_clear(&p->convolver);
        free(p->values);
        free(p->ones);
        free(p->rows);
        free(p->weights);
        free(p->column_weights);
        free(p->inner);
    }
    free(m->shares);
    free(m->band.pixels);
    free(m->ring.sums);
    free(m->ring.weights);
    free(m->ring.row_weights);
    free(m->ring.is_blank);
    free(m->ring.full);
    free(m->samples);
}

enum srcfind_status smooth(const struct smooth_work *work, struct threads *threads,
                           int64_t *n_samples, struct error *error) {
    struct smoother m = {.work = work,
                         .smoothing = work->smoothing,
                         .width = work->source->width,
                         .height = work->source->height,
                         .threads = threads,
                         .n_shares = threads_count(threads)};
    enum srcfind_status status =
        allocate(&m) ? SRCFIND_OK : error_memory(error, "smoothing the image");
    if (status == SRCFIND_OK)
        fill_full(&m);
    while (status == SRCFIND_OK && m.n_done < work->smoothing->height)
        status = smooth_band(&m, error);
    *n_samples = 0;
    for (int i = 0; m.shares && i < m.n_shares; i++)
        *n_samples += m.shares[i].n_samples;
    clear(&m);
    return status;
}
