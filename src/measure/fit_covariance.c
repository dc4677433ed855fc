/* How the errors of a composite follow from the fits of a part: the sandwich A^-1 B A^-1 of
 * fit_covariance.h, without a matrix B.
 *
 * 1. make_table chooses the pixels, in a wide beam or Gaussian every few columns and rows, and
 *    tabulates the autocorrelation of their noise, each that of a cell of pixels.
 * 2. list_pixels takes the pixels with the weights of the core (step 5 of the fit).
 * 3. make_matrix sums A over the pixels; Cholesky gives A^-1 times the gradient of each of seven
 *    quantities.
 * 4. make_fields: the change of each quantity by the noise of each pixel; correlate sums products
 *    of the fields of two pixels times the correlation of their noise.
 *
 * Always: a pair of nearly equal Gaussians has no errors apart, but their sum has: the diagonal of
 * A is larger by a millionth.
 *
 * Cost: pixels x (parameters)^2 / 2 for A; for B each pixel meets up to some 800 neighbours (200
 * where pixels stand two a sigma), 7 products each. */
#include "measure/fit_covariance.h"

#include <stdlib.h>

enum {
    COLUMNS = FIT_MOST * FIT_PARAMETERS,
    FIXED = 3, /* parameters of a component that keeps the beam's shape: peak, u, v */
};

/* Beam sigmas between the pixels of the sums, at most; and widths of a Gaussian that is alone.
 * Fields are as smooth as the beam, and that of a wide Gaussian as the Gaussian: more pixels would
 * tell nothing more. */
static const double SPACING = 0.5, SPACING_OF_ONE = 0.75;

/* The least weight of a pixel of the core, as in the fit. */
static const double LEAST_CORE = 0.02;

/* A pixel of the part: its position in the image, in steps, and in the frame; field: the change of
 * each quantity by its noise. */
struct pixel {
    int32_t x, y;
    double u, v;
    double weight; /* of the square of its residual */
    double field[QUANTITIES];
};

struct covariance {
    const struct fit_frame *frame;
    const struct correlation *noise;
    const struct fit_set *set;
    int first[FIT_MOST + 1]; /* each component's first column */
    int n_columns;
    int32_t step_x, step_y; /* pixels are columns and rows that are multiples of these */
    struct pixel *pixels;   /* in the order of the image */
    int64_t n;
    int32_t half_x, half_y; /* pixels at offsets of -half ... half steps have correlated noise; */
    double *table;          /* the autocorrelation at these offsets, row by row */
    int64_t *window;        /* of each dy in 0 ... half_y: the first pixel at the offset -half_x */
    double matrix[COLUMNS][COLUMNS];    /* A; then its lower triangular factor */
    double solved[QUANTITIES][COLUMNS]; /* the gradients; then A^-1 gradient */
};

/* --- pixels --- */

static int compare_pixels(const void *a, const void *b) {
    const struct pixel *left = a, *right = b;
    return left->y != right->y ? (left->y > right->y) - (left->y < right->y)
                               : (left->x > right->x) - (left->x < right->x);
}

/* The Gaussian without its peak. */
static double shape_at(const double *c, double u, double v, double exponent) {
    const double du = u - c[FIT_U], dv = v - c[FIT_V];
    const double square = c[FIT_P] * du * du + 2 * c[FIT_Q] * du * dv + c[FIT_R] * dv * dv;
    return exponent * square < GAUSSIAN_REACH ? gaussian_exp(-0.5 * exponent * square) : 0;
}

/* The weight of a pixel in the fit of the core: see fit_weigh_core. */
static double core_weight(const struct covariance *c, double u, double v) {
    double weight = 0;
    for (int i = 0; i < c->set->n; i++) {
        const double *const value = c->set->value[i];
        const double area = 1 / sqrt(value[FIT_P] * value[FIT_R] - value[FIT_Q] * value[FIT_Q]);
        const double exponent = c->frame->has_beam ? fit_core_exponent(area) : 2;
        weight = fmax(weight, shape_at(value, u, v, exponent));
    }
    return weight > LEAST_CORE ? weight * weight : 0;
}

static void keep_core(struct covariance *c) {
    int64_t n = 0;
    for (int64_t i = 0; i < c->n; i++)
        if (c->pixels[i].weight > 0)
            c->pixels[n++] = c->pixels[i];
    c->n = n;
}

