/* How the autocorrelation of the noise is measured.
 *
 * 1. make_lattice places some 1024 to 4096 base pixels, symmetrically in the image, so that a
 *    mirrored image has mirrored pairs; four times as close in a row as rows are, so that fewer are
 *    read.
 * 2. Rows of base pixels are taken in batches. read_batch reads the rows that their pairs need, and
 *    rounds z to whole numbers.
 * 3. Threads sum over the pairs of a base pixel and the pixel at each lag (add_row), in integers.
 *    If there are enough base pixels far from sources, those near to one do not count.
 * 4. take_values turns the sums of a lag and of the opposite one to a correlation.
 *
 * Always: integer sums, so the result depends neither on threads nor on the backend, which only
 * reads the pixels.
 *
 * Cost: up to two million pairs, and a read of the rows around the lattice: about half of the rows
 * of an image of less than 1500, and a twelfth of those of 16,384. */
#include "measure/noise_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"

enum {
    MOST_BASES = 4096,       /* base pixels, about; */
    LEAST_BASES = 1024,      /* at least, of small images; */
    PIXELS_A_BASE = 512,     /* and one for so many pixels of others */
    UNIT = 256,              /* z is a whole number of 1 / UNIT */
    MOST_Z = 3 * UNIT,       /* a pixel beyond it does not count */
    NONE = INT16_MIN,        /* one that does not count; */
    BRIGHT = INT16_MAX,      /* another one, which is of a source, or of a hole beside one: */
    LEAST_BRIGHT = 5 * UNIT, /* beyond this */
    ENOUGH_PIXELS = 256,     /* base pixels far from sources: others are then not used */
    LEAST_PAIRS = 64,        /* of a lag and the opposite one */
    BATCH_PIXELS = 1 << 20,  /* most pixels in memory, or the rows of one base row */
    BASES_AT_ONCE = 256,     /* base pixels whose sums fit in 32 bits */
    LEAST_ROWS_A_THREAD = 8, /* base rows */
};

/* The least areas of the beam that tell its autocorrelation. */
static const double LEAST_AREAS = 30;

/* The largest mean of z^2 of noise: the clip leaves 0.973 where the rms is right. With a smaller
 * rms it takes far more of the correlation than CLIP_LOSS. */
static const double MOST_VARIANCE = 1.3;

/* A pair of normal numbers with the correlation r, each clipped at 3, has the correlation
 * r (1 - CLIP_LOSS (1 - r^2)). */
static const double CLIP_LOSS = 0.026;

/* --- the lattice --- */

/* The base pixels along an axis: first, first + spacing, ... */
struct lattice {
    int64_t first, spacing, n;
};

/* An odd spacing lets the lattice be symmetric in an axis of any length. */
static struct lattice make_lattice(int64_t length, int64_t spacing) {
    struct lattice l = {.spacing = spacing | 1};
    l.n = (length - 1) / l.spacing + 1;
    if ((length - 1 - (l.n - 1) * l.spacing) % 2 != 0 && l.n > 1)
        l.n--;
    l.first = (length - 1 - (l.n - 1) * l.spacing) / 2;
    return l;
}

/* The sums over pairs (a, b): their number, of each value, of squares and of products. */
enum { N, A, B, AA, BB, AB, PAIR_SUMS };

/* Sums over the pairs of the lags of a row: a is of the base pixel. */
struct row_sums {
    int64_t of[PAIR_SUMS][CORRELATION_SIDE];
};

/* The sums of some base pixels. */
struct part_sums {
    struct row_sums of[CORRELATION_SIDE];
    int64_t n_base; /* pixels */
};

/* The sums of a thread. The wings of a source are correlated, and seem to be noise below MOST_Z. */
struct share {
    struct part_sums far, near; /* of base pixels without a source among their lags, and with one */
    int64_t n_finite;           /* base pixels that have a value */
};

