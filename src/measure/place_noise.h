/* The noise that the sums over the shapes of two places have in common. */
#ifndef PLACE_NOISE_H
#define PLACE_NOISE_H

#include "measure/correlation.h"
#include "measure/place.h"

/* The same for two places of these moments, pixels^2, at offsets of up to (half_x, half_y) fine
 * lags, row by row. */
struct pair_table {
    struct tensor first, second;
    int half_x, half_y;
    double *value;
};

struct place_noise {
    const struct correlation *correlation;
    struct tensor beam; /* second moments, pixels^2 */
    /* Of the weights of two points, and of the weights of a point and the shape of another one; no
     * values: the correlation is that of the beam, which has a closed form. */
    struct pair_table weights, mixed;
};

/* The power of the weights g^(1 + power) of points of the beam's shape with which the amplitude of
 * a lone point has the least error: 0, 1, 2 or 4. beam: its second moments. */
double place_noise_power(const struct correlation *correlation, const struct tensor *beam);

/* Makes the tables, for points whose weights have this power. False where memory ran out. */
bool place_noise_make(const struct correlation *correlation, const struct tensor *beam,
                      double power, struct place_noise *noise);
void place_noise_clear(struct place_noise *noise);

/* The integral over all pairs of positions x and y of the shape of place a at x, the correlation of
 * the noise at x and y, and the shape of place b at y, over (2 pi)^2. Where the correlation was
 * measured, it is a sum over its lags of the product of both shapes at the lag, which has a closed
 * form. */
double place_noise_between(const struct place_noise *noise, const struct place *a,
                           const struct place *b);

/* The integral of the product of two shapes, over 2 pi. */
double place_product(const struct place *a, const struct place *b);

#endif
