#define _GNU_SOURCE /* strcasestr */
#include "input/units.h"

#include <stdio.h>
#include <string.h>
#include <wcslib/wcsunits.h>

#include "common/ascii.h"
#include "srcfind.h"

/* In a unit in capitals, M may be mega or milli. */
bool units_is_ambiguous(const char *unit) {
    return strstr(unit, "MJY") != NULL;
}

/* Corrects upper and lower case in units of jansky, as in mJy/Beam: in "Jy" and all that follows,
 * and in the prefixes U (micro) and K (kilo). m and M are different prefixes and stay. */
static void correct_case(char *text) {
    char *jansky = strcasestr(text, "jy");
    if (!jansky)
        return;
    for (char *c = jansky; *c; c++)
        *c = ascii_lower(*c);
    *jansky = 'J';
    if (jansky > text && (jansky[-1] == 'U' || jansky[-1] == 'K'))
        jansky[-1] = ascii_lower(jansky[-1]);
}

/* Whether WCSLIB can read a text: its lexer never ends on bytes other than ASCII. */
static bool is_readable(const char *unit) {
    while (ascii_is_printable(*unit))
        unit++;
    return !*unit;
}

/* Copies a unit to text, of SRCFIND_TEXT characters, in WCSLIB's spelling. */
static void standard_spelling(const char *unit, char *text) {
    snprintf(text, SRCFIND_TEXT, "%s", unit);
    correct_case(text);
    wcsutrne(0, text, NULL);
}

bool units_conform(const char *unit, const char *wanted, double *factor) {
    char from[SRCFIND_TEXT], to[SRCFIND_TEXT];
    double offset, power;
    if (units_is_ambiguous(unit) || !is_readable(unit) || !is_readable(wanted))
        return false;
    standard_spelling(unit, from);
    standard_spelling(wanted, to);
    return wcsunitse(from, to, factor, &offset, &power, NULL) == 0 && offset == 0 && power == 1;
}

const char *units_vounit(const char *unit) {
    static const char *const known[] = {
        "Jy/beam", "mJy/beam", "uJy/beam", "Jy/pixel", "Jy",    "mJy",     "uJy", "MJy/sr",
        "Jy/sr",   "K",        "mK",       "deg",      "pixel", "Jy.km/s", "mas", "arcsec",
        "arcmin",  "rad",      "Hz",       "kHz",      "MHz",   "GHz"};
    double factor;
    if (!unit || !*unit)
        return NULL;
    if (strcmp(unit, "pix") == 0)
        return "pixel";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(unit, known[i]) == 0 || (units_conform(unit, known[i], &factor) && factor == 1))
            return known[i];
    return NULL;
}
