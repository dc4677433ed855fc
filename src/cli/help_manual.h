/* The manual behind its options, which --help SECTION shows. */
#ifndef HELP_MANUAL_H
#define HELP_MANUAL_H

#include <stddef.h>
#include <stdio.h>

enum { HELP_INDENT = 4 }; /* of paragraphs */

/* The section or subsection whose title begins with these words, in letters of any case; -1 if no
 * title does. */
int help_manual_section(const char *words);

/* The number of characters in a section with its subsections. */
size_t help_manual_length(int section);

void help_manual_write(int section, FILE *stream);

/* Writes the titles of the sections. */
void help_manual_list(FILE *stream);

/* Writes a paragraph as scripts/plain-manual makes them: an item of a list begins with `- ` or a
 * number, in a list within a list behind blanks, and a text that is not filled with a tab. */
void help_manual_paragraph(const char *text, size_t length, FILE *stream);

#endif
