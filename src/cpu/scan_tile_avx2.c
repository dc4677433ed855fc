/* The tile of scan.h, 64 pixels a step in eight vectors of eight. Compiled with -mavx2; called only
 * where the processor has it. */
#include <immintrin.h>

#include "cpu/scan.h"

struct bounds {
    __m256 core_low, core_high, median_low, median_high, zero_band, scale;
};

/* Sums in lanes: 32-bit ones are emptied after every tile, long before they could overflow. */
struct lanes {
    __m256i n, below;                /* how many, and minus how many are below the median; 32-bit */
    __m256i sum_low, sum_high;       /* of q & 0xffff and of q >> 16, 32-bit */
    __m256i square_low, square_high; /* 64-bit */
};

static struct bounds broadcast(const struct scan_plan *p) {
    return (struct bounds){_mm256_set1_ps(p->core_low),   _mm256_set1_ps(p->core_high),
                           _mm256_set1_ps(p->median_low), _mm256_set1_ps(p->median_high),
                           _mm256_set1_ps(p->zero_band),  _mm256_set1_ps(p->scale)};
}

static inline __m256 load(const uint32_t *pixels, bool swapped) {
    const __m256i order = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3,
                                           2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    const __m256i raw = _mm256_loadu_si256((const __m256i *)pixels);
    return _mm256_castsi256_ps(swapped ? _mm256_shuffle_epi8(raw, order) : raw);
}

/* Eight pixels: those that are added as integers (others 0), and which are of the core but small,
 * or not of the core. */
struct eight {
    __m256i q;
    int small, listed;
};

static inline struct eight classify(const struct bounds *b, __m256 v, struct lanes *lanes) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    const __m256 below = _mm256_cmp_ps(v, b->median_low, _CMP_LT_OQ);
    const __m256 off_median = _mm256_or_ps(below, _mm256_cmp_ps(v, b->median_high, _CMP_GT_OQ));
    const __m256 small = _mm256_cmp_ps(_mm256_andnot_ps(sign, v), b->zero_band, _CMP_LT_OQ);
    const __m256 inside = _mm256_and_ps(_mm256_cmp_ps(v, b->core_low, _CMP_GT_OQ),
                                        _mm256_cmp_ps(v, b->core_high, _CMP_LT_OQ));
    const __m256 core = _mm256_and_ps(inside, off_median);
    const __m256 added = _mm256_andnot_ps(small, core);
    lanes->below = _mm256_add_epi32(lanes->below, _mm256_castps_si256(_mm256_and_ps(added, below)));
    lanes->n = _mm256_sub_epi32(lanes->n, _mm256_castps_si256(added));
    return (struct eight){_mm256_cvtps_epi32(_mm256_mul_ps(_mm256_and_ps(added, v), b->scale)),
                          _mm256_movemask_ps(_mm256_and_ps(core, small)),
                          _mm256_movemask_ps(core) ^ 0xff};
}

/* q^2 of the even lanes plus q^2 of the odd ones: below 2^63. */
static inline __m256i square_pairs(__m256i q) {
    const __m256i odd = _mm256_srli_epi64(q, 32);
    return _mm256_add_epi64(_mm256_mul_epi32(q, q), _mm256_mul_epi32(odd, odd));
}

static inline void add(struct lanes *lanes, __m256i q, __m256i r) {
    const __m256i low16 = _mm256_set1_epi32(0xffff), low32 = _mm256_set1_epi64x(0xffffffff);
    const __m256i low = _mm256_add_epi32(_mm256_and_si256(q, low16), _mm256_and_si256(r, low16));
    const __m256i high = _mm256_add_epi32(_mm256_srai_epi32(q, 16), _mm256_srai_epi32(r, 16));
    const __m256i squares = _mm256_add_epi64(square_pairs(q), square_pairs(r));
    lanes->sum_low = _mm256_add_epi32(lanes->sum_low, low);
    lanes->sum_high = _mm256_add_epi32(lanes->sum_high, high);
    lanes->square_low = _mm256_add_epi64(lanes->square_low, _mm256_and_si256(squares, low32));
    lanes->square_high = _mm256_add_epi64(lanes->square_high, _mm256_srli_epi64(squares, 32));
}

static int64_t total32(__m256i v) {
    int32_t lane[8];
    int64_t total = 0;
    _mm256_storeu_si256((__m256i *)lane, v);
    for (int i = 0; i < 8; i++)
        total += lane[i];
    return total;
}

static uint64_t total64(__m256i v) {
    uint64_t lane[4];
    _mm256_storeu_si256((__m256i *)lane, v);
    return lane[0] + lane[1] + lane[2] + lane[3];
}

static inline void add_64(const struct bounds *b, const uint32_t *pixels, bool swapped,
                          struct lanes *lanes, uint64_t *small, uint64_t *listed) {
    *small = *listed = 0;
    for (int i = 0; i < 64; i += 16) {
        const struct eight first = classify(b, load(pixels + i, swapped), lanes);
        const struct eight second = classify(b, load(pixels + i + 8, swapped), lanes);
        add(lanes, first.q, second.q);
        *small |= (uint64_t)(unsigned)(first.small | second.small << 8) << i;
        *listed |= (uint64_t)(unsigned)(first.listed | second.listed << 8) << i;
    }
}

static void add_rest(const struct scan_plan *plan, const uint32_t *pixels, bool swapped, int first,
                     int n, struct tile_sums *sums, struct tile_rest *rest) {
    struct tile_rest last;
    scan_tile_plain(plan, pixels + first, swapped, n - first, sums, &last);
    rest->listed[first / 64] = last.listed[0];
    rest->small[first / 64] = last.small[0];
}

void scan_tile_avx2(const struct scan_plan *plan, const uint32_t *pixels, bool swapped, int n,
                    struct tile_sums *sums, struct tile_rest *rest) {
    const struct bounds b = broadcast(plan);
    const __m256i zero = _mm256_setzero_si256();
    struct lanes lanes = {zero, zero, zero, zero, zero, zero};
    const int whole = n / 64 * 64;
    for (int i = 0; i < whole; i += 64) {
        if (swapped)
            add_64(&b, pixels + i, true, &lanes, &rest->small[i / 64], &rest->listed[i / 64]);
        else
            add_64(&b, pixels + i, false, &lanes, &rest->small[i / 64], &rest->listed[i / 64]);
    }
    sums->n_core += total32(lanes.n);
    sums->n_below -= total32(lanes.below);
    sums->sum += total32(lanes.sum_low) + total32(lanes.sum_high) * 65536;
    sums->square_low += total64(lanes.square_low);
    sums->square_high += total64(lanes.square_high);
    if (whole < n)
        add_rest(plan, pixels, swapped, whole, n, sums, rest);
}
