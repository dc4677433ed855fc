/* Sources as ellipses, for programs that draw regions. */
#ifndef ELLIPSES_H
#define ELLIPSES_H

#include "input/frame.h"
#include "srcfind.h"

/* An ellipse, in degrees on the sky with its angle from north through east, or in pixels from 0
 * with its angle from the y axis, counter-clockwise. major and minor are semi-axes. */
struct ellipse {
    double x, y, major, minor, angle;
};

/* The image's frame, if DS9 and CASA know it; else NULL. */
const struct frame *ellipses_frame(const struct srcfind_image *image);

/* Whether the frame is one of these, and the source has a position in it. */
bool ellipses_are_on_sky(const struct srcfind_image *image, const struct srcfind_source *source);

/* The ellipse of a source: its FWHM, that of the beam if it has no shape, or without a beam a
 * circle as wide as a pixel. */
struct ellipse ellipses_of_source(const struct srcfind_image *image,
                                  const struct srcfind_source *source, bool on_sky);

#endif
