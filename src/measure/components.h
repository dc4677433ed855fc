/* Components: the sources into which islands are divided (--deblend), and which are fitted by
 * Gaussians (--fit). */
#ifndef COMPONENTS_H
#define COMPONENTS_H

#include "backend/backend.h"
#include "measure/gaussian.h"
#include "measure/sweeps.h"

/* A source of an island. */
struct component {
    int64_t island;        /* its index */
    struct island pixels;  /* extent and moments of its own pixels; n_pixels 0: it has none */
    int64_t highest;       /* its highest pixel, or the island's where it has none: an index */
    struct noise_at noise; /* there */
    struct noise_at island_noise; /* at the island's highest pixel */
    bool is_alone; /* the island's only source: `pixels` are those of the island; else
                      their moments are those of value - background */
    bool is_fitted, has_beam_shape;
    struct gaussian gaussian; /* if fitted, in the map's unit */
    double residual_rms;      /* of the island; NAN without a fit */
};

/* How islands are divided. */
struct dividing {
    const struct run_source *from; /* of the pixels */
    const struct detection *detection;
    double contrast;             /* of peaks, in units of the rms */
    const struct fitter *fitter; /* NULL: divide only */
    struct fit_frame frame;
    double margin;      /* of islands, in pixels */
    bool keeps_sources; /* whether components have the source of each pixel */
};

/* The sources of a range of islands, in the order of the islands; the brightest of an island first.
 */
struct components {
    struct component *component;
    int64_t n;
    int32_t *source_of_pixel; /* the index of the component; NULL if it is not kept */
};

/* The first island of the batch that ends before island `end`: batches limit the memory. */
int64_t components_batch_first(const struct dividing *dividing, const struct segments *segments,
                               int64_t end);

/* Divides the islands [first, end) of segments with runs. Where the user gives maps of the noise,
 * sets the islands' peaks and moments. Clear the result also after an error. */
enum srcfind_status components_find(const struct dividing *dividing,
                                    const struct segments *segments, int64_t first, int64_t end,
                                    struct threads *threads, struct components *components,
                                    struct error *error);
void components_clear(struct components *components);

#endif
