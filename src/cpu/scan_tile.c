#include "cpu/scan_tile.h"

#include "input/chunks.h"

/* Whether a pixel is between the outer bounds of the inliers. */
static bool tile_is_inside(const struct scan_plan *plan, float v) {
    return v > plan->inlier_low && v < plan->inlier_high;
}

static bool tile_is_inlier(const struct scan_plan *plan, float v) {
    return tile_is_inside(plan, v) && (v < plan->median_low || v > plan->median_high);
}

static void add(const struct scan_plan *plan, float v, struct tile_sums *sums) {
    const int64_t q = (int64_t)(v * plan->scale);
    const uint64_t square = (uint64_t)(q * q);
    sums->n++;
    sums->n_below += v < plan->median_low;
    sums->sum += q;
    sums->square_low += square & 0xffffffff;
    sums->square_high += square >> 32;
}

/* The unit of the tile's sums is 2^(exponent - 31), which is also the unit of bin e. */
void scan_add_sums(struct exact_sums *sums, const struct scan_plan *plan,
                   const struct tile_sums *tiles) {
    const int e = plan->exponent - 31 + EXACT_UNIT;
    sums->sum[e] += tiles->sum;
    sums->square[e] += tiles->square_low + ((uint128)tiles->square_high << 32);
}

void scan_tile_continue(const struct scan_plan *plan, const void *pixels, bool swapped, int first,
                        int n, struct tile_sums *sums, struct tile_unsummed *unsummed) {
    for (int i = first; i < n; i++) {
        const float v = pixel_value(pixels, i, swapped);
        const bool inlier = tile_is_inlier(plan, v);
        if (inlier && fabsf(v) >= plan->zero_band)
            add(plan, v, sums);
        else if (tile_is_inside(plan, v) && !inlier)
            unsummed->bracket.value[unsummed->bracket.n++] = v;
        else
            unsummed->others.index[unsummed->others.n++] = (uint16_t)i;
    }
}

void scan_tile_plain(const struct scan_plan *plan, const void *pixels, bool swapped, int n,
                     struct tile_sums *sums, struct tile_unsummed *unsummed) {
    unsummed->bracket.n = unsummed->others.n = 0;
    scan_tile_continue(plan, pixels, swapped, 0, n, sums, unsummed);
}

void scan_sum_plain(const struct scan_plan *plan, const float *values, int64_t n,
                    struct tile_sums *sums) {
    for (int64_t i = 0; i < n; i++)
        if (tile_is_inlier(plan, values[i]) && fabsf(values[i]) >= plan->zero_band)
            add(plan, values[i], sums);
}
