/* The pixels around islands, which a fit needs beside those of the island: see docs/components.md.
 */
#ifndef MARGINS_H
#define MARGINS_H

#include <stdbool.h>

#include "backend/segments.h"
#include "common/arena.h"

/* The margin of an island: the pixels within some distance of it that are not its own. */
struct margin {
    struct run *runs; /* in the order of the image */
    int64_t n_runs, n_pixels;
};

/* Margins are no wider, in pixels: around a larger beam, which would be a mistake in a header, a
 * disc has more pixels than a fit may have (backend/fit.h). */
enum { MARGIN_MOST = 144 };

/* Finds the runs of a margin, in an image of width x height; they are in the arena. Pixels are
 * within it if dx^2 + dy^2 <= radius^2. */
bool margin_find(const struct run *island, int64_t n_runs, double radius, int64_t width,
                 int64_t height, struct arena *arena, struct margin *margin);

#endif
