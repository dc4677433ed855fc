/* The plain version of every stage, to test the fast one against: sort the pixels, flood fill, sums
 * in long double; with local noise, sort each box, and compute the noise at each pixel. */
#ifndef ORACLE_H
#define ORACLE_H

#include "backend/backend.h"

/* An image in memory, row by row. */
struct picture {
    int width, height;
    float *pixels;
};

struct oracle_island {
    int64_t n_pixels;
    int x_min, x_max, y_min, y_max, x_peak, y_peak;
    float peak;
    double snr; /* with local noise: of the most significant pixel; else 0 */
    bool edge;
    /* of value, value * x, ... with x and y from the corner of the box; with local noise of value -
     * background */
    long double sum, x, y, xx, yy, xy;
};

struct oracle_result {
    struct srcfind_background background;
    int64_t n;
    struct oracle_island *islands;
};

/* The nodes of local noise, row by row. */
struct oracle_nodes {
    int n_x, n_y;
    struct noise_at *nodes;
    int n_islands, n_pixels; /* what was left out of the boxes */
};

/* Clips, and finds the islands of a picture. n_kept is 0 where no pixel is finite. */
struct oracle_result oracle_detect(const struct picture *picture,
                                   const struct detection *detection);

/* The clips of the boxes, for detection->box > 0, with the gaps filled. */
struct oracle_nodes oracle_nodes_find(const struct picture *picture,
                                      const struct detection *detection);
void oracle_nodes_free(struct oracle_nodes *nodes);

/* The same as oracle_detect, above the noise between nodes. */
struct oracle_result oracle_detect_locally(const struct picture *picture,
                                           const struct detection *detection,
                                           const struct oracle_nodes *nodes);
void oracle_free(struct oracle_result *result);

#endif
