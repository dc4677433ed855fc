/* A base cell is divided into 2^29 x 2^29 cells, whose number has the bits of x and y in turn. In
 * the zone between the latitudes whose sines are -2/3 and 2/3 lines of equal x and y are straight
 * in longitude and sine; in the caps, in longitude times the distance from the pole. */
#include "input/regions/healpix.h"

#include <math.h>

static const int64_t SIDE = INT64_C(1) << HEALPIX_ORDER;

/* Puts a 0 between any two bits. */
static int64_t spread(int64_t x) {
    uint64_t v = (uint64_t)x;
    v = (v | v << 16) & UINT64_C(0x0000ffff0000ffff);
    v = (v | v << 8) & UINT64_C(0x00ff00ff00ff00ff);
    v = (v | v << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    v = (v | v << 2) & UINT64_C(0x3333333333333333);
    v = (v | v << 1) & UINT64_C(0x5555555555555555);
    return (int64_t)v;
}

static int64_t number(int64_t base, int64_t x, int64_t y) {
    return (base << (2 * HEALPIX_ORDER)) + spread(x) + 2 * spread(y);
}

static int64_t below(double value, int64_t most) {
    const int64_t whole = (int64_t)value;
    return whole < most ? whole : most;
}

/* turn: longitude in quarters of a circle, 0 <= turn < 4. */
static int64_t cell_of_zone(double z, double turn) {
    const double along = (double)SIDE * (0.5 + turn), across = (double)SIDE * z * 0.75;
    const int64_t rising = (int64_t)(along - across), falling = (int64_t)(along + across);
    const int64_t a = rising >> HEALPIX_ORDER, b = falling >> HEALPIX_ORDER;
    const int64_t base = a == b ? (a & 3) + 4 : a < b ? a & 3 : (b & 3) + 8;
    return number(base, falling & (SIDE - 1), SIDE - (rising & (SIDE - 1)) - 1);
}

static int64_t cell_of_cap(double z, double from_axis, double turn) {
    const int64_t quarter = below(turn, 3);
    const double within = turn - (double)quarter;
    const double scaled = (double)SIDE * from_axis / sqrt((1 + fabs(z)) / 3);
    const int64_t a = below(within * scaled, SIDE - 1), b = below((1 - within) * scaled, SIDE - 1);
    return z >= 0 ? number(quarter, SIDE - b - 1, SIDE - a - 1) : number(quarter + 8, a, b);
}

int64_t healpix_cell(const struct direction *d) {
    const double turned = atan2(d->at[1], d->at[0]) * M_2_PI;
    const double positive = turned < 0 ? turned + 4 : turned, turn = positive < 4 ? positive : 0;
    return fabs(d->at[2]) <= 2. / 3 ? cell_of_zone(d->at[2], turn)
                                    : cell_of_cap(d->at[2], hypot(d->at[0], d->at[1]), turn);
}
