/* Vectors as the compiler makes them for any processor. */
#define CONVOLVE_SUMS convolve_sums
#include "cpu/convolve_sums.inc"
