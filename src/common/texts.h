/* Texts that grow, and arrays of texts. */
#ifndef TEXTS_H
#define TEXTS_H

#include <stddef.h>
#include <stdint.h>

/* Appends what printf would write to a text of `size` characters, as far as it fits. */
__attribute__((format(printf, 3, 4))) void texts_append(char *text, size_t size, const char *format,
                                                        ...);

/* Sorts n texts, and finds the first ones of them that are equal. Returns how many these are, and
 * sets *text to them; 1 or less where all differ. */
int64_t texts_find_equal(const char **texts, int64_t n, const char **text);

/* Raises *longest to the length of a text. */
void texts_count(const char *text, size_t *longest);

/* A copy without bytes that are no UTF-8 and without control characters, which `?` stands in for;
 * to be freed. NULL where memory ran out. */
char *texts_clean(const char *text);

#endif
