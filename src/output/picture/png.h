/* Writes PNG files (ISO/IEC 15948), and recognises those of srcfind. cairo can write them, but with
 * the best compression of zlib: noise cannot be compressed, so a map takes eight times as long and
 * becomes a tenth smaller. */
#ifndef PNG_H
#define PNG_H

#include <stdio.h>

#include "common/error.h"

/* Writes a picture: pixels[y * width + x] is 0x00RRGGBB, from the top left. `name` is for the error
 * message. */
enum srcfind_status png_write(const uint32_t *pixels, int width, int height, FILE *file,
                              const char *name, struct error *error);

/* Whether a file is a picture of srcfind, and whether it is complete. */
bool png_is_own(const char *path);
bool png_is_whole(const char *path);

#endif
