/* What a search sees of an image, or of the samples of a scale: pixels, their noise, where they are
 * on the sky, and the beam. A search has two views, of the image where islands are found and of the
 * image that is measured; they are the same view where one image is both. */
#ifndef VIEW_H
#define VIEW_H

#include "backend/backend.h"
#include "input/image.h"
#include "measure/correlation.h"
#include "measure/grid.h"
#include "measure/psf.h"

struct view {
    const struct pixel_source *source;     /* NaN where the pixel is blank in any of the images */
    const struct device_pixels *on_device; /* the pixels, where a device has them; else NULL */
    const struct image *image;             /* whose coordinates and beam these are */
    const struct srcfind_image *metadata;  /* of that image */
    const char *unit;                      /* of the pixels */
    const struct grid *grid;               /* where the pixels are in the image */
    struct detection detection;            /* how noise and islands are found */
    struct detection_result result;        /* the noise; islands until rows are made of them */
    const struct psf *psf;                 /* of the image; NULL: the beam everywhere */
    double position_error;                 /* added to errors, in FWHM of the beam */
    bool has_correlation;                  /* then this is the noise's: */
    struct correlation correlation;
};

/* Frees the result of a view, which can then be searched again. */
static inline void view_clear(struct view *view) {
    detection_result_clear(&view->result);
    view->result = (struct detection_result){0};
}

#endif
