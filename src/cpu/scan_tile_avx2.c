/* Vectors of eight pixels. Compiled with -mavx2 -mbmi -mpopcnt; called only if the processor has
 * them. */
#include <immintrin.h>

#include "cpu/scan.h"

enum { LANES = 8 };

typedef __m256 reals, masks;
typedef __m256i integers;

static inline reals splat(float v) {
    return _mm256_set1_ps(v);
}

static inline reals load(const char *pixels, bool swapped) {
    const __m256i order = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3,
                                           2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    const __m256i raw = _mm256_loadu_si256((const void *)pixels);
    return _mm256_castsi256_ps(swapped ? _mm256_shuffle_epi8(raw, order) : raw);
}

static inline reals magnitude(reals v) {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v);
}

static inline masks below(reals a, reals b) {
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}

static inline masks and_below(masks m, reals a, reals b) {
    return _mm256_and_ps(m, below(a, b));
}

static inline masks and_not_below(masks m, reals a, reals b) {
    return _mm256_andnot_ps(below(a, b), m);
}

static inline masks both(masks a, masks b) {
    return _mm256_and_ps(a, b);
}

static inline masks either(masks a, masks b) {
    return _mm256_or_ps(a, b);
}

static inline uint64_t bits(masks m) {
    return (unsigned)_mm256_movemask_ps(m);
}

static inline integers count(integers n, masks m) {
    return _mm256_sub_epi32(n, _mm256_castps_si256(m));
}

static inline integers quantise(masks m, reals v, reals scale) {
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_and_ps(m, v), scale));
}

static inline integers add_32(integers a, integers b) {
    return _mm256_add_epi32(a, b);
}

static inline integers add_64(integers a, integers b) {
    return _mm256_add_epi64(a, b);
}

static inline integers upper_16(integers q) {
    return _mm256_srai_epi32(q, 16);
}

static inline integers upper_32(integers q) {
    return _mm256_srli_epi64(q, 32);
}

static inline integers square_pairs(integers q) {
    const integers odd = upper_32(q);
    return _mm256_add_epi64(_mm256_mul_epi32(q, q), _mm256_mul_epi32(odd, odd));
}

#define SCAN_TILE scan_tile_avx2
#define SCAN_SUM scan_sum_avx2
#include "cpu/scan_tile_simd.inc"
