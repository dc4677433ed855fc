/* Vectors of four pixels, on any x86-64. */
#include <emmintrin.h>

#include "cpu/scan_tile.h"

enum { LANES = 4 };

#include "cpu/scan_vectors.inc"

static inline reals load(const char *pixels, bool swapped) {
    const __m128i raw = _mm_loadu_si128((const void *)pixels);
    const __m128i pairs = _mm_or_si128(_mm_slli_epi16(raw, 8), _mm_srli_epi16(raw, 8));
    const __m128i turned = _mm_or_si128(_mm_slli_epi32(pairs, 16), _mm_srli_epi32(pairs, 16));
    return (reals)(swapped ? turned : raw);
}

static inline uint64_t bits(masks m) {
    return (unsigned)_mm_movemask_ps((__m128)m);
}

static inline integers square_pairs(integers q) {
    const integers sign = (integers)(q < 0);
    const __m128i even = (__m128i)((q ^ sign) - sign), odd = _mm_srli_epi64(even, 32);
    return (integers)_mm_add_epi64(_mm_mul_epu32(even, even), _mm_mul_epu32(odd, odd));
}

#define SCAN_TILE scan_tile_sse2
#define SCAN_SUM scan_sum_sse2
#include "cpu/scan_tile_simd.inc"
