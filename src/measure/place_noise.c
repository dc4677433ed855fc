/* How the noise that two places have in common follows from the correlation that was measured.
 *
 * Both shapes together, at a lag l, are a Gaussian of l less the distance of the places, whose
 * moments are the sum of theirs. place_noise_between adds up the lags. Most places are points:
 * place_noise_make convolves the correlation with this Gaussian once, on the lattice of the
 * lags, and between its points the table is interpolated with cubic polynomials.
 *
 * Cost: an exponential for each lag, some 300, for a pair; the table some million products. */
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

static int64_t width_of(const struct place_noise *noise) {
    return 2 * (int64_t)noise->half_x + 1;
}

/* The Gaussian of the weights of two points, at offsets of up to (half_x, half_y) fine lags. */
struct kernel {
    int half_x, half_y;
    double *value;
};

static bool make_kernel(const struct place_noise *noise, struct kernel *k) {
    const struct lags *l = &noise->correlation->fine;
    const struct tensor sum = sum_of(&noise->weights, &noise->weights), form = tensor_inverse(&sum);
    k->half_x = noise->half_x - l->half_x;
    k->half_y = noise->half_y - l->half_y;
    const int width = 2 * k->half_x + 1, height = 2 * k->half_y + 1;
    const double factor =
        norm_of(&noise->weights, &noise->weights, &sum) * l->step_x * l->step_y / (2 * M_PI);
    k->value = malloc((size_t)width * (size_t)height * sizeof *k->value);
    for (int i = 0; k->value && i < width * height; i++) {
        const int row = i / width - k->half_y, column = i % width - k->half_x;
        k->value[i] = factor * gaussian_of(&form, column * l->step_x, row * l->step_y);
    }
    return k->value;
}

/* Adds a lag of the correlation to the table: the kernel, moved there. */
static void add_lag(const struct place_noise *noise, const struct kernel *k, int i, int j,
                    double value) {
    const int width = 2 * k->half_x + 1;
    for (int y = -k->half_y; y <= k->half_y; y++) {
        const double *from = k->value + (ptrdiff_t)(y + k->half_y) * width;
        double *to = noise->table + (noise->half_y + j + y) * width_of(noise) + noise->half_x + i -
                     k->half_x;
        for (int x = 0; x < width; x++)
            to[x] += value * from[x];
    }
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
    const struct lags *l = &correlation->fine;
    const struct place point = {.moments = *beam, .power = power};
    *noise = (struct place_noise){
        .correlation = correlation, .beam = *beam, .weights = place_weights(&point).moments};
    if (!correlation->is_measured)
        return true;
    noise->half_x = l->half_x + (int)ceil(REACH * sqrt(2 * noise->weights.xx) / l->step_x);
    noise->half_y = l->half_y + (int)ceil(REACH * sqrt(2 * noise->weights.yy) / l->step_y);
    struct kernel kernel;
    const bool has_kernel = make_kernel(noise, &kernel);
    noise->table =
        calloc((size_t)(width_of(noise) * (2 * (int64_t)noise->half_y + 1)), sizeof *noise->table);
    for (int j = -l->half_y; has_kernel && noise->table && j <= l->half_y; j++)
        for (int i = l->first[j + l->half_y]; i <= lags_last(l, j); i++)
            add_lag(noise, &kernel, i, j, l->value[j + l->half_y][i + l->half_x]);
    free(kernel.value);
    if (!has_kernel)
        place_noise_clear(noise);
    return noise->table;
}

void place_noise_clear(struct place_noise *noise) {
    free(noise->table);
    *noise = (struct place_noise){0};
}

/* The weights of four points, of which the second is t before the place (Catmull and Rom 1974). */
static void weigh(double t, double weights[4]) {
    weights[0] = 0.5 * t * (-1 + t * (2 - t));
    weights[1] = 0.5 * (2 + t * t * (3 * t - 5));
    weights[2] = 0.5 * t * (1 + t * (4 - 3 * t));
    weights[3] = 0.5 * t * t * (t - 1);
}

/* The table at a distance; 0 outside of it. */
static double interpolate(const struct place_noise *noise, double dx, double dy) {
    const struct lags *l = &noise->correlation->fine;
    const double u = dx / l->step_x, v = dy / l->step_y;
    double along_x[4], along_y[4], sum = 0;
    if (!(fabs(u) < noise->half_x - 2 && fabs(v) < noise->half_y - 2))
        return 0;
    const double i = floor(u), j = floor(v);
    weigh(u - i, along_x);
    weigh(v - j, along_y);
    const double *from = noise->table + (noise->half_y + (int64_t)j - 1) * width_of(noise) +
                         noise->half_x + (int64_t)i - 1;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            sum += along_y[y] * along_x[x] * from[y * width_of(noise) + x];
    return sum;
}

static bool is_point(const struct place_noise *noise, const struct place *p) {
    const struct tensor *m = &p->moments, *b = &noise->weights;
    return fabs(m->xx - b->xx) + fabs(m->yy - b->yy) + fabs(m->xy - b->xy) < 1e-9 * (b->xx + b->yy);
}

double place_noise_between(const struct place_noise *noise, const struct place *a,
                           const struct place *b) {
    if (!noise->table)
        return between_by_beam(noise, a, b);
    if (is_point(noise, a) && is_point(noise, b))
        return interpolate(noise, b->x - a->x, b->y - a->y);
    return sum_lags(&noise->correlation->fine, &a->moments, &b->moments, b->x - a->x, b->y - a->y);
}
