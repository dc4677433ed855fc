/* Texts for a terminal of 80 columns. */
#ifndef WRAPPED_TEXT_H
#define WRAPPED_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Writes a text of words with a blank between them, and ends the line. The first line begins at
 * column `at`, which the caller has reached; the others begin with `indent` blanks. */
void wrapped_text_write(const char *text, size_t length, int at, int indent, FILE *stream);

#endif
