/* Regions of DS9. */
#ifndef DS9_H
#define DS9_H

#include "input/regions/region_text.h"

/* Whether a line of a file can be one of DS9's regions: a frame, a shape, or `global`. */
bool ds9_is_line(struct region_word line);

/* Adds the regions of a text: circles, ellipses, boxes, polygons and annuli. Clear the regions also
 * after an error. */
enum srcfind_status ds9_read(struct region_text *text, struct regions *regions);

#endif
