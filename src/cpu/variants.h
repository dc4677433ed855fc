/* The kernels of the CPU backend, compiled for several instruction sets. All give the same bits. */
#ifndef VARIANTS_H
#define VARIANTS_H

#include "cpu/convolve_sums.h"
#include "cpu/fit_kernels.h"
#include "cpu/key_rows.h"
#include "cpu/scan_tile.h"

struct cpu_variant {
    const char *name;
    scan_tile_function *tile;
    scan_sum_function *sum;
    const struct key_kernels *keys;
    fit_kernel *fit;
    convolve_function *convolve;
    bool (*runs)(void); /* whether this processor has the instructions */
};

/* All variants that were compiled, the fastest first and the plain one last. */
extern const struct cpu_variant cpu_variants[];
extern const int n_cpu_variants;

/* The fastest variant that this processor runs. With test hooks: the variant that SRCFIND_SIMD
 * names, or the plain one if there is none of this name. */
const struct cpu_variant *cpu_variant_choose(void);

#endif
