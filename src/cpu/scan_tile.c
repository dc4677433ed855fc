#include <stdlib.h>
#include <string.h>

#include "cpu/scan.h"

static bool is_core(const struct scan_plan *p, float v) {
    return v > p->core_low && v < p->core_high && !(v >= p->median_low && v <= p->median_high) &&
           fabsf(v) >= p->zero_band;
}

void scan_tile_plain(const struct scan_plan *plan, const uint32_t *pixels, bool swapped, int n,
                     struct tile_sums *sums, uint64_t *listed) {
    memset(listed, 0, (size_t)(n + 63) / 64 * sizeof *listed);
    for (int i = 0; i < n; i++) {
        const float v = pixel_value(pixels[i], swapped);
        if (!is_core(plan, v)) {
            listed[i / 64] |= (uint64_t)1 << i % 64;
            continue;
        }
        const int64_t q = (int64_t)(v * plan->scale);
        const uint64_t square = (uint64_t)(q * q);
        sums->n_core++;
        sums->n_below += v < plan->median_low;
        sums->sum += q;
        sums->square_low += square & 0xffffffff;
        sums->square_high += square >> 32;
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
