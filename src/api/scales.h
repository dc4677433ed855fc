/* The scales of a search: emission that is wider than the beam, on the smoothed residual of what
 * was found before. */
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
    struct detection detection; /* in the samples */
    int n_images;               /* that are smoothed */
    bool is_left_out;           /* it is too wide */
};

/* Whether the kernel of a scale, whose FWHM is so many beams, is wider than half of the image's
 * shorter side. beam: its second moments, pixels^2. */
bool scale_is_too_wide(double fwhm, const struct tensor *beam,
                       const struct srcfind_image *metadata);

/* Chooses the grid, the kernel and the noise of a scale of the image that is measured, whose kernel
 * has a FWHM of so many beams. Clear the scale also after an error. */
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

/* The same for an image that a device need not have, in samples->source: on the device, which gets
 * the image, if it has room for it, else on the CPU. */
enum srcfind_status scale_smooth_kept(const struct scale *scale, const struct view *view,
                                      struct backend_calls *calls, const struct sources *sources,
                                      struct samples *samples, int64_t *n_samples);

#endif
