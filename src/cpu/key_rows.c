/* The kernels of local noise; this file is compiled for any processor, for AVX2 and for AVX-512.
 * Vectors are those of the compiler, and intrinsics stand where it has no expression for an
 * instruction.
 *
 * A row is 16 keys, a comparison gives one bit a key (row_below): counting is a popcount, and
 * picking writes the keys whose bits are set (append), without a branch for each key. Blanks are
 * the greatest key, so that they are never below a bound and need no test.
 *
 * keys_sum adds values and squares in eight lanes of double-double numbers, 32 rows at a time, and
 * then adds the lanes pairwise. The order of these additions depends on neither vector length nor
 * instruction set: all variants give the same bits. value_sums_rms knows the bound of the error,
 * and says if the last bit is in doubt. */
#include "cpu/key_rows.h"

#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#if defined __AVX512F__
#define KEY_KERNELS key_kernels_avx512
enum { VECTOR = 64 };
#elif defined __AVX2__
#define KEY_KERNELS key_kernels_avx2
enum { VECTOR = 32 };
#else
#define KEY_KERNELS key_kernels_plain
enum { VECTOR = 16 };
#endif

typedef int32_t vector __attribute__((vector_size(VECTOR), may_alias));

typedef uint32_t words __attribute__((vector_size(VECTOR), may_alias));

enum { LANES = VECTOR / sizeof(int32_t), VECTORS = KEY_LANES / LANES }; /* VECTORS a row */

static inline vector vector_of(int32_t key) {
    return (vector){0} + key;
}

/* One bit a lane. */
static inline unsigned below(vector a, vector b) {
#if defined __AVX512F__
    return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b);
#elif defined __AVX2__
    return (unsigned)_mm256_movemask_ps((__m256)(a < b));
#elif defined __SSE2__
    return (unsigned)_mm_movemask_ps((__m128)(a < b));
#else
    const vector mask = a < b;
    unsigned bits = 0;
    for (int lane = 0; lane < LANES; lane++)
        bits |= (unsigned)(mask[lane] & 1) << lane;
    return bits;
#endif
}

/* One bit for each key of a row that is < key. */
static inline unsigned row_below(const int32_t *row, vector key) {
    unsigned bits = 0;
    for (int v = 0; v < VECTORS; v++)
        bits |= below(((const vector *)(const void *)row)[v], key) << v * LANES;
    return bits;
}

/* --- pixels --- */

static inline uint32_t native(uint32_t bits, bool swapped) {
    return swapped ? __builtin_bswap32(bits) : bits;
}

static inline int32_t key_of_bits(uint32_t bits) {
    const uint32_t magnitude = bits & 0x7fffffff;
    return magnitude < 0x7f800000 ? key_of_pixel(exact_float(bits)) : KEY_BLANK;
}

/* The keys of a vector of pixels. */
static inline vector keys_of_bits(vector bits, bool swapped) {
    if (swapped) {
        const words w = (words)bits;
        bits = (vector)(w << 24 | (w << 8 & 0xff0000) | (w >> 8 & 0xff00) | w >> 24);
    }
    const vector magnitude = bits & 0x7fffffff, sign = bits < vector_of(0);
    const vector finite = magnitude < vector_of(0x7f800000);
    const vector key = (magnitude ^ sign) & ~(magnitude == vector_of(0));
    return (key & finite) | (vector_of(KEY_BLANK) & ~finite);
}

static void keys_convert(const uint32_t *pixels, bool swapped, int64_t n, int32_t *keys) {
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vector bits;
        memcpy(&bits, pixels + i, sizeof bits);
        bits = swapped ? keys_of_bits(bits, true) : keys_of_bits(bits, false);
        memcpy(keys + i, &bits, sizeof bits);
    }
    for (; i < n; i++)
        keys[i] = key_of_bits(native(pixels[i], swapped));
}

static inline bool any_reach(const uint32_t *pixels, bool swapped, const float *bounds) {
    int32_t any = 0;
    for (int i = 0; i < REACH_PIXELS; i++) {
        const uint32_t bits = native(pixels[i], swapped);
        float value;
        memcpy(&value, &bits, sizeof value);
        any |= !(value < bounds[i]) | (value == -INFINITY);
    }
    return any;
}

static bool keys_reach(const uint32_t *pixels, bool swapped, const float *bounds) {
    return swapped ? any_reach(pixels, true, bounds) : any_reach(pixels, false, bounds);
}

