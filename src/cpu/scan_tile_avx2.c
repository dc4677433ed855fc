/* The tile of scan.h, 64 pixels a step in eight vectors of eight, without a branch that depends on
 * a pixel. Compiled with -mavx2; called only where the processor has it. */
#include <immintrin.h>

#include "cpu/scan.h"

/* Byte i of packing[mask] is the number of the i-th bit that is set in mask. */
static uint64_t packing[256];

void scan_tile_avx2_prepare(void) {
    for (int mask = 0; mask < 256; mask++) {
        int place = 0;
        for (int bit = 0; bit < 8; bit++)
            if (mask >> bit & 1)
                packing[mask] |= (uint64_t)bit << 8 * place++;
    }
}

/* The loop keeps its sums in registers only if it is one piece of code. */
#define INLINE static inline __attribute__((always_inline))

struct bounds {
    __m256 core_low, core_high, median_low, median_high, zero_band, scale, candidate;
};

/* Sums in lanes: 32-bit ones are emptied after every tile, long before they could overflow. */
struct lanes {
    __m256i n, below, zero;          /* minus how many: in all, below the median, zeros; 32-bit */
    __m256i sum_low, sum_high;       /* of q & 0xffff and of q >> 16, 32-bit */
    __m256i square_low, square_high; /* 64-bit */
};

static struct bounds broadcast(const struct scan_plan *p) {
    return (struct bounds){_mm256_set1_ps(p->core_low),   _mm256_set1_ps(p->core_high),
                           _mm256_set1_ps(p->median_low), _mm256_set1_ps(p->median_high),
                           _mm256_set1_ps(p->zero_band),  _mm256_set1_ps(p->scale),
                           _mm256_set1_ps(p->candidate)};
}

INLINE __m256 load(const uint32_t *pixels, bool swapped) {
    const __m256i order = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3,
                                           2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    const __m256i raw = _mm256_loadu_si256((const __m256i *)pixels);
    return _mm256_castsi256_ps(swapped ? _mm256_shuffle_epi8(raw, order) : raw);
}

/* Eight pixels: those that are added as integers (others 0), and which are left for other uses. */
struct eight {
    __m256i q;
    int small, listed, placed;
};

/* Minus one in each 32-bit lane that is set. */
INLINE void count(__m256i *lanes, __m256 set) {
    *lanes = _mm256_add_epi32(*lanes, _mm256_castps_si256(set));
}

INLINE struct eight classify(const struct bounds *b, __m256 v, struct lanes *lanes) {
    const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v);
    const __m256 finite = _mm256_cmp_ps(magnitude, _mm256_set1_ps(INFINITY), _CMP_LT_OQ);
    const __m256 zero = _mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_EQ_OQ);
    const __m256 below = _mm256_cmp_ps(v, b->median_low, _CMP_LT_OQ);
    const __m256 off_median = _mm256_or_ps(below, _mm256_cmp_ps(v, b->median_high, _CMP_GT_OQ));
    const __m256 small = _mm256_cmp_ps(magnitude, b->zero_band, _CMP_LT_OQ);
    const __m256 inside = _mm256_and_ps(_mm256_cmp_ps(v, b->core_low, _CMP_GT_OQ),
                                        _mm256_cmp_ps(v, b->core_high, _CMP_LT_OQ));
    const __m256 core = _mm256_and_ps(inside, off_median);
    const __m256 added = _mm256_andnot_ps(small, core);
    const __m256 listed = _mm256_andnot_ps(core, _mm256_andnot_ps(zero, finite));
    const __m256 ordinary = _mm256_and_ps(finite, _mm256_cmp_ps(v, b->candidate, _CMP_LT_OQ));
    count(&lanes->n, added);
    count(&lanes->below, _mm256_and_ps(added, below));
    count(&lanes->zero, _mm256_andnot_ps(core, zero));
    return (struct eight){_mm256_cvtps_epi32(_mm256_mul_ps(_mm256_and_ps(added, v), b->scale)),
                          _mm256_movemask_ps(_mm256_and_ps(core, small)),
                          _mm256_movemask_ps(listed), _mm256_movemask_ps(ordinary) ^ 0xff};
}

