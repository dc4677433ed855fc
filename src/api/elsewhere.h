/* The image in which sources are detected that are measured in another one (--detect-on). */
#ifndef ELSEWHERE_H
#define ELSEWHERE_H

#include "api/backend_calls.h"
#include "api/finder.h"
#include "api/scales.h"
#include "api/sources.h"

struct elsewhere {
    const struct pixel_source *source;
    const struct detection *detection;
    const struct grid *grid; /* what the pixels are */
    /* Whose beam its points have: itself or, if its beam is not known, the image measured. */
    const struct image *image;
    const struct srcfind_image *metadata;
    const char *unit;               /* its own */
    bool has_next;                  /* a scale is searched after this */
    struct detection_result result; /* but for the islands */
    struct sources model;           /* its own Gaussians so far, where scales are searched */
};

/* The options for an image beside the one that is measured: what they give of the noise is of that
 * one, but a background of zero is that of all. */
struct options elsewhere_options(const struct options *options);

/* The parameters of a detection in it, which refer to no map. Its noise is its own, in the boxes of
 * the image that is measured. */
struct detection elsewhere_detection(const struct options *options, const struct image *image,
                                     const struct srcfind_image *metadata);

/* The image that the options give for an image, if any: else its source is NULL. `detection` is
 * that in it, and must outlive it, as all else. Clear it. */
struct elsewhere elsewhere_make(const struct image *image, const struct srcfind_image *metadata,
                                const struct detection *detection);
void elsewhere_clear(struct elsewhere *elsewhere);

/* Finds the noise of an image, and then the islands elsewhere, with the noise there. */
enum srcfind_status elsewhere_detect(struct elsewhere *elsewhere, const struct backend_calls *calls,
                                     const struct pixel_source *measured,
                                     const struct detection *detection,
                                     struct detection_result *result);

/* Its pixels, once it was searched. */
struct run_source elsewhere_pixels(const struct elsewhere *elsewhere, struct backend_calls *calls);

/* The grid of a scale of the image that is measured, with the beam of this one. */
enum srcfind_status elsewhere_grid(const struct elsewhere *elsewhere, const struct options *options,
                                   const struct grid *measured, struct grid *grid,
                                   struct error *error);

/* Fits the islands elsewhere, which stay, and adds the Gaussians to those that it has. */
enum srcfind_status elsewhere_fit(struct elsewhere *elsewhere, struct backend_calls *calls,
                                  const struct options *options, const struct segments *segments);

#endif
