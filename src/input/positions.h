/* The positions of a catalogue, for forced photometry. They are taken in the image's own frame. */
#ifndef POSITIONS_H
#define POSITIONS_H

#include "input/position_ids.h"
#include "input/position_shapes.h"
#include "input/shared_table.h"

struct positions {
    int64_t n;
    int64_t *id; /* Source_id; without that column, the numbers of rows, from 1 */
    char (*entry_id)[SRCFIND_CELL]; /* see position_ids.h */
    bool celestial; /* x and y are longitude (0 to 360) and latitude in degrees, else 0-based pixels
                     */
    double *x, *y;  /* both NaN if a cell is empty or not finite, or beyond a pole */
    struct position_shape *shapes; /* NULL: the catalogue does not tell them, or none are wanted */
};

/* Whether positions_read may use a column of this name. */
bool positions_use(const char *name);

/* How well a table suits an image with the wish's coordinates, or any image: best if it has
 * positions that positions_read takes, then with those of J2000, then with others. */
int positions_rank(const struct table_file *table, const struct table_wish *wish);

/* Reads the columns of an image's coordinates, in letters of any case: RA and DEC, GLON and GLAT,
 * ELON and ELAT, SLON and SLAT, else LON and LAT (LON and LAT also for all but RA and DEC). If
 * there are none, RAJ2000 and DEJ2000, or _RAJ2000 and _DEJ2000, in degrees, for RA and DEC of ICRS
 * or FK5 of J2000; else Xposn and Yposn. frame, equinox, lon_name and lat_name are the image's
 * (struct srcfind_image), "" without sky coordinates. An error if the file is known to be of
 * another frame, has another unit than degrees or pixels, or a text where a position is expected;
 * of the shapes' columns, which are read if they are wanted, see position_shapes.h. `shared` is
 * made for positions_use and positions_rank. Clear the positions also after an error. */
enum srcfind_status positions_read(struct shared_table *shared, const char *path, const char *frame,
                                   double equinox, const char *lon_name, const char *lat_name,
                                   bool with_shapes, struct positions *positions,
                                   struct error *error);
void positions_clear(struct positions *positions);

#endif
