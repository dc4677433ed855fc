/* The header of an image as lines of text, for the comments of catalogues. */
#ifndef HEADER_LINES_H
#define HEADER_LINES_H

#include "input/fits/header.h"
#include "srcfind.h"

/* Lines `KEYWORD = value` with the axes of the image, and the cards that describe what it shows:
 * none that tell how the file stores it, and no commentary. Values are written as Python writes
 * them, as in catalogues of PyBDSF, of which pipelines read coordinates and shape. To be freed;
 * NULL where memory ran out. */
char *header_lines(const struct header *header, const struct srcfind_image *image);

#endif
