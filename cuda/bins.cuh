/* Where values stand among the bins of job.h. */
#ifndef BINS_CUH
#define BINS_CUH

#include "device.cuh"

/* Each bin has 2^PLACE_BITS places. */
enum { PLACE_BITS = 23 - OCTAVE_BITS };

/* The number of a value's place, in the order of the values. What is further out than all bins is
 * at the ends. */
static __device__ inline uint32_t bin_place(const bin_scale &scale, float v) {
    const float x = (v - scale.centre) * scale.per_unit;
    const uint32_t side = (uint32_t)SIDE << PLACE_BITS;
    const uint32_t step = min(__float_as_uint(1 + fabsf(x)) - __float_as_uint(1.0f), side - 1);
    return x < 0 ? side - 1 - step : side + step;
}

#endif
