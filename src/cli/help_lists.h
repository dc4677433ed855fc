/* Lists of what the values of options may name. */
#ifndef HELP_LISTS_H
#define HELP_LISTS_H

#include <stdio.h>

/* The formats of catalogues, with their suffixes. */
void help_list_formats(FILE *stream);

/* The maps and tables of --save. */
void help_list_maps(FILE *stream);

/* The columns of catalogues, and the lists of columns with a name. */
void help_list_columns(FILE *stream);

#endif
