/* The ellipses on a picture: sources, and the beam. */
#ifndef MARKS_H
#define MARKS_H

#include "input/wcs.h"
#include "output/catalogue.h"
#include "output/picture/view.h"

/* More sources than this would cover the map: those of highest |SNR| are marked. */
enum { MOST_MARKS = 5000 };

/* Draws an ellipse around each source: its axes are twice its FWHM, or twice the beam's if it has
 * no shape. Without sky coordinates the ellipse surrounds the pixels. wcs may be NULL. */
enum srcfind_status marks_draw_sources(const struct view *view, struct wcs *wcs,
                                       const struct srcfind_catalogue *catalogue,
                                       struct error *error);

/* Draws the beam, as large as its FWHM, in the lower left corner, in the orientation that it has at
 * the image's centre: black on white, or, where that would hide a third of the map, as a line.
 * Draws nothing without a beam or sky coordinates. */
enum srcfind_status marks_draw_beam(const struct view *view, struct wcs *wcs,
                                    const struct srcfind_image *image, struct error *error);

#endif
