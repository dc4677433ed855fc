#define _GNU_SOURCE /* strcasestr */
#include "input/beam_history.h"

#include <string.h>

#include "input/units.h"
#include "input/usable_beam.h"

/* Moves *text behind `name`, and blanks and equal signs. False if it is not there. */
static bool skip_to(const char **text, const char *name) {
    const char *at = strcasestr(*text, name);
    if (!at)
        return false;
    at += strlen(name);
    *text = at + strspn(at, " =");
    return true;
}

/* Moves *text behind a number. False if there is none. */
static bool take_number(const char **text, double *value) {
    size_t used;
    if (!header_parse_real(*text, strlen(*text), value, &used))
        return false;
    *text += used;
    return true;
}

static bool number_after(const char *text, const char *name, double *value) {
    return skip_to(&text, name) && take_number(&text, value);
}

static bool of_aips(const char *text, struct srcfind_beam *b) {
    return strstr(text, "CLEAN") && number_after(text, "BMAJ", &b->major) &&
           number_after(text, "BMIN", &b->minor) && number_after(text, "BPA", &b->angle);
}

/* Moves *text behind a unit in brackets, and sets *degrees to its size. False if it is no angle. */
static bool take_unit(const char **text, double *degrees) {
    char unit[CARD + 1];
    *text += strspn(*text, " ");
    const size_t length = **text == '(' ? strcspn(*text + 1, ")") : 0;
    if (length == 0 || !(*text)[1 + length])
        return false;
    memcpy(unit, *text + 1, length);
    unit[length] = '\0';
    *text += length + 2;
    return units_conform(unit, "deg", degrees);
}

static bool of_casa(const char *text, struct srcfind_beam *b) {
    double size, turn;
    if (!skip_to(&text, "restoration:") || !take_number(&text, &b->major) ||
        !skip_to(&text, "by ") || !take_number(&text, &b->minor) || !take_unit(&text, &size) ||
        !skip_to(&text, "at pa ") || !take_number(&text, &b->angle) || !take_unit(&text, &turn))
        return false;
    b->major *= size;
    b->minor *= size;
    b->angle *= turn;
    return true;
}

bool beam_history_find(const struct header *header, double pixel_area, struct srcfind_beam *beam) {
    bool found = false;
    int64_t i = 0;
    for (const char *card; (card = header_next(header, "HISTORY", &i));) {
        struct srcfind_beam b;
        char text[CARD + 1];
        memcpy(text, card, CARD);
        text[CARD] = '\0';
        if ((of_aips(text, &b) || of_casa(text, &b)) && beam_is_usable(&b, pixel_area)) {
            *beam = b;
            found = true;
        }
    }
    return found;
}
