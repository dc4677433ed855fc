/* Divides an island into sources at saddles, by union-find over its pixels in falling order: the
 * persistence of peaks (Edelsbrunner, Letscher and Zomorodian 2002, Discrete Comput. Geom. 28,
 * 511).
 */
#ifndef DEBLEND_H
#define DEBLEND_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"

/* The pixels of an island, in the order of the image. */
struct island_pixels {
    int64_t n;
    int32_t *x, *y;
    const float *value; /* like background and rms, not its own: see run_pixels.h */
    const double *background, *rms;
};

/* value - background of pixel i. */
static inline double island_above(const struct island_pixels *p, int64_t i) {
    return (double)p->value[i] - p->background[i];
}

/* The source of each pixel, from 0, and the index of each source's highest pixel. Sources are in
 * the falling order of their peaks. */
struct deblended {
    int32_t *source_of;
    int32_t *peak;
    int32_t n;
    double *snr;       /* of each source: the largest (value - background) / rms of its pixels */
    double island_snr; /* the largest of them */
    int32_t n_added;   /* of them, the last ones: starts of Gaussians that a second fit adds, which
                          own no pixel (flux_check.h); 0 from deblend */
};

/* A branch that meets a higher one ends there. It is a source if its peak is at least contrast x
 * rms above the pixel where they meet, and above threshold x rms, with the rms at the peak; else
 * its pixels belong to the higher one. The highest peak is always a source. Of equal pixels the
 * first one counts as higher. Where the noise is steep, no pixel of the highest peak may pass the
 * threshold, though one of the island does: its snr is then the island's. The result is in the
 * arena. False where memory ran out, or if the island has 2^31 pixels or more. */
bool deblend(const struct island_pixels *pixels, double threshold, double contrast,
             struct arena *arena, struct deblended *result);

#endif
