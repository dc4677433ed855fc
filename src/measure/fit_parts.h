/* The groups in which the sources of an island are fitted, if they are too many for one fit. */
#ifndef FIT_PARTS_H
#define FIT_PARTS_H

#include "backend/fit.h"
#include "measure/deblend.h"

/* A group of sources, and the pixels that are nearer to them than to those of other groups. */
struct fit_part {
    int64_t first_source, n_sources; /* in fit_parts.sources */
    int64_t first_pixel, n_pixels;   /* in fit_parts.order */
    int32_t colour;                  /* parts that touch have different ones */
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
    const struct island_pixels *own;
    const struct deblended *deblended;
    int32_t x, y;
    double rms;
    double widest; /* bound of the widths, in beams, beside that of each job's pixels */
    struct fit_pixel
        *pixels; /* the island's own, then its margin, both in the order of the image */
    int64_t n_own, n_pixels;
    struct fit_parts parts;
    double *others; /* of each pixel, the models of the other parts; NULL if there is one part */
};

/* How the sources of an island are fitted. The work is that of the normal equations, and grows with
 * the squares of a group's sources and with the iterations. In crowded islands, of nebulae and of
 * noise above a wrong threshold, fits do not converge, and would take milliseconds a source: there
 * more iterations describe the island no better. The same holds for second fits (flux_check.h):
 * with groups of 4 they take half as long, and their residuals are 7% higher. */
struct fit_effort {
    int64_t group; /* most sources that are fitted together */
    struct fit_limits limits;
};

struct fit_effort fit_parts_effort(const struct island_fit *fit);

/* Divides the sources and pixels of a fit into parts: halves them along the longer side until all
 * parts are small enough, and gives parts that touch different colours. The fit has its pixels, and
 * room for the others; the parts are in the arena. */
bool fit_parts_make(struct island_fit *fit, struct arena *arena);

#endif
