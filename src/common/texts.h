/* Arrays of texts. */
#ifndef TEXTS_H
#define TEXTS_H

#include <stdint.h>

/* Sorts n texts, and finds the first ones of them that are equal. Returns how many these are, and
 * sets *text to them; 1 or less where all differ. */
int64_t texts_find_equal(char **texts, int64_t n, const char **text);

#endif
