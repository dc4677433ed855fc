#include <stdlib.h>
#include <string.h>

#include "cpu/scan.h"

static void add(const struct scan_plan *plan, float v, struct tile_sums *sums) {
    const int64_t q = (int64_t)(v * plan->scale);
    const uint64_t square = (uint64_t)(q * q);
    sums->n_below += v < plan->median_low;
    sums->sum += q;
    sums->square_low += square & 0xffffffff;
    sums->square_high += square >> 32;
}

static void note(struct tile_places *places, int place) {
    places->place[places->n++] = (uint16_t)place;
}

void scan_tile_plain(const struct scan_plan *plan, const uint32_t *pixels, bool swapped, int n,
                     struct tile_sums *sums, struct tile_rest *rest) {
    rest->middle.n = rest->others.n = 0;
    for (int i = 0; i < n; i++) {
        const float v = pixel_value(pixels[i], swapped);
        const bool inside = v > plan->core_low && v < plan->core_high;
        if (!inside || fabsf(v) < plan->zero_band) {
            note(&rest->others, i);
            continue;
        }
        add(plan, v, sums);
        if (v >= plan->median_low && v <= plan->median_high)
            note(&rest->middle, i);
    }
}

scan_tile_function *scan_tile_choose(void) {
#ifdef HAVE_AVX2
    const char *forced = getenv("SRCFIND_SIMD");
    if (!(forced && strcmp(forced, "plain") == 0) && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt"))
        return scan_tile_avx2;
#endif
    return scan_tile_plain;
}
