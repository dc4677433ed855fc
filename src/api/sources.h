/* From islands to rows: measured as they are, or divided and fitted. */
#ifndef SOURCES_H
#define SOURCES_H

#include "backend/backend.h"
#include "input/image.h"
#include "input/shared_table.h"
#include "measure/components.h"
#include "measure/grid.h"
#include "options/options.h"
#include "output/result.h"

/* What sources are made of, and which labels are to be kept: bits 1 << kind. */
struct sources_from {
    const struct options *options;
    struct shared_table *at;           /* for the option at */
    struct run_source pixels;          /* what is measured */
    const struct run_source *detected; /* in which islands were found, if it is not that; or NULL */
    const struct image *image;
    const struct srcfind_image *metadata;
    const struct detection *detection;
    const struct grid *grid; /* what the pixels are */
    struct fitter fitter;
    unsigned labels;
};

/* Whether rows need the pixels of islands: where islands are divided or fitted, where the user
 * gives maps of the noise, and where islands are found in another image. */
bool sources_need_pixels(const struct options *options, const struct noise_sources *maps);

/* Makes the rows of a detection's islands, which have runs if pixels or labels are
 * needed. The islands may be freed. The caller frees the sources, also after an error. */
enum srcfind_status sources_make(const struct sources_from *from, struct detection_result *result,
                                 struct threads *threads, struct sources *sources,
                                 struct error *error);

/* Divides and fits a detection's islands, which have runs and stay, and sets the Gaussians alone.
 * The caller clears the sources, also after an error. */
enum srcfind_status sources_fit(const struct sources_from *from, const struct segments *segments,
                                struct threads *threads, struct sources *sources,
                                struct error *error);

/* The frame of fits in the image, of the shapes that the options ask for. An error where an option
 * needs a beam, and none is known. */
enum srcfind_status sources_frame(const struct options *options, const struct image *image,
                                  const struct srcfind_image *metadata, struct fit_frame *frame,
                                  struct error *error);

/* Appends sources whose numbers, and those of their islands, go on. False where memory ran out. */
bool sources_append(struct sources *sources, const struct sources *more);

#endif
