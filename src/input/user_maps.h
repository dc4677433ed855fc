/* The maps of the user beside an image: a mask, maps of rms and background, and the image in which
 * its sources are to be detected. They are images themselves, of the same shape, and are read with
 * the pixels: no map is held in memory. */
#ifndef USER_MAPS_H
#define USER_MAPS_H

#include "input/image.h"

enum user_map_kind { USER_MASK, USER_RMS, USER_BACKGROUND, USER_DETECTION, USER_MAP_KINDS };

/* The path of what a kind of option gives for an image, to be freed: the path itself or, if it is a
 * directory, that of STEM.rms.fits (STEM.background.fits, STEM.mask.fits) in it or, where there is
 * none and for detection, of STEM.fits. It tries ever shorter ends of the image's path: for
 * A/B/STEM.fits A/B/STEM, B/STEM and STEM; nothing before the last `..` counts. NULL where memory
 * ran out. */
char *user_map_path(enum user_map_kind kind, const char *path, const char *image);

/* Opens what the options give for an image, if anything, and makes the pixels of image->source NaN
 * where the mask is 0 or blank, a map is blank, or the rms is not above 0. The image for detection
 * must have the WCS of the image. The image closes it, also after an error. */
enum srcfind_status user_maps_open(struct image *image, const struct options *options,
                                   const struct srcfind_image *metadata, struct error *error);
/* maps may be NULL in what follows, except in user_map_image and user_maps_explain_blank. */
void user_maps_close(struct user_maps *maps);

/* The values of a map; NULL if there is none. Those of the image for detection are NaN where the
 * pixels of image->source are blank. */
const struct pixel_source *user_map_source(const struct user_maps *maps, enum user_map_kind kind);

/* The image and the metadata of a map that there is. */
const struct image *user_map_image(const struct user_maps *maps, enum user_map_kind kind,
                                   const struct srcfind_image **metadata);

/* How the sky coordinates of a map differ from those of the image: see same_grid_compare. */
const char *user_map_difference(const struct user_maps *maps, enum user_map_kind kind);

/* The option that gives a kind of map, without its dashes. */
const char *user_map_option(enum user_map_kind kind);

/* Returns an error if one of the files was changed since it was opened. */
enum srcfind_status user_maps_unchanged(const struct user_maps *maps, struct error *error);

/* Sets the error of an image that has no pixel left, which may be due to what was given. Returns
 * the error's status. */
enum srcfind_status user_maps_explain_blank(const struct user_maps *maps, int64_t n_pixels,
                                            struct error *error);

#endif