/* Lists the pixels of the core or, if they are too few, all pixels of the part. */
static bool list_pixels(struct covariance *c, const struct island_fit *fit,
                        const struct fit_part *part) {
    const int64_t a_pixel = (int64_t)c->step_x * c->step_y;
    int64_t n_core = 0;
    c->pixels = malloc((size_t)part->n_pixels * sizeof *c->pixels + 1);
    if (!c->pixels)
        return false;
    for (int64_t i = 0; i < part->n_pixels; i++) {
        const struct fit_pixel *from = &fit->pixels[fit->parts.order[part->first_pixel + i]];
        struct pixel *p = &c->pixels[c->n];
        if (from->x % c->step_x != 0 || from->y % c->step_y != 0)
            continue;
        *p = (struct pixel){.x = from->x / c->step_x, .y = from->y / c->step_y};
        p->u = c->frame->ux * from->x + c->frame->uy * from->y;
        p->v = c->frame->vy * from->y;
        p->weight = core_weight(c, p->u, p->v);
        n_core += p->weight > 0;
        c->n++;
    }
    if (n_core * a_pixel >= (FIT_PARAMETERS + 1) * (int64_t)c->set->n)
        keep_core(c);
    else
        for (int64_t i = 0; i < c->n; i++)
            c->pixels[i].weight = 1;
    qsort(c->pixels, (size_t)c->n, sizeof *c->pixels, compare_pixels);
    return true;
}

/* --- parameters --- */

static void count_columns(struct covariance *c) {
    for (int i = 0; i < c->set->n; i++) {
        c->first[i] = c->n_columns;
        c->n_columns += c->set->is_free[i] ? FIT_PARAMETERS : FIXED;
    }
    c->first[c->set->n] = c->n_columns;
}

/* The derivatives of the model at a point by the parameters of the components that reach it. */
struct derivatives {
    double value[COLUMNS];
    int column[COLUMNS], n;
};

static void differentiate(const struct covariance *c, double u, double v, struct derivatives *d) {
    d->n = 0;
    for (int i = 0; i < c->set->n; i++) {
        const double *const value = c->set->value[i];
        const double du = u - value[FIT_U], dv = v - value[FIT_V];
        const double g = shape_at(value, u, v, 1), all = value[FIT_PEAK] * g;
        const double of[FIT_PARAMETERS] = {g,
                                           all * (value[FIT_P] * du + value[FIT_Q] * dv),
                                           all * (value[FIT_Q] * du + value[FIT_R] * dv),
                                           -0.5 * all * du * du,
                                           -all * du * dv,
                                           -0.5 * all * dv * dv};
        for (int k = c->first[i]; g > 0 && k < c->first[i + 1]; k++) {
            d->value[d->n] = of[k - c->first[i]];
            d->column[d->n++] = k;
        }
    }
}

static void make_matrix(struct covariance *c) {
    struct derivatives d;
    for (int64_t i = 0; i < c->n; i++) {
        const struct pixel *p = &c->pixels[i];
        differentiate(c, p->u, p->v, &d);
        for (int a = 0; a < d.n; a++)
            for (int b = 0; b <= a; b++)
                c->matrix[d.column[a]][d.column[b]] += p->weight * d.value[a] * d.value[b];
    }
}

/* Factorises the matrix, its diagonal enlarged by a millionth: two Gaussians that are nearly the
 * same have no errors apart, but their sum has. */
static void factorise(struct covariance *c) {
    for (int a = 0; a < c->n_columns; a++) {
        c->matrix[a][a] *= 1 + 1e-6;
        for (int b = 0; b <= a; b++) {
            double sum = c->matrix[a][b];
            for (int k = 0; k < b; k++)
                sum -= c->matrix[a][k] * c->matrix[b][k];
            if (a == b)
                c->matrix[a][a] = sqrt(fmax(sum, 1e-12 * c->matrix[a][a]));
            else
                c->matrix[a][b] = c->matrix[b][b] > 0 ? sum / c->matrix[b][b] : 0;
        }
    }
}

/* Replaces a gradient by A^-1 gradient. */
static void solve(const struct covariance *c, double *x) {
    for (int a = 0; a < c->n_columns; a++) {
        for (int k = 0; k < a; k++)
            x[a] -= c->matrix[a][k] * x[k];
        x[a] = c->matrix[a][a] > 0 ? x[a] / c->matrix[a][a] : 0;
    }
    for (int a = c->n_columns - 1; a >= 0; a--) {
        for (int k = a + 1; k < c->n_columns; k++)
            x[a] -= c->matrix[k][a] * x[k];
        x[a] = c->matrix[a][a] > 0 ? x[a] / c->matrix[a][a] : 0;
    }
}

