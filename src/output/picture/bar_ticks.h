/* The ticks beside the bar of grey levels: round values in a unit in which they are short. */
#ifndef BAR_TICKS_H
#define BAR_TICKS_H

#include "output/picture/stretch.h"
#include "srcfind.h"

enum { MOST_BAR_TICKS = 24, BAR_LABEL = 32, BAR_UNIT = 2 * SRCFIND_TEXT };

struct bar_tick {
    double level; /* from 0 (white) to 1 (black) */
    char label[BAR_LABEL];
};

struct bar_ticks {
    int n;
    struct bar_tick ticks[MOST_BAR_TICKS];
    char unit[BAR_UNIT]; /* of the labels: "mJy/beam"; "" for none */
};

/* Finds the ticks from the level of white to that of black, at least `gap` (0 to 1) apart. Each is
 * a round value between gap and two and a half gaps from the one before: 0, 1, 2, 5, 10, ... in
 * most maps, and 1000, 1005, 1010 beside a background of 1000. `unit` is that of the map, any text:
 * a multiple of Jy/beam, Jy/pixel, Jy/sr or K gets the prefix that makes the middle value of the
 * bar 1 or more, any other one a power of ten if its values are very small or very large. */
void bar_ticks_find(struct bar_ticks *ticks, const struct stretch *stretch, const char *unit,
                    double gap);

#endif
