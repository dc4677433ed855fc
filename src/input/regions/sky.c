#include "input/regions/sky.h"

#include <math.h>
#include <string.h>

/* Rows of matrices to FK5 of J2000, from ICRS (USNO Circular 179, section 3), from FK4 of B1950
 * without terms of elliptic aberration (Murray 1989, A&A 218, 325, equation 28), and to galactic
 * coordinates, whose pole is at 192.8594812065348, 27.12825118085622 and has the longitude
 * 122.9319185680026 (Reid and Brunthaler 2004, ApJ 616, 872, appendix). */
static const double fk5_of_icrs[3][3] = {
    {9.9999999999999278e-01, -1.1102233297408340e-07, -4.4118044980967761e-08},
    {1.1102233723050031e-07, 9.9999999999998912e-01, 9.6477922540797404e-08},
    {4.4118034269763241e-08, -9.6477927438885170e-08, 9.9999999999999434e-01}};
static const double fk5_of_fk4[3][3] = {
    {0.9999256794956877, -0.0111814832204662, -0.0048590038153592},
    {0.0111814832391717, 0.9999374848933135, -0.0000271625947142},
    {0.0048590037723143, -0.0000271702937440, 0.9999881946023742}};
static const double galactic_of_fk5[3][3] = {
    {-0.05487553939571452, -0.8734371047274332, -0.4838349917703224},
    {0.49410945362336345, -0.44482959429881663, 0.74698224870205},
    {-0.8676661356858694, -0.1980763896109499, 0.4559837945175692}};

/* The terms of elliptic aberration of B1950 (Explanatory Supplement 1992, section 3.531). */
static const struct direction aberration = {
    {-1.6255741516894347e-06, -3.191905371563791e-07, -1.384290671929659e-07}};

struct direction sky_direction(double lon, double lat) {
    const double l = lon * M_PI / 180, b = lat * M_PI / 180;
    return (struct direction){{cos(b) * cos(l), cos(b) * sin(l), sin(b)}};
}

void sky_position(const struct direction *d, double *lon, double *lat) {
    const double turned = atan2(d->at[1], d->at[0]) * 180 / M_PI;
    *lon = turned < 0 ? turned + 360 : turned;
    *lat = atan2(d->at[2], hypot(d->at[0], d->at[1])) * 180 / M_PI;
}

bool sky_frame_of_image(const char *name, double equinox, enum sky_frame *frame) {
    static const struct {
        const char *name;
        double equinox; /* 0: has none */
    } known[] = {[SKY_ICRS] = {"ICRS", 0},
                 [SKY_FK5] = {"FK5", 2000},
                 [SKY_FK4] = {"FK4", 1950},
                 [SKY_GALACTIC] = {"GALACTIC", 0}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i].name) != 0)
            continue;
        *frame = (enum sky_frame)i;
        return known[i].equinox == 0 || isnan(equinox) || equinox == known[i].equinox;
    }
    return false;
}

double sky_dot(const struct direction *a, const struct direction *b) {
    return a->at[0] * b->at[0] + a->at[1] * b->at[1] + a->at[2] * b->at[2];
}

double sky_chord_squared(const struct direction *a, const struct direction *b) {
    const double x = a->at[0] - b->at[0], y = a->at[1] - b->at[1], z = a->at[2] - b->at[2];
    return x * x + y * y + z * z;
}

void sky_tangents(const struct direction *d, struct direction *east, struct direction *north) {
    double lon, lat;
    sky_position(d, &lon, &lat);
    *east = sky_direction(lon + 90, 0);
    *north = sky_direction(lon, lat + 90);
}

static struct direction normalised(const struct direction *d) {
    const double length = sqrt(sky_dot(d, d));
    return (struct direction){{d->at[0] / length, d->at[1] / length, d->at[2] / length}};
}

/* The product with a matrix or, if it is to be inverted, its transpose. */
static struct direction rotated(const double m[3][3], bool is_inverse, const struct direction *d) {
    struct direction r = {{0}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            r.at[i] += (is_inverse ? m[k][i] : m[i][k]) * d->at[k];
    return normalised(&r);
}

static struct direction without_aberration(const struct direction *d) {
    const double along = sky_dot(&aberration, d);
    struct direction r;
    for (int i = 0; i < 3; i++)
        r.at[i] = d->at[i] * (1 + along) - aberration.at[i];
    return normalised(&r);
}

static struct direction with_aberration(const struct direction *d) {
    enum { ROUNDS = 4 }; /* each leaves a millionth of the error */
    struct direction r = *d;
    for (int round = 0; round < ROUNDS; round++) {
        const double along = 1 + sky_dot(&aberration, &r);
        for (int i = 0; i < 3; i++)
            r.at[i] = (d->at[i] + aberration.at[i]) / along;
    }
    return normalised(&r);
}

struct direction sky_turn(const struct direction *d, enum sky_frame from, enum sky_frame to) {
    struct direction r = *d;
    if (from == to)
        return r;
    if (from == SKY_ICRS) {
        r = rotated(fk5_of_icrs, false, &r);
    } else if (from == SKY_FK4) {
        r = without_aberration(&r);
        r = rotated(fk5_of_fk4, false, &r);
    } else if (from == SKY_GALACTIC) {
        r = rotated(galactic_of_fk5, true, &r);
    }
    if (to == SKY_ICRS) {
        r = rotated(fk5_of_icrs, true, &r);
    } else if (to == SKY_FK4) {
        r = rotated(fk5_of_fk4, true, &r);
        r = with_aberration(&r);
    } else if (to == SKY_GALACTIC) {
        r = rotated(galactic_of_fk5, false, &r);
    }
    return r;
}
