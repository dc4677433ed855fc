/* What a backend found beside what the plain version found: a test that fails where they differ by
 * more than the rounding of long double. */
#ifndef AGREEMENT_H
#define AGREEMENT_H

#include "unit.h"

void assert_background_agrees(const struct srcfind_background *b,
                              const struct srcfind_background *expected);

void assert_agrees(const struct detection_result *result, const struct oracle_result *expected,
                   const struct detection *detection);

/* With local noise: the nodes are those of the plain version, and the islands those above them. */
void assert_agrees_locally(const struct detection_result *result, const struct picture *picture,
                           const struct detection *detection);

/* The clip by a histogram, which a search takes where nothing else helps. */
void assert_histogram_agrees(const struct picture *picture, double kappa,
                             const struct oracle_result *expected, int n_threads, bool swapped);

#endif
