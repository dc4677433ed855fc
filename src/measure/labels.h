/* The island or the source that each pixel of an image belongs to, as runs: for maps. */
#ifndef LABELS_H
#define LABELS_H

#include <stdbool.h>

#include "backend/segments.h"
#include "measure/grid.h"

/* A label is the number of an island or a source, from 1; 0: none. */
struct labelled_run {
    struct run run;
    int32_t label;
    float scale; /* of the grid that it was found in */
};

struct labels {
    struct labelled_run *runs;
    int64_t n, capacity;
};

/* Adds a run. */
bool labels_add_run(struct labels *labels, const struct run *run, int64_t label, float scale);

/* Adds the runs of all islands, labelled in their order. */
bool labels_add_islands(struct labels *labels, const struct segments *segments);

/* Adds the runs of the islands [first, end), cut where the source changes. source: of each pixel of
 * these islands, from 0. */
bool labels_add_sources(struct labels *labels, const struct segments *segments, int64_t first,
                        int64_t end, const int32_t *source);

/* Adds labels whose numbers follow `before` others. */
bool labels_append(struct labels *labels, const struct labels *more, int64_t before);

/* Replaces runs of samples by those of the pixels of the image that they stand for. */
bool labels_to_image(struct labels *labels, const struct grid *grid);
void labels_clear(struct labels *labels);

#endif
