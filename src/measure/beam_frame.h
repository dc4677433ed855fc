/* The frame of fits: coordinates in which the beam is the unit circle. */
#ifndef BEAM_FRAME_H
#define BEAM_FRAME_H

#include "backend/fit.h"
#include "backend/tensor.h"
#include "input/image.h"

/* The frame of an image, by its beam and its Jacobian at the reference pixel, where the beam was
 * defined. Without a beam the unit circle has a FWHM of three pixels. Errors: of WCSLIB or memory.
 */
enum srcfind_status beam_frame_make(const struct image *image, const struct srcfind_image *metadata,
                                    struct fit_frame *frame, struct error *error);

/* The frame in which a Gaussian of this form is the unit circle, as that of a beam: W with W^T W =
 * form, upper triangular. Not finite where the form is not positive. */
struct fit_frame beam_frame_of_form(const struct tensor *form);

/* The form of the Gaussian that is the unit circle of a frame, in pixels. */
struct tensor beam_frame_form(const struct fit_frame *frame);

/* The second moments of the beam, pixels^2: the same in the whole image, as those of an
 * interferometer's map are. NaN without a beam. */
struct tensor beam_frame_moments(const struct fit_frame *frame);

/* The width of the margin around an island of n pixels that is fitted: half a FWHM, the geometric
 * mean of the axes of the unit circle, and at least a pixel. Around an island of more than 15 beam
 * areas, 1.5 FWHM: Gaussians as wide as these have much of their flux beyond half of one, where no
 * pixel would hold them. It is wider by a millionth, so that pixels at just this distance are in
 * it, however WCSLIB rounds. Without a beam nothing is wide. */
double beam_frame_margin(const struct fit_frame *frame, int64_t n);

/* FWHM of the round Gaussian that has the area of a Gaussian with these second moments. */
double beam_frame_fwhm(const struct tensor *moments);

#endif
