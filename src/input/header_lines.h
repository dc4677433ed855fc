/* The header of an image as lines of text, for the comments of catalogues. */
#ifndef HEADER_LINES_H
#define HEADER_LINES_H

#include "input/fits/header.h"
#include "srcfind.h"

/* Lines `KEYWORD = value` with the axes of the image and the cards that describe its content; cards
 * on the storage in the file and commentary are left out. Values are spelled as in Python, as in
 * catalogues of PyBDSF: pipelines read coordinates and shape there. To be freed; NULL where memory
 * ran out. */
char *header_lines(const struct header *header, const struct srcfind_image *image);

#endif
