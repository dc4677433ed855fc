/* The fit of an island, and its parts: sources that are fitted together, and their pixels. */
#ifndef FIT_PARTS_H
#define FIT_PARTS_H

#include "backend/fit.h"
#include "measure/deblend.h"

/* A part of an island: sources that are fitted together, and the pixels around them. */
struct fit_part {
    int64_t first_source, n_sources; /* in fit_parts.sources */
    int64_t first_pixel, n_pixels;   /* in fit_parts.order */
    int32_t colour;                  /* differs from that of parts that it touches */
};

/* The parts of an island. */
struct fit_parts {
    struct fit_part *part;
    int64_t n;
    int32_t n_colours;
    int32_t *sources; /* grouped by part */
    int32_t *order;   /* of the pixels, grouped by part; within a part as they were */
    int32_t *part_of; /* of each pixel */
};

/* Positions are relative to the island's highest pixel, values in units of the rms there. */
struct island_fit {
    const struct island_pixels *island;
    const struct deblended *deblended;
    int32_t x, y;
    double rms;
    double widest; /* bound of the widths, in beam sigmas; each job has one by its pixels, too */
    struct fit_pixel *pixels; /* of the island, then of its margin, in the order of the image */
    int64_t n_inside, n_pixels;
    struct fit_parts parts;
    double *others; /* the models of the other parts at each pixel; NULL if there is one part */
};

/* The effort for the fits of an island. Normal equations take most of the time, which grows with
 * the square of a part's sources and with the iterations. In crowded islands (nebulae, noise above
 * a wrong threshold) fits do not converge, would take milliseconds a source, and more iterations
 * describe the island no better. Second fits (flux_check.h) with 4 sources a part take half as
 * long, with residuals 7% higher. */
struct fit_effort {
    int64_t group; /* most sources that are fitted together */
    struct fit_limits limits;
};

struct fit_effort fit_parts_effort(const struct island_fit *fit);

/* Divides sources and pixels of a fit into parts, and gives parts that touch different colours. The
 * fit has its pixels, and room for its parts, in the arena. */
bool fit_parts_make(struct island_fit *fit, struct arena *arena);

#endif