static inline uint32_t which_leave(const uint32_t *pixels, bool swapped, float low, float high) {
    uint8_t leaves[REACH_PIXELS];
    uint32_t bits = 0;
    int32_t any = 0;
    for (int i = 0; i < REACH_PIXELS; i++) {
        const uint32_t pixel = native(pixels[i], swapped);
        float value;
        memcpy(&value, &pixel, sizeof value);
        const int32_t is = (value >= high) | (value <= low);
        leaves[i] = (uint8_t)is;
        any |= is;
    }
    for (int i = 0; any && i < REACH_PIXELS; i++)
        bits |= (uint32_t)leaves[i] << i;
    return bits;
}

static uint32_t keys_leave(const uint32_t *pixels, bool swapped, float low, float high) {
    return swapped ? which_leave(pixels, true, low, high) : which_leave(pixels, false, low, high);
}

/* --- picking --- */

/* Appends the keys of a row whose bits are set. It may write KEY_LANES keys beyond the last one. */
static inline int64_t append(int32_t *to, int64_t n, const int32_t *row, unsigned bits) {
#ifdef __AVX512F__
    const __m512i keys = _mm512_load_si512(row);
    _mm512_storeu_si512(to + n, _mm512_maskz_compress_epi32((__mmask16)bits, keys));
#else
    enum { AT_ONCE = 2 }; /* a branch for each key costs more */
    int32_t *key = to + n;
    for (unsigned left = bits; left; key += AT_ONCE) {
#pragma GCC unroll 2
        for (int i = 0; i < AT_ONCE; i++, left &= left - 1)
            key[i] = row[__builtin_ctz(left | 1u << (KEY_LANES - 1))];
    }
#endif
    return n + __builtin_popcount(bits);
}

/* Fills the last row up. Returns the number of rows. */
static int64_t fill_up(int32_t *keys, int64_t n) {
    for (int i = 0; i < KEY_LANES; i++)
        keys[n + i] = KEY_BLANK;
    return (n + KEY_LANES - 1) / KEY_LANES;
}

static void keys_pick(const struct key_rows *rows, int64_t n, const struct key_window *window,
                      struct picked_keys *picked) {
    const vector outer_low = vector_of(window->outer_low), low = vector_of(window->low);
    const vector high = vector_of(window->high), above = vector_of(window->outer_high + 1);
    int32_t *middle = picked->middle.keys, *outer = picked->outer.keys;
    int64_t n_middle = 0, n_outer = 0, n_below = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t *row = rows[i].keys, *end = row + rows[i].n * KEY_LANES;
        for (; row < end; row += KEY_LANES) {
            const unsigned lower = row_below(row, low);
            const unsigned tails = row_below(row, outer_low) | (row_below(row, above) ^ 0xffff);
            n_below += __builtin_popcount(lower);
            n_middle = append(middle, n_middle, row, row_below(row, high) & ~lower);
            n_outer = append(outer, n_outer, row, tails);
        }
    }
    picked->middle.n = fill_up(middle, n_middle);
    picked->outer.n = fill_up(outer, n_outer);
    picked->below = n_below;
    picked->n_middle = n_middle;
}

/* --- ranks --- */

static int64_t keys_count(const struct key_rows *rows, int64_t n, int32_t key) {
    const vector bound = vector_of(key);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t row = 0; row < rows[i].n; row++)
            count += __builtin_popcount(row_below(rows[i].keys + row * KEY_LANES, bound));
    return count;
}

static void keys_neighbours(const struct key_rows *rows, int64_t n, int32_t key,
                            int32_t *most_below, int32_t *least_above) {
    int32_t most[KEY_LANES], least[KEY_LANES];
    for (int i = 0; i < KEY_LANES; i++) {
        most[i] = INT32_MIN;
        least[i] = KEY_BLANK;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t row = 0; row < rows[i].n; row++) {
            const int32_t *keys = rows[i].keys + row * KEY_LANES;
            for (int lane = 0; lane < KEY_LANES; lane++) {
                const int32_t lower = keys[lane] < key ? keys[lane] : INT32_MIN;
                const int32_t upper = keys[lane] < key ? KEY_BLANK : keys[lane];
                most[lane] = lower > most[lane] ? lower : most[lane];
                least[lane] = upper < least[lane] ? upper : least[lane];
            }
        }
    }
    *most_below = INT32_MIN;
    *least_above = KEY_BLANK;
    for (int i = 0; i < KEY_LANES; i++) {
        *most_below = most[i] > *most_below ? most[i] : *most_below;
        *least_above = least[i] < *least_above ? least[i] : *least_above;
    }
}

