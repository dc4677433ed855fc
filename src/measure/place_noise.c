/* How the noise that two places have in common follows from the correlation that was measured.
 *
 * Both shapes together, at a lag l, are a Gaussian of l less the distance of the places, whose
 * moments are the sum of theirs. place_noise_between adds up the lags. Most places are points:
 * place_noise_make convolves the correlation with this Gaussian once, on the lattice of the
 * lags, and between its points the table is interpolated with cubic polynomials. One table is that
 * of the weights of two points, another one that of the weights of a point and the shape of
 * another.
 *
 * Cost: an exponential for each lag, some 300, for a pair; a table some million products. */
#include "measure/place_noise.h"

#include <stddef.h>
#include <stdlib.h>

/* Sigmas of the Gaussian beyond which it is 0. */
static const double REACH = 5;

/* A Gaussian of these moments at an offset, without its norm. */
static double gaussian_of(const struct tensor *form, double dx, double dy) {
    const double square = form->xx * dx * dx + 2 * form->xy * dx * dy + form->yy * dy * dy;
    return square < REACH * REACH ? gaussian_exp(-0.5 * square) : 0;
}

static struct tensor sum_of(const struct tensor *a, const struct tensor *b) {
    return (struct tensor){a->xx + b->xx, a->yy + b->yy, a->xy + b->xy};
}

/* The factor of the Gaussian of two shapes. */
static double norm_of(const struct tensor *a, const struct tensor *b, const struct tensor *sum) {
    return sqrt(tensor_determinant(a) * tensor_determinant(b) / tensor_determinant(sum));
}

double place_product(const struct place *a, const struct place *b) {
    const struct tensor sum = sum_of(&a->moments, &b->moments), form = tensor_inverse(&sum);
    const double dx = b->x - a->x, dy = b->y - a->y;
    const double square = form.xx * dx * dx + 2 * form.xy * dx * dy + form.yy * dy * dy;
    return square < 2 * PLACE_REACH
               ? norm_of(&a->moments, &b->moments, &sum) * gaussian_exp(-0.5 * square)
               : 0;
}

/* The same with noise that is correlated as the beam is: a convolution of three Gaussians. */
static double between_by_beam(const struct place_noise *noise, const struct place *a,
                              const struct place *b) {
    const struct tensor shapes = sum_of(&a->moments, &b->moments);
    const struct tensor sum = sum_of(&shapes, &noise->beam), form = tensor_inverse(&sum);
    const double dx = b->x - a->x, dy = b->y - a->y;
    const double square = form.xx * dx * dx + 2 * form.xy * dx * dy + form.yy * dy * dy;
    const double product = tensor_determinant(&a->moments) * tensor_determinant(&b->moments) *
                           tensor_determinant(&noise->beam);
    return square < 2 * PLACE_REACH
               ? sqrt(product / tensor_determinant(&sum)) * gaussian_exp(-0.5 * square)
               : 0;
}

/* The sum over the lags for two shapes of these moments at a distance. */
static double sum_lags(const struct lags *l, const struct tensor *a, const struct tensor *b,
                       double dx, double dy) {
    const struct tensor sum = sum_of(a, b), form = tensor_inverse(&sum);
    double total = 0;
    for (int j = -l->half_y; j <= l->half_y; j++)
        for (int i = l->first[j + l->half_y]; i <= lags_last(l, j); i++)
            total += l->value[j + l->half_y][i + l->half_x] *
                     gaussian_of(&form, i * l->step_x - dx, j * l->step_y - dy);
    return total * norm_of(a, b, &sum) * l->step_x * l->step_y / (2 * M_PI);
}

static int64_t width_of(const struct pair_table *table) {
    return 2 * (int64_t)table->half_x + 1;
}

/* The Gaussian of two shapes, at offsets of up to (half_x, half_y) fine lags. */
struct kernel {
    int half_x, half_y;
    double *value;
};

static bool make_kernel(const struct lags *l, const struct pair_table *table, struct kernel *k) {
    const struct tensor sum = sum_of(&table->first, &table->second), form = tensor_inverse(&sum);
    k->half_x = table->half_x - l->half_x;
    k->half_y = table->half_y - l->half_y;
    const int width = 2 * k->half_x + 1, height = 2 * k->half_y + 1;
    const double factor =
        norm_of(&table->first, &table->second, &sum) * l->step_x * l->step_y / (2 * M_PI);
    k->value = malloc((size_t)width * (size_t)height * sizeof *k->value);
    for (int i = 0; k->value && i < width * height; i++) {
        const int row = i / width - k->half_y, column = i % width - k->half_x;
        k->value[i] = factor * gaussian_of(&form, column * l->step_x, row * l->step_y);
    }
    return k->value;
}

