/* The numbers beside the ellipses of a picture. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdint.h>

#include "output/picture/canvas.h"
#include "output/picture/marks.h"
#include "output/picture/outline.h"

/* More numbers than this would cover the map. */
enum { MOST_NUMBERS = 500 };

/* The number of an ellipse: the size of its text, and the place that it gets. */
struct number {
    int64_t outline; /* the ellipse that it belongs to */
    double width, height;
    struct box box;
    bool is_placed;
};

/* Where numbers may not be. */
struct obstacles {
    struct box map;                 /* they must be within */
    struct box taken;               /* they may not overlap it; all 0 for nothing */
    const struct outline *outlines; /* they may not touch these, nor be inside a foreign one */
    int64_t n_outlines;
};

/* Places numbers, the first one first: at the right of their ellipse, or else at its left, above,
 * below, or between these, where there is nothing in the way and no number yet. One inside an
 * ellipse that surrounds the centre of its own is not in the way. The others are not placed. */
void numbers_place(struct number *numbers, int64_t n, const struct obstacles *obstacles);

/* Draws the Source_id beside the ellipse of each source, those of the highest |SNR| first, where
 * there is room, for MOST_NUMBERS of them at most. Adds MARK_NUMBER to the marks that have theirs.
 * Errors: memory. */
enum srcfind_status numbers_draw(struct marks *marks, const struct beam_mark *beam,
                                 const struct canvas *canvas, struct error *error);

#endif
