/* The scale bar of a picture: how long a round angle on the sky is on the map. */
#ifndef ANGLE_BAR_H
#define ANGLE_BAR_H

#include "output/picture/marks.h"

enum { ANGLE_LABEL = 24 };

struct angle_bar {
    bool is_there;
    double angle;  /* degrees, a round number of degrees, minutes, seconds or mas */
    double length; /* pixels of the sheet */
    char label[ANGLE_LABEL];
    struct box box; /* on the sheet, around the bar and its label */
};

/* Writes an angle (degrees) in the largest unit of which it is one or more, as 2′. */
void angle_bar_label(double angle, char label[ANGLE_LABEL]);

/* The largest round angle of at most `most` degrees, which is above 0. */
double angle_bar_round(double most);

/* Makes the bar, a tenth to a quarter as long as the map is wide, in the corner whose box touches
 * the fewest marks and not the box of the beam, the lower right corner first. Its length is that on
 * the sky along the bar's own line, so that it holds beside a pole and for pixels that are no
 * squares. There is no bar without sky coordinates (wcs is NULL), on a map that is too narrow for
 * its label, and where the corners are off the sky. Errors: memory. */
enum srcfind_status angle_bar_make(struct angle_bar *bar, const struct marks *marks,
                                   const struct beam_mark *beam, const struct canvas *v,
                                   struct wcs *wcs, struct error *error);

/* Draws the bar and its label, black on white: the map may have any grey level there. */
void angle_bar_draw(const struct angle_bar *bar, const struct canvas *v);

#endif
