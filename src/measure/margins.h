/* The pixels around islands, which a fit needs beside those of the island: see docs/components.md.
 */
#ifndef MARGINS_H
#define MARGINS_H

#include "backend/backend.h"

/* A run of a margin, whose values are values[first] and so on. */
struct margin_run {
    struct run run;
    int64_t first;
};

/* The margin of an island: the pixels within some distance of it that are not its own. */
struct margin {
    struct margin_run *runs; /* in the order of the image */
    int64_t n_runs, n_pixels;
    float *values;             /* one run after the other; NaN where blank */
    struct noise_given *given; /* beside the values, if maps of the noise are given; else NULL */
};

/* Margins are no wider, in pixels: around a larger beam, which would be a mistake in a header, a
 * disc has more pixels than a fit may have (backend/fit.h). */
static const double MARGIN_MOST = 144;

/* Finds the runs of a margin, in an image of width x height. Pixels are within it if dx^2 + dy^2 <=
 * radius^2. False where memory ran out. Clear the margin also then. */
bool margin_find(const struct run *island, int64_t n_runs, double radius, int64_t width,
                 int64_t height, struct margin *margin);
void margin_clear(struct margin *margin);

/* Reads the values of n margins in one pass over the parts of the image where they are. They are
 * sorted by the row of their first run; runs may be empty (x0 > x1). A margin has no run only if
 * its island is the whole image. */
enum srcfind_status margins_read(struct margin *margins, int64_t n,
                                 const struct pixel_source *source,
                                 const struct noise_sources *maps, struct threads *threads,
                                 struct error *error);

#endif
