/* Rows of a scale: measurements in samples are turned to pixels of the image. */
#ifndef SCALE_ROW_H
#define SCALE_ROW_H

#include "measure/setting.h"
#include "measure/world_columns.h"

/* Turns a row and its tensors, before its world columns are filled. Positions, extents and sizes
 * are then in pixels of the image, sizes without the kernel; Peak_flux is that of a Gaussian with
 * this flux and size; and what the noise of the smoothed image is in is per effective beam. Nothing
 * changes in a row of the image itself. */
void scale_row(const struct setting *setting, struct srcfind_source *row,
               struct pixel_shape *shape);

#endif
