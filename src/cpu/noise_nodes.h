/* Local noise: background and rms at the nodes of a grid, each from the clip of the box of pixels
 * around it. */
#ifndef NOISE_NODES_H
#define NOISE_NODES_H

#include "backend/backend.h"
#include "input/blanks.h"

/* Makes the nodes of a map, for the boxes and the kappa of `detection`. map->background and
 * map->rms are the noise of the whole image, which all nodes get if no box has enough pixels. The
 * caller clears the map, also after an error. */
enum srcfind_status noise_nodes_find(const struct pixel_source *source,
                                     const struct detection *detection, struct threads *threads,
                                     struct noise_map *map, struct error *error);

/* The following three functions are for a backend that clips most boxes itself. */

/* Clips again the boxes in which some of `changed` are, pixels that have changed since the boxes of
 * the map were clipped. */
enum srcfind_status noise_nodes_find_again(const struct pixel_source *source,
                                           const struct detection *detection,
                                           const struct blanks *changed, struct threads *threads,
                                           struct noise_map *map, struct error *error);

/* Clips the box of node (i, j), by a sort; one of its pixels at least must not be blank. */
enum srcfind_status noise_nodes_clip(const struct pixel_source *source,
                                     const struct detection *detection, int64_t i, int64_t j,
                                     struct noise_at *node, struct error *error);

/* Gives nodes that do not count (rms NAN) the noise of the nearest node that counts; then sets
 * background and rms, if the user gives them. */
bool noise_nodes_complete(struct noise_map *map, const struct detection *detection,
                          struct threads *threads);

#endif
