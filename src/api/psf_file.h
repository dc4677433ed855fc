/* A point-spread function in a file, as Aegean takes it: an image of three planes or more, whose
 * first ones are the major and the minor axis (FWHM) and the position angle, in degrees. Its pixels
 * may be any size, and need not cover the image. */
#ifndef PSF_FILE_H
#define PSF_FILE_H

#include "common/threads.h"
#include "input/image.h"
#include "measure/psf.h"

/* Sets the nodes, which psf_make has made for the image: by bilinear interpolation of the second
 * moments on the sky. A node where the file has no ellipse keeps the beam. Errors: no celestial
 * coordinates in either; others than those of the image; no ellipse anywhere in the image; axes
 * that are no degrees; reading. */
enum srcfind_status psf_file_read(const char *path, const struct image *image,
                                  const struct srcfind_image *metadata, struct psf *psf,
                                  struct threads *threads, struct error *error);

#endif
