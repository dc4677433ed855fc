#include "output/ellipses.h"

#include <math.h>

const struct frame *ellipses_frame(const struct srcfind_image *image) {
    const struct frame *frame = frame_of_name(image->frame);
    const bool has_equinox = frame->equinox == 0 || image->equinox == frame->equinox;
    return frame->ds9 && has_equinox ? frame : NULL;
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
    return ellipses_frame(image) && isfinite(source->lon) && isfinite(source->lat);
}
