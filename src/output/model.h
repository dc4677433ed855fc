/* The model of an image: at each pixel the sum of the Gaussians of a catalogue. */
#ifndef MODEL_H
#define MODEL_H

#include "measure/gaussian.h"

/* The image is divided into square cells, so that a pixel needs only the Gaussians that reach its
 * cell: those of cell i are reaching[first[i]] ... reaching[first[i + 1] - 1]. */
struct model {
    const struct gaussian *gaussians;
    int64_t n_x, n_y; /* cells along x and y */
    int64_t *first;
    int32_t *reaching; /* their numbers, in rising order */
};

/* A Gaussian of peak 0 counts for nothing. gaussians must outlive the model. False where memory ran
 * out. Clear the model also then. */
bool model_make(struct model *model, const struct gaussian *gaussians, int64_t n, int64_t width,
                int64_t height);
void model_clear(struct model *model);

/* Writes the sums at n pixels of row y, from pixel x on. Each sum is in the order of the Gaussians,
 * whichever pixels are asked for together. */
void model_row(const struct model *model, int64_t y, int64_t x, int64_t n, double *sums);

#endif
