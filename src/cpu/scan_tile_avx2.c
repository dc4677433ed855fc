/* Vectors of eight pixels. Compiled with -mavx2 -mbmi -mpopcnt; called only if the processor has
 * them. */
#include <immintrin.h>

#include "cpu/scan_tile.h"

enum { LANES = 8 };

#include "cpu/scan_vectors.inc"

static inline reals load(const char *pixels, bool swapped) {
    const __m256i order = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3,
                                           2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    const __m256i raw = _mm256_loadu_si256((const void *)pixels);
    return (reals)(swapped ? _mm256_shuffle_epi8(raw, order) : raw);
}

static inline uint64_t bits(masks m) {
    return (unsigned)_mm256_movemask_ps((__m256)m);
}

static inline integers square_pairs(integers q) {
    const __m256i even = (__m256i)q, odd = _mm256_srli_epi64(even, 32);
    return (integers)_mm256_add_epi64(_mm256_mul_epi32(even, even), _mm256_mul_epi32(odd, odd));
}

#define SCAN_TILE scan_tile_avx2
#define SCAN_SUM scan_sum_avx2
#include "cpu/scan_tile_simd.inc"
