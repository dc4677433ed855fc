/* The grey levels of a picture, from white at -3 rms to black at the highest value, by asinh:
 * noise, faint and bright sources are all seen. */
#ifndef STRETCH_H
#define STRETCH_H

#include "output/picture/block_means.h"
#include "output/result.h"

/* Values are in units of the rms above the background. */
struct stretch {
    double zero, unit; /* background and rms, in the map's unit */
    double low, high;  /* the values of white and black, stretched */
};

/* Sets zero and unit. */
struct stretch stretch_of_noise(const struct result *result);

/* Sets low and high. */
void stretch_to(struct stretch *stretch, const struct block_means *means);

/* The value of a level, from 0 (white) to 1 (black). */
double stretch_value(const struct stretch *stretch, double level);

/* The level of a value, in units: below 0 what is beyond white, above 1 what is beyond black. */
double stretch_level(const struct stretch *stretch, double value);

/* The colour of a value, 0x00RRGGBB; that of NaN is a light blue. */
uint32_t stretch_colour(const struct stretch *stretch, double value);

#endif
