/* A table of the frames of positions on the sky. */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>

/* The columns of a position; the first two are also the types of the axes. */
enum { SKY_LON, SKY_LAT, SKY_E_LON, SKY_E_LAT, SKY_LON_MAX, SKY_LAT_MAX, SKY_COLUMNS };

enum { FRAMES = 9, SPELLINGS = 3 };

struct frame {
    const char *name; /* as srcfind writes it; "": all frames that are not listed */
    const char *columns[SKY_COLUMNS], *ucds[SKY_COLUMNS];
    const char *votable;              /* its names in VOTable, DS9 and CASA; NULL: none */
    const char *ds9, *casa;           /* both or none */
    double equinox;                   /* at which DS9 and CASA know it; 0: it has none */
    const char *spellings[SPELLINGS]; /* in RADESYS: capitals and digits */
};

extern const struct frame frames[FRAMES];

/* The frame of a name; the last frame for an unknown name. */
const struct frame *frame_of_name(const char *name);

/* The first frame whose longitude has this name; the last frame for an unknown name, the first for
 * "". */
const struct frame *frame_of_axis(const char *lon_name);

/* Whether a frame is a value of RADESYS (FITS 4.0, table 24). */
static inline bool frame_is_radesys(const struct frame *frame) {
    return frame->spellings[0];
}

/* Whether a frame, with its equinox, is ICRS or within 0.03 arcsec of it. */
bool frame_is_j2000(const char *name, double equinox);

/* Spells a frame as srcfind does: ICRS for ` icrs `, FK5 for FK5- and J2000, FK4 for B1950,
 * FK4-NO-E for fk4_no_e; other names in capitals. The text does not get longer. */
void frame_spell(char *text);

#endif
