/* Compiled with -mavx2; called only if the processor has these vectors. */
#define CONVOLVE_SUMS convolve_sums_avx2
#include "cpu/convolve_sums.inc"
