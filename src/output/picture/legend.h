/* The line of a picture that says what its ellipses are. */
#ifndef LEGEND_H
#define LEGEND_H

enum { LEGEND_TEXT = 320 };

/* Writes what marks of these kinds (see marks.h) are, "" for 0. */
void legend_text(unsigned kinds, char text[LEGEND_TEXT]);

#endif
