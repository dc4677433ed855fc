/* Options that a user may have meant. */
#ifndef NEAR_OPTIONS_H
#define NEAR_OPTIONS_H

#include <stddef.h>

/* The option that has this meaning in srcfind, if `given` is one of PyBDSF, Aegean, BANE,
 * SExtractor, Selavy or breizorro; else NULL. Hyphens and underscores are the same. */
const char *near_option_of_others(const char *given, size_t length);

#endif
