/* Regions of CASA (.crtf). */
#ifndef CASA_H
#define CASA_H

#include "input/regions/region_text.h"

/* Whether a line of a file can be one of CASA's regions: a shape with brackets, or `global`. */
bool casa_is_line(struct region_word line);

/* Adds the regions of a text, in their order: circles, ellipses, boxes, polygons and annuli. Clear
 * the regions also after an error. */
enum srcfind_status casa_read(struct region_text *text, struct regions *regions);

#endif
