/* The numbers beside the ellipses of a picture. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdint.h>

#include "output/picture/canvas.h"
#include "output/picture/marks.h"
#include "output/picture/outline.h"

/* More numbers than this would cover the map. */
enum { MOST_NUMBERS = 500 };

/* The number of an ellipse: the size of its text, and its box once it is placed. */
struct number {
    int64_t outline; /* the ellipse that it belongs to */
    double width, height;
    struct box box;
    bool is_placed;
};

/* Where numbers may not lie. */
struct obstacles {
    struct box map;                 /* numbers must lie within it */
    struct box taken[2];            /* numbers may not overlap them; all 0 for none */
    const struct outline *outlines; /* numbers may touch none, and lie inside their own only */
    int64_t n_outlines;
};

/* Places numbers, the first one first: at the right of their ellipse, or at its left, above, below
 * or between these, where neither an obstacle nor an earlier number lies. A number may lie inside
 * an ellipse that surrounds the centre of its own ellipse. A number without room is not placed. */
void numbers_place(struct number *numbers, int64_t n, const struct obstacles *obstacles);

/* Draws the Source_id beside ellipses of sources where there is room, highest |SNR| first,
 * MOST_NUMBERS at most. taken: the boxes of the beam and of the scale bar. Adds MARK_NUMBER to
 * marks with a number. Errors: memory. */
enum srcfind_status numbers_draw(struct marks *marks, const struct box taken[2],
                                 const struct canvas *v, struct error *error);

#endif
