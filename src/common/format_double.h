/* Converts numbers to text. */
#ifndef FORMAT_DOUBLE_H
#define FORMAT_DOUBLE_H

#include <stdint.h>

enum { FORMAT_TEXT = 32 };

/* Writes the shortest decimal that reads back as the same finite double, and returns its length.
 * The format is that of Python's repr (0.001, 1e-05), but without a final .0 (12). text is a buffer
 * of FORMAT_TEXT characters; the result ends with NUL. */
int format_double(double value, char *text);

/* Puts a point in place of the decimal mark of the locale, in a number that snprintf wrote: a
 * program that uses the library may have set another one. Returns text. */
char *format_point(char *text);

/* Writes an integer. */
int format_integer(int64_t value, char *text);

/* Write a number or a text behind others, and return the end. */
char *format_add(char *to, double value);
char *format_add_integer(char *to, int64_t value);
char *format_add_text(char *to, const char *text);

#endif
