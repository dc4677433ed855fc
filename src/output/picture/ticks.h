/* Ticks along an edge of an image, at round values of a coordinate, with labels. */
#ifndef TICKS_H
#define TICKS_H

#include "input/wcs.h"

enum { MOST_TICKS = 32, TICK_LABEL = 32 };

enum coordinate { COORDINATE_LON, COORDINATE_LAT, COORDINATE_PIXEL };

struct tick {
    double at; /* pixels along the edge, from 0 at the centre of the first one */
    char label[TICK_LABEL];
};

struct ticks {
    enum coordinate coordinate;
    int n;
    struct tick ticks[MOST_TICKS];
};

/* An edge: the lower one, or the left one. */
struct edge {
    bool is_vertical;
    int64_t length; /* pixels */
};

/* Finds about `most` ticks of a coordinate, by WCSLIB. Right ascension and declination are in hours
 * or degrees, minutes and seconds, others in degrees. Pixels are numbered if wcs is NULL, or if
 * ticks are fewer than two, or crowd: the edge passes a pole, or touches a map of the whole sky. */
enum srcfind_status ticks_find(struct wcs *wcs, const struct srcfind_image *image,
                               const struct edge *edge, enum coordinate coordinate, int most,
                               struct ticks *ticks, struct error *error);

#endif
