/* From islands to rows: measured as they are, or divided and fitted. */
#ifndef SOURCES_H
#define SOURCES_H

#include "api/views.h"
#include "measure/components.h"
#include "output/result.h"

/* Makes rows of the islands that were found in the views, and frees the islands, which have runs if
 * pixels or labels are needed; after an error some may be left to view_clear. labels: kinds of
 * labels to keep, 1 << kind. The caller clears the sources, also after an error. */
enum srcfind_status sources_make(struct views *views, const struct options *options,
                                 struct backend_calls *calls, unsigned labels,
                                 struct sources *sources);

/* Divides and fits the islands of a view in its own pixels, and sets only the Gaussians. The
 * islands have runs, and are not freed. The caller clears the sources, also after an error. */
enum srcfind_status sources_fit(const struct view *view, const struct options *options,
                                struct backend_calls *calls, struct sources *sources);

/* Sets the frame of fits in the image of a view, with the shapes of the options. It is an error if
 * an option needs a beam, and none is known. */
enum srcfind_status sources_frame(const struct view *view, const struct options *options,
                                  struct fit_frame *frame, struct error *error);

/* Sets the error of an image without a known beam, and returns `status`. need: the option that
 * needs the beam, in words; otherwise: another remedy. */
enum srcfind_status sources_no_beam(const struct srcfind_image *image, enum srcfind_status status,
                                    const char *need, const char *otherwise, struct error *error);

/* Appends the Gaussians alone. */
bool sources_append_gaussians(struct sources *sources, const struct sources *more);

/* Appends sources. Their numbers and those of their islands go on behind the largest ones of
 * `sources`. */
bool sources_append(struct sources *sources, const struct sources *more);

#endif
