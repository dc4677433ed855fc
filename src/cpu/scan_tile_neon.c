/* Vectors of four pixels, on any 64-bit ARM. */
#include <arm_neon.h>

#include "cpu/scan_tile.h"

enum { LANES = 4 };

#include "cpu/scan_vectors.inc"

static inline reals load(const char *pixels, bool swapped) {
    const uint8x16_t raw = vld1q_u8((const uint8_t *)pixels);
    return (reals)(swapped ? vrev32q_u8(raw) : raw);
}

static inline uint64_t bits(masks m) {
    static const uint32_t bit_of_lane[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32((uint32x4_t)m, vld1q_u32(bit_of_lane)));
}

static inline integers square_pairs(integers q) {
    const int32x4_t all = (int32x4_t)q;
    const int64x2_t lower = vmull_s32(vget_low_s32(all), vget_low_s32(all));
    return (integers)vmlal_high_s32(lower, all, all);
}

#define SCAN_TILE scan_tile_neon
#define SCAN_SUM scan_sum_neon
#include "cpu/scan_tile_simd.inc"