struct work {
    const struct run_source *from;
    struct correlation *result;
    const struct lags *lags; /* of the result */
    struct lattice x, y;
    struct run *columns; /* that are needed of a row: n_columns runs, n_pixels_a_row pixels */
    int64_t n_columns, n_pixels_a_row;
    int64_t *at; /* of each base column: where it is among these pixels */
    struct share *shares;
    int n_shares;
    /* The batch: base rows [first_row, end_row). */
    int64_t first_row, end_row;
    int64_t low, n_rows; /* image rows low ... low + n_rows - 1 */
    int64_t *row_first;  /* of each: the index of its first pixel in z; -1: it is not needed */
    struct run_set *sets;
    struct run *runs;
    int64_t n_sets, n_pixels;
    struct run_pixels pixels;
    int16_t *z;
    int64_t z_capacity;
};

/* --- reading --- */

/* Whether the columns that neighbouring base pixels need are one run. */
static bool are_columns_joined(const struct work *w) {
    return 2 * w->lags->half_x * (int64_t)w->lags->step_x + 1 >= w->x.spacing;
}

/* Lists the runs of columns that the base pixels of a row need, and where each of these is. */
static bool list_columns(struct work *w) {
    const int64_t reach = w->lags->half_x * (int64_t)w->lags->step_x;
    const int64_t last = w->from->source->width - 1;
    const bool joined = are_columns_joined(w);
    w->columns = arrays_allocate(w->x.n, sizeof *w->columns);
    w->at = arrays_allocate(w->x.n, sizeof *w->at);
    for (int64_t k = 0; w->columns && w->at && k < w->x.n; k++) {
        const int64_t x = w->x.first + k * w->x.spacing;
        const int64_t left = x - reach < 0 ? 0 : x - reach;
        const int64_t right = x + reach < last ? x + reach : last;
        if (!joined || k == 0)
            w->columns[w->n_columns++] = (struct run){.x0 = (int32_t)left};
        struct run *run = &w->columns[w->n_columns - 1];
        w->n_pixels_a_row += right - (joined && k > 0 ? run->x1 : left - 1);
        run->x1 = (int32_t)right;
        w->at[k] = w->n_pixels_a_row - 1 - (right - x);
    }
    return w->columns && w->at;
}

/* Chooses the base rows of the next batch. */
static void choose_batch(struct work *w) {
    const struct lags *l = w->lags;
    const int64_t rows_a_base = 2 * l->half_y + 1, reach = l->half_y * (int64_t)l->step_y;
    const int64_t most = BATCH_PIXELS / w->n_pixels_a_row / rows_a_base;
    w->first_row = w->end_row;
    w->end_row += most < 1 ? 1 : most;
    w->end_row = w->end_row < w->y.n ? w->end_row : w->y.n;
    const int64_t height = w->from->source->height;
    const int64_t low = w->y.first + w->first_row * w->y.spacing - reach;
    const int64_t high = w->y.first + (w->end_row - 1) * w->y.spacing + reach;
    w->low = low < 0 ? 0 : low;
    w->n_rows = (high < height - 1 ? high : height - 1) - w->low + 1;
}

/* Marks the rows of the image that the base rows of the batch need. Returns their number. */
static int64_t mark_rows(const struct work *w) {
    const struct lags *l = w->lags;
    int64_t n = 0;
    for (int64_t i = 0; i < w->n_rows; i++)
        w->row_first[i] = -1;
    for (int64_t k = w->first_row; k < w->end_row; k++) {
        for (int64_t j = -l->half_y; j <= l->half_y; j++) {
            const int64_t row = w->y.first + k * w->y.spacing + j * (int64_t)l->step_y - w->low;
            if (row < 0 || row >= w->n_rows || w->row_first[row] == 0)
                continue;
            w->row_first[row] = 0;
            n++;
        }
    }
    return n;
}

/* Lists the runs of the batch, a set for each row. */
static bool list_runs(struct work *w) {
    const int64_t n = w->n_columns;
    w->row_first = arrays_allocate(w->n_rows, sizeof *w->row_first);
    const int64_t n_needed = w->row_first ? mark_rows(w) : 0;
    w->sets = arrays_allocate(n_needed, sizeof *w->sets);
    w->runs = arrays_allocate(n_needed * n, sizeof *w->runs);
    w->n_sets = 0;
    if (!w->row_first || !w->sets || !w->runs)
        return false;
    for (int64_t i = 0; i < w->n_rows; i++) {
        if (w->row_first[i] < 0)
            continue;
        struct run *runs = w->runs + w->n_sets * n;
        w->row_first[i] = w->n_sets * w->n_pixels_a_row;
        memcpy(runs, w->columns, (size_t)n * sizeof *runs);
        for (int64_t k = 0; k < n; k++)
            runs[k].y = (int32_t)(w->low + i);
        w->sets[w->n_sets++] = (struct run_set){runs, n, w->row_first[i]};
    }
    w->n_pixels = w->n_sets * w->n_pixels_a_row;
    return true;
}

