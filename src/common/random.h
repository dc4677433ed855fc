/* Random numbers without a state: each follows from a seed and its purpose alone, so that neither
 * the order nor the number of threads changes them. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* The mixing function of SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195). */
static inline uint64_t random_mix(uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* The `which`-th number of a try at an item: 0 <= number < 1, a multiple of 2^-53. */
static inline double random_number(uint64_t seed, uint64_t item, uint64_t try, uint64_t which) {
    const uint64_t bits = random_mix(random_mix(random_mix(random_mix(seed) ^ item) ^ try) ^ which);
    return (double)(bits >> 11) * 0x1p-53;
}

#endif
