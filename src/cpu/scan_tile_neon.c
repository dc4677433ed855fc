/* Vectors of four pixels, on any 64-bit ARM. */
#include <arm_neon.h>

#include "cpu/scan.h"

enum { LANES = 4 };

typedef float32x4_t reals;
typedef uint32x4_t masks;
typedef int32x4_t integers;

static inline reals splat(float v) {
    return vdupq_n_f32(v);
}

static inline reals load(const char *pixels, bool swapped) {
    const uint8x16_t raw = vld1q_u8((const uint8_t *)pixels);
    return vreinterpretq_f32_u8(swapped ? vrev32q_u8(raw) : raw);
}

static inline reals magnitude(reals v) {
    return vabsq_f32(v);
}

static inline masks below(reals a, reals b) {
    return vcltq_f32(a, b);
}

static inline masks and_below(masks m, reals a, reals b) {
    return vandq_u32(m, below(a, b));
}

static inline masks and_not_below(masks m, reals a, reals b) {
    return vbicq_u32(m, below(a, b));
}

static inline masks both(masks a, masks b) {
    return vandq_u32(a, b);
}

static inline masks either(masks a, masks b) {
    return vorrq_u32(a, b);
}

static inline uint64_t bits(masks m) {
    static const uint32_t bit_of_lane[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(m, vld1q_u32(bit_of_lane)));
}

static inline integers count(integers n, masks m) {
    return vsubq_s32(n, vreinterpretq_s32_u32(m));
}

static inline integers quantise(masks m, reals v, reals scale) {
    const reals kept = vreinterpretq_f32_u32(vandq_u32(m, vreinterpretq_u32_f32(v)));
    return vcvtnq_s32_f32(vmulq_f32(kept, scale));
}

static inline integers add_32(integers a, integers b) {
    return vaddq_s32(a, b);
}

static inline integers add_64(integers a, integers b) {
    return vreinterpretq_s32_s64(vaddq_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}

static inline integers upper_16(integers q) {
    return vshrq_n_s32(q, 16);
}

static inline integers upper_32(integers q) {
    return vreinterpretq_s32_u64(vshrq_n_u64(vreinterpretq_u64_s32(q), 32));
}

static inline integers square_pairs(integers q) {
    const int64x2_t lower = vmull_s32(vget_low_s32(q), vget_low_s32(q));
    return vreinterpretq_s32_s64(vmlal_high_s32(lower, q, q));
}

#define SCAN_TILE scan_tile_neon
#define SCAN_SUM scan_sum_neon
#include "cpu/scan_tile_simd.inc"
