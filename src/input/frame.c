#include "input/frame.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "common/ascii.h"

#define AXES(lon, lat, ucd_lon, ucd_lat)                                                           \
    {lon, lat, "E_" lon, "E_" lat, lon "_max", lat "_max"}, {                                      \
        ucd_lon ";meta.main", ucd_lat ";meta.main", "stat.error;" ucd_lon, "stat.error;" ucd_lat,  \
            ucd_lon ";stat.max", ucd_lat ";stat.max"                                               \
    }
#define EQUATORIAL AXES("RA", "DEC", "pos.eq.ra", "pos.eq.dec")

const struct frame frames[FRAMES] = {
    {"ICRS", EQUATORIAL, "ICRS", "icrs", "ICRS", 0, {"ICRS"}},
    {"FK5", EQUATORIAL, "eq_FK5", "fk5", "J2000", 2000, {"FK5", "J2000", "FK5J2000"}},
    {"FK4", EQUATORIAL, "eq_FK4", "fk4", "B1950", 1950, {"FK4", "B1950", "FK4B1950"}},
    {.name = "FK4-NO-E", EQUATORIAL, .spellings = {"FK4NOE"}},
    {.name = "GAPPT", EQUATORIAL, .spellings = {"GAPPT"}},
    {.name = "GALACTIC",
     AXES("GLON", "GLAT", "pos.galactic.lon", "pos.galactic.lat"),
     "galactic",
     "galactic",
     "GALACTIC"},
    {.name = "ECLIPTIC", AXES("ELON", "ELAT", "pos.ecliptic.lon", "pos.ecliptic.lat"), "ecl_FK5"},
    {.name = "SUPERGALACTIC",
     AXES("SLON", "SLAT", "pos.supergalactic.lon", "pos.supergalactic.lat"),
     "supergalactic"},
    {.name = "", AXES("LON", "LAT", "pos.bodyrc.long", "pos.bodyrc.lat")},
};

const struct frame *frame_of_name(const char *name) {
    int i = 0;
    while (i < FRAMES - 1 && strcmp(name, frames[i].name) != 0)
        i++;
    return &frames[i];
}

const struct frame *frame_of_axis(const char *lon_name) {
    int i = 0;
    while (*lon_name && i < FRAMES - 1 && strcmp(lon_name, frames[i].columns[SKY_LON]) != 0)
        i++;
    return &frames[i];
}

bool frame_is_j2000(const char *name, double equinox) {
    return strcmp(name, "ICRS") == 0 || (strcmp(name, "FK5") == 0 && equinox == 2000);
}

/* Moves the text to the left by its leading blanks, and cuts its trailing ones and dashes. */
static void trim(char *text) {
    const size_t blanks = strspn(text, " ");
    size_t length = strlen(text + blanks);
    memmove(text, text + blanks, length + 1);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '-'))
        text[--length] = '\0';
}

/* Whether a text is a name, apart from blanks and signs between letters and digits. */
static bool is_name(const char *text, const char *name) {
    for (; *text; text++)
        if ((ascii_is_letter(*text) || isdigit((unsigned char)*text)) && *name++ != *text)
            return false;
    return *name == '\0';
}

void frame_spell(char *text) {
    trim(text);
    const size_t length = strlen(text);
    for (char *c = text; *c; c++)
        *c = ascii_upper(*c);
    for (const struct frame *f = frames; f < frames + FRAMES; f++) {
        for (int i = 0; i < SPELLINGS && f->spellings[i]; i++) {
            if (is_name(text, f->spellings[i]) && strlen(f->name) <= length) {
                memcpy(text, f->name, strlen(f->name) + 1);
                return;
            }
        }
    }
}