enum { PIXELS_A_SHARE = 1 << 15 };

/* Rounds the values of some pixels. */
static void round_share(void *context, int share) {
    const struct work *w = context;
    const struct run_pixels *p = &w->pixels;
    const int64_t first = (int64_t)share * PIXELS_A_SHARE;
    for (int64_t i = first; i < w->n_pixels && i < first + PIXELS_A_SHARE; i++) {
        const double z = UNIT * (((double)p->value[i] - p->background[i]) / p->rms[i]);
        w->z[i] = fabs(z) <= MOST_Z                       ? (int16_t)lrint(z)
                  : fabs(z) > LEAST_BRIGHT && isfinite(z) ? BRIGHT
                                                          : NONE;
    }
}

/* Frees what belongs to a batch; its pixels are kept for the next one. */
static void clear_batch(struct work *w) {
    free(w->row_first);
    free(w->sets);
    free(w->runs);
    w->row_first = NULL;
    w->sets = NULL;
    w->runs = NULL;
}

static void clear(struct work *w) {
    free(w->columns);
    free(w->at);
    free(w->shares);
    free(w->z);
    run_pixels_clear(&w->pixels);
}

static enum srcfind_status read_batch(struct work *w, struct threads *threads,
                                      struct error *error) {
    static const char doing[] = "measuring the noise";
    if (!list_runs(w))
        return error_memory(error, doing);
    const enum srcfind_status status =
        run_pixels_read(w->from, w->sets, w->n_sets, w->n_pixels, threads, &w->pixels, error);
    if (status == SRCFIND_OK && !GROW(w->z, w->z_capacity, w->n_pixels))
        return error_memory(error, doing);
    if (status == SRCFIND_OK)
        threads_run(threads, (int)((w->n_pixels + PIXELS_A_SHARE - 1) / PIXELS_A_SHARE),
                    round_share, w);
    return status;
}

/* --- sums --- */

/* Some base pixels of a row, which all are near to sources, or far from them. */
struct base_list {
    int64_t x[BASES_AT_ONCE], at[BASES_AT_ONCE];
    int32_t z[BASES_AT_ONCE];
    int n;
};

/* The same as struct row_sums, of so few base pixels that 32 bits do. */
struct small_sums {
    int32_t of[PAIR_SUMS][CORRELATION_SIDE];
};

/* The lags of row j of a base pixel at column x that are in the image. */
static void lags_inside(const struct work *w, int64_t x, int j, int *first, int *last) {
    const struct lags *l = w->lags;
    const int64_t step = (int64_t)l->step_x, before = x / step;
    const int64_t behind = (w->from->source->width - 1 - x) / step;
    *first = l->first[j + l->half_y] < -before ? (int)-before : l->first[j + l->half_y];
    *last = lags_last(l, j) > behind ? (int)behind : lags_last(l, j);
}

/* Whether a source is among the lags of row j of a base pixel at column x. z: of the pixel of this
 * row at x. */
static bool is_source_in(const struct work *w, int64_t x, int j, const int16_t *z) {
    const int64_t step = (int64_t)w->lags->step_x;
    int first, last, n = 0;
    lags_inside(w, x, j, &first, &last);
    for (int i = first; i <= last; i++)
        n += z[i * step] == BRIGHT;
    return n > 0;
}

/* Adds the pairs of a base pixel of the value a with the lags first ... last of a row. z: of the
 * pixel of this row at the base pixel's column; sums: from lag 0 on. */
static void add_pairs(int32_t a, const int16_t *z, int64_t step, int first, int last, int half,
                      struct small_sums *s) {
    for (int i = first; i <= last; i++) {
        const int32_t value = z[i * step];
        const int32_t is_noise = value != NONE && value != BRIGHT, b = is_noise ? value : 0;
        const int32_t own = is_noise ? a : 0;
        s->of[N][i + half] += is_noise;
        s->of[A][i + half] += own;
        s->of[B][i + half] += b;
        s->of[AA][i + half] += own * a;
        s->of[BB][i + half] += b * b;
        s->of[AB][i + half] += a * b;
    }
}

