/* A pixel source that keeps a sample, on a grid, of the pixels that are read through it. The sample
 * costs no read, and is the same for all files, backends and orders of reading. */
#ifndef SAMPLED_H
#define SAMPLED_H

#include "input/pixel_source.h"

/* Rows and columns of the sample are spread evenly over the image. */
struct sampled {
    struct pixel_source stored; /* what the pixels are read from */
    int64_t n_rows, n_columns;
    int64_t step; /* from column to column */
    _Atomic uint32_t
        *bits; /* of the pixels, in the byte order of the source: bits[r * n_columns + c] */
};

/* Makes a source of the pixels of `stored`. All pixels of a small image are kept, and some ten
 * thousand of a larger one; those that are not read stay blank. `sampled` and the state of `stored`
 * must outlive the source; the caller clears `sampled`. */
bool sampled_source(struct sampled *sampled, const struct pixel_source *stored,
                    struct pixel_source *source);
void sampled_clear(struct sampled *sampled);

/* A value of the sample. */
float sampled_value(const struct sampled *sampled, int64_t r, int64_t c);

#endif
