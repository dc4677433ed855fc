/* Pixels of the caller, in the memory of the host or of a device. */
#ifndef PIXELS_H
#define PIXELS_H

#include "input/memory_source.h"
#include "input/pixel_change.h"

/* Copies the members that the caller's version of the struct has, sets the others to 0, and checks
 * the shape. */
enum srcfind_status pixels_read(const struct srcfind_pixels *given, struct srcfind_pixels *pixels,
                                struct error *error);

/* A pixel source of pixels in the host's memory. It must not be moved: its members point to each
 * other. */
struct host_pixels {
    struct memory memory;
    struct changed blanked;
    struct pixel_source source;
};

/* blank: pixels of this value are blank; NaN: none are. */
void host_pixels_make(struct host_pixels *host, const struct srcfind_pixels *pixels, double blank);

#endif