static void add_small(const struct small_sums *s, struct row_sums *to) {
    for (int k = 0; k < PAIR_SUMS; k++)
        for (int i = 0; i < CORRELATION_SIDE; i++)
            to->of[k][i] += s->of[k][i];
}

/* The rows of lags of base row y that are in the image. */
struct lag_rows {
    int64_t y, step;
    int first, last;
};

static struct lag_rows lag_rows_of(const struct work *w, int64_t k) {
    const struct lags *l = w->lags;
    const int64_t y = w->y.first + k * w->y.spacing - w->low, step = (int64_t)l->step_y;
    const int64_t before = y / step, behind = (w->n_rows - 1 - y) / step;
    return (struct lag_rows){y, step, before < l->half_y ? (int)-before : -l->half_y,
                             behind < l->half_y ? (int)behind : l->half_y};
}

/* The values z of row j of the lags of a base row. */
static const int16_t *values_of(const struct work *w, const struct lag_rows *rows, int j) {
    return w->z + w->row_first[rows->y + j * rows->step];
}

/* Adds the pairs of a list, which then is empty. */
static void add_list(const struct work *w, const struct lag_rows *rows, struct base_list *list,
                     struct part_sums *part) {
    const struct lags *l = w->lags;
    for (int j = rows->first; j <= rows->last && list->n > 0; j++) {
        const int16_t *z = values_of(w, rows, j);
        struct small_sums sums = {0};
        for (int k = 0; k < list->n; k++) {
            int first, last;
            lags_inside(w, list->x[k], j, &first, &last);
            add_pairs(list->z[k], z + list->at[k], (int64_t)l->step_x, first, last, l->half_x,
                      &sums);
        }
        add_small(&sums, &part->of[j + l->half_y]);
    }
    part->n_base += list->n;
    list->n = 0;
}

/* Adds the pairs of a base row. */
static void add_row(const struct work *w, int64_t k, struct share *share) {
    const struct lag_rows rows = lag_rows_of(w, k);
    struct base_list far = {.n = 0}, near = {.n = 0};
    for (int64_t base = 0; base < w->x.n; base++) {
        const int64_t at = w->at[base], x = w->x.first + base * w->x.spacing;
        const int64_t pixel = w->row_first[rows.y] + at;
        const int16_t z = w->z[pixel];
        share->n_finite += isfinite(w->pixels.value[pixel]) && w->pixels.rms[pixel] > 0;
        if (z == NONE || z == BRIGHT)
            continue;
        bool is_near = false;
        for (int j = rows.first; j <= rows.last && !is_near; j++)
            is_near = is_source_in(w, x, j, values_of(w, &rows, j) + at);
        struct base_list *list = is_near ? &near : &far;
        list->x[list->n] = x;
        list->at[list->n] = at;
        list->z[list->n++] = z;
        if (list->n == BASES_AT_ONCE)
            add_list(w, &rows, list, is_near ? &share->near : &share->far);
    }
    add_list(w, &rows, &far, &share->far);
    add_list(w, &rows, &near, &share->near);
}

static void add_share(void *context, int i) {
    const struct work *w = context;
    const int64_t n = w->end_row - w->first_row;
    for (int64_t k = threads_share(n, w->n_shares, i); k < threads_share(n, w->n_shares, i + 1);
         k++)
        add_row(w, w->first_row + k, &w->shares[i]);
}

/* --- values --- */

/* Pearson's correlation of the pairs of lag (i, j) and of the opposite one, without the loss by the
 * clip; NaN: it is not known. */
static double correlation_of(const struct part_sums *sums, const struct lags *l, int i, int j) {
    const struct row_sums *s = &sums->of[j + l->half_y], *t = &sums->of[l->half_y - j];
    const int u = i + l->half_x, v = l->half_x - i;
    int64_t sum[PAIR_SUMS];
    for (int k = 0; k < PAIR_SUMS; k++)
        sum[k] = s->of[k][u] + t->of[k][v];
    const int64_t n = sum[N], a = sum[A], b = sum[B], aa = sum[AA], bb = sum[BB], ab = sum[AB];
    const double spread = (double)(n * aa - a * a) * (double)(n * bb - b * b);
    if (n < LEAST_PAIRS || !(spread > 0))
        return NAN;
    const double m = (double)(n * ab - a * b) / sqrt(spread);
    return m / (1 - CLIP_LOSS * (1 - m * m));
}

