/* A region in the pixels of an image. */
#ifndef DRAWN_H
#define DRAWN_H

#include "input/image.h"
#include "input/regions/regions.h"

enum drawn_kind {
    DRAWN_NOTHING, /* no pixel of the image is in it */
    DRAWN_CIRCLE,  /* angular distances from a centre */
    DRAWN_ELLIPSE,
    DRAWN_BOX,
    DRAWN_POLYGON
};

/* A limit of angular distances. */
struct drawn_limit {
    double chord_squared; /* sky_chord_squared of it; negative: no limit is there */
    double cosine, sine, angle;
};

struct drawn {
    enum drawn_kind kind;
    bool excludes;
    /* A circle: in the frame of the image; inner: of an annulus. */
    struct direction centre;
    struct drawn_limit inner, outer;
    /* An ellipse or a box: pixel (x, y) is at u = inverse (x - x0, y - y0); inside of an ellipse
     * are inner_squared <= |u|^2 < 1, of a box |u| < 1 on both axes. */
    double x, y, inverse[2][2], inner_squared;
    const struct region_point *points; /* of a polygon, in pixels */
    int64_t n_points;
    double x_min, x_max, y_min, y_max; /* of all but a circle */
    double turn_x, turn_y; /* a shape on the sky is also so far on, to either side; or 0 */
};

/* FITS pixel = scale * physical coordinate + offset, on both axes (LTM and LTV of IRAF). */
struct drawn_physical {
    double scale[2], offset[2];
};

struct drawn_physical drawn_physical_of(const struct image *image);

/* What the shapes of an image are drawn with. */
struct drawing {
    const char *path; /* of the file of regions */
    const struct image *image;
    const struct srcfind_image *metadata;
    struct drawn_physical physical;
    enum sky_frame frame;        /* of the image, */
    bool has_frame;              /* if it is one of these */
    struct region_point *points; /* for all polygons; point i of the regions is point i here */
};

/* An error if the image lacks what positions of a system need. */
enum srcfind_status drawn_check_sky(const struct drawing *drawing, enum region_system system,
                                    struct error *error);

/* Draws region i. */
enum srcfind_status drawn_make(const struct drawing *drawing, const struct regions *regions,
                               int64_t i, struct drawn *drawn, struct error *error);

/* Whether a shape may have pixels in the part of an image that has its first pixel at (x0, y0). Not
 * of a circle. */
bool drawn_may_reach(const struct drawn *drawn, int64_t x0, int64_t y0, int64_t width,
                     int64_t height);

/* Sets the bits of the pixels of a shape in a square of 64 x 64 that begins at pixel (x0, y0): bit
 * i of rows[k] is pixel (x0 + i, y0 + k). False if the shape is elsewhere: rows are not set then.
 * Not of a circle. */
enum { DRAWN_TILE = 64 };
bool drawn_tile(const struct drawn *drawn, int64_t x0, int64_t y0, uint64_t rows[DRAWN_TILE]);

#endif
