/* Angles in sexagesimal notation. */
#ifndef PARSE_ANGLE_H
#define PARSE_ANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads a text of `length` characters that is an angle in two or three parts and nothing else, into
 * degrees: 04:35:32.4, 4 35.54, -80d57m03s, +80d57'03", 4h35m32.4s. Parts are separated by colons,
 * by blanks or by these letters; the last one may have a fraction, and those after the first are
 * below 60. in_hours: the first part is hours, unless it ends with d. False if it is no such text.
 */
bool parse_angle(const char *text, size_t length, bool in_hours, double *degrees);

#endif
