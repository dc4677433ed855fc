/* Directions in the frames of the sky, and how they are turned into each other. */
#ifndef SKY_H
#define SKY_H

#include <stdbool.h>

enum sky_frame { SKY_ICRS, SKY_FK5, SKY_FK4, SKY_GALACTIC };

/* A unit vector: x towards longitude 0 and latitude 0, z towards the north pole. */
struct direction {
    double at[3];
};

struct direction sky_direction(double lon, double lat); /* degrees */
void sky_position(const struct direction *d, double *lon, double *lat);

/* Sets *frame to that of an image, by its name and its equinox (NaN: not given). False for a frame
 * or an equinox that regions cannot be turned to. */
bool sky_frame_of_image(const char *name, double equinox, enum sky_frame *frame);

/* Turns a direction into another frame: FK5 has the equinox J2000; FK4 has B1950, with its terms of
 * elliptic aberration, and no rotation since then (the epoch of observation is B1950). */
struct direction sky_turn(const struct direction *d, enum sky_frame from, enum sky_frame to);

/* The squared distance between the tips of two directions: (2 sin(angle / 2))^2. */
double sky_chord_squared(const struct direction *a, const struct direction *b);

double sky_dot(const struct direction *a, const struct direction *b);

/* Directions at right angles to a direction: east and north there. */
void sky_tangents(const struct direction *d, struct direction *east, struct direction *north);

#endif
