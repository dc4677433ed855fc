/* Rows that may be artefacts of a brighter source: sidelobes, and rings of gain errors. Artefacts
 * come with holes as deep as they are high, and sources do not. */
#ifndef ARTEFACTS_H
#define ARTEFACTS_H

#include "measure/row_index.h"
#include "measure/run_pixels.h"

/* What rows are compared with. */
struct artefact_image {
    const struct run_source *pixels;
    int64_t width, height;
    double fwhm; /* of the round beam whose area is the beam's, in pixels */
    /* Rows of the image of which this one is the negative: they may be the brighter ones, and those
     * that have the flag are holes in this image. All others are sources, and no holes: their
     * Gaussians, of this image, are subtracted. */
    const struct srcfind_source *opposite;
    int64_t n_opposite;
    const struct gaussian *gaussians;
    int64_t n_gaussians;
};

/* For each row that has a row of more than five times its peak within eight beams: sets `hole`, how
 * many rms the lowest pixel within six beams is below the background, and sets
 * SRCFIND_FLAG_ARTEFACT where SNR is below 1.2 times that. `hole` of all other rows becomes NaN.
 * index: of all rows. Reads the pixels around those rows, in passes over the image of some 2^20
 * pixels, x threads_batch_scale. */
enum srcfind_status artefacts_find(const struct artefact_image *image,
                                   const struct row_index *index, struct srcfind_source *rows,
                                   int64_t n, struct threads *threads, struct error *error);

#endif
