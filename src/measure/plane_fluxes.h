/* Fluxes of sources in a plane of another image: amplitudes alone are fitted. */
#ifndef PLANE_FLUXES_H
#define PLANE_FLUXES_H

#include "measure/forced.h"
#include "measure/setting.h"

/* The sources that are measured: rows of a search, and those of their Gaussians in the order of the
 * sources. Each Gaussian keeps its position in pixels, and its shape without the beam. */
struct held_sources {
    const struct srcfind_source *sources, *gaussians;
    int64_t n, n_gaussians;
    double *x_max, *y_max;             /* where each source has its highest value, in pixels */
    struct forced_position *positions; /* of each Gaussian */
    int64_t *source_of;                /* the index of the source of each Gaussian */
};

/* Lists the Gaussians with their positions, shapes and sources, and finds where the highest values
 * of sources are (NaN without a wcs, which may be NULL). `sources` and `gaussians` must outlive the
 * result. Clear it also after an error: of WCSLIB or memory. */
enum srcfind_status held_sources_make(const struct srcfind_source *sources, int64_t n,
                                      const struct srcfind_source *gaussians, int64_t n_gaussians,
                                      struct wcs *wcs, struct held_sources *held,
                                      struct error *error);
void held_sources_clear(struct held_sources *held);

/* A source in a plane. Without a flux the flags say why. */
struct plane_flux {
    double total_flux, e_total_flux;        /* as those of the catalogue */
    double peak_flux, e_peak_flux, isl_rms; /* map unit of the catalogue's image */
    double chi2;                            /* of the residual, per degree of freedom */
    int64_t flags;
};

/* Sets the fluxes of a plane that is not measured. */
void plane_fluxes_empty(struct plane_flux *fluxes, int64_t n, int64_t flag);

/* A plane, with its noise. */
struct plane_setting {
    const struct view *view;
    const struct run_source *pixels; /* of the view */
    const struct fit_frame *frame;   /* with the plane's beam */
    double unit;                     /* the plane's unit / that of the catalogue's image */
    bool is_jansky;                  /* fluxes of both are in Jy, whatever these units are */
};

/* Measures the sources, by linear least squares of all Gaussians that are close (places.h). A
 * source of several Gaussians has the sum of theirs, with the error of the sum, and its peak is
 * what they add up to where its highest value is in the catalogue's image. Errors do not have those
 * of positions and shapes, which all planes share. chi2 is of the pixels within one FWHM of its
 * Gaussians, and is 1 on average if they fit. */
enum srcfind_status plane_fluxes_measure(const struct plane_setting *plane,
                                         const struct held_sources *held, struct threads *threads,
                                         struct plane_flux *fluxes, struct error *error);

#endif