/* Fills the elements behind the gathered keys with KEY_BLANK. */
static int64_t keys_gather(const struct key_rows *rows, int64_t n, int32_t low, int32_t high,
                           struct gathered_keys *gathered) {
    const vector lowest = vector_of(low), end = vector_of(high);
    int64_t n_gathered = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t *row = rows[i].keys, *last = row + rows[i].n * KEY_LANES;
        for (; row < last; row += KEY_LANES)
            n_gathered = append(gathered->keys, n_gathered, row,
                                row_below(row, end) & ~row_below(row, lowest));
    }
    for (int i = 0; i < MOST_GATHERED; i++)
        gathered->keys[n_gathered + i] = KEY_BLANK;
    return n_gathered;
}

/* One bit a gathered key: whether it is < key. */
static inline uint32_t gathered_below(const struct gathered_keys *g, int32_t key) {
    uint32_t bits = 0;
    for (int i = 0; i < MOST_GATHERED; i += KEY_LANES)
        bits |= (uint32_t)row_below(g->keys + i, vector_of(key)) << i;
    return bits;
}

/* Puts each key at its rank: the number of keys that are less, or equal and earlier. */
static void keys_sort(struct gathered_keys *gathered, int64_t n) {
    const struct gathered_keys unsorted = *gathered;
    for (int i = 0; i < n; i++) {
        const int32_t key = unsorted.keys[i];
        const uint32_t earlier = ((uint32_t)1 << i) - 1;
        const uint32_t before =
            gathered_below(&unsorted, key) | (gathered_below(&unsorted, key + 1) & earlier);
        gathered->keys[__builtin_popcount(before)] = key;
    }
}

/* --- sums --- */

enum { SUM_LANES = 8, ROWS_A_SUM = 32 }; /* the error of a lane grows with the square of its rows */

typedef int32_t sum_keys __attribute__((vector_size(4 * SUM_LANES), may_alias));
typedef float floats __attribute__((vector_size(4 * SUM_LANES)));
typedef double doubles __attribute__((vector_size(8 * SUM_LANES)));

/* The sums of each lane. */
struct lanes {
    sum_keys n;
    doubles sum, sum_low, square, square_low;
};

/* sum += x; the exact rounding error is added to low. */
static inline void add_doubles(doubles *sum, doubles *low, doubles x) {
    const doubles total = *sum + x, rounded = total - *sum;
    *low += (*sum - (total - rounded)) + (x - rounded);
    *sum = total;
}

/* Adds the keys whose mask is set. */
static inline void add_keys(struct lanes *lanes, sum_keys keys, sum_keys mask) {
    const sum_keys bits = (keys ^ ((keys < 0) & 0x7fffffff)) & mask;
    const doubles x = __builtin_convertvector((floats)bits, doubles);
    lanes->n -= mask;
    add_doubles(&lanes->sum, &lanes->sum_low, x);
    add_doubles(&lanes->square, &lanes->square_low, x * x);
}

static struct double_double add_up(const doubles *high, const doubles *low) {
    struct double_double lane[SUM_LANES];
    for (int i = 0; i < SUM_LANES; i++)
        lane[i] = (struct double_double){(*high)[i], (*low)[i]};
    for (int width = SUM_LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            lane[i] = dd_add(lane[i], lane[i + width]);
    return lane[0];
}

static void add_lanes(const struct lanes *lanes, struct value_sums *sums) {
    for (int i = 0; i < SUM_LANES; i++)
        sums->n += lanes->n[i];
    sums->sum = dd_add(sums->sum, add_up(&lanes->sum, &lanes->sum_low));
    sums->square = dd_add(sums->square, add_up(&lanes->square, &lanes->square_low));
}

static void keys_sum(const struct key_rows *rows, int64_t n, int32_t low, int32_t inner_low,
                     int32_t inner_high, int32_t high, struct value_sums *sums) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t row = 0; row < rows[i].n; row += ROWS_A_SUM) {
            const int64_t end = row + ROWS_A_SUM < rows[i].n ? row + ROWS_A_SUM : rows[i].n;
            struct lanes lanes = {{0}, {0}, {0}, {0}, {0}};
            for (int64_t at = row * KEY_LANES; at < end * KEY_LANES; at += SUM_LANES) {
                const sum_keys k = *(const sum_keys *)(const void *)(rows[i].keys + at);
                add_keys(&lanes, k,
                         (k >= low) & (k <= high) & ((k < inner_low) | (k > inner_high)));
            }
            add_lanes(&lanes, sums);
        }
    }
}

const struct key_kernels KEY_KERNELS = {
    .convert = keys_convert,
    .reach = keys_reach,
    .leave = keys_leave,
    .pick = keys_pick,
    .count = keys_count,
    .neighbours = keys_neighbours,
    .gather = keys_gather,
    .sort = keys_sort,
    .sum = keys_sum,
};
