/* The positions of a catalogue for forced photometry, in the frame of the image. */
#ifndef POSITIONS_H
#define POSITIONS_H

#include "input/position_fluxes.h"
#include "input/position_ids.h"
#include "input/position_shapes.h"
#include "input/shared_table.h"

struct positions {
    int64_t n;
    int64_t *id; /* Gaus_id or Source_id; without these columns the numbers of rows, from 1 */
    char (*entry_id)[SRCFIND_CELL]; /* see position_ids.h */
    bool celestial; /* x and y are longitude (0 to 360) and latitude in degrees, else 0-based pixels
                     */
    double *x, *y;  /* both NaN if a cell is empty or not finite, or beyond a pole */
    struct position_shape *shapes; /* NULL: the catalogue has no shapes, or none are wanted */
    struct told_shapes told;       /* if shapes are wanted */
    struct position_flux *fluxes;  /* NULL: none are wanted */
};

/* Whether positions_read may use a column of this name. */
bool positions_use(const char *name);

/* How well a table suits an image with the coordinates of a wish, or any image: best if it has
 * positions that positions_read takes, less with positions of J2000, still less with others. */
int positions_rank(const struct table_file *table, const struct table_wish *wish);

/* Reads the columns of the coordinates of an image, in letters of any case: RA and DEC, GLON and
 * GLAT, ELON and ELAT, SLON and SLAT, else LON and LAT, which also serve for all of these but RA
 * and DEC. Without such columns it reads RAJ2000 and DEJ2000, or other names of positions in
 * degrees (positions.c), for RA and DEC of ICRS or FK5 of J2000; else Xposn and Yposn. frame,
 * equinox, lon_name and lat_name: of the image (struct srcfind_image), "" without sky coordinates.
 * with_shapes: columns of shapes are read, too (position_shapes.h). Texts may be in sexagesimal
 * notation, RA in hours. path may also be a list of positions (position_list.h). Errors: the file
 * says that its frame is another one, a unit is neither degrees nor pixels, or a text is no number.
 * `shared` must have been made with positions_use and positions_rank. Clear the positions also
 * after an error. */
enum srcfind_status positions_read(struct shared_table *shared, const char *path, const char *frame,
                                   double equinox, const char *lon_name, const char *lat_name,
                                   bool with_shapes, struct positions *positions,
                                   struct error *error);

/* Counts positions in pixels from the corner of the part of an image that is searched (--trim). */
void positions_to_part(struct positions *positions, const struct srcfind_image *image);

/* The same, with shapes and fluxes of models, in the units of the image (position_fluxes.h).
 * A list of positions is an
 * error: it has no fluxes. */
enum srcfind_status positions_read_models(struct shared_table *shared, const char *path,
                                          const struct srcfind_image *image,
                                          const struct flux_units *units,
                                          struct positions *positions, struct error *error);
void positions_clear(struct positions *positions);

#endif
