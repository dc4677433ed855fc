/* The lines of a picture that say what its ellipses are, and which colour is what. */
#ifndef LEGEND_H
#define LEGEND_H

#include "options/options.h"
#include "output/picture/marks.h"

enum { LEGEND_TEXT = 64, MOST_LEGEND = 16 };

/* A part of the line: a text, behind a small ellipse that is drawn as on the map, or behind none.
 */
struct legend_item {
    const struct colour *colour; /* NULL: no ellipse */
    bool is_thin, is_dashed;
    char text[LEGEND_TEXT];
};

struct legend {
    int n;
    struct legend_item items[MOST_LEGEND];
};

/* Makes the line for marks of these kinds (see marks.h) from a search of these scales; empty for 0.
 */
void legend_make(struct legend *legend, unsigned kinds, const struct scales_option *scales);

/* How many lines of this room (pixels) and in this font a legend needs. */
int legend_lines(const struct legend *legend, const struct canvas *v, double room, int font);

/* Draws the legend from a point of the sheet on, in at most `lines` lines, the last of which has
 * this baseline; in a font of at most this size that lets it fit. `leading` is from one baseline to
 * the next. */
struct legend_place {
    double x, baseline, leading, room;
    int lines, font;
};
void legend_draw(const struct legend *legend, const struct canvas *v,
                 const struct legend_place *place);

#endif
