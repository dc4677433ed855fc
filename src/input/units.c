#define _GNU_SOURCE /* strcasestr */
#include "input/units.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <wcslib/wcsunits.h>

#include "srcfind.h"

/* Janskys in letters of the wrong size, as in MJY/Beam: "Jy" and what follows are put right, and
 * the prefix but m and M, which are two. */
static void mend_janskys(char *text) {
    char *jansky = strcasestr(text, "jy");
    if (!jansky)
        return;
    for (char *c = jansky; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    *jansky = 'J';
    if (jansky > text && (jansky[-1] == 'U' || jansky[-1] == 'K'))
        jansky[-1] = (char)tolower((unsigned char)jansky[-1]);
}

/* A unit as WCSLIB spells it. */
static void spell(const char *unit, char *text) {
    snprintf(text, SRCFIND_TEXT, "%s", unit);
    mend_janskys(text);
    wcsutrne(0, text, NULL);
}

bool units_conform(const char *unit, const char *wanted, double *factor) {
    char from[SRCFIND_TEXT], to[SRCFIND_TEXT];
    double offset, power;
    spell(unit, from);
    spell(wanted, to);
    return wcsunitse(from, to, factor, &offset, &power, NULL) == 0 && offset == 0 && power == 1;
}
