/* The regions of a file: shapes on the sky or in pixels, each of which is added to what is searched
 * or taken out of it, and the cells of a map of the sky. */
#ifndef REGIONS_H
#define REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "input/regions/sky.h"

enum region_shape { REGION_CIRCLE, REGION_ELLIPSE, REGION_BOX, REGION_POLYGON, REGION_ANNULUS };

/* Where positions are: on the sky, or in pixels of the image in its file, from 0. */
enum region_system { REGION_SKY, REGION_IMAGE, REGION_PHYSICAL };

/* A place on the sky in degrees, or in pixels. */
struct region_point {
    double x, y;
};

struct region {
    enum region_shape shape;
    bool excludes;
    enum region_system system;
    enum sky_frame frame; /* of REGION_SKY */
    bool size_on_sky;     /* sizes are degrees, else pixels of the system */
    struct region_point centre;
    /* Radius of a circle; inner and outer radius of an annulus, which may have the same outer and
     * no inner one; half axes of an ellipse; half sides of a box. */
    double size[2];
    /* Of the first axis, in degrees from the axis of pixels or, on the sky, from west, through
     * north. */
    double angle;
    int64_t first_point, n_points; /* of a polygon, among `points` */
};

/* Cells of HEALPix, nested, of order 29: from `first` to before `end`. */
struct moc_range {
    int64_t first, end;
};

struct regions {
    bool begins_full; /* all pixels are searched until the first region takes some out */
    int64_t n, capacity;
    struct region *all; /* each one changes what those before it left */
    int64_t n_points, points_capacity;
    struct region_point *points;
    bool is_moc;
    int64_t n_ranges, ranges_capacity; /* of a MOC, which are sorted, and do not touch */
    struct moc_range *ranges;
};

/* Adds a region, or a point of the polygon that is added next. False where memory ran out. */
bool regions_add(struct regions *regions, const struct region *region);
bool regions_add_point(struct regions *regions, struct region_point point);

/* Puts all regions that exclude behind all others: a pixel is searched if it is in any that
 * includes, and in none that excludes. */
void regions_exclude_last(struct regions *regions);

void regions_clear(struct regions *regions);

#endif
