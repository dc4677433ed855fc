/* A stretch of grey levels, for a test. */
#ifndef TEST_STRETCH_H
#define TEST_STRETCH_H

#include "output/picture/stretch.h"

/* The stretch of a map with this median and noise; highest: its highest mean, in rms above the
 * median. */
static inline struct stretch stretch_with(double zero, double unit, double highest) {
    struct stretch s = {.zero = zero, .unit = unit};
    float mean = (float)highest;
    const struct block_means means = {1, 1, 1, &mean};
    stretch_to(&s, &means);
    return s;
}

#endif
