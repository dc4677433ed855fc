/* Fluxes of sources in a plane of another image; only amplitudes are fitted. */
#ifndef PLANE_FLUXES_H
#define PLANE_FLUXES_H

#include "measure/run_pixels.h"
#include "measure/setting.h"

/* The sources that are measured: rows of a search, and the rows of their Gaussians, in the order of
 * the sources. Each Gaussian keeps its position and its intrinsic shape. */
struct held_sources {
    const struct srcfind_source *sources, *gaussians;
    int64_t n, n_gaussians;
    double *x_max, *y_max; /* position of each source's highest value, pixels */
};

/* Finds where the highest values are. Clear the result also after an error: of WCSLIB or memory. */
enum srcfind_status held_sources_make(const struct srcfind_source *sources, int64_t n,
                                      const struct srcfind_source *gaussians, int64_t n_gaussians,
                                      struct wcs *wcs, struct held_sources *held,
                                      struct error *error);
void held_sources_clear(struct held_sources *held);

/* A source in a plane. Without a flux the flags say why. */
struct plane_flux {
    double total_flux, e_total_flux;        /* in the catalogue's flux unit */
    double peak_flux, e_peak_flux, isl_rms; /* in the map unit of the catalogue's image */
    double chi2;                            /* of the residuals, per degree of freedom */
    int64_t flags;
};

/* Sets the fluxes of a plane that is not measured. */
void plane_fluxes_empty(struct plane_flux *fluxes, int64_t n, int64_t flag);

/* A plane, with its noise. */
struct plane_setting {
    const struct run_source *pixels;
    const struct setting *setting;
    const struct srcfind_image *metadata;
    struct wcs *wcs;
    const struct fit_frame *frame; /* with the plane's beam */
    double unit;                   /* the plane's unit / that of the catalogue's image */
    bool is_jansky;                /* fluxes of both are in Jy, whatever their map units */
};

/* Measures the sources, by linear least squares of all Gaussians that are close (places.h). Fluxes
 * of a source of several Gaussians are sums, with the errors of the sums; its peak is their sum
 * where the catalogue's image has its highest value. Errors of positions and shapes, which all
 * planes share, are not included. chi2 is over the pixels within one FWHM of its Gaussians, and 1
 * on average if they fit. */
enum srcfind_status plane_fluxes_measure(const struct plane_setting *plane,
                                         const struct held_sources *held, struct threads *threads,
                                         struct plane_flux *fluxes, struct error *error);

#endif
