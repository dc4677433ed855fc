/* From islands to rows: measured as they are, or divided and fitted. */
#ifndef SOURCES_H
#define SOURCES_H

#include "api/views.h"
#include "measure/components.h"
#include "output/result.h"

/* Makes the rows of the islands of the views, which have runs if pixels or labels are needed, and
 * keeps labels: bits 1 << kind. The islands may be freed. The caller frees the sources, also after
 * an error. */
enum srcfind_status sources_make(struct views *views, const struct options *options,
                                 struct backend_calls *calls, unsigned labels,
                                 struct sources *sources);

/* Divides and fits the islands of a view, which have runs and stay, in its own pixels, and sets the
 * Gaussians alone. The caller clears the sources, also after an error. */
enum srcfind_status sources_fit(const struct view *view, const struct options *options,
                                struct backend_calls *calls, struct sources *sources);

/* The frame of fits in the image of a view, of the shapes that the options ask for. An error where
 * an option needs a beam, and none is known. */
enum srcfind_status sources_frame(const struct view *view, const struct options *options,
                                  struct fit_frame *frame, struct error *error);

/* Sets the error of an image whose beam is not known, and returns `status`. need: what needs the
 * beam; otherwise: what helps, too. */
enum srcfind_status sources_no_beam(const struct srcfind_image *image, enum srcfind_status status,
                                    const char *need, const char *otherwise, struct error *error);

/* Appends sources whose numbers, and those of their islands, go on. False where memory ran out. */
bool sources_append(struct sources *sources, const struct sources *more);

#endif
