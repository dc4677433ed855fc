/* Compiled with -mavx512f; called only if the processor has these vectors. */
#define CONVOLVE_SUMS convolve_sums_avx512
#include "cpu/convolve_sums.inc"
