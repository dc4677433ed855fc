/* Angles in sexagesimal numbers. */
#ifndef SEXAGESIMAL_H
#define SEXAGESIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* An angle; `part` counts fractions of a second, 1 / parts each. It is rounded before it is split:
 * there are never 60 seconds. */
struct sexagesimal {
    bool is_negative;
    int64_t whole, minutes, seconds, part;
};

/* A right ascension in hours, from 0 to below 24, and a declination in degrees; parts: a power of
 * 10. */
struct sexagesimal sexagesimal_hours(double degrees, int64_t parts);
struct sexagesimal sexagesimal_degrees(double degrees, int64_t parts);

/* Writes 01:02:03.000004 with a text between the numbers, without the sign, and with as many digits
 * of the seconds as `parts` has zeros. Returns the end. */
char *sexagesimal_add(char *to, const struct sexagesimal *angle, const char *between,
                      int64_t parts);

#endif
