/* The host code of local noise: the nodes of a noise map, whose boxes the device clips. */
#ifndef CUDA_NOISE_H
#define CUDA_NOISE_H

#include "buffers.h"
#include "cpu/cells.h"

/* The cells of an image along both axes, on the host. */
struct noise_grid {
    struct cell_axis x, y;
    struct cell_axis coarse_x, coarse_y; /* the same cells, and the nodes of coarse boxes */
};

/* Sets the nodes of params, their cells and their lists of keys, if the detection has boxes. The
 * caller clears the grid, also after a failure. */
bool noise_plan(struct params *params, struct noise_grid *grid);
void noise_grid_clear(struct noise_grid *grid);

/* Leaves the boxes to the host: for an image that is not kept on the device, or leaves no room. */
void noise_leave_to_host(struct params *params);

/* Finds all nodes of the map, whose noise of the whole image is set; the caller clears it, also
 * after an error. `background` has the clip of the whole image, and gets what was left out. Then
 * makes params ready for a scan by the noise between the nodes. */
enum srcfind_status noise_find(struct cuda *cuda, struct params *params,
                               const struct noise_grid *grid, const struct pixel_source *source,
                               struct threads *threads, struct srcfind_background *background,
                               struct noise_map *map, struct error *error);

#endif
