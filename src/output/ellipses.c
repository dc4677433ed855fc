#include "output/ellipses.h"

#include <math.h>
#include <string.h>

#include "output/catalogue.h"

/* Frames that programs for regions know, by the names of srcfind, DS9 and CASA. A frame of an
 * equinox is known at its own one only. */
static const struct {
    const char *frame, *ds9, *casa;
    double equinox;
} frames[] = {
    {"ICRS", "icrs", "ICRS", 0},
    {"FK5", "fk5", "J2000", 2000},
    {"FK4", "fk4", "B1950", 1950},
    {"GALACTIC", "galactic", "GALACTIC", 0},
};

bool ellipses_frame(const struct srcfind_image *image, const char **ds9, const char **casa) {
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        if (strcmp(image->frame, frames[i].frame) != 0 ||
            (frames[i].equinox > 0 && image->equinox != frames[i].equinox))
            continue;
        *ds9 = frames[i].ds9;
        *casa = frames[i].casa;
        return true;
    }
    return false;
}

struct ellipse ellipses_of_source(const struct srcfind_image *image,
                                  const struct srcfind_source *source, bool on_sky) {
    const double pixel = sqrt(image->pixel_area); /* degrees */
    struct ellipse e = {source->x, source->y, 0.5, 0.5, 0};
    if (!on_sky) {
        const bool has_size = isfinite(source->pixel_major) && isfinite(source->pixel_minor);
        return has_size ? (struct ellipse){source->x, source->y, source->pixel_major / 2,
                                           source->pixel_minor / 2, source->pixel_angle}
                        : e;
    }
    e.x = source->lon;
    e.y = source->lat;
    e.major = e.minor = isfinite(pixel) ? pixel / 2 : 0;
    if (isfinite(source->major) && isfinite(source->minor)) {
        e.major = source->major / 2;
        e.minor = source->minor / 2;
        e.angle = isfinite(source->angle) ? source->angle : 0;
    } else if (isfinite(image->beam.major)) {
        e.major = image->beam.major / 2;
        e.minor = image->beam.minor / 2;
        e.angle = image->beam.angle;
    }
    return e;
}

bool ellipses_are_on_sky(const struct srcfind_image *image, const struct srcfind_source *source) {
    const char *ds9, *casa;
    return ellipses_frame(image, &ds9, &casa) && isfinite(source->lon) && isfinite(source->lat);
}