static void add_part(struct part_sums *to, const struct part_sums *more) {
    to->n_base += more->n_base;
    for (int j = 0; j < CORRELATION_SIDE; j++)
        for (int k = 0; k < PAIR_SUMS; k++)
            for (int i = 0; i < CORRELATION_SIDE; i++)
                to->of[j].of[k][i] += more->of[j].of[k][i];
}

/* Adds the shares to the first one, whose part `far` then has all pairs that are used. */
static void add_shares(const struct work *w) {
    struct share *all = &w->shares[0];
    for (int i = 1; i < w->n_shares; i++) {
        all->n_finite += w->shares[i].n_finite;
        add_part(&all->far, &w->shares[i].far);
        add_part(&all->near, &w->shares[i].near);
    }
    if (all->far.n_base < ENOUGH_PIXELS)
        add_part(&all->far, &all->near);
}

/* The mean of z^2 of the base pixels. */
static double variance_of(const struct part_sums *sums, const struct lags *l) {
    const struct row_sums *s = &sums->of[l->half_y];
    const int64_t n = s->of[N][l->half_x], squares = s->of[AA][l->half_x];
    return n > 0 ? (double)squares / (double)n / (UNIT * UNIT) : 0;
}

/* Sets the values. */
static void take_values(const struct work *w) {
    struct correlation *c = w->result;
    struct lags *l = &c->lags;
    struct share *all = &w->shares[0];
    add_shares(w);
    const struct pixel_source *image = w->from->source;
    const double finite = (double)all->n_finite / (double)(w->x.n * w->y.n);
    const double area = 2 * M_PI / (c->beam.ux * c->beam.vy);
    c->beam_areas = finite * (double)image->width * (double)image->height / area;
    if (c->beam_areas < LEAST_AREAS || variance_of(&all->far, l) > MOST_VARIANCE)
        return;
    for (int j = 0; j <= l->half_y; j++) {
        for (int i = j == 0 ? 1 : l->first[j + l->half_y]; i <= lags_last(l, j); i++) {
            const double value = correlation_of(&all->far, l, i, j);
            if (isfinite(value))
                *lags_value(l, i, j) = *lags_value(l, -i, -j) = value;
            c->is_measured = c->is_measured || isfinite(value);
        }
    }
    c->n_pixels = c->is_measured ? all->far.n_base : 0;
    correlation_complete(c);
}

enum srcfind_status noise_pairs_measure(const struct run_source *pixels, struct threads *threads,
                                        struct correlation *correlation, struct error *error) {
    const struct pixel_source *image = pixels->source;
    const double n_pixels = (double)image->width * (double)image->height;
    const double n_bases = fmin(fmax(n_pixels / PIXELS_A_BASE, LEAST_BASES), MOST_BASES);
    const double an_axis = sqrt(n_pixels / n_bases);
    const int64_t spacing = an_axis > 2 ? (int64_t)an_axis : 2;
    struct work w = {.from = pixels,
                     .result = correlation,
                     .lags = &correlation->lags,
                     .x = make_lattice(image->width, spacing / 2),
                     .y = make_lattice(image->height, 2 * spacing)};
    if (!correlation->beam.has_beam)
        return SRCFIND_OK;
    w.n_shares = threads_shares(threads, w.y.n, LEAST_ROWS_A_THREAD);
    w.shares = calloc((size_t)w.n_shares, sizeof *w.shares);
    enum srcfind_status status =
        list_columns(&w) && w.shares ? SRCFIND_OK : error_memory(error, "measuring the noise");
    while (status == SRCFIND_OK && w.end_row < w.y.n) {
        choose_batch(&w);
        status = read_batch(&w, threads, error);
        if (status == SRCFIND_OK)
            threads_run(threads, w.n_shares, add_share, &w);
        clear_batch(&w);
    }
    if (status == SRCFIND_OK)
        take_values(&w);
    clear(&w);
    return status;
}
