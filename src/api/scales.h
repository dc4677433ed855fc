/* The scales of a search: emission wider than the beam, in the smoothed image less all Gaussians so
 * far. */
#ifndef SCALES_H
#define SCALES_H

#include "api/backend_calls.h"
#include "api/samples.h"
#include "api/sources.h"
#include "backend/smoothing.h"

/* A scale of an image. */
struct scale {
    struct grid grid;
    struct smoothing smoothing;
    struct detection detection; /* of the samples */
    struct blanks *unsearched;  /* of the samples; NULL: all are searched */
    int n_images;               /* that are smoothed: one or two */
    bool is_left_out;           /* its kernel is too wide for the image */
};

/* Whether the kernel of a scale is wider than half of the shorter side of the image. fwhm: of the
 * kernel, in beams; beam: second moments, pixels^2. */
bool scale_is_too_wide(double fwhm, const struct tensor *beam,
                       const struct srcfind_image *metadata);

/* Chooses grid, kernel and noise of a scale of the measured image. fwhm: of the kernel, in beams.
 * Clear the scale also after an error. */
enum srcfind_status scale_make(struct scale *scale, double fwhm, const struct options *options,
                               const struct views *image, struct error *error);
void scale_clear(struct scale *scale);

/* The grid of the scale in the image for detection, which may have another beam. */
enum srcfind_status scale_grid_beside(const struct scale *scale, const struct view *other,
                                      const struct options *options, struct grid *grid,
                                      struct error *error);

/* The view of the samples of an image. */
struct view scale_view(const struct scale *scale, const struct view *image,
                       const struct samples *samples);

/* Smooths the image of a view less the Gaussians of `sources`: on the device that has the image, as
 * samples->on_device, or on the CPU, in samples->source. *n_samples: how many are not blank. Clear
 * the samples also after an error. */
enum srcfind_status scale_smooth(const struct scale *scale, const struct view *view,
                                 const struct backend_calls *calls, const struct sources *sources,
                                 struct samples *samples, int64_t *n_samples);

/* Smooths as scale_smooth does an image that need not be on a device. A device with room gets the
 * image, else the CPU smooths. The samples are in samples->source. */
enum srcfind_status scale_smooth_kept(const struct scale *scale, const struct view *view,
                                      struct backend_calls *calls, const struct sources *sources,
                                      struct samples *samples, int64_t *n_samples);

#endif
