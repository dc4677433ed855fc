/* Where the pixels of an image are on the sky, found from the rows of its catalogue. */
#ifndef PIXEL_FRAME_H
#define PIXEL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "srcfind.h"

/* Steps of a pixel along x and y, as differences of unit vectors. */
struct pixel_frame {
    double x[3], y[3];
};

/* Sums over rows, of which the first one is the origin. */
struct pixel_sums {
    int64_t n;
    double origin_x, origin_y, origin[3];
    double x, y, xx, xy, yy, at[3], x_at[3], y_at[3];
};

/* The position of a row as a unit vector. False if it has none. */
bool pixel_frame_position(const struct srcfind_source *row, double position[3]);

/* The directions to the north and to the east at a position in degrees, as unit vectors. */
void pixel_frame_directions(double lon, double lat, double north[3], double east[3]);

/* Adds a row that has positions in pixels and on the sky. */
void pixel_sums_add(struct pixel_sums *sums, const struct srcfind_source *row);

/* The frame that fits the rows best. False if rows are too few, or all on a line. */
bool pixel_frame_fit(const struct pixel_sums *sums, struct pixel_frame *frame);

/* The frame of an image with north up and east left, and with the size of pixels that the errors of
 * the position of a row tell. False if they do not tell it. */
bool pixel_frame_guess(const struct srcfind_source *row, struct pixel_frame *frame);

/* Moves a position by pixels. */
void pixel_frame_move(const struct pixel_frame *frame, double x, double y, double position[3]);

/* How many pixels a difference of positions is, along x and y. */
void pixel_frame_pixels(const struct pixel_frame *frame, const double difference[3], double *x,
                        double *y);

/* The size of a pixel, radians. */
double pixel_frame_size(const struct pixel_frame *frame);

#endif
