#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "cpu/scan.h"

static bool is_core(const struct scan_plan *p, float v) {
    return v > p->core_low && v < p->core_high && !(v >= p->median_low && v <= p->median_high);
}

static void add(const struct scan_plan *plan, float v, struct tile_sums *sums) {
    const int64_t q = (int64_t)(v * plan->scale);
    const uint64_t square = (uint64_t)(q * q);
    sums->n_core++;
    sums->n_below += v < plan->median_low;
    sums->sum += q;
    sums->square_low += square & 0xffffffff;
    sums->square_high += square >> 32;
}

void scan_tile_plain(const struct scan_plan *plan, const uint32_t *pixels, bool swapped, int n,
                     struct tile_sums *sums, struct tile_rest *rest) {
    rest->n_listed = rest->n_small = rest->n_zero = 0;
    memset(rest->placed, 0, sizeof rest->placed);
    for (int i = 0; i < n; i++) {
        const float v = pixel_value(pixels[i], swapped);
        if (!isfinite(v) || v >= plan->candidate)
            rest->placed[i / 64] |= (uint64_t)1 << i % 64;
        if (is_core(plan, v) && fabsf(v) >= plan->zero_band)
            add(plan, v, sums);
        else if (is_core(plan, v))
            rest->small[rest->n_small++] = v;
        else if (v == 0)
            rest->n_zero++;
        else if (isfinite(v))
            rest->listed[rest->n_listed++] = v;
    }
}

#ifdef HAVE_AVX2
static once_flag avx2_once = ONCE_FLAG_INIT;
#endif

scan_tile_function *scan_tile_choose(void) {
#ifdef HAVE_AVX2
    const char *forced = getenv("SRCFIND_SIMD");
    if (!(forced && strcmp(forced, "plain") == 0) && __builtin_cpu_supports("avx2")) {
        call_once(&avx2_once, scan_tile_avx2_prepare);
        return scan_tile_avx2;
    }
#endif
    return scan_tile_plain;
}
