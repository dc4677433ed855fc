/* Vectors of eight doubles. Compiled with -mavx512f; called only if the processor has them. */
#define FIT_WIDTH 8
#define FIT_KERNEL fit_with_8
#include "cpu/fit_kernel.inc"
