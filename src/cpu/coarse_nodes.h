/* Nodes of boxes that stand side by side, without the memory of rows of boxes (noise_nodes.h). */
#ifndef COARSE_NODES_H
#define COARSE_NODES_H

#include "backend/backend.h"

/* The same as noise_nodes_find, for detection->step == detection->box. *has_peak is false if no
 * pixel is above or below the background between the nodes by detection->threshold rms. */
enum srcfind_status coarse_nodes_find(const struct pixel_source *source,
                                      const struct detection *detection, struct threads *threads,
                                      struct noise_map *map, bool *has_peak, struct error *error);

#endif
