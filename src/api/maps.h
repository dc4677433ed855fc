/* What the command asks of maps beside the public calls. */
#ifndef MAPS_H
#define MAPS_H

#include "common/error.h"

/* Whether a map can be made here, with these options: a picture needs cairo, a model a fit. If not,
 * the reason is in error. */
bool map_is_possible(int map, const struct srcfind_options *options, struct error *error);

/* Whether a file is a map that srcfind wrote, and whether it is complete. */
bool map_is_own(int map, const char *path);
bool map_is_whole(int map, const char *path);

#endif
