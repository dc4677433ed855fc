/* Vectors of four doubles. Compiled with -mavx2; called only if the processor has them. */
#define FIT_WIDTH 4
#define FIT_KERNEL fit_with_4
#include "cpu/fit_kernel.inc"
