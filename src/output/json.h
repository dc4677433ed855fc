/* Parts of a JSON catalogue for those that are merged. */
#ifndef JSON_H
#define JSON_H

#include "output/result.h"

/* Writes an object with the members image, background and detection of a result. False where
 * memory ran out. */
bool json_write_entry(const struct result *result, FILE *stream);

/* The same where only the image is known. */
bool json_write_known(const struct srcfind_image *image, FILE *stream);

#endif
