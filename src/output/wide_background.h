/* The background where there are sources of scales. These were measured above the background of the
 * smoothed image, and not above local background, which has a part of their emission: with the
 * former image = model + background + residual, and no emission is in two of them. */
#ifndef WIDE_BACKGROUND_H
#define WIDE_BACKGROUND_H

#include "backend/noise_map.h"
#include "output/label_rows.h"
#include "output/result.h"

struct wide_background {
    struct label_rows gaussians; /* their numbers, from 1; empty where there are none */
    double *values;              /* the background below each of them, in the map's unit */
};

/* Finds the pixels within one FWHM of the centre of each Gaussian of a scale, in what is searched
 * of an image; positions of rows are those of the whole image. Where several overlap, that of the
 * widest scale counts: the narrower ones were subtracted before it was found. Clear it also if this
 * fails: false where memory ran out. */
bool wide_background_make(struct wide_background *wide, const struct sources *sources,
                          const struct srcfind_image *image);
void wide_background_clear(struct wide_background *wide);

/* Replaces the background of the pixels [x, x + n) of row y, n <= NOISE_RANGE, where they are
 * within a Gaussian of a scale. */
void wide_background_put(const struct wide_background *wide, int64_t x, int64_t y, int64_t n,
                         struct noise_at *noise);

#endif