/* Adds a lag of the correlation to a table: the kernel, moved there. */
static void add_lag(const struct pair_table *table, const struct kernel *k, int i, int j,
                    double value) {
    const int width = 2 * k->half_x + 1;
    for (int y = -k->half_y; y <= k->half_y; y++) {
        const double *from = k->value + (ptrdiff_t)(y + k->half_y) * width;
        double *to = table->value + (table->half_y + j + y) * width_of(table) + table->half_x + i -
                     k->half_x;
        for (int x = 0; x < width; x++)
            to[x] += value * from[x];
    }
}

/* Makes the values of a table, whose moments are set. */
static bool make_table(const struct lags *l, struct pair_table *table) {
    const struct tensor sum = sum_of(&table->first, &table->second);
    table->half_x = l->half_x + (int)ceil(REACH * sqrt(sum.xx) / l->step_x);
    table->half_y = l->half_y + (int)ceil(REACH * sqrt(sum.yy) / l->step_y);
    struct kernel kernel;
    const bool has_kernel = make_kernel(l, table, &kernel);
    table->value =
        calloc((size_t)(width_of(table) * (2 * (int64_t)table->half_y + 1)), sizeof *table->value);
    for (int j = -l->half_y; has_kernel && table->value && j <= l->half_y; j++)
        for (int i = l->first[j + l->half_y]; i <= lags_last(l, j); i++)
            add_lag(table, &kernel, i, j, l->value[j + l->half_y][i + l->half_x]);
    free(kernel.value);
    return has_kernel && table->value;
}

double place_noise_power(const struct correlation *correlation, const struct tensor *beam) {
    static const double powers[] = {0, 1, 2, 4};
    const struct place_noise noise = {.correlation = correlation, .beam = *beam};
    struct place point = {.moments = *beam, .form = tensor_inverse(beam)};
    double best = 0, least = INFINITY;
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        point.power = powers[i];
        const struct place weights = place_weights(&point);
        const double of_noise =
            correlation->is_measured
                ? sum_lags(&correlation->fine, &weights.moments, &weights.moments, 0, 0)
                : between_by_beam(&noise, &weights, &weights);
        const double error = sqrt(of_noise) / place_product(&weights, &point);
        best = error < least ? powers[i] : best;
        least = error < least ? error : least;
    }
    return best;
}

bool place_noise_make(const struct correlation *correlation, const struct tensor *beam,
                      double power, struct place_noise *noise) {
    const struct place point = {.moments = *beam, .power = power};
    const struct tensor weights = place_weights(&point).moments;
    *noise = (struct place_noise){.correlation = correlation,
                                  .beam = *beam,
                                  .weights = {.first = weights, .second = weights},
                                  .mixed = {.first = weights, .second = *beam}};
    return !correlation->is_measured || (make_table(&correlation->fine, &noise->weights) &&
                                         make_table(&correlation->fine, &noise->mixed));
}

void place_noise_clear(struct place_noise *noise) {
    free(noise->weights.value);
    free(noise->mixed.value);
    *noise = (struct place_noise){0};
}

/* The weights of four points, of which the second is t before the place (Catmull and Rom 1974). */
static void weigh(double t, double weights[4]) {
    weights[0] = 0.5 * t * (-1 + t * (2 - t));
    weights[1] = 0.5 * (2 + t * t * (3 * t - 5));
    weights[2] = 0.5 * t * (1 + t * (4 - 3 * t));
    weights[3] = 0.5 * t * t * (t - 1);
}

/* A table at a distance; 0 outside of it. */
static double interpolate(const struct lags *l, const struct pair_table *table, double dx,
                          double dy) {
    const double u = dx / l->step_x, v = dy / l->step_y;
    double along_x[4], along_y[4], sum = 0;
    if (!(fabs(u) < table->half_x - 2 && fabs(v) < table->half_y - 2))
        return 0;
    const double i = floor(u), j = floor(v);
    weigh(u - i, along_x);
    weigh(v - j, along_y);
    const double *from = table->value + (table->half_y + (int64_t)j - 1) * width_of(table) +
                         table->half_x + (int64_t)i - 1;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            sum += along_y[y] * along_x[x] * from[y * width_of(table) + x];
    return sum;
}

static bool are_same(const struct tensor *a, const struct tensor *b) {
    return fabs(a->xx - b->xx) + fabs(a->yy - b->yy) + fabs(a->xy - b->xy) < 1e-9 * (b->xx + b->yy);
}

/* Whether a table is of two shapes of these moments. */
static bool is_of(const struct pair_table *table, const struct tensor *a, const struct tensor *b) {
    return are_same(a, &table->first) && are_same(b, &table->second);
}

double place_noise_between(const struct place_noise *noise, const struct place *a,
                           const struct place *b) {
    const struct lags *l = &noise->correlation->fine;
    const double dx = b->x - a->x, dy = b->y - a->y;
    if (!noise->weights.value)
        return between_by_beam(noise, a, b);
    if (is_of(&noise->weights, &a->moments, &b->moments))
        return interpolate(l, &noise->weights, dx, dy);
    if (is_of(&noise->mixed, &a->moments, &b->moments))
        return interpolate(l, &noise->mixed, dx, dy);
    return sum_lags(l, &a->moments, &b->moments, dx, dy);
}
