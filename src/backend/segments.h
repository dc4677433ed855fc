/* The result of detection: islands with their moments and, if detection.keep_pixels, their pixels,
 * which deblending, fits and maps need. */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/island.h"
#include "backend/noise_map.h"

/* Pixels x0 ... x1 of row y. */
struct run {
    int32_t y, x0, x1;
};

/* Runs and values are grouped by island, and within an island in the order of the pixels. Island i
 * has the runs first_run[i] ... first_run[i + 1] - 1, and the values first_value[i] ...
 * first_value[i + 1] - 1, one run after the other. */
struct segments {
    int64_t n;              /* islands */
    struct island *islands; /* in the order of their first pixels */
    struct run *runs;       /* NULL without keep_pixels, like all members that follow */
    float *values;
    int64_t *first_run, *first_value; /* n + 1 of each */
    struct noise_given *given; /* beside the values, if maps of the noise are given; else NULL */
    struct noise_at *noise; /* at each island's peak, if maps of the noise are given; else NULL */
};

/* Frees the arrays of s. */
static inline void segments_clear(struct segments *s) {
    free(s->islands);
    free(s->runs);
    free(s->values);
    free(s->first_run);
    free(s->first_value);
    free(s->given);
    free(s->noise);
    memset(s, 0, sizeof *s);
}

#endif
