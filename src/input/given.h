/* Images that are given beside an image: a mask, and maps of rms and background. They are images
 * themselves, of the same shape, and are read with the pixels: no map is held in memory. */
#ifndef GIVEN_H
#define GIVEN_H

#include "input/image.h"

enum given_kind { GIVEN_MASK, GIVEN_RMS, GIVEN_BACKGROUND, GIVEN_KINDS };

/* The path of what a kind of option gives for an image, to be freed: the path itself or, if it is a
 * directory, that of STEM.rms.fits (STEM.background.fits, STEM.mask.fits) in it or, where there is
 * none, of STEM.fits. It tries ever shorter ends of the image's path: for A/B/STEM.fits A/B/STEM,
 * B/STEM and STEM; nothing before the last `..` counts. NULL where memory ran out. */
char *given_path(enum given_kind kind, const char *path, const char *image);

/* Opens what the options give for an image, if anything, and makes the pixels of image->source NaN
 * where the mask is 0 or blank, a map is blank, or the rms is not above 0. The image closes it,
 * also after an error. */
enum srcfind_status given_open(struct image *image, const struct options *options,
                               const struct srcfind_image *metadata, struct error *error);
/* given may be NULL in what follows, except in given_explain_blank. */
void given_close(struct given *given);

/* The values of a map; NULL if it is not given. */
const struct pixel_source *given_source(const struct given *given, enum given_kind kind);

/* Returns an error if one of the files was changed since it was opened. */
enum srcfind_status given_unchanged(const struct given *given, struct error *error);

/* Sets the error of an image that has no pixel left, which may be due to what was given. Returns
 * the error's status. */
enum srcfind_status given_explain_blank(const struct given *given, int64_t n_pixels,
                                        struct error *error);

#endif