static void solve_all(struct covariance *c, const struct fit_gradient *gradients) {
    for (int q = 0; q < QUANTITIES; q++) {
        for (int i = 0; i < c->set->n; i++)
            for (int k = c->first[i]; k < c->first[i + 1]; k++)
                c->solved[q][k] = gradients[i].of[q][k - c->first[i]];
        solve(c, c->solved[q]);
    }
}

/* --- noise --- */

/* Sets how much the noise of each pixel changes the quantities. */
static void make_fields(struct covariance *c) {
    struct derivatives d;
    for (int64_t i = 0; i < c->n; i++) {
        struct pixel *p = &c->pixels[i];
        differentiate(c, p->u, p->v, &d);
        for (int q = 0; q < QUANTITIES; q++)
            for (int k = 0; k < d.n; k++)
                p->field[q] += p->weight * d.value[k] * c->solved[q][d.column[k]];
    }
}

/* The first pixel that is at (x, y) or later. */
static int64_t first_from(const struct covariance *c, int64_t y, int64_t x) {
    int64_t low = 0, high = c->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const struct pixel *p = &c->pixels[middle];
        if (p->y < y || (p->y == y && p->x < x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Moves the windows to pixel `index`: on from those of the pixel before, if it is in the same row.
 */
static void move_windows(const struct covariance *c, int64_t index) {
    const struct pixel *p = &c->pixels[index];
    const bool begins_row = index == 0 || p[-1].y != p->y;
    for (int32_t dy = 1; dy <= c->half_y; dy++) {
        int64_t *at = &c->window[dy];
        if (begins_row)
            *at = first_from(c, p->y + dy, p->x - c->half_x);
        while (*at < c->n && c->pixels[*at].y == p->y + dy && c->pixels[*at].x < p->x - c->half_x)
            ++*at;
    }
}

/* Adds, for the pixels of row y from index `at` on, their fields times the correlation of their
 * noise with pixel p's. row: that of the table, at the offset 0. */
static void correlate_row(const struct covariance *c, const struct pixel *p, int32_t y, int64_t at,
                          const double *row, double common[QUANTITIES]) {
    const int32_t last = p->x + c->half_x;
    for (; at < c->n && c->pixels[at].y == y && c->pixels[at].x <= last; at++) {
        const double correlation = row[c->pixels[at].x - p->x];
        for (int q = 0; q < QUANTITIES; q++)
            common[q] += correlation * c->pixels[at].field[q];
    }
}

/* Adds the products of pixel p with all pixels of correlated noise behind it, and half of that with
 * itself, and the same with the two pixels exchanged. */
static void correlate(const struct covariance *c, int64_t index,
                      double covariance[QUANTITIES][QUANTITIES]) {
    const struct pixel *p = &c->pixels[index];
    const double *row = c->table + (int64_t)c->half_y * (2 * c->half_x + 1) + c->half_x;
    double common[QUANTITIES];
    for (int q = 0; q < QUANTITIES; q++)
        common[q] = 0.5 * row[0] * p->field[q];
    correlate_row(c, p, p->y, index + 1, row, common);
    move_windows(c, index);
    for (int32_t dy = 1; dy <= c->half_y; dy++) {
        row += 2 * c->half_x + 1;
        correlate_row(c, p, p->y + dy, c->window[dy], row, common);
    }
    for (int a = 0; a < QUANTITIES; a++)
        for (int b = 0; b < QUANTITIES; b++)
            covariance[a][b] += p->field[a] * common[b] + p->field[b] * common[a];
}

/* Pixels between those of the sums may be this many widths of the fit apart, in beam sigmas: of a
 * single wide Gaussian more than of several. */
static double spacing_of(const struct fit_set *set) {
    const double *value = set->value[0];
    const struct tensor form = {value[FIT_P], value[FIT_R], value[FIT_Q]};
    const double width = 1 / sqrt(tensor_axes(&form).major);
    return set->n == 1 && width > 1 ? SPACING_OF_ONE * width : SPACING;
}

/* The lags from a pixel of the sums to the next one along an axis. per_lag: the length of a lag
 * along it, in the frame. */
static int lags_of(const struct covariance *c, double per_lag) {
    const double lags = spacing_of(c->set) / per_lag;
    return c->noise->beam.has_beam ? (int)fmin(fmax(lags, 1), CORRELATION_HALF) : 1;
}

/* The mean correlation of the pixels of two cells of m x n lags, which are i and j cells apart. */
static double mean_of_cells(const struct lags *l, int m, int n, int i, int j) {
    double sum = 0;
    for (int y = 1 - n; y < n; y++) {
        const int row = n * j + y + l->half_y;
        for (int x = 1 - m; row >= 0 && row <= 2 * l->half_y && x < m; x++) {
            const int column = m * i + x + l->half_x;
            if (column >= 0 && column <= 2 * l->half_x)
                sum += (m - abs(x)) * (n - abs(y)) * l->value[row][column];
        }
    }
    return sum / (m * m * n * n);
}

/* The correlation for sums over cells i and j apart, in which each field has the value at the
 * middle: it is not constant there, which the second difference of the correlation puts right, but
 * for the fourth order of the cell's size. */
static double correlation_of_cells(const struct lags *l, int m, int n, int i, int j) {
    const double along_x = (1 - 1.0 / (m * m)) / 12, along_y = (1 - 1.0 / (n * n)) / 12;
    double value = (1 + 2 * along_x + 2 * along_y) * mean_of_cells(l, m, n, i, j);
    if (along_x > 0)
        value -= along_x * (mean_of_cells(l, m, n, i - 1, j) + mean_of_cells(l, m, n, i + 1, j));
    if (along_y > 0)
        value -= along_y * (mean_of_cells(l, m, n, i, j - 1) + mean_of_cells(l, m, n, i, j + 1));
    return value;
}

/* Chooses the steps between pixels, and tabulates the autocorrelation of the noise at these: each
 * pixel stands for a cell. */
static bool make_table(struct covariance *c) {
    const struct lags *l = &c->noise->lags;
    const struct fit_frame *f = &c->noise->beam;
    const int m = lags_of(c, f->ux * l->step_x);
    const int n = lags_of(c, hypot(f->uy, f->vy) * l->step_y);
    c->step_x = m * (int32_t)l->step_x;
    c->step_y = n * (int32_t)l->step_y;
    c->half_x = l->half_x / m + (m > 1);
    c->half_y = l->half_y / n + (n > 1);
    const int32_t width = 2 * c->half_x + 1, height = 2 * c->half_y + 1;
    c->window = malloc((size_t)height * sizeof *c->window);
    c->table = malloc((size_t)width * (size_t)height * sizeof *c->table);
    for (int32_t i = 0; c->table && i < width * height; i++)
        c->table[i] = correlation_of_cells(l, m, n, i % width - c->half_x, i / width - c->half_y);
    return c->table && c->window;
}

/* Adds the covariance of all pairs, of which no variance is below its least value. */
static void add_covariance(const struct covariance *c, double covariance[QUANTITIES][QUANTITIES]) {
    const double a_cell = c->noise->beam.has_beam ? (double)c->step_x * c->step_y : 1;
    double of_part[QUANTITIES][QUANTITIES] = {0}, least[QUANTITIES] = {0};
    for (int64_t i = 0; i < c->n; i++) {
        correlate(c, i, of_part);
        for (int q = 0; q < QUANTITIES; q++)
            least[q] += CORRELATION_LEAST * c->pixels[i].field[q] * c->pixels[i].field[q] / a_cell;
    }
    for (int a = 0; a < QUANTITIES; a++) {
        of_part[a][a] = fmax(of_part[a][a], least[a]);
        for (int b = 0; b < QUANTITIES; b++)
            covariance[a][b] += of_part[a][b];
    }
}

bool fit_covariance_add(const struct island_fit *fit, int64_t k, const struct fit_frame *frame,
                        const struct correlation *noise, const struct fit_set *set,
                        const struct fit_gradient *gradients,
                        double covariance[QUANTITIES][QUANTITIES]) {
    struct covariance *c = calloc(1, sizeof *c);
    if (!c)
        return false;
    c->frame = frame;
    c->noise = noise;
    c->set = set;
    count_columns(c);
    const bool ok = make_table(c) && list_pixels(c, fit, &fit->parts.part[k]);
    if (ok) {
        make_matrix(c);
        factorise(c);
        solve_all(c, gradients);
        make_fields(c);
        add_covariance(c, covariance);
    }
    free(c->table);
    free(c->window);
    free(c->pixels);
    free(c);
    return ok;
}
