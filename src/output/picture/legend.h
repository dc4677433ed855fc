/* The line of a picture that says what its ellipses are. */
#ifndef LEGEND_H
#define LEGEND_H

enum { LEGEND_TEXT = 320 };

/* Writes the legend for marks of these kinds (see marks.h); "" for 0. */
void legend_text(unsigned kinds, char text[LEGEND_TEXT]);

#endif
