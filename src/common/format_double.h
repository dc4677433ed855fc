/* Numbers as text. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdint.h>

enum { NUMBER_TEXT = 32 };

/* Writes the shortest decimal that reads back as the same finite double, in the manner of Python's
 * repr (0.001, 1e-05, 12.0 as 12), and returns its length. text has room for NUMBER_TEXT. */
int number_write(double value, char *text);

int number_write_integer(int64_t value, char *text);

#endif
