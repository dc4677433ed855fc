/* Local noise: background and rms from place to place. Each node of a grid has the clip of the box
 * of pixels around it. */
#ifndef NOISE_NODES_H
#define NOISE_NODES_H

#include "backend/backend.h"

/* Makes the nodes of a map, for the boxes and the kappa of `detection`. map->background and
 * map->rms are those of the whole image, which stand in where no node has enough pixels. The caller
 * clears the map, also after an error. */
enum srcfind_status noise_nodes_find(const struct pixel_source *source,
                                     const struct detection *detection, struct threads *threads,
                                     struct noise_map *map, struct error *error);

/* The parts of it, for a backend that clips the boxes itself, except for those that it cannot. */

/* Clips the box of node (i, j), by a sort; one of its pixels at least must not be blank. */
enum srcfind_status noise_nodes_clip(const struct pixel_source *source,
                                     const struct detection *detection, int64_t i, int64_t j,
                                     struct noise_at *node, struct error *error);

/* Gives the nodes that do not count, whose rms is NAN, the noise of the nearest one that does; then
 * sets the background and the rms that are given. */
bool noise_nodes_complete(struct noise_map *map, const struct detection *detection,
                          struct threads *threads);

#endif
