/* Options that a user may have meant. */
#ifndef NEAR_OPTIONS_H
#define NEAR_OPTIONS_H

#include <stddef.h>

/* The option that has this meaning in srcfind, if `given` is one of PyBDSF, Aegean, BANE,
 * SExtractor, Selavy or breizorro; else NULL. Hyphens and underscores are the same. */
const char *near_option_of_others(const char *given, size_t length);

/* The one of n names that is most similar to what was given; NULL if none is similar enough. */
const char *near_option(const char *const *names, int n, const char *given, size_t length);

#endif
