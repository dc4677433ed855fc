#include "units.h"

#include <stdio.h>
#include <wcslib/wcsunits.h>

#include "srcfind.h"

/* A unit as WCSLIB spells it. */
static void spell(const char *unit, char *text) {
    snprintf(text, SRCFIND_TEXT, "%s", unit);
    wcsutrne(0, text, NULL);
}

bool units_conform(const char *unit, const char *wanted, double *factor) {
    char from[SRCFIND_TEXT], to[SRCFIND_TEXT];
    double offset, power;
    spell(unit, from);
    spell(wanted, to);
    return wcsunitse(from, to, factor, &offset, &power, NULL) == 0 && offset == 0 && power == 1;
}
