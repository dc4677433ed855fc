/* The entry of an image in a merged JSON catalogue. */
#ifndef JSON_H
#define JSON_H

#include "output/result.h"

/* Writes an object with the members image, background and detection of a result. */
bool json_write_entry(const struct result *result, FILE *stream);

/* Writes the object of an image of which nothing else is known: other members are null. */
bool json_write_known(const struct srcfind_image *image, FILE *stream);

#endif
