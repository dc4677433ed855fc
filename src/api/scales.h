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

/* Chooses the grid, the kernel and the noise of a scale, whose kernel has a FWHM of so many beams.
 * detection: of the image. Clear the scale also after an error. */
enum srcfind_status scale_make(struct scale *scale, double fwhm, const struct options *options,
                               const struct image *image, const struct srcfind_image *metadata,
                               const struct detection *detection, struct error *error);
void scale_clear(struct scale *scale);

/* Smooths the image less the Gaussians of `sources`: on the CPU, where samples->source is then what
 * is searched, or on a device that has the image, as samples->on_device. *n_samples: how many are
 * not blank. Clear the samples also after an error. */
enum srcfind_status scale_smooth(const struct scale *scale, const struct pixel_source *source,
                                 const struct gpu_context *context, const struct sources *sources,
                                 struct threads *threads, struct samples *samples,
                                 int64_t *n_samples, struct error *error);

/* The same for an image that a device need not have, in samples->source: on the device if the image
 * fits there, else on the CPU. */
enum srcfind_status scale_smooth_any(const struct scale *scale, const struct pixel_source *source,
                                     struct backend_calls *calls, const struct sources *sources,
                                     struct samples *samples, int64_t *n_samples);

#endif
