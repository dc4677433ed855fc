#include "cpu/variants.h"

#include <string.h>

#include "common/hook.h"

#if defined HAVE_AVX2 || defined HAVE_AVX512
static bool has_bmi(void) {
    return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}
#endif

#ifdef HAVE_AVX512
static bool has_avx512(void) {
    return has_bmi() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}
#endif

#ifdef HAVE_AVX2
static bool has_avx2(void) {
    return has_bmi() && __builtin_cpu_supports("avx2");
}
#endif

static bool always(void) {
    return true;
}

const struct cpu_variant cpu_variants[] = {
#ifdef HAVE_AVX512
    {"AVX-512", scan_tile_avx512, scan_sum_avx512, &key_kernels_avx512, fit_with_8,
     convolve_sums_avx512, has_avx512},
#endif
#ifdef HAVE_AVX2
    {"AVX2", scan_tile_avx2, scan_sum_avx2, &key_kernels_avx2, fit_with_4, convolve_sums_avx2,
     has_avx2},
#endif
#ifdef HAVE_SSE2
    {"SSE2", scan_tile_sse2, scan_sum_sse2, &key_kernels_plain, fit_with_2, convolve_sums, always},
#endif
#ifdef HAVE_NEON
    {"NEON", scan_tile_neon, scan_sum_neon, &key_kernels_plain, fit_with_2, convolve_sums, always},
#endif
    {"plain", scan_tile_plain, scan_sum_plain, &key_kernels_plain, fit_with_2, convolve_sums,
     always},
};

const int n_cpu_variants = sizeof cpu_variants / sizeof *cpu_variants;

const struct cpu_variant *cpu_variant_choose(void) {
    const char *forced = hook("SRCFIND_SIMD");
    for (int i = 0; i < n_cpu_variants - 1; i++)
        if (cpu_variants[i].runs() &&
            (!forced || !*forced || strcmp(forced, cpu_variants[i].name) == 0))
            return &cpu_variants[i];
    return &cpu_variants[n_cpu_variants - 1];
}
