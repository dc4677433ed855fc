/* Eight pixels a vector. Compiled with -mavx2; called only where the processor has it. */
#include <immintrin.h>

#include "cpu/scan.h"

enum { LANES = 8 };

typedef __m256 reals, masks;

/* Sums in lanes, of one tile: q and q^2 modulo 2^32 and 2^64, and of their upper halves, which tell
 * how often those have passed their ends. */
struct lanes {
    __m256i below;               /* minus how many; 32-bit */
    __m256i sum, sum_high;       /* of q and of q >> 16; 32-bit */
    __m256i square, square_high; /* of q^2 and, in fours, of q^2 >> 32; 64-bit */
};

static inline reals splat(float v) {
    return _mm256_set1_ps(v);
}

static inline reals load(const uint32_t *pixels, bool swapped) {
    const __m256i order = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3,
                                           2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    const __m256i raw = _mm256_loadu_si256((const __m256i *)pixels);
    return _mm256_castsi256_ps(swapped ? _mm256_shuffle_epi8(raw, order) : raw);
}

static inline masks below(reals a, reals b) {
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}

static inline reals magnitude(reals v) {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v);
}

static inline masks both(masks a, masks b) {
    return _mm256_and_ps(a, b);
}

static inline masks either(masks a, masks b) {
    return _mm256_or_ps(a, b);
}

static inline masks but(masks a, masks b) {
    return _mm256_andnot_ps(b, a);
}

static inline uint64_t bits(masks m) {
    return (unsigned)_mm256_movemask_ps(m);
}

static inline void count(struct lanes *lanes, masks set) {
    lanes->below = _mm256_add_epi32(lanes->below, _mm256_castps_si256(set));
}

/* q^2 of the even lanes plus q^2 of the odd ones: below 2^63. */
static inline __m256i square_pairs(__m256i q) {
    const __m256i odd = _mm256_srli_epi64(q, 32);
    return _mm256_add_epi64(_mm256_mul_epi32(q, q), _mm256_mul_epi32(odd, odd));
}

static inline __m256i quantise(masks added, reals v, reals scale) {
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_and_ps(added, v), scale));
}

static inline void add_two(struct lanes *lanes, masks v_added, reals v, masks w_added, reals w,
                           reals scale) {
    const __m256i q = quantise(v_added, v, scale), r = quantise(w_added, w, scale);
    const __m256i high = _mm256_add_epi32(_mm256_srai_epi32(q, 16), _mm256_srai_epi32(r, 16));
    const __m256i squares = _mm256_add_epi64(square_pairs(q), square_pairs(r));
    lanes->sum = _mm256_add_epi32(lanes->sum, _mm256_add_epi32(q, r));
    lanes->sum_high = _mm256_add_epi32(lanes->sum_high, high);
    lanes->square = _mm256_add_epi64(lanes->square, squares);
    lanes->square_high = _mm256_add_epi64(lanes->square_high, _mm256_srli_epi64(squares, 32));
}

static inline void empty(const struct lanes *lanes, struct tile_sums *sums) {
    int32_t below[8], high[8];
    uint32_t sum[8];
    uint64_t square[4], square_high[4];
    memcpy(below, &lanes->below, sizeof below);
    memcpy(sum, &lanes->sum, sizeof sum);
    memcpy(high, &lanes->sum_high, sizeof high);
    memcpy(square, &lanes->square, sizeof square);
    memcpy(square_high, &lanes->square_high, sizeof square_high);
    for (int i = 0; i < 8; i++) {
        sums->n_below -= below[i];
        sums->sum += (int64_t)high[i] * 65536 + (uint32_t)(sum[i] - ((uint32_t)high[i] << 16));
    }
    for (int i = 0; i < 4; i++) {
        sums->square_high += square_high[i];
        sums->square_low += square[i] - (square_high[i] << 32);
    }
}

#define SCAN_TILE scan_tile_avx2
#include "cpu/scan_tile_simd.inc"
