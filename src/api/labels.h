/* The island or the source that each pixel belongs to, for maps. A catalogue has no pixels, so that
 * the islands are found once more, on the CPU, and divided as for the catalogue. */
#ifndef LABELS_H
#define LABELS_H

#include "output/catalogue.h"
#include "output/map_values.h"

struct labels_from {
    const struct srcfind_catalogue *catalogue;
    const struct pixel_source *pixels; /* of its image */
    const struct detection *detection; /* by its options */
    bool of_sources;                   /* labels are Source_id, and not Isl_id */
};

/* Negative islands and sources follow the others. Clear the values also after an error. */
enum srcfind_status labels_make(const struct labels_from *from, struct threads *threads,
                                struct label_values *labels, struct error *error);

#endif
