/* Vectors of sixteen pixels. Compiled with -mavx512f -mavx512bw -mbmi -mpopcnt; called only if the
 * processor has them. */
#include <immintrin.h>

#include "cpu/scan.h"

enum { LANES = 16 };

typedef __m512 reals;
typedef __mmask16 masks;
typedef __m512i integers;

static inline reals splat(float v) {
    return _mm512_set1_ps(v);
}

static inline reals load(const char *pixels, bool swapped) {
    const __m512i order =
        _mm512_broadcast_i32x4(_mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
    const __m512i raw = _mm512_loadu_si512(pixels);
    return _mm512_castsi512_ps(swapped ? _mm512_shuffle_epi8(raw, order) : raw);
}

static inline reals magnitude(reals v) {
    return _mm512_abs_ps(v);
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

static inline masks both(masks a, masks b) {
    return _kand_mask16(a, b);
}

static inline masks either(masks a, masks b) {
    return _kor_mask16(a, b);
}

static inline uint64_t bits(masks m) {
    return m;
}

static inline integers count(integers n, masks m) {
    return _mm512_mask_add_epi32(n, m, n, _mm512_set1_epi32(1));
}

static inline integers quantise(masks m, reals v, reals scale) {
    return _mm512_cvtps_epi32(_mm512_maskz_mul_ps(m, v, scale));
}

static inline integers add_32(integers a, integers b) {
    return _mm512_add_epi32(a, b);
}

static inline integers add_64(integers a, integers b) {
    return _mm512_add_epi64(a, b);
}

static inline integers upper_16(integers q) {
    return _mm512_srai_epi32(q, 16);
}

static inline integers upper_32(integers q) {
    return _mm512_srli_epi64(q, 32);
}

static inline integers square_pairs(integers q) {
    const integers odd = upper_32(q);
    return _mm512_add_epi64(_mm512_mul_epi32(q, q), _mm512_mul_epi32(odd, odd));
}

#define SCAN_TILE scan_tile_avx512
#define SCAN_SUM scan_sum_avx512
#include "cpu/scan_tile_simd.inc"
