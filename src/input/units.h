/* Conversion of units, by WCSLIB. */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>

/* Whether `unit` can be converted to `wanted`: 1 unit = *factor wanted. Common misspellings are
 * accepted in both, which are texts of up to SRCFIND_TEXT - 1 characters. */
bool units_conform(const char *unit, const char *wanted, double *factor);

/* Whether a unit contains MJY, where M may mean mega or milli. units_conform is false for such a
 * unit. */
bool units_is_ambiguous(const char *unit);

/* A unit in the spelling of VOUnit (IVOA 2014); NULL if it has none, or is none. */
const char *units_vounit(const char *unit);

#endif
