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

#endif
