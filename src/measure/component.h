/* A component: a source into which an island is divided (--deblend), or that is fitted by Gaussians
 * (--fit). */
#ifndef COMPONENT_H
#define COMPONENT_H

#include "backend/backend.h"
#include "measure/composite.h"
#include "measure/psf.h"
#include "measure/sweeps.h"

/* A source of an island. */
struct component {
    int64_t island;       /* its index */
    struct island pixels; /* extent and moments of its pixels; n_pixels 0: it has none */
    int64_t highest;      /* index of its highest pixel; of the island's, if it has no pixels */
    double snr; /* the largest (value - background) / rms of its pixels in the detection image; the
                   island's, if it has no pixels */
    double least, most;           /* least and largest value - background of its pixels */
    struct noise_at noise;        /* at its highest pixel */
    struct noise_at island_noise; /* at the island's highest pixel */
    bool is_alone; /* the only source of its island. `pixels` are then the island's; else their
                      moments are of value - background */
    int64_t first_gaussian, n_gaussians; /* in components.gaussian; n_gaussians 0: not fitted */
    const struct composite *composite;   /* of several Gaussians; else NULL */
    double residual_rms, residual_mean;  /* of the island; NAN without a fit */
    struct fit_residual residual;        /* of the parts of its Gaussians; 0 without a fit */
    double pix_snr; /* the largest pix_snr of its Gaussians (island_fit.h); NAN without a fit */
};

/* A fitted Gaussian, in the map's unit and the pixels of the image. */
struct component_gaussian {
    struct gaussian gaussian;
    bool has_beam_shape;
    double lost; /* share of its flux that the beam's shape may have cost: see island_fit.h */
    struct tensor free; /* second moments of its free shape, pixels^2; NaN: it had none */
    int64_t component;  /* index of the component that it belongs to */
    bool has_errors;    /* by sums over the pixels of its fit; else they follow in closed form */
    struct fit_errors errors;
};

/* How islands are divided and fitted. */
struct component_setting {
    /* Pixels of the measured image, and of the detection image, which gives peaks, the division and
     * what a margin leaves out; the same pointer for one image. */
    const struct run_source *measure, *detect;
    const struct detection *detection;
    double contrast;             /* of peaks, in units of the rms */
    const struct fitter *fitter; /* NULL: divide only */
    struct fit_frame of_image;   /* whose unit circle is the beam, in pixels of the image */
    struct psf psf;              /* its nodes belong to the caller */
    const struct grid *grid;
    const struct correlation *noise; /* of the measured image, */
    struct noise_areas noise_areas;  /* and its areas */
    double group_tolerance;          /* see group.h */
    double correlated;               /* see flux_check.h */
    bool keeps_sources;              /* whether components have the source of each pixel */
};

/* The sources of a range of islands, in the order of the islands; the brightest of an island first.
 * Gaussians are in the order of their sources, the brightest of a source first. */
struct components {
    struct component *component;
    int64_t n, before; /* before: the sources of the islands before these */
    struct component_gaussian *gaussian;
    int64_t n_gaussians;
    struct composite *composite;
    int64_t n_composites, n_of_composites; /* composites, and all their Gaussians */
    int32_t *source_of_pixel; /* before + the index of the component; NULL if it is not kept */
};

#endif
