/* Vectors of four pixels, on any x86-64. */
#include <emmintrin.h>

#include "cpu/scan.h"

enum { LANES = 4 };

typedef __m128 reals, masks;
typedef __m128i integers;

static inline reals splat(float v) {
    return _mm_set1_ps(v);
}

static inline reals load(const char *pixels, bool swapped) {
    const __m128i raw = _mm_loadu_si128((const void *)pixels);
    const __m128i pairs = _mm_or_si128(_mm_slli_epi16(raw, 8), _mm_srli_epi16(raw, 8));
    const __m128i turned = _mm_or_si128(_mm_slli_epi32(pairs, 16), _mm_srli_epi32(pairs, 16));
    return _mm_castsi128_ps(swapped ? turned : raw);
}

static inline reals magnitude(reals v) {
    return _mm_andnot_ps(_mm_set1_ps(-0.0f), v);
}

static inline masks below(reals a, reals b) {
    return _mm_cmplt_ps(a, b);
}

static inline masks and_below(masks m, reals a, reals b) {
    return _mm_and_ps(m, below(a, b));
}

static inline masks and_not_below(masks m, reals a, reals b) {
    return _mm_andnot_ps(below(a, b), m);
}

static inline masks both(masks a, masks b) {
    return _mm_and_ps(a, b);
}

static inline masks either(masks a, masks b) {
    return _mm_or_ps(a, b);
}

static inline uint64_t bits(masks m) {
    return (unsigned)_mm_movemask_ps(m);
}

static inline integers count(integers n, masks m) {
    return _mm_sub_epi32(n, _mm_castps_si128(m));
}

static inline integers quantise(masks m, reals v, reals scale) {
    return _mm_cvtps_epi32(_mm_mul_ps(_mm_and_ps(m, v), scale));
}

static inline integers add_32(integers a, integers b) {
    return _mm_add_epi32(a, b);
}

static inline integers add_64(integers a, integers b) {
    return _mm_add_epi64(a, b);
}

static inline integers upper_16(integers q) {
    return _mm_srai_epi32(q, 16);
}

static inline integers upper_32(integers q) {
    return _mm_srli_epi64(q, 32);
}

static inline integers square_pairs(integers q) {
    const integers sign = _mm_srai_epi32(q, 31);
    const integers even = _mm_sub_epi32(_mm_xor_si128(q, sign), sign), odd = upper_32(even);
    return _mm_add_epi64(_mm_mul_epu32(even, even), _mm_mul_epu32(odd, odd));
}

#define SCAN_TILE scan_tile_sse2
#define SCAN_SUM scan_sum_sse2
#include "cpu/scan_tile_simd.inc"
