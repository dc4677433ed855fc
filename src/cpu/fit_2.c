/* Vectors of two doubles, which every processor has or imitates. */
#define FIT_WIDTH 2
#define FIT_KERNEL fit_with_2
#include "cpu/fit_kernel.inc"

size_t fit_memory_size(int64_t n_pixels) {
    const int64_t n = (n_pixels + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    return sizeof(struct fit_memory) + (size_t)(n * (5 + FIT_MOST)) * sizeof(double);
}
