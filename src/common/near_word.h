/* The word that a user may have meant. */
#ifndef NEAR_WORD_H
#define NEAR_WORD_H

#include <stddef.h>

/* The one of n words that is most similar to what was given, in letters of any case; NULL if none
 * is similar enough. */
const char *near_word(const char *const *words, int n, const char *given, size_t length);

#endif
