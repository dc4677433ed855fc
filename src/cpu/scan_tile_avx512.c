/* Vectors of sixteen pixels. Compiled with -mavx512f -mavx512bw -mbmi -mpopcnt; called only if the
 * processor has them. */
#include <immintrin.h>

#include "cpu/scan_tile.h"

enum { LANES = 16 };

#define OWN_MASKS /* in registers of their own */
#include "cpu/scan_vectors.inc"

typedef __mmask16 masks;

static inline reals load(const char *pixels, bool swapped) {
    const __m512i order =
        _mm512_broadcast_i32x4(_mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
    const __m512i raw = _mm512_loadu_si512(pixels);
    return (reals)(swapped ? _mm512_shuffle_epi8(raw, order) : raw);
}

static inline masks below(reals a, reals b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

static inline masks and_below(masks m, reals a, reals b) {
    return _mm512_mask_cmp_ps_mask(m, a, b, _CMP_LT_OQ);
}

static inline masks and_not_below(masks m, reals a, reals b) {
    return _mm512_mask_cmp_ps_mask(m, a, b, _CMP_NLT_UQ);
}

static inline uint64_t bits(masks m) {
    return m;
}

static inline integers count(integers n, masks m) {
    return (integers)_mm512_mask_add_epi32((__m512i)n, m, (__m512i)n, _mm512_set1_epi32(1));
}

static inline integers quantise(masks m, reals v, reals scale) {
    return (integers)_mm512_cvtps_epi32(_mm512_maskz_mul_ps(m, v, scale));
}

static inline integers square_pairs(integers q) {
    const __m512i even = (__m512i)q, odd = _mm512_srli_epi64(even, 32);
    return (integers)_mm512_add_epi64(_mm512_mul_epi32(even, even), _mm512_mul_epi32(odd, odd));
}

#define SCAN_TILE scan_tile_avx512
#define SCAN_SUM scan_sum_avx512
#include "cpu/scan_tile_simd.inc"
