/* Units, as WCSLIB knows them. */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>

/* Whether a unit is *factor times the wanted one; both may be spelt in usual wrong ways, in up to
 * SRCFIND_TEXT - 1 characters. */
bool units_conform(const char *unit, const char *wanted, double *factor);

#endif
