#include <stdlib.h>
#include <string.h>

#include "cpu/scan.h"

static bool is_core(const struct scan_plan *p, float v) {
    return v > p->core_low && v < p->core_high && !(v >= p->median_low && v <= p->median_high);
}

void scan_tile_plain(const struct scan_plan *plan, const uint32_t *pixels, bool swapped, int n,
                     struct tile_sums *sums, struct tile_rest *rest) {
    memset(rest->listed, 0, (size_t)(n + 63) / 64 * sizeof *rest->listed);
    memset(rest->small, 0, (size_t)(n + 63) / 64 * sizeof *rest->small);
    for (int i = 0; i < n; i++) {
        const float v = pixel_value(pixels[i], swapped);
        const uint64_t bit = (uint64_t)1 << i % 64;
        if (!is_core(plan, v)) {
            rest->listed[i / 64] |= bit;
        } else if (fabsf(v) < plan->zero_band) {
            rest->small[i / 64] |= bit;
        } else {
            const int64_t q = (int64_t)(v * plan->scale);
            const uint64_t square = (uint64_t)(q * q);
            sums->n_core++;
            sums->n_below += v < plan->median_low;
            sums->sum += q;
            sums->square_low += square & 0xffffffff;
            sums->square_high += square >> 32;
        }
    }
}

scan_tile_function *scan_tile_choose(void) {
#ifdef HAVE_AVX2
    const char *forced = getenv("SRCFIND_SIMD");
    if (!(forced && strcmp(forced, "plain") == 0) && __builtin_cpu_supports("avx2"))
        return scan_tile_avx2;
#endif
    return scan_tile_plain;
}
