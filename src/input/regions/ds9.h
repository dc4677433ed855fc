/* Regions of DS9. */
#ifndef DS9_H
#define DS9_H

#include "input/regions/region_text.h"

/* Whether a line of a file can be one of DS9's regions: a frame, a shape, or `global`. */
bool ds9_is_line(struct region_word line);

/* Adds the regions of a text: circles, ellipses, boxes, polygons and annuli. Clear the regions also
 * after an error. */
enum srcfind_status ds9_read(struct region_text *text, struct regions *regions);

/* Where a region is, in the frame in which the file has it; pixels of images are from 0. The label
 * is its property `text`. */
struct ds9_centre {
    enum region_system system;
    enum sky_frame frame; /* of REGION_SKY */
    struct region_point at;
    struct region_word label;
};

/* Takes a centre; `command` is its shape, for messages. */
typedef enum srcfind_status ds9_take(void *context, const struct region_text *text,
                                     struct region_word command, const struct ds9_centre *centre);

/* Reads the centres of points, circles, ellipses, boxes and annuli of a text, whether they include
 * or exclude. Texts, lines and the like are passed over; a polygon is refused. */
enum srcfind_status ds9_read_centres(struct region_text *text, ds9_take *take, void *context);

#endif