/* Writes the lanes of v that are set in mask, one after the other and then some more, and returns
 * how many are set. */
INLINE int pack(float *to, __m256 v, int mask) {
    const __m128i order = _mm_loadl_epi64((const __m128i *)&packing[mask]);
    _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(v, _mm256_cvtepu8_epi32(order)));
    return __builtin_popcount((unsigned)mask);
}

/* q^2 of the even lanes plus q^2 of the odd ones: below 2^63. */
INLINE __m256i square_pairs(__m256i q) {
    const __m256i odd = _mm256_srli_epi64(q, 32);
    return _mm256_add_epi64(_mm256_mul_epi32(q, q), _mm256_mul_epi32(odd, odd));
}

INLINE void add(struct lanes *lanes, __m256i q, __m256i r) {
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

INLINE uint64_t add_64(const struct bounds *b, const uint32_t *pixels, bool swapped,
                       struct lanes *lanes, struct tile_rest *rest) {
    uint64_t placed = 0;
    for (int i = 0; i < 64; i += 16) {
        const __m256 v = load(pixels + i, swapped), w = load(pixels + i + 8, swapped);
        const struct eight first = classify(b, v, lanes), second = classify(b, w, lanes);
        add(lanes, first.q, second.q);
        rest->n_listed += pack(rest->listed + rest->n_listed, v, first.listed);
        rest->n_listed += pack(rest->listed + rest->n_listed, w, second.listed);
        rest->n_small += pack(rest->small + rest->n_small, v, first.small);
        rest->n_small += pack(rest->small + rest->n_small, w, second.small);
        placed |= (uint64_t)(unsigned)(first.placed | second.placed << 8) << i;
    }
    return placed;
}

/* The pixels behind the last 64. */
static void add_last(const struct scan_plan *plan, const uint32_t *pixels, bool swapped, int n,
                     struct tile_sums *sums, struct tile_rest *rest, int word) {
    struct tile_rest last = {.listed = rest->listed + rest->n_listed};
    scan_tile_plain(plan, pixels, swapped, n, sums, &last);
    memcpy(rest->small + rest->n_small, last.small, (size_t)last.n_small * sizeof *last.small);
    rest->n_listed += last.n_listed;
    rest->n_small += last.n_small;
    rest->n_zero += last.n_zero;
    rest->placed[word] = last.placed[0];
}

void scan_tile_avx2(const struct scan_plan *plan, const uint32_t *pixels, bool swapped, int n,
                    struct tile_sums *sums, struct tile_rest *rest) {
    const struct bounds b = broadcast(plan);
    const __m256i zero = _mm256_setzero_si256();
    struct lanes lanes = {zero, zero, zero, zero, zero, zero, zero};
    const int whole = n / 64 * 64;
    rest->n_listed = rest->n_small = 0;
    if (swapped)
        for (int i = 0; i < whole; i += 64)
            rest->placed[i / 64] = add_64(&b, pixels + i, true, &lanes, rest);
    else
        for (int i = 0; i < whole; i += 64)
            rest->placed[i / 64] = add_64(&b, pixels + i, false, &lanes, rest);
    rest->n_zero = (int)-total32(lanes.zero);
    sums->n_core -= total32(lanes.n);
    sums->n_below -= total32(lanes.below);
    sums->sum += total32(lanes.sum_low) + total32(lanes.sum_high) * 65536;
    sums->square_low += total64(lanes.square_low);
    sums->square_high += total64(lanes.square_high);
    if (whole < n)
        add_last(plan, pixels + whole, swapped, n - whole, sums, rest, whole / 64);
}
