/* The Gaussians that the entries of a catalogue are in an image. */
#ifndef ENTRY_MODELS_H
#define ENTRY_MODELS_H

#include "input/positions.h"
#include "measure/view.h"

struct entry_model {
    struct gaussian gaussian; /* in the map's unit; the peak is NaN without a flux or a place */
    struct tensor moments;    /* of its form, pixels^2; NaN without a place */
    struct srcfind_beam intrinsic; /* without the beam: FWHM, degrees */
    double total_flux;             /* in the unit of fluxes; NaN without one */
    bool is_too_wide;              /* for the image: it has no Gaussian */
    double scale, background;      /* of a row of --scales: see srcfind_source; 0 and NaN else */
};

/* The units of the fluxes of an image, whose texts belong to the metadata. */
struct flux_units entry_models_units(const struct view *view);

/* Makes the Gaussian of each entry of positions with fluxes, in an array that the caller frees. An
 * entry has its intrinsic shape, convolved with the point-spread function of the view; without a
 * shape it is a point. Where the whole shapes less the intrinsic ones are this function, or the
 * beam that entries tell is that of the image, so that the catalogue is of this image, whole shapes
 * are taken: intrinsic ones do not tell how much narrower than the beam a Gaussian was. So are they
 * where the catalogue has no others; the intrinsic ones are then what the image's beam leaves of
 * them. A shape that is much wider than the image has no
 * Gaussian. frame: of the image, with the beam. Errors: of WCSLIB or memory. */
enum srcfind_status entry_models_make(const struct view *view, const struct fit_frame *frame,
                                      const struct positions *positions,
                                      struct entry_model **models, struct error *error);

/* Lists the Gaussians of n entries that reach into an image, in an array that the caller frees;
 * NULL where memory ran out. */
struct gaussian *entry_models_list(const struct entry_model *models, int64_t n,
                                   const struct pixel_source *image, int64_t *n_gaussians);

#endif
