/* Components: the sources into which islands are divided (--deblend), and which are fitted by
 * Gaussians (--fit). */
#ifndef COMPONENTS_H
#define COMPONENTS_H

#include "backend/backend.h"
#include "measure/composite.h"
#include "measure/sweeps.h"

/* A source of an island. */
struct component {
    int64_t island;       /* its index */
    struct island pixels; /* extent and moments of its own pixels; n_pixels 0: it has none */
    int64_t highest;      /* its highest pixel, or the island's where it has none: an index */
    double snr;           /* the largest (value - background) / rms of its own pixels, where islands
                             were found; the island's where it has none */
    double least, most;   /* value - background of its own pixels */
    struct noise_at noise;        /* there */
    struct noise_at island_noise; /* at the island's highest pixel */
    bool is_alone; /* the island's only source: `pixels` are those of the island; else
                      their moments are those of value - background */
    int64_t first_gaussian, n_gaussians; /* in components.gaussian; n_gaussians 0: not fitted */
    const struct composite *composite;   /* of several Gaussians; else NULL */
    double residual_rms;                 /* of the island; NAN without a fit */
    double pix_snr; /* see island_fit.h, the largest of its Gaussians; NAN without a fit */
};

/* A fitted Gaussian, in the map's unit and the pixels of the image. */
struct component_gaussian {
    struct gaussian gaussian;
    bool has_beam_shape;
    double lost;       /* of its flux, by the beam's shape: see island_fit.h */
    int64_t component; /* whose it is: an index */
};

/* How islands are divided. */
struct dividing {
    /* Pixels of the image that is measured, and of the one in which islands were found, where they
     * are divided and have their highest pixels and margins; the same pointer for one image. */
    const struct run_source *measure, *detect;
    const struct detection *detection;
    double contrast;             /* of peaks, in units of the rms */
    const struct fitter *fitter; /* NULL: divide only */
    struct fit_frame frame;
    struct fit_frame noise; /* whose unit circle is the autocorrelation of the noise */
    double group_tolerance; /* of Gaussians that are one source: see group.h */
    double correlated;      /* area over which noise is correlated, in pixels */
    double margin;          /* of islands, in pixels */
    bool keeps_sources;     /* whether components have the source of each pixel */
};

/* The sources of a range of islands, in the order of the islands; the brightest of an island first.
 * Gaussians are in the order of their sources, the brightest of a source first. */
struct components {
    struct component *component;
    int64_t n;
    struct component_gaussian *gaussian;
    int64_t n_gaussians;
    struct composite *composite;
    int64_t n_composites, n_of_composites; /* and the Gaussians that they have */
    int32_t *source_of_pixel;              /* the index of the component; NULL if it is not kept */
};

/* The first island of the batch that ends before island `end`: batches limit the memory. */
int64_t components_batch_first(const struct dividing *dividing, const struct segments *segments,
                               int64_t end);

/* Divides the islands [first, end) of segments with runs. Where the user gives maps of the noise,
 * and where islands were found in other pixels, sets the islands' peaks and moments. Clear the
 * result also after an error. */
enum srcfind_status components_find(const struct dividing *dividing,
                                    const struct segments *segments, int64_t first, int64_t end,
                                    struct threads *threads, struct components *components,
                                    struct error *error);
void components_clear(struct components *components);

#endif
