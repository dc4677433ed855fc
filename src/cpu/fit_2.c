/* Vectors of two doubles, which every processor has or imitates. */
#define FIT_WIDTH 2
#define FIT_KERNEL fit_with_2
#include "cpu/fit_kernel.inc"

size_t fit_memory_size(int64_t n_pixels) {
    const size_t n_padded = (size_t)fit_padded((int32_t)n_pixels);
    return sizeof(struct fit_memory) + n_padded * FIT_ARRAYS * sizeof(double);
}
